// SPDX-License-Identifier: Apache-2.0
// Versioned schema changes of the Postgres ledger, compiled in from store/migrations/postgres/*.sql. Called
// when a ledger connects and by `fairqueue migrate`. What is missing is applied in one transaction under an
// advisory lock, so two at once are safe, and each migration leaves its checksum behind.
#pragma once
#include "store/port/migration.hpp"
#include "store/postgres/postgres.hpp"

#include <string>
#include <vector>

namespace fq {

/// All known migrations and whether the database has them. Throws schema_refused, postgres_error.
std::vector<migration_status> migration_status_of(postgres_connection& db);
/// Applies what is missing; answers the state after. Throws schema_refused, postgres_error.
std::vector<migration_status> migrate(postgres_connection& db);

// -- for `fairqueue migrate`: by URL. They throw schema_refused, ledger_unavailable, or std::invalid_argument
// for the URL ----

/// Reads only, takes no lock: works beside a running server.
std::vector<migration_status> migrate_status_of_url(const std::string& url);
/// Runs what is missing and rolls it back. Answers the state before.
std::vector<migration_status> migrate_dry_run_of_url(const std::string& url);
/// Applies what is missing and answers the state after.
std::vector<migration_status> migrate_up_of_url(const std::string& url);

} // namespace fq
