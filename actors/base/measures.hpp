// SPDX-License-Identifier: Apache-2.0
// All metrics of this process's actors. Created by the composition, which passes parts to the actors that
// write them; outlives the actors. Thread-safe. Not used for decisions, except by checkout_switch.
#pragma once
#include "actors/base/bus_counts.hpp"
#include "actors/base/counts.hpp"
#include "actors/base/sale_board.hpp"
#include "actors/base/task_history.hpp"
#include "domain/delivery/delivery.hpp"
#include "domain/model/rows.hpp"
#include "domain/sale/checkout_watch.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace fq {

enum class call_outcome : std::uint8_t {
  answered, ///< with any result
  refused, ///< rejected by the gateway
  unavailable, ///< attempt failed
};
inline constexpr std::size_t call_kinds = 4; ///< number of gateway_call_kind values

/// Metrics of one gateway. Written by the payments actor.
struct gateway_counts {
  std::array<counter_of<call_outcome, 3>, call_kinds> attempts; ///< by gateway_call_kind
  counter retries; ///< attempts after the first
  duration_counts<task_bounds_seconds> durations; ///< of attempts
  gauge under_way; ///< attempts in flight
  gauge waiting; ///< calls waiting for a slot
  gauge pausing; ///< calls between two attempts
  gauge workers; ///< max attempts in flight; 0 from the opening of the circuit breaker until the next success
};

/// Metrics of one outbox lane. Written by its dispatcher.
struct outbox_counts {
  gauge rows; ///< undelivered rows of the last read; max outbox_rows_max
  gauge oldest; ///< creation time of the oldest, Unix ms; 0: none
  counter delivered;
};

/// Event mail. Written by the mail consumer.
struct mail_counts {
  counter accepted, rejected, put_off;
};

/// Notices to devices and endpoints. Written by the fan-out and the couriers.
struct notice_counts {
  counter stored; ///< deliveries stored
  counter_of<channel, all_channels.size() + 1> delivered, failed, expired, dropped, put_off; ///< by channel
  counter endpoints_disabled;
};

/// The automatic rollback of asynchronous checkout. Written by the checkout_switch actor.
struct switch_counts {
  counter_of<rollback_trigger, rollback_triggers.size()> switched;
  counter failed; ///< the setting could not be stored; retried
};

/// Index in all_lanes.
inline std::size_t place_of(lane which) {
  return static_cast<std::size_t>(std::ranges::find(all_lanes, which) - all_lanes.begin());
}

struct measures {
  sale_board sales;
  std::map<std::string, gateway_counts> gateways; ///< by name; fixed before actors run
  std::array<outbox_counts, all_lanes.size()> lanes; ///< in the order of all_lanes
  [[nodiscard]] outbox_counts& outbox(lane which) { return lanes[place_of(which)]; }
  [[nodiscard]] const outbox_counts& outbox(lane which) const { return lanes[place_of(which)]; }
  mail_counts mails;
  notice_counts notices;
  bus_counts bus;
  bus_inbox_counts bus_inbox;
  switch_counts rollback;
  bool has_rollback = false; ///< the automatic switch is enabled
  gauge async_percent; ///< the installation's setting, as known to this node
  counter dead_letters; ///< dead letters created
  task_history history;
};

} // namespace fq
