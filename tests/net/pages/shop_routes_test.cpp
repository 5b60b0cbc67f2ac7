// SPDX-License-Identifier: Apache-2.0
// The ticket choice's form over HTTP: what the owner refuses is said in words, and the form stays as typed.
#define CAF_SUITE shop_routes
#include "caf/test/unit_test.hpp"

#include "net/pages/shop_page.hpp"
#include "tests/net/api/world.hpp"

namespace shop_routes_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct shop : world {
  shop() {
    auto& event = told->event.event;
    event.event.id = event_id;
    event.event.currency = "EUR";
    event.event.queue.policy = admission_policy::open;
    event.event.questions = {{1, question_kind::choice, true, true, "Meal?", {"Rice", "Yam"}}};
    event.takes_access_codes = event.has_seats = true;
    for (const auto& id : {numbers, seats})
      event.ticket_types.push_back(
        {.id = id, .name = "Stalls", .price = 500, .total = 9, .max_per_order = 4});
  }
  response post(const std::string& body) {
    const auto token = as_customer().front().second.substr(7);
    return send(
      method::post, "/shop/events/" + to_string(event_id), body,
      {{"Content-Type", "application/x-www-form-urlencoded"}, {"Cookie", "fairqueue_customer=" + token}});
  }
  /// A form of our page, filled in.
  std::string typed() const {
    return "key=k-123456789&first_name=Ada&last_name=Obi&email=ada%40example.org&phone=555123&donation=2.50"
           "&promo_code=EARLY&accessible=1&q.1.2=Rice&"
           + quantity_field(numbers) + "=2&" + seats_field(seats) + "=A-1+A-2";
  }
  const uuid numbers{7, 1}, seats{7, 2};
};

bool has(const response& page, std::string_view part) { return page.body.find(part) != std::string::npos; }

void check_is_as_typed(const shop& w, const response& page) {
  for (const auto* value : {"Ada", "Obi", "ada@example.org", "555123", "2.50", "EARLY", "k-123456789"})
    CAF_CHECK(has(page, "value=\"" + std::string{value} + "\""));
  CAF_CHECK(has(page, "data-accessible checked"));
  CAF_CHECK(has(page, "<option value=\"Rice\" selected>"));
  CAF_CHECK(has(page, "<option value=\"2\" selected>"));
  CAF_CHECK(has(page, "name=\"" + seats_field(w.seats) + "\" value=\"A-1 A-2\""));
}

} // namespace

CAF_TEST(an access code leaves the form as it was typed) {
  shop w;
  for (const auto* action : {"join", "quote", "buy"}) { // Enter in the code's field presses the first button
    w.told->asked_join = {};
    const auto page = w.post(w.typed() + "&access_code=fanclub&action=" + action);
    CAF_CHECK_EQUAL(page.status, 200u);
    CAF_CHECK_EQUAL(w.told->asked_join.access_code, "fanclub");
    CAF_CHECK(has(page, "role=\"status\">The code fanclub is in use.</p>"));
    CAF_CHECK(!has(page, "value=\"fanclub\"")); // it is used
    check_is_as_typed(w, page);
  }
  CAF_CHECK(w.told->asked_order.event.is_nil() && w.told->asked_quote.event.is_nil());
}

CAF_TEST(a refused access code leaves the form as it was typed) {
  shop w;
  w.told->entry.no = reason::access_code_invalid;
  const auto page = w.post(w.typed() + "&access_code=nosuch&action=join");
  CAF_CHECK_EQUAL(page.status, 422u);
  CAF_CHECK(has(page, "This access code cannot be used.") && !has(page, "is in use"));
  check_is_as_typed(w, page);
  w.told->asked_join = {};
  CAF_CHECK_EQUAL(w.post(w.typed() + "&access_code=&action=join").status, 422u);
  CAF_CHECK(w.told->asked_join.event.is_nil()); // no code is no wish for a place
}

CAF_TEST(a form without the access code buys) {
  shop w;
  w.told->quote.no = reason::promo_code_invalid;
  const auto page = w.post(w.typed() + "&access_code=&action=quote");
  CAF_CHECK(page.status == 409 && has(page, "This promo code cannot be used."));
  check_is_as_typed(w, page);
  CAF_CHECK_EQUAL(w.told->asked_quote.wish.promo_code, "EARLY");
}

CAF_TEST(wheelchair places that are not clear are refused in words) {
  shop w;
  w.told->quote.no = w.told->order.no = reason::seat_accessible_unclear;
  for (const auto* action : {"quote", "buy"}) {
    const auto page = w.post(w.typed() + "&q.1.1=Yam&q.1.3=Yam&q.1.4=Yam&action=" + action);
    CAF_CHECK_EQUAL(page.status, 409u);
    CAF_CHECK(has(page, "We cannot tell which of these tickets is for the wheelchair place."));
    check_is_as_typed(w, page);
  }
  CAF_CHECK_EQUAL(w.told->asked_quote.wish.seats.asks_accessible, 2u);
}

CAF_TEST(the choice says that best seats may have a restricted view if the plan has such seats) {
  shop w;
  w.told->quote.no = reason::no_best_seats;
  const auto says = [&] {
    return has(w.post(w.typed() + "&action=quote"), "They may have a restricted view.");
  };
  CAF_CHECK(!says());
  w.told->event.event.has_obstructed_seats = true;
  CAF_CHECK(says());
}

CAF_TEST(one seat that cannot be sold alone is not called a group) {
  shop w;
  w.told->quote.no = w.told->order.no = reason::no_best_seats;
  const auto says = [&](const std::string& number, const std::string& action) {
    const auto page =
      w.post("key=k-123456789&first_name=Ada&last_name=Obi&email=ada%40example.org&q.1.1=Yam&q.1.2=Yam&"
             + quantity_field(w.numbers) + "=" + number + "&action=" + action);
    CAF_CHECK_EQUAL(page.status, 409u);
    return has(page, "role=\"alert\">No single seat can be sold now");
  };
  for (const auto* action : {"quote", "buy"}) {
    CAF_CHECK(says("1", action));
    CAF_CHECK(!says("2", action));
    CAF_CHECK(!says("1&accessible=1", action)); // perhaps no wheelchair place is left
  }
}

CAF_TEST(a ticket type outside its window or before the sale is refused in words) {
  shop w;
  for (const auto why : {reason::not_on_sale, reason::sale_not_started}) {
    w.told->quote.no = w.told->order.no = why;
    for (const auto* action : {"quote", "buy"}) {
      const auto page = w.post(w.typed() + "&q.1.1=Yam&q.1.3=Yam&q.1.4=Yam&action=" + action);
      CAF_CHECK(page.status == 409u && has(page, "Not on sale now"));
      check_is_as_typed(w, page);
    }
  }
}

CAF_TEST(the shops list leads to its next page) {
  shop w;
  auto event = w.told->event.event;
  event.event.status = event_status::active;
  event.event.aggregate = aggregate_id{99};
  w.told->list.events = {event};
  CAF_CHECK(!has(w.send(method::get, "/shop"), "?cursor="));
  w.told->list.more = true;
  const auto first = w.send(method::get, "/shop");
  CAF_CHECK(w.told->asked_list.after == aggregate_id{} && has(first, "More events"));
  const auto next = "/shop?cursor=" + w.shared.cursors.encode({}, event.event.aggregate);
  CAF_REQUIRE(has(first, "href=\"" + next + '"'));
  w.told->list = {};
  const auto last = w.send(method::get, next);
  CAF_CHECK(w.told->asked_list.after == event.event.aggregate);
  CAF_CHECK(last.status == 200u && !has(last, "?cursor="));
  CAF_CHECK_EQUAL(shown(w.send(method::get, "/shop?cursor=x")), "400 invalid_cursor");
}

} // namespace shop_routes_test
