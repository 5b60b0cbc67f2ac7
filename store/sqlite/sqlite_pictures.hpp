// SPDX-License-Identifier: Apache-2.0
// Pictures in SQL. Called by sqlite_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"

#include <string>
#include <vector>

namespace fq {

class sqlite_pictures {
public:
  explicit sqlite_pictures(sqlite_db& db);

  bool store(const picture_row& picture);
  std::size_t prune(timestamp before, std::size_t limit);

private:
  sqlite_statement store_, prune_;
};

/// For the connection that only reads: a crowd that comes for a picture delays no commit.
class sqlite_picture_reader {
public:
  explicit sqlite_picture_reader(sqlite_db& db);

  std::vector<char> find(const std::string& id, picture_size size);

private:
  sqlite_statement small_, medium_, large_;
};

} // namespace fq
