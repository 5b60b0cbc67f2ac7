// SPDX-License-Identifier: Apache-2.0
#include "net/wire/customer_codec.hpp"

#include "net/wire/json_out.hpp"
#include "net/wire/limits.hpp"
#include "net/wire/order_codec.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

namespace fq::net {
namespace {

namespace json = boost::json;

/// By record_kind.
constexpr std::array<std::string_view, 13> sections{
  "places", "claims", "payments", "priorities", "invitations", "event_tickets", "transfers",
  "scans",  "blocks", "devices",  "notices",    "mails",       "unsent_mails"};

template <class Status>
std::string_view status_of(const customer_record& r) {
  return name_of(static_cast<Status>(r.status));
}

json::object object_of_purchase(const customer_record& r) {
  const auto event = id_or_null(r.event);
  if (r.at.kind == record_kind::place)
    return {{"event_id", event},
            {"queue_number", r.at.number},
            {"status", status_of<entry_status>(r)},
            {"priority_class", r.count},
            {"joined_at", rfc3339(r.created_at)},
            {"admitted_at", time_or_null(r.changed_at)},
            {"ended_at", time_or_null(r.ended_at)}};
  if (r.at.kind == record_kind::claim)
    return {{"claim_id", to_string(r.at.id)},
            {"event_id", event},
            {"status", status_of<claim_status>(r)},
            {"amount", r.amount},
            {"tickets", r.count},
            {"created_at", rfc3339(r.created_at)},
            {"expires_at", time_or_null(r.changed_at)},
            {"ended_at", time_or_null(r.ended_at)}};
  return {{"payment_id", to_string(r.at.id)},
          {"event_id", event},
          {"status", status_of<payment_status>(r)},
          {"gateway", r.text},
          {"amount", r.amount},
          {"refunded_amount", r.count},
          {"created_at", rfc3339(r.created_at)},
          {"updated_at", time_or_null(r.changed_at)}};
}

json::object object_of(const customer_record& r) {
  const auto event = id_or_null(r.event);
  switch (r.at.kind) {
    case record_kind::place:
    case record_kind::claim:
    case record_kind::payment: return object_of_purchase(r);
    case record_kind::priority:
      return {{"event_id", event}, {"priority_class", r.count}, {"created_at", rfc3339(r.created_at)}};
    case record_kind::invitation:
      return {{"event_id", event},
              {"quantity", r.count},
              {"notified_at", time_or_null(r.created_at)},
              {"valid_until", time_or_null(r.ended_at)}};
    case record_kind::event_ticket:
      return {{"event_ticket_id", to_string(r.at.id)},
              {"event_id", event},
              {"ticket_type", r.text},
              {"status", status_of<event_ticket_status>(r)},
              {"created_at", rfc3339(r.created_at)},
              {"updated_at", time_or_null(r.changed_at)}};
    case record_kind::transfer:
      return {{"transfer_id", to_string(r.at.id)},
              {"event_id", event},
              {"side", r.text},
              {"status", status_of<transfer_status>(r)},
              {"created_at", rfc3339(r.created_at)},
              {"expires_at", time_or_null(r.changed_at)},
              {"ended_at", time_or_null(r.ended_at)}};
    case record_kind::scan:
      return {{"event_id", event},
              {"list", r.text},
              {"type", name_of(static_cast<scan_type>(r.status))},
              {"admitted", r.count > 0},
              {"at", rfc3339(r.created_at)}};
    case record_kind::block:
      return {{"by", r.at.id.is_nil() ? "operator" : "organizer"}, {"created_at", rfc3339(r.created_at)}};
    case record_kind::device:
      return {{"device_id", to_string(r.at.id)},
              {"platform", to_string(static_cast<channel>(r.status))},
              {"registered_at", rfc3339(r.created_at)},
              {"gone_at", time_or_null(r.ended_at)}};
    case record_kind::notice:
      return {{"topic", r.text},
              {"status", to_string(static_cast<delivery_state>(r.status))},
              {"devices", r.count},
              {"created_at", rfc3339(r.created_at)},
              {"ended_at", time_or_null(r.ended_at)}};
    case record_kind::mail:
      return {{"event_id", event},
              {"topic", r.text},
              {"created_at", rfc3339(r.created_at)},
              {"sent_at", time_or_null(r.ended_at)}};
    case record_kind::letter:
      return {{"event_id", event},
              {"status", wire_name(static_cast<dead_letter_status>(r.status))},
              {"created_at", rfc3339(r.created_at)}};
  }
  return {};
}

/// The number before the next dot, which it removes.
template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '.') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

} // namespace

std::string cursor_text(const export_cursor& cursor) {
  if (!cursor.records) return to_string(cursor.before);
  const auto& at = *cursor.records;
  return std::to_string(static_cast<unsigned>(at.kind)) + '.' + std::to_string(number_of(at.aggregate)) + '.'
         + std::to_string(at.number) + '.' + std::to_string(at.ordinal) + '.' + to_string(at.id);
}

std::optional<export_cursor> parse_export_cursor(std::string_view text) {
  if (text.find('.') == std::string_view::npos) {
    const auto before = parse_uuid(text);
    return before ? std::optional{export_cursor{*before, std::nullopt}} : std::nullopt;
  }
  std::uint8_t kind = 0;
  std::uint32_t aggregate = 0;
  record_position at;
  if (!take_number(text, kind) || kind >= sections.size() || !take_number(text, aggregate)
      || !take_number(text, at.number) || at.number >= std::uint64_t{1} << 63
      || !take_number(text, at.ordinal))
    return std::nullopt;
  const auto id = parse_uuid(text);
  if (!id) return std::nullopt;
  at.kind = static_cast<record_kind>(kind);
  at.aggregate = aggregate_id{aggregate};
  at.id = *id;
  return export_cursor{{}, at};
}

void customer_export::add(order_list_reply page) {
  next = page.more ? export_cursor{page.orders.back().order.id, std::nullopt}
                   : export_cursor{{}, record_position{}};
  orders = std::move(page.orders);
}

void customer_export::add(record_page page) {
  records.insert(records.end(), std::make_move_iterator(page.records.begin()),
                 std::make_move_iterator(page.records.end()));
  next = page.more ? std::optional{export_cursor{{}, page.next}} : std::nullopt;
}

std::string customer_text(customer_export page) {
  auto out = json::serialize(json::object{{"customer_id", to_string(page.who.customer)},
                                          {"email", page.who.email},
                                          {"language", tag_of(page.who.language)},
                                          {"created_at", rfc3339(page.who.created_at)}});
  out.back() = ',';
  out += "\"orders\":[";
  for (const auto& order : page.orders) {
    if (&order != &page.orders.front()) out += ',';
    out += exported_order_text(order);
    if (out.size() < page_bytes_max || &order == &page.orders.back()) continue;
    page.next = export_cursor{order.order.id, std::nullopt};
    page.records.clear();
    break;
  }
  out += ']';
  std::array<json::array, sections.size()> rows;
  for (const auto& r : page.records) rows.at(static_cast<std::size_t>(r.at.kind)).push_back(object_of(r));
  for (std::size_t i = 0; i < sections.size(); ++i)
    out.append(",\"").append(sections[i]).append("\":").append(json::serialize(rows[i]));
  out += ",\"next_cursor\":";
  out += json::serialize(page.next ? json::value(cursor_text(*page.next)) : json::value());
  return out += '}';
}

} // namespace fq::net
