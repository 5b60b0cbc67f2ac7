// SPDX-License-Identifier: Apache-2.0
// A consumer of domain events: writes each to the log, once it is committed. No payload: it names people.
#pragma once
#include "actors/protocol.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace fq {

consumer_handle::behavior_type outbox_log(consumer_handle::pointer self);

} // namespace fq
