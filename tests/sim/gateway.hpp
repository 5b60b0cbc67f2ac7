// SPDX-License-Identifier: Apache-2.0
// The simulated payment gateway: its append-only ledger (the oracle of I3 and I4), the worker that the
// payments actor calls, and the courier of its webhooks.
#pragma once
#include "actors/payments/workers.hpp"

#include <caf/event_based_actor.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fq::sim {

struct world;
class checker;

enum class charge_state : std::uint8_t { unpaid, paid, declined, expired };

struct charge {
  money amount = 0;
  std::string currency;
  charge_state state = charge_state::unpaid;
  money captured = 0; ///< tax included
  money tax = 0;
  bool was_declined = false;
  std::map<refund_id, money> refunds; ///< done
  std::set<refund_id> refused; ///< permanently refused
  std::map<refund_id, money> refunds_pending;
};

struct webhook {
  gateway_fact fact;
  bool is_forged = false;
  milliseconds due{0}; ///< steady time
  bool acknowledged = false;
};

class gateway_books {
public:
  explicit gateway_books(world& w) : world_(w) {}

  // the API
  void initialize(const std::string& reference, money amount, const std::string& currency);
  [[nodiscard]] const charge* find(const std::string& reference) const;
  void expire(const std::string& reference);
  gateway_result refund(const std::string& reference, const refund_id& id, money amount);
  // the hosted page
  void pay(const std::string& reference);
  void decline(const std::string& reference);

  /// Delivers an unsigned webhook about a payment that did not happen.
  void forge();

  /// Checks that the ledger's records of money match the gateway's.
  void applied(const batch& b, checker& check) const;

  /// Unacknowledged webhooks.
  [[nodiscard]] std::vector<webhook>& outbox() { return outbox_; }
  void settle_refunds();
  /// Checks that all captured money bought a ticket, was refunded, or waits for a person (I3, I4).
  void check_end(checker& check) const;
  [[nodiscard]] std::size_t log_size() const { return log_.size(); }

  milliseconds down_until{0}; ///< steady time; the API does not answer before

private:
  void check_payment(const payment_moved& c, checker& check) const;
  void check_refund(const refund_moved& c, checker& check) const;
  void check_charge(const charge& c, const payment_row& payment, checker& check) const;
  [[nodiscard]] bool will_be_asked_about(const std::string& reference) const;
  void tell(verdict what, const std::string& reference, money amount, const refund_id& refund);
  void finish_refund(const std::string& reference, charge& c, const refund_id& id, money amount);

  world& world_;
  std::map<std::string, charge> charges_;
  std::vector<std::string> log_; ///< append-only, readable
  std::vector<webhook> outbox_;
  std::uint64_t events_ = 0;
};

gateway_worker_handle::behavior_type sim_gateway_worker(gateway_worker_handle::pointer self, world* w);
caf::behavior sim_courier(caf::event_based_actor* self, world* w);

} // namespace fq::sim
