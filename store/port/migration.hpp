// SPDX-License-Identifier: Apache-2.0
// Shared by the migrations of all engines: the table of known migrations, compiled in from
// store/migrations/<engine>/*.sql, and its comparison with the migrations in a ledger.
#pragma once
#include "store/port/ledger.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq {

/// This program cannot use the ledger: written by a newer program, changed by hand, or not a ledger.
struct schema_refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct migration {
  std::uint32_t number; ///< from 1, without gaps; the same number means the same change in every engine
  const char* name;
  const char* checksum; ///< SHA-256 of the file, hex
  const char* sql;
  std::uint32_t needs; ///< highest migration that a program must know to run on a ledger that has this one
};

std::span<const migration> sqlite_migrations();
std::span<const migration> postgres_migrations();

/// All of `known`, none applied yet.
std::vector<migration_status> status_of(std::span<const migration> known);
/// A migration as recorded in a ledger. `needs` 0: not recorded.
struct applied_migration {
  std::int64_t number = 0;
  std::string name, checksum;
  std::int64_t needs = 0;
};
/// Marks it as applied. Throws schema_refused unless it is a known migration with the same checksum, or a
/// newer program's that this program can run beside (rolling upgrade).
void mark_applied(std::vector<migration_status>& known, const applied_migration& in_ledger);

} // namespace fq
