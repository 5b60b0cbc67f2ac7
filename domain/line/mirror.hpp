// SPDX-License-Identifier: Apache-2.0
// What the cache mirrors of an aggregate, and what a committed batch changes in it. Pure; the cache never
// decides anything.
#pragma once
#include "domain/model/change.hpp"

#include <span>
#include <string>
#include <vector>

namespace fq {

/// An admitted entry's right to shop, as any node answers `GET /access` from it.
struct mirrored_session {
  queue_number number{};
  std::uint32_t admission_no = 0;
  subject_key subject;
  timestamp joined_at; ///< with the number it makes the entry's id
  timestamp expires_at; ///< deadline_of the entry
  std::string subject_name = {}; ///< as the tenant gave it; may be empty
  friend bool operator==(const mirrored_session&, const mirrored_session&) = default;
};

/// Absolute numbers of one ticket type: they overwrite, so a lost write cannot live on.
struct mirrored_stock {
  ticket_type_id id;
  std::int64_t total = 0, held = 0, sold = 0;
  friend bool operator==(const mirrored_stock&, const mirrored_stock&) = default;
};

/// Changes of one aggregate's mirror, in no particular order: no number is in two of the lists of entries,
/// nor twice in one.
struct mirror_delta {
  std::vector<queue_number> joined; ///< in line from now on
  std::vector<queue_number> left; ///< no longer in line
  std::vector<mirrored_session> sessions; ///< begun, or with another end; leaves the line as well
  std::vector<mirrored_session> ended; ///< sessions that are over
  std::vector<mirrored_stock> stock;
  [[nodiscard]] bool empty() const {
    return joined.empty() && left.empty() && sessions.empty() && ended.empty() && stock.empty();
  }
  [[nodiscard]] std::size_t size() const {
    return joined.size() + left.size() + sessions.size() + ended.size() + stock.size();
  }
};

/// Everything the mirror should hold. Lists are ordered by number, stock by id.
struct mirror_image {
  std::vector<queue_number> waiting; ///< WAITING and AWAY
  std::vector<mirrored_session> sessions;
  std::vector<mirrored_stock> stock;
  friend bool operator==(const mirror_image&, const mirror_image&) = default;
};

/// What the entries' part of a committed batch changes; the owner adds the stock, whose numbers are not in
/// the changes.
mirror_delta mirror_of(const changes& content);
/// What the mirror of an aggregate with these rows should hold. Entries by number.
mirror_image mirror_of(std::span<const entry_row> entries, std::span<const ticket_type_row> types);
/// What `image` becomes by `deltas`, oldest first. A delta that names stock names all of it.
void apply_deltas(std::span<const mirror_delta> deltas, mirror_image& image);
/// What is wrong with `found`, for people; empty if nothing. Sessions that end before `now` + 1 s are left
/// out: their keys may be gone already.
std::vector<std::string> differences(const mirror_image& expected, const mirror_image& found, timestamp now);
/// Lines that `differences` gives at most.
inline constexpr std::size_t differences_max = 20;
/// The session of an admitted entry.
mirrored_session session_of(const entry_row& row);
/// Whether the batch moved stock.
bool moves_stock(const changes& content);

} // namespace fq
