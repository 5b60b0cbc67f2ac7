// SPDX-License-Identifier: Apache-2.0
// The payment attempts and refunds of an event: rows and indexes. The sale decides what a gateway fact means
// for claim and stock.
#pragma once
#include "domain/model/change.hpp"

#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fq {

/// Gateway name of claims that cost nothing.
inline constexpr std::string_view free_gateway = "free";

/// The reference chosen before a gateway is called: "fq-<payment id>", so it leads back to its owner.
std::string make_reference(const payment_id& id);
std::optional<payment_id> parse_reference(std::string_view reference);

/// When each of some payments is next asked about at the gateway.
class ask_times {
public:
  void set(const payment_id& id, timestamp at);
  void erase(const payment_id& id);
  [[nodiscard]] bool contains(const payment_id& id) const { return at_.contains(id); }
  [[nodiscard]] std::size_t size() const { return at_.size(); }
  [[nodiscard]] timestamp first() const { return order_.empty() ? never : order_.begin()->first; }
  [[nodiscard]] auto ids() const { return at_ | std::views::keys; }
  /// Due at or before `t`, most urgent first, at most `limit`.
  [[nodiscard]] std::vector<payment_id> due(timestamp t, std::size_t limit) const;

private:
  std::set<std::pair<timestamp, payment_id>> order_;
  std::unordered_map<payment_id, timestamp> at_;
};

class payments_book {
public:
  /// `stale_after`: time after the last change until an open attempt is checked at the gateway;
  /// `recheck_after`: time after the failure until a failed one is.
  explicit payments_book(milliseconds stale_after,
                         milliseconds recheck_after = milliseconds{15 * 60 * 1000}) :
      stale_after_(stale_after), recheck_after_(recheck_after) {}

  void load(const payment_row& row);
  void load(const refund_row& row);
  void load(const receipt_row& row);

  [[nodiscard]] const payment_row* find(const payment_id& id) const;
  [[nodiscard]] const refund_row* find_refund(const refund_id& id) const;
  /// Attempts of `claim`, oldest first.
  [[nodiscard]] std::vector<payment_id> of_claim(const claim_id& claim) const;
  /// The attempt of `claim` that can still be captured; null if none.
  [[nodiscard]] const payment_row* open_of(const claim_id& claim) const;
  [[nodiscard]] bool has_receipt(std::string_view gateway, std::string_view gateway_event) const;
  [[nodiscard]] std::uint64_t open_count() const { return asks_.size(); }
  [[nodiscard]] money revenue() const { return captured_ - refunded_; }
  [[nodiscard]] money refunded() const { return refunded_; }
  /// Open attempts whose check at the gateway is due at or before `t`, most urgent first, at most `limit`.
  [[nodiscard]] std::vector<payment_id> stale(timestamp t, std::size_t limit) const {
    return asks_.due(t, limit);
  }
  /// REQUESTED refunds whose next attempt is due, at most `limit`.
  [[nodiscard]] std::vector<refund_id> refunds_due(timestamp now, std::size_t limit) const;
  /// REQUESTED refunds of `payment`.
  [[nodiscard]] std::vector<refund_id> requested_of(const payment_id& payment) const;
  /// All refunds of `payment`, oldest first.
  [[nodiscard]] std::vector<refund_id> refunds_of(const payment_id& payment) const;
  /// REQUESTED refunds without any answer of the gateway yet. A refund that a bank keeps pending counts as
  /// answered.
  [[nodiscard]] std::size_t unanswered_refunds() const { return unanswered_.size(); }
  /// FAILED attempts about which the gateway is to be asked now, at most `limit`.
  [[nodiscard]] std::vector<payment_id> rechecks_due(timestamp now, std::size_t limit) const {
    return rechecks_.due(now, limit);
  }
  [[nodiscard]] timestamp next_recheck() const { return rechecks_.first(); }
  /// Whether a question about a FAILED attempt is due at `now`, or unanswered.
  [[nodiscard]] bool owes_recheck(timestamp now) const;
  [[nodiscard]] timestamp next_refund_attempt() const;
  [[nodiscard]] timestamp next_ask() const { return asks_.first(); }
  /// CONFIRMED and PARTIALLY_REFUNDED payments, at most `limit`: the remaining refunds of a cancelled event.
  [[nodiscard]] std::vector<payment_id> refundable(std::size_t limit) const;
  [[nodiscard]] bool has_refundable() const { return !refundable_.empty(); }

  const payment_row& open(payment_row row, changes& out);
  /// Edits other columns with `edit` and applies `trigger`. Returns false and changes nothing if the rule
  /// table forbids it.
  template <class Edit>
  bool move(const payment_id& id, payment_trigger trigger, timestamp now, changes& out, Edit edit) {
    auto& row = rows_.at(id);
    const auto to = next(payment_rules, row.status, trigger);
    if (!to) return false;
    unindex(row);
    const auto from = row.status;
    const auto claim = row.claim;
    edit(row);
    if (row.claim != claim) rehome(row, claim);
    row.status = *to;
    row.updated_at = now;
    row.recheck_at = *to == payment_status::failed ? now + recheck_after_ : never;
    index(row);
    out.emplace_back(std::in_place_type<payment_moved>, payment_moved{from, row});
    return true;
  }
  bool move(const payment_id& id, payment_trigger trigger, timestamp now, changes& out) {
    return move(id, trigger, now, out, [](payment_row&) {});
  }
  /// Moves all attempts of a purchase to its new claim, so that a second capture is recognised.
  void move_attempts(const claim_id& from, const claim_id& to, changes& out);
  const refund_row& open(refund_row row, changes& out);
  bool move(const refund_id& id, refund_trigger trigger, timestamp now, changes& out);
  /// Sets the next attempt of `id` without a transition. Only refusals count as attempts; outages do not.
  void tried(const refund_id& id, bool refused, timestamp next_attempt_at, timestamp now, changes& out);
  /// Schedules the next check of an open attempt. Not durable.
  void ask_again(const payment_id& id, timestamp at);
  /// Schedules the repetition of a question about a FAILED attempt. Not durable: recheck_at stands.
  void recheck_again(const payment_id& id, timestamp at) { rechecks_.set(id, at); }
  /// For a planted bug.
  void forget_recheck(const payment_id& id) { rechecks_.erase(id); }
  /// Schedules the next question about a FAILED attempt; `never`: there is none.
  void recheck(const payment_id& id, timestamp at, changes& out);
  void receive(receipt_row row, changes& out);

private:
  void index(const payment_row& row);
  void unindex(const payment_row& row);
  void rehome(const payment_row& row, const claim_id& before);

  std::unordered_map<payment_id, payment_row> rows_;
  std::unordered_map<claim_id, std::vector<payment_id>> by_claim_;
  milliseconds stale_after_, recheck_after_;
  ask_times asks_; ///< of open attempts
  ask_times rechecks_; ///< of FAILED attempts
  std::set<payment_id> refundable_;
  std::map<refund_id, refund_row> refunds_;
  std::unordered_map<payment_id, std::vector<refund_id>> refunds_by_payment_;
  std::set<std::pair<timestamp, refund_id>> refunds_wanted_; ///< REQUESTED refunds by next_attempt_at
  std::set<refund_id> unanswered_; ///< REQUESTED refunds opened since the load, without an answer
  std::unordered_set<std::string> receipts_; ///< "<gateway> <event>"
  money captured_ = 0; ///< of CONFIRMED and refunded payments in the event's currency
  money refunded_ = 0;
};

} // namespace fq
