// SPDX-License-Identifier: Apache-2.0
// The cache mirror of an aggregate, and the changes that a committed batch makes to it. Pure. No decision
// reads the mirror.
#pragma once
#include "domain/line/limits.hpp"
#include "domain/line/rank_set.hpp"
#include "domain/line/ranks.hpp"
#include "domain/line/session_digest.hpp"
#include "domain/model/change.hpp"

#include <span>
#include <string>
#include <vector>

namespace fq {

class queue_line;

/// Session of an admitted entry; every node answers `GET /access` from it.
struct mirrored_session {
  queue_number number{};
  std::uint32_t admission_no = 0;
  subject_key subject;
  timestamp joined_at; ///< with the number it determines the entry's id
  timestamp expires_at; ///< deadline_of the entry
  std::string subject_name = {}; ///< as given by the tenant; may be empty
  friend bool operator==(const mirrored_session&, const mirrored_session&) = default;
};

/// Absolute counts of one ticket type: the next write corrects a lost one.
struct mirrored_stock {
  ticket_type_id id;
  std::int64_t total = 0, held = 0, sold = 0;
  friend bool operator==(const mirrored_stock&, const mirrored_stock&) = default;
};

/// Unordered changes of one aggregate's mirror. A number occurs at most once over all lists of entries.
struct mirror_delta {
  std::vector<queue_number> joined; ///< in line from now on
  std::vector<queue_number> left; ///< no longer in line
  std::vector<mirrored_session> sessions; ///< started, or with a new end; the entry also leaves the line
  std::vector<mirrored_session> ended; ///< finished sessions
  std::vector<mirrored_stock> stock;
  [[nodiscard]] bool empty() const {
    return joined.empty() && left.empty() && sessions.empty() && ended.empty() && stock.empty();
  }
  [[nodiscard]] std::size_t size() const {
    return joined.size() + left.size() + sessions.size() + ended.size() + stock.size();
  }
};

/// The complete expected content of the mirror. Entries are ordered by number, stock by id.
struct mirror_image {
  std::vector<queue_number> waiting; ///< WAITING and AWAY
  std::vector<mirrored_session> sessions;
  std::vector<mirrored_stock> stock;
  friend bool operator==(const mirror_image&, const mirror_image&) = default;
};

/// What a comparison expects of the mirror: a bit for each place in line and a digest for each span of ends
/// of sessions, so that the owner makes it at once. The cache worker compares.
struct expected_mirror {
  line_ranks ranks;
  std::vector<rank_set> in_line; ///< WAITING and AWAY, in any parts
  session_digests sessions;
  std::vector<mirrored_stock> stock; ///< by id
};

/// Mirror changes for the entries of a committed batch. The owner adds the stock, because changes do not
/// contain its absolute counts.
mirror_delta mirror_of(const changes& content);
/// The expected mirror of an aggregate with these rows. `entries` by ascending number.
mirror_image mirror_of(std::span<const entry_row> entries, std::span<const ticket_type_row> types);
expected_mirror expected_of(const queue_line& line, std::vector<mirrored_stock> stock);
/// Applies `deltas` to `image`, oldest first. A delta with stock contains all ticket types.
void apply_deltas(std::span<const mirror_delta> deltas, mirror_image& image);
/// Describes the differences for people; empty if none. Skips sessions that end before `now` + 1 s, because
/// the cache may have expired their keys.
std::vector<std::string> differences(const mirror_image& expected, const mirror_image& found, timestamp now);
/// The same for the content of a cache, in which the line is ordered by rank. Skips the spans in which the
/// cache may have expired sessions.
std::vector<std::string> differences(const expected_mirror& expected, const mirror_image& found,
                                     timestamp now);
session_digests digests_of(std::span<const mirrored_session> sessions);
mirrored_session session_of(const entry_row& row);
/// Whether the batch moved stock.
bool moves_stock(const changes& content);

} // namespace fq
