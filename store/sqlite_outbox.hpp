// SPDX-License-Identifier: Apache-2.0
// The outbox as dispatchers see it, in SQL. Called by sqlite_ledger; rows come into the table by sqlite_writer.
#pragma once
#include "store/ledger.hpp"
#include "store/sqlite.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace fq {

class sqlite_outbox {
public:
  explicit sqlite_outbox(sqlite_db& db);

  std::vector<outbox_item> undelivered(std::span<const std::uint32_t> partitions, std::size_t limit);
  void mark_delivered(const outbox_key& key, timestamp at);
  std::size_t prune(timestamp delivered_before, std::size_t limit);

  /// ?1: the wanted partitions as bits; ?2: limit. Reads the index of undelivered rows in its order or does not compile.
  static constexpr std::string_view undelivered_sql =
    "SELECT aggregate, seq, ordinal, tenant, id, topic, payload, created_at FROM outbox INDEXED BY outbox_undelivered"
    " WHERE delivered_at = 0 AND (?1 >> (aggregate % 16)) & 1 ORDER BY aggregate, seq, ordinal LIMIT ?2";

private:
  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement undelivered, mark, prune;
  };
  statements sql_;
};

} // namespace fq
