// SPDX-License-Identifier: Apache-2.0
#include "net/csv.hpp"

namespace fq::net {
namespace {

constexpr std::string_view formula_starts = "=+-@\t\r";

/// Always in quotes: then no separator, whatever the reader takes for one, ends a cell early.
void append_cell(std::string& out, std::string_view text) {
  out += '"';
  if (!text.empty() && formula_starts.find(text.front()) != std::string_view::npos)
    out += '\'';
  for (const char c : text) {
    if (c == '"')
      out += '"';
    out += c;
  }
  out += '"';
}

} // namespace

void append_csv_row(std::string& out, std::initializer_list<std::string_view> cells) {
  bool is_first = true;
  for (const auto cell : cells) {
    if (!is_first)
      out += ',';
    is_first = false;
    append_cell(out, cell);
  }
  out += "\r\n";
}

} // namespace fq::net
