// SPDX-License-Identifier: Apache-2.0
#include "net/wire/csv_in.hpp"

#include "net/http/utf8.hpp"
#include "net/wire/csv.hpp"
#include "net/wire/limits.hpp"

#include <algorithm>

namespace fq::net {
namespace {

bool is_utf8(std::string_view text) {
  utf8_checker checker;
  return std::ranges::all_of(text, [&](char c) { return checker.feed(static_cast<unsigned char>(c)); })
         && checker.complete();
}

} // namespace

csv_reader::csv_reader(std::string_view text) : text_(text) {
  if (text_.starts_with(csv_start)) text_.remove_prefix(csv_start.size());
}

bool csv_reader::fail(std::string_view what) {
  line_ = next_line_;
  problem_ = what;
  return false;
}

bool csv_reader::skip_line_end() {
  const auto rest = text_.substr(at_);
  const std::size_t size = rest.starts_with("\r\n") ? 2 : rest.starts_with('\n') ? 1 : 0;
  at_ += size;
  next_line_ += size > 0 ? 1 : 0;
  return size > 0;
}

bool csv_reader::read_quoted(std::string& cell) {
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      if (!text_.substr(at_ + 1).starts_with('"')) {
        ++at_;
        return true;
      }
      ++at_; // two quotation marks are one
    }
    if (text_[at_] == '\n') ++next_line_;
    cell += text_[at_];
    if (cell.size() > csv_cell_max) return fail("the cell is too long, or its quotation mark is not closed");
  }
  return fail("a quotation mark is not closed");
}

bool csv_reader::read_cell(std::string& cell) {
  cell.clear();
  if (at_ < text_.size() && text_[at_] == '"') {
    if (!read_quoted(cell)) return false;
  } else {
    const auto end = std::min(text_.find_first_of(",\"\r\n", at_), text_.size());
    if (end - at_ > csv_cell_max) return fail("the cell is too long");
    cell = text_.substr(at_, end - at_);
    at_ = end;
  }
  return is_utf8(cell) || fail("the cell is not UTF-8");
}

bool csv_reader::next(std::vector<std::string>& cells) {
  cells.clear();
  while (skip_line_end()) {}
  if (at_ == text_.size() || !problem_.empty()) return false;
  line_ = next_line_;
  for (;;) {
    if (cells.size() == csv_cells_max) return fail("the line has too many cells");
    if (!read_cell(cells.emplace_back())) return false;
    if (at_ == text_.size() || skip_line_end()) return true;
    if (text_[at_] != ',') return fail("a comma or the end of the line must follow the cell");
    ++at_;
  }
}

} // namespace fq::net
