// SPDX-License-Identifier: Apache-2.0
// JSON log lines on stderr: one object a line with time, level, message and fields. No secret and no personal
// data may be given to it.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fq::log {

/// "trace" … "error"; anything else is "info".
void start(std::string_view level);

using field = std::pair<std::string_view, std::string_view>;
void debug(std::string_view message, std::initializer_list<field> fields = {});
void info(std::string_view message, std::initializer_list<field> fields = {});
void warn(std::string_view message, std::initializer_list<field> fields = {});
void error(std::string_view message, std::initializer_list<field> fields = {});

/// Writes out what is buffered; before the process ends.
void flush();

} // namespace fq::log
