// SPDX-License-Identifier: Apache-2.0
// How settings somebody gave become part of an event's or a queue's row: the one place, for creating and for
// changing.
#pragma once
#include "domain/sale/views.hpp"

namespace fq {

template <class From, class To>
void assign(const maybe<From>& given, To& to) {
  if (given.given) to = given.value;
}

/// Writes what `patch` gives into `event`; ticket types are the caller's. Checks nothing: that is the sale's
/// or the catalog's.
void apply_settings(const event_patch& patch, event_row& event);

} // namespace fq
