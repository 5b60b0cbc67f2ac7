// SPDX-License-Identifier: Apache-2.0
// Settings from requests: writes them into an event's or a queue's row, and checks their limits. The
// descriptions of the rows list the settings (domain/model/event_rows.hpp).
#pragma once
#include "domain/model/refusal.hpp"
#include "domain/sale/views.hpp"

namespace fq {

template <class From, class To>
void assign(const maybe<From>& given, To& to) {
  if (given.given) to = given.value;
}

/// Writes the given fields of `patch` into `event`. The caller handles ticket types; the sale or the catalog
/// validates.
void apply_settings(const event_patch& patch, event_row& event);

/// Refuses the first setting outside its limits.
[[nodiscard]] refusal check_limits(const event_row& event);
[[nodiscard]] refusal check_limits(const ticket_type_row& type);

} // namespace fq
