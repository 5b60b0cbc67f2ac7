// SPDX-License-Identifier: Apache-2.0
// Outbox: dispatcher <-> ledger worker, dispatcher <-> consumer. Always in the same process.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "store/port/ledger.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>
#include <vector>

namespace fq {

/// From a lane's dispatcher: lease free partitions and return the next rows. Answered by outbox_taken to the
/// sender.
struct take_outbox {
  lane which{};
  std::uint32_t limit = 0;
  aggregate_id after{}; ///< return rows of greater aggregates first
};
FQ_INSPECT(take_outbox, x.which, x.limit, x.after)

struct outbox_taken {
  bool unavailable = false;
  std::shared_ptr<const std::vector<outbox_item>> items;
};

/// From a lane's dispatcher: this lane has processed these rows. Answered by outbox_marked to the sender.
struct mark_outbox {
  lane which{};
  std::shared_ptr<const std::vector<outbox_key>> keys;
};

struct outbox_marked {
  bool unavailable = false;
};
FQ_INSPECT(outbox_marked, x.unavailable)

/// To a consumer: rows in order per aggregate. Answered by outbox_consumed with the processed keys; all other
/// rows are sent again.
struct consume_outbox {
  std::shared_ptr<const std::vector<outbox_item>> items;
};

struct outbox_consumed {
  std::shared_ptr<const std::vector<outbox_key>> keys; ///< of processed rows
  aggregate_id last{}; ///< the last aggregate considered; 0: all were
};

/// Reads the domain events of one lane from the ledger, in order per aggregate, and passes them to a
/// consumer. Leases partitions of the outbox.
using dispatcher_handle =
  caf::typed_actor<caf::reacts_to<outbox_taken>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<outbox_marked>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<outbox_consumed>, ///< INTERNAL, from the consumer
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Consumer of domain events of one lane.
using consumer_handle =
  caf::typed_actor<caf::reacts_to<consume_outbox>>; ///< answers outbox_consumed to the sender

} // namespace fq

// These never leave the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::outbox_taken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::mark_outbox)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::consume_outbox)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::outbox_consumed)
