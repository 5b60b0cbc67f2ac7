// SPDX-License-Identifier: Apache-2.0
// Versioned schema changes of the Postgres ledger, compiled in from store/migrations/postgres/*.sql. Called
// when a ledger connects and by `fairqueue migrate`. The missing ones run in one transaction under an
// advisory lock, so that concurrent migrations are safe. Each stores its checksum.
#pragma once
#include "store/port/migration.hpp"
#include "store/postgres/postgres.hpp"

#include <string>
#include <vector>

namespace fq {

/// All known migrations and whether the database has them. Throws schema_refused, postgres_error.
std::vector<migration_status> migration_status_of(postgres_connection& db);
/// Applies the missing migrations; returns the new state. Throws schema_refused, postgres_error.
std::vector<migration_status> migrate(postgres_connection& db);

// -- for `fairqueue migrate`: by URL. Throw schema_refused, ledger_unavailable or std::invalid_argument (URL)

/// Read-only, without the lock: works beside a running server.
std::vector<migration_status> migrate_status_of_url(const std::string& url);
/// Runs the missing migrations and rolls them back. Returns the state before.
std::vector<migration_status> migrate_dry_run_of_url(const std::string& url);
/// Applies the missing migrations; returns the new state.
std::vector<migration_status> migrate_up_of_url(const std::string& url);

} // namespace fq
