// SPDX-License-Identifier: Apache-2.0
// Counters and histograms for /metrics: relaxed atomics. Thread-safe; not used for decisions.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace fq {

struct counter {
  std::atomic<std::uint64_t> value{0};
  void add(std::uint64_t n = 1) noexcept { value.fetch_add(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept { return value.load(std::memory_order_relaxed); }
};

/// A value that goes up and down.
struct gauge {
  std::atomic<std::int64_t> value{0};
  void set(std::int64_t n) noexcept { value.store(n, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t get() const noexcept { return value.load(std::memory_order_relaxed); }
};

/// One counter per value of an enum with `Size` values.
template <class Enum, std::size_t Size>
struct counter_of {
  std::array<counter, Size> all;
  counter& operator[](Enum e) noexcept { return all[static_cast<std::size_t>(e)]; }
  const counter& operator[](Enum e) const noexcept { return all[static_cast<std::size_t>(e)]; }
};

/// A histogram. `Bounds`: ascending upper bounds of its buckets in seconds; one more bucket has the rest.
template <const auto& Bounds>
class duration_counts {
public:
  static constexpr const auto& bounds = Bounds;

  void observe(std::chrono::nanoseconds took) noexcept {
    const double s = std::chrono::duration<double>(took).count();
    std::size_t slot = 0;
    while (slot < Bounds.size() && s > Bounds[slot]) ++slot;
    buckets_[slot].add();
    nanoseconds_.add(took.count() > 0 ? static_cast<std::uint64_t>(took.count()) : 0);
  }
  /// Not cumulative; the last bucket is above all bounds.
  [[nodiscard]] std::uint64_t in_bucket(std::size_t slot) const noexcept { return buckets_[slot].get(); }
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(nanoseconds_.get()) / 1e9; }

private:
  std::array<counter, Bounds.size() + 1> buckets_;
  counter nanoseconds_;
};

/// Buckets for work that clients wait for: gateway calls, orders until their payment page.
inline constexpr std::array task_bounds_seconds{0.01, 0.025, 0.05, 0.1,  0.25, 0.5,  1.0,
                                                2.5,  5.0,   10.0, 30.0, 60.0, 300.0};

} // namespace fq
