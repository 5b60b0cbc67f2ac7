// SPDX-License-Identifier: Apache-2.0
// The checker's part for answers to fans: what was shown must be durable, once, and in order.
#include "tests/sim/checker.hpp"

#include <algorithm>

namespace fq::sim {
void checker::saw_place(const customer_id& who, std::uint64_t key, const entry_reply& told) {
  if (told.no) return;
  const auto* row = store_.find_entry(aggregate_, told.entry.number);
  if (row == nullptr || row->subject != who)
    return fail("I7", "place " + text(told.entry.number) + " was acknowledged, but is not durable");
  if (told.created) { // else it is the fan's existing place, made with another key or by a checkout
    auto& of_key = place_of_key_.try_emplace({who, key}, told.entry.number).first->second;
    if (is_forgotten(of_key, row->joined_at)) of_key = told.entry.number;
    if (told.replayed && of_key != told.entry.number) fail("I9", "one join key, two places");
  }
  known_place_[who] = told.entry.number;
  saw_entry(who, told);
}

/// A standalone queue knows the key of an ended place for `memory_retention`.
bool checker::is_forgotten(queue_number n, timestamp at) const {
  const auto* row = store_.find_entry(aggregate_, n);
  return row == nullptr
         || (!sells() && is_set(row->ended_at) && row->ended_at + rules_.memory_retention <= at);
}

void checker::saw_entry(const customer_id& who, const entry_reply& told) {
  const auto known = known_place_.find(who);
  if (told.no) {
    if (told.no.why == reason::not_in_queue && known != known_place_.end())
      fail("I7", "an acknowledged place was lost");
    return;
  }
  const auto& e = told.entry;
  const auto* row = entry_of(e.id);
  if (row == nullptr || row->subject != who) return fail("I7", "a place was shown that is not durable");
  if (known != known_place_.end() && e.number < known->second)
    fail("I7", "an acknowledged place changed its number");
  if (is_set(e.admitted_at) && row->admitted_at != e.admitted_at)
    fail("I7", "an admission was shown that is not durable");
  if (!is_live(e.status) && row->status != e.status) fail("I7", "an end was shown that is not durable");
  if (e.status == entry_status::admitted && !deadlines_[e.number].contains(e.claim_by))
    fail("I15", "the end of a session was shown that was never committed");
  if (!is_in_line(e.status)) return;
  if (e.position == 0) return check_unplaced(e);
  if (awaits_draw()) fail("I8", text(e.number) + " was shown a position before the draw");
  const auto [last, first] = last_position_.emplace(e.id, e.position);
  // later joins in better classes
  const auto overtakers = std::ranges::count_if(entries_, [&](const auto& other) {
    return other.first > e.number && other.second.priority_class < row->priority_class;
  });
  if (!first && e.position > last->second + static_cast<std::uint64_t>(overtakers))
    fail("I8", "position of " + text(e.number) + " grew from " + std::to_string(last->second) + " to "
                 + std::to_string(e.position));
  last->second = std::min(last->second, e.position);
}

void checker::saw_ended(queue_number n) {
  const auto row = entries_.find(n);
  if (row == entries_.end() || is_live(row->second.status))
    fail("I7", "the end of place " + text(n) + " was acknowledged, but is not durable");
}

bool checker::has_answer(const idempotency_ref& key) const {
  return key.given && answered_.contains(key.key);
}

void checker::saw_claim(const idempotency_ref& key, const customer_id& who, const claim_reply& told,
                        std::uint64_t asked, bool was_durable) {
  if (told.no) {
    if (was_durable) fail("I9", "a claim request was answered, then refused under the same key");
    if (told.no.why == reason::event_sold_out && !was_sold_out_for(who, asked))
      fail("I12", "told 'sold out', but the ledger never was while the request lasted");
    return;
  }
  const auto* row = find_claim(told.claim.claim.id);
  const auto* order = row != nullptr ? order_of(row->id) : nullptr;
  if (row == nullptr || (row->customer != who && (order == nullptr || !order->is_of(who))))
    return fail("I7", "a claim was acknowledged, but is not durable");
  if (!is_live(told.claim.claim.status) && row->status != told.claim.claim.status
      && row->status != claim_status::refunded)
    fail("I7", "a claim's end was shown that is not durable");
  if (!key.given) return;
  if (told.replayed) reached(rare::replayed_idempotent_answer);
  const auto [known, first] = effect_of_key_.emplace(key.key, row->id);
  if (!first && known->second != row->id) fail("I9", "one idempotency key, two claims");
}

void checker::saw_payment(const idempotency_ref& key, const payment_reply& told, bool was_durable) {
  if (told.no) {
    if (was_durable) fail("I9", "a payment request was answered, then refused under the same key");
    return;
  }
  const auto& shown = told.payment.payment;
  const auto row = payments_.find(shown.id);
  if (row == payments_.end()) return fail("I7", "a payment was acknowledged, but is not durable");
  if (shown.status == payment_status::confirmed && row->second.captured != shown.captured)
    fail("I7", "a payment was shown as confirmed that is not durable");
  if (!key.given) return;
  const auto [known, first] = effect_of_key_.emplace(key.key, shown.id);
  if (!first && known->second != shown.id) fail("I9", "one idempotency key, two payments");
}

void checker::saw_released(const claim_id& claim) {
  const auto* row = find_claim(claim);
  if (row == nullptr || row->status != claim_status::released)
    fail("I7", "a release was acknowledged, but is not durable");
}

} // namespace fq::sim
