// SPDX-License-Identifier: Apache-2.0
// The public log of a line: reads of its rows, and what a receipt needs of an entry.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "store/port/log_store.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>

namespace fq {

/// To a ledger reader; no owner is needed.
struct read_log {
  aggregate_id aggregate{};
  log_wish wish;
};

struct log_read {
  refusal no; ///< unavailable; not_found: there is no log
  std::shared_ptr<const log_rows> rows;
};

/// From an entry's holder. `ticket`: of a queue, else nil.
struct find_receipt {
  event_id event; ///< from the path; not_found unless it is the actor's event
  customer_id customer;
  entry_id ticket;
};
FQ_INSPECT(find_receipt, x.event, x.customer, x.ticket)

/// Once the join is committed.
struct receipt_reply {
  refusal no; ///< also not_found: the log began after the join
  entry_id entry = {};
  queue_number number{};
  uuid nonce = {}; ///< the bytes of a record_nonce
};
FQ_INSPECT(receipt_reply, x.no, x.entry, x.number, x.nonce)

} // namespace fq

// These never leave the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::read_log)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::log_read)
