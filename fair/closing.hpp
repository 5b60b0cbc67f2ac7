// SPDX-License-Identifier: Apache-2.0
// The checkpoint that shows when the entrants of a draw were closed: the first one over the closing. The log
// keeps it with its cosignatures until the record of the draw takes it (log_state_row::closing). All
// witnesses get the same one first, because cosignatures of two sizes are no quorum of two.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace fq {

class closing_proof {
public:
  /// `note`: as stored.
  explicit closing_proof(std::string note = {}) : note_(std::move(note)) {}
  /// To be stored: the checkpoint and its cosignatures; empty before the closing and after the draw.
  [[nodiscard]] const std::string& note() const { return note_; }
  /// What each witness gets before later checkpoints: `note` without cosignatures.
  [[nodiscard]] std::string first() const;
  /// The next record of the log: that of a draw gets the note if a witness has cosigned it.
  [[nodiscard]] std::string complete(std::string record);
  /// The log has taken a closing since this object was made: call `begin` with its next checkpoint.
  [[nodiscard]] bool is_due() const { return is_closed_; }
  void begin(std::string checkpoint);
  /// A witness has cosigned this checkpoint of the log, which may have grown since. `lines`: its
  /// cosignatures. False: they add nothing.
  bool cosigned(const std::string& checkpoint, std::string_view lines);

private:
  std::string note_;
  bool is_closed_ = false; ///< without a draw since, and without a checkpoint yet
};

} // namespace fq
