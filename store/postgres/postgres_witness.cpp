// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/postgres_witness.hpp"

#include <array>

namespace fq {
namespace {

static_assert(witnessed_logs_per_key_max == 10'000, "a statement says so");

const postgres_statement find_witnessed{
  "find_witnessed", "SELECT id, origin, log_key, size, root, note, at FROM witnessed WHERE id = $1::text"};

const postgres_statement add_witnessed{
  "add_witnessed",
  "INSERT INTO witnessed (id, origin, log_key, size, root, note, at)"
  " SELECT $1::text, $2::text, $3::text, $4::bigint, $5::text, $6::text, $7::bigint"
  " WHERE (SELECT count(*) FROM witnessed WHERE log_key = $3::text) < 10000 ON CONFLICT (id) DO NOTHING"};

// Reads the row again after it has waited for another node's update of it.
const postgres_statement advance_witnessed{
  "advance_witnessed",
  "UPDATE witnessed SET size = $1::bigint, root = $2::text, note = $3::text, at = $4::bigint"
  " WHERE id = $5::text AND size = $6::bigint AND root = $7::text"};

} // namespace

postgres_witness::postgres_witness(postgres_connection& db) : db_(db) {
  db.prepare(std::array{find_witnessed, add_witnessed, advance_witnessed});
}

std::optional<witnessed_row> postgres_witness::find(const std::string& id) {
  const auto found = db_.run(find_witnessed, postgres_parameters::of(id));
  if (found.size() == 0) return std::nullopt;
  const auto r = found[0];
  return witnessed_row{r.text(0), r.text(1), r.text(2), r.template number<std::uint64_t>(3),
                       r.text(4), r.text(5), r.time(6)};
}

bool postgres_witness::store(const witnessed_row& next, const witnessed_before& before) {
  const auto advanced =
    db_.run(advance_witnessed, postgres_parameters::of(next.size, next.root, next.note, next.at, next.id,
                                                       before.size, before.root));
  if (advanced.affected() == 1) return true;
  return before.size == 0
         && db_.run(add_witnessed, postgres_parameters::of(next.id, next.origin, next.log_key, next.size,
                                                           next.root, next.note, next.at))
                .affected()
              == 1;
}

} // namespace fq
