// SPDX-License-Identifier: Apache-2.0
// Leases as SQL: of aggregates, with their epochs, and of outbox partitions; and nodes' signs of life. They
// end by the database's clock. Called by sqlite_ledger inside its transaction; knows nothing of transactions
// or files.
#pragma once
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq {

class sqlite_leases {
public:
  explicit sqlite_leases(sqlite_db& db);

  /// The lease that keeps `owner` out, if there is one. An empty owner heeds none.
  std::optional<lease_held> of_another(aggregate_id aggregate, const std::string& owner);
  struct taken {
    std::uint64_t epoch = 0;
    timestamp now;
  };
  /// Takes it whoever holds it and raises the epoch. Nothing if there is no such aggregate.
  std::optional<taken> take(aggregate_id aggregate, const lease_terms& lease);
  /// False if the owner does not hold it any more.
  bool renew(aggregate_id aggregate, const lease_terms& lease);
  void release(aggregate_id aggregate, const std::string& owner);

  std::vector<node_row> beat(const node_row& self, milliseconds alive_for);
  void leave(const std::string& node);

  /// False if another owner's lease has not ended.
  bool take_partition(std::uint32_t partition, const lease_terms& lease);

private:
  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement of_another, take, renew, release, take_partition, note_node, forget_nodes, live_nodes;
  };
  statements sql_;
};

} // namespace fq
