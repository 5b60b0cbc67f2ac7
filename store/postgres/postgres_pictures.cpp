// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/postgres_pictures.hpp"

#include "store/postgres/postgres_rows.hpp"

#include <array>
#include <utility>

namespace fq {
namespace {

static_assert(pictures_per_tenant_max == 1'000 && pictures_per_organizer_max == 200, "a statement says so");

/// INSERT within the limits, which a picture that is there already does not count against.
std::string store_picture_sql() {
  const auto t = table_of<picture_row>();
  return "INSERT INTO picture (" + names_of(t.inserted) + ") SELECT * FROM " + postgres_given(t.inserted)
         + " WHERE EXISTS (SELECT 1 FROM picture AS p WHERE p.id = given.id AND p.tenant = given.tenant)"
           " OR ((SELECT count(*) FROM picture AS p WHERE p.tenant = given.tenant) < 1000"
           " AND (given.organizer = '00000000-0000-0000-0000-000000000000'::uuid"
           " OR (SELECT count(*) FROM picture AS p"
           " WHERE p.tenant = given.tenant AND p.organizer = given.organizer) < 200))"
           " ON CONFLICT (id, tenant) DO UPDATE SET stored_at = excluded.stored_at";
}
const postgres_statement store_picture{"store_picture", store_picture_sql()};

std::string find_picture_sql(const std::string& size) {
  return "SELECT " + size + " FROM picture WHERE id = $1::text ORDER BY tenant LIMIT 1";
}
const postgres_statement find_small{"find_picture_small", find_picture_sql("small")};
const postgres_statement find_medium{"find_picture_medium", find_picture_sql("medium")};
const postgres_statement find_large{"find_picture_large", find_picture_sql("large")};

// Its own condition is read again if the row was stored anew meanwhile; the subquery is not.
const postgres_statement prune_pictures{
  "prune_pictures",
  "DELETE FROM picture AS d WHERE d.stored_at < $3::bigint AND (d.id, d.tenant) IN (SELECT p.id, p.tenant"
  " FROM picture AS p WHERE p.id >= $1::text AND p.id < $2::text AND p.stored_at < $3::bigint"
  " AND NOT EXISTS (SELECT 1 FROM event AS e"
  " WHERE e.picture = p.id AND e.picture <> '' AND e.tenant = p.tenant)"
  " AND NOT EXISTS (SELECT 1 FROM tenant AS t WHERE t.id = p.tenant AND t.logo = p.id) LIMIT $4::bigint)"};

} // namespace

postgres_pictures::postgres_pictures(postgres_connection& db) : db_(db) {
  db.prepare(std::array{store_picture, find_small, find_medium, find_large, prune_pictures});
}

bool postgres_pictures::store(const picture_row& picture) {
  postgres_columns row;
  add_inserted(row, picture, {});
  return db_.run(store_picture, std::move(row).parameters()).affected() == 1;
}

std::vector<char> postgres_pictures::find(const std::string& id, picture_size size) {
  const auto& statement = size == picture_size::small    ? find_small
                          : size == picture_size::medium ? find_medium
                                                         : find_large;
  const auto found = db_.run(statement, postgres_parameters::of(id));
  return found.size() == 0 ? std::vector<char>{} : found[0].blob(0);
}

std::size_t postgres_pictures::prune(timestamp before, std::size_t limit) {
  if (!is_set(before)) return 0;
  const auto [first, end] = pictures_to_prune(before);
  return db_.run(prune_pictures, postgres_parameters::of(first, end, before, limit)).affected();
}

} // namespace fq
