// SPDX-License-Identifier: Apache-2.0
// Parts of statements that write many described rows at once, one array per column, and their values. The
// texts are made once, when the statements are prepared.
#pragma once
#include "store/port/row_sql.hpp"
#include "store/postgres/postgres.hpp"

#include <string>

namespace fq {

/// The parameters as a table `given`. One unnest per column in a SELECT list, because unnest in FROM costs
/// 20 % more.
std::string postgres_given(const sql_columns& items);
/// INSERT of rows, or UPDATE of those with the same key.
std::string postgres_store(const sql_table& t);

/// Adds the values of a row for an INSERT or postgres_store.
template <class Row>
void add_inserted(postgres_columns& rows, const Row& row, const row_place& place) {
  rows.next_row();
  each_place<Row>(place, [&](const char*, const auto& value) { rows.push(value); });
  each_cell(row, is_inserted, [&](const auto& cell) { rows.push(cell); });
}
/// Adds the values of a row for an UPDATE. `from`: the expected status, if the row has one.
template <class Row, class... Status>
void add_updated(postgres_columns& rows, const Row& row, aggregate_id aggregate, const Status&... from) {
  static_assert(sizeof...(from) == has_status<Row>);
  const auto push = [&](const auto& cell) { rows.push(cell); };
  rows.next_row();
  if (description<Row>::scope != row_scope::installation) rows.push(aggregate);
  each_cell(row, is_key, push);
  (rows.push(from), ...);
  each_cell(row, is_expected, push);
  each_cell(row, is_updated, push);
}

} // namespace fq
