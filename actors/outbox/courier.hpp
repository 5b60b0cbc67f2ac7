// SPDX-License-Identifier: Apache-2.0
// Brings notices to devices or endpoints by one channel. Takes what is due from the ledger, a few at a time,
// and for a while: what a process that ends had taken comes back by itself. When to try again and when to
// give up is decided in domain/delivery/delivery. One courier a channel, so that a slow one delays no other;
// several nodes may have one each.
#pragma once
#include "actors/base/measures.hpp"
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
  channel_port* port = nullptr; ///< null: the channel is off, and what was meant for it ends
  std::function<std::vector<std::string>(const webhook_endpoint_row&, timestamp now)>
    secrets; ///< that sign for an endpoint now; null: devices only
  std::function<bool()> may_take; ///< false: nodes of another kind serve; null: there are none
  std::function<void(const webhook_endpoint_row&, const std::string& why)>
    on_disabled; ///< an endpoint was turned off; may be null
  std::function<void(const std::string&)>
    warn; ///< what is our fault, or the channel's; names no target's address; may be null
  notice_counts* counts = nullptr; ///< null: nobody asks
  std::size_t at_once = 32; ///< tries under way
  std::size_t per_target =
    0; ///< ... to one target, so that a slow one delays no other; 0: no limit of its own
  bool has_tenant_shares = false; ///< no tenant has more than share_of_tenant of what is taken and under way
  double per_second = 0; ///< tries begun; 0: no limit. A burst of one second's worth is allowed
  milliseconds hold{60'000}; ///< what is taken is ours for so long; a try, which begins in its first half,
                             ///< lasts less than the other (webhooks.timeout)
};

/// How often a courier that has nothing to do looks.
inline constexpr milliseconds courier_poll{500};
/// While the service is away, at least.
inline constexpr milliseconds channel_pause{5'000};
/// ... and at most, whatever it asks for: nobody's turn should pass meanwhile.
inline constexpr milliseconds channel_pause_max{5 * 60 * 1000};
inline constexpr milliseconds courier_timeout{10'000};
/// A target is left alone so long at most, whatever it asks for.
inline constexpr milliseconds target_pause_max{60 * 60 * 1000};
/// How a target behaved is forgotten so long after its last try.
inline constexpr milliseconds manner_memory{24 * 60 * 60 * 1000};

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
    milliseconds until{0}; ///< steady time: ours no longer
    timestamp began; ///< of the try
  };

  void on_timer(const timer_fired& t);
  void take();
  void on_taken(const deliveries_taken& x, milliseconds until);
  void begin_some();
  void begin(taken t);
  void on_answer(const delivery_answered& x);
  void note(const delivery_row& row, const delivery_answer& answer) const;
  void heed(const taken& t, const delivery_answer& answer);
  void disable(const webhook_endpoint_row& endpoint, const std::string& why, timestamp since);
  void end(delivery_row row, delivery_state state, const std::string& why);
  void settle();
  void on_settled(bool is_done);
  void count(const delivery_row& row) const;
  void warn(const std::string& what) const {
    if (services_->warn) services_->warn(what);
  }
  [[nodiscard]] std::size_t in_the_air_to(const uuid& target) const;
  /// Targets that have their share of what is held, and those that are left alone.
  std::vector<uuid> busy_targets();
  /// It has taken nothing yet, or not the last thing: whether it hangs is not known.
  [[nodiscard]] bool is_on_trial(const uuid& target) const;
  /// Of what may be under way to it: one thing while it is on trial.
  [[nodiscard]] std::size_t share_of(const uuid& target) const {
    return is_on_trial(target) ? 1 : services_->per_target;
  }
  /// It did not take the last thing, some minutes ago at most.
  [[nodiscard]] bool failed_lately(const uuid& target) const;
  void note_answer(const uuid& target);
  void leave_alone(const uuid& target, milliseconds asked);
  using by_tenant = std::map<tenant_id, std::size_t>;
  /// How much of what waits and is under way is whose.
  [[nodiscard]] by_tenant held_by_tenant() const;
  /// Those that have their share of what may be held.
  [[nodiscard]] std::vector<tenant_id> busy_tenants() const;
  [[nodiscard]] std::size_t part() const;
  [[nodiscard]] std::size_t most() const;
  [[nodiscard]] std::size_t held() const {
    return waiting_.size() + in_the_air_.size() + unsettled_.size() + settling_.size();
  }
  [[nodiscard]] std::size_t waiting_on_trial() const;
  [[nodiscard]] std::size_t room() const;

  pointer self_ = nullptr;
  const courier_services* services_ = nullptr;
  std::deque<taken> waiting_;
  std::map<key, taken> in_the_air_;
  std::vector<delivery_row> unsettled_; ///< what came of tries, not written yet
  std::vector<delivery_row> settling_; ///< being written
  /// How a target took what it was sent.
  struct manner {
    bool answers = false; ///< it took the last thing
    std::uint32_t strikes = 0; ///< in a row: things that it did not take
    milliseconds until{0}; ///< steady time: it is left alone
    milliseconds at{0}; ///< steady time: of the last answer
  };
  std::map<uuid, manner> manners_; ///< of targets with a share of their own
  bool is_taking_ = false;
  token_bucket pace_; ///< of tries, in steady time
  milliseconds down_until_{0}; ///< steady time: the service is not tried before
};

courier_handle::behavior_type courier(courier_handle::stateful_pointer<courier_state> self,
                                      const courier_services* services);

} // namespace fq
