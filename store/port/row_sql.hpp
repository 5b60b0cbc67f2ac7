// SPDX-License-Identifier: Apache-2.0
// From the description of a row (domain/model/description.hpp) to SQL, for every engine: columns, the values
// to bind in the same order, and the conversion of a result row. An engine makes its statements from the
// columns once, when it starts.
#pragma once
#include "domain/model/rows.hpp"
#include "store/port/refund_items.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace fq {

// -- cells: values as SQL has them

template <class T>
const T& cell_of(const T& value) {
  return value;
}
inline const std::string& cell_of(const rare_text& text) { return text.text(); }
/// The items of a claim are rows of their own; the claim has their number.
inline std::int64_t cell_of(const std::vector<claim_item>& items) {
  return static_cast<std::int64_t>(items.size());
}
inline std::string cell_of(const std::vector<refund_item>& items) { return text_of(items); }
inline std::string cell_of(const std::vector<uuid>& ids) { return text_of(ids); }
inline std::string cell_of(const std::vector<question>& questions) { return text_of(questions); }
inline std::string cell_of(const std::vector<answer_row>& answers) { return text_of(answers); }

template <class T>
constexpr const char* sql_type_of() {
  using cell = std::remove_cvref_t<decltype(cell_of(std::declval<const T&>()))>;
  if constexpr (std::is_same_v<cell, bool>)
    return "boolean";
  else if constexpr (std::is_same_v<cell, uuid> || std::is_same_v<cell, digest128>)
    return "uuid";
  else if constexpr (std::is_same_v<cell, std::vector<char>>)
    return "bytea";
  else if constexpr (std::is_same_v<cell, std::string>)
    return "text";
  else
    return "bigint";
}

/// Reads column `i` of a result row into `value`.
template <class Record, class T>
void read_cell(const Record& r, int i, T& value) {
  if constexpr (std::is_same_v<T, bool>)
    value = r.boolean(i);
  else if constexpr (std::is_same_v<T, uuid>)
    value = r.id(i);
  else if constexpr (std::is_same_v<T, digest128>)
    value = r.digest(i);
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, rare_text>)
    value = r.text(i);
  else if constexpr (std::is_same_v<T, std::vector<char>>)
    value = r.blob(i);
  else if constexpr (std::is_same_v<T, timestamp>)
    value = r.time(i);
  else if constexpr (std::is_same_v<T, milliseconds>)
    value = r.duration(i);
  else if constexpr (std::is_same_v<T, std::vector<claim_item>>)
    value.reserve(r.template number<std::size_t>(i));
  else if constexpr (std::is_same_v<T, std::vector<refund_item>>) {
    auto items = refund_items_of(r.text(i));
    if (!items) r.is_corrupt("the tickets of a refund cannot be read");
    value = std::move(*items);
  } else if constexpr (std::is_same_v<T, std::vector<uuid>>) {
    auto ids = ids_of(r.text(i));
    if (!ids) r.is_corrupt("the event tickets of a refund cannot be read");
    value = std::move(*ids);
  } else if constexpr (std::is_same_v<T, std::vector<question>>) {
    auto questions = questions_of(r.text(i));
    if (!questions) r.is_corrupt("the questions of an event cannot be read");
    value = std::move(*questions);
  } else if constexpr (std::is_same_v<T, std::vector<answer_row>>) {
    auto answers = answers_of(r.text(i));
    if (!answers) r.is_corrupt("the answers of an order cannot be read");
    value = std::move(*answers);
  } else
    value = r.template number<T>(i);
}

// -- tables

struct sql_column {
  const char* name;
  const char* type; ///< in the words of Postgres; SQLite needs none
};
using sql_columns = std::vector<sql_column>;

inline sql_columns operator+(sql_columns a, const sql_columns& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The elements of `items`, each formatted by `format`.
template <class Format>
std::string join_columns(const sql_columns& items, const std::string& separator, Format format) {
  std::string result;
  for (const auto& c : items) result += (result.empty() ? "" : separator) + format(c);
  return result;
}
inline std::string names_of(const sql_columns& items, const std::string& prefix = "") {
  return join_columns(items, ", ", [&](const sql_column& c) { return prefix + c.name; });
}

/// "a = excluded.a, ..." for an INSERT that meets a row with the same key.
inline std::string replacements_of(const sql_columns& items) {
  return join_columns(items, ", ",
                      [](const sql_column& c) { return std::string{c.name} + " = excluded." + c.name; });
}

/// Whether the row itself says its tenant.
template <class Row>
concept has_tenant = requires(Row r) {
  r.tenant;
};
/// Whether an update names the status that it starts from.
template <class Row>
concept has_status = requires(Row r) {
  requires std::is_enum_v<decltype(r.status)>;
};

/// Place of a row: the values of the columns before its own fields.
struct row_place {
  aggregate_id aggregate{};
  tenant_id tenant{};
  std::uint64_t seq = 0; ///< with scope batch
  std::int64_t ordinal = 0; ///< with scope batch: position in the batch; with scope claim: in the claim
  uuid claim = {}; ///< with scope claim
};

/// Calls `take(name, value)` for each column before the row's own fields.
template <class Row, class Take>
void each_place(const row_place& place, Take take) {
  constexpr auto scope = description<Row>::scope;
  if constexpr (scope != row_scope::installation) take("aggregate", place.aggregate);
  if constexpr (scope == row_scope::batch) {
    take("seq", place.seq);
    take("ordinal", place.ordinal);
  }
  if constexpr (scope == row_scope::claim) {
    take("claim", place.claim);
    take("position", place.ordinal);
  }
  if constexpr (scope != row_scope::installation && !has_tenant<Row>) take("tenant", place.tenant);
}

/// The columns of Row's own fields that `wanted` selects by their `written`.
template <class Row, class Wanted>
sql_columns columns_of(Wanted wanted) {
  sql_columns result;
  each_field<Row>([&]<class Field>(const Field& f) {
    if (wanted(f.when)) result.push_back({f.name, sql_type_of<typename Field::value_type>()});
  });
  return result;
}

// Selections of fields. Objects, not functions: their calls are inlined for each field.
inline constexpr auto is_any = [](written) { return true; };
inline constexpr auto is_key = [](written when) { return when == written::key; };
inline constexpr auto is_expected = [](written when) { return when == written::expected; };
inline constexpr auto is_by_clock = [](written when) { return when == written::by_clock; };
inline constexpr auto is_inserted = [](written when) {
  return when != written::counted && when != written::by_clock;
};
/// Written by an insert whose other fields have their defaults.
inline constexpr auto is_inserted_plain = [](written when) {
  return is_inserted(when) && when != written::later;
};

/// A table and the columns that its statements write, in the order in which write_* give the values.
struct sql_table {
  std::string name;
  sql_columns place; ///< the columns before the row's own
  sql_columns scope; ///< the part of `place` that finds rows: aggregate, or none
  sql_columns keys, expected, changed; ///< expected includes the status, if any
  sql_columns inserted, inserted_plain; ///< without `place`
  sql_columns by_clock; ///< the engine gives their value
};

template <class Row>
sql_table table_of() {
  sql_table t;
  t.name = description<Row>::name;
  each_place<Row>({}, [&]<class T>(const char* name, const T&) {
    t.place.push_back({name, sql_type_of<T>()});
  });
  if (description<Row>::scope != row_scope::installation) t.scope = {t.place.front()};
  t.keys = columns_of<Row>(is_key);
  if (has_status<Row>) t.expected = {{"status", "bigint"}};
  t.expected = t.expected + columns_of<Row>(is_expected);
  t.changed = columns_of<Row>(is_updated);
  t.inserted = columns_of<Row>(is_inserted);
  t.inserted_plain = columns_of<Row>(is_inserted_plain);
  t.by_clock = columns_of<Row>(is_by_clock);
  return t;
}

/// All columns of Row, for a SELECT that read_row reads.
template <class Row>
std::string column_names(const std::string& prefix = "") {
  return names_of(columns_of<Row>(is_any), prefix);
}
template <class Row>
constexpr int column_count() {
  int count = 0;
  each_field<Row>([&](const auto&) { ++count; });
  return count;
}
template <class Row>
std::string select_rows() {
  return "SELECT " + column_names<Row>() + " FROM " + std::string{description<Row>::name} + " ";
}

/// The same without the texts of many lines, which are empty then: for lists.
template <class Row>
std::string select_listed() {
  sql_columns columns;
  each_field<Row>([&](const auto& f) { columns.push_back({is_listed(f.setting.form) ? f.name : "''", ""}); });
  return "SELECT " + names_of(columns) + " FROM " + std::string{description<Row>::name} + " ";
}

/// Calls `take(value)` for the values of the fields that `wanted` selects.
template <class Row, class Wanted, class Take>
void each_cell(const Row& row, Wanted wanted, Take take) {
  each_field<Row>(
    [&](const auto& f, const auto& value) {
      if (wanted(f.when)) take(cell_of(value));
    },
    row);
}

/// Reads the columns from `first` on.
template <class Row>
Row read_row(const auto& record, int first = 0) {
  Row row;
  each_field<Row>([&](const auto&, auto& value) { read_cell(record, first++, value); }, row);
  return row;
}
template <class Row, int First = 0>
inline constexpr auto row_from = [](const auto& record) { return read_row<Row>(record, First); };

} // namespace fq
