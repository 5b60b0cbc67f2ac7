// SPDX-License-Identifier: Apache-2.0
// CSV for spreadsheets: RFC 4180 in UTF-8 with a byte order mark, without which Excel assumes Latin-1. Text
// that people typed must not become a formula. Called by export_routes and seat_plan_csv.
#pragma once
#include "domain/base/time.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace fq::net {

inline constexpr std::string_view csv_type = "text/csv; charset=utf-8; header=present";
inline constexpr std::string_view csv_start = "\xef\xbb\xbf";

/// RFC 3339; empty for never.
[[nodiscard]] std::string csv_time(timestamp when);
/// Appends one cell in quotation marks. Puts an apostrophe before a cell that begins with = + - @, a tab or a
/// carriage return (OWASP, CSV injection). Does the same for = + - @ inside a cell behind a semicolon, a
/// tab or a line end, where some readers start another cell.
void append_csv_cell(std::string& out, std::string_view text);
/// Appends one row and its CRLF.
void append_csv_row(std::string& out, std::initializer_list<std::string_view> cells);

} // namespace fq::net
