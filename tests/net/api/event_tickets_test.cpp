// SPDX-License-Identifier: Apache-2.0
// Codes, PDFs and offers of event tickets over HTTP.
#define CAF_SUITE net_event_tickets
#include "tests/net/api/requests.hpp"
#include "tests/net/api/world.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>

namespace event_tickets_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

boost::json::object json_of(const response& r) { return boost::json::parse(r.body).as_object(); }

struct holder : world {
  holder() {
    view.ticket.id = make_uuid(clock.wall_now(), first_event_aggregate, 5);
    view.ticket.holder = customer;
    view.ticket.generation = 2;
    view.ticket.created_at = view.ticket.updated_at = clock.wall_now();
    view.event = event_id;
    view.ticket_type = {7, 7};
    told->event_ticket.ticket = view;
    told->event_ticket.settings.key_number = 3;
    told->papers.event = told->event.event.event;
    told->papers.papers = {{view.ticket, {}, "Standing", 500}};
    told->transfer.transfer.id = make_uuid(clock.wall_now(), first_event_aggregate, 6);
    told->transfer.transfer.ticket = view.ticket.id;
    told->customers.customers = {{8, 8}};
    path = "/event-tickets/" + to_string(view.ticket.id);
  }
  boost::json::object own() { return json_of(send(method::get, path, {}, as_customer())); }

  event_ticket_view view;
  std::string path;
};

} // namespace

CAF_TEST(a list of tickets has the seats that their events know) {
  holder s;
  event_ticket_listing with_seat, without;
  with_seat.event = without.event = s.event_id;
  with_seat.ticket = without.ticket = s.view.ticket;
  with_seat.ticket.seat = 8;
  without.ticket.id = make_uuid(s.clock.wall_now(), first_event_aggregate, 9);
  s.told->held_tickets.tickets = {with_seat, without};
  s.told->ticket_seats.seats = {{with_seat.ticket.id, "P-A-3", {"Stalls", "A", "3"}}};
  const auto list = json_of(s.send(method::get, "/event-tickets", {}, s.as_customer()));
  const auto& items = list.at("items").as_array();
  CAF_CHECK(items.at(0).at("seat").as_string() == "P-A-3");
  CAF_CHECK(items.at(0).at("seat_place").at("section").as_string() == "Stalls");
  CAF_CHECK(!items.at(1).as_object().contains("seat"));
  CAF_CHECK(s.told->asked_ticket_seats.tickets == std::vector<event_ticket_id>{with_seat.ticket.id});
  CAF_CHECK(s.told->asked_ticket_seats.holder == s.customer);
}

CAF_TEST(what is for the buyer alone is null) {
  holder s;
  s.told->event_ticket.ticket.order = {};
  s.told->event_ticket.ticket.ticket.claim = {};
  CAF_CHECK(s.own().at("order_id").is_null() && s.own().at("claim_id").is_null());
  event_ticket_listing first, later;
  first.event = later.event = s.event_id;
  first.ticket = later.ticket = s.view.ticket;
  first.ticket.claim = later.ticket.claim = {4, 2};
  first.ticket.generation = 1;
  s.told->held_tickets.tickets = {first, later};
  const auto list = json_of(s.send(method::get, "/event-tickets", {}, s.as_customer()));
  CAF_CHECK(list.at("items").at(0).at("claim_id").as_string() == to_string(uuid{4, 2}).c_str());
  CAF_CHECK(list.at("items").at(1).at("claim_id").is_null());
}

CAF_TEST(no further event is asked for seats once one does not answer) {
  holder s;
  for (const std::uint64_t n : {1, 2, 3}) {
    event_ticket_listing with_seat;
    with_seat.event = make_uuid(s.clock.wall_now(), first_event_aggregate, n);
    with_seat.ticket = s.view.ticket;
    with_seat.ticket.seat = 8;
    s.told->held_tickets.tickets.push_back(with_seat);
  }
  const auto shown_tickets = [&s] {
    return json_of(s.send(method::get, "/event-tickets", {}, s.as_customer())).at("items").as_array().size();
  };
  CAF_CHECK_EQUAL(shown_tickets(), 3u);
  CAF_CHECK_EQUAL(s.told->seat_questions, 3);
  s.told->seats_error = make_error(errc::unavailable);
  CAF_CHECK_EQUAL(shown_tickets(), 3u);
  CAF_CHECK_EQUAL(s.told->seat_questions, 4);
}

CAF_TEST(only the holder sees the code of a ticket) {
  holder s;
  const auto own = s.own();
  const auto code = read_event_ticket_code(std::string{own.at("code").as_string()});
  CAF_REQUIRE(code.has_value());
  CAF_CHECK(code->claims == (event_ticket_claims{s.event_id, s.view.ticket.id, 2}));
  CAF_CHECK(is_signed(*code, s.shared.ticket_keys(s.event_id, {false, 1, 3}).public_key()));
  CAF_CHECK(!is_signed(*code, s.shared.ticket_keys(s.event_id, {false, 1, 2}).public_key()));
  CAF_CHECK(own.at("rotating_code").is_null());
  const auto managed = json_of(s.send(method::get, s.path, {}, s.as_organizer()));
  CAF_CHECK(!managed.contains("code") && !managed.contains("rotating_code"));
  s.told->event_ticket.ticket.ticket.holder = {9, 9};
  CAF_CHECK(!s.own().contains("code"));
}

CAF_TEST(a rotating code is its secret and nothing for a cancelled ticket) {
  holder s;
  s.told->event_ticket.settings.rotating_codes = true;
  auto own = s.own();
  CAF_CHECK(own.at("code").is_null());
  const auto& rotating = own.at("rotating_code").as_object();
  CAF_CHECK_EQUAL(rotating.at("step_seconds").to_number<int>(), 30);
  CAF_CHECK_EQUAL(rotating.at("generation").to_number<int>(), 2);
  const auto secret = from_base64url(std::string{rotating.at("secret").as_string()});
  const auto expected = s.shared.ticket_keys(s.event_id, {true, 1, 3}).secret_of(s.view.ticket.id, 2);
  CAF_CHECK(secret && std::ranges::equal(*secret, expected.bytes()));
  s.told->event_ticket.ticket.ticket.status = event_ticket_status::cancelled;
  own = s.own();
  CAF_CHECK(own.at("rotating_code").is_null() && own.at("code").is_null());
}

CAF_TEST(a ticket and an order are printed for their holder) {
  holder s;
  for (const bool of_order : {false, true}) {
    const auto path =
      of_order ? "/orders/" + to_string(s.view.ticket.id) + "/event-tickets.pdf" : s.path + ".pdf";
    const auto got = s.send(method::get, path, {}, s.as_customer());
    CAF_CHECK_EQUAL(got.status, 200u);
    CAF_CHECK(got.body.starts_with("%PDF-"));
    CAF_CHECK(s.told->asked_papers.id == s.view.ticket.id && s.told->asked_papers.of_order == of_order);
    CAF_CHECK(s.told->asked_papers.holder == s.customer);
    CAF_CHECK_EQUAL(shown(s.send(method::get, path, {}, s.as_organizer())), "403 forbidden");
    CAF_CHECK_EQUAL(shown(s.send(method::get, path)), "401 unauthenticated");
  }
  s.told->papers = {reason::not_found};
  CAF_CHECK_EQUAL(shown(s.send(method::get, s.path + ".pdf", {}, s.as_customer())), "404 not_found");
}

CAF_TEST(a holder offers a ticket to an address) {
  holder s;
  s.told->customer.language = language::hr;
  s.told->customers.languages = {language::ar};
  const auto offer = [&](const char* body) {
    return shown(s.send(method::post, s.path + "/transfer", body, s.as_customer()));
  };
  const auto made =
    s.send(method::post, s.path + "/transfer", R"({"email":"Bob@Example.org"})", s.as_customer());
  CAF_CHECK_EQUAL(made.status, 201u);
  CAF_CHECK(json_of(made).at("status").as_string() == "OFFERED");
  const auto& wish = s.told->asked_offer.wish;
  CAF_CHECK(wish.ticket == s.view.ticket.id && wish.giver == s.customer && wish.receiver == uuid(8, 8));
  CAF_CHECK_EQUAL(wish.receiver_email, "bob@example.org");
  CAF_CHECK(wish.giver_language == language::hr && wish.receiver_language == language::ar);
  CAF_CHECK_EQUAL(offer(R"({"email":"bob"})"), "400 invalid_field");
  CAF_CHECK_EQUAL(offer("{}"), "400 invalid_field");
  CAF_CHECK_EQUAL(offer(R"({"email":"b@c.de","x":1})"), "400 unknown_field");
  s.told->transfer.no = reason::transfer_limit;
  CAF_CHECK_EQUAL(offer(R"({"email":"b@c.de"})"), "409 transfer_limit");
}

CAF_TEST(offers are limited because each is a mail) {
  holder s;
  std::string last;
  for (std::uint32_t n = 0; n <= offers_per_customer; ++n) {
    s.told->customers.customers = {{8, n}}; // each to another person
    if (n == offers_per_customer) CAF_CHECK(last.starts_with("201"));
    last = shown(s.send(method::post, s.path + "/transfer", R"({"email":"b@c.de"})", s.as_customer()));
  }
  CAF_CHECK_EQUAL(last, "429 rate_limited");
}

CAF_TEST(offers to one person are limited across givers) {
  holder s;
  const auto offer = [&] {
    return s.send(method::post, s.path + "/transfer", R"({"email":"b@c.de"})", s.as_customer());
  };
  for (std::uint32_t n = 1; n < offers_per_receiver; ++n) CAF_CHECK_EQUAL(offer().status, 201u);
  // The last one comes from another giver.
  CAF_CHECK(s.shared.offer_receivers.take({8, 8}, s.clock.steady_now()).allowed);
  const auto late = offer();
  CAF_CHECK_EQUAL(shown(late), "429 rate_limited");
  CAF_CHECK(!field_of(late, "Retry-After").empty());
  s.told->customers.customers = {{8, 9}};
  CAF_CHECK_EQUAL(offer().status, 201u);
}

CAF_TEST(refused offers take nothing from their receiver) {
  holder s;
  const auto offer = [&] {
    return shown(s.send(method::post, s.path + "/transfer", R"({"email":"b@c.de"})", s.as_customer()));
  };
  s.told->transfer.no = reason::not_found;
  for (std::uint32_t n = 0; n < 2 * offers_per_receiver; ++n) CAF_CHECK_EQUAL(offer(), "404 not_found");
  s.told->transfer.no = reason::none;
  CAF_CHECK(offer().starts_with("201"));
}

CAF_TEST(offers of many customers behind one address are limited too) {
  holder s;
  const auto key = limit_key(boost::asio::ip::make_address("192.0.2.1"));
  for (std::uint32_t n = 0; n < offers_per_network; ++n)
    CAF_CHECK(s.shared.offer_clients.take(key, s.clock.steady_now()).allowed);
  const auto offer = [&](const char* peer) {
    return s.send(method::post, s.path + "/transfer", R"({"email":"b@c.de"})", s.as_customer(), peer).status;
  };
  CAF_CHECK_EQUAL(offer("192.0.2.1"), 429u);
  CAF_CHECK_EQUAL(offer("192.0.2.2"), 201u);
}

CAF_TEST(a customer has a limit of printed pages) {
  holder s;
  auto& papers = s.told->papers.papers;
  papers.resize(printed_pages_per_customer / 20, papers.front());
  for (std::uint32_t n = 0; n < 20; ++n)
    CAF_CHECK_EQUAL(s.send(method::get, s.path + ".pdf", {}, s.as_customer()).status, 200u);
  const auto before = s.told->questions;
  CAF_CHECK_EQUAL(s.send(method::get, s.path + ".pdf", {}, s.as_customer()).status, 429u);
  CAF_CHECK_EQUAL(s.told->questions, before);
}

CAF_TEST(the receiver answers and the giver withdraws) {
  holder s;
  const auto id = to_string(s.told->transfer.transfer.id);
  const std::pair<const char*, transfer_trigger> ways[] = {{"accept", transfer_trigger::accept},
                                                           {"decline", transfer_trigger::decline},
                                                           {"withdraw", transfer_trigger::withdraw}};
  for (const auto& [name, how] : ways) {
    const auto path = "/event-tickets/transfers/" + id + "/" + name;
    CAF_CHECK_EQUAL(s.send(method::post, path, {}, s.as_customer()).status, 200u);
    CAF_CHECK(s.told->asked_transfer_end.how == how && s.told->asked_transfer_end.by == s.customer);
    CAF_CHECK_EQUAL(shown(s.send(method::post, path)), "401 unauthenticated");
  }
}

CAF_TEST(own offers are listed with the address of the other side) {
  holder s;
  transfer_row given = s.told->transfer.transfer, received = given, late = given;
  given.giver = s.customer;
  received.receiver = s.customer;
  given.giver_email = received.receiver_email = "me@example.org";
  given.receiver_email = received.giver_email = "bob@example.org";
  given.expires_at = received.expires_at = s.clock.wall_now() + seconds{1};
  late.giver = s.customer;
  late.expires_at = s.clock.wall_now();
  for (const auto& row : {given, received, late})
    s.told->transfers.transfers.push_back({s.event_id, "Concert", "Standing", row});
  const auto items =
    json_of(s.send(method::get, "/event-tickets/transfers", {}, s.as_customer())).at("items").as_array();
  CAF_REQUIRE_EQUAL(items.size(), 2u);
  for (const auto& item : items) CAF_CHECK(item.at("email").as_string() == "bob@example.org");
  CAF_CHECK(items[0].at("side").as_string() == "given" && items[1].at("side").as_string() == "received");
  CAF_CHECK(items[1].at("event_ticket_id").is_null()); // not theirs yet
}

CAF_TEST(an organizer renews the keys of the codes of an event) {
  holder s;
  const auto path = "/events/" + to_string(s.event_id) + "/event-tickets/rotate-keys";
  CAF_CHECK_EQUAL(s.send(method::post, path, R"({"reason":"stolen"})", s.as_organizer()).status, 200u);
  CAF_CHECK_EQUAL(s.told->asked_keys.note.reason, "stolen");
  CAF_CHECK(s.told->asked_keys.what.event == s.event_id);
  CAF_CHECK_EQUAL(shown(s.send(method::post, path, {}, s.as_customer())), "403 forbidden");
}

} // namespace event_tickets_test
