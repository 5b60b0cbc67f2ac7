// SPDX-License-Identifier: Apache-2.0
// A sale's decisions for its organizer: life cycle and settings. A raised limit takes effect at once; a
// lowered limit evicts no entry (I5).
#include "domain/model/invalid_field.hpp"
#include "domain/sale/event_settings.hpp"
#include "domain/sale/log_settings.hpp"
#include "domain/sale/questions.hpp"
#include "domain/sale/sale.hpp"
#include "domain/sale/waiting_list.hpp"

#include <algorithm>

namespace fq {
namespace {

bool is_currency(const std::string& text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// Rules beyond the limits of each setting.
refusal validate(const queue_settings& q) {
  if (q.policy == admission_policy::capacity && q.concurrency == 0)
    return invalid_field("queue.concurrency", "is required with policy capacity");
  if (q.policy == admission_policy::rate && q.rate_per_minute == 0)
    return invalid_field("queue.rate_per_minute", "is required with policy rate");
  if (q.claim_window > q.session_ttl)
    return invalid_field("queue.claim_window_seconds", "must be 1 to session_ttl_seconds");
  if (q.presence_timeout.count() != 0 && q.presence_timeout < seconds{20})
    return invalid_field("queue.presence_timeout_seconds",
                         "must be 20 to 86400, so that a slow poll is presence enough");
  return {};
}

refusal validate(const event_facts& f) {
  if (!is_set(f.starts_at) && (is_set(f.ends_at) || is_set(f.doors_at)))
    return invalid_field("starts_at", "is required with ends_at and doors_at");
  if (is_set(f.ends_at) && f.ends_at <= f.starts_at)
    return invalid_field("ends_at", "must be after starts_at");
  if (is_set(f.doors_at) && f.doors_at > f.starts_at)
    return invalid_field("doors_at", "must not be after starts_at");
  if ((f.latitude == no_coordinate) != (f.longitude == no_coordinate))
    return invalid_field("venue.latitude", "is required with longitude, and only with it");
  return {};
}

/// Names of settings as in the API of events, or of queues.
refusal validate_lobby(const event_row& e) {
  const auto& lobby = e.lobby;
  const bool is_queue = e.kind == event_kind::queue;
  const auto beacon = [is_queue](const char* event_name, const char* queue_name) {
    return is_queue ? queue_name : event_name;
  };
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (is_set(lobby.opens_at) && lobby.opens_at >= e.queue_opens_at)
    return invalid_field("lobby_opens_at",
                         is_queue ? "must be before opens_at" : "must be before queue_opens_at");
  if (lobby.draw == draw_kind::at_opening && !is_set(lobby.opens_at))
    return invalid_field("lobby_opens_at", "is required with a draw");
  if (lobby.beacon != beacon_kind::none && lobby.draw == draw_kind::none)
    return invalid_field(beacon("beacon.kind", "beacon"), "needs a draw");
  if (lobby.beacon == beacon_kind::drand) {
    if (lobby.chain_hash.size() != 64 || !std::ranges::all_of(lobby.chain_hash, is_hex))
      return invalid_field(beacon("beacon.chain_hash", "beacon_chain_hash"),
                           "must be 64 hexadecimal digits in lower case");
    if (lobby.round == 0)
      return invalid_field(beacon("beacon.round", "beacon_round"), "is required with drand");
  }
  if (lobby.beacon == beacon_kind::announced && lobby.announced.empty())
    return invalid_field(beacon("beacon.announced", "beacon_announced"), "must say what the value will be");
  return {};
}

refusal validate(const waiting_list_settings& w) {
  if ((w.quiet_from < 0) != (w.quiet_until < 0))
    return invalid_field("waiting_list.quiet_until_minute",
                         "is required with quiet_from_minute, and only with it");
  return {};
}

refusal validate_queue(const event_row& e, const std::vector<ticket_type_row>& types) {
  if (!types.empty()) return invalid_field("ticket_types", "a queue sells nothing");
  if (e.external_id.size() > 200) return invalid_field("external_id", "must have at most 200 bytes");
  if (e.queue.policy != admission_policy::capacity && e.queue.policy != admission_policy::operated)
    return invalid_field("mode", "must be capacity or operator");
  return validate(e.queue);
}

refusal validate(const ticket_type_row& t) {
  if (auto no = check_limits(t)) return no;
  if (is_set(t.sale_from) && is_set(t.sale_until) && t.sale_until <= t.sale_from)
    return invalid_field("ticket_types.sale_until", "must be after sale_from");
  return {};
}

bool has_price(const std::vector<ticket_type_row>& types) {
  return std::ranges::any_of(types, [](const ticket_type_row& t) { return t.price > 0; });
}

} // namespace

refusal validate(const event_row& e, const std::vector<ticket_type_row>& types) {
  if (auto no = check_limits(e)) return no;
  if (auto no = validate_lobby(e)) return no;
  if (e.kind == event_kind::queue) return validate_queue(e, types);
  if (!is_currency(e.currency)) return invalid_field("currency", "must be an ISO 4217 code in upper case");
  if (e.sale_end <= e.sale_start) return invalid_field("sale_end", "must be after sale_start");
  if (e.queue_opens_at > e.sale_start) return invalid_field("queue_opens_at", "must not be after sale_start");
  if (auto no = validate(e.facts)) return no;
  if (auto no = validate(e.queue)) return no;
  if (auto no = validate(e.waiting_list)) return no;
  if (e.queue.claim_window + e.claim_ttl > e.queue.session_ttl)
    return invalid_field("queue.session_ttl_seconds",
                         "must be at least claim_window_seconds + claim_ttl_seconds");
  if (types.empty() || types.size() > 50) return invalid_field("ticket_types", "must have 1 to 50 entries");
  std::uint32_t order_max = 0;
  for (const auto& t : types) {
    if (auto no = validate(t)) return no;
    order_max = std::max(order_max, t.max_per_order);
  }
  return check_questions(e.questions, order_max);
}

namespace {

std::optional<hand_action> hand_of(event_trigger trigger) {
  switch (trigger) {
    case event_trigger::pause: return hand_action::pause;
    case event_trigger::resume: return hand_action::resume;
    case event_trigger::end: return hand_action::end;
    case event_trigger::cancel: return hand_action::cancel;
    case event_trigger::activate: break; // the log begins with it
  }
  return {};
}

} // namespace

void sale::change_event(event_status from, timestamp now, decision& out) {
  event_.updated_at = now;
  out.content.emplace_back(std::in_place_type<event_changed>, event_changed{from, event_});
  out.reveals = true;
}

refusal sale::change_status(event_trigger trigger, timestamp now, decision& out) {
  const auto told = hand_of(trigger);
  if (told && next(event_rules, event_.status, trigger)) note(hand_record{*told, {}, 0, {}, {}}, out);
  return turn(trigger, now, out);
}

/// By a hand, or because the sale's time is over.
refusal sale::turn(event_trigger trigger, timestamp now, decision& out) {
  const auto from = event_.status;
  const auto to = next(event_rules, from, trigger);
  if (!to || (trigger == event_trigger::activate && is_over(now)))
    return {reason::invalid_transition, std::string{name_of(from)}};
  if (trigger == event_trigger::activate && has_price(stock_.types()) && !rules_.has_gateway)
    return reason::no_gateway;
  event_.status = *to;
  change_event(from, now, out);
  switch (trigger) {
    case event_trigger::pause: out.notices.push_back(socket_notice_kind::paused); break;
    case event_trigger::resume: out.notices.push_back(socket_notice_kind::resumed); break;
    case event_trigger::end: out.notices.push_back(socket_notice_kind::ended); break;
    case event_trigger::cancel:
      out.notices.push_back(socket_notice_kind::ended);
      find_holders_to_tell();
      break;
    case event_trigger::activate: break;
  }
  return {};
}

void sale::renew_ticket_keys(timestamp now, decision& out) {
  ++event_.event_tickets.key_number;
  change_event(event_.status, now, out);
}

namespace {

/// Whether an event in `status` accepts it. An ended sale's event takes place later. A picture can go from
/// any, because it counts against its organizer's limit.
bool may_change(event_status status, const event_patch& p) {
  event_patch no_picture;
  no_picture.set(&event_facts::picture, std::string{});
  const auto* picture = p.find(&event_facts::picture);
  if (p.given == no_picture.given && picture->empty() && p.ticket_types.empty()) return true;
  if (status == event_status::cancelled) return false;
  const bool is_of_event =
    p.given != 0 && p.is_within<event_facts, event_ticket_settings>() && p.ticket_types.empty();
  return status != event_status::ended || is_of_event;
}

} // namespace

refusal sale::patch(const event_patch& p, timestamp now, decision& out) {
  if (!may_change(event_.status, p)) return {reason::invalid_transition, std::string{name_of(event_.status)}};
  auto event = event_;
  apply_settings(p, event);
  auto types = stock_.types();
  const auto old_count = types.size();
  for (const auto& t : p.ticket_types) {
    auto row = std::ranges::find(types, t.values.id, &ticket_type_row::id);
    if (t.values.id.is_nil()) {
      types.push_back({.id = make_uuid(now, event_.aggregate, random_()), .name = {}});
      row = types.end() - 1;
      using type = ticket_type_row;
      if (!t.find(&type::name) || !t.find(&type::price) || !t.find(&type::total))
        return invalid_field("ticket_types", "a new one needs name, price and total");
    } else if (row == types.end() || row - types.begin() >= static_cast<std::ptrdiff_t>(old_count)) {
      return invalid_field("ticket_types.id", "no such ticket type");
    }
    const auto total = row->total;
    t.apply_to(*row);
    if (seating_ && seating_->governs(row->ordinal) && row->total != total
        && row - types.begin() < static_cast<std::ptrdiff_t>(old_count))
      return invalid_field("ticket_types.total", "follows the seat plan");
  }
  auto checked = types;
  if (seating_)
    for (auto& t : checked) t.total = std::max<std::int64_t>(t.total, 1); // all of its seats may be blocked
  if (auto no = validate(event, checked)) return no;
  const bool moves_lobby = event.lobby != event_.lobby || event.queue_opens_at != event_.queue_opens_at;
  if (lobby_ && moves_lobby) return reason::lobby_fixed;
  for (const auto& t : types)
    if (t.total < t.held + t.sold) {
      refusal no{reason::total_below_committed};
      no.first = t.held;
      no.second = t.sold;
      return no;
    }
  const bool gets_price = has_price(types) && !has_price(stock_.types());
  if (gets_price && event_.status != event_status::draft && !rules_.has_gateway) return reason::no_gateway;
  const bool watched_before = watches_presence(event_);
  if (auto changed = changed_lines(settings_text(event_, stock_.types()), settings_text(event, types));
      !changed.empty())
    note(hand_record{hand_action::settings, {}, 0, std::move(changed), {}}, out);
  if (event.message != event_.message) out.notices.push_back(socket_notice_kind::message);
  event_ = std::move(event);
  change_event(event_.status, now, out);
  const bool watched = watches_presence(event_);
  if (watched != watched_before) {
    out.notices.push_back(watched ? socket_notice_kind::presence_watched
                                  : socket_notice_kind::presence_unwatched);
    watch_presence(now);
  }
  for (std::size_t i = 0; i < types.size(); ++i)
    if (i >= old_count)
      stock_.add(types[i], out.content);
    else if (types[i] != stock_.types()[i])
      stock_.change_type(types[i], out.content);
  return {};
}

} // namespace fq
