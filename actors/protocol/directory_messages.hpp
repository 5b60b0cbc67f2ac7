// SPDX-License-Identifier: Apache-2.0
// Directory of tenants, API keys and block lists: it polls a ledger reader.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "store/port/ledger.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>
#include <vector>

namespace fq {

/// To owners of events: the block lists may have changed.
struct blocks_changed {};
FQ_INSPECT_EMPTY(blocks_changed)

/// To the directory: read again. Answered by ack_reply after the read.
struct refresh_directory {};
FQ_INSPECT_EMPTY(refresh_directory)

/// From the directory to a ledger reader. Answered by directory_read to the sender.
struct read_directory {};
FQ_INSPECT_EMPTY(read_directory)

/// From the directory to a ledger reader, when the block lists' version has changed. Answered by blocks_read
/// to the sender.
struct read_blocks {};
FQ_INSPECT_EMPTY(read_blocks)

struct blocks_read {
  std::shared_ptr<const std::vector<block_row>> content; ///< null: ledger unavailable
};

struct directory_read {
  std::shared_ptr<const access_directory> content; ///< null: ledger unavailable
};

/// Caches the data for API key checks and the block lists. Polls every few seconds, and immediately after a
/// change by accounts.
using directory_handle = caf::typed_actor<caf::replies_to<refresh_directory>::with<ack_reply>,
                                          caf::reacts_to<directory_read>, ///< INTERNAL, from a ledger reader
                                          caf::reacts_to<blocks_read>, ///< INTERNAL, from a ledger reader
                                          caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq

// These never leave the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::blocks_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::directory_read)
