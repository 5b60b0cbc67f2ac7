// SPDX-License-Identifier: Apache-2.0
// Seat plans as files: JSON and CSV, in and out. What is written reads back as the same plan. Every error of
// a file has its line.
//
// CSV has one header line; its columns may come in any order, and those that no line uses may be missing.
// `kind` says what a line is: plan, type, section, seat (the default) or area. A file with the columns
// section, row, seat, x, y and ticket_type only is a plan: sections and types then come in the order in which
// they appear.
#pragma once
#include "domain/seats/plan.hpp"

#include <string>
#include <string_view>

namespace fq::net {

[[nodiscard]] made_plan plan_of_json(std::string_view text);
[[nodiscard]] made_plan plan_of_csv(std::string_view text);
[[nodiscard]] std::string json_of(const seat_plan& plan);
[[nodiscard]] std::string csv_of(const seat_plan& plan);

} // namespace fq::net
