// SPDX-License-Identifier: Apache-2.0
// Public logs in SQL. Called by postgres_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

namespace fq {

class postgres_logs {
public:
  explicit postgres_logs(postgres_connection& db);

  std::optional<log_state_row> state(aggregate_id aggregate);
  /// In a transaction that sees one moment.
  log_rows read(aggregate_id aggregate, const log_wish& wish);
  std::size_t prune(timestamp before, std::size_t limit);

private:
  postgres_connection& db_;
};

} // namespace fq
