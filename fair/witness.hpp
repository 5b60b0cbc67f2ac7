// SPDX-License-Identifier: Apache-2.0
// What a witness answers to a log (c2sp.org/tlog-witness). Pure: the caller keeps what was cosigned, and
// stores it with the check in one commit, before the answer.
#pragma once
#include "fair/note.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// The latest checkpoint that a witness cosigned for an origin. Size 0: none.
struct witnessed {
  std::uint64_t size = 0;
  tree_hash root = sha256("");
};

/// The logs that a witness cosigns.
class watched_logs {
public:
  /// `keys`: verifier keys of logs. Throws std::invalid_argument, which names the first that is none.
  explicit watched_logs(std::span<const std::string> keys = {});

  /// Empty: unknown. The key of one log is good for those of all events and queues of its installation, which
  /// signs them with one key.
  [[nodiscard]] std::optional<note_verifier> find(std::string_view origin) const;

private:
  std::vector<note_verifier> known_;
};

/// By precedence. Beside it the status of the answer.
enum class witness_verdict : std::uint8_t {
  unknown_log, ///< 404
  not_signed, ///< 403
  shrinks, ///< 400: the old size is above that of the checkpoint
  other_size, ///< 409, with the size of the latest
  other_root, ///< 409, too: of the size of the latest, with another root
  inconsistent, ///< 422: a rewritten log, or a second one
  cosign, ///< 200
};

/// `log`: the verifier of the checkpoint's origin; null: unknown.
[[nodiscard]] witness_verdict judge(const add_checkpoint_request& request, const note_verifier* log,
                                    const witnessed& latest);

} // namespace fq
