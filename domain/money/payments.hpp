// SPDX-License-Identifier: Apache-2.0
// The payment attempts and refunds of an event. Rows and indexes; what a fact means for claim and stock is
// the sale's.
#pragma once
#include "domain/model/change.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fq {

/// Gateway of claims that cost nothing.
inline constexpr std::string_view no_gateway = "free";

/// The reference we choose before a gateway is called: "fq-<payment id>", so it leads back to its owner.
std::string make_reference(const payment_id& id);
std::optional<payment_id> parse_reference(std::string_view reference);

class payments_book {
public:
  /// `stale_after`: how long after its last change an open attempt is asked about.
  explicit payments_book(milliseconds stale_after) : stale_after_(stale_after) {}

  void load(const payment_row& row);
  void load(const refund_row& row);
  void load(const receipt_row& row);

  [[nodiscard]] const payment_row* find(const payment_id& id) const;
  [[nodiscard]] const refund_row* find_refund(const refund_id& id) const;
  /// Attempts of `claim`, in the order they were opened.
  [[nodiscard]] std::vector<payment_id> of_claim(const claim_id& claim) const;
  /// The attempt of `claim` that may still be captured; null if none.
  [[nodiscard]] const payment_row* open_of(const claim_id& claim) const;
  [[nodiscard]] bool has_receipt(std::string_view gateway, std::string_view gateway_event) const;
  [[nodiscard]] std::uint64_t open_count() const { return asks_.size(); }
  [[nodiscard]] money revenue() const { return captured_ - refunded_; }
  [[nodiscard]] money refunded() const { return refunded_; }
  /// Open attempts about which the gateway is to be asked at or before `t`, the most urgent first, at most
  /// `limit`.
  [[nodiscard]] std::vector<payment_id> stale(timestamp t, std::size_t limit) const;
  /// Requested refunds whose next attempt is due, at most `limit`.
  [[nodiscard]] std::vector<refund_id> refunds_due(timestamp now, std::size_t limit) const;
  /// REQUESTED refunds of `payment`.
  [[nodiscard]] std::vector<refund_id> requested_of(const payment_id& payment) const;
  /// All refunds of `payment`, in the order they were opened.
  [[nodiscard]] std::vector<refund_id> refunds_of(const payment_id& payment) const;
  /// Requested ones about which the gateway has said nothing yet: one that a bank keeps pending is answered.
  [[nodiscard]] std::size_t unanswered_refunds() const { return unanswered_.size(); }
  /// FAILED attempts that failed at or before `t`, the oldest first, at most `limit`; they are not named
  /// again for that.
  std::vector<payment_id> lapsed_by(timestamp t, std::size_t stage, std::size_t limit);
  /// When the first of them failed that has not been named for `stage`; `never` if there is none.
  [[nodiscard]] timestamp first_lapsed(std::size_t stage) const {
    return lapsed_[stage].empty() ? never : lapsed_[stage].begin()->first;
  }
  [[nodiscard]] timestamp next_refund_attempt() const;
  [[nodiscard]] timestamp next_ask() const;
  /// CONFIRMED and PARTIALLY_REFUNDED ones, at most `limit`: what a cancelled event still has to refund.
  [[nodiscard]] std::vector<payment_id> refundable(std::size_t limit) const;
  [[nodiscard]] bool has_refundable() const { return !refundable_.empty(); }

  const payment_row& open(payment_row row, changes& out);
  /// Applies `trigger` after `edit` changed other columns; false (and nothing changed) if the table forbids
  /// it.
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
    index(row);
    out.emplace_back(std::in_place_type<payment_moved>, payment_moved{from, row});
    return true;
  }
  bool move(const payment_id& id, payment_trigger trigger, timestamp now, changes& out) {
    return move(id, trigger, now, out, [](payment_row&) {});
  }
  /// All attempts of one purchase go on with its new claim, so that a second capture is known for what it is.
  void move_attempts(const claim_id& from, const claim_id& to, changes& out);
  const refund_row& open(refund_row row, changes& out);
  bool move(const refund_id& id, refund_trigger trigger, timestamp now, changes& out);
  /// Sets when to try `id` again, without a transition. Only refusals count as attempts: an outage uses none
  /// up.
  void tried(const refund_id& id, bool refused, timestamp next_attempt_at, timestamp now, changes& out);
  /// The next question about an open attempt is due at `at`. Not durable.
  void ask_again(const payment_id& id, timestamp at);
  void receive(receipt_row row, changes& out);

private:
  void index(const payment_row& row);
  void unindex(const payment_row& row);
  void rehome(const payment_row& row, const claim_id& before);

  std::unordered_map<payment_id, payment_row> rows_;
  std::unordered_map<claim_id, std::vector<payment_id>> by_claim_;
  milliseconds stale_after_;
  std::set<std::pair<timestamp, payment_id>> asks_; ///< open ones by when to ask
  std::unordered_map<payment_id, timestamp> ask_at_;
  std::set<payment_id> refundable_;
  std::map<refund_id, refund_row> refunds_;
  std::unordered_map<payment_id, std::vector<refund_id>> refunds_by_payment_;
  std::array<std::set<std::pair<timestamp, payment_id>>, 2>
    lapsed_; ///< FAILED ones by updated_at, for each time they are looked at again
  std::set<std::pair<timestamp, refund_id>> refunds_wanted_; ///< requested ones by next_attempt_at
  std::set<refund_id> unanswered_; ///< of them, since they were opened here
  std::unordered_set<std::string> receipts_; ///< "<gateway> <event>"
  money captured_ = 0; ///< of CONFIRMED and refunded ones
  money refunded_ = 0;
};

} // namespace fq
