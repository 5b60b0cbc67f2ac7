// SPDX-License-Identifier: Apache-2.0
// The orders of an event: rows and indexes. The sale decides what an order means for its claim and payments.
#pragma once
#include "domain/model/change.hpp"

#include <map>
#include <set>
#include <span>
#include <unordered_map>

namespace fq {

class orders_book {
public:
  void load(const order_row& row);

  [[nodiscard]] const order_row* find(const order_id& id) const;
  /// Null: claim made without an order.
  [[nodiscard]] const order_row* of_claim(const claim_id& claim) const;
  /// Those that this guest placed.
  [[nodiscard]] std::vector<order_id> of_guest(const customer_id& guest) const;
  /// By id, which is the order of placing.
  [[nodiscard]] const std::map<order_id, order_row>& all() const { return rows_; }
  /// PENDING orders: waiting for their payment page.
  [[nodiscard]] std::size_t pending_count() const { return pending_.size(); }
  /// When the oldest PENDING order was placed; `never` if there is none.
  [[nodiscard]] timestamp oldest_pending() const {
    return pending_.empty() ? never : pending_.begin()->first;
  }
  /// PENDING orders placed at or before `t`, at most `limit`.
  [[nodiscard]] std::vector<order_id> pending_since(timestamp t, std::size_t limit) const;
  /// Orders whose mail with the payment page is due, at most `limit`.
  [[nodiscard]] std::vector<order_id> links_due(timestamp now, std::size_t limit) const;
  [[nodiscard]] timestamp next_link() const { return links_.empty() ? never : links_.begin()->first; }

  /// Moving average, over about 10 orders, of the time until the payment page exists. Not durable.
  [[nodiscard]] milliseconds typical_page_time() const { return typical_page_time_; }

  /// The ledger erases them by itself: memory follows. `erased` is sorted.
  void forget_contacts(std::span<const customer_id> erased);
  /// Of all orders that are not open: their sale has ended long ago.
  void forget_old_contacts();
  void place(order_row row, changes& out);
  /// Edits other columns with `edit` and applies `trigger`. Returns false and changes nothing if the rule
  /// table forbids it.
  template <class Edit>
  bool move(const order_id& id, order_trigger trigger, timestamp now, changes& out, Edit edit) {
    auto& row = rows_.at(id);
    const auto to = next(order_rules, row.status, trigger);
    if (!to) return false;
    change(row, *to, now, out, edit);
    return true;
  }
  bool move(const order_id& id, order_trigger trigger, timestamp now, changes& out) {
    return move(id, trigger, now, out, [](order_row&) {});
  }
  /// Changes columns without a transition.
  template <class Edit>
  void edit(const order_id& id, timestamp now, changes& out, Edit edit) {
    auto& row = rows_.at(id);
    change(row, row.status, now, out, edit);
  }

private:
  template <class Edit>
  void change(order_row& row, order_status to, timestamp now, changes& out, Edit edit) {
    unindex(row);
    const auto from = row.status;
    if (from == order_status::pending && to == order_status::awaiting_payment)
      typical_page_time_ += ((now - row.created_at) - typical_page_time_) / 10;
    edit(row);
    row.status = to;
    if (to != order_status::awaiting_payment) row.payment_link_at = never;
    row.updated_at = now;
    index(row);
    out.emplace_back(std::in_place_type<order_moved>, order_moved{from, row});
  }
  void index(const order_row& row);
  void unindex(const order_row& row);

  std::map<order_id, order_row> rows_;
  std::unordered_map<claim_id, order_id> by_claim_;
  std::unordered_multimap<customer_id, order_id> by_guest_;
  std::set<std::pair<timestamp, order_id>> pending_; ///< by created_at
  std::set<std::pair<timestamp, order_id>> links_; ///< by payment_link_at
  milliseconds typical_page_time_{2'000}; ///< initial estimate until the first measurement
};

/// Whether the mail about its event's cancellation goes to the buyer: its money is sent back (`paid`), or it
/// ends before it is paid.
[[nodiscard]] bool is_told_of_end(const order_row& order, bool paid, timestamp cancelled_at);

} // namespace fq
