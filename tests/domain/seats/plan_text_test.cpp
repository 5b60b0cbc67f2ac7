// SPDX-License-Identifier: Apache-2.0
// The stored form of plans: reads back as the same plan; anything else is refused.
#define CAF_SUITE domain_seat_plan_text
#include "domain/seats/plan_text.hpp"
#include "tests/domain/seats/sample_plan.hpp"

#include "caf/test/unit_test.hpp"

namespace plan_text_test {

using namespace fq;
using namespace fq::test;

namespace {

plan_draft full_draft() {
  auto draft = draft_of_rows({"acss|sSS", "ssss"});
  draft.name = "Große \"Halle\", Nord";
  draft.sections[0].rows[1].seats[2].obstructed = true;
  draft.sections.push_back({.code = "E", .name = "without rows", .rank = 3});
  draft.sections.push_back({.code = "T1", .rows = {row_of("", "ss", 900)}});
  draft.ticket_types.push_back("Steh");
  draft.areas.push_back({"F", "Floor", 2, 500, {5, 950}, 300, 200});
  return draft;
}

} // namespace

CAF_TEST(a plan is a text and back) {
  const auto plan = make_plan(full_draft()).plan;
  CAF_REQUIRE(plan != nullptr);
  const auto again = plan_of_text(text_of(*plan));
  CAF_REQUIRE(again != nullptr);
  CAF_CHECK(*again == *plan);
  CAF_CHECK_EQUAL(text_of(*again), text_of(*plan));
}

CAF_TEST(a text gets other names for ticket types and stays the same plan otherwise) {
  auto draft = full_draft();
  const auto text = text_of(*make_plan(draft).plan);
  std::vector<std::string> names(draft.ticket_types.size());
  CAF_REQUIRE(names.size() > 1);
  CAF_CHECK_EQUAL(with_type_names(text, names), text);
  names.back() = draft.ticket_types.back() = "another";
  CAF_CHECK_EQUAL(with_type_names(text, names), text_of(*make_plan(draft).plan));
  CAF_CHECK_EQUAL(with_type_names("", names), "");
}

CAF_TEST(random plans are texts and back) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    dice d{seed};
    const auto plan = make_plan(random_draft(d)).plan;
    if (plan == nullptr) continue;
    const auto again = plan_of_text(text_of(*plan));
    FQ_HOLDS(seed, again != nullptr && *again == *plan);
  }
}

CAF_TEST(a text that was cut or changed is no plan) {
  const auto text = text_of(*make_plan(full_draft()).plan);
  for (std::size_t size = 0; size < text.size(); ++size)
    if (text[size] != '\n' && (size == 0 || text[size - 1] != '\n'))
      CAF_CHECK(plan_of_text(text.substr(0, size)) == nullptr);
  for (const std::string wrong :
       {"p\tHall\t1\n", "p\tHall\t1\t2\t3\n", "x\n", "r\tA\t1,1,1,0,0\n", "p\tHall\tone\t2\n", "\n"})
    CAF_CHECK(plan_of_text(wrong + text) == nullptr);
}

} // namespace plan_text_test
