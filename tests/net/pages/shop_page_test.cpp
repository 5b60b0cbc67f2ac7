// SPDX-License-Identifier: Apache-2.0
// The shop's pages: windows of ticket types, the state of an event in the list, the names in an order.
#define CAF_SUITE shop_page
#include "caf/test/unit_test.hpp"

#include "net/pages/shop_page.hpp"
#include "net/pages/wait_page.hpp"

#include <boost/json/parse.hpp>

#include <string>

namespace shop_page_test {

using namespace fq;
using namespace fq::net;

CAF_TEST(an order names its ticket types itself also hidden ones) {
  const std::string base;
  event_row event;
  event.name = "Derby";
  order_view order;
  order.claim.currency = "EUR";
  order.claim.claim.items = {{0, 2, 500, 0, 0}};
  order.claim.item_ids = {{7, 1}};
  order.claim.item_names = {"Fan club"};
  const shopper who{language::en, base, from_unix_ms(0)};
  const auto body = render(order_page(who, order, event), base, {}).body;
  CAF_CHECK(body.find("<b>2 × Fan club</b>") != std::string::npos);
}

CAF_TEST(a ticket type is for sale inside its window only) {
  const std::string base;
  const form empty;
  const auto noon = from_unix_ms(1'800'000'000'000);
  event_view event;
  event.event.currency = "EUR";
  event.event.facts.starts_at = noon + seconds{86'400};
  event.event.status = event_status::active;
  event.has_seats = true;
  event.ticket_types = {{.id = {7, 1}, .name = "Early", .price = 500, .total = 9, .max_per_order = 4},
                        {.id = {7, 2}, .name = "Late", .price = 900, .total = 9, .max_per_order = 4}};
  auto &early = event.ticket_types[0], &late = event.ticket_types[1];
  early.sale_until = late.sale_from = noon;
  const auto has = [](const std::string& page, const std::string& part) {
    return page.find(part) != std::string::npos;
  };
  const auto offers_of = [&](const ticket_type_row& type, timestamp now) {
    const auto page = render(choice_page({language::en, base, now}, {event, nullptr, empty}), base, {}).body;
    const auto state = "\"name\":\"" + type.name + "\",\"price\":\"" + (type.price == 500 ? "5" : "9")
                       + ".00 EUR\",\"most\":4,\"on_sale\":";
    const bool is_offered = has(page, "<select id=\"" + quantity_field(type.id) + '"');
    CAF_CHECK(has(page, state + (is_offered ? "true" : "false")));
    CAF_CHECK_EQUAL(has(page, "On sale from <time datetime=\"2027-01-15T08:00:00.000Z\">"), now < noon);
    return is_offered;
  };
  const auto prices_at = [&](timestamp now) {
    const auto page = render(on_sale_page({language::en, base, now}, {event}), base, {}).body;
    return has(page, "<p>5.00 EUR</p>") ? "5" : has(page, "<p>9.00 EUR</p>") ? "9" : "";
  };
  const auto availability_at = [&](timestamp now) {
    wait_view view{.in = language::en, .base = base, .line = event, .url = "https://t.example/wait/1"};
    view.now = now;
    const auto data = boost::json::parse(wait_page(view).preview.linked_data);
    std::string all;
    for (const auto& offer : data.at("offers").as_array())
      all += std::string{offer.at("availability").as_string()}.substr(19) + ' ';
    return all;
  };
  const auto before = noon - seconds{1};
  CAF_CHECK(offers_of(early, before) && !offers_of(late, before));
  CAF_CHECK(!offers_of(early, noon) && offers_of(late, noon));
  CAF_CHECK_EQUAL(std::string{prices_at(before)}, "5");
  CAF_CHECK_EQUAL(std::string{prices_at(noon)}, "9");
  CAF_CHECK_EQUAL(availability_at(before), "InStock PreOrder ");
  CAF_CHECK_EQUAL(availability_at(noon), "SoldOut InStock ");
  event.event.sale_start = noon;
  CAF_CHECK_EQUAL(availability_at(before), "PreOrder PreOrder ");
}

CAF_TEST(the shops list says that a sale has not begun or is sold out) {
  const std::string base;
  const auto noon = from_unix_ms(1'800'000'000'000);
  event_view event;
  event.event.currency = "EUR";
  event.event.status = event_status::active;
  event.event.queue_opens_at = noon - seconds{60};
  event.event.sale_start = noon;
  const auto says = [&](timestamp now, std::string_view words, language in = language::en) {
    return render(on_sale_page({in, base, now}, {event}), base, {}).body.find(words) != std::string::npos;
  };
  const std::string begins = "The sale begins on <time datetime=\"2027-01-15T08:00:00.000Z\">";
  const std::string on_sale = "<span class=\"soft\">On sale</span>";
  CAF_CHECK(says(noon - seconds{1}, begins) && !says(noon - seconds{1}, on_sale));
  CAF_CHECK(says(noon - seconds{1}, "Prodaja počinje <time", language::hr));
  CAF_CHECK(!says(noon, begins) && says(noon, on_sale));
  event.sold_out = true;
  CAF_CHECK(says(noon, "None left just now") && !says(noon, on_sale));
}

} // namespace shop_page_test
