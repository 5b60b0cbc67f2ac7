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

} // namespace question_routes_test
