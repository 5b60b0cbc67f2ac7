// SPDX-License-Identifier: Apache-2.0
// Questions of an event: what may be asked, which answers fit, and that no order is placed without them.
#define CAF_SUITE domain_sale_questions
#include "domain/sale/questions.hpp"
#include "tests/domain/sale/orders_fixture.hpp"

namespace questions_test {

using namespace fq;
using namespace fq::test;

namespace {

using answers = std::vector<answer_row>;

const question meal{3, question_kind::choice, true, true, "Meal?", {"Rice", "Yam"}};
const question note{1, question_kind::text, false, false, "Anything else?", {}};
const question terms{2, question_kind::consent, false, true, "I accept the terms.", {}};
const std::vector<question> all{note, terms, meal};

std::string said(const refusal& no) { return no ? std::string{code_of(no.why)} + " " + no.detail : "fits"; }

std::string said(answers given, std::uint32_t units = 1) { return said(settle_answers(all, units, given)); }

std::string said(const question& q) { return said(check_questions({q}, 4)); }

} // namespace

CAF_TEST(an id belongs to one text for ever) {
  auto now = all;
  std::uint32_t last = 5; // 4 and 5 are gone
  const auto numbered = [&](std::vector<question> given) {
    number_questions(now, given, last);
    const auto no = check_questions(given, 4);
    if (!no) now = given;
    std::string ids;
    for (const auto& q : given) ids += std::to_string(q.id) + ' ';
    return no ? said(no) : ids;
  };
  CAF_CHECK_EQUAL(numbered(all), "1 2 3 ");
  const question club{0, question_kind::text, false, false, "Club?", {}};
  CAF_CHECK_EQUAL(numbered({meal, terms, club, club, note}), "3 2 6 7 1 ");
  auto optional_terms = terms;
  optional_terms.is_required = false;
  CAF_CHECK_EQUAL(numbered({optional_terms, meal, note}), "2 3 1 "); // asks the same
  auto others = std::vector{terms, meal, meal, note};
  others[0].label = "I accept the new terms.";
  others[1].choices = {"Rice", "Fish"};
  others[2].of_attendee = false;
  others[3].kind = question_kind::consent;
  CAF_CHECK_EQUAL(numbered(others), "8 9 10 11 ");
  for (const auto id : {1u, 7u, 12u, 1'000'000u})
    CAF_CHECK_EQUAL(numbered({{id, question_kind::text, false, false, "Anything else?", {}}}),
                    "invalid_field questions[0].id: must be of a question that the event has");
  CAF_CHECK_EQUAL(numbered({}), "");
  CAF_CHECK_EQUAL(numbered({club}), "12 ");
  last = question_id_max;
  CAF_CHECK_EQUAL(numbered({club}),
                  "invalid_field questions: have changed a million times; leave them as they are");
}

CAF_TEST(an event keeps the number of its last question) {
  orders_fixture f;
  const auto ask = [&](std::vector<question> asked) {
    event_patch p;
    p.set(&event_row::questions, std::move(asked));
    const auto no = f.s.patch(p);
    return no ? 0u : f.s.it->event().questions_numbered;
  };
  auto consent = terms;
  consent.id = 0;
  CAF_CHECK_EQUAL(ask({consent}), 1u);
  CAF_CHECK_EQUAL(ask({}), 1u);
  CAF_CHECK_EQUAL(ask({terms}), 0u); // 2 is none of its questions
  CAF_CHECK_EQUAL(ask({consent}), 2u);
  CAF_CHECK_EQUAL(f.s.it->event().questions.at(0).id, 2u);
  f.sound();
}

CAF_TEST(questions that nobody could answer are refused) {
  CAF_CHECK_EQUAL(said(meal), "fits");
  auto q = meal;
  q.choices = {"Rice"};
  CAF_CHECK_EQUAL(said(q), "invalid_field questions[0].choices: must have 2 to 20 entries");
  q.choices = {"Rice", "Rice"};
  CAF_CHECK_EQUAL(said(q), "invalid_field questions[0].choices: must be different lines of 1 to 100 bytes");
  q = note;
  q.choices = {"Rice", "Yam"};
  CAF_CHECK_EQUAL(said(q), "invalid_field questions[0].choices: are for the kind choice only");
  q = note;
  q.label = "two\nlines";
  CAF_CHECK_EQUAL(said(q), "invalid_field questions[0].label: must be one line of 1 to 200 bytes");
  CAF_CHECK_EQUAL(said(check_questions({note, note}, 4)),
                  "invalid_field questions[0].id: must be given once");
  CAF_CHECK(check_questions(std::vector(questions_max + 1, note), 4));
}

CAF_TEST(the required answers of the largest order fit into a checkout) {
  CAF_CHECK_EQUAL(said(check_questions(all, 99)), "fits"); // terms of the buyer, a meal of each attendee
  CAF_CHECK_EQUAL(said(check_questions(all, 100)),
                  "invalid_field questions: the required ones must need at most 100 answers of an order with "
                  "max_per_order tickets, not 101");
  orders_fixture f;
  event_patch p;
  p.set(&event_row::questions,
        std::vector(questions_max, question{0, question_kind::text, true, true, "Name?", {}}));
  CAF_CHECK(!f.s.patch(p));
  event_patch more;
  more.ticket_types.emplace_back();
  more.ticket_types[0].values.id = f.s.type(1).id;
  more.ticket_types[0].set(&ticket_type_row::max_per_order, 11u);
  CAF_CHECK(f.s.patch(more).why == reason::invalid_field);
}

CAF_TEST(answers fit their questions) {
  CAF_CHECK_EQUAL(said({{2, 0, "", "yes"}, {3, 1, "", "Yam"}}), "fits");
  CAF_CHECK_EQUAL(said({{2, 0, "", "yes"}, {3, 1, "", "Yam"}, {1, 0, "", "Ọ dàbọ̀"}}), "fits");
  CAF_CHECK_EQUAL(said(answers(101)), "invalid_field answers: must have at most 100 entries");
  CAF_CHECK_EQUAL(said({{2, 0, "", "yes"}}), "invalid_field answers: question 3 is required of attendee 1");
  CAF_CHECK_EQUAL(said({{2, 0, "", "yes"}, {3, 1, "", "Yam"}}, 2),
                  "invalid_field answers: question 3 is required of attendee 2");
  CAF_CHECK_EQUAL(said({{2, 0, "", ""}, {3, 1, "", "Yam"}}), "invalid_field answers: question 2 is required");
  CAF_CHECK_EQUAL(said({{2, 0, "", "no"}}), "invalid_field answers[0].value: must be yes, or empty");
  CAF_CHECK_EQUAL(said({{3, 1, "", "Fish"}}), "invalid_field answers[0].value: is not one of the choices");
  CAF_CHECK_EQUAL(said({{3, 2, "", "Yam"}}),
                  "invalid_field answers[0].attendee: must be 1 to the number of tickets");
  CAF_CHECK_EQUAL(said({{2, 1, "", "yes"}}),
                  "invalid_field answers[0].attendee: is for questions to attendees only");
  CAF_CHECK_EQUAL(said({{9, 0, "", "yes"}}),
                  "invalid_field answers[0].question_id: the event does not ask this");
  CAF_CHECK_EQUAL(said({{2, 0, "", "yes"}, {2, 0, "", "yes"}, {3, 1, "", "Yam"}}),
                  "invalid_field answers: question 2 is answered twice");
  CAF_CHECK_EQUAL(said({{1, 0, "", "a\tb"}}),
                  "invalid_field answers[0].value: must be one line of at most 500 bytes");
}

CAF_TEST(answers are kept as they were asked) {
  answers given{{3, 1, "", "Yam"}, {1, 0, "", ""}, {2, 0, "", "yes"}};
  CAF_REQUIRE(!settle_answers(all, 1, given));
  CAF_CHECK((given == answers{{2, 0, "I accept the terms.", "yes"}, {3, 1, "Meal?", "Yam"}}));
}

CAF_TEST(questions and answers survive as text) {
  CAF_CHECK(questions_of(text_of(all)) == all);
  CAF_CHECK(questions_of("")->empty());
  for (const auto* wrong :
       {"x", "1\ttext\tbuyer\toptional", "1\tguess\tbuyer\toptional\tA?", "1\ttext\tcat\toptional\tA?"})
    CAF_CHECK(!questions_of(wrong));
  const answers given{{2, 0, "I accept the terms.", "yes"}, {3, 1, "Meal?", "Yam"}};
  CAF_CHECK(answers_of(text_of(given)) == given);
  CAF_CHECK(answers_of("")->empty());
  for (const auto* wrong : {"x", "1\t0\tA?", "01\t0\tA?\tb"}) CAF_CHECK(!answers_of(wrong));
}

CAF_TEST(an order needs the answers of all its attendees) {
  orders_fixture f;
  event_patch p;
  auto dish = meal;
  dish.id = 0;
  p.set(&event_row::questions, std::vector{dish});
  CAF_REQUIRE(!f.s.patch(p));
  f.s.join(1);
  const auto refused = f.s.order(1, {f.standard(2)});
  CAF_CHECK_EQUAL(said(refused.no), "invalid_field answers: question 1 is required of attendee 1");
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  f.s.answers = {{1, 1, "", "Yam"}, {1, 2, "", "Rice"}};
  CAF_CHECK(!f.s.order(1, {f.standard(2)}).no);
  CAF_CHECK((f.s.order_of(1).contact.answers == answers{{1, 1, "Meal?", "Yam"}, {1, 2, "Meal?", "Rice"}}));
  f.sound();
}

CAF_TEST(a claim without an order takes no answers) {
  orders_fixture f;
  const auto ask = [&](question asked) {
    event_patch p;
    asked.id = 0;
    p.set(&event_row::questions, std::vector{asked});
    CAF_REQUIRE(!f.s.patch(p));
  };
  ask(terms);
  f.s.join(1);
  CAF_CHECK_EQUAL(said(f.s.claim(1)),
                  "invalid_field answers: the event requires some, which only POST /checkout takes");
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  ask(note);
  CAF_CHECK(!f.s.claim(1));
  f.sound();
}

} // namespace questions_test
