// SPDX-License-Identifier: Apache-2.0
#include "net/pages/shop_page.hpp"

#include "domain/money/money_text.hpp"
#include "net/pages/html.hpp"
#include "net/pages/wait_page.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/order_codec.hpp"

#include <algorithm>

namespace fq::net {
namespace {

std::string wait_path(const shopper& who, const event_id& event) {
  return who.base + "/wait/" + to_string(event);
}

std::int64_t units_left(const ticket_type_row& t) {
  return std::max<std::int64_t>(0, t.total - t.held - t.sold);
}

std::string price_text(const shopper& who, money price, const std::string& currency) {
  return price == 0 ? std::string{text(who.in, "free")} : money_text(price, currency);
}

void append_sum(std::string& out, const shopper& who, std::string_view key, money amount,
                const std::string& currency, bool is_total = false) {
  const auto hidden = amount == 0 && !is_total ? " hidden" : "";
  const auto style = is_total ? "class=\"total\"" : "";
  append_element(out, "dt", style + std::string{hidden}, text(who.in, key));
  append_element(out, "dd", style + std::string{" data-sum=\""} + std::string{key} + '"' + hidden,
                 money_text(amount, currency));
}

void append_sums(std::string& out, const shopper& who, money subtotal, money discount, money donations,
                 money fees, money total, const std::string& currency) {
  append_sum(out, who, "subtotal", subtotal + donations, currency);
  append_sum(out, who, "discount", -discount, currency);
  append_sum(out, who, "fees", fees, currency);
  append_sum(out, who, "total", total, currency, true);
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

void append_quantity(std::string& out, const shopper& who, const ticket_type_row& type,
                     const choice_view& choice) {
  const auto name = quantity_field(type.id);
  const auto chosen = choice.sent.find(name);
  const auto most = std::min<std::int64_t>(type.max_per_order, units_left(type));
  out += "<label class=\"quiet\" for=\"" + name + "\">";
  append_escaped(out, text(who.in, "quantity_of", {{"name", type.name}}));
  out += "</label><select id=\"" + name + "\" name=\"" + name + "\">";
  for (std::int64_t n = 0; n <= most; ++n) {
    const auto number = std::to_string(n);
    // Preselect 1 if there is one ticket type and nothing was sent yet.
    const bool is_chosen = chosen.empty()
                             ? n == 1 && choice.event.ticket_types.size() == 1 && choice.sent.fields().empty()
                             : chosen == number;
    append_element(out, "option", "value=\"" + number + (is_chosen ? "\" selected" : "\""), number);
  }
  out += "</select>";
}

void append_ticket_type(std::string& out, const shopper& who, const ticket_type_row& type,
                        const choice_view& choice) {
  const auto left = units_left(type);
  out += "<li><div>";
  append_element(out, "b", "", type.name);
  out += "<span class=\"soft\">";
  append_escaped(out, price_text(who, type.price, choice.event.event.currency));
  out += " · ";
  append_escaped(out, left == 0 ? std::string{text(who.in, "none_left")}
                                : counted(who.in, "left", static_cast<std::uint64_t>(left)));
  out += "</span></div>";
  if (left > 0 && type.on_sale) append_quantity(out, who, type, choice);
  out += "</li>";
}

void append_contact(std::string& out, const shopper& who, const choice_view& choice) {
  const bool was_sent = !choice.sent.find("action").empty();
  const auto field = [&](std::string_view name, std::string_view more) {
    const auto value = choice.sent.find(name);
    const bool is_missing = was_sent && choice.problem == "field_missing" && value.empty();
    append_field(out, text(who.in, name), name, value, more,
                 is_missing ? text(who.in, "field_missing") : std::string_view{});
  };
  out += "<section class=\"card\"><fieldset class=\"fields pair\"><legend>";
  append_escaped(out, text(who.in, "contact"));
  out += "</legend>";
  field("first_name", "autocomplete=\"given-name\" required maxlength=\"100\"");
  field("last_name", "autocomplete=\"family-name\" required maxlength=\"100\"");
  field("email", "type=\"email\" autocomplete=\"email\" required maxlength=\"254\"");
  append_field(out, text(who.in, "promo_code"), "promo_code", choice.sent.find("promo_code"),
               "autocomplete=\"off\" maxlength=\"100\"");
  out += "</fieldset></section>";
}

void append_total(std::string& out, const shopper& who, const choice_view& choice) {
  const auto& currency = choice.event.event.currency;
  const auto price = choice.quote ? choice.quote->price : price_quote{};
  out
    .append("<section class=\"card\"><p class=\"wrong\" role=\"alert\" data-quote-problem></p><dl "
            "class=\"sums\" data-sums")
    .append(choice.quote ? ">" : " hidden>");
  append_sums(out, who, price.subtotal, price.discount, price.donations,
              price.platform_fee + price.processing_fee, price.total, currency);
  out += "</dl><div class=\"row\">";
  append_element(out, "button", "class=\"button\" type=\"submit\" name=\"action\" value=\"buy\"",
                 text(who.in, "continue_to_payment"));
  append_element(
    out, "button",
    "class=\"button plain\" type=\"submit\" name=\"action\" value=\"quote\" formnovalidate data-update",
    text(who.in, "update_total"));
  out += "</div></section>";
}

std::string choice_state(const shopper& who, const choice_view& choice) {
  std::string out;
  begin_state(out, who);
  out += ",\"line\":";
  append_id(out, choice.event.event.id);
  out += ",\"decimals\":";
  append_unsigned(out, decimals_of(choice.event.event.currency));
  out +=
    ",\"texts\":" + texts_json(who.in, {"try_again", "none_free", "limit_exceeded", "promo_code_refused"});
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

void append_order_lead(std::string& out, const shopper& who, const order_view& v) {
  const auto status = v.order.status;
  const auto path = who.base + "/shop/orders/" + to_string(v.order.id);
  if (status == order_status::success)
    append_element(out, "p", "class=\"sub\"",
                   text(who.in, "order_success_lead", {{"email", v.order.contact.email}}));
  if (status == order_status::failed || status == order_status::cancelled)
    append_element(out, "p", "class=\"sub\"", text(who.in, "order_failed_lead"));
  if (status != order_status::awaiting_payment) return;
  const bool must_retry = v.payment_url.empty() && v.can_retry;
  if (must_retry) append_element(out, "p", "class=\"sub\" role=\"status\"", text(who.in, "order_retry"));
  append_timed(out, who.in, "p", "class=\"sub\"", "order_pay_by", v.claim.claim.expires_at);
  append_countdown(out, who.in, v.claim.claim.expires_at);
  if (!v.payment_url.empty()) {
    out += "<a class=\"button\" href=\"";
    append_escaped(out, v.payment_url);
    out += "\">";
    append_escaped(out, text(who.in, "pay_now"));
    out += "</a>";
  } else if (must_retry) {
    append_action(out, path, "pay", text(who.in, "pay_again"));
  }
}

void append_items(std::string& out, const shopper& who, const order_view& v, const event_view& event) {
  out += "<ul class=\"list\">";
  for (std::size_t i = 0; i < v.claim.claim.items.size(); ++i) {
    const auto& item = v.claim.claim.items[i];
    const auto type = std::ranges::find(event.ticket_types, v.claim.item_ids[i], &ticket_type_row::id);
    out += "<li>";
    append_element(out, "b", "",
                   number_text(who.in, item.quantity) + " × "
                     + (type == event.ticket_types.end() ? event.event.name : type->name));
    append_element(out, "span", "",
                   price_text(who, item.unit_price * static_cast<money>(item.quantity), v.claim.currency));
    out += "</li>";
  }
  out += "</ul>";
}

void append_receipt(std::string& out, const shopper& who, const order_view& v, const event_view& event) {
  const auto& o = v.order;
  out += "<section class=\"card\">";
  append_element(out, "h2", "", text(who.in, o.status == order_status::success ? "receipt" : "order"));
  append_items(out, who, v, event);
  out += "<dl class=\"sums\">";
  append_sums(out, who, o.subtotal, o.discount, o.donations, o.platform_fee + o.processing_fee, o.total,
              v.claim.currency);
  out += "</dl><p class=\"soft\">";
  append_escaped(out, o.contact.first_name + " " + o.contact.last_name + " · " + o.contact.email);
  out += "</p><p class=\"soft\">";
  append_escaped(out, text(who.in, "order_number"));
  out += ": " + to_string(o.id) + "</p></section>";
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

site_page on_sale_page(const shopper& who, const std::vector<event_view>& events) {
  site_page page{.in = who.in};
  page.title = text(who.in, "shop_title");
  append_element(page.hero, "h1", "class=\"big\"", page.title);
  page.main_class = "narrow";
  const auto is_shown = [](const event_view& e) {
    return e.event.status == event_status::active || e.event.status == event_status::paused;
  };
  if (std::ranges::none_of(events, is_shown)) {
    page.main += "<section class=\"card\">";
    append_element(page.main, "p", "", text(who.in, "shop_empty"));
    page.main += "</section>";
  }
  for (const auto& e : events) {
    if (!is_shown(e)) continue;
    page.main += "<section class=\"card\">";
    append_element(page.main, "h2", "", e.event.name);
    page.main += "<div class=\"row\">";
    append_element(page.main, "a", "class=\"button\" href=\"" + wait_path(who, e.event.id) + '"',
                   text(who.in, "to_event"));
    if (e.sold_out) append_element(page.main, "span", "class=\"soft\"", text(who.in, "none_left"));
    page.main += "</div></section>";
  }
  page.signed_in = who.signed_in;
  return page;
}

site_page choice_page(const shopper& who, const choice_view& choice) {
  const auto& event = choice.event.event;
  site_page page{.in = who.in};
  page.title = std::string{text(who.in, "choose_tickets")} + " · " + event.name;
  append_element(page.hero, "h1", "", event.name);
  append_element(page.hero, "p", "class=\"big\"", text(who.in, "choose_tickets"));
  if (choice.place) append_countdown(page.hero, who.in, choice.place->claim_by);
  page.main_class = "narrow";
  auto& main = page.main;
  if (!choice.problem.empty()) {
    main += "<section class=\"card bad\">";
    append_element(main, "p", "role=\"alert\"", text(who.in, choice.problem));
    main += "</section>";
  }
  main += "<form class=\"fields\" method=\"post\" data-choice action=\"" + who.base + "/shop/events/"
          + to_string(event.id) + "\">";
  append_hidden(main, "key", choice.order_key);
  main += "<section class=\"card\">";
  append_element(main, "h2", "", text(who.in, "what_is_on_sale"));
  main += "<ul class=\"list\">";
  for (const auto& type : choice.event.ticket_types) append_ticket_type(main, who, type, choice);
  main += "</ul></section>";
  append_contact(main, who, choice);
  append_total(main, who, choice);
  main += "</form>";
  page.script = "shop.mjs";
  page.state = choice_state(who, choice);
  page.signed_in = who.signed_in;
  return page;
}

site_page order_page(const shopper& who, const order_view& v, const event_view& event) {
  site_page page{.in = who.in};
  page.title = std::string{text(who.in, headline_of(v))} + " · " + v.event_name;
  append_element(page.hero, "h1", "", v.event_name);
  append_element(page.hero, "p", "class=\"big\" role=\"status\"", text(who.in, headline_of(v)));
  append_order_lead(page.hero, who, v);
  page.main_class = "narrow";
  append_receipt(page.main, who, v, event);
  page.main += "<div class=\"row\">";
  if (is_moving(v))
    append_action(page.main, who.base + "/shop/orders/" + to_string(v.order.id), "cancel",
                  text(who.in, "order_cancel"), "button plain");
  else
    append_element(page.main, "a", "class=\"button plain\" href=\"" + wait_path(who, event.event.id) + '"',
                   text(who.in, "back_to_line"));
  page.main += "</div>";
  page.script = "shop.mjs";
  page.state = order_state(who, v);
  page.signed_in = who.signed_in;
  if (is_moving(v)) page.refresh_seconds = v.order.status == order_status::pending ? 3 : 15;
  return page;
}

site_page orders_page(const shopper& who, const std::vector<order_listing>& orders) {
  site_page page{.in = who.in};
  page.title = text(who.in, "your_orders");
  append_element(page.hero, "h1", "class=\"big\"", page.title);
  page.main_class = "narrow";
  page.main = "<section class=\"card\">";
  if (orders.empty()) append_element(page.main, "p", "", text(who.in, "no_orders"));
  page.main += "<ul class=\"list\">";
  for (const auto& o : orders) {
    order_view v;
    v.order = o.order;
    v.payment_url = "known by its page"; // any text: the list shows "reserved" for every unpaid order
    page.main += "<li><div><b>";
    append_element(page.main, "a", "href=\"" + who.base + "/shop/orders/" + to_string(o.order.id) + '"',
                   o.event_name);
    page.main += "</b>";
    append_element(page.main, "span", "class=\"soft\"", text(who.in, headline_of(v)));
    page.main += "</div>";
    append_element(page.main, "span", "", money_text(o.order.total, o.currency));
    page.main += "</li>";
  }
  page.main += "</ul></section>";
  page.signed_in = who.signed_in;
  return page;
}

} // namespace fq::net
