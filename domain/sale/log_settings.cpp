// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/log_settings.hpp"

#include <set>
#include <string_view>
#include <utility>

namespace fq {
namespace {

void add(std::string& to, std::string_view name, std::string_view value) {
  if (!to.empty()) to += '\n';
  to += name;
  to += '=';
  to += value;
}

template <class Value>
void add_value(std::string& to, std::string_view name, const Value& value) {
  if constexpr (std::is_same_v<Value, admission_policy>)
    add(to, name, name_of(value));
  else if constexpr (std::is_same_v<Value, timestamp>)
    add(to, name, is_set(value) ? std::to_string(unix_ms(value)) : "");
  else if constexpr (std::is_same_v<Value, milliseconds>)
    add(to, name, std::to_string(value.count()));
  else if constexpr (std::is_arithmetic_v<Value>)
    add(to, name, std::to_string(static_cast<std::int64_t>(value)));
}

} // namespace

std::string settings_text(const event_row& event, const std::vector<ticket_type_row>& types) {
  std::string text;
  // On the waiting list units are offered one by one, whatever the policy.
  if (event.kind == event_kind::sale && is_set(event.waiting_list.began_at))
    add(text, "policy", "waiting_list");
  each_field<queue_settings>(
    [&](const auto& field, const auto& value) {
      if (text.empty() || field.name != std::string_view{"policy"}) add_value(text, field.name, value);
    },
    event.queue);
  add_value(text, "queue_opens_at", event.queue_opens_at);
  if (event.kind == event_kind::queue) return text;
  add_value(text, "sale_start", event.sale_start);
  add_value(text, "sale_end", event.sale_end);
  add_value(text, "claims_per_customer", event.claims_per_customer);
  each_field<waiting_list_settings>(
    [&](const auto& field, const auto& value) { // the beginning is no setting: a record of its own tells it
      if (field.name != std::string_view{"waiting_list_began_at"}) add_value(text, field.name, value);
    },
    event.waiting_list);
  for (const auto& t : types) {
    const auto type = "ticket_type." + std::to_string(t.ordinal) + '.';
    add_value(text, type + "total", t.total);
    add_value(text, type + "on_sale", t.on_sale);
    add_value(text, type + "hidden", t.hidden);
    add_value(text, type + "sale_from", t.sale_from);
    add_value(text, type + "sale_until", t.sale_until);
  }
  return text;
}

std::string changed_lines(const std::string& before, const std::string& after) {
  const auto each_line = [](std::string_view text, auto take) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  std::set<std::string_view> known;
  each_line(before, [&](std::string_view line) { known.insert(line); });
  std::string changed;
  each_line(after, [&](std::string_view line) {
    if (known.contains(line)) return;
    if (!changed.empty()) changed += '\n';
    changed += line;
  });
  return changed;
}

} // namespace fq
