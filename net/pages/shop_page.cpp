// SPDX-License-Identifier: Apache-2.0
#include "net/pages/shop_page.hpp"

#include "domain/money/money_text.hpp"
#include "domain/sale/inventory.hpp"
#include "net/pages/event_facts.hpp"
#include "net/pages/seat_text.hpp"
#include "net/pages/shop_form.hpp"
#include "net/pages/wait_page.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/order_codec.hpp"

#include <algorithm>

namespace fq::net {
namespace {

void set_sum(page_data& data, const char* name, const char* hidden, money amount,
             const std::string& currency) {
  data.set(name, money_text(amount, currency));
  data.show(hidden, amount == 0);
}

/// The values of _sums.html from a price_quote or an order_row.
void set_sums(page_data& data, const auto& of, const std::string& currency) {
  set_sum(data, "SUBTOTAL", "NO_SUBTOTAL", of.subtotal + of.donations, currency);
  set_sum(data, "DISCOUNT", "NO_DISCOUNT", -of.discount, currency);
  set_sum(data, "FEES", "NO_FEES", of.platform_fee + of.processing_fee, currency);
  data.set("TOTAL", money_text(of.total, currency));
}

// -- events on sale

/// Of one page of the list: the next event first; those without a start last.
std::vector<const event_view*> by_start(const std::vector<event_view>& events) {
  std::vector<const event_view*> shown;
  for (const auto& e : events)
    if (e.event.status == event_status::active || e.event.status == event_status::paused) shown.push_back(&e);
  const auto start_of = [](const event_view* e) {
    return is_set(e->event.facts.starts_at) ? e->event.facts.starts_at : timestamp::max();
  };
  std::ranges::stable_sort(shown, {}, start_of);
  return shown;
}

/// "Free", "12.00 EUR" or "From 12.00 EUR"; empty if nothing is on sale.
std::string prices_text(language in, const event_view& e, timestamp now) {
  std::vector<money> prices;
  for (const auto& type : e.ticket_types)
    if (inventory::is_open(type, now) && (e.sold_out || inventory::has_unsold(type)))
      prices.push_back(type.price);
  if (prices.empty()) return {};
  const auto [least, most] = std::ranges::minmax(prices);
  const auto shown = price_text(in, least, e.event.currency);
  return least == most ? shown : text(in, "from_price", {{"price", shown}});
}

void add_sale(page_data& data, const shopper& who, const event_view& e) {
  auto sale = data.add("SALE");
  sale.set("NAME", e.event.name);
  sale.set("EVENT_ID", to_string(e.event.id));
  set_facts(sale, who.in, e.event);
  sale.set_optional("PRICES", prices_text(who.in, e, who.now));
  if (const auto lobby = e.event.lobby.opens_at; is_set(lobby) && lobby > who.now) {
    sale.show("LOBBY_COMES");
    return sale.set_time(lobby);
  }
  if (is_set(e.event.queue_opens_at) && e.event.queue_opens_at > who.now) {
    sale.show("LOBBY_IS_OPEN", is_set(e.event.lobby.opens_at));
    sale.show("NOT_OPEN");
    return sale.set_time(e.event.queue_opens_at);
  }
  if (is_set(e.event.sale_start) && e.event.sale_start > who.now) {
    sale.show("NOT_STARTED");
    return sale.set_time(e.event.sale_start);
  }
  const bool is_paused = e.event.status == event_status::paused;
  sale.set("STATE_TEXT", text(who.in, e.sold_out || is_set(e.event.waiting_list.began_at) ? "none_left"
                                      : is_paused                                         ? "state_paused"
                                                                                          : "state_on_sale"));
}

void begin_state(std::string& out, const shopper& who) {
  out = "{\"base\":";
  append_text(out, who.base);
  out += ",\"token\":";
  append_text(out, who.token);
  out += ",\"now\":";
  append_time(out, who.now);
}

// -- ticket choice

void add_quantities(page_data& data, const ticket_type_row& type, const choice_view& choice) {
  const auto field = quantity_field(type.id);
  const auto chosen = choice.sent.find(field);
  const auto most = std::min<std::int64_t>(type.max_per_order, units_left(type));
  data.show("CAN_CHOOSE");
  data.set("FIELD", field);
  if (choice.event.has_seats) {
    data.set_optional("SEAT_FIELD", seats_field(type.id));
    // A page without its map could not take a seat out that is gone.
    const bool is_gone = choice.problem == "seat_taken";
    data.set("SEATS", is_gone ? std::string_view{} : choice.sent.find(seats_field(type.id)));
  }
  for (std::int64_t n = 0; n <= most; ++n) {
    const auto number = std::to_string(n);
    auto option = data.add("OPTION");
    option.set("NUMBER", number);
    // Preselect 1 if there is one ticket type and nothing was sent yet.
    option.show("CHOSEN", chosen.empty()
                            ? n == 1 && choice.event.ticket_types.size() == 1 && choice.sent.fields().empty()
                            : chosen == number);
  }
}

void add_ticket_type(page_data& data, const shopper& who, const ticket_type_row& type,
                     const choice_view& choice) {
  const auto left = units_left(type);
  auto ticket = data.add("TICKET");
  ticket.set("NAME", type.name);
  ticket.set("PRICE", price_text(who.in, type.price, choice.event.event.currency));
  ticket.set_optional("TYPE_ABOUT", type.description);
  const bool is_open = inventory::is_open(type, who.now);
  ticket.set("LEFT", !is_open    ? std::string{text(who.in, "not_on_sale")}
                     : left == 0 ? std::string{text(who.in, "none_left")}
                                 : counted(who.in, "left", static_cast<std::uint64_t>(left)));
  if (left > 0 && is_open) add_quantities(ticket, type, choice);
  if (!type.on_sale || type.sale_from <= who.now) return;
  ticket.show("OPENS_LATER");
  ticket.set_time(type.sale_from);
}

void set_contact(page_data& data, const shopper& who, const choice_view& choice) {
  struct field {
    const char *name, *value, *missing;
  };
  const bool is_checked = !choice.sent.find("action").empty() && choice.problem == "field_missing";
  for (const auto& f :
       {field{"first_name", "FIRST_NAME", "NO_FIRST_NAME"}, field{"last_name", "LAST_NAME", "NO_LAST_NAME"},
        field{"email", "EMAIL", "NO_EMAIL"}}) {
    const auto value = choice.sent.find(f.name);
    data.set_optional(f.value, value);
    data.show(f.missing, is_checked && value.empty());
  }
  data.set("EMAIL_NOTE", text(who.in, who.is_guest ? "email_note_guest" : "email_note"));
  if (who.is_guest) data.show("ASKS_EMAIL_AGAIN");
  data.set_optional("EMAIL_AGAIN", choice.sent.find("email_again"));
  data.set_optional("PROMO_CODE", choice.sent.find("promo_code"));
  data.set_optional("PHONE", choice.sent.find("phone"));
  data.show("TAKES_DONATIONS", choice.takes_donations);
  data.set("CURRENCY", choice.event.event.currency);
  data.set_optional("DONATION", choice.sent.find("donation"));
}

void append_seat_types(std::string& out, const shopper& who, const event_view& event) {
  out += ",\"types\":[";
  for (const auto& type : event.ticket_types) {
    out += out.back() == '[' ? "{\"id\":" : ",{\"id\":";
    append_id(out, type.id);
    out += ",\"name\":";
    append_text(out, type.name);
    out += ",\"price\":";
    append_text(out, price_text(who.in, type.price, event.event.currency));
    out += ",\"most\":";
    append_unsigned(out, type.max_per_order);
    out += inventory::is_open(type, who.now) ? ",\"on_sale\":true}" : ",\"on_sale\":false}";
  }
  out += ']';
}

/// What the script of the seats says.
std::string seat_texts(language in) {
  return texts_json(in, {"limit_exceeded",
                         "none_free",
                         "not_alone",
                         "not_on_sale",
                         "not_together",
                         "promo_code_refused",
                         "seat_accessible",
                         "seat_accessible_only",
                         "seat_accessible_unclear",
                         "seat_chosen",
                         "seat_companion",
                         "seat_free",
                         "seat_held",
                         "seat_kept",
                         "seat_lost",
                         "seat_not_sold",
                         "seat_obstructed",
                         "seat_place",
                         "seat_place_row",
                         "seat_place_table",
                         "seat_single",
                         "seat_sold",
                         "seat_taken",
                         "seats_chosen",
                         "seats_none",
                         "seats_row",
                         "seats_section",
                         "seats_title",
                         "try_again"});
}

std::string choice_state(const shopper& who, const choice_view& choice) {
  std::string out;
  begin_state(out, who);
  out += ",\"line\":";
  append_id(out, choice.event.event.id);
  out += ",\"decimals\":";
  append_unsigned(out, decimals_of(choice.event.event.currency));
  if (choice.event.has_seats) append_seat_types(out, who, choice.event);
  out += ",\"texts\":"
         + (choice.event.has_seats ? seat_texts(who.in)
                                   : texts_json(who.in, {"try_again", "none_free", "not_on_sale",
                                                         "limit_exceeded", "promo_code_refused"}));
  return out + '}';
}

// -- orders

std::string_view headline_of(const order_view& v) {
  switch (v.order.status) {
    case order_status::pending: return "order_pending";
    case order_status::awaiting_payment:
      if (!v.payment_url.empty()) return "order_awaiting";
      return v.can_retry ? "order_awaiting" : "order_checking";
    case order_status::success: return "order_success";
    case order_status::failed: return "order_failed";
    case order_status::cancelled: return "order_cancelled";
    case order_status::partially_refunded: return "order_part_refunded";
    case order_status::refunded: return "order_refunded";
  }
  return "order";
}

/// Whether the state changes without the customer, so that the page must reload.
bool is_moving(const order_view& v) {
  return v.order.status == order_status::pending || v.order.status == order_status::awaiting_payment;
}

void set_order_lead(page_data& data, const order_view& v) {
  const auto status = v.order.status;
  data.show(status == order_status::success ? "SUCCESS" : "NO_SUCCESS");
  data.show("FAILED", status == order_status::failed || status == order_status::cancelled);
  data.show("UNPAID", status == order_status::awaiting_payment);
  data.show("MUST_RETRY", v.payment_url.empty() && v.can_retry);
  data.set_time(v.claim.claim.expires_at);
  data.set_optional("PAYMENT_URL", v.payment_url);
}

void set_receipt(page_data& data, const shopper& who, const order_view& v) {
  for (std::size_t i = 0; i < v.claim.claim.items.size(); ++i) {
    const auto& item = v.claim.claim.items[i];
    auto row = data.add("ITEM");
    row.set("QUANTITY", number_text(who.in, item.quantity));
    row.set("NAME", v.claim.item_names[i]);
    row.set("PRICE",
            price_text(who.in, item.unit_price * static_cast<money>(item.quantity), v.claim.currency));
  }
  for (const auto& place : v.claim.places) data.add("SEAT").set("PLACE", seat_text(who.in, place));
  set_sums(data, v.order, v.claim.currency);
  data.set("FIRST_NAME", v.order.contact.first_name);
  data.set("LAST_NAME", v.order.contact.last_name);
  data.set("CONTACT_EMAIL", v.order.contact.email);
  data.set("EMAIL", v.order.contact.mail_address());
  for (const auto& a : v.order.contact.answers) {
    auto answer = data.add("ANSWER");
    answer.set("LABEL", a.label);
    if (a.attendee > 0)
      answer.set_optional("OF", text(who.in, "attendee_n", {{"n", number_text(who.in, a.attendee)}}));
    answer.set("VALUE", a.value == consent_given ? "✓" : a.value);
  }
}

std::string order_state(const shopper& who, const order_view& v) {
  std::string out;
  begin_state(out, who);
  out += ",\"order\":";
  append_id(out, v.order.id);
  out += ",\"status\":";
  append_text(out, wire_name(v.order.status));
  out += ",\"payment_url\":";
  append_text(out, v.payment_url);
  out += is_moving(v) ? ",\"follow\":true" : ",\"follow\":false";
  return out + '}';
}

} // namespace

std::string quantity_field(const ticket_type_id& type) { return "t." + to_string(type); }
std::string seats_field(const ticket_type_id& type) { return "s." + to_string(type); }

site_page on_sale_page(const shopper& who, const std::vector<event_view>& events,
                       std::string_view next_cursor) {
  site_page page{who.in, "shop", std::string{text(who.in, "shop_title")}};
  const auto shown = by_start(events);
  for (const auto* e : shown) add_sale(page.data, who, *e);
  page.data.show("IS_EMPTY", shown.empty() && next_cursor.empty());
  page.data.set_optional("NEXT", next_cursor);
  page.signed_in = who.signed_in;
  page.is_guest = who.is_guest;
  page.preview = {.url = who.shop_url, .title = page.title};
  return page;
}

site_page choice_page(const shopper& who, const choice_view& choice) {
  const auto& event = choice.event.event;
  site_page page{who.in, "choice", std::string{text(who.in, "choose_tickets")} + " · " + event.name};
  auto& data = page.data;
  data.set("EVENT", event.name);
  data.set("EVENT_ID", to_string(event.id));
  if (choice.place) data.set_time(choice.place->claim_by);
  data.show("HAS_DEADLINE", choice.place != nullptr);
  set_facts(data, who.in, event);
  set_about(data, event);
  if (!choice.problem.empty()) data.set_optional("PROBLEM", text(who.in, choice.problem));
  data.set("ORDER_KEY", choice.order_key);
  data.show("HAS_SEATS", choice.event.has_seats);
  data.show("HAS_OBSTRUCTED_SEATS", choice.event.has_obstructed_seats);
  data.show("ACCESSIBLE", wants_accessible(choice.sent));
  for (const auto& type : choice.event.ticket_types) add_ticket_type(data, who, type, choice);
  set_contact(data, who, choice);
  add_questions(data, who.in, choice);
  data.show("TAKES_CODES", choice.event.takes_access_codes);
  if (!choice.used_code.empty())
    data.set_optional("CODE_IN_USE", text(who.in, "access_code_in_use", {{"code", choice.used_code}}));
  data.show("NO_QUOTE", !choice.quote);
  set_sums(data, choice.quote ? choice.quote->price : price_quote{}, event.currency);
  page.script = "shop.mjs";
  page.state = choice_state(who, choice);
  page.signed_in = who.signed_in;
  page.is_guest = who.is_guest;
  return page;
}

site_page order_page(const shopper& who, const order_view& v, const event_row& event) {
  const auto headline = text(who.in, headline_of(v));
  site_page page{who.in, "order", std::string{headline} + " · " + v.event_name};
  auto& data = page.data;
  data.set("EVENT", v.event_name);
  data.set("EVENT_ID", to_string(event.id));
  data.set("ORDER_ID", to_string(v.order.id));
  data.set("HEADLINE", headline);
  set_order_lead(data, v);
  set_receipt(data, who, v);
  set_facts(data, who.in, event);
  set_about(data, event);
  data.show("HAS_TICKETS", std::ranges::any_of(v.event_tickets, [&](const event_ticket_view& t) {
              return is_valid(t.ticket.status) && t.ticket.holder == v.order.customer;
            }));
  data.show(is_moving(v) ? "IS_MOVING" : "IS_SETTLED");
  page.script = "shop.mjs";
  page.state = order_state(who, v);
  page.signed_in = who.signed_in;
  page.is_guest = who.is_guest;
  if (is_moving(v)) page.refresh_seconds = v.order.status == order_status::pending ? 3 : 15;
  return page;
}

site_page orders_page(const shopper& who, const std::vector<order_listing>& orders) {
  site_page page{who.in, "orders", std::string{text(who.in, "your_orders")}};
  page.data.show("IS_EMPTY", orders.empty());
  for (const auto& o : orders) {
    order_view v;
    v.order = o.order;
    v.payment_url = "known by its page"; // any text: the list shows "reserved" for every unpaid order
    auto order = page.data.add("ORDER");
    order.set("ORDER_ID", to_string(o.order.id));
    order.set("NAME", o.event_name);
    order.set("HEADLINE", text(who.in, headline_of(v)));
    order.set("TOTAL", money_text(o.order.total, o.currency));
  }
  page.signed_in = who.signed_in;
  page.is_guest = who.is_guest;
  return page;
}

} // namespace fq::net
