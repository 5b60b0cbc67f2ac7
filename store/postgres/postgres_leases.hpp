// SPDX-License-Identifier: Apache-2.0
// SQL for leases (of aggregates with their epochs, and of outbox partitions) and for heartbeats. Leases end
// by the database's clock. Called by postgres_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace fq {

class postgres_leases {
public:
  explicit postgres_leases(postgres_connection& db);

  struct taken {
    std::uint64_t epoch = 0;
    timestamp now;
    milliseconds clock_lag{0}; ///< see acquired
  };
  using take_result = std::variant<taken, lease_held, no_such_aggregate, aggregate_busy, ledger_lost>;
  /// Runs inside the caller's transaction.
  std::uint64_t enlist(const std::string& node);
  /// Runs inside the caller's transaction, which locks the aggregate's row until its end. Does not wait for
  /// locks, because this connection commits for other aggregates too. Does not lock the row of an owner with
  /// a valid lease. Throws superseded.
  take_result take(aggregate_id aggregate, const lease_terms& lease, const ledger_mark& seen);
  std::vector<lost_aggregate> losses();
  /// Runs inside the caller's transaction.
  bool accept_loss(aggregate_id aggregate, const audit_row& row);

  lease_renewal renew(const lease_terms& lease, std::span<const tenure> tenures);
  void release(const std::string& owner, std::span<const tenure> tenures);
  /// See ledger::end_leases. Runs inside the caller's transaction.
  std::size_t end(const node_row& last, bool is_silent, milliseconds term);
  std::vector<node_row> beat(const node_row& self, milliseconds alive_for);
  void leave(const std::string& node, std::uint64_t incarnation);
  std::vector<std::uint32_t> take_partitions(const lease_terms& lease, std::span<const std::uint32_t> wanted);
  /// Converts an answer other than `taken` for the port.
  static acquire_result refusal(const take_result& answer);

private:
  std::optional<take_result> hindrance(aggregate_id aggregate, const lease_terms& lease);

  postgres_connection& db_;
};

} // namespace fq
