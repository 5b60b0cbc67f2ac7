// SPDX-License-Identifier: Apache-2.0
// How far one witness is with one log, as the log's side sees it: when to send which checkpoint, and what an
// answer means. Pure.
#pragma once
#include "domain/base/time.hpp"
#include "fair/note.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace fq {

/// A witness's answer to add-checkpoint.
struct witness_answer {
  int status = 0; ///< of HTTP; 0: none
  std::string body;
};

enum class cosigning_event : std::uint8_t {
  cosigned,
  other_size, ///< the witness has another checkpoint of this log: send again with its size
  ahead, ///< ... of a size that this log has not reached: the log went back
  inconsistent, ///< the witness has seen another log
  refused, ///< it does not know the log, or not its key
  failed, ///< no usable answer
};

class cosigning {
public:
  /// Empty: nothing is to be sent now. Else the size that the witness should have.
  [[nodiscard]] std::optional<std::uint64_t> due(std::uint64_t newest, milliseconds now) const;
  /// Whether the witness has not cosigned this size yet, nor a larger one.
  [[nodiscard]] bool lacks(std::uint64_t size) const;
  /// When due() may change by time alone; empty: never.
  [[nodiscard]] std::optional<milliseconds> waits_until() const;

  void begin() {
    is_asked_ = true;
    asked_size_ = size_;
  }
  /// After a load of the log. `kept`: the newest size that the log has with a cosignature of this witness;
  /// 0: none.
  void resume(std::uint64_t kept);
  /// The request could not be made, for example without a proof.
  void fail(milliseconds now);
  /// `note`: what was sent. `newest`: the log's size now. `line` gets the witness's first cosignature, if it
  /// is valid.
  cosigning_event take(const witness_answer& answer, const checkpoint_note& note, std::uint64_t newest,
                       const note_verifier& witness, milliseconds now, std::string& line);

private:
  cosigning_event pause(cosigning_event why, milliseconds now, milliseconds least);

  std::uint64_t size_ = 0; ///< of the last checkpoint that the witness cosigned, as far as known
  bool has_cosigned_ = false; ///< the log has its cosignature over that size
  std::uint64_t asked_size_ = 0; ///< the old size in the last request
  bool is_asked_ = false;
  bool is_corrected_ = false; ///< the last answer said another size
  std::uint32_t failures_ = 0; ///< in a row
  milliseconds retry_at_{0}; ///< steady time
};

} // namespace fq
