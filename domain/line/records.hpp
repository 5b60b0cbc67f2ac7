// SPDX-License-Identifier: Apache-2.0
// What the public log of a line tells, as plain values (docs/design/fairness.md). A decision notes them in
// its order; `fair` makes bytes of them.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/line/group.hpp"
#include "domain/model/event_rows.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fq {

using log_digest = std::array<std::uint8_t, 32>; ///< SHA-256

/// Stored in logs: never renumber, only append. The same holds for the other enumerations here.
enum class log_record_kind : std::uint8_t {
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
  access, ///< invitations or a code: what people in line may buy
  waiting_list, ///< begins or ends by itself; no hand
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
  log_digest seed_commitment{};
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
  log_digest seed{}, root{};
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
  std::uint64_t count = 0; ///< advance: how many are called; access: whom in line it changes
  std::string change; ///< lines "name=value"
  std::string reason;
};

/// Number, class and time are those of the entry's row. Hidden types and a party follow as `changed`.
struct joined_record {
  queue_number number{};
  std::optional<std::uint8_t> priority_class = {}; ///< in place of the row's
};
struct changed_record {
  place now;
  changed_by by = changed_by::holder;
};
struct left_record {
  queue_number number{};
  left_why why = left_why::holder;
};
struct away_record {
  queue_number number{};
};
struct back_record {
  queue_number number{};
};
struct closed_record {
  std::uint64_t entrants = 0;
  log_digest root{};
};
struct session_ended_record {
  queue_number number{};
  session_end why = session_end::completed;
};

/// What a decision notes. `begin` is the log's own.
using log_record =
  std::variant<joined_record, changed_record, left_record, away_record, back_record, admitted_record,
               session_ended_record, hand_record, lobby_record, closed_record, drawn_record, begin_record>;

} // namespace fq
