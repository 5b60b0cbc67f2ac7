// SPDX-License-Identifier: Apache-2.0
// Records between the decision that notes them and the log: log_batch_row::content. A join has here what its
// commitment is made of, so that the join itself hashes nothing; a row lives for seconds.
#pragma once
#include "fair/records.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// What the record of a join is made of.
struct noted_join {
  queue_number number{};
  std::uint8_t priority_class = 0;
  timestamp joined_at;
  subject_key subject;
  std::uint64_t join_key = 0;
};

class note_writer {
public:
  void add(const noted_join& join);
  /// Not of a join.
  void add(const log_record& record, timestamp at);
  /// Pieces of noted_piece_max bytes at most, unless one record is longer.
  [[nodiscard]] std::vector<std::vector<char>> take();

private:
  void add(std::string_view noted);
  std::vector<std::vector<char>> pieces_;
};

/// Whether it has a closing whose root is not computed yet: decisions note it without.
[[nodiscard]] bool has_open_closing(std::string_view content);
/// The record of a closing with this root; others as they are.
[[nodiscard]] std::string with_root(std::string record, const sha256_digest& root);

/// Calls `take(record, number)` for each record of a row; `number`: of a join, else 0. `sequence`: of the
/// row's batch; `owner`: the aggregate. False, and nothing is taken: it is not such content.
[[nodiscard]] bool read_notes(
  std::string_view content, std::uint64_t sequence, aggregate_id owner, const nonce_maker& nonces,
  const std::function<void(const std::string& record, queue_number number)>& take);

} // namespace fq
