// SPDX-License-Identifier: Apache-2.0
// Public logs in SQL. Called by sqlite_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"

namespace fq {

/// For the connection that only reads.
class sqlite_log_reader {
public:
  explicit sqlite_log_reader(sqlite_db& db);

  std::optional<log_state_row> state(aggregate_id aggregate);
  /// In a transaction.
  log_rows read(aggregate_id aggregate, const log_wish& wish);

private:
  void take(sqlite_statement& s, std::vector<log_tile_row>& tiles);

  sqlite_statement state_, noted_, tile_, bundle_;
};

} // namespace fq
