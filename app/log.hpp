// SPDX-License-Identifier: Apache-2.0
// JSON log lines on stderr: one object per line with time, level, message and fields. Never pass secrets or
// personal data.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fq::log {

/// `level`: "trace" … "error"; anything else means "info".
void start(std::string_view level);

using field = std::pair<std::string_view, std::string_view>;
void debug(std::string_view message, std::initializer_list<field> fields = {});
void info(std::string_view message, std::initializer_list<field> fields = {});
void warn(std::string_view message, std::initializer_list<field> fields = {});
void error(std::string_view message, std::initializer_list<field> fields = {});

/// Writes buffered lines; call it before the process ends.
void flush();

} // namespace fq::log
