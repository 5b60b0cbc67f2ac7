// SPDX-License-Identifier: Apache-2.0
// Computes roots and orders of lobbies on a thread of its own, one after the other. An event actor asks it;
// what it computes follows from the question alone, so that a lost answer is asked for again.
#pragma once
#include "actors/protocol/draw_messages.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace fq {

draw_worker_handle::behavior_type draw_worker(draw_worker_handle::pointer self);

} // namespace fq
