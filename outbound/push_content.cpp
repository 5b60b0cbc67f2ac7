// SPDX-License-Identifier: Apache-2.0
#include "outbound/push_content.hpp"

#include "domain/delivery/outbox.hpp"
#include "outbound/json_api.hpp"
#include "outbound/limits.hpp"
#include "outbound/texts.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace fq {
namespace {

namespace json = boost::json;

/// Its words are the texts push.<topic>.title and .body.
struct push_row {
  std::string_view topic;
  std::string_view about; ///< payload member whose value groups pushes: a later push replaces the earlier
                          ///< one; empty: no replacement
  bool is_urgent;
};

// "about": an admission and its end share one line on the screen; so do a hold and its result.
constexpr auto pushes = std::to_array<push_row>({
  {topic::turn_granted, "entry_id", true},
  {topic::queue_expired, "entry_id", false},
  {topic::order_completed, "claim_id", false},
  {topic::order_failed, "claim_id", false},
  {topic::order_cancelled, "claim_id", false},
  {topic::payment_failed, "payment_id", true},
  {topic::payment_refunded, "payment_id", false},
  {topic::claim_expired, "claim_id", false},
  {topic::event_cancelled, "event_id", true},
  {"ticket.cancelled", "", false},
  {"ticket.transferred", "", false},
  {"quota.invitation", "event_id", false},
  {"loyalty.awarded", "", false},
});

const push_row* find_push(std::string_view topic) {
  const auto found = std::ranges::find(pushes, topic, &push_row::topic);
  return found == pushes.end() ? nullptr : &*found;
}

std::string push_text(language in, std::string_view about, std::string_view part) {
  return std::string{translated(in, std::string{"push."}.append(about).append(part))};
}

bool is_plain_value(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '-' || c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9');
  });
}

/// Hides customer_id: the screen need not name the phone's owner.
bool is_shown(std::string_view name) {
  return name.ends_with("_id") && name != "customer_id" && is_plain_value(name, push_name_bytes_max);
}

std::map<std::string, std::string> data_of(const notice& what, const json::object& payload) {
  std::map<std::string, std::string> data;
  for (const auto& [name, value] : payload) {
    if (data.size() >= push_ids_max) break;
    if (!value.is_string() || !is_shown(name)) continue;
    const std::string text{value.get_string()};
    if (is_plain_value(text, push_value_bytes_max)) data.emplace(std::string{name}, text);
  }
  for (const auto* name : {"claim_by", "session_expires_at"})
    if (const auto until = integer_at(payload, name)) data[name] = std::to_string(*until);
  if (text_at(payload, "what") == "session") data["what"] = "session";
  data["topic"] = what.topic;
  data["notice_id"] = to_string(what.id);
  return data;
}

std::string collapse_key_of(const notice& what, const json::object& payload, const push_row& row) {
  const auto about = text_at(payload, row.about);
  const bool names_it = is_plain_value(about, 36);
  auto key = names_it ? std::string{row.about} + "." + about : what.topic + "." + to_string(what.id);
  key.resize(std::min(key.size(), collapse_key_bytes_max));
  return key;
}

seconds ttl_of(const notice& what, timestamp now) {
  if (!is_set(what.expires_at)) return push_ttl_max;
  return std::clamp(std::chrono::floor<seconds>(what.expires_at - now), seconds{0}, push_ttl_max);
}

json::object json_of(const std::map<std::string, std::string>& data) {
  json::object out;
  for (const auto& [name, value] : data) out[name] = value;
  return out;
}

} // namespace

std::optional<push_content> push_content_of(const notice& what, timestamp now, language in) {
  const auto* row = find_push(what.topic);
  if (row == nullptr) return std::nullopt;
  const auto payload = parse_object(what.payload);
  const bool is_session = row->topic == topic::queue_expired && text_at(payload, "what") == "session";
  const auto about = is_session ? std::string_view{"session"} : row->topic;
  return push_content{push_text(in, about, ".title"),
                      push_text(in, about, ".body"),
                      data_of(what, payload),
                      collapse_key_of(what, payload, *row),
                      ttl_of(what, now),
                      row->is_urgent};
}

std::string fcm_body(const push_content& content, const std::string& token, timestamp now) {
  // Used by Google for Apple devices that registered with FCM.
  const auto expiry = content.ttl.count() == 0 ? "0" : std::to_string(unix_ms(now + content.ttl) / 1000);
  json::object aps;
  if (content.is_urgent) aps["sound"] = "default";
  json::object message{{"token", token},
                       {"notification", {{"title", content.title}, {"body", content.body}}},
                       {"data", json_of(content.data)},
                       {"android",
                        {{"priority", content.is_urgent ? "HIGH" : "NORMAL"},
                         {"ttl", std::to_string(content.ttl.count()) + "s"},
                         {"collapse_key", content.collapse_key}}},
                       {"apns",
                        {{"headers",
                          {{"apns-priority", content.is_urgent ? "10" : "5"},
                           {"apns-expiration", expiry},
                           {"apns-collapse-id", content.collapse_key}}},
                         {"payload", {{"aps", aps}}}}}};
  return json::serialize(json::object{{"message", std::move(message)}});
}

std::string apns_body(const push_content& content) {
  json::object aps{{"alert", {{"title", content.title}, {"body", content.body}}}};
  if (content.is_urgent) aps["sound"] = "default";
  return json::serialize(json::object{{"aps", std::move(aps)}, {"data", json_of(content.data)}});
}

} // namespace fq
