// SPDX-License-Identifier: Apache-2.0
// Pictures in SQL. Called by postgres_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <string>
#include <vector>

namespace fq {

class postgres_pictures {
public:
  explicit postgres_pictures(postgres_connection& db);

  bool store(const picture_row& picture);
  std::vector<char> find(const std::string& id, picture_size size);
  std::size_t prune(timestamp before, std::size_t limit);

private:
  postgres_connection& db_;
};

} // namespace fq
