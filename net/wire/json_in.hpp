// SPDX-License-Identifier: Apache-2.0
// Strict JSON input. A body is an object of at most 16 levels in valid UTF-8, without unknown or repeated
// members. Reports every wrong field, not only the first. Called by the routes that read a body. Checks
// types and ranges only, no rules of the sale.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "domain/sale/views.hpp"
#include "net/http/http.hpp"
#include "net/http/problem.hpp"
#include "net/wire/limits.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

class json_errors {
public:
  void add(std::string field, std::string_view code, std::string detail);
  [[nodiscard]] bool any() const noexcept { return !list_.empty(); }
  [[nodiscard]] const std::vector<field_error>& list() const noexcept { return list_; }
  /// unknown_field if present, else invalid_field.
  [[nodiscard]] fault worst() const noexcept {
    return unknown_ ? fault::unknown_field : fault::invalid_field;
  }

private:
  std::vector<field_error> list_;
  bool unknown_ = false;
};

/// Reads the members of one object. Call a reader for every allowed member; `finish` then reports all
/// others. An absent member has `given == false`, which is no error unless it was `require`d. A wrong type
/// or range is reported and also not given.
class object_reader {
public:
  object_reader(const boost::json::object& object, std::string path, json_errors& errors) :
      object_(object), path_(std::move(path)), errors_(errors) {}

  /// Valid UTF-8 without control characters; `size` in bytes.
  maybe<std::string> text(std::string_view name, range size);
  /// As `text`, but null means the empty text.
  maybe<std::string> text_or_null(std::string_view name, range size);
  /// As `text_or_null`, with line breaks and tabs.
  maybe<std::string> lines_or_null(std::string_view name, range size);
  /// An integer without fraction or exponent.
  maybe<std::int64_t> integer(std::string_view name, range allowed);
  template <std::integral Number>
  maybe<Number> number(std::string_view name, range allowed) {
    const auto read = integer(name, allowed);
    return {read.given, static_cast<Number>(read.value)};
  }
  /// As `number`, but null means 0 ("none").
  maybe<std::uint32_t> number_or_null(std::string_view name, range allowed);
  /// As `number`, but null means `none`.
  template <std::integral Number>
  maybe<Number> integer_or_null(std::string_view name, range allowed, Number none) {
    if (is_null(name)) return {true, none};
    return number<Number>(name, allowed);
  }
  /// Reads an integer in units of `Duration`.
  template <class Duration>
  maybe<milliseconds> duration(std::string_view name, range allowed) {
    const auto read = integer(name, allowed);
    return {read.given, std::chrono::duration_cast<milliseconds>(Duration{read.value})};
  }
  maybe<bool> flag(std::string_view name);
  /// RFC 3339, from 2000 to 2999.
  maybe<timestamp> time(std::string_view name);
  /// As `time`, but null means `never`.
  maybe<timestamp> time_or_null(std::string_view name) {
    if (is_null(name)) return {true, never};
    return time(name);
  }
  /// A number with at most two decimals, in hundredths.
  maybe<std::uint32_t> hundredths(std::string_view name, range allowed);
  /// A number of degrees with at most six decimals, in millionths; null means no_coordinate.
  maybe<std::int32_t> degrees_or_null(std::string_view name, range allowed);
  maybe<uuid> id(std::string_view name);
  maybe<admission_policy> policy(std::string_view name);
  maybe<challenge_kind> challenge(std::string_view name);
  /// One of `words`, as its index.
  maybe<std::size_t> word(std::string_view name, std::span<const std::string_view> words);
  /// An array of UUIDs, with `count` elements; empty if absent.
  std::vector<uuid> ids(std::string_view name, range count);
  /// An array of texts, with `count` elements, each as in `text`.
  std::vector<std::string> texts(std::string_view name, range count, range size);

  /// Calls `read` with the object of that name, if given, and then finishes it.
  void object(std::string_view name, const std::function<void(object_reader&)>& read);
  /// Calls `read` with every element, which must be an object, and then finishes it. Returns whether the
  /// member is present.
  bool objects(std::string_view name, range count, const std::function<void(object_reader&)>& read);

  /// Reports `name` as missing unless it is present in any form.
  void require(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) const { return object_.contains(name); }
  /// Reports the caller's own error about a member.
  void reject(std::string_view name, std::string detail) {
    errors_.add(full_name(name), "invalid", std::move(detail));
  }
  /// Reports every member that was not read.
  void finish();

private:
  maybe<std::string> text_of(std::string_view name, range size, bool with_lines);
  /// A number with a few decimals, in units of the last one. `shown`: a limit as text.
  maybe<std::int64_t> decimal(std::string_view name, range allowed, double scale, std::string_view decimals,
                              std::string (*shown)(std::int64_t));
  const boost::json::value* find(std::string_view name);
  /// The array of that name if its size is in `count`, else null.
  const boost::json::array* array(std::string_view name, range count);
  /// Whether the member is given as null; marks it as read.
  bool is_null(std::string_view name);
  [[nodiscard]] std::string full_name(std::string_view name) const;
  void wrong_type(std::string_view name, std::string_view expected);
  void out_of_range(std::string_view name, range allowed, std::string_view unit);

  const boost::json::object& object_;
  std::string path_;
  json_errors& errors_;
  std::vector<std::string_view> known_;
};

enum class body_need : std::uint8_t { required, optional };

/// Checks and parses the body and calls `read` with its object, except for an absent optional body. Returns
/// the problem to answer with, or nothing.
[[nodiscard]] std::optional<response> read_json(const request& rq, body_need need,
                                                const std::function<void(object_reader&)>& read);

/// A required e-mail address, in lower case: one address, one account.
[[nodiscard]] std::string read_email(object_reader& body, std::string_view name);
/// A plain addr-spec of 3 to 254 bytes, without quotes or comments. The domain may have no dot
/// ("demo@localhost").
[[nodiscard]] bool is_email(std::string_view text);
/// The stored form of addresses: ASCII letters in lower case.
[[nodiscard]] std::string lower_email(std::string_view typed);

/// "reason", for the audit log: at most 500 bytes; empty if absent.
[[nodiscard]] std::string read_reason(object_reader& body);
/// For actions whose body has at most a reason. Fills the note for the audit log, or returns the problem to
/// answer with.
[[nodiscard]] std::optional<response> read_note(const request& rq, audit_note& note);

/// For routes without a body: accepts nothing or an empty object.
[[nodiscard]] std::optional<response> expect_no_body(const request& rq);

/// "application/json", case-insensitive, with or without parameters.
[[nodiscard]] bool is_json(std::string_view content_type);

} // namespace fq::net
