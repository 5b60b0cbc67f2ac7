// SPDX-License-Identifier: Apache-2.0
// The connection of a SQLite ledger that only reads.
#pragma once
#include "store/sqlite/sqlite.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "store/sqlite/sqlite_logs.hpp"
#include "store/sqlite/sqlite_pictures.hpp"
#include "store/sqlite/sqlite_reader.hpp"

#include <mutex>
#include <string>

namespace fq {

/// Of the rows of aggregates and listings, so that a large one delays no commit. Opened after the writing
/// connection.
struct sqlite_reading {
  explicit sqlite_reading(const sqlite_ledger_options& options) :
      db(options.file, sqlite_access::read_only, options.busy_timeout),
      reader(configured(db, options)),
      pictures(db),
      logs(db) {}

  std::mutex mutex;
  sqlite_db db;
  sqlite_reader reader;
  sqlite_picture_reader pictures;
  sqlite_log_reader logs;

private:
  static sqlite_db& configured(sqlite_db& db, const sqlite_ledger_options& options) {
    db.execute("PRAGMA mmap_size = 0");
    db.execute("PRAGMA temp_store = MEMORY");
    db.execute("PRAGMA cache_size = -" + std::to_string(options.read_cache_mib * 1024));
    return db;
  }
};

} // namespace fq
