// SPDX-License-Identifier: Apache-2.0
#include "net/pages/my_tickets_page.hpp"

#include "crypto/limits.hpp"
#include "display/event_times.hpp"
#include "net/http/json_text.hpp"
#include "net/pages/limits.hpp"
#include "net/pages/qr_svg.hpp"
#include "net/pages/seat_text.hpp"

#include <algorithm>

namespace fq::net {
namespace {

/// An address keeps its direction in a text that runs from right to left. Empty stays empty.
std::string isolated(const std::string& address) {
  return address.empty() ? address : "\u2068" + address + "\u2069";
}

using keys_lookup = std::function<event_ticket_keys(const event_ticket_listing&)>;

std::string_view state_of(event_ticket_status s) {
  switch (s) {
    case event_ticket_status::checked_in: return "ticket_checked_in";
    case event_ticket_status::checked_out: return "ticket_checked_out";
    case event_ticket_status::issued:
    case event_ticket_status::transferred:
    case event_ticket_status::cancelled: break;
  }
  return {};
}

void set_code(page_data& data, const std::string& code) {
  const auto svg = qr_svg_of(code);
  data.set("QR_FROM", std::to_string(svg.from));
  data.set("QR_SIZE", std::to_string(svg.size));
  data.set("QR_PATH", svg.path);
}

/// Without script a rotating code is that of now, and the page reloads.
std::string code_of(const event_ticket_listing& l, const event_ticket_keys& keys, timestamp now) {
  const auto& t = l.ticket;
  if (!l.settings.rotating_codes) return keys.fixed_code(t.id, t.generation);
  return rotating_code(keys.secret_of(t.id, t.generation), {l.event, t.id, t.generation}, now);
}

std::string seat_of(language in, const held_tickets_reply& held, const event_ticket_id& ticket) {
  const auto seat = std::ranges::find(held.seats, ticket, &ticket_seat::ticket);
  return seat == held.seats.end() ? std::string{} : seat_text(in, seat->place);
}

void add_ticket(page_data& data, const ticket_holder& who, const event_ticket_listing& l,
                const std::string& seat, const transfers_reply& offers, const keys_lookup& keys_of) {
  const auto& t = l.ticket;
  auto ticket = data.add("TICKET");
  ticket.set("TICKET_ID", to_string(t.id));
  ticket.set("PDF",
             who.link.empty() ? who.base + "/my/tickets/" + to_string(t.id) + ".pdf" : who.link + ".pdf");
  ticket.set("NAME", l.event_name);
  ticket.set("TYPE", l.ticket_type_name);
  ticket.set_optional("SEAT", seat);
  if (is_set(l.starts_at)) ticket.set_optional("STARTS", time_text(l.starts_at, l.time_zone, tag_of(who.in)));
  ticket.set_optional("VENUE", l.venue_name);
  const bool is_off = l.event_state == event_status::cancelled;
  const auto state = is_off ? std::string_view{"event_cancelled"} : state_of(t.status);
  if (!state.empty()) ticket.set_optional("STATE_TEXT", text(who.in, state));
  set_code(ticket, code_of(l, keys_of(l), who.now));
  ticket.show(l.settings.rotating_codes ? "ROTATES" : "IS_FIXED");
  const auto open = std::ranges::find_if(offers.transfers, [&](const transfer_listing& o) {
    return o.transfer.ticket == t.id && o.transfer.giver == who.customer && o.transfer.expires_at > who.now;
  });
  if (open != offers.transfers.end()) {
    ticket.set_optional("OFFERED_TO", isolated(open->transfer.receiver_email));
    ticket.set("TRANSFER_ID", to_string(open->transfer.id));
    return;
  }
  const bool may_move =
    !is_off && (t.status == event_ticket_status::issued || t.status == event_ticket_status::transferred);
  ticket.show("CAN_GIVE", may_move && l.settings.transfers_max > 0);
}

void add_offer(page_data& data, const transfer_listing& l) {
  auto offer = data.add("OFFER");
  offer.set("TRANSFER_ID", to_string(l.transfer.id));
  offer.set("NAME", l.event_name);
  offer.set("TYPE", l.ticket_type_name);
  offer.set_optional("FROM", isolated(l.transfer.giver_email));
  offer.set_time(l.transfer.expires_at);
}

/// The secrets of rotating codes, for the script.
std::string state_text(const ticket_holder& who, const held_tickets_reply& held, const keys_lookup& keys_of) {
  std::string out = "{\"base\":";
  append_text(out, who.base);
  out += ",\"now\":";
  append_time(out, who.now);
  out += who.link.empty() ? ",\"keeps\":true" : ",\"keeps\":false";
  out += ",\"texts\":" + texts_json(who.in, {"code_offline"});
  out += ",\"rotating\":[";
  bool is_first = true;
  for (const auto& l : held.tickets) {
    if (!l.settings.rotating_codes) continue;
    const auto& t = l.ticket;
    out += is_first ? "{\"ticket\":" : ",{\"ticket\":";
    is_first = false;
    append_id(out, t.id);
    out += ",\"event\":";
    append_id(out, l.event);
    out += ",\"generation\":";
    append_unsigned(out, t.generation);
    out += ",\"secret\":";
    append_text(out, to_base64url(keys_of(l).secret_of(t.id, t.generation).bytes()));
    out += '}';
  }
  return out + "]}";
}

} // namespace

site_page my_tickets_page(const ticket_holder& who, const held_tickets_reply& held,
                          const transfers_reply& offers, const keys_lookup& keys_of, std::string problem) {
  site_page page{who.in, "my_tickets", std::string{text(who.in, "my_tickets")}};
  auto& data = page.data;
  data.set_optional("PROBLEM", problem);
  data.show("IS_EMPTY", held.tickets.empty());
  data.show("HAS_MORE", held.more);
  for (const auto& l : held.tickets)
    add_ticket(data, who, l, seat_of(who.in, held, l.ticket.id), offers, keys_of);
  for (const auto& l : offers.transfers)
    if (l.transfer.receiver == who.customer && l.transfer.expires_at > who.now) add_offer(data, l);
  const bool rotates =
    std::ranges::any_of(held.tickets, [](const auto& l) { return l.settings.rotating_codes; });
  if (rotates) page.refresh_seconds = static_cast<unsigned>(event_ticket_code_step.count());
  page.script = "tickets.mjs";
  page.state = state_text(who, held, keys_of);
  page.signed_in = who.link.empty();
  page.is_guest = !page.signed_in;
  return page;
}

held_tickets_reply linked_tickets(const ticket_papers_reply& found) {
  const auto& event = found.event;
  held_tickets_reply held;
  for (const auto& paper : found.papers) {
    auto& l = held.tickets.emplace_back(
      event_ticket_listing{event.id, event.name, {}, paper.type_name, paper.ticket, event.event_tickets});
    l.settings.transfers_max = 0;
    l.starts_at = event.facts.starts_at;
    l.time_zone = event.facts.time_zone;
    l.venue_name = event.facts.venue_name;
    l.event_state = event.status;
    held.seats.push_back({paper.ticket.id, {}, paper.seat});
  }
  return held;
}

bool is_link_over(const event_row& event, timestamp now) {
  const auto& f = event.facts;
  const auto end = is_set(f.ends_at) ? f.ends_at : is_set(f.starts_at) ? f.starts_at : event.sale_end;
  return is_set(end) && now > end + order_link_life;
}

site_page my_sign_in_page(language in, const sign_in_state& state, std::string_view mail_folder,
                          std::string_view mailbox) {
  site_page page{in, "my_sign_in", std::string{text(in, "my_tickets")}};
  page.data.set("PATH", "tickets"); // this page, below any base path
  set_sign_in(page.data, state, mail_folder, mailbox);
  return page;
}

} // namespace fq::net
