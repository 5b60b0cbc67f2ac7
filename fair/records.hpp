// SPDX-License-Identifier: Apache-2.0
// The records of an event's public log as bytes (docs/design/fairness.md). The log's actor writes them; the
// checker in web/verify reads them with code of its own.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/line/group.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Stored in logs: never renumber, only append. The same holds for the other enumerations here.
enum class record_kind : std::uint8_t {
  begin = 1,
  lobby,
  joined,
  changed,
  left,
  away,
  back,
  closed,
  drawn,
  admitted,
  session_ended,
  hand,
};
enum class draw_kind : std::uint8_t { none, at_opening };
enum class beacon_kind : std::uint8_t { none, drand, announced };
enum class changed_by : std::uint8_t { holder, hand };
enum class left_why : std::uint8_t { holder, expired, over, hand };
enum class session_end : std::uint8_t { completed, expired, revoked };
enum class hand_action : std::uint8_t {
  advance = 1,
  revoke,
  priority,
  block,
  pause,
  resume,
  settings,
  end_wait, ///< the draw no longer waits for its beacon
  end,
  cancel,
};

/// Where in the ledger a record comes from: both never go back within a log.
struct record_head {
  std::uint64_t sequence = 0; ///< applied_seq of the decision
  timestamp at;
};

struct begin_record {
  event_id event;
  std::string settings; ///< lines "name=value"
  std::string lost; ///< the newest checkpoint of the log that this one replaces; empty: none
};

struct lobby_record {
  timestamp queue_opens_at;
  draw_kind draw = draw_kind::none;
  std::uint8_t party_max = 0;
  sha256_digest seed_commitment{};
  beacon_kind beacon = beacon_kind::none;
  std::string source; ///< drand: chain hash, 32 bytes, and round, 8 bytes; announced: what will be the value
};

/// What the order of the line depends on.
struct place {
  queue_number number{};
  std::uint8_t priority_class = 0;
  hidden_types opens = 0;
  queue_number party{}; ///< of the entry that opened it; 0: none
};

struct drawn_record {
  sha256_digest seed{}, root{};
  beacon_kind kind = beacon_kind::none;
  std::string beacon; ///< drand's signature of the round, or the announced value; empty: none
  std::string closing; ///< a cosigned checkpoint over the closing, as old as it; empty: none
};

struct admitted_record {
  std::uint32_t batch = 0;
  bool splits_party = false; ///< room for all of a party cannot come
  std::uint64_t public_units = 0;
  struct pool {
    std::uint8_t type = 0;
    std::uint64_t units = 0;
  };
  std::vector<pool> hidden_units;
  std::vector<queue_number> numbers; ///< in order
};

struct hand_record {
  hand_action action{};
  queue_number number{}; ///< 0: no single entry
  std::uint64_t count = 0; ///< advance: how many are called
  std::string change; ///< settings: lines "name=value"
  std::string reason;
};

using record_nonce = std::array<std::uint8_t, 16>;
/// SHA-256(nonce || entry id): hides the id, and shows it to those who know the nonce.
[[nodiscard]] sha256_digest commitment_of(const record_nonce& nonce, const entry_id& id);
/// SHA-256 of the draw's seed.
[[nodiscard]] sha256_digest seed_commitment_of(const sha256_digest& seed);

[[nodiscard]] std::string begin_bytes(const record_head& head, const begin_record& r);
[[nodiscard]] std::string lobby_bytes(const record_head& head, const lobby_record& r);
[[nodiscard]] std::string joined_bytes(const record_head& head, const place& p,
                                       const sha256_digest& commitment);
[[nodiscard]] std::string changed_bytes(const record_head& head, const place& p, changed_by by);
[[nodiscard]] std::string left_bytes(const record_head& head, queue_number n, left_why why);
[[nodiscard]] std::string away_bytes(const record_head& head, queue_number n);
[[nodiscard]] std::string back_bytes(const record_head& head, queue_number n);
[[nodiscard]] std::string closed_bytes(const record_head& head, std::uint64_t entrants,
                                       const sha256_digest& root);
[[nodiscard]] std::string drawn_bytes(const record_head& head, const drawn_record& r);
/// Precondition: at most 8,000 numbers, which a record of 65,535 bytes has room for.
[[nodiscard]] std::string admitted_bytes(const record_head& head, const admitted_record& r);
[[nodiscard]] std::string session_ended_bytes(const record_head& head, queue_number n, session_end why);
/// Texts are cut so that the record fits.
[[nodiscard]] std::string hand_bytes(const record_head& head, const hand_record& r);

/// What a receipt has beside the proof: nonce, entry id, the record of the join.
[[nodiscard]] std::string receipt_extra(const record_nonce& nonce, const entry_id& id,
                                        std::string_view joined);

} // namespace fq
