// SPDX-License-Identifier: Apache-2.0
// SQL for leases (of aggregates with their epochs, and of outbox partitions) and for heartbeats. Leases end
// by the database's clock. Called by sqlite_ledger inside its transaction.
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

  std::uint64_t enlist(const std::string& node);
  /// Throws superseded unless this is the latest process of the node.
  void refuse_earlier(const std::string& node, std::uint64_t incarnation);

  /// The lease of another owner, if any. An empty owner ignores leases.
  std::optional<lease_held> of_another(aggregate_id aggregate, const std::string& owner);
  struct taken {
    std::uint64_t epoch = 0;
    timestamp now;
    milliseconds clock_lag{0}; ///< see acquired
  };
  /// Takes the aggregate regardless of its lease and raises the epoch. Empty if there is no such aggregate.
  std::optional<taken> take(aggregate_id aggregate, const lease_terms& lease);
  /// Marks the aggregate if it is behind `seen`. Its mark, if it has one.
  std::optional<ledger_lost> loss(aggregate_id aggregate, const ledger_mark& seen);
  std::vector<lost_aggregate> losses();
  bool accept_loss(aggregate_id aggregate, const audit_row& row);
  /// False if the owner no longer holds it. See ledger::renew.
  bool renew(const tenure& held, const lease_terms& lease);
  void release(const tenure& held, const std::string& owner);

  /// See ledger::end_leases, of a silent node.
  std::size_t end(const node_row& last, milliseconds term);

  std::vector<node_row> beat(const node_row& self, milliseconds alive_for);
  void leave(const std::string& node, std::uint64_t incarnation);

  /// False if another owner's lease is still valid.
  bool take_partition(std::uint32_t partition, const lease_terms& lease);

private:
  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement enlist, fence_earlier, latest_process, of_another, take, count_line, mark_lost,
      find_lost, all_lost, accept_lost, insert_audit, mark_log_lost, is_kept, extend, find_node, end,
      end_partitions, release, take_partition, note_node, forget_nodes, live_nodes;
  };
  statements sql_;
};

} // namespace fq
