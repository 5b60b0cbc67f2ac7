// SPDX-License-Identifier: Apache-2.0
#include "domain/delivery/delivery.hpp"

#include "domain/delivery/outbox.hpp"

#include <algorithm>
#include <map>

namespace fq {
namespace {

constexpr milliseconds second{1'000}, minute{60'000}, hour{3'600'000};

constexpr std::array<std::string_view, 4> channel_names{"webhook", "fcm", "apns", "ntfy"};
constexpr std::array<std::string_view, 5> state_names{"pending", "delivered", "expired", "failed", "dropped"};

/// Topics that are pushed to devices.
constexpr std::array device_topics{topic::turn_granted,      topic::queue_expired,    topic::claim_expired,
                                   topic::order_completed,   topic::order_failed,     topic::order_cancelled,
                                   topic::payment_failed,    topic::payment_refunded, topic::event_cancelled,
                                   topic::ticket_cancelled,  topic::quota_invitation, topic::loyalty_awarded,
                                   topic::ticket_transferred};

// Apple: 32 bytes today, but variable length, up to 100.

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_of_topic(char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; }
bool is_visible(char c) { return c > ' ' && c <= '~'; }

/// Whether `text` has `least` to `most` characters that all satisfy `is`.
bool consists_of(std::string_view text, bool (*is)(char), std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most && std::ranges::all_of(text, is);
}

timestamp end_of(const delivery_row& row) {
  return is_set(row.expires_at) ? row.expires_at : row.created_at + rules_of(row.way).life;
}

void end(delivery_row& row, delivery_state state, timestamp now) {
  row.state = state;
  row.ended_at = now;
}

} // namespace

std::string_view to_string(channel c) { return channel_names.at(static_cast<std::size_t>(c) - 1); }

std::optional<channel> parse_platform(std::string_view text) {
  for (const auto c : all_channels)
    if (c != channel::webhook && to_string(c) == text) return c;
  return std::nullopt;
}

std::string_view to_string(delivery_state s) { return state_names.at(static_cast<std::size_t>(s)); }

std::optional<delivery_state> parse_delivery_state(std::string_view text) {
  const auto found = std::ranges::find(state_names, text);
  if (found == state_names.end()) return std::nullopt;
  return static_cast<delivery_state>(found - state_names.begin());
}

std::string_view wrong_with_token(channel way, std::string_view token) {
  switch (way) {
    case channel::apns:
      return consists_of(token, is_hexadecimal, apns_digits_min, apns_digits_max) && token.size() % 2 == 0
               ? ""
               : "Must be 64 to 200 hexadecimal digits, two for each byte.";
    case channel::ntfy:
      return consists_of(token, is_of_topic, 1, ntfy_topic_chars_max)
               ? ""
               : "Must be 1 to 64 letters, digits, hyphens and underscores.";
    case channel::fcm:
      return consists_of(token, is_visible, 1, device_token_bytes_max)
               ? ""
               : "Must be 1 to 1024 printable ASCII characters without spaces.";
    case channel::webhook: break; // not a device channel
  }
  return "";
}

bool goes_to(channel c, std::string_view topic) {
  if (topic == topic::mail_send) return false;
  return c == channel::webhook || std::ranges::find(device_topics, topic) != device_topics.end();
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool is_about_target(std::int32_t status, bool asks_for_pause) {
  const bool is_about_request =
    status >= 400 && status < 500 && status != 408 && status != 429; // RFC 9110 section 15.5
  return asks_for_pause || !is_about_request;
}

milliseconds pause_after(std::uint32_t strikes) {
  constexpr milliseconds first = 5 * second, most = minute;
  constexpr std::uint32_t doublings_max = 4; // 80 s: beyond `most`
  return std::min(most, first * (1 << std::min(strikes - 1, doublings_max)));
}

std::size_t share_of_tenant(std::size_t all, std::size_t tenants) {
  return std::max<std::size_t>(1, all * 3 / 4 / std::max<std::size_t>(1, tenants));
}

bool contact_limit::take(const webhook_endpoint_row& endpoint, timestamp now) {
  std::erase_if(told_, [now](const auto& t) { return t.second.when + 24 * hour <= now; });
  const auto of_tenant =
    std::ranges::count_if(told_, [&](const auto& t) { return t.second.tenant == endpoint.tenant; });
  if (told_.contains(endpoint.id) || static_cast<std::size_t>(of_tenant) >= endpoints_per_tenant_max)
    return false;
  told_[endpoint.id] = {endpoint.tenant, now};
  return true;
}

void mark_changed(webhook_endpoint_row& endpoint, timestamp now) {
  endpoint.replaces = endpoint.updated_at;
  endpoint.updated_at = std::max(now, endpoint.updated_at + milliseconds{1});
}

bool rotate_secret(webhook_endpoint_row& endpoint, bool ends_previous, timestamp now) {
  if (!ends_previous && now < endpoint.previous_until) return false;
  ++endpoint.secret_no;
  endpoint.previous_until = ends_previous ? never : now + secret_overlap;
  return true;
}

bool wants(const webhook_endpoint_row& endpoint, std::string_view topic) {
  if (!endpoint.is_enabled) return false;
  if (endpoint.topics.empty()) return topic != topic::user_updated;
  const auto taken = words_of(endpoint.topics);
  return std::ranges::find(taken, topic) != taken.end();
}

std::vector<delivery_row> deliveries_of(const told& what, std::span<const device_row> devices,
                                        std::span<const webhook_endpoint_row> endpoints) {
  std::vector<delivery_row> rows;
  const auto add = [&](const uuid& target, channel way, const uuid& holder, timestamp expires_at) {
    rows.push_back({.target = target,
                    .notice = what.id,
                    .way = way,
                    .tenant = what.tenant,
                    .holder = holder,
                    .topic = what.topic,
                    .payload = what.payload,
                    .created_at = what.created_at,
                    .expires_at = expires_at,
                    .state = delivery_state::pending,
                    .due_at = what.created_at,
                    .attempts = 0,
                    .status = 0,
                    .reason = {},
                    .ended_at = never});
  };
  std::map<std::pair<channel, std::string_view>, const device_row*>
    phones; // a phone registered for both an entry and its customer is notified once
  for (const auto& d : devices) {
    const bool is_told =
      !is_set(d.gone_at) && goes_to(d.way, what.topic)
      && (what.concerns_all || std::ranges::find(what.holders, d.holder) != what.holders.end());
    if (!is_told) continue;
    auto& newest = phones[{d.way, d.token}];
    if (newest == nullptr || newest->registered_at < d.registered_at) newest = &d;
  }
  for (const auto& [phone, d] : phones) add(d->id, d->way, d->holder, what.expires_at);
  for (const auto& e : endpoints) {
    const bool is_theirs = e.tenant == what.tenant && (e.organizer.is_nil() || e.organizer == what.organizer);
    if (is_theirs && goes_to(channel::webhook, what.topic) && wants(e, what.topic))
      add(e.id, channel::webhook, {}, never);
  }
  return rows;
}

const delivery_rules& rules_of(channel c) {
  static const delivery_rules webhook{
    {5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 6 * hour},
    72 * hour};
  static const delivery_rules push{
    {second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, minute}, 24 * hour};
  static const delivery_rules mirror{{second}, 10 * second};
  switch (c) {
    case channel::webhook: return webhook;
    case channel::fcm:
    case channel::apns: return push;
    case channel::ntfy: return mirror;
  }
  return push;
}

bool has_expired(const delivery_row& row, timestamp now) { return now >= end_of(row); }

void after_try(delivery_row& row, delivery_outcome outcome, std::optional<milliseconds> asked, timestamp now,
               std::uint64_t random) {
  ++row.attempts;
  switch (outcome) {
    case delivery_outcome::delivered: return end(row, delivery_state::delivered, now);
    case delivery_outcome::refused: return end(row, delivery_state::failed, now);
    case delivery_outcome::gone: return end(row, delivery_state::dropped, now);
    case delivery_outcome::again: break;
  }
  const auto& pauses = rules_of(row.way).pauses;
  const auto whole = pauses[std::min<std::size_t>(row.attempts, pauses.size()) - 1];
  const auto jitter =
    milliseconds{static_cast<std::int64_t>(random % static_cast<std::uint64_t>(whole.count() + 1))};
  const auto pause = row.way == channel::webhook ? whole / 2 + jitter / 2 : jitter;
  row.due_at = now + std::max(pause, asked.value_or(milliseconds{0}));
  if (row.due_at < end_of(row)) return;
  end(row, row.way == channel::webhook ? delivery_state::failed : delivery_state::expired, now);
}

} // namespace fq
