// SPDX-License-Identifier: Apache-2.0
// Detects when asynchronous checkout does more harm than good: the rollback triggers of the checkout design
// as a state machine. The caller changes the setting; only a person changes it back. No clock: callers pass
// steady time.
#pragma once
#include "domain/base/time.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace fq {

/// The setting to switch: percentage of customers with asynchronous checkout, 0 to 100.
inline constexpr std::string_view async_percent_setting = "checkout.async_percent";
/// `stored`: the setting's text; empty: never changed, `configured` applies.
std::int32_t async_percent_of(std::string_view stored, std::int32_t configured);

/// In the order of evaluation.
enum class rollback_trigger : std::uint8_t {
  success, ///< too few orders get their payment page
  workers, ///< no gateway accepts calls, and orders wait
  queue, ///< too many orders wait for their payment page
};
inline constexpr std::array rollback_triggers{rollback_trigger::success, rollback_trigger::workers,
                                              rollback_trigger::queue};
std::string_view name_of(rollback_trigger t);

struct rollback_rules {
  std::uint64_t success_percent_min = 80;
  milliseconds success_for{5 * 60 * 1000};
  milliseconds workers_for{2 * 60 * 1000};
  std::uint64_t queue_max = 500;
  milliseconds queue_for{10 * 60 * 1000};

  milliseconds success_span{60'000}; ///< window over finished orders for the success rate
  std::uint64_t orders_min = 10; ///< in that window; with fewer orders the trigger does not hold
  milliseconds gap_max{30'000}; ///< between two samples; after a longer gap all triggers restart
};

/// One sample of the checkouts of this process. `succeeded`, `failed`: orders since the start that got their
/// payment page (or needed none), or never will.
struct checkout_look {
  milliseconds at{0}; ///< steady time
  std::uint64_t succeeded = 0, failed = 0;
  std::uint64_t workers = 0; ///< gateway calls that may be in flight
  std::uint64_t queue = 0; ///< orders that wait for their payment page
  bool is_async = true; ///< some checkouts are answered before their page exists
};

class checkout_watch {
public:
  explicit checkout_watch(const rollback_rules& rules) : rules_(rules) {}

  /// Adds a sample. Returns the first trigger that has held for its required time, at every sample until
  /// checkout is synchronous. `now.at` never goes back.
  std::optional<rollback_trigger> look(const checkout_look& now);
  /// Since when `t` has held without a break; empty if it does not hold.
  [[nodiscard]] std::optional<milliseconds> since(rollback_trigger t) const {
    return since_[static_cast<std::size_t>(t)];
  }

private:
  void begin_anew();
  void remember(const checkout_look& now);
  [[nodiscard]] bool holds(rollback_trigger t, const checkout_look& now) const;
  [[nodiscard]] milliseconds patience(rollback_trigger t) const;

  /// Max stored samples (I14); with more samples in the window, the window becomes shorter.
  static constexpr std::size_t looks_max = 1'000;

  rollback_rules rules_;
  std::deque<checkout_look> looks_; ///< samples of the success window, and the last one before it
  std::array<std::optional<milliseconds>, rollback_triggers.size()> since_;
};

} // namespace fq
