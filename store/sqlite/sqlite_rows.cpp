// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_rows.hpp"

namespace fq {
namespace {

std::string is_bound(const sql_column& c) { return std::string{c.name} + " = ?"; }

} // namespace

std::string marks_of(std::size_t count) {
  std::string marks = "(?";
  for (std::size_t i = 1; i < count; ++i) marks += ",?";
  return marks + ')';
}

std::string insert_sql(const std::string& table, const sql_columns& columns, std::size_t rows) {
  auto sql = "INSERT INTO " + table + " (" + names_of(columns) + ") VALUES " + marks_of(columns.size());
  for (std::size_t i = 1; i < rows; ++i) sql += ',' + marks_of(columns.size());
  return sql;
}

std::string insert_sql(const sql_table& t) {
  if (t.by_clock.empty()) return insert_sql(t.name, t.place + t.inserted);
  auto sql = "INSERT INTO " + t.name + " (" + names_of(t.place + t.inserted + t.by_clock) + ") VALUES "
             + marks_of(t.place.size() + t.inserted.size());
  sql.pop_back();
  for (std::size_t i = 0; i < t.by_clock.size(); ++i) sql += ", " + sqlite_now;
  return sql + ')';
}

std::string store_sql(const sql_table& t) {
  return insert_sql(t) + " ON CONFLICT (" + names_of(t.scope + t.keys) + ") DO UPDATE SET "
         + replacements_of(t.changed + t.by_clock);
}

std::string update_sql(const sql_table& t) {
  return "UPDATE " + t.name + " SET " + join_columns(t.changed, ", ", is_bound) + " WHERE "
         + join_columns(t.scope + t.keys + t.expected, " AND ", is_bound);
}

} // namespace fq
