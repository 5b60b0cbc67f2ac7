// SPDX-License-Identifier: Apache-2.0
// Writes settings from requests into an event's or a queue's row, for create and update.
#pragma once
#include "domain/sale/views.hpp"

namespace fq {

template <class From, class To>
void assign(const maybe<From>& given, To& to) {
  if (given.given) to = given.value;
}

/// Writes the given fields of `patch` into `event`. The caller handles ticket types; the sale or the catalog
/// validates.
void apply_settings(const event_patch& patch, event_row& event);

} // namespace fq
