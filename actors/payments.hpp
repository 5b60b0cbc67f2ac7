// SPDX-License-Identifier: Apache-2.0
// All gateways behind one handle: bounded calls under way, retries with full jitter, a circuit breaker per gateway. Owners never wait
// for it; what it cannot do in time it answers `unavailable`, and owners ask again when a deadline makes them.
#pragma once
#include "actors/workers.hpp"
#include "domain/retry.hpp"

#include <caf/stateful_actor.hpp>

#include <map>

namespace fq {

struct payments_services {
  environment* env = nullptr;
  std::map<std::string, gateway_worker_handle> gateways; ///< by name
  retry_policy retry;
  std::uint32_t failures_to_open = 5; ///< in a row; then the circuit is open for `open_for`
  milliseconds open_for{5'000};
  milliseconds answer_timeout{35'000}; ///< a worker that has not answered by then counts as failed
};

/// Calls under way at most over all gateways; beyond it the answer is `unavailable` at once (I14).
inline constexpr std::size_t gateway_calls_max = 20'000;

class payments_state {
public:
  static inline const char* name = "payments";
  using pointer = payments_handle::stateful_pointer<payments_state>;

  void init(pointer self, const payments_services& services) {
    self_ = self;
    services_ = &services;
  }
  payments_handle::behavior_type behavior();

private:
  /// An owner that waits for an answer about one call.
  struct pending {
    call_gateway call;
    event_handle owner;
    std::uint32_t attempts = 0;
    milliseconds deadline{0}; ///< steady time
    std::uint64_t generation = 0; ///< of its retry timer; 0: a worker has it
  };
  struct circuit {
    std::uint32_t failures = 0; ///< in a row
    milliseconds open_until{0}; ///< steady time
  };
  /// One call of a kind about a payment or refund at a time.
  using call_key = std::tuple<std::string, gateway_call_kind, payment_id, refund_id>;

  void on_call(const call_gateway& x);
  void on_answer(const gateway_answered& x);
  void on_timer(std::uint64_t generation);
  void attempt(const call_key& key, pending& p);
  void finish(const call_key& key, gateway_answered answer);
  void drop_lost();

  pointer self_ = nullptr;
  const payments_services* services_ = nullptr;
  std::map<call_key, pending> calls_;
  std::map<std::uint64_t, call_key> retries_; ///< by generation
  std::map<std::string, circuit> circuits_;
  std::uint64_t generation_ = 0;
};

payments_handle::behavior_type payments(payments_handle::stateful_pointer<payments_state> self,
                                        const payments_services* services);

} // namespace fq
