// SPDX-License-Identifier: Apache-2.0
// The logs that this installation cosigns, in SQL. Called by postgres_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <optional>
#include <string>

namespace fq {

class postgres_witness {
public:
  explicit postgres_witness(postgres_connection& db);

  std::optional<witnessed_row> find(const std::string& id);
  bool store(const witnessed_row& next, const witnessed_before& before);

private:
  postgres_connection& db_;
};

} // namespace fq
