// SPDX-License-Identifier: Apache-2.0
// What an owner tells of a whole line, so that an io thread can answer polls itself.
#pragma once
#include "actors/protocol/inspect_domain.hpp"
#include "actors/protocol/lease_horizon.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

namespace fq {

/// The last version of a line that was sent to this process. It is written before the push goes to the first
/// io thread, so that a thread notices a push that it has not read.
class told_version {
public:
  void set(std::uint64_t version) { version_.store(version, std::memory_order_release); }
  /// The owner pushes nothing more: no copy is up to date.
  void end() { set(std::numeric_limits<std::uint64_t>::max()); }
  [[nodiscard]] bool is_in(std::uint64_t version) const {
    return version_.load(std::memory_order_acquire) <= version;
  }

private:
  std::atomic<std::uint64_t> version_{0};
};

struct line_facts {
  std::uint64_t version = 0; ///< see entries_changed
  line_pace pace;
  sale_evidence evidence; ///< for the odds of each place
  milliseconds trusted_for{0}; ///< from the question on
  lease_of_copy lease; ///< stays in this process
  std::shared_ptr<const told_version> told; ///< stays in this process
  lobby_view lobby = {}; ///< entries have no positions while it has a phase
};
FQ_INSPECT(line_facts, x.version, x.pace, x.evidence, x.trusted_for, x.lobby)

} // namespace fq
