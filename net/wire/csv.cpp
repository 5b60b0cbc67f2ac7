// SPDX-License-Identifier: Apache-2.0
#include "net/wire/csv.hpp"

#include "net/http/json_text.hpp"

namespace fq::net {
namespace {

constexpr std::string_view formula_starts = "=+-@\t\r";

/// Whether text that starts a cell is a formula. Ignores leading quotation marks, which may get lost.
bool would_be_formula(std::string_view text) {
  const auto first = text.find_first_not_of('"');
  return first != std::string_view::npos
         && std::string_view{"=+-@"}.find(text[first]) != std::string_view::npos;
}

} // namespace

std::string csv_time(timestamp when) { return is_set(when) ? rfc3339(when) : std::string{}; }

/// Always quoted, for readers that split at commas. A reader that splits at semicolons or tabs (Excel in
/// half of Europe) does not recognise these quotes and splits inside the cell. So formula starts behind
/// such separators are guarded too.
void append_csv_cell(std::string& out, std::string_view text) {
  out += '"';
  if (!text.empty() && formula_starts.find(text.front()) != std::string_view::npos) out += '\'';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') out += '"';
    out += c;
    const bool may_split = c == ';' || c == '\t' || c == '\r' || c == '\n';
    if (may_split && would_be_formula(text.substr(i + 1))) out += '\'';
  }
  out += '"';
}

void append_csv_row(std::string& out, std::initializer_list<std::string_view> cells) {
  bool is_first = true;
  for (const auto cell : cells) {
    if (!is_first) out += ',';
    is_first = false;
    append_csv_cell(out, cell);
  }
  out += "\r\n";
}

} // namespace fq::net
