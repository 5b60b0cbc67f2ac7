// SPDX-License-Identifier: Apache-2.0
// What the migrations of every engine share: the table of known ones, compiled in from
// store/migrations/<engine>/*.sql, and the comparison with what a ledger says it has. Called by the engines'
// own migrations; knows no storage.
#pragma once
#include "store/port/ledger.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq {

/// The ledger cannot be used by this program: written by a newer one, changed by hand, or not a ledger at
/// all.
struct schema_refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct migration {
  std::uint32_t number; ///< from 1, without gaps; the same number means the same change in every engine
  const char* name;
  const char* checksum; ///< SHA-256 of the file, hex
  const char* sql;
  std::uint32_t needs; ///< the migrations up to this one that a program must know to run on a ledger that has
                       ///< this change as well
};

std::span<const migration> sqlite_migrations();
std::span<const migration> postgres_migrations();

/// All of `known`, none applied yet.
std::vector<migration_status> status_of(std::span<const migration> known);
/// What a ledger says it has. `needs` 0: it does not say.
struct applied_migration {
  std::int64_t number = 0;
  std::string name, checksum;
  std::int64_t needs = 0;
};
/// Marks it. Throws schema_refused unless it is one we know, with the text we know, or a newer program's that
/// we may run beside: nodes are upgraded one after the other.
void mark_applied(std::vector<migration_status>& known, const applied_migration& in_ledger);

} // namespace fq
