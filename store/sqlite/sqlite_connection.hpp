// SPDX-License-Identifier: Apache-2.0
// The connections of a SQLite ledger, and how work runs on them. Included by the files of sqlite_ledger only.
#pragma once
#include "domain/base/planted.hpp"
#include "store/port/file_lock.hpp"
#include "store/sqlite/migrations.hpp"
#include "store/sqlite/sqlite.hpp"
#include "store/sqlite/sqlite_erasure.hpp"
#include "store/sqlite/sqlite_leases.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "store/sqlite/sqlite_notices.hpp"
#include "store/sqlite/sqlite_outbox.hpp"
#include "store/sqlite/sqlite_reading.hpp"
#include "store/sqlite/sqlite_writer.hpp"

#include <mutex>
#include <string>
#include <type_traits>

namespace fq {

inline void configure_sqlite(sqlite_db& db, const sqlite_ledger_options& options) {
  if (db.text("PRAGMA journal_mode = WAL") != "wal")
    throw ledger_unavailable("the file system of the ledger cannot hold a SQLite write-ahead log");
  // One level for all: see docs/design/commit-protocol.md
  db.execute(planted(bug::commits_unsynced) ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
  db.execute("PRAGMA foreign_keys = ON");
  db.execute("PRAGMA mmap_size = 0"); // an I/O error must be an error code, not a signal
  db.execute("PRAGMA temp_store = MEMORY");
  db.execute("PRAGMA secure_delete = ON"); // what is erased is no longer in freed pages either
  db.execute("PRAGMA cache_size = -" + std::to_string(options.cache_mib * 1024));
  db.checkpoint_above(options.checkpoint_pages);
}

/// A configured and migrated database.
struct ready_db : sqlite_db {
  explicit ready_db(const sqlite_ledger_options& options) :
      sqlite_db(options.file, sqlite_access::read_write, options.busy_timeout) {
    try {
      configure_sqlite(*this, options);
      migrate(*this);
    } catch (const sqlite_error& e) {
      if (e.is_fatal()) options.fatal(options.file.string() + ": " + e.what());
      throw;
    }
  }
};

/// One connection writes and checkpoints. SQLite before 3.51.3 (Debian 12 has 3.40.1) can corrupt a WAL
/// database if two connections write or checkpoint at the same moment (WAL-reset bug). The file lock prevents
/// a second writing connection; the reading one can do neither.
struct sqlite_ledger::connection {
  explicit connection(const sqlite_ledger_options& given) :
      options(given),
      lock(lock_path_of(options.file)),
      db(options),
      writer(db),
      leases(db),
      outbox(db),
      notices(db),
      erasure(db) {}

  const sqlite_ledger_options options;
  file_lock lock;
  std::mutex mutex;
  ready_db db;
  sqlite_writer writer;
  sqlite_leases leases;
  sqlite_outbox outbox;
  sqlite_notices notices;
  sqlite_erasure erasure;
  std::string last_refusal;
  sqlite_reading reading{options};

  /// Runs `work`; a store failure leaves no open transaction and no open cursor. A commit is synced before
  /// it returns (I7).
  template <class Work>
  auto guarded(Work work) {
    const std::scoped_lock held{mutex};
    try {
      db.abandon(); // rolls back a transaction that a failed rollback left open
      db.checkpoint_above(options.checkpoint_pages);
      return work();
    } catch (const sqlite_error& e) { fail(db, e); } catch (const commit_unknown&) {
      db.reset_statements();
      throw;
    }
  }

  /// `guarded`, in a transaction.
  template <class Work>
  auto write(Work work) {
    return guarded([&] {
      sqlite_transaction transaction(db);
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
        transaction.commit();
      } else {
        auto result = work();
        transaction.commit();
        return result;
      }
    });
  }

  /// `guarded`, for many statements that read: one transaction locks once for all. The writing connection has
  /// the newest rows in its cache.
  template <class Work>
  auto read_newest(Work work) {
    return guarded([&] {
      const sqlite_transaction moment(db, sqlite_begin::deferred);
      return work();
    });
  }

  /// Runs `work` with the reader; it sees one moment.
  template <class Work>
  auto read(Work work) {
    const std::scoped_lock held{reading.mutex};
    try {
      reading.db.abandon();
      const sqlite_transaction snapshot(reading.db, sqlite_begin::deferred);
      return work(reading.reader);
    } catch (const sqlite_error& e) { fail(reading.db, e); }
  }

private:
  [[noreturn]] void fail(sqlite_db& failed, const sqlite_error& e) const {
    if (e.is_fatal()) options.fatal(options.file.string() + ": " + e.what());
    failed.reset_statements();
    throw ledger_unavailable(e.what());
  }
};

} // namespace fq
