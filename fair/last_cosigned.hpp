// SPDX-License-Identifier: Apache-2.0
// The newest checkpoint that each witness has cosigned. A log that grows all the time has left it behind when
// the cosignature comes, and witnesses cosign different ones. Notes, with an empty line between them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fq {

struct note_verifier;

struct cosigned_checkpoint {
  std::string_view note; ///< with the log's signature
  std::string_view witness; ///< its name
  std::string_view lines; ///< its cosignatures
};

/// `kept` with a further one, which replaces an older one of this witness. Those that came first go if all
/// have more than `bytes_max`.
[[nodiscard]] std::string keep_cosigned(std::string_view kept, const cosigned_checkpoint& newest,
                                        std::size_t bytes_max);
/// Of the newest checkpoint there that this witness has cosigned; 0: none.
[[nodiscard]] std::uint64_t size_cosigned_by(std::string_view kept, const note_verifier& witness);

} // namespace fq
