// SPDX-License-Identifier: Apache-2.0
// A page of a list as JSON. It ends at page_bytes_max, however many rows were asked for.
#pragma once
#include "net/http/json_text.hpp"
#include "net/wire/limits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Appends `{"<name>":[...],"next_cursor":...}`. `append_row(row)` appends a row; `cursor_of(row)` returns
/// the cursor of the page behind it. `next`: the cursor if all rows fit; empty: null.
template <class Row, class AppendRow, class CursorOf>
void append_page(std::string& out, std::string_view name, const std::vector<Row>& rows, std::string next,
                 AppendRow append_row, CursorOf cursor_of) {
  const auto begin = out.size();
  out.append("{\"").append(name).append("\":[");
  for (const auto& row : rows) {
    if (&row != &rows.front()) out += ',';
    append_row(row);
    if (out.size() - begin < page_bytes_max || &row == &rows.back()) continue;
    next = cursor_of(row);
    break;
  }
  out += "],\"next_cursor\":";
  if (next.empty())
    out += "null";
  else
    append_text(out, next);
  out += '}';
}

/// The same; `more`: there are rows behind the last one.
template <class Row, class AppendRow, class CursorOf>
void append_page(std::string& out, std::string_view name, const std::vector<Row>& rows, bool more,
                 AppendRow append_row, CursorOf cursor_of) {
  append_page(out, name, rows, more && !rows.empty() ? cursor_of(rows.back()) : std::string{}, append_row,
              cursor_of);
}

} // namespace fq::net
