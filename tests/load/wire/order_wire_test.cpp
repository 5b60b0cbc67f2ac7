// SPDX-License-Identifier: Apache-2.0
// Reading and writing the JSON of orders and of the organizer's books.
#define CAF_SUITE load.order_wire
#include "caf/test/unit_test.hpp"

#include "load/wire/order_wire.hpp"
#include "load/wire/wire.hpp"

#include <boost/json/serialize.hpp>

using namespace fq::load;

namespace {

const std::string id_text = "0192f1c0-0000-7000-8000-0000000000ab";

std::string order_text(const std::string& status = "success") {
  return R"({"order_id":")" + id_text + R"(","claim_id":")" + id_text + R"(","status":")" + status
         + R"(","promo_code":"HALF","subtotal":1000,"discount":500,"donations":20,"platform_fee":300,)"
           R"("processing_fee":54,"total":874,"currency":"EUR","contact":{"email":"fan-12@load-ab.example"},)"
           R"("items":[{"ticket_type_id":")"
         + id_text
         + R"(","quantity":2,"unit_price":500,"unit_discount":250,"donation":10,"refunded_quantity":1}],)"
           R"("refunded_amount":7,"payment_id":")"
         + id_text + R"(","payment_status":"CONFIRMED"})";
}

} // namespace

CAF_TEST(an accepted checkout and a ready one are read) {
  const auto accepted = read_order_status(
    parse_object(R"({"order_id":")" + id_text + R"(","status":"processing","poll_after_ms":500})"));
  CAF_REQUIRE(accepted.has_value());
  CAF_CHECK(accepted->status == order_status::pending);
  CAF_CHECK_EQUAL(accepted->poll_after_ms, 500);
  const auto ready = read_order_status(
    parse_object(R"({"order_id":")" + id_text
                 + R"(","status":"awaiting_payment","payment_url":null,"payments_url":"/claims/x/payments",)"
                   R"("can_retry":true})"));
  CAF_REQUIRE(ready.has_value());
  CAF_CHECK(ready->status == order_status::awaiting_payment);
  CAF_CHECK(ready->can_retry);
  CAF_CHECK_EQUAL(ready->payment_url, "");
  CAF_CHECK_EQUAL(ready->payments_url, "/claims/x/payments");
  CAF_CHECK(
    !read_order_status(parse_object(R"({"order_id":")" + id_text + R"(","status":"sleeping"})")).has_value());
  CAF_CHECK(!read_order_status(parse_object("{}")).has_value());
}

CAF_TEST(a whole order is read) {
  const auto order = read_order(parse_object(order_text()));
  CAF_REQUIRE(order.has_value());
  CAF_CHECK(order->status == order_status::success);
  CAF_REQUIRE(order->terms.has_value());
  CAF_CHECK_EQUAL(order->terms->total, 874);
  CAF_CHECK_EQUAL(order->terms->promo_code, "HALF");
  CAF_CHECK_EQUAL(order->terms->items.at(0).unit_discount, 250);
  CAF_CHECK_EQUAL(order->terms->items.at(0).refunded, 1);
  CAF_CHECK_EQUAL(order->refunded_amount, 7);
  CAF_CHECK(order->payment_state == payment_status::confirmed);
}

CAF_TEST(an order that hides an amount is malformed) {
  for (const std::string name :
       {"subtotal", "discount", "donations", "platform_fee", "processing_fee", "total", "refunded_amount",
        "claim_id", "items", "unit_price", "unit_discount", "quantity"}) {
    auto text = order_text();
    text.replace(text.find("\"" + name + "\""), name.size() + 2, "\"x\"");
    CAF_MESSAGE(name);
    CAF_CHECK(!read_order(parse_object(text)).has_value());
  }
}

CAF_TEST(pages of the books are read and a bad row spoils its page) {
  const auto page = read_event_orders(
    parse_object(R"({"items":[)" + order_text() + "," + order_text("failed") + R"(],"next_cursor":"c"})"),
    "load-ab");
  CAF_REQUIRE(page.has_value());
  CAF_CHECK_EQUAL(page->rows.size(), 2u);
  CAF_CHECK_EQUAL(page->next_cursor, "c");
  CAF_CHECK(page->rows[0].fan == std::size_t{12});
  CAF_CHECK(!read_event_orders(parse_object(R"({"items":[{}],"next_cursor":null})"), "load-ab").has_value());
  const auto codes = read_promo_codes(
    parse_object(R"({"items":[{"code":"A","uses":3,"uses_max":null},{"code":"B","uses":0,"uses_max":9}],)"
                 R"("next_cursor":null})"));
  CAF_REQUIRE(codes.has_value());
  CAF_CHECK_EQUAL(codes->rows[0].uses_max, 0);
  CAF_CHECK_EQUAL(codes->rows[1].uses_max, 9);
  CAF_CHECK_EQUAL(codes->next_cursor, "");
  const auto stats = read_stats(parse_object(R"({"sold":3,"held":1})"));
  CAF_REQUIRE(stats.has_value());
  CAF_CHECK_EQUAL(stats->sold, 3);
  CAF_CHECK(!read_stats(parse_object(R"({"sold":3})")).has_value());
}

CAF_TEST(an order is known by the address of its fan) {
  CAF_CHECK_EQUAL(address_of(7, "load-1"), "fan-7@load-1.example");
  CAF_CHECK(fan_of("fan-7@load-1.example", "load-1") == std::size_t{7});
  for (const auto* other : {"fan-7@load-2.example", "fan-x@load-1.example", "fan-@load-1.example",
                            "ada@example.org", "", "fan-07@load-1.example"})
    CAF_CHECK(!fan_of(other, "load-1").has_value());
}

CAF_TEST(a wish is written with what it has) {
  checkout_wish wish;
  wish.event = id_text;
  wish.email = "fan-1@x.example";
  wish.items = {{parse_uuid(id_text).value(), 2, 0, 0, 15, 0}, {parse_uuid(id_text).value(), 1, 0, 0, 0, 0}};
  const auto plain = parse_object(checkout_text(wish));
  CAF_REQUIRE(plain.is_object());
  CAF_CHECK(!plain.as_object().contains("admission_token"));
  CAF_CHECK(!plain.as_object().contains("promo_code"));
  CAF_CHECK_EQUAL(plain.at("items").at(0).at("donation").as_int64(), 15);
  CAF_CHECK(!plain.at("items").at(1).as_object().contains("donation"));
  CAF_CHECK_EQUAL(text_member(plain.at("contact"), "email"), "fan-1@x.example");
  wish.admission_token = "t";
  wish.promo_code = "HALF";
  const auto full = parse_object(checkout_text(wish));
  CAF_CHECK_EQUAL(text_member(full, "admission_token"), "t");
  CAF_CHECK_EQUAL(text_member(full, "promo_code"), "HALF");
}

CAF_TEST(a checkout names seats and answers the questions of buyer and attendees) {
  checkout_wish wish;
  wish.event = id_text;
  wish.items = {{parse_uuid(id_text).value(), 2, 0, 0, 0, 0, {"A-1", "A-2"}}};
  wish.questions = {{3, false, "yes"}, {5, true, "M"}};
  const auto text = parse_object(checkout_text(wish));
  CAF_CHECK_EQUAL(boost::json::serialize(text.at("items").at(0).at("seats")), R"(["A-1","A-2"])");
  CAF_CHECK_EQUAL(boost::json::serialize(text.at("answers")),
                  R"([{"question_id":3,"value":"yes"},)"
                  R"({"question_id":5,"value":"M","attendee":1},)"
                  R"({"question_id":5,"value":"M","attendee":2}])");
}
