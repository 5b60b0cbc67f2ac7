// SPDX-License-Identifier: Apache-2.0
// The ticket choice's form: questions, answers and a donation.
#define CAF_SUITE shop_form
#include "caf/test/unit_test.hpp"

#include "net/pages/shop_form.hpp"

namespace shop_form_test {

using namespace fq;
using namespace fq::net;

namespace {

const ticket_type_id type_id{0x77, 1};

event_view concert() {
  event_view view;
  view.event.name = "Concert";
  view.event.currency = "EUR";
  view.event.questions = {{1, question_kind::choice, true, true, "Meal?", {"Rice", "<Yam>"}},
                          {2, question_kind::consent, false, true, "I accept the terms.", {}},
                          {3, question_kind::text, false, false, "Anything else?", {}}};
  ticket_type_row type;
  type.id = type_id;
  type.name = "Standing";
  type.price = 1'000;
  type.total = 10;
  type.max_per_order = 4;
  view.ticket_types = {type, type};
  view.ticket_types[1].id = {0x77, 2};
  return view;
}

form sent(const std::string& body) {
  request rq;
  rq.fields = {{"Content-Type", "application/x-www-form-urlencoded"}};
  rq.body = body;
  std::optional<response> no;
  auto fields = form::read(rq, no);
  CAF_REQUIRE(!no);
  return fields;
}

std::string page_of(const event_view& event, const form& fields, const std::string& problem = {}) {
  const std::string base;
  choice_view choice{event, nullptr, fields};
  choice.problem = problem;
  choice.takes_donations = true;
  return render(choice_page({language::en, base, from_unix_ms(1'800'000'000'000)}, choice), base, {}).body;
}

bool has(const std::string& page, std::string_view part) { return page.find(part) != std::string::npos; }

} // namespace

CAF_TEST(the form asks the buyer and then as many attendees as there are tickets) {
  const auto event = concert();
  const auto empty = sent("");
  const auto first = page_of(event, empty);
  CAF_CHECK(has(first, "name=\"q.2\"") && has(first, "name=\"q.3\""));
  CAF_CHECK(!has(first, "name=\"q.1.1\""));
  CAF_CHECK(has(first, "They appear when you have chosen tickets"));
  CAF_CHECK(has(first, "name=\"phone\"") && has(first, "name=\"donation\""));

  const auto two = "t." + to_string(type_id) + "=2&q.1.2=Rice&q.3=%22quiet%22";
  const auto fields = sent(two);
  const auto next = page_of(event, fields, "answers_missing");
  CAF_CHECK(has(next, "name=\"q.1.1\"") && has(next, "name=\"q.1.2\"") && !has(next, "name=\"q.1.3\""));
  CAF_CHECK(has(next, "<option value=\"Rice\" selected>Rice</option>"));
  CAF_CHECK(has(next, "&lt;Yam&gt;") && !has(next, "<Yam>"));
  CAF_CHECK(has(next, "value=\"&quot;quiet&quot;\""));
  CAF_CHECK(has(next, "id=\"e-q.1.1\"") && !has(next, "id=\"e-q.1.2\"") && has(next, "id=\"e-q.2\""));
}

CAF_TEST(the access code is a field of the form so that nothing typed is lost) {
  auto event = concert();
  event.takes_access_codes = true;
  const auto empty = sent("");
  const auto page = page_of(event, empty);
  const auto begin = page.find("data-choice"), end = page.find("</form>", begin);
  const auto code = page.find("name=\"access_code\"", begin), use = page.find("value=\"join\"", code);
  CAF_CHECK(begin < code && code < use && use < end && end != std::string::npos);
  CAF_CHECK(page.find("value=\"buy\"") < code); // Enter in another field buys, as before
}

CAF_TEST(a ticket type outside its window is not offered) {
  auto event = concert();
  const std::string base;
  const shopper who{language::en, base, from_unix_ms(1'800'000'000'000)};
  auto& early = event.ticket_types[0];
  early.price = 1'000;
  early.sale_until = who.now;
  event.ticket_types[1].price = 2'000;
  const auto empty = sent("");
  const auto page = page_of(event, empty);
  CAF_CHECK(has(page, "Not on sale now") && !has(page, "t." + to_string(early.id)));
  CAF_CHECK(has(page, "t." + to_string(event.ticket_types[1].id)));
  event.event.status = event_status::active;
  const auto list = render(on_sale_page(who, {event}), base, {}).body;
  CAF_CHECK(has(list, "20.00") && !has(list, "10.00"));
}

CAF_TEST(answers are those of the form and of no other attendee) {
  const auto event = concert();
  const auto fields = sent("t." + to_string(type_id) + "=1&q.1.1=Rice&q.1.2=Rice&q.2=yes&q.3=&q.9=x");
  const std::vector<answer_row> wanted{{1, 1, "", "Rice"}, {2, 0, "", "yes"}};
  CAF_CHECK(answers_in(fields, event.event.questions, 1) == wanted);
}

CAF_TEST(attendees with named seats are asked like others) {
  auto event = concert();
  event.has_seats = true;
  const auto fields =
    sent("s." + to_string(type_id) + "=A-1+A-2&t." + to_string(event.ticket_types[1].id) + "=1&q.1.3=Rice");
  const auto items = items_of(fields, event);
  CAF_REQUIRE(items);
  CAF_CHECK_EQUAL(units_in(*items), 3u);
  const auto page = page_of(event, fields, "answers_missing");
  CAF_CHECK(has(page, "name=\"q.1.3\"") && !has(page, "name=\"q.1.4\""));
  const std::vector<answer_row> wanted{{1, 3, "", "Rice"}};
  CAF_CHECK(answers_in(fields, event.event.questions, units_in(*items)) == wanted);
}

CAF_TEST(a form asks no more attendees than may get tickets) {
  auto event = concert();
  const auto why = [&](const std::string& quantity) {
    return why_not_asked(items_of(sent("t." + to_string(type_id) + '=' + quantity), event).value(), event);
  };
  CAF_CHECK_EQUAL(why("4"), "");
  CAF_CHECK_EQUAL(why("5"), "limit_exceeded");
  const auto many = sent("t." + to_string(type_id) + "=100");
  CAF_CHECK(!has(page_of(event, many, "limit_exceeded"), "name=\"q.1.1\""));
  event.ticket_types[0].sold = 7;
  CAF_CHECK_EQUAL(why("4"), "none_free");
  for (auto& type : event.ticket_types) {
    type.total = 1'000;
    type.max_per_order = 100;
  }
  CAF_CHECK_EQUAL(why("20"), "");
  CAF_CHECK_EQUAL(why("21"), "limit_exceeded");
  event.event.questions.erase(event.event.questions.begin());
  CAF_CHECK_EQUAL(why("100"), "");
}

CAF_TEST(a donation is an amount) {
  const auto amount = [](const std::string& text, std::string_view currency = "EUR") {
    return donation_in(sent("donation=" + text), currency).value_or(-1);
  };
  CAF_CHECK_EQUAL(donation_in(sent(""), "EUR").value_or(-1), 0);
  CAF_CHECK_EQUAL(amount("5"), 500);
  CAF_CHECK_EQUAL(amount("5.5"), 550);
  CAF_CHECK_EQUAL(amount("5%2c50"), 550);
  CAF_CHECK_EQUAL(amount("500", "JPY"), 500);
  for (const auto* wrong : {"-5", "5.555", "five", ".5", "5.5.5", "9999999999999999", "1e3"})
    CAF_CHECK_EQUAL(amount(wrong), -1);
  CAF_CHECK_EQUAL(amount("5.5", "JPY"), -1);
}

} // namespace shop_form_test
