// SPDX-License-Identifier: Apache-2.0
#include "net/wire/checkin_codec.hpp"

#include "crypto/digest.hpp"
#include "net/wire/json_out.hpp"
#include "net/wire/page.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace fq::net {
namespace {

namespace json = boost::json;

json::array lines_of(const std::string& text) {
  json::array lines;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find('\n', from), text.size());
    lines.push_back(json::value(text.substr(from, end - from)));
    from = end + 1;
  }
  return lines;
}

json::object object_of(const checkin_list_row& l, const std::vector<checkin_type_count>& types) {
  json::array covered;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (l.ticket_types != 0 && l.admits(static_cast<std::uint32_t>(i)))
      covered.push_back(json::value(to_string(types[i].ticket_type)));
  return {{"id", to_string(l.id)},
          {"name", l.name},
          {"ticket_type_ids", std::move(covered)},
          {"gates", lines_of(l.gates)},
          {"mode", name_of(l.mode)},
          {"created_at", rfc3339(l.created_at)},
          {"updated_at", rfc3339(l.updated_at)}};
}

json::object with_counts(json::object list, const scan_counts& c) {
  list["entries"] = c.entries;
  list["exits"] = c.exits;
  list["refused"] = c.refused;
  return list;
}

template <class Reply>
json::array lists_of(const Reply& reply) {
  json::array lists;
  for (std::size_t i = 0; i < reply.lists.size(); ++i)
    lists.push_back(with_counts(object_of(reply.lists[i], reply.types), reply.scans[i]));
  return lists;
}

json::object object_of(const checkin_device_row& d) {
  json::array lists;
  for (const auto& id : d.lists) lists.push_back(json::value(to_string(id)));
  return {{"id", to_string(d.id)},
          {"label", d.label},
          {"gate", text_or_null(d.gate)},
          {"list_ids", std::move(lists)},
          {"may_force", d.may_force},
          {"created_at", rfc3339(d.created_at)},
          {"revoked_at", time_or_null(d.revoked_at)}};
}

json::array types_of(const std::vector<checkin_type_count>& types) {
  json::array all;
  for (const auto& t : types)
    all.push_back(json::object{{"ticket_type_id", to_string(t.ticket_type)},
                               {"name", t.name},
                               {"valid", t.valid},
                               {"in", t.in},
                               {"out", t.out}});
  return all;
}

json::value object_or_null(const scan_place& p) {
  if (p.scan.id.is_nil()) return nullptr;
  return json::object{{"nonce", to_string(p.scan.id)},
                      {"type", name_of(p.scan.type)},
                      {"at", rfc3339(p.scan.at)},
                      {"forced", p.scan.is_forced},
                      {"reason", text_or_null(name_of(p.scan.objection))},
                      {"list_id", to_string(p.scan.list)},
                      {"list", p.list},
                      {"gate", text_or_null(p.gate)},
                      {"device", p.device}};
}

json::value object_or_null(const checkin_ticket& t) {
  if (t.ticket.id.is_nil()) return nullptr;
  json::object out{{"id", to_string(t.ticket.id)},       {"ticket_type", t.type},
                   {"status", name_of(t.ticket.status)}, {"name", text_or_null(t.name)},
                   {"order_id", id_or_null(t.order)},    {"refund_pending", t.refund_pending},
                   {"last", object_or_null(t.last)}};
  add_seat(out, t.seat, t.place);
  return out;
}

json::object object_of(const scan_view& v) {
  if (v.no != reason::none)
    return {{"nonce", to_string(v.scan.id)}, {"result", "not_recorded"}, {"reason", code_of(v.no)}};
  return {{"nonce", to_string(v.scan.id)},
          {"result", v.scan.is_admitted ? "admitted" : "refused"},
          {"reason", text_or_null(name_of(v.scan.objection))},
          {"type", name_of(v.scan.type)},
          {"forced", v.scan.is_forced},
          {"at", rfc3339(v.scan.at)},
          {"replayed", v.is_replayed},
          {"earlier", object_or_null(v.earlier)},
          {"event_ticket", object_or_null(v.ticket)}};
}

json::object object_of(const checkin_conflict& c) {
  json::array scans;
  for (const auto& place : c.scans) scans.push_back(object_or_null(place));
  return {{"event_ticket", object_or_null(c.ticket)}, {"scans", std::move(scans)}};
}

std::string base64url(const std::string& bytes) { return to_base64url(view_bytes(bytes)); }

/// A short form: a list may have 100,000 tickets.
json::array row_of(const gate_ticket& t) {
  json::array row{to_string(t.id),
                  t.ticket_type,
                  static_cast<int>(t.status),
                  t.generation,
                  t.refund_pending ? 1 : 0,
                  is_set(t.last_at) ? json::value(unix_ms(t.last_at)) : json::value(nullptr),
                  text_or_null(t.last_place)};
  if (!t.secret.empty() || !t.seat.empty()) row.push_back(text_or_null(base64url(t.secret)));
  if (!t.seat.empty()) row.push_back(json::value(t.seat));
  return row;
}

template <class Value, std::size_t Count>
std::optional<Value> named(std::string_view text, const std::array<Value, Count>& all) {
  const auto found = std::ranges::find_if(all, [&](Value v) { return name_of(v) == text; });
  return found == all.end() ? std::nullopt : std::optional{*found};
}

} // namespace

std::string checkin_text(const checkin_reply& reply) {
  json::array devices;
  for (const auto& device : reply.devices) devices.push_back(object_of(device));
  return json::serialize(json::object{{"lists", lists_of(reply)},
                                      {"devices", std::move(devices)},
                                      {"ticket_types", types_of(reply.types)},
                                      {"conflicts", reply.conflicts}});
}

std::string checkin_list_text(const checkin_reply& reply) {
  const auto found = std::ranges::find(reply.lists, reply.changed, &checkin_list_row::id);
  return found == reply.lists.end() ? "{}" : json::serialize(object_of(*found, reply.types));
}

json::object checkin_device_object(const checkin_reply& reply) {
  const auto found = std::ranges::find(reply.devices, reply.changed, &checkin_device_row::id);
  return found == reply.devices.end() ? json::object{} : object_of(*found);
}

std::string checkin_conflicts_text(const checkin_conflicts_reply& reply) {
  std::string out;
  append_page(
    out, "items", reply.conflicts, reply.more,
    [&](const checkin_conflict& c) { out += json::serialize(object_of(c)); },
    [](const checkin_conflict& c) { return to_string(c.ticket.ticket.id); });
  return out;
}

std::string gate_text(const gate_reply& reply) {
  return json::serialize(json::object{{"event_id", to_string(reply.event)},
                                      {"event_name", reply.event_name},
                                      {"device", reply.device},
                                      {"gate", text_or_null(reply.gate)},
                                      {"may_force", reply.may_force},
                                      {"lists", lists_of(reply)},
                                      {"ticket_types", types_of(reply.types)},
                                      {"server_time", rfc3339(reply.now)}});
}

std::string gate_state_text(const gate_state_reply& reply) {
  json::array tickets;
  for (const auto& ticket : reply.tickets) tickets.push_back(row_of(ticket));
  return json::serialize(json::object{{"version", version_text(reply.version)},
                                      {"reset", reply.is_reset},
                                      {"more", reply.more},
                                      {"mode", name_of(reply.list.mode)},
                                      {"ticket_type_bits", std::to_string(reply.list.ticket_types)},
                                      {"rotating_codes", reply.version.rotating_codes},
                                      {"public_key", base64url(reply.public_key)},
                                      {"tickets", std::move(tickets)},
                                      {"server_time", rfc3339(reply.now)}});
}

std::string gate_tickets_text(const gate_tickets_reply& reply) {
  json::array items;
  for (const auto& ticket : reply.tickets) items.push_back(object_or_null(ticket));
  return json::serialize(json::object{{"items", std::move(items)}, {"next_cursor", nullptr}});
}

std::string scan_text(const scans_reply& reply) { return json::serialize(object_of(reply.scans.front())); }

std::string scans_text(const scans_reply& reply) {
  json::array results;
  for (const auto& scan : reply.scans) results.push_back(object_of(scan));
  return json::serialize(json::object{{"results", std::move(results)}});
}

std::string version_text(const gate_version& v) {
  return std::to_string(v.key_number) + (v.rotating_codes ? "r." : "f.") + std::to_string(unix_ms(v.list_at))
         + '.' + std::to_string(unix_ms(v.at)) + '.' + to_string(v.ticket);
}

std::optional<gate_version> parse_version(std::string_view text) {
  gate_version v;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](auto& value, std::string_view behind) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    const bool is_followed = error == std::errc{} && at != end && behind.find(*at) != std::string_view::npos;
    if (is_followed) ++at;
    return is_followed;
  };
  std::int64_t list_at = 0, changed_at = 0;
  if (!number(v.key_number, "rf")) return std::nullopt;
  v.rotating_codes = at[-1] == 'r';
  if (at == end || *at++ != '.' || !number(list_at, ".") || !number(changed_at, ".")) return std::nullopt;
  if (list_at < 0 || changed_at < 0) return std::nullopt;
  const auto ticket = parse_uuid({at, static_cast<std::size_t>(end - at)});
  if (!ticket) return std::nullopt;
  v.list_at = from_unix_ms(list_at);
  v.at = from_unix_ms(changed_at);
  v.ticket = *ticket;
  return v;
}

std::optional<scan_objection> parse_scan_objection(std::string_view text) {
  using enum scan_objection;
  return named(text, std::array{unreadable, other_event, unknown_ticket, wrong_key, expired_code, transferred,
                                cancelled, refund_pending, wrong_list, no_exit, already_in, not_in});
}

std::optional<scan_type> parse_scan_type(std::string_view text) {
  return named(text, std::array{scan_type::entry, scan_type::exit});
}

std::optional<checkin_mode> parse_checkin_mode(std::string_view text) {
  return named(text, std::array{checkin_mode::entry, checkin_mode::entry_and_exit});
}

} // namespace fq::net
