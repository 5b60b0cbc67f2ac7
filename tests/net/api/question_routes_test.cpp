// SPDX-License-Identifier: Apache-2.0
// Questions of events and the answers to them in JSON.
#define CAF_SUITE routes_questions
#include "caf/test/unit_test.hpp"

#include "tests/net/api/world.hpp"

namespace question_routes_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct asking : world {
  asking() {
    auto& order = told->order.order;
    order.order.id = make_uuid(clock.wall_now(), first_event_aggregate, 77);
    order.claim.event = event_id;
    order.claim.currency = "EUR";
  }
  response check_out(const std::string& more) {
    return send(method::post, "/checkout",
                R"({"event_id":")" + to_string(event_id)
                  + R"(","contact":{"first_name":"Ada","last_name":"Obi","email":"ada@example.org"})" + more
                  + "}",
                as_customer());
  }
};

} // namespace

CAF_TEST(answers are read with the checkout and shown in the order) {
  asking s;
  CAF_CHECK_EQUAL(
    s.check_out(
       R"(,"answers":[{"question_id":2,"value":"yes"},{"question_id":3,"attendee":1,"value":"Yam"}])")
      .status,
    202u);
  const std::vector<answer_row> wanted{{2, 0, "", "yes"}, {3, 1, "", "Yam"}};
  CAF_CHECK(s.told->asked_order.wish.contact.answers == wanted);
  CAF_CHECK_EQUAL(shown(s.check_out(R"(,"answers":[{"value":"yes"}])")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(s.check_out(R"(,"answers":[{"question_id":2,"value":7}])")), "400 invalid_field");

  s.told->order.order.order.contact.answers = {{3, 1, "Meal?", "Yam"}};
  const auto order =
    s.send(method::get, "/orders/" + to_string(s.told->order.order.order.id), {}, s.as_customer());
  const auto shown_answers = body_of(order).at("answers").as_array();
  CAF_REQUIRE_EQUAL(shown_answers.size(), 1u);
  CAF_CHECK(shown_answers[0].at("label").as_string() == "Meal?");
  CAF_CHECK(shown_answers[0].at("attendee").to_number<int>() == 1);
}

CAF_TEST(questions are read with the event and keep their ids) {
  asking s;
  const auto patch = [&](const std::string& questions) {
    return s.send(method::patch, s.event_path(""), R"({"questions":)" + questions + "}", s.as_organizer());
  };
  CAF_CHECK_EQUAL(
    patch(
      R"([{"id":3,"label":"Meal?","kind":"choice","to":"attendee","required":true,"choices":["Rice","Yam"]},)"
      R"({"label":"Anything else?","kind":"text"}])")
      .status,
    200u);
  const std::vector<question> wanted{{3, question_kind::choice, true, true, "Meal?", {"Rice", "Yam"}},
                                     {0, question_kind::text, false, false, "Anything else?", {}}};
  const auto* asked = s.told->asked_patch.patch.find(&event_row::questions);
  CAF_REQUIRE(asked != nullptr);
  CAF_CHECK(*asked == wanted);
  CAF_CHECK_EQUAL(shown(patch(R"([{"label":"A?","kind":"guess"}])")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(patch(R"([{"label":"A?","kind":"text","to":"cat"}])")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(patch("null")), "400 invalid_field");
}

CAF_TEST(the longest answers of a checkout are read) {
  asking s;
  std::string answer, answers;
  for (int i = 0; i < 250; ++i) answer += R"(\u00e9)";
  for (int n = 0; n < 100; ++n)
    answers += (n == 0 ? "" : ",") + (R"({"question_id":)" + std::to_string(1 + n % 10)) + R"(,"attendee":)"
               + std::to_string(1 + n / 10) + R"(,"value":")" + answer + R"("})";
  std::string items;
  for (std::uint64_t type = 0; type < 50; ++type) {
    const auto id = to_string(make_uuid(s.clock.wall_now(), first_event_aggregate, 100 + type));
    items += (type == 0 ? "" : ",") + (R"({"ticket_type_id":")" + id) + R"(","seats":["A-1"]})";
  }
  const auto body =
    R"({"event_id":")" + to_string(s.event_id) + R"(","items":[)" + items
    + R"(],"contact":{"email":"a@example.org","first_name":"Ann","last_name":"Bee"},"answers":[)" + answers
    + "]}";
  const auto found = s.paths.match(method::post, "/checkout");
  CAF_CHECK(found.found->body_limit >= body.size());
  const auto got = s.send(method::post, "/checkout", body, s.as_customer());
  CAF_CHECK_EQUAL(s.told->asked_order.wish.contact.answers.size(), 100u);
  CAF_CHECK_EQUAL(got.status, 202u);
}

CAF_TEST(the longest answers of a full form are read) {
  asking s;
  std::string answer;
  for (int i = 0; i < 500; ++i) answer += i % 2 == 0 ? "%C3" : "%A9"; // é
  std::string body = "action=buy&key=0123456789abcdef&first_name=Ada&last_name=Obi&email=ada%40example.org"
                     "&phone=123&donation=&promo_code=&accessible=";
  for (std::uint64_t type = 0; type < 50; ++type) {
    const auto id = to_string(make_uuid(s.clock.wall_now(), first_event_aggregate, 100 + type));
    body += "&t." + id + "=100&s." + id + '=';
  }
  for (int id = 1; id <= 10; ++id)
    for (int n = 1; n <= 10; ++n) body += "&q." + std::to_string(id) + '.' + std::to_string(n) + '=' + answer;
  const auto path = "/shop" + s.event_path("");
  const auto found = s.paths.match(method::post, path);
  CAF_CHECK(found.found->body_limit >= body.size());
  const auto got = s.send(method::post, path, body, {{"Content-Type", "application/x-www-form-urlencoded"}});
  CAF_CHECK_EQUAL(got.status, 303u); // the form is read, and the visitor is sent to the waiting page
}

} // namespace question_routes_test
