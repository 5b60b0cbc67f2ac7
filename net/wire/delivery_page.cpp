// SPDX-License-Identifier: Apache-2.0
#include "net/wire/delivery_page.hpp"

#include <algorithm>

namespace fq::net {

/// Reads by holder, else by target, else by tenant. A holder's log is short, and reading by it never
/// touches other holders' rows. A tenant's log is long, so one target has its own index.
std::optional<delivery_filter> delivery_page::next() const {
  if (is_done_) return std::nullopt;
  delivery_filter piece{.before = query_.before, .before_target = query_.before_target};
  if (!query_.holder.is_nil())
    piece.holder = query_.holder;
  else if (!query_.target.is_nil())
    piece.target = query_.target;
  else
    piece.tenant = query_.tenant;
  // One row more than the page shows whether another page follows. Without filters the first piece is then
  // the only one.
  const std::size_t size = looked_at_ == 0 ? query_.limit + std::size_t{1} : rows_per_look;
  piece.limit = static_cast<std::uint32_t>(std::min(size, rows_looked_at_max - looked_at_));
  return piece;
}

void delivery_page::look_at(std::vector<delivery_row> rows, std::size_t asked) {
  const bool was_last = rows.size() < asked;
  for (auto& row : rows) {
    // All rows of an endpoint belong to one tenant. Another tenant's endpoint looks like an empty log.
    const bool is_foreign = row.way == channel::webhook && query_.tenant && row.tenant != *query_.tenant;
    if (is_foreign) {
      is_done_ = true;
      return;
    }
    ++looked_at_;
    query_.before = row.notice;
    query_.before_target = row.target;
    if (!is_wanted(row)) continue;
    if (rows_.size() == query_.limit) return end_behind(rows_.back());
    rows_.push_back(std::move(row));
  }
  if (was_last)
    is_done_ = true;
  else if (looked_at_ >= rows_looked_at_max)
    end_behind(rows.back());
}

bool delivery_page::is_wanted(const delivery_row& row) const {
  return (!query_.tenant || row.tenant == *query_.tenant)
         && (query_.target.is_nil() || row.target == query_.target)
         && (query_.holder.is_nil() || row.holder == query_.holder) && (!query_.way || row.way == *query_.way)
         && (!query_.state || row.state == *query_.state);
}

/// Ends the page behind `row`; its ids stay valid after the row was moved from.
void delivery_page::end_behind(const delivery_row& row) {
  is_done_ = true;
  cursor_ = to_string(row.notice) + '.' + to_string(row.target);
}

bool read_log_cursor(std::string_view text, delivery_query& query) {
  const auto parted = text.find('.');
  const auto notice = parse_uuid(text.substr(0, parted));
  const auto target = parted == std::string_view::npos ? std::nullopt : parse_uuid(text.substr(parted + 1));
  if (!notice || !target) return false;
  query.before = *notice;
  query.before_target = *target;
  return true;
}

} // namespace fq::net
