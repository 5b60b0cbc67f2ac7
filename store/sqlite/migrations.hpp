// SPDX-License-Identifier: Apache-2.0
// Versioned schema changes of the SQLite ledger, compiled in from store/migrations/sqlite/*.sql. Called when
// a ledger opens and by `fairqueue migrate`. Each runs once, in its own transaction, and stores its
// checksum.
#pragma once
#include "store/port/migration.hpp"
#include "store/sqlite/sqlite.hpp"

#include <filesystem>
#include <vector>

namespace fq {

/// All known migrations and whether `db` has them. Throws schema_refused.
std::vector<migration_status> migration_status_of(sqlite_db& db);
/// Applies the missing migrations; returns the new state. Throws schema_refused, sqlite_error.
std::vector<migration_status> migrate(sqlite_db& db);

// -- for `fairqueue migrate`: by file name

/// Read-only, without the lock: works beside a running server. For a missing file, no migration is applied.
std::vector<migration_status> migrate_status(const std::filesystem::path& file);
/// Runs the missing migrations and rolls them back; creates no file. Returns the state before. Takes the
/// lock.
std::vector<migration_status> migrate_dry_run(const std::filesystem::path& file);
/// Applies the missing migrations; returns the new state. Takes the lock.
std::vector<migration_status> migrate_up(const std::filesystem::path& file);

/// The lock file of writers to `file`.
std::filesystem::path lock_path_of(const std::filesystem::path& file);

} // namespace fq
