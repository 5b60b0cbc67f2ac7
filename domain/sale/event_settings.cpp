// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/event_settings.hpp"

#include "domain/model/invalid_field.hpp"
#include "domain/sale/questions.hpp"

#include <string>

namespace fq {
namespace {

/// The value that has limits: of a text its bytes, of a duration its milliseconds.
std::int64_t measure(const std::string& text) { return static_cast<std::int64_t>(text.size()); }
std::int64_t measure(milliseconds value) { return value.count(); }
template <class Value>
std::int64_t measure(const Value& value) {
  if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>)
    return static_cast<std::int64_t>(value);
  else
    return 0; // without limits
}

bool is_within(const setting_rule& rule, std::int64_t value) {
  if (rule.low == 0 && rule.high == 0) return true;
  if (rule.form == json_form::null_is_zero && value == 0) return true;
  if (rule.form == json_form::null_is_minus_one && value == -1) return true;
  if (rule.form == json_form::degrees && value == no_coordinate) return true;
  const std::int64_t unit = rule.form == json_form::in_seconds ? 1'000
                            : rule.form == json_form::degrees  ? 1'000'000
                                                               : 1;
  return value >= rule.low * unit && value <= rule.high * unit;
}

std::string hundredths(std::int64_t value) {
  const auto part = value % 100;
  return std::to_string(value / 100) + (part < 10 ? ".0" : ".") + std::to_string(part);
}

std::string limits_text(const setting_rule& rule, bool is_text) {
  const auto high = std::to_string(rule.high);
  if (is_text && rule.low == 0) return "must have at most " + high + " bytes";
  if (is_text) return "must have " + std::to_string(rule.low) + " to " + high + " bytes";
  if (rule.form == json_form::hundredths)
    return "must be " + hundredths(rule.low) + " to " + hundredths(rule.high);
  const bool may_be_null = rule.form == json_form::null_is_zero || rule.form == json_form::null_is_minus_one
                           || rule.form == json_form::degrees;
  return "must be " + std::to_string(rule.low) + " to " + high + (may_be_null ? ", or null" : "");
}

template <class Row>
refusal check(const Row& row, const std::string& prefix) {
  refusal no;
  each_field<Row>(
    [&]<class Value>(const auto& field, const Value& value) {
      const auto& rule = field.setting;
      const auto* name = rule.name != nullptr ? rule.name : rule.queue_name;
      if (no || name == nullptr || is_within(rule, measure(value))) return;
      const std::string group = rule.group;
      no = invalid_field(prefix + group + (group.empty() ? "" : ".") + name,
                         limits_text(rule, std::is_same_v<Value, std::string>));
    },
    row);
  return no;
}

} // namespace

void apply_settings(const event_patch& patch, event_row& event) {
  const auto before = event.questions;
  patch.apply_to(event);
  number_questions(before, event.questions, event.questions_numbered);
  if (event.kind == event_kind::queue)
    event.queue.claim_window =
      event.queue.session_ttl; // queues have no claims: only the session ends an admission
}

refusal check_limits(const event_row& event) { return check(event, ""); }
refusal check_limits(const ticket_type_row& type) { return check(type, "ticket_types."); }

} // namespace fq
