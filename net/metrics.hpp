// SPDX-License-Identifier: Apache-2.0
// What the server counts, as relaxed atomics, and their Prometheus text. Fed by the session (observe) and the
// routes; read by GET /metrics. Labels are bounded: route patterns, methods and status classes, never ids.
#pragma once
#include "actors/cache_metrics.hpp"
#include "net/http.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace fq::net {

struct server_state;
class tls_server;

/// Upper bounds in seconds of the request duration histogram; the last bucket is +Inf.
inline constexpr std::array duration_bounds_seconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                    0.1,    0.25,  0.5,    1.0,   2.5,  5.0};

struct counter {
  std::atomic<std::uint64_t> value{0};
  void add(std::uint64_t n = 1) noexcept { value.fetch_add(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept { return value.load(std::memory_order_relaxed); }
};

enum class checkout_mode : std::uint8_t { async, sync };
enum class checkout_result : std::uint8_t { processing, ready, refused, error };

/// Answers to checkouts: the seed's names, without a prefix.
class checkout_counts {
public:
  void observe(checkout_mode mode, checkout_result result, std::chrono::nanoseconds duration) noexcept;
  void append(std::string& out) const;

private:
  struct of_mode {
    std::array<counter, 4> by_result;
    std::array<counter, duration_bounds_seconds.size() + 1> by_duration;
    counter nanoseconds;
  };
  std::array<of_mode, 2> modes_;
};

class metrics {
public:
  /// One row per route of the table, and one more for what matched none.
  explicit metrics(std::span<const route> routes);

  /// A request was answered. `matched`: the row of the table, or null for none. Called from io threads.
  void observe(const route* matched, unsigned status, std::chrono::nanoseconds duration) noexcept;

  /// The whole page, text format 0.0.4.
  [[nodiscard]] std::string text(const server_state& state) const;

  checkout_counts checkouts;
  counter access_granted, access_refused;
  counter joins_created, joins_repeated, positions_read, claims_created, claims_refused, payments_created,
    webhooks_applied, webhooks_rejected, webhooks_ignored, webhooks_foreign, webhooks_unknown, rate_limited, unauthenticated, idempotent_replays, otp_requested,
    logins_failed;

private:
  struct route_counts {
    std::array<counter, 6> by_class; ///< 1xx .. 5xx; [0]: anything else
    std::array<counter, duration_bounds_seconds.size() + 1> by_duration;
    counter nanoseconds;
  };
  [[nodiscard]] const route_counts& row(std::size_t index) const { return counts_[index]; }
  void append_requests(std::string& out) const;
  void append_durations(std::string& out) const;
  void append_sale(std::string& out) const;
  static void append_cache(std::string& out, const cache_metrics& cache);
  static void append_tls(std::string& out, const tls_server& tls);
  static void append_cluster(std::string& out, const cluster_links& links);

  std::span<const route> routes_;
  std::unique_ptr<route_counts[]> counts_;
};

} // namespace fq::net
