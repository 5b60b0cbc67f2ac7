// SPDX-License-Identifier: Apache-2.0
// Versioned schema changes of the SQLite ledger, compiled in from store/migrations/sqlite/*.sql. Called when
// a ledger opens and by `fairqueue migrate`. Each runs once, in a transaction of its own, and leaves its
// checksum behind.
#pragma once
#include "store/port/migration.hpp"
#include "store/sqlite/sqlite.hpp"

#include <filesystem>
#include <vector>

namespace fq {

/// All known migrations and whether `db` has them. Throws schema_refused.
std::vector<migration_status> migration_status_of(sqlite_db& db);
/// Applies what is missing; answers the state after. Throws schema_refused, sqlite_error.
std::vector<migration_status> migrate(sqlite_db& db);

// -- for `fairqueue migrate`: by file name ------------------------------------------------------------------

/// Reads only, takes no lock: works beside a running server. A missing file has no migration applied.
std::vector<migration_status> migrate_status(const std::filesystem::path& file);
/// Runs what is missing and rolls it back; creates nothing. Answers the state before. Takes the lock.
std::vector<migration_status> migrate_dry_run(const std::filesystem::path& file);
/// Applies what is missing and answers the state after. Takes the lock.
std::vector<migration_status> migrate_up(const std::filesystem::path& file);

/// The lock that whoever writes to `file` holds.
std::filesystem::path lock_path_of(const std::filesystem::path& file);

} // namespace fq
