// SPDX-License-Identifier: Apache-2.0
// The waiting line of one aggregate: entries, their order, their sessions. Every mutator appends its changes
// to `out` for the journal. No clock: callers pass the aggregate's now, which never goes back.
#pragma once
#include "domain/line/admission.hpp"
#include "domain/line/party_book.hpp"
#include "domain/line/rank_set.hpp"
#include "domain/line/ranks.hpp"
#include "domain/line/session_digest.hpp"
#include "domain/line/subject_index.hpp"
#include "domain/model/change.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace fq {

inline constexpr std::uint8_t priority_vip = 0;
inline constexpr std::uint8_t priority_standard = 1;

struct queue_counts {
  std::uint64_t waiting = 0, away = 0, admitted = 0;
  std::uint64_t joined_total = 0, admitted_total = 0, completed_total = 0;
  std::uint64_t admitted_with_claim = 0; ///< the part of `admitted` with a live claim
};

/// What an entry has from its admission on; the members as in entry_row.
struct entry_session {
  timestamp admitted_at, session_expires_at, claim_by;
  std::uint32_t admission_no = 0, admission_batch = 0;
  std::uint8_t reclaims = 0;
  std::uint8_t live_claims = 0; ///< in memory only
  bool has_claimed = false;
  friend bool operator==(const entry_session&, const entry_session&) = default;
};

/// End of an admitted entry's right to shop: the session's end, or claim_by if that is earlier and the entry
/// has not claimed. Of an entry_row or an entry_session.
constexpr timestamp deadline_of(const auto& admitted) {
  return admitted.has_claimed ? admitted.session_expires_at : admitted.claim_by;
}

class queue_line {
public:
  /// An entry in memory, in one cache line. What only some entries have is apart, as its party.
  class entry {
  public:
    subject_key subject;
    queue_number number : 40 {};
    entry_status status = entry_status::waiting;
    std::uint8_t priority_class = 0;
    std::uint8_t group = 0; ///< index of its group; in memory only
    std::uint64_t join_key = 0;
    timestamp joined_at, ended_at;

    entry() = default;
    explicit entry(const entry_row& row);
    [[nodiscard]] entry_row row() const; ///< without a party
    [[nodiscard]] const std::string& subject_name() const { return subject_name_.text(); }
    [[nodiscard]] const entry_session& session() const { return session_ ? *session_ : no_session; }
    [[nodiscard]] std::uint8_t live_claims() const { return session().live_claims; }

  private:
    friend class queue_line;
    static constexpr entry_session no_session{};
    entry_session& own_session();

    rare_text subject_name_;
    std::unique_ptr<entry_session> session_; ///< null before the admission
  };
  static_assert(sizeof(entry) == 64);

  // -- loading
  /// Before all entries: what is known of those that are not loaded too.
  void load(const line_totals& totals);
  /// A draw gives the first numbers other ranks. Precondition: their entries joined before the queue opened.
  /// All that know spots or positions begin anew. 20 ms for a million entries.
  void draw(line_ranks ranks);
  /// Loads entries in ascending order of number. Windows are rebuilt from admitted_at.
  void load(const entry_row& row);
  /// The same for all at once, which is faster.
  void load(std::span<const entry_row> rows);

  // -- reading
  /// Null for a number that was not given, or is forgotten.
  [[nodiscard]] const entry* find(queue_number n) const;
  /// The newest entry of `subject`, live or not; null for a forgotten one.
  [[nodiscard]] const entry* find(const subject_key& subject) const;
  [[nodiscard]] const queue_counts& counts() const { return counts_; }
  /// As the ledger has it.
  [[nodiscard]] entry_row row_of(const entry& e) const;
  /// 1-based over all classes. Precondition: in line.
  [[nodiscard]] std::uint64_t position(const entry& e) const;
  [[nodiscard]] line_spot spot_of(const entry& e) const {
    return {e.priority_class, ranks_.rank_of(e.number)};
  }
  /// Whether a new entry of this class goes before an entry in line.
  [[nodiscard]] bool overtakes(std::uint8_t priority_class) const;
  [[nodiscard]] const admission_window& window() const { return window_; }
  [[nodiscard]] const admission_window& arrivals() const { return arrivals_; }
  [[nodiscard]] std::uint32_t last_batch() const { return last_batch_; }
  [[nodiscard]] queue_number last_number() const { return queue_number{last_number_}; }
  /// At or below the lowest number in memory, by less than a chunk; without entries: the next number.
  [[nodiscard]] queue_number first_kept() const {
    return queue_number{std::min(first_chunk_ * chunk_size, last_number_) + 1};
  }
  [[nodiscard]] line_totals totals() const;
  /// Calls `take(entry)` for each entry in memory, by ascending number.
  template <class Take>
  void each(Take take) const {
    for (const auto& c : chunks_)
      for (std::size_t i = 0; c && i < chunk_size; ++i)
        if (value_of(c->entries[i].number) != 0) take(c->entries[i]);
  }
  /// When the first session or claim window ends; `never` without admitted entries.
  [[nodiscard]] timestamp next_session_deadline() const;
  /// At most groups_max; the first is the one without hidden types. A group without members may be reused.
  [[nodiscard]] const std::vector<entry_group>& groups() const { return groups_; }
  /// The first entry of a group that is not AWAY.
  [[nodiscard]] const entry* first(std::size_t group) const;
  /// The order of the line: `a` before `b`.
  [[nodiscard]] bool precedes(const entry& a, const entry& b) const { return spot_of(a) < spot_of(b); }
  /// The lowest rank of all classes in line, AWAY included. No ticket ends before this one, because drawn
  /// ones end together.
  [[nodiscard]] const entry* oldest() const;
  /// By class, the ranks in line, AWAY included.
  using by_class = std::array<rank_set, priority_classes>;
  [[nodiscard]] const by_class& in_line() const { return in_line_; }
  [[nodiscard]] const line_ranks& ranks() const { return ranks_; }
  [[nodiscard]] const party_book& parties() const { return parties_; }
  [[nodiscard]] const session_digests& digests() const { return digests_; }
  /// Calls `take(entry)` for each admitted entry, by the end of its session.
  template <class Take>
  void each_session(Take take) const {
    for (const auto& [ends, number] : session_deadlines_) take(at(number));
  }

  // -- deciding
  /// Appends an entry. Precondition: the subject has no live entry.
  const entry& join(const subject_key& subject, std::uint64_t join_key, timestamp now, changes& out,
                    std::string subject_name = {}, std::uint8_t priority_class = priority_standard,
                    queue_number party = {});
  /// `party`: `n`, which opens it, or that of another entry. Precondition: in line.
  void set_party(queue_number n, queue_number party, changes& out);
  /// Precondition: in line.
  void set_class(queue_number n, std::uint8_t priority_class, changes& out);
  /// Moves a live entry to the group that opens `opens`. Beyond groups_max: to an existing group that opens
  /// the most of it. False: it is in that group already.
  bool set_hidden_types(queue_number n, hidden_types opens);
  /// Returns the next entry to admit, which is in line and not AWAY; null: none.
  using next_entry = std::function<const entry*()>;
  /// Admits at most `count` as one batch; returns their numbers in order.
  std::vector<queue_number> admit(std::uint64_t count, const next_entry& next, timestamp now,
                                  const queue_settings& q, changes& out);
  /// Applies `trigger`; false if the table forbids it. Not for admit.
  bool move(queue_number n, entry_trigger trigger, timestamp now, changes& out);
  /// The entry holds one live claim more or fewer. The first claim ends the claim window.
  void claim_opened(queue_number n, changes& out);
  void claim_closed(queue_number n);
  /// The session's last claim ended without a purchase: starts a reclaim window. False: none is left.
  /// Precondition: admitted, without a live claim.
  bool claim_returned(queue_number n, timestamp now, const queue_settings& q, changes& out);
  /// While loading: entry `n` holds a live claim.
  void restore_claim(queue_number n);
  /// Admitted entries whose session or claim window is over at `now`, at most `limit`.
  [[nodiscard]] std::vector<queue_number> sessions_due(timestamp now, std::size_t limit) const;
  /// Removes an entry from memory; its number stays given. Precondition: in memory, and ended.
  void forget(queue_number n);

private:
  /// Small: one entry that stays keeps a whole chunk.
  static constexpr std::size_t chunk_size = 128;
  struct chunk {
    std::array<entry, chunk_size> entries; ///< number 0: none
    std::uint32_t used = 0;
  };
  std::unique_ptr<chunk>& chunk_of(queue_number n) {
    return chunks_[(value_of(n) - 1) / chunk_size - first_chunk_];
  }
  entry& at(queue_number n) { return chunk_of(n)->entries[(value_of(n) - 1) % chunk_size]; }
  [[nodiscard]] const entry& at(queue_number n) const {
    return chunks_[(value_of(n) - 1) / chunk_size - first_chunk_]->entries[(value_of(n) - 1) % chunk_size];
  }
  [[nodiscard]] auto subject_of() const {
    return [this](queue_number n) -> const subject_key& { return at(n).subject; };
  }
  entry& append(const entry_row& row);
  void enter_line(const entry& e);
  [[nodiscard]] rank_set& waiting_with(const entry& e) { return waiting_[e.group][e.priority_class]; }
  void begin_session(const entry& e);
  void end_session(const entry& e);
  void count(const entry& e, int delta);
  std::size_t group_for(hidden_types opens);

  std::deque<std::unique_ptr<chunk>> chunks_; ///< null: without entries; the first is not
  std::uint64_t first_chunk_ = 0; ///< of all chunks since number 1
  std::uint64_t last_number_ = 0;
  subject_index newest_; ///< of each subject
  line_ranks ranks_;
  party_book parties_;
  by_class in_line_; ///< of all groups: positions
  std::vector<entry_group> groups_{1};
  std::vector<by_class> waiting_{1}; ///< by group, without AWAY: admission
  std::set<std::pair<timestamp, queue_number>> session_deadlines_;
  session_digests digests_;
  queue_counts counts_;
  admission_window window_, arrivals_;
  std::uint32_t last_batch_ = 0;
};

} // namespace fq
