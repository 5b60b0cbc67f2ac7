// SPDX-License-Identifier: Apache-2.0
#include "net/wire/order_codec.hpp"

#include "crypto/limits.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_out.hpp"
#include "net/wire/page.hpp"
#include "net/wire/question_codec.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace fq::net {
namespace {

namespace json = boost::json;

json::value limit_or_null(std::uint32_t limit) {
  return limit == 0 ? json::value(nullptr) : json::value(limit);
}

json::object with_prices(json::object out, money subtotal, money discount, money donations,
                         money platform_fee, money processing_fee, money total, const std::string& currency) {
  out["subtotal"] = subtotal;
  out["discount"] = discount;
  out["donations"] = donations;
  out["platform_fee"] = platform_fee;
  out["processing_fee"] = processing_fee;
  out["total"] = total;
  out["currency"] = currency;
  return out;
}

json::object summary_of(const order_row& o, const event_id& event, const std::string& event_name,
                        const std::string& currency) {
  json::object out{{"order_id", to_string(o.id)},
                   {"event_id", to_string(event)},
                   {"event_name", event_name},
                   {"claim_id", to_string(o.claim)},
                   {"status", wire_name(o.status)},
                   {"failure", text_or_null(o.failure)},
                   {"promo_code", text_or_null(o.promo_code)}};
  out = with_prices(std::move(out), o.subtotal, o.discount, o.donations, o.platform_fee, o.processing_fee,
                    o.total, currency);
  out["created_at"] = rfc3339(o.created_at);
  out["updated_at"] = rfc3339(o.updated_at);
  return out;
}

json::object object_of(const contact& c) {
  return {{"first_name", c.first_name},
          {"last_name", c.last_name},
          {"email", c.email},
          {"phone", text_or_null(c.phone)}};
}

/// What an order shows of its event tickets; the holder may be another customer.
json::object object_of(const event_ticket_view& v) {
  json::object out{{"id", to_string(v.ticket.id)},
                   {"ticket_type_id", to_string(v.ticket_type)},
                   {"status", name_of(v.ticket.status)},
                   {"refund_pending", v.refund_pending},
                   {"attendee", v.attendee == 0 ? json::value(nullptr) : json::value(v.attendee)}};
  add_seat(out, v.seat, v.place);
  return out;
}

json::object passed_object_of(const transfer_row& t) {
  return {{"transfer_id", to_string(t.id)},       {"giver_id", to_string(t.giver)},
          {"receiver_id", to_string(t.receiver)}, {"status", name_of(t.status)},
          {"created_at", rfc3339(t.created_at)},  {"expires_at", rfc3339(t.expires_at)},
          {"ended_at", time_or_null(t.ended_at)}};
}

json::object whole_object_of(const event_ticket_view& v) {
  auto out = object_of(v);
  out["event_id"] = to_string(v.event);
  out["order_id"] = id_or_null(v.order);
  out["claim_id"] = id_or_null(v.ticket.claim);
  out["holder_id"] = to_string(v.ticket.holder);
  out["created_at"] = rfc3339(v.ticket.created_at);
  out["updated_at"] = rfc3339(v.ticket.updated_at);
  return out;
}

/// Without the claim once it has changed hands: it may be another customer's.
json::object object_of(const event_ticket_listing& l) {
  const bool is_first = l.ticket.generation == 1;
  return {{"id", to_string(l.ticket.id)},
          {"event_id", to_string(l.event)},
          {"event_name", l.event_name},
          {"event_status", name_of(l.event_state)},
          {"ticket_type_id", to_string(l.ticket_type)},
          {"ticket_type_name", l.ticket_type_name},
          {"claim_id", id_or_null(is_first ? l.ticket.claim : claim_id{})},
          {"status", name_of(l.ticket.status)},
          {"created_at", rfc3339(l.ticket.created_at)},
          {"updated_at", rfc3339(l.ticket.updated_at)}};
}

json::object object_of(const order_view& v) {
  const auto& o = v.order;
  auto out = summary_of(o, v.claim.event, v.event_name, v.claim.currency);
  out["contact"] = object_of(o.contact);
  out["answers"] = answers_json(o.contact.answers);
  json::array items;
  for (std::size_t i = 0; i < v.claim.claim.items.size(); ++i) {
    const auto& item = v.claim.claim.items[i];
    items.push_back(json::object{{"ticket_type_id", to_string(v.claim.item_ids[i])},
                                 {"quantity", item.quantity},
                                 {"unit_price", item.unit_price},
                                 {"unit_discount", item.unit_discount},
                                 {"donation", item.donation},
                                 {"refunded_quantity", item.refunded}});
  }
  out["items"] = std::move(items);
  if (!v.claim.seats.empty()) {
    out["seats"] = json::array(v.claim.seats.begin(), v.claim.seats.end());
    json::array places;
    for (const auto& place : v.claim.places) places.push_back(place_object(place));
    out["seat_places"] = std::move(places);
  }
  out["refunded_amount"] = v.refunded;
  out["payment_id"] = id_or_null(v.payment);
  out["payment_status"] = v.payment.is_nil() ? json::value(nullptr) : json::value(name_of(v.payment_state));
  out["payment_url"] = text_or_null(v.payment_url);
  out["expires_at"] = is_open(o.status) ? time_or_null(v.claim.claim.expires_at) : json::value(nullptr);
  out["can_retry"] = v.can_retry;
  return out;
}

uuid id_of(const order_view& v) { return v.order.id; }
uuid id_of(const order_listing& l) { return l.order.id; }
uuid id_of(const dead_letter_listing& l) { return l.letter.id; }
uuid id_of(const event_ticket_view& v) { return v.ticket.id; }
uuid id_of(const event_ticket_listing& l) { return l.ticket.id; }

/// `next`: as in append_page.
template <class Row, class Next, class ToObject>
std::string page_text(const std::vector<Row>& rows, Next next, ToObject to_object) {
  std::string out;
  append_page(
    out, "items", rows, std::move(next), [&](const Row& row) { out += json::serialize(to_object(row)); },
    [](const Row& row) { return to_string(id_of(row)); });
  return out;
}

json::object object_of(const promo_code_row& p, const std::vector<ticket_type_id>& types) {
  json::object discount{{"type", p.reduction.kind == discount_kind::none      ? "none"
                                 : p.reduction.kind == discount_kind::percent ? "percent"
                                                                              : "amount"}};
  if (p.reduction.kind == discount_kind::percent)
    discount["percent"] = static_cast<double>(p.reduction.value) / 100.0;
  if (p.reduction.kind == discount_kind::amount) discount["amount"] = p.reduction.value;
  json::array covered;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (p.reduction.ticket_types != 0 && p.reduction.covers(static_cast<std::uint32_t>(i)))
      covered.push_back(json::value(to_string(types[i])));
  return {{"id", to_string(p.id)},
          {"code", p.code},
          {"discount", std::move(discount)},
          {"ticket_type_ids", std::move(covered)},
          {"valid_from", time_or_null(p.valid_from)},
          {"valid_until", time_or_null(p.valid_until)},
          {"uses_max", limit_or_null(p.uses_max)},
          {"uses_per_customer", limit_or_null(p.uses_per_customer)},
          {"uses", p.uses},
          {"is_active", p.is_active},
          {"created_at", rfc3339(p.created_at)},
          {"updated_at", rfc3339(p.updated_at)}};
}

std::string_view word_of(dead_letter_kind kind) {
  switch (kind) {
    case dead_letter_kind::refund_refused: return "refund_refused";
    case dead_letter_kind::payment_quarantined: return "payment_quarantined";
    case dead_letter_kind::undelivered: return "undelivered";
    case dead_letter_kind::payment_unknown: return "payment_unknown";
  }
  return "";
}

/// Shows the topic of an undelivered domain event, not its payload, which may contain personal data.
json::object object_of(const dead_letter_listing& l) {
  const auto& d = l.letter;
  const bool has_topic = d.kind == dead_letter_kind::undelivered;
  const auto topic = std::string_view{d.payload}.substr(0, has_topic ? d.payload.find('\n') : 0);
  return {{"id", to_string(d.id)},
          {"event_id", to_string(l.event)},
          {"kind", word_of(d.kind)},
          {"subject_id", to_string(d.subject)},
          {"topic", text_or_null(topic)},
          {"detail", d.detail},
          {"status", wire_name(d.status)},
          {"created_at", rfc3339(d.created_at)},
          {"updated_at", rfc3339(d.updated_at)}};
}

} // namespace

std::string wire_name(order_status status) {
  std::string name{fq::name_of(status)};
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

std::uint32_t poll_after(const order_row& order, timestamp now) {
  const auto age = std::max<std::int64_t>(0, (now - order.created_at).count());
  return static_cast<std::uint32_t>(std::min<std::int64_t>(2'000, 500 + age / 5));
}

std::string_view message_of(const order_view& v) {
  switch (v.order.status) {
    case order_status::pending: return "Your order is being processed.";
    case order_status::awaiting_payment:
      if (!v.payment_url.empty()) return "Your tickets are reserved. Please pay now.";
      return v.can_retry
               ? "The payment did not go through. Your tickets are still reserved: you may try again."
               : "Your payment is being checked.";
    case order_status::success: return "Thank you. The tickets are yours.";
    case order_status::failed:
      if (v.order.failure == "expired") return "It was not paid in time. The tickets went back on sale.";
      if (v.order.failure == "event_cancelled")
        return "The event was cancelled. Money that was paid goes back.";
      if (v.order.failure == "gateway_unavailable")
        return "The payment service could not be reached. Nothing was charged.";
      return "The payment service did not accept the order. Nothing was charged.";
    case order_status::cancelled: return "The order was cancelled. Money that was paid goes back.";
    case order_status::partially_refunded: return "A part of the order was refunded.";
    case order_status::refunded: return "The order was refunded.";
  }
  return "";
}

std::string quote_text(const quote_view& q) {
  json::object out{{"event_id", to_string(q.event)}, {"promo_code", text_or_null(q.promo_code)}};
  json::array items;
  for (std::size_t i = 0; i < q.price.items.size(); ++i) {
    const auto& item = q.price.items[i];
    items.push_back(json::object{{"ticket_type_id", to_string(q.item_ids[i])},
                                 {"quantity", item.quantity},
                                 {"unit_price", item.unit_price},
                                 {"unit_discount", item.unit_discount},
                                 {"donation", item.donation}});
  }
  out["items"] = std::move(items);
  const auto& p = q.price;
  return json::serialize(with_prices(std::move(out), p.subtotal, p.discount, p.donations, p.platform_fee,
                                     p.processing_fee, p.total, q.currency));
}

std::string order_text(const order_view& order, bool is_for_organizer) {
  auto out = object_of(order);
  json::array tickets;
  auto offer = order.transfers.begin();
  for (const auto& ticket : order.event_tickets) {
    auto shown = object_of(ticket);
    json::array transfers;
    for (; offer != order.transfers.end() && offer->ticket == ticket.ticket.id; ++offer)
      transfers.push_back(passed_object_of(*offer));
    if (is_for_organizer) shown["transfers"] = std::move(transfers);
    tickets.push_back(std::move(shown));
  }
  out["event_tickets"] = std::move(tickets);
  return json::serialize(out);
}

std::string order_status_text(const order_view& v, timestamp now, const std::string& payments_url) {
  const auto& o = v.order;
  json::object out{
    {"order_id", to_string(o.id)},
    {"event_id", to_string(v.claim.event)},
    {"status", wire_name(o.status)},
    {"message", message_of(v)},
    {"payment_url", text_or_null(v.payment_url)},
    {"payments_url", is_open(o.status) ? json::value(payments_url) : json::value(nullptr)},
    {"expires_at", is_open(o.status) ? time_or_null(v.claim.claim.expires_at) : json::value(nullptr)},
    {"failure", text_or_null(o.failure)},
    {"can_retry", v.can_retry}};
  out["redirect_url"] =
    text_or_null(o.status == order_status::success                                         ? o.success_url
                 : o.status == order_status::failed || o.status == order_status::cancelled ? o.cancel_url
                                                                                           : std::string{});
  if (o.status == order_status::pending) {
    const auto left = v.typical_page_time - (now - o.created_at);
    out["estimated_wait_seconds"] = std::max<std::int64_t>(1, (left.count() + 999) / 1'000);
  } else {
    out["estimated_wait_seconds"] = nullptr;
  }
  out["poll_after_ms"] = poll_after(o, now);
  return json::serialize(out);
}

std::string accepted_text(const order_view& v, timestamp now, const std::string& status_url) {
  return json::serialize(json::object{{"order_id", to_string(v.order.id)},
                                      {"status", "processing"},
                                      {"status_url", status_url},
                                      {"message", message_of(v)},
                                      {"poll_after_ms", poll_after(v.order, now)}});
}

std::string event_orders_text(const std::vector<order_view>& orders, bool more) {
  return page_text(orders, more, [](const order_view& v) { return object_of(v); });
}

std::string found_orders_text(const std::vector<order_view>& orders, const uuid& behind) {
  return page_text(orders, behind.is_nil() ? std::string{} : to_string(behind),
                   [](const order_view& v) { return object_of(v); });
}

std::string own_orders_text(const std::vector<order_listing>& orders, bool more) {
  return page_text(orders, more, [](const order_listing& l) {
    return summary_of(l.order, l.event, l.event_name, l.currency);
  });
}

std::string event_ticket_text(const event_ticket_view& ticket) {
  return json::serialize(whole_object_of(ticket));
}

std::string event_ticket_text(const event_ticket_view& v, const event_ticket_keys& keys, bool is_rotating) {
  auto out = whole_object_of(v);
  const auto& t = v.ticket;
  out["code"] = nullptr;
  out["rotating_code"] = nullptr;
  if (!is_valid(t.status)) return json::serialize(out);
  if (is_rotating)
    out["rotating_code"] = json::object{{"secret", to_base64url(keys.secret_of(t.id, t.generation).bytes())},
                                        {"generation", t.generation},
                                        {"step_seconds", event_ticket_code_step.count()}};
  else
    out["code"] = keys.fixed_code(t.id, t.generation);
  return json::serialize(out);
}

std::string transfer_text(const transfer_row& t) {
  return json::serialize(json::object{{"transfer_id", to_string(t.id)},
                                      {"event_ticket_id", to_string(t.ticket)},
                                      {"status", name_of(t.status)},
                                      {"created_at", rfc3339(t.created_at)},
                                      {"expires_at", rfc3339(t.expires_at)},
                                      {"ended_at", time_or_null(t.ended_at)}});
}

std::string transfers_text(const transfers_reply& page, const customer_id& viewer, timestamp now) {
  json::array items;
  for (const auto& l : page.transfers) {
    const auto& t = l.transfer;
    if (t.expires_at <= now) continue;
    const bool is_given = t.giver == viewer;
    items.push_back(json::object{{"transfer_id", to_string(t.id)},
                                 {"event_ticket_id", is_given ? json::value(to_string(t.ticket)) : nullptr},
                                 {"event_id", to_string(l.event)},
                                 {"event_name", l.event_name},
                                 {"ticket_type_name", l.ticket_type_name},
                                 {"side", is_given ? "given" : "received"},
                                 {"email", is_given ? t.receiver_email : t.giver_email},
                                 {"created_at", rfc3339(t.created_at)},
                                 {"expires_at", rfc3339(t.expires_at)}});
  }
  return json::serialize(json::object{{"items", std::move(items)}});
}

std::string event_tickets_text(const event_tickets_reply& page) {
  return page_text(page.tickets, page.next.is_nil() ? std::string{} : to_string(page.next), whole_object_of);
}

std::string held_tickets_text(const held_tickets_reply& page) {
  return page_text(page.tickets, page.more, [&](const event_ticket_listing& l) {
    auto out = object_of(l);
    const auto seat = std::ranges::find(page.seats, l.ticket.id, &ticket_seat::ticket);
    if (seat != page.seats.end()) add_seat(out, seat->name, seat->place);
    return out;
  });
}

std::optional<event_ticket_status> parse_event_ticket_status(std::string_view text) {
  for (auto s = event_ticket_status{}; !name_of(s).empty();
       s = static_cast<event_ticket_status>(static_cast<std::uint8_t>(s) + 1))
    if (name_of(s) == text) return s;
  return std::nullopt;
}

std::string_view wire_name(dead_letter_status status) {
  switch (status) {
    case dead_letter_status::open: return "open";
    case dead_letter_status::retried: return "retried";
    case dead_letter_status::dismissed: return "dismissed";
  }
  return "";
}

std::string exported_order_text(const order_listing& l) {
  auto order = summary_of(l.order, l.event, l.event_name, l.currency);
  order["contact"] = object_of(l.order.contact);
  order["answers"] = answers_json(l.order.contact.answers);
  order["success_url"] = text_or_null(l.order.success_url);
  order["cancel_url"] = text_or_null(l.order.cancel_url);
  return json::serialize(order);
}

std::string promo_code_text(const promo_code_row& code, const std::vector<ticket_type_id>& types) {
  return json::serialize(object_of(code, types));
}

std::string promo_codes_text(const promo_codes_reply& reply) {
  json::array items;
  for (const auto& code : reply.codes) items.push_back(object_of(code, reply.ticket_types));
  return json::serialize(json::object{{"items", std::move(items)}, {"next_cursor", nullptr}});
}

std::string dead_letters_text(const std::vector<dead_letter_listing>& letters, bool more) {
  return page_text(letters, more, [](const dead_letter_listing& l) { return object_of(l); });
}

std::string order_frame(const order_change& c) {
  return json::serialize(
    json::object{{"type", "order"},
                 {"order_id", to_string(c.order)},
                 {"status", wire_name(c.status)},
                 {"payment_url", text_or_null(c.payment_url)},
                 {"failure", text_or_null(c.failure)},
                 {"expires_at", is_open(c.status) ? time_or_null(c.expires_at) : json::value(nullptr)}});
}

} // namespace fq::net
