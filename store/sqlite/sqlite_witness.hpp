// SPDX-License-Identifier: Apache-2.0
// The logs that this installation cosigns, in SQL. Called by sqlite_ledger, inside its transactions.
#pragma once
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"

#include <optional>
#include <string>

namespace fq {

class sqlite_witness {
public:
  explicit sqlite_witness(sqlite_db& db);

  std::optional<witnessed_row> find(const std::string& id);
  bool store(const witnessed_row& next, const witnessed_before& before);

private:
  sqlite_statement find_, add_, advance_;
};

} // namespace fq
