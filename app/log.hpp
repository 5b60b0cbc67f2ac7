// SPDX-License-Identifier: Apache-2.0
// JSON log lines on stderr: one object per line with time, level, message and fields. Never pass secrets or
// personal data.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace fq::log {

/// `level`: "trace" … "error"; anything else means "info".
void start(std::string_view level);

/// A member of the line: a text, or a number.
struct field {
  field(std::string_view name_, std::string_view text_) : name(name_), text(text_) {}
  field(std::string_view name_, double number_) : name(name_), number(number_) {}

  std::string_view name, text;
  std::optional<double> number;
};
void debug(std::string_view message, std::initializer_list<field> fields = {});
void info(std::string_view message, std::initializer_list<field> fields = {});
void warn(std::string_view message, std::initializer_list<field> fields = {});
void error(std::string_view message, std::initializer_list<field> fields = {});

/// Writes buffered lines; call it before the process ends.
void flush();

} // namespace fq::log
