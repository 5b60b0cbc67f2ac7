// SPDX-License-Identifier: Apache-2.0
// The checkpoint that shows when the entrants of a draw were closed: the first one over the closing that a
// witness cosigned. It goes into the record of the draw. In memory: after a load in between, the first one of
// then.
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
  /// checkpoint with the cosignatures that are stored; empty without any.
  void resume(std::uint64_t size, const std::string& note);
  /// A witness has cosigned the log's newest checkpoint. `note`: with all cosignatures so far.
  void cosigned(std::uint64_t size, const std::string& note);

private:
  std::uint64_t closed_size_ = 0; ///< that the log has with its closing; 0: none yet, or drawn
  std::uint64_t size_ = 0; ///< of the checkpoint
  std::string note_; ///< empty: none
};

} // namespace fq
