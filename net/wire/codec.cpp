// SPDX-License-Identifier: Apache-2.0
// Writes views as JSON with hand-written appenders: fixed member names, numbers by to_chars, no
// intermediate document.
#include "net/wire/codec.hpp"

#include "net/wire/lobby_codec.hpp"
#include "net/wire/odds_codec.hpp"
#include "net/wire/page.hpp"
#include "net/wire/settings_codec.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

namespace fq::net {
namespace {

/// null for an empty text, which means "not given".
void append_text_or_null(std::string& out, std::string_view text) {
  if (text.empty())
    out += "null";
  else
    append_text(out, text);
}

void append_flag(std::string& out, bool value) { out += value ? "true" : "false"; }

/// 0 means "none" in the rows; null on the wire.
void append_unless_zero(std::string& out, std::uint64_t value) {
  if (value == 0)
    out += "null";
  else
    append_integer(out, value);
}

// -- entry (hot path)

/// Names that differ between the event API and the waiting-room API: of an entry's id, its queue's id and
/// its session token.
struct wire_names {
  std::string_view place, line, token;
  bool claims; ///< whether the admission has a claim deadline
};
constexpr wire_names event_words{"entry_id", "event_id", "admission_token", true};
constexpr wire_names queue_words{"ticket_id", "queue_id", "session_token", false};
constexpr const wire_names& wire_names_of(event_kind kind) {
  return kind == event_kind::sale ? event_words : queue_words;
}

void append_name(std::string& out, std::string_view name) {
  out += '"';
  out += name;
  out += "\":";
}

void append_eta(std::string& out, std::int64_t low_seconds, std::int64_t high_seconds) {
  if (low_seconds < 0 || high_seconds < 0) {
    out += "null";
    return;
  }
  out += "{\"low_seconds\":";
  append_integer(out, low_seconds);
  out += ",\"high_seconds\":";
  append_integer(out, high_seconds);
  out += '}';
}

void append_position(std::string& out, std::uint64_t position) {
  out += "\"position\":";
  append_unless_zero(out, position);
  out += ",\"ahead\":";
  if (position == 0)
    out += "null";
  else
    append_integer(out, position - 1);
}

/// Members of an ADMITTED entry. The token is computed here; it is not stored.
void append_admission(std::string& out, const wire_names& say, const entry_id& id, std::uint32_t admission_no,
                      std::uint32_t batch, timestamp admitted_at, timestamp session_expires_at,
                      timestamp claim_by, const session_keys& keys) {
  append_name(out, say.token);
  out += '"';
  out += make_session_token(keys, id, admission_no);
  out += "\",\"admission_batch\":";
  append_integer(out, batch);
  out += ",\"admitted_at\":";
  append_time(out, admitted_at);
  out += ",\"session_expires_at\":";
  append_time(out, session_expires_at);
  if (!say.claims) return;
  out += ",\"claim_by\":";
  append_time(out, claim_by);
}

/// The admission of an entry that has ended stays visible, without its token.
void append_past_admission(std::string& out, const wire_names& say, const entry_view& e) {
  append_name(out, say.token);
  out += "null,\"admission_batch\":";
  append_unless_zero(out, e.admission_batch);
  out += ",\"admitted_at\":";
  append_time(out, e.admitted_at);
  out += ",\"session_expires_at\":";
  append_time(out, e.session_expires_at);
  if (say.claims) out += ",\"claim_by\":null";
}

/// Members for every reader of the entry.
void begin_plain_place(std::string& out, const wire_names& say, const entry_view& e) {
  out += '{';
  append_name(out, say.place);
  append_id(out, e.id);
  out += ',';
  append_name(out, say.line);
  append_id(out, e.event);
  out += ",\"status\":\"";
  out += name_of(e.status);
  out += "\",\"queue_number\":";
  append_integer(out, value_of(e.number));
  out += ',';
  append_position(out, e.position);
  out += ",\"joined_at\":";
  append_time(out, e.joined_at);
  out += ",\"eta\":";
  append_eta(out, e.eta_low_seconds, e.eta_high_seconds);
  if (e.lobby.phase != lobby_phase::none) append_lobby(out, e);
  append_outlook(out, e.outlook);
}

/// All members of an entry, without the closing brace.
void begin_place(std::string& out, const wire_names& say, const entry_view& e, const session_keys& keys,
                 std::string_view ticket_token) {
  begin_plain_place(out, say, e);
  out += ",\"poll_after_ms\":";
  append_integer(out, e.poll_after_ms);
  out += ",\"message\":";
  append_text_or_null(out, e.message);
  if (!ticket_token.empty()) {
    out += ",\"ticket_token\":\"";
    out += ticket_token;
    out += '"';
  }
  out += ',';
  if (e.status == entry_status::admitted)
    append_admission(out, say, e.id, e.admission_no, e.admission_batch, e.admitted_at, e.session_expires_at,
                     e.claim_by, keys);
  else
    append_past_admission(out, say, e);
}

// -- event

std::int64_t available(const ticket_type_row& type) { return type.total - type.held - type.sold; }

void append_ticket_type(std::string& out, const ticket_type_row& type) {
  out += "{\"id\":";
  append_id(out, type.id);
  append_settings(out, type);
  out += ",\"available\":";
  append_integer(out, available(type));
  out += '}';
}

void append_stock(std::string& out, const event_view& view) {
  std::int64_t total = 0, free = 0;
  out += ",\"ticket_types\":[";
  for (const auto& type : view.ticket_types) {
    if (out.back() != '[') out += ',';
    append_ticket_type(out, type);
    total += type.total;
    free += available(type);
  }
  out += "],\"total_inventory\":";
  append_integer(out, total);
  out += ",\"available\":";
  append_integer(out, free);
  out += ",\"sold_out\":";
  append_flag(out, view.sold_out);
  if (view.has_seats) out += ",\"has_seats\":true";
}

} // namespace

// -- parts

std::optional<admission_policy> parse_policy(std::string_view text) {
  using enum admission_policy;
  for (const auto policy : {batch, capacity, rate, open, operated})
    if (name_of(policy) == text) return policy;
  return std::nullopt;
}

// -- views

void append_entry(std::string& out, const entry_view& e, const session_keys& keys,
                  std::string_view ticket_token) {
  out.reserve(out.size() + 640 + ticket_token.size());
  begin_place(out, event_words, e, keys, ticket_token);
  out += '}';
}

void append_ticket(std::string& out, const entry_view& e, const session_keys& keys, std::string_view pass,
                   std::string_view ticket_token) {
  out.reserve(out.size() + 640 + pass.size() + ticket_token.size());
  begin_place(out, queue_words, e, keys, ticket_token);
  out += ",\"admission_pass\":";
  append_text_or_null(out, pass);
  out += ",\"subject\":";
  append_text_or_null(out, e.subject_name);
  out += '}';
}

void append_place(std::string& out, const entry_view& e) {
  begin_plain_place(out, wire_names_of(e.kind), e);
  out += ",\"admitted_at\":";
  append_time(out, e.admitted_at);
  out += ",\"session_expires_at\":";
  append_time(out, e.session_expires_at);
  if (e.kind == event_kind::queue) {
    out += ",\"subject\":";
    append_text_or_null(out, e.subject_name);
  }
  out += '}';
}

void append_queue(std::string& out, const event_view& view, bool is_listed) {
  const auto& e = view.event;
  out += "{\"id\":";
  append_id(out, e.id);
  out += ",\"external_id\":";
  append_text_or_null(out, e.external_id);
  out += ",\"status\":\"";
  out += name_of(e.status);
  out += '"';
  append_settings(out, e, settings_api::queues);
  if (!is_listed) append_lobby(out, view);
  out += ",\"created_at\":";
  append_time(out, e.created_at);
  out += ",\"updated_at\":";
  append_time(out, e.updated_at);
  out += '}';
}

void append_lock(std::string& out, const lock_view& lock) {
  out += "{\"name\":";
  append_text(out, lock.row.name);
  out += ",\"ticket_id\":";
  append_id(out, lock.ticket);
  out += ",\"locked_at\":";
  append_time(out, lock.row.locked_at);
  out += ",\"locked_until\":";
  append_time(out, lock.until);
  out += '}';
}

void append_access(std::string& out, const entry_id& ticket, const uuid& queue, std::string_view subject,
                   timestamp expires_at) {
  out.reserve(out.size() + 224 + subject.size());
  out += "{\"active\":true,\"ticket_id\":";
  append_id(out, ticket);
  out += ",\"queue_id\":";
  append_id(out, queue);
  out += ",\"subject\":";
  append_text_or_null(out, subject);
  out += ",\"session_expires_at\":";
  append_time(out, expires_at);
  out += '}';
}

namespace {
void append_event_view(std::string& out, const event_view& view, bool is_listed) {
  const auto& e = view.event;
  out += "{\"id\":";
  append_id(out, e.id);
  out += ",\"status\":\"";
  out += name_of(e.status);
  out += "\",\"currency\":";
  append_text(out, e.currency);
  out += ",\"organizer_id\":";
  append_id(out, e.organizer);
  append_settings(out, e, settings_api::events, is_listed);
  append_stock(out, view);
  if (!is_listed) append_lobby(out, view);
  out += ",\"created_at\":";
  append_time(out, e.created_at);
  out += ",\"updated_at\":";
  append_time(out, e.updated_at);
  out += '}';
}

} // namespace

void append_event(std::string& out, const event_view& view) { append_event_view(out, view, false); }

void append_event_list(std::string& out, const std::vector<event_view>& events, bool more,
                       const cursor_behind& cursor) {
  append_page(
    out, "items", events, more, [&](const event_view& e) { append_event_view(out, e, true); }, cursor);
}

void append_queue_list(std::string& out, const std::vector<event_view>& queues, bool more,
                       const cursor_behind& cursor) {
  append_page(
    out, "queues", queues, more, [&](const event_view& e) { append_queue(out, e, true); }, cursor);
}

// -- frames

std::string state_frame(const entry_view& entry, event_status status, bool sold_out, timestamp server_time,
                        const session_keys& keys) {
  std::string out;
  out.reserve(768);
  const bool sells = entry.kind == event_kind::sale;
  out += R"({"type":"state","server_time":)";
  append_time(out, server_time);
  out += sells ? ",\"entry\":" : ",\"ticket\":";
  sells ? append_entry(out, entry, keys) : append_ticket(out, entry, keys);
  out += sells ? ",\"event_status\":\"" : ",\"queue_status\":\"";
  out += name_of(status);
  out += '"';
  if (sells) {
    out += ",\"sold_out\":";
    append_flag(out, sold_out);
  }
  out += '}';
  return out;
}

std::string position_frame(std::uint64_t position, double seconds_per_place_low,
                           double seconds_per_place_high, const outlook& odds) {
  const auto total = [position](double a_place) -> std::int64_t {
    return a_place < 0
             ? -1
             : static_cast<std::int64_t>(std::min(std::ceil(a_place * static_cast<double>(position)), 1e9));
  };
  std::string out;
  out.reserve(128);
  out += R"({"type":"position_changed",)";
  append_position(out, position);
  out += ",\"eta\":";
  append_eta(out, total(seconds_per_place_low), total(seconds_per_place_high));
  append_outlook(out, odds);
  out += '}';
  return out;
}

std::string admitted_frame(const entry_change& c, event_kind kind, const session_keys& keys) {
  const auto& say = wire_names_of(kind);
  std::string out;
  out.reserve(384);
  out += R"({"type":"admitted",)";
  append_name(out, say.place);
  append_id(out, c.id);
  out += ",\"queue_number\":";
  append_integer(out, value_of(c.number));
  out += ',';
  append_admission(out, say, c.id, c.admission_no, c.admission_batch, c.admitted_at, c.session_expires_at,
                   c.claim_by, keys);
  out += '}';
  return out;
}

std::string terminal_frame(entry_status status, event_kind kind, const entry_id& entry) {
  std::string out = "{\"type\":\"";
  for (const char c : name_of(status)) out += c == '_' ? '_' : static_cast<char>(c + ('a' - 'A'));
  out += "\",";
  append_name(out, wire_names_of(kind).place);
  append_id(out, entry);
  out += '}';
  return out;
}

std::string notice_frame(socket_notice_kind what, std::string_view message) {
  switch (what) {
    case socket_notice_kind::paused: return R"({"type":"paused"})";
    case socket_notice_kind::resumed: return R"({"type":"resumed"})";
    case socket_notice_kind::sold_out: return R"({"type":"sold_out","sold_out":true})";
    case socket_notice_kind::back_on_sale: return R"({"type":"sold_out","sold_out":false})";
    case socket_notice_kind::ended: return R"({"type":"ended"})";
    case socket_notice_kind::waiting_list: return R"({"type":"waiting_list","waiting_list":true})";
    case socket_notice_kind::no_waiting_list: return R"({"type":"waiting_list","waiting_list":false})";
    case socket_notice_kind::presence_watched:
    case socket_notice_kind::presence_unwatched: return {}; // for hubs only
    case socket_notice_kind::message: break;
  }
  std::string out = R"({"type":"message","message":)";
  append_text_or_null(out, message);
  out += '}';
  return out;
}

std::string draining_frame(milliseconds reconnect_after) {
  std::string out = R"({"type":"draining","reconnect_after_ms":)";
  append_integer(out, reconnect_after.count());
  out += '}';
  return out;
}

} // namespace fq::net
