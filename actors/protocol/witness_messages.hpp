// SPDX-License-Identifier: Apache-2.0
// The log's actor <-> the client of the witnesses. Always in the same process.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "outbound/witness_port.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq {

/// To the log's actor: the consistency proof between two of its sizes.
struct prove_growth {
  std::uint64_t old_size = 0, size = 0;
};

struct growth_proof {
  refusal no; ///< not_found: the log never had this old size; unavailable: tiles cannot be read now
  std::vector<std::array<std::uint8_t, 32>> hashes;
};

/// To the log's actor: a witness has cosigned its checkpoint of this size, maybe not the newest any more.
struct checkpoint_cosigned {
  std::uint64_t size = 0;
  std::string witness; ///< its name
  std::string note; ///< that was sent
  std::string lines; ///< to append to the checkpoint
};

/// What the client of the witnesses needs of a log.
using cosigned_log_handle =
  caf::typed_actor<caf::replies_to<prove_growth>::with<growth_proof>, caf::reacts_to<checkpoint_cosigned>>;

/// From the log's actor, after it has stored and signed a checkpoint. The newest of a log replaces an earlier
/// one that no witness has yet.
struct checkpoint_signed {
  aggregate_id aggregate{}; ///< whose log it is
  std::string note; ///< with the log's signature
  cosigned_log_handle log;
  std::string first = {}; ///< an earlier one that each witness gets before (fair/closing.hpp); empty: none
  /// After a load: what each witness cosigned last, as far as the log has it (fair/last_cosigned.hpp).
  std::optional<std::string> cosigned = std::nullopt;
};

/// INTERNAL, from the port.
struct witness_answered {
  aggregate_id aggregate{};
  std::size_t witness = 0; ///< its number in the settings
  std::string note; ///< that was sent
  witness_reply reply;
};

/// Sends checkpoints to witnesses and gives the cosignatures to the logs.
using witness_client_handle = caf::typed_actor<caf::reacts_to<checkpoint_signed>, ///< answers nothing
                                               caf::reacts_to<witness_answered>, ///< INTERNAL
                                               caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::prove_growth)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::growth_proof)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::checkpoint_cosigned)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::checkpoint_signed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::witness_answered)
