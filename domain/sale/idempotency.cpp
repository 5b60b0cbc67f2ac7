// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/idempotency.hpp"

#include "domain/base/planted.hpp"

namespace fq {

void idempotency_index::keep(idempotency_row row) {
  const auto oldest_allowed = row.created_at - idempotency_life;
  by_age_.emplace_back(row.created_at, row.key);
  rows_.insert_or_assign(row.key, std::move(row));
  while (rows_.size() > idempotency_rows_max || by_age_.front().first < oldest_allowed) {
    const auto oldest = rows_.find(by_age_.front().second);
    if (oldest != rows_.end() && oldest->second.created_at == by_age_.front().first) rows_.erase(oldest);
    by_age_.pop_front();
  }
}

void idempotency_index::load(idempotency_row row) {
  if (!planted(bug::idempotency_forgotten)) keep(std::move(row));
}

idempotency_verdict idempotency_index::look_up(const digest128& key, const digest128& body, timestamp now,
                                               const std::vector<char>** answer) const {
  const auto i = rows_.find(key);
  if (i == rows_.end() || i->second.created_at + idempotency_life <= now) return idempotency_verdict::fresh;
  if (i->second.body != body) return idempotency_verdict::other_body;
  *answer = &i->second.answer;
  return idempotency_verdict::replay;
}

void idempotency_index::store(idempotency_row row, changes& out) {
  out.emplace_back(std::in_place_type<idempotency_stored>, idempotency_stored{row});
  keep(std::move(row));
}

} // namespace fq
