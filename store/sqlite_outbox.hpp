// SPDX-License-Identifier: Apache-2.0
// The outbox as dispatchers see it, in SQL. Called by sqlite_ledger; rows come into the table by sqlite_writer.
#pragma once
#include "store/ledger.hpp"
#include "store/sqlite.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fq {

class sqlite_outbox {
public:
  explicit sqlite_outbox(sqlite_db& db);

  std::vector<outbox_item> undelivered(lane which, std::span<const std::uint32_t> partitions, std::size_t limit);
  void mark_delivered(lane which, const outbox_key& key, timestamp at);
  std::size_t prune(timestamp delivered_before, std::size_t limit);

  /// ?1: the wanted partitions as bits; ?2: limit. Reads the lane's index in its order or does not compile.
  static std::string undelivered_sql(lane which);

private:
  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement from_mail, from_bus, from_notices, mark, prune;
  };
  sqlite_statement& waiting_in(lane which);

  statements sql_;
};

} // namespace fq
