// SPDX-License-Identifier: Apache-2.0
// The trace of the last request about each claim; gateway calls are attached to it. In memory only: after a
// move or a crash, calls have no trace.
#pragma once
#include "domain/base/trace.hpp"

#include <deque>
#include <unordered_map>
#include <utility>

namespace fq {

class trace_book {
public:
  /// Beyond `most`, the claim noted first is dropped.
  explicit trace_book(std::size_t most = 10'000) : most_(most) {}

  void note(const claim_id& claim, const trace_context& trace) {
    if (!trace) return;
    const auto [at, is_new] = by_claim_.insert_or_assign(claim, trace);
    if (is_new) order_.push_back(claim);
    if (order_.size() <= most_) return;
    by_claim_.erase(order_.front());
    order_.pop_front();
  }
  /// Nil: none.
  [[nodiscard]] trace_context of(const claim_id& claim) const {
    const auto known = by_claim_.find(claim);
    return known == by_claim_.end() ? trace_context{} : known->second;
  }

private:
  std::size_t most_;
  std::unordered_map<claim_id, trace_context> by_claim_;
  std::deque<claim_id> order_; ///< in order of the first note
};

} // namespace fq
