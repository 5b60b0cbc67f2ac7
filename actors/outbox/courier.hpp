// SPDX-License-Identifier: Apache-2.0
// Delivers notices to devices or endpoints by one channel. Claims due deliveries from the ledger in small
// batches, each for a visibility timeout: after a crash they become due again. domain/delivery/delivery
// decides retries. One courier per channel, so that a slow channel delays no other; several nodes may each
// have one.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/outbox/limits.hpp"
#include "actors/protocol/notice_messages.hpp"
#include "actors/storage/ledger_workers.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/pace.hpp"
#include "domain/delivery/delivery.hpp"
#include "outbound/channel.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fq {

struct courier_services {
  environment* env = nullptr;
  ledger_workers ledgers;
  channel way{};
  channel_port* port = nullptr; ///< null: the channel is off; its deliveries are dropped
  /// Current signing secrets of an endpoint; null: devices only.
  std::function<std::vector<std::string>(const webhook_endpoint_row&, timestamp now)> secrets;
  std::function<bool()> may_take; ///< false: nodes of another kind serve; null: always true
  /// An endpoint was disabled; may be null.
  std::function<void(const webhook_endpoint_row&, const std::string& why)> on_disabled;
  /// Faults of this server or of the channel, without target addresses; may be null.
  std::function<void(const std::string&)> warn;
  notice_counts* counts = nullptr; ///< may be null
  std::size_t max_in_flight = 32; ///< max deliveries in flight
  std::size_t per_target = 0; ///< ... to one target, so that a slow target delays no other; 0: no limit
  /// Limits each tenant to share_of_tenant of the deliveries held and in flight.
  bool has_tenant_shares = false;
  double per_second = 0; ///< delivery starts per second; 0: no limit. Burst: one second's worth
  milliseconds visibility_timeout{60'000}; ///< visibility timeout: a delivery must start in its first half
                                           ///< and finish in its second (webhooks.timeout)
};

class courier_state {
public:
  static inline const char* name = "courier";
  using pointer = courier_handle::stateful_pointer<courier_state>;

  void init(pointer self, const courier_services& services);
  courier_handle::behavior_type behavior();

private:
  using key = std::pair<uuid, uuid>; ///< target and notice
  struct taken {
    due_delivery what;
    milliseconds until{0}; ///< steady time: end of the visibility timeout
    timestamp began; ///< start of the attempt
  };

  void on_timer(const timer_fired& t);
  void take();
  void on_taken(const deliveries_taken& x, milliseconds until);
  void start_waiting();
  void begin(taken t);
  void on_answer(const delivery_answered& x);
  void note(const delivery_row& row, const delivery_answer& answer) const;
  void apply_beyond_delivery(const taken& t, const delivery_answer& answer);
  void disable(const webhook_endpoint_row& endpoint, const std::string& why, timestamp since);
  void end(delivery_row row, delivery_state state, const std::string& why);
  void settle();
  void on_settled(bool is_done);
  void count(const delivery_row& row) const;
  void warn(const std::string& what) const {
    if (services_->warn) services_->warn(what);
  }
  [[nodiscard]] std::size_t in_flight_to(const uuid& target) const;
  /// Targets at their limit of deliveries held, or in back-off.
  std::vector<uuid> busy_targets();
  /// On probation: no success yet, or the last delivery failed.
  [[nodiscard]] bool is_on_probation(const uuid& target) const;
  /// Max deliveries in flight to the target: 1 on probation.
  [[nodiscard]] std::size_t share_of(const uuid& target) const {
    return is_on_probation(target) ? 1 : services_->per_target;
  }
  /// The last delivery failed, at most 10 minutes ago.
  [[nodiscard]] bool failed_recently(const uuid& target) const;
  void note_answer(const uuid& target);
  void back_off(const uuid& target, milliseconds asked);
  using by_tenant = std::map<tenant_id, std::size_t>;
  /// Deliveries waiting or in flight, per tenant.
  [[nodiscard]] by_tenant held_by_tenant() const;
  /// Tenants at their limit of deliveries held.
  [[nodiscard]] std::vector<tenant_id> busy_tenants() const;
  [[nodiscard]] std::size_t take_limit() const;
  [[nodiscard]] std::size_t held_max() const;
  [[nodiscard]] std::size_t held() const {
    return waiting_.size() + in_flight_.size() + unsettled_.size() + settling_.size();
  }
  [[nodiscard]] std::size_t waiting_on_probation() const;
  [[nodiscard]] std::size_t room() const;

  pointer self_ = nullptr;
  const courier_services* services_ = nullptr;
  std::deque<taken> waiting_;
  std::map<key, taken> in_flight_;
  std::vector<delivery_row> unsettled_; ///< results not yet stored
  std::vector<delivery_row> settling_; ///< results being stored
  struct target_health {
    bool last_succeeded = false;
    std::uint32_t consecutive_failures = 0;
    milliseconds retry_after{0}; ///< steady time
    milliseconds answered_at{0}; ///< steady time
  };
  std::map<uuid, target_health> health_; ///< per target, only where per_target is set
  bool is_taking_ = false;
  token_bucket pace_; ///< of delivery starts, in steady time
  milliseconds down_until_{0}; ///< steady time: end of the channel's back-off
};

courier_handle::behavior_type courier(courier_handle::stateful_pointer<courier_state> self,
                                      const courier_services* services);

} // namespace fq
