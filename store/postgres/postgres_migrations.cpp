// SPDX-License-Identifier: Apache-2.0
// Compares the migrations of a database with the known ones, and applies the missing ones.
#include "store/postgres/postgres_migrations.hpp"

#include "store/postgres/limits.hpp"

#include <algorithm>

namespace fq {
namespace {

/// Advisory lock id, unique among the users of the database: "fairqueu" in ASCII.
const std::string lock = "SELECT pg_advisory_xact_lock(7377293604860290421)";

bool is_complete(const std::vector<migration_status>& status) {
  return std::all_of(status.begin(), status.end(), [](const migration_status& m) { return m.applied; });
}

/// The column `needs` is absent in ledgers of older programs. Checked before adding it, because ALTER TABLE
/// blocks nodes that are connecting.
bool says_needs(postgres_connection& db) {
  return db.run(
             "SELECT FROM pg_attribute WHERE attrelid = 'schema_migration'::regclass AND attname = 'needs'")
           .size()
         > 0;
}

void apply(postgres_connection& db, const migration& m) {
  db.execute("CREATE TABLE IF NOT EXISTS schema_migration (number bigint PRIMARY KEY, name text NOT NULL, "
             "checksum text NOT NULL, needs bigint)");
  if (!says_needs(db)) db.execute("ALTER TABLE schema_migration ADD COLUMN needs bigint");
  db.execute(m.sql);
  const std::string record =
    "INSERT INTO schema_migration (number, name, checksum, needs) VALUES ($1, $2, $3, $4)";
  db.run(record, postgres_parameters::of(m.number, m.name, m.checksum, m.needs));
}

/// Runs inside a transaction. Waits `turn_wait` (0: no limit) until no other node migrates, and `lock_wait`
/// for each lock. Returns the state before.
std::vector<migration_status> apply_missing(postgres_connection& db, milliseconds turn_wait,
                                            milliseconds lock_wait) {
  db.execute("SET LOCAL lock_timeout = " + std::to_string(turn_wait.count()));
  db.run(lock);
  db.execute("SET LOCAL lock_timeout = " + std::to_string(lock_wait.count()));
  const auto before = migration_status_of(db);
  try {
    for (std::size_t i = 0; i < before.size(); ++i)
      if (!before[i].applied) apply(db, postgres_migrations()[i]);
  } catch (const postgres_error& e) {
    if (e.sqlstate() != "42P07") throw; // duplicate_table
    throw schema_refused("the database holds something else than a FairQueue ledger: "
                         + std::string{e.what()});
  }
  return before;
}

template <class Work>
auto on_url(const std::string& url, Work work) {
  const postgres_url checked(url);
  try {
    postgres_connection db(checked, {});
    return work(db);
  } catch (const postgres_error& e) { throw ledger_unavailable(e.what()); }
}

} // namespace

/// Reads the catalogue directly: to_regclass() may return a cached result from before the lock.
std::vector<migration_status> migration_status_of(postgres_connection& db) {
  auto status = status_of(postgres_migrations());
  const std::string visible =
    "SELECT FROM pg_class WHERE relname = 'schema_migration' AND pg_table_is_visible(oid)";
  if (db.run(visible).size() == 0) return status;
  const auto rows = db.run("SELECT number, name, checksum, coalesce((to_jsonb(m) ->> 'needs')::bigint, 0) "
                           "FROM schema_migration AS m ORDER BY number");
  for (int i = 0; i < rows.size(); ++i)
    mark_applied(status, {rows[i].integer(0), rows[i].text(1), rows[i].text(2), rows[i].integer(3)});
  return status;
}

std::vector<migration_status> migrate(postgres_connection& db) {
  auto status = migration_status_of(db);
  if (is_complete(status)) return status;
  for (int attempt = 1;; ++attempt) {
    try {
      postgres_transaction transaction(db, postgres_access::read_write, postgres_limits::migration_time);
      apply_missing(db, milliseconds{0}, postgres_limits::migration_patience);
      transaction.commit();
      return migration_status_of(db);
    } catch (const postgres_error& e) { // a waiting lock request blocks later requests: let them pass
      const bool is_in_the_way = e.sqlstate() == "55P03" || e.sqlstate() == "40P01"; // a lock, a deadlock
      if (!is_in_the_way || attempt == postgres_limits::migration_attempts) throw;
    }
  }
}

std::vector<migration_status> migrate_status_of_url(const std::string& url) {
  return on_url(url, [](postgres_connection& db) { return migration_status_of(db); });
}

std::vector<migration_status> migrate_dry_run_of_url(const std::string& url) {
  return on_url(url, [](postgres_connection& db) {
    const postgres_transaction rolled_back_at_the_end(db, postgres_access::read_write,
                                                      postgres_limits::migration_time);
    return apply_missing(db, postgres_limits::rehearsal_patience, postgres_limits::rehearsal_patience);
  });
}

std::vector<migration_status> migrate_up_of_url(const std::string& url) {
  return on_url(url, [](postgres_connection& db) { return migrate(db); });
}

} // namespace fq
