// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_pictures.hpp"

#include "store/sqlite/sqlite_rows.hpp"

namespace fq {
namespace {

static_assert(pictures_per_tenant_max == 1'000 && pictures_per_organizer_max == 200, "a statement says so");

/// INSERT within the limits, which a picture that is there already does not count against.
std::string store_picture_sql() {
  const auto t = table_of<picture_row>();
  return "INSERT INTO picture (" + names_of(t.inserted) + ") SELECT * FROM (SELECT "
         + join_columns(t.inserted, ", ", [](const sql_column& c) { return std::string{"? AS "} + c.name; })
         + ") AS given WHERE EXISTS (SELECT 1 FROM picture AS p WHERE p.id = given.id AND p.tenant ="
           " given.tenant) OR ((SELECT count(*) FROM picture AS p WHERE p.tenant = given.tenant) < 1000"
           " AND (given.organizer = zeroblob(16) OR (SELECT count(*) FROM picture AS p"
           " WHERE p.tenant = given.tenant AND p.organizer = given.organizer) < 200))"
           " ON CONFLICT (id, tenant) DO UPDATE SET stored_at = excluded.stored_at";
}

std::string find_picture_sql(const std::string& size) {
  return "SELECT " + size + " FROM picture WHERE id = ? ORDER BY tenant LIMIT 1";
}

} // namespace

sqlite_pictures::sqlite_pictures(sqlite_db& db) :
    store_(db, store_picture_sql()),
    prune_(db,
           "DELETE FROM picture WHERE (id, tenant) IN (SELECT p.id, p.tenant FROM picture AS p"
           " WHERE p.id >= ?1 AND p.id < ?2 AND p.stored_at < ?3 AND NOT EXISTS (SELECT 1 FROM event AS e"
           " WHERE e.picture = p.id AND e.picture <> '' AND e.tenant = p.tenant)"
           " AND NOT EXISTS (SELECT 1 FROM tenant AS t WHERE t.id = p.tenant AND t.logo = p.id) LIMIT ?4)") {}

bool sqlite_pictures::store(const picture_row& picture) {
  sqlite_row_binder binder(store_);
  binder.fields(picture, is_inserted);
  return binder.run() == 1;
}

sqlite_picture_reader::sqlite_picture_reader(sqlite_db& db) :
    small_(db, find_picture_sql("small")),
    medium_(db, find_picture_sql("medium")),
    large_(db, find_picture_sql("large")) {}

std::vector<char> sqlite_picture_reader::find(const std::string& id, picture_size size) {
  auto& s = size == picture_size::small ? small_ : size == picture_size::medium ? medium_ : large_;
  s.bind(id);
  std::vector<char> bytes;
  if (s.step()) bytes = s.blob(0);
  s.reset();
  return bytes;
}

std::size_t sqlite_pictures::prune(timestamp before, std::size_t limit) {
  if (!is_set(before)) return 0;
  const auto [first, end] = pictures_to_prune(before);
  return static_cast<std::size_t>(prune_.run(first, end, before, limit));
}

} // namespace fq
