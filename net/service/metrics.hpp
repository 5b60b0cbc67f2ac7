// SPDX-License-Identifier: Apache-2.0
// Counters of the server, as relaxed atomics. Updated by the connection (observe) and the routes; read by
// GET /metrics, which formats them with prometheus-cpp. Labels are bounded: route patterns, methods and
// status classes, never ids of people or entries.
#pragma once
#include "actors/base/counts.hpp"
#include "net/http/http.hpp"
#include "net/service/node_metrics.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace fq::net {

class metric_page;
struct server_state;

/// For the duration of requests.
inline constexpr std::array duration_bounds_seconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                    0.1,    0.25,  0.5,    1.0,   2.5,  5.0};

/// How a checkout was answered: async: before the payment page exists; sync: with it; wait: with it,
/// because the client requested that (Prefer: wait).
enum class checkout_mode : std::uint8_t { async, sync, wait };
enum class checkout_result : std::uint8_t { success, refused, error }; ///< success: there is an order

/// Counters of checkout answers.
class checkout_counts {
public:
  void observe(checkout_mode mode, checkout_result result, std::chrono::nanoseconds duration) noexcept;
  void append(metric_page& page) const;

private:
  struct of_mode {
    std::array<counter, 3> by_result;
    duration_counts<duration_bounds_seconds> durations;
  };
  std::array<of_mode, 3> modes_;
};

class metrics {
public:
  /// One row per route, and one for requests without a route.
  explicit metrics(std::span<const route> routes);

  /// Counts an answered request. `matched`: its row of the table; null: none. Called from io threads.
  void observe(const route* matched, unsigned status, std::chrono::nanoseconds duration) noexcept;

  /// The whole page in text format 0.0.4. Any thread.
  [[nodiscard]] std::string text(const server_state& state) const;
  /// Appends the metrics counted in this object.
  void append(metric_page& page) const;

  checkout_counts checkouts;
  counter access_granted, access_refused;
  counter joins_created, joins_repeated, positions_read, claims_created, claims_refused, payments_created,
    webhooks_applied, webhooks_rejected, webhooks_ignored, webhooks_foreign, webhooks_unknown, webhooks_lost,
    rate_limited, unauthenticated, idempotent_replays, otp_requested, logins_failed;

private:
  struct route_counts {
    std::array<counter, 6> by_class; ///< 1xx .. 5xx; [0]: anything else
    duration_counts<duration_bounds_seconds> durations;
  };
  [[nodiscard]] const route_counts& row(std::size_t index) const { return counts_[index]; }
  void append_requests(metric_page& page) const;
  void append_durations(metric_page& page) const;
  void append_sale(metric_page& page) const;

  std::span<const route> routes_;
  std::unique_ptr<route_counts[]> counts_;
  mutable shown_events shown_;
};

} // namespace fq::net
