// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/postgres_rows.hpp"

namespace fq {

std::string postgres_given(const sql_columns& items) {
  int number = 0;
  return "(SELECT "
         + join_columns(items, ", ",
                        [&](const sql_column& c) {
                          return "unnest($" + std::to_string(++number) + "::" + c.type + "[]) AS " + c.name;
                        })
         + ") AS given";
}

std::string postgres_store(const sql_table& t) {
  const auto given = t.place + t.inserted;
  return "INSERT INTO " + t.name + " (" + names_of(given + t.by_clock) + ") SELECT given.*"
         + join_columns(t.by_clock, "", [](const sql_column&) { return ", " + postgres_now; }) + " FROM "
         + postgres_given(given) + " ON CONFLICT (" + names_of(t.scope + t.keys) + ") DO UPDATE SET "
         + replacements_of(t.changed + t.by_clock);
}

} // namespace fq
