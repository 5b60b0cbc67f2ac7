// SPDX-License-Identifier: Apache-2.0
// Tables for spreadsheets: RFC 4180 in UTF-8 with a byte order mark, without which Excel takes names for
// Latin-1. What people typed must not become a formula there. Called by export_routes; knows no rows.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

namespace fq::net {

inline constexpr std::string_view csv_type = "text/csv; charset=utf-8; header=present";
inline constexpr std::string_view csv_start = "\xef\xbb\xbf";

/// One row and its CRLF. A cell that begins with = + - @, a tab or a carriage return gets an apostrophe in
/// front (OWASP, CSV injection), and so does = + - @ inside a cell behind a semicolon, a tab or the end of a
/// line, where some readers begin another cell.
void append_csv_row(std::string& out, std::initializer_list<std::string_view> cells);

} // namespace fq::net
