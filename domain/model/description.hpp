// SPDX-License-Identifier: Apache-2.0
// Describes rows field by field, in the order of their members. From a description come the statements and
// readers of the SQL engines, the copies of the memory engine, the inspect functions of messages, and the
// settings that requests may change.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fq {

/// The columns that stand before a row's own fields.
enum class row_scope : std::uint8_t {
  part, ///< no table: part of another row
  installation, ///< none
  aggregate, ///< aggregate; tenant, unless it is a field of the row
  batch, ///< appended by a batch: aggregate, seq, ordinal; tenant, as before
  claim, ///< of one claim: aggregate, claim, position, tenant
};

/// The statements that write a field.
enum class written : std::uint8_t {
  always, ///< inserts and updates
  later, ///< updates; a plain insert leaves the default
  once, ///< inserts
  key, ///< inserts; finds the row within its scope
  expected, ///< inserts; an update is refused if the stored value differs
  counted, ///< statements of its own; an insert leaves the default
  by_clock, ///< inserts and updates, with the ledger's time instead of the row's
};

/// Whether a statement that updates a row writes the field.
constexpr bool is_updated(written when) { return when == written::always || when == written::later; }

/// Form of a setting in JSON.
enum class json_form : std::uint8_t {
  plain, ///< text, number, flag or time
  null_is_zero, ///< a number, or null for 0
  null_is_minus_one, ///< a number, or null for -1
  null_is_never, ///< a time, or null for `never`
  null_is_empty, ///< a text of one line, or null for the empty one
  shown, ///< a text, or null for the empty one, or a time; set in another way
  shown_alone, ///< as shown; not in lists, because it may be long
  lines, ///< as null_is_empty with line breaks; not in lists, because it may be long
  degrees, ///< a number with six decimals, stored in millionths, or null for no_coordinate
  hundredths, ///< a number with two decimals, stored in hundredths
  in_seconds, ///< a duration in seconds
  in_milliseconds, ///< a duration in milliseconds
};

/// Whether lists have it.
constexpr bool is_listed(json_form form) {
  return form != json_form::lines && form != json_form::shown_alone;
}

/// A coordinate that is not given.
inline constexpr std::int32_t no_coordinate = std::numeric_limits<std::int32_t>::min();

/// How requests set a field.
struct setting_rule {
  const char* name = nullptr; ///< in JSON; null: not a setting of a sale
  std::int64_t low = 0, high = 0; ///< limits of the number in its JSON unit, or of the text's bytes
  json_form form = json_form::plain;
  const char* group = ""; ///< JSON object that contains it; empty: the outermost
  const char* queue_name = nullptr; ///< name at a standalone queue; null: not a setting there
  [[nodiscard]] constexpr bool is_a_setting() const { return name != nullptr || queue_name != nullptr; }
};

constexpr setting_rule setting(const char* name, std::int64_t low = 0, std::int64_t high = 0,
                               json_form form = json_form::plain, const char* group = "",
                               const char* queue_name = nullptr) {
  return {name, low, high, form, group, queue_name};
}

/// One column of a row.
template <class Row, class T>
struct row_field {
  static constexpr bool is_part = false;
  using value_type = T;
  const char* name; ///< of the column
  T Row::*member;
  written when = written::always;
  setting_rule setting = {};
};
template <class Row, class T, class... Rest>
row_field(const char*, T Row::*, Rest...) -> row_field<Row, T>;

/// A member with a description of its own, whose fields are columns of this row.
template <class Row, class T>
struct row_part {
  static constexpr bool is_part = true;
  using value_type = T;
  T Row::*member;
};
template <class Row, class T>
row_part(T Row::*) -> row_part<Row, T>;

/// Specialized by FQ_ROW.
template <class Row>
struct description;

template <class T>
concept described = requires {
  description<T>::name;
};

/// Describes `type`, which the table `table` stores; the fields follow. `row` and the values of `written` and
/// `json_form` are in scope.
#define FQ_ROW(type, table, row_scope_value, ...)                                                            \
  template <>                                                                                                \
  struct description<type> {                                                                                 \
    using row = type;                                                                                        \
    static constexpr std::string_view name = table;                                                          \
    static constexpr row_scope scope = row_scope::row_scope_value;                                           \
    template <class Take>                                                                                    \
    static constexpr auto fields(Take&& take) {                                                              \
      using enum written;                                                                                    \
      using enum json_form;                                                                                  \
      return take(__VA_ARGS__);                                                                              \
    }                                                                                                        \
  };

/// Calls `take(field, values...)` for each field of Row, with its value in each of `rows`.
template <class Row, class Take, class... Rows>
constexpr void each_field(Take&& take, Rows&... rows) {
  description<Row>::fields([&](const auto&... all) {
    const auto visit = [&]<class Field>(const Field& field) {
      if constexpr (Field::is_part)
        each_field<typename Field::value_type>(take, (rows.*field.member)...);
      else
        take(field, (rows.*field.member)...);
    };
    (visit(all), ...);
  });
}

/// Fields of Row and of its parts.
template <class Row>
constexpr std::size_t count_of_fields() {
  const auto count = []<class Field>(const Field&) -> std::size_t {
    if constexpr (Field::is_part)
      return count_of_fields<typename Field::value_type>();
    else
      return 1;
  };
  return description<Row>::fields([&](const auto&... all) { return (count(all) + ... + std::size_t{0}); });
}

/// Copies the fields that an update writes.
template <class Row>
void copy_updated(Row& to, const Row& from) {
  each_field<Row>(
    [](const auto& field, auto& target, const auto& source) {
      if (is_updated(field.when)) target = source;
    },
    to, from);
}

/// New values for some fields of a row.
template <class Row>
struct patch_of {
  Row values;
  std::uint64_t given = 0; ///< bit i: the i-th field has a new value
  static_assert(count_of_fields<Row>() <= std::numeric_limits<decltype(given)>::digits,
                "each field has a bit of its own");

  template <class Part, class T, class Value>
  void set(T Part::*member, Value&& value) {
    visit(member, [&](std::uint64_t bit, T& to) {
      to = std::forward<Value>(value);
      given |= bit;
    });
  }
  /// The new value, or null.
  template <class Part, class T>
  [[nodiscard]] const T* find(T Part::*member) const {
    const T* found = nullptr;
    visit(member, [&](std::uint64_t bit, const T& value) { found = (given & bit) != 0 ? &value : nullptr; });
    return found;
  }
  /// Whether all new values are of these parts of Row.
  template <class... Parts>
  [[nodiscard]] bool is_within() const {
    std::uint64_t bit = 1, others = 0;
    each_field<Row>(
      [&]<class Field>(const Field&, const auto&) {
        if constexpr (!(std::is_same_v<Field, row_field<Parts, typename Field::value_type>> || ...))
          others |= bit;
        bit <<= 1;
      },
      values);
    return (given & others) == 0;
  }
  /// Writes the new values that are settings into `row`.
  void apply_to(Row& row) const {
    std::uint64_t bit = 1;
    each_field<Row>(
      [&](const auto& field, auto& to, const auto& value) {
        if ((given & bit) != 0 && field.setting.is_a_setting()) to = value;
        bit <<= 1;
      },
      row, values);
  }

private:
  template <class Self, class Part, class T, class Take>
  static void visit(Self& self, T Part::*member, Take take) {
    std::uint64_t bit = 1;
    each_field<Row>(
      [&]<class Field>(const Field& field, auto& value) {
        if constexpr (std::is_same_v<decltype(Field::member), T Part::*>)
          if (field.member == member) take(bit, value);
        bit <<= 1;
      },
      self.values);
  }
  template <class Part, class T, class Take>
  void visit(T Part::*member, Take take) {
    visit(*this, member, take);
  }
  template <class Part, class T, class Take>
  void visit(T Part::*member, Take take) const {
    visit(*this, member, take);
  }
};

} // namespace fq
