// SPDX-License-Identifier: Apache-2.0
// SQL of the outbox for dispatchers. Called by sqlite_ledger; sqlite_writer inserts the rows.
#pragma once
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fq {

class sqlite_outbox {
public:
  explicit sqlite_outbox(sqlite_db& db);

  std::vector<outbox_item> undelivered(lane which, std::span<const std::uint32_t> partitions,
                                       std::size_t limit, aggregate_id after);
  void mark_delivered(lane which, const outbox_key& key, timestamp at);
  std::size_t prune(timestamp delivered_before, std::size_t limit);

  /// The first aggregate after ?1, up to ?2, with rows in the partitions whose bits are set in ?3. Like
  /// undelivered_sql it requires the lane's index (INDEXED BY), and else fails to compile.
  static std::string next_waiting_sql(lane which);
  /// The first ?2 rows of aggregate ?1.
  static std::string undelivered_sql(lane which);

private:
  struct statements {
    explicit statements(sqlite_db& db);
    struct of_lane {
      of_lane(sqlite_db& db, lane which);
      sqlite_statement next_waiting, undelivered;
    };
    of_lane mail, bus, notices;
    sqlite_statement mark, prune;
  };
  statements::of_lane& of(lane which);

  statements sql_;
};

} // namespace fq
