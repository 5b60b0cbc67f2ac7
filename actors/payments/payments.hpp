// SPDX-License-Identifier: Apache-2.0
// All gateways behind one handle. Of each gateway a bounded number of calls is under way, the others wait for
// their turn: refunds after the rest, then by priority class and age; failures are tried again with full
// jitter, not before the gateway wishes; after several in a row its circuit is open, and then one call at a
// time tries whether it is back. Owners never wait for it: every call is answered, and what could not be done
// in time is `unavailable`, so owners ask again when a deadline makes them.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/payments/workers.hpp"
#include "domain/base/retry.hpp"

#include <caf/stateful_actor.hpp>

#include <map>
#include <set>
#include <tuple>

namespace fq {

struct payments_services {
  environment* env = nullptr;
  std::map<std::string, gateway_worker_handle> gateways; ///< by name
  retry_policy retry;
  std::size_t calls_per_gateway = 32; ///< under way at most
  std::uint32_t failures_to_open = 5; ///< in a row; then the circuit is open for `open_for`
  milliseconds open_for{5'000};
  milliseconds answer_timeout{35'000}; ///< a worker that has not answered by then counts as failed
  std::map<std::string, gateway_counts>* counts =
    nullptr; ///< by gateway, as many as there are; null: nobody asks
  span_sink* spans = nullptr; ///< takes a span of each attempt that is traced; null: nobody keeps them
};

/// Calls known at most over all gateways; beyond it the answer is `unavailable` at once (I14). Refunds, which
/// can wait, get half of that.
inline constexpr std::size_t gateway_calls_max = 20'000;
/// A gateway's wish to be left alone is respected up to this.
inline constexpr milliseconds retry_after_max{60'000};

class payments_state {
public:
  static inline const char* name = "payments";
  using pointer = payments_handle::stateful_pointer<payments_state>;

  void init(pointer self, const payments_services& services);
  payments_handle::behavior_type behavior();

private:
  enum class call_phase : std::uint8_t { waiting, under_way, pausing };

  /// An owner that waits for an answer about one call.
  struct pending {
    call_gateway call;
    event_handle owner;
    std::uint64_t age = 0; ///< first come
    std::uint32_t attempts = 0;
    std::uint64_t generation = 0; ///< of its timer: the answer's deadline, or the end of a pause
    call_phase phase = call_phase::waiting;
    milliseconds began{0}; ///< steady time: the attempt under way
    open_span attempt = {}; ///< under way
  };
  /// One call of a kind about a payment or refund at a time.
  using call_key = std::tuple<std::string, gateway_call_kind, payment_id, refund_id>;
  struct gateway_state {
    std::set<std::tuple<bool, std::uint8_t, std::uint64_t, call_key>>
      waiting; ///< refunds last; by class, then age
    milliseconds quiet_until{0}; ///< steady time: it asked to be left alone
    std::size_t under_way = 0;
    std::uint32_t failures = 0; ///< in a row
    milliseconds open_until{0}; ///< steady time
    bool is_suspect = false; ///< its circuit was open, and nothing has succeeded since
    std::size_t pausing = 0;
  };

  void on_call(const call_gateway& x);
  void on_answer(const gateway_answered& x);
  void on_timer(std::uint64_t generation);
  void enqueue(const call_key& key, pending& p);
  void pump(const std::string& gateway);
  void begin_waiting(const std::string& gateway);
  void show(const std::string& gateway);
  void count(const pending& p, const gateway_answered& x);
  [[nodiscard]] gateway_counts* counts_of(const std::string& gateway) const;
  void begin(const call_key& key, pending& p);
  void settle(const call_key& key, const gateway_answered& x);
  void finish(const call_key& key, gateway_answered answer);
  void wake(pending& p, const call_key& key, milliseconds after);
  void leave_alone(const std::string& gateway, milliseconds span);

  pointer self_ = nullptr;
  const payments_services* services_ = nullptr;
  std::map<call_key, pending> calls_;
  std::map<std::uint64_t, call_key> timers_; ///< by generation
  std::map<std::uint64_t, std::string> quiet_ends_; ///< gateways by generation
  std::map<std::string, gateway_state> gateways_;
  std::uint64_t generation_ = 0;
  std::uint64_t next_age_ = 0;
};

payments_handle::behavior_type payments(payments_handle::stateful_pointer<payments_state> self,
                                        const payments_services* services);

} // namespace fq
