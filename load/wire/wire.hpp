// SPDX-License-Identifier: Apache-2.0
// Parses the server's JSON for the fans: pure functions. If a required member is missing the result is
// nothing, and the fan reports a malformed answer.
#pragma once

#include "load/base/history.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace fq::load {

struct entry_answer {
  place_kind kind = place_kind::waiting;
  std::string status;
  uuid entry;
  std::uint64_t number = 0;
  std::uint32_t position = 0;
  std::uint64_t batch = 0;
  std::int64_t poll_after_ms = 0; // 0: not in the answer
  std::string admission_token;
};

struct payment_answer {
  payment_sight observation;
  std::string authorization_url; // empty: none yet
};

struct event_answer {
  sale_terms terms;
  std::int64_t available = 0;
  bool sold_out = false;
};

// Null if `text` is not a JSON object.
boost::json::value parse_object(std::string_view text);
std::string text_member(const boost::json::value& object, std::string_view name);
std::vector<std::string> texts_member(const boost::json::value& object, std::string_view name);
std::int64_t whole_member(const boost::json::value& object, std::string_view name, std::int64_t otherwise);

std::optional<uuid> id_member(const boost::json::value& object, std::string_view name);
// Null if it is missing or `object` is not an object.
const boost::json::value* member(const boost::json::value& object, std::string_view name);
std::optional<std::int64_t> whole(const boost::json::value* value);
std::optional<payment_status> payment_status_named(std::string_view name);

std::optional<entry_answer> read_entry(const boost::json::value& body);
std::optional<claim_sight> read_claim(const boost::json::value& body);
std::optional<payment_answer> read_payment(const boost::json::value& body);
std::optional<event_answer> read_event(const boost::json::value& body);

} // namespace fq::load
