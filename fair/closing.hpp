// SPDX-License-Identifier: Apache-2.0
// The checkpoint that shows when the entrants of a draw were closed: the first one over the closing that a
// witness cosigned. It goes into the record of the draw. In memory: after a load in between, the first one of
// then. All witnesses get the same one first, because cosignatures of two sizes are no quorum of two.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace fq {

class closing_proof {
public:
  /// The next record of the log: that of a draw gets the checkpoint. `index`: in the log.
  [[nodiscard]] std::string complete(std::string record, std::uint64_t index);
  /// After a load: the log has `size` records, its closing among them or still to come. `note`: its
  /// checkpoint with the cosignatures that are stored; empty without any. `bare`: the same without them.
  void resume(std::uint64_t size, const std::string& note, const std::string& bare);
  /// What each witness gets before later checkpoints; empty: none. `note`: the newest, of `size` records.
  [[nodiscard]] const std::string& first(std::uint64_t size, const std::string& note);
  /// A witness has cosigned a checkpoint of the log, which may have grown since. `lines`: its cosignatures.
  void cosigned(std::uint64_t size, const std::string& note, const std::string& lines);

private:
  std::uint64_t closed_size_ = 0; ///< that the log has with its closing; 0: none yet, or drawn
  std::string first_; ///< over the closing, without cosignatures
  std::uint64_t size_ = 0; ///< of the checkpoint that was cosigned
  std::string note_; ///< empty: none
};

} // namespace fq
