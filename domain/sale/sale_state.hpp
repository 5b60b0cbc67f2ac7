// SPDX-License-Identifier: Apache-2.0
// What a sale holds in memory, and its plain reads. The parts of `sale` change it.
#pragma once
#include "domain/line/presence.hpp"
#include "domain/line/queue.hpp"
#include "domain/money/orders.hpp"
#include "domain/money/payments.hpp"
#include "domain/money/promo_codes.hpp"
#include "domain/sale/blocked_customers.hpp"
#include "domain/sale/checkin.hpp"
#include "domain/sale/claims.hpp"
#include "domain/sale/decision.hpp"
#include "domain/sale/event_tickets.hpp"
#include "domain/sale/idempotency.hpp"
#include "domain/sale/inventory.hpp"
#include "domain/sale/limits.hpp"
#include "domain/sale/outcomes.hpp"
#include "domain/sale/rules.hpp"
#include "domain/sale/sale_steps.hpp"
#include "domain/sale/seating.hpp"
#include "domain/sale/session_locks.hpp"
#include "domain/sale/transfers.hpp"
#include "domain/sale/views.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>

namespace fq {

class sale_state : public sale_steps {
public:
  /// Looks up the account at a gateway that receives the money of new payments; empty: it stays.
  using destination_lookup = std::function<std::string(const std::string& gateway)>;

  /// `random`: 64 uniform bits per call, for ids and jitter. `destination_of` null: money stays.
  /// `new_seed`: of a lobby that opens; null: it has no secret, for tests.
  sale_state(const sale_rules& rules, std::function<std::uint64_t()> random,
             destination_lookup destination_of = nullptr, std::function<lobby_seed()> new_seed = nullptr) :
      rules_(rules),
      random_(std::move(random)),
      destination_of_(std::move(destination_of)),
      new_seed_(std::move(new_seed)),
      payments_(rules.stale_after, rules.recheck_after.front()) {}

  [[nodiscard]] const event_row& event() const { return event_; }
  /// False for standalone queues.
  [[nodiscard]] bool sells() const { return event_.kind == event_kind::sale; }
  [[nodiscard]] const queue_line& queue() const { return queue_; }
  [[nodiscard]] queue_line& queue() { return queue_; }
  [[nodiscard]] const session_locks& locks() const { return locks_; }
  [[nodiscard]] const inventory& stock() const { return stock_; }
  [[nodiscard]] const claims_book& claims() const { return claims_; }
  /// Before the map is read: its standing places are those of the stock.
  void count_standing() {
    if (seating_) seating_->count_standing(stock_.types());
  }
  /// Null: the event has no plan.
  [[nodiscard]] const seating* seats() const { return seating_.get(); }
  [[nodiscard]] const payments_book& payments() const { return payments_; }
  [[nodiscard]] const orders_book& orders() const { return orders_; }
  [[nodiscard]] const event_tickets_book& event_tickets() const { return event_tickets_; }
  [[nodiscard]] const transfers_book& transfers() const { return transfers_; }
  [[nodiscard]] const checkin_book& checkin() const { return checkin_; }
  [[nodiscard]] const promo_codes_book& promo_codes() const { return promo_codes_; }
  [[nodiscard]] const std::map<customer_id, priority_row>& priorities() const { return priorities_; }
  [[nodiscard]] const std::map<customer_id, invitation_row>& invitations() const { return invitations_; }
  /// Only open ones.
  [[nodiscard]] const std::map<uuid, dead_letter_row>& dead_letters() const { return dead_letters_; }
  [[nodiscard]] idempotency_index& answers() { return answers_; }
  [[nodiscard]] bool is_blocked_with(const blocked_customers& blocked) const { return blocked_ == blocked; }
  /// Null: it has not opened. With the seed.
  [[nodiscard]] const lobby_row* lobby() const { return lobby_ ? &*lobby_ : nullptr; }
  [[nodiscard]] bool has_settled_tickets() const { return tickets_due_.empty(); }
  [[nodiscard]] const session_outcomes& outcomes() const { return outcomes_; }
  [[nodiscard]] bool is_logged() const { return is_logged_; }

protected:
  sale_rules rules_;
  std::function<std::uint64_t()> random_;
  destination_lookup destination_of_;
  std::function<lobby_seed()> new_seed_;
  event_row event_;
  queue_line queue_;
  std::optional<lobby_row> lobby_; ///< none: it has not opened
  /// Of parties whose entrants had several classes at the closing: the lowest. Until the draw.
  std::unordered_map<queue_number, std::uint8_t> closing_classes_;
  bool is_ranked_ = false; ///< the draw's order is in the line
  inventory stock_;
  claims_book claims_;
  std::unique_ptr<seating> seating_; ///< null: the event has no plan
  std::uint64_t next_map_version_ = 1; ///< of the map of the next plan
  payments_book payments_;
  orders_book orders_;
  event_tickets_book event_tickets_;
  transfers_book transfers_;
  struct holder_to_tell {
    customer_id holder;
    event_ticket_id gift;
    bool is_buyer; ///< hears of it by an order
  };
  std::vector<holder_to_tell> holders_to_tell_; ///< see sale::tell_holders
  std::vector<claim_id> tickets_due_; ///< loaded claims with another number of valid event tickets than units
  checkin_book checkin_;
  promo_codes_book promo_codes_;
  std::map<customer_id, priority_row> priorities_;
  std::map<customer_id, invitation_row> invitations_;
  /// Access codes given with live entries (ordinals of promo codes), in the order given.
  std::unordered_map<queue_number, std::vector<std::uint32_t>> access_;
  session_locks locks_;
  session_outcomes outcomes_;
  std::vector<std::string> lost_locks_; ///< loaded names of sessions that are over; the next runs free them
  timestamp next_code_ = never; ///< the next `valid_from` of a code; never: none
  blocked_customers blocked_;
  /// Blocked customers that the next runs process.
  std::vector<customer_id> blocked_to_end_, blocked_to_refund_;
  std::map<uuid, dead_letter_row> dead_letters_; ///< only open letters
  idempotency_index answers_;
  std::deque<queue_number> ended_; ///< standalone queues: entries in memory that ended, by time
  queue_number first_kept_{1}; ///< last one that was written
  presence_book present_, away_; ///< last sighting of entries in line; time of the move to AWAY
  timestamp rechecks_from_ = never; ///< the pause between questions about failed attempts ends
  bool is_fresh_ = false; ///< loaded, and not run since
  bool is_logged_ = false;
  bool was_sold_out_ = false;
};

} // namespace fq
