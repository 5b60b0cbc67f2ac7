// SPDX-License-Identifier: Apache-2.0
#include "net/pages/ticket_papers.hpp"

#include "display/event_times.hpp"
#include "net/pages/event_facts.hpp"
#include "net/pages/seat_text.hpp"
#include "net/pages/wait_page.hpp"
#include "print/pictures.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

namespace fq::net {
namespace {

std::string place_text(const event_facts& f) {
  if (f.venue_name.empty() || f.venue_address.empty()) return venue_text(f);
  return f.venue_name + ", " + f.venue_address;
}

std::string doors_text(language in, const event_facts& f) {
  if (!is_set(f.doors_at)) return {};
  const auto show = is_same_day(f.doors_at, f.starts_at, f.time_zone) ? clock_text : time_text;
  return show(f.doors_at, f.time_zone, tag_of(in));
}

std::string paper_price(language in, const ticket_paper& paper, const std::string& currency) {
  return paper.price == price_hidden ? std::string{} : price_text(in, paper.price, currency);
}

/// "Standing", or "Standing · Ticket 2" as the order's page names the attendee.
std::string type_text(language in, const ticket_paper& paper) {
  if (paper.attendee == 0) return paper.type_name;
  return paper.type_name + " · " + text(in, "attendee_n", {{"n", number_text(in, paper.attendee)}});
}

print::event_ticket_page printed(language in, const event_row& event, const ticket_paper& paper) {
  const auto label = [&](const char* key) { return std::string{text(in, key)}; };
  print::event_ticket_page page;
  page.event = event.name;
  page.facts = {{label("event_ticket_date"), start_text(in, event.facts)},
                {label("doors"), doors_text(in, event.facts)},
                {label("event_ticket_place"), place_text(event.facts)},
                {label("event_ticket_type"), type_text(in, paper)},
                {label("event_ticket_seat"), seat_text(in, paper.seat)},
                {label("order_number"), paper.order.is_nil() ? std::string{} : to_string(paper.order)},
                {label("event_ticket_price"), paper_price(in, paper, event.currency)}};
  page.terms_label = label("event_ticket_terms");
  page.terms = event.facts.ticket_terms;
  return page;
}

namespace json = boost::json;

std::string text_in(const json::object& o, const char* name) {
  const auto* found = o.if_contains(name);
  return found ? std::string{found->as_string()} : std::string{};
}

timestamp time_in(const json::object& o, const char* name) {
  const auto* found = o.if_contains(name);
  return found ? from_unix_ms(found->to_number<std::int64_t>()) : never;
}

/// Older mails name none.
tenant_id tenant_of(const json::object& o) {
  const auto* found = o.if_contains("tenant");
  return found ? tenant_id{found->to_number<std::uint32_t>()} : default_tenant;
}

event_row event_of(const json::object& tickets, const json::object& data) {
  event_row event;
  event.id = parse_uuid(text_in(tickets, "event_id")).value();
  event.name = text_in(data, "event_name");
  event.currency = text_in(data, "currency");
  event.updated_at = time_in(tickets, "changed_at");
  event.event_tickets.key_number = tickets.at("key_number").to_number<std::uint32_t>();
  event.event_tickets.rotating_codes = tickets.at("rotating").as_bool();
  auto& f = event.facts;
  f.starts_at = time_in(data, "starts_at");
  f.ends_at = time_in(data, "ends_at");
  f.doors_at = time_in(data, "doors_at");
  f.time_zone = text_in(data, "time_zone");
  f.venue_name = text_in(data, "venue_name");
  f.venue_address = text_in(data, "venue_address");
  f.picture = text_in(tickets, "picture");
  f.ticket_terms = text_in(tickets, "terms");
  return event;
}

std::vector<ticket_paper> papers_of(const json::object& tickets, const json::object& data) {
  std::vector<ticket_paper> papers;
  for (const auto& each : tickets.at("papers").as_array()) {
    const auto& o = each.as_object();
    auto& paper = papers.emplace_back();
    paper.ticket.id = parse_uuid(text_in(o, "id")).value();
    paper.ticket.generation = o.at("generation").to_number<std::uint32_t>();
    paper.order = parse_uuid(text_in(data, "order_id")).value();
    paper.type_name = text_in(o, "type");
    paper.price = o.at("price").to_number<money>();
    if (const auto* attendee = o.if_contains("attendee"))
      paper.attendee = attendee->to_number<std::uint32_t>();
    if (const auto* seat = o.if_contains("seat")) {
      const auto& place = seat->as_object();
      paper.seat = {text_in(place, "section"), text_in(place, "row"), text_in(place, "seat")};
    }
  }
  return papers;
}

} // namespace

print::event_ticket_document ticket_document(language in, const event_row& event,
                                             std::span<const ticket_paper> papers,
                                             const event_ticket_keys& keys, timestamp now) {
  print::event_ticket_document document;
  document.title = event.name;
  document.language = tag_of(in);
  document.is_right_to_left = is_right_to_left(in);
  document.created_at = now;
  const bool rotates = event.event_tickets.rotating_codes;
  for (const auto& paper : papers) {
    auto& page = document.pages.emplace_back(printed(in, event, paper));
    if (!rotates) page.code = keys.fixed_code(paper.ticket.id, paper.ticket.generation);
    page.code_note = text(in, rotates ? "event_ticket_rotating_note" : "event_ticket_code_note");
  }
  return document;
}

std::vector<mail_attachment> mail_attachments(const std::string& payload, const secret_key& stored,
                                              const std::string& public_url, timestamp now,
                                              const ticket_pictures& pictures) {
  const auto mail = json::parse(payload);
  const auto* tickets = mail.as_object().if_contains("event_tickets");
  if (!tickets) return {};
  const auto& data = mail.as_object().at("data").as_object();
  const auto event = event_of(tickets->as_object(), data);
  const auto papers = papers_of(tickets->as_object(), data);
  std::vector<mail_attachment> files;
  if (!papers.empty()) {
    const auto in = language_of(text_in(mail.as_object(), "language")).value_or(language::en);
    const event_ticket_keys keys{stored, event.id, event.event_tickets.key_number};
    auto document = ticket_document(in, event, papers, keys, now);
    const auto read = [&](const std::string& id, picture_size size) {
      return id.empty() ? print::jpeg{} : print::jpeg_of(pictures.find(id, size));
    };
    document.picture = read(event.facts.picture, picture_size::medium);
    document.logo = read(pictures.logo_of(tenant_of(mail.as_object())), picture_size::small);
    files.push_back({"tickets.pdf", "application/pdf", print::event_ticket_pdf(document)});
  }
  auto calendar = event_calendar(event, public_url + "/wait/" + to_string(event.id));
  if (!calendar.empty()) files.push_back({"event.ics", "text/calendar", std::move(calendar)});
  return files;
}

} // namespace fq::net
