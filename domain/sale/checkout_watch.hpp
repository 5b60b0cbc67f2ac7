// SPDX-License-Identifier: Apache-2.0
// When asynchronous checkout does more harm than good: the rollback triggers of the checkout design as a
// state machine. It only says so; who asks changes the setting, and nobody but a person changes it back. No
// clock: callers pass steady time.
#pragma once
#include "domain/base/time.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace fq {

/// The installation's setting that is switched: a share of the customers, 0 to 100.
inline constexpr std::string_view async_percent_setting = "checkout.async_percent";
/// `stored`: the setting's text; empty: it was never changed, what is configured holds.
std::int32_t async_percent_of(std::string_view stored, std::int32_t configured);

/// In the order in which they are looked at.
enum class rollback_trigger : std::uint8_t {
  success, ///< too few orders get their payment page
  workers, ///< no gateway takes calls, and orders wait for one
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

  milliseconds success_span{60'000}; ///< success is that of the orders whose work ended so lately
  std::uint64_t orders_min = 10; ///< in that span; fewer say nothing, and a trigger that held holds no longer
  milliseconds gap_max{
    30'000}; ///< between two looks; what was in a longer one nobody knows, so everything begins anew
};

/// One look at the checkouts of this process. `succeeded` and `failed`: orders since it began that got their
/// payment page (or needed none), or never will.
struct checkout_look {
  milliseconds at{0}; ///< steady time
  std::uint64_t succeeded = 0, failed = 0;
  std::uint64_t workers = 0; ///< calls that gateways may have under way
  std::uint64_t queue = 0; ///< orders that wait for their payment page
  bool is_async = true; ///< somebody's checkout is answered before its page is there
};

class checkout_watch {
public:
  explicit checkout_watch(const rollback_rules& rules) : rules_(rules) {}

  /// The first trigger that has held for its time, at every look until checkout is synchronous; none then.
  /// `now.at` never goes back.
  std::optional<rollback_trigger> look(const checkout_look& now);
  /// Since when `t` has held without a break; nothing if it does not.
  [[nodiscard]] std::optional<milliseconds> since(rollback_trigger t) const {
    return since_[static_cast<std::size_t>(t)];
  }

private:
  void begin_anew();
  void remember(const checkout_look& now);
  [[nodiscard]] bool holds(rollback_trigger t, const checkout_look& now) const;
  [[nodiscard]] milliseconds patience(rollback_trigger t) const;

  /// Looks that are remembered at most (I14); more within the span and it is shorter.
  static constexpr std::size_t looks_max = 1'000;

  rollback_rules rules_;
  std::deque<checkout_look> looks_; ///< of the success span, and the last one before it
  std::array<std::optional<milliseconds>, rollback_triggers.size()> since_;
};

} // namespace fq
