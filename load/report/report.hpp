// SPDX-License-Identifier: Apache-2.0
// The final output: a table, JSON, an HTML page. Pure functions of the result.
#pragma once

#include "load/checks/checker.hpp"
#include "load/fans/crowd.hpp"
#include "load/fans/join_bench.hpp"

#include <string>

namespace fq::load {

// 1: an invariant was broken, 2: event not reached, 3: deadline passed first, 0: success.
int exit_code_of(const crowd_result& result, const judgement& judged);
int exit_code_of(const join_bench_result& result);

std::string table_of(const load_options& options, const crowd_result& result, const judgement& judged);
std::string json_of(const load_options& options, const crowd_result& result, const judgement& judged);
std::string html_of(const load_options& options, const crowd_result& result, const judgement& judged);

std::string table_of(const load_options& options, const join_bench_result& result);
std::string json_of(const load_options& options, const join_bench_result& result);
std::string html_of(const load_options& options, const join_bench_result& result);

std::string progress_line(const progress& now);

std::string_view name_of(arrival_shape shape);
std::string_view name_of(buying_way way);

} // namespace fq::load
