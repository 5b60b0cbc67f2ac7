// SPDX-License-Identifier: Apache-2.0
// Statements that write described rows, and the binding of their values. The texts are made once, when the
// statements are prepared.
#pragma once
#include "store/port/row_sql.hpp"
#include "store/sqlite/sqlite.hpp"

#include <forward_list>
#include <string>

namespace fq {

/// "(?,?,...)"
std::string marks_of(std::size_t count);
/// INSERT of `rows` rows with these columns.
std::string insert_sql(const std::string& table, const sql_columns& columns, std::size_t rows = 1);
/// INSERT of one row.
std::string insert_sql(const sql_table& t);
/// INSERT of one row, or UPDATE of the row with the same key.
std::string store_sql(const sql_table& t);
/// UPDATE of the row with the key, if it has the expected values.
std::string update_sql(const sql_table& t);

/// Binds rows to a statement. Texts are not copied: the binder must live until the statement has run.
class sqlite_row_binder {
public:
  explicit sqlite_row_binder(sqlite_statement& s) : s_(s) { s_.bind(); }

  template <class Row>
  void place(const row_place& place) {
    each_place<Row>(place, [&](const char*, const auto& value) { s_.bind_more(value); });
  }
  /// The fields of `row` that `wanted` selects.
  template <class Row, class Wanted>
  void fields(const Row& row, Wanted wanted) {
    each_cell(row, wanted, [&]<class Cell>(Cell&& cell) {
      if constexpr (std::is_same_v<Cell, std::string>)
        s_.bind_more(made_.emplace_front(std::move(cell)));
      else
        s_.bind_more(cell);
    });
  }
  template <class Value>
  void value(const Value& value) {
    s_.bind_more(value);
  }
  /// Number of changed rows.
  std::int64_t run() { return s_.finish(); }

private:
  sqlite_statement& s_;
  std::forward_list<std::string> made_; ///< texts that no row holds
};

/// Runs insert_sql or store_sql.
template <class Row>
void insert_row(sqlite_statement& s, const Row& row, const row_place& place) {
  sqlite_row_binder binder(s);
  binder.place<Row>(place);
  binder.fields(row, is_inserted);
  binder.run();
}

/// Runs update_sql; returns whether it found the row. `from`: the expected status, if the row has one.
template <class Row, class... Status>
bool update_row(sqlite_statement& s, const Row& row, aggregate_id aggregate, const Status&... from) {
  static_assert(sizeof...(from) == has_status<Row>);
  sqlite_row_binder binder(s);
  binder.fields(row, is_updated);
  if (description<Row>::scope != row_scope::installation) binder.value(aggregate);
  binder.fields(row, is_key);
  (binder.value(from), ...);
  binder.fields(row, is_expected);
  return binder.run() == 1;
}

} // namespace fq
