// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_witness.hpp"

namespace fq {
namespace {

static_assert(witnessed_logs_per_key_max == 10'000, "a statement says so");

} // namespace

sqlite_witness::sqlite_witness(sqlite_db& db) :
    find_(db, "SELECT id, origin, log_key, size, root, note, at FROM witnessed WHERE id = ?"),
    add_(db,
         "INSERT INTO witnessed (id, origin, log_key, size, root, note, at)"
         " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7"
         " WHERE (SELECT count(*) FROM witnessed WHERE log_key = ?3) < 10000 ON CONFLICT (id) DO NOTHING"),
    advance_(db, "UPDATE witnessed SET size = ?, root = ?, note = ?, at = ?"
                 " WHERE id = ? AND size = ? AND root = ?") {}

std::optional<witnessed_row> sqlite_witness::find(const std::string& id) {
  find_.bind(id);
  std::optional<witnessed_row> row;
  if (find_.step())
    row = {find_.text(0), find_.text(1), find_.text(2), find_.number<std::uint64_t>(3),
           find_.text(4), find_.text(5), find_.time(6)};
  find_.reset();
  return row;
}

bool sqlite_witness::store(const witnessed_row& next, const witnessed_before& before) {
  if (advance_.run(next.size, next.root, next.note, next.at, next.id, before.size, before.root) == 1)
    return true;
  return before.size == 0
         && add_.run(next.id, next.origin, next.log_key, next.size, next.root, next.note, next.at) == 1;
}

} // namespace fq
