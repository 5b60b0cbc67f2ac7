// SPDX-License-Identifier: Apache-2.0
// Refuses migrations that a newer program or a person has written.
#include "store/port/migration.hpp"

namespace fq {
namespace {

std::string label(std::int64_t number, const std::string& name) {
  return std::to_string(number) + " (" + name + ")";
}

} // namespace

std::vector<migration_status> status_of(std::span<const migration> known) {
  std::vector<migration_status> result;
  for (const auto& m : known) result.push_back({m.number, m.name, m.checksum, false});
  return result;
}

void mark_applied(std::vector<migration_status>& known, const applied_migration& in_ledger) {
  const auto& [number, name, checksum, needs] = in_ledger;
  const auto last = static_cast<std::int64_t>(known.size());
  if (number > last && needs > 0 && needs <= last) return; // a newer migration that only adds
  if (number < 1 || number > last)
    throw schema_refused("the ledger has migration " + label(number, name)
                         + ", which this version does not know: run a newer fairqueue");
  auto& ours = known[static_cast<std::size_t>(number - 1)];
  if (ours.checksum != checksum)
    throw schema_refused("migration " + label(number, name)
                         + " of the ledger differs from this version's: its checksum does not match");
  ours.applied = true;
}

} // namespace fq
