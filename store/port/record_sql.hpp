// SPDX-License-Identifier: Apache-2.0
// The statements behind ledger::list_records and find_open_purchase, for both SQL engines, and what a page is
// made of in every engine.
#pragma once
#include "store/port/ledger.hpp"

#include <array>
#include <string>
#include <string_view>

namespace fq {

inline constexpr std::size_t record_kinds = static_cast<std::size_t>(record_kind::letter) + 1;

/// A statement with an engine's marks for its parameters.
struct record_statement {
  std::string sql;
  std::string parameters; ///< a letter of each, in order: see each_record_parameter
};

/// `mark(letter, n)`: the engine's mark of parameter n, from 1.
record_statement record_statement_of(record_kind kind, std::string (*mark)(char, std::size_t));
/// One row and column: open_purchase.
record_statement open_purchase_statement(std::string (*mark)(char, std::size_t));

/// Calls `take` with the value of each parameter.
template <class Take>
void each_record_parameter(const std::string& parameters, const record_filter& filter, Take take) {
  for (const char which : parameters) switch (which) {
      case 'c': take(filter.customer); break;
      case 'a': take(filter.after.aggregate); break;
      case 'n': take(filter.after.number); break;
      case 'o': take(filter.after.ordinal); break;
      case 'i': take(filter.after.id); break;
      default: take(filter.limit);
    }
}

/// A row that was looked at. The kinds without an index give what tells whether it is the customer's.
struct seen_record {
  customer_record record;
  uuid subject; ///< of a place; customer of a claim or payment
  std::string naming; ///< of mail and letters: a text that may name the customer
};

/// Makes a page of the rows that an engine has read, at most filter.limit.
record_page page_of(const record_filter& filter, std::vector<seen_record> seen);

inline constexpr auto seen_record_of = [](record_kind kind, const auto& r) {
  const auto number = [&](int i) { return r.is_null(i) ? std::int64_t{0} : r.integer(i); };
  const auto id = [&](int i) { return r.is_null(i) ? uuid{} : r.id(i); };
  const auto text = [&](int i) { return r.is_null(i) ? std::string{} : r.text(i); };
  seen_record seen;
  auto& x = seen.record;
  x.at = {kind, aggregate_id{static_cast<std::uint32_t>(number(0))}, static_cast<std::uint64_t>(number(1)),
          static_cast<std::uint32_t>(number(2)), id(3)};
  x.status = static_cast<std::uint32_t>(number(4));
  x.text = text(5);
  x.amount = number(6);
  x.count = static_cast<std::uint64_t>(number(7));
  x.created_at = from_unix_ms(number(8));
  x.changed_at = from_unix_ms(number(9));
  x.ended_at = from_unix_ms(number(10));
  x.event = id(11);
  seen.subject = id(12);
  seen.naming = text(13);
  return seen;
};

} // namespace fq
