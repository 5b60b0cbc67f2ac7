// SPDX-License-Identifier: Apache-2.0
// All gateways behind one handle.
// - Limit: a bounded number of calls per gateway in flight. Waiting calls go by priority class and age,
//   refunds last.
// - Retries: full jitter, respecting the gateway's Retry-After.
// - Circuit breaker: opens after several consecutive failures; half-open, it tries one call at a time.
// Owners are never blocked: every call is answered, after the deadline with `unavailable`; owners retry at
// their next deadline.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/base/shared_timer.hpp"
#include "actors/payments/limits.hpp"
#include "actors/payments/workers.hpp"
#include "actors/protocol/payment_messages.hpp"
#include "domain/base/retry.hpp"

#include <caf/stateful_actor.hpp>

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace fq {

struct payments_services {
  environment* env = nullptr;
  std::map<std::string, gateway_worker_handle> gateways; ///< by name
  retry_policy retry;
  std::size_t calls_per_gateway = 32; ///< max in flight
  std::uint32_t failures_to_open = 5; ///< consecutive; opens the circuit breaker for `open_for`
  milliseconds open_for{5'000};
  milliseconds answer_timeout{35'000}; ///< time after which a worker without an answer counts as failed
  std::map<std::string, gateway_counts>* counts = nullptr; ///< one entry per gateway; null: no metrics
  task_history* history = nullptr; ///< receives ended calls; may be null
  span_sink* spans = nullptr; ///< receives spans of traced attempts; may be null
};

class payments_state {
public:
  static inline const char* name = "payments";
  using pointer = payments_handle::stateful_pointer<payments_state>;

  void init(pointer self, const payments_services& services);
  payments_handle::behavior_type behavior();

private:
  enum class call_phase : std::uint8_t { waiting, under_way, pausing };

  /// Steady time, and what tells equal ones apart.
  using deadline = std::pair<milliseconds, std::uint64_t>;
  /// A call whose owner waits for the answer.
  struct pending {
    call_gateway call;
    event_handle owner;
    std::uint64_t age = 0; ///< order of arrival
    milliseconds asked{0}; ///< steady time of its arrival
    std::uint32_t attempts = 0;
    deadline due{}; ///< of its answer, or the end of its pause
    call_phase phase = call_phase::waiting;
    milliseconds began{0}; ///< steady time: start of the current attempt
    open_span attempt = {}; ///< current attempt
  };
  /// Identity of a call: at most one per kind and payment or refund.
  using call_key = std::tuple<std::string, gateway_call_kind, payment_id, refund_id>;
  struct gateway_state {
    /// Refunds last; then by class and age.
    std::set<std::tuple<bool, std::uint8_t, std::uint64_t, call_key>> waiting;
    milliseconds quiet_until{0}; ///< steady time: end of the gateway's Retry-After
    std::size_t under_way = 0;
    std::uint32_t failures = 0; ///< consecutive
    milliseconds open_until{0}; ///< steady time: the circuit breaker is open until then
    bool is_suspect = false; ///< half-open: no success since the circuit breaker opened
    std::size_t pausing = 0;
  };

  void on_call(const call_gateway& x);
  void on_answer(const gateway_answered& x);
  void on_timer(std::uint64_t number);
  void end_wait(const call_key& key);
  void set_timer();
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
  std::map<deadline, call_key> deadlines_;
  std::map<std::string, gateway_state> gateways_;
  shared_timer timer_;
  std::uint64_t next_deadline_ = 0;
  std::uint64_t next_age_ = 0;
};

payments_handle::behavior_type payments(payments_handle::stateful_pointer<payments_state> self,
                                        const payments_services* services);

} // namespace fq
