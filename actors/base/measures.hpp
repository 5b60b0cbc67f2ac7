// SPDX-License-Identifier: Apache-2.0
// What the actors of this process count for /metrics, all of it: made by the composition, written by those
// that it is handed to, outlives them. Safe on any thread; nobody decides an order by it.
#pragma once
#include "actors/base/bus_counts.hpp"
#include "actors/base/counts.hpp"
#include "actors/base/sale_board.hpp"
#include "domain/delivery/delivery.hpp"
#include "domain/model/rows.hpp"
#include "domain/sale/checkout_watch.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace fq {

enum class call_outcome : std::uint8_t {
  answered, ///< whatever the answer was
  refused, ///< it will not have it
  unavailable, ///< one attempt that came to nothing
};
inline constexpr std::size_t call_kinds = 4; ///< as many as gateway_call_kind has

/// Of one gateway. Written by the payments actor.
struct gateway_counts {
  std::array<counter_of<call_outcome, 3>, call_kinds> attempts; ///< by gateway_call_kind
  counter retries; ///< attempts after the first one
  duration_counts<task_bounds_seconds> durations; ///< of attempts
  gauge under_way; ///< attempts
  gauge waiting; ///< calls whose turn has not come
  gauge pausing; ///< calls between two attempts
  gauge workers; ///< attempts that may be under way at once; 0 while nothing has succeeded since its circuit
                 ///< opened
};

/// Domain events on their way out through one lane. Written by its dispatcher.
struct outbox_counts {
  gauge rows; ///< read lately and not delivered yet; outbox_rows_max at most
  gauge oldest; ///< when the oldest of them was written, Unix ms; 0: there is none
  counter delivered;
};

/// Mail of events. Written by the notifier.
struct mail_counts {
  counter accepted, rejected, put_off;
};

/// Notices to devices and endpoints. Written by the fan-out and the couriers.
struct notice_counts {
  counter stored; ///< deliveries that were begun
  counter_of<channel, all_channels.size() + 1> delivered, failed, expired, dropped, put_off; ///< by channel
  counter endpoints_disabled;
};

/// The automatic switch. Written by the checkout_switch actor.
struct switch_counts {
  counter_of<rollback_trigger, rollback_triggers.size()> switched;
  counter failed; ///< the setting could not be stored; it is tried again
};

/// In all_lanes.
inline std::size_t place_of(lane which) {
  return static_cast<std::size_t>(std::ranges::find(all_lanes, which) - all_lanes.begin());
}

struct measures {
  sale_board sales;
  std::map<std::string, gateway_counts> gateways; ///< by name; none is added once actors run
  std::array<outbox_counts, all_lanes.size()> lanes; ///< in the order of all_lanes
  [[nodiscard]] outbox_counts& outbox(lane which) { return lanes[place_of(which)]; }
  [[nodiscard]] const outbox_counts& outbox(lane which) const { return lanes[place_of(which)]; }
  mail_counts mails;
  notice_counts notices;
  bus_counts bus;
  bus_inbox_counts bus_inbox;
  switch_counts rollback;
  bool has_rollback = false; ///< the automatic switch is on
  gauge async_percent; ///< the installation's, as this node knows it
  counter dead_letters; ///< left to a person
};

} // namespace fq
