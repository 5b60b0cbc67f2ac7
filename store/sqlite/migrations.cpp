// SPDX-License-Identifier: Apache-2.0
// Compares the migrations of a ledger file with the known ones, and applies the missing ones.
#include "store/sqlite/migrations.hpp"

#include "domain/base/planted.hpp"
#include "store/port/file_lock.hpp"
#include "store/sqlite/limits.hpp"

#include <string>

namespace fq {
namespace {

bool has_table(sqlite_db& db, const std::string& name) {
  sqlite_statement s(db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  return s.bind(name).step();
}

/// The column `needs` is absent in ledgers of older programs.
bool says_needs(sqlite_db& db) {
  return db.integer("SELECT count(*) FROM pragma_table_info('schema_migration') WHERE name = 'needs'") > 0;
}

bool is_empty(sqlite_db& db) { return db.integer("SELECT count(*) FROM sqlite_schema") == 0; }

void read_applied(sqlite_db& db, std::vector<migration_status>& known) {
  const std::string needs = says_needs(db) ? "coalesce(needs, 0)" : "0";
  sqlite_statement rows(db,
                        "SELECT number, name, checksum, " + needs + " FROM schema_migration ORDER BY number");
  while (rows.step()) mark_applied(known, {rows.integer(0), rows.text(1), rows.text(2), rows.integer(3)});
}

void apply_one(sqlite_db& db, const migration& m) {
  db.execute("CREATE TABLE IF NOT EXISTS schema_migration ("
             "number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, needs INTEGER) STRICT");
  if (!says_needs(db)) db.execute("ALTER TABLE schema_migration ADD COLUMN needs INTEGER");
  db.execute(m.sql);
  sqlite_statement(db, "INSERT INTO schema_migration (number, name, checksum, needs) VALUES (?, ?, ?, ?)")
    .run(m.number, m.name, m.checksum, m.needs);
}

} // namespace

std::filesystem::path lock_path_of(const std::filesystem::path& file) { return file.string() + ".lock"; }

std::vector<migration_status> migration_status_of(sqlite_db& db) {
  auto result = status_of(sqlite_migrations());
  if (has_table(db, "schema_migration"))
    read_applied(db, result);
  else if (!is_empty(db))
    throw schema_refused("the file is a SQLite database but not a FairQueue ledger");
  return result;
}

std::vector<migration_status> migrate(sqlite_db& db) {
  if (!planted(bug::leftover_log_trusted)) db.make_wal_durable();
  const auto known = sqlite_migrations();
  auto result = migration_status_of(db);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (result[i].applied) continue;
    sqlite_transaction transaction(db);
    apply_one(db, known[i]);
    transaction.commit();
    result[i].applied = true;
  }
  return result;
}

std::vector<migration_status> migrate_status(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    sqlite_db nothing(":memory:", sqlite_access::read_write, sqlite_limits::busy_timeout);
    return migration_status_of(nothing);
  }
  sqlite_db db(file, sqlite_access::read_only, sqlite_limits::busy_timeout);
  return migration_status_of(db);
}

std::vector<migration_status> migrate_dry_run(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    sqlite_db scratch(":memory:", sqlite_access::read_write, sqlite_limits::busy_timeout);
    const auto before = migration_status_of(scratch);
    migrate(scratch);
    return before;
  }
  const file_lock lock(lock_path_of(file));
  sqlite_db db(file, sqlite_access::read_write, sqlite_limits::busy_timeout);
  db.make_wal_durable();
  const auto before = migration_status_of(db);
  const sqlite_transaction rolled_back_at_the_end(db);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!before[i].applied) apply_one(db, sqlite_migrations()[i]);
  return before;
}

std::vector<migration_status> migrate_up(const std::filesystem::path& file) {
  const file_lock lock(lock_path_of(file));
  sqlite_db db(file, sqlite_access::read_write, sqlite_limits::busy_timeout);
  return migrate(db);
}

} // namespace fq
