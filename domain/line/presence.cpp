// SPDX-License-Identifier: Apache-2.0
#include "domain/line/presence.hpp"

namespace fq {

void presence_book::seen(queue_number n, timestamp now, milliseconds grain) {
  const auto [known, fresh] = last_.try_emplace(value_of(n), now);
  if (!fresh) {
    if (now - known->second < grain) return;
    by_time_.erase({known->second, n});
    known->second = now;
  }
  by_time_.emplace(now, n);
}

void presence_book::forget(queue_number n) {
  const auto known = last_.find(value_of(n));
  if (known == last_.end()) return;
  by_time_.erase({known->second, n});
  last_.erase(known);
}

void presence_book::clear() {
  by_time_.clear();
  last_.clear();
}

std::vector<queue_number> presence_book::unseen_since(timestamp t, std::size_t limit) const {
  std::vector<queue_number> found;
  for (auto i = by_time_.begin(); i != by_time_.end() && i->first <= t && found.size() < limit; ++i)
    found.push_back(i->second);
  return found;
}

} // namespace fq
