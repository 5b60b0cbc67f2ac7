// SPDX-License-Identifier: Apache-2.0
// Seat plans: names, checks with places, order of quality, memory, generated halls.
#define CAF_SUITE domain_seat_plan
#include "domain/seats/hall.hpp"
#include "tests/domain/seats/sample_plan.hpp"

#include "caf/test/unit_test.hpp"

#include <limits>

namespace plan_test {

using namespace fq;
using namespace fq::test;

namespace {

/// "place: what" of each error.
std::vector<std::string> problems(const plan_draft& draft) {
  std::vector<std::string> out;
  for (const auto& e : errors_of(draft)) out.push_back(e.place + ": " + e.what);
  return out;
}

std::string first_place(const plan_draft& draft) {
  const auto errors = errors_of(draft);
  return errors.empty() ? "" : errors.front().place;
}

hall two_sections() {
  hall h;
  h.name = "Stadthalle";
  h.sections = {
    {.code = "P", .name = "Parkett", .ticket_type = "Parkett", .rows = 3, .seats = 10, .widening = 2},
    {.code = "B", .name = "Balkon", .ticket_type = "Balkon", .rows = 2, .seats = 9, .accessible = 2}};
  h.aisles = 1;
  h.radius = 900;
  return h;
}

} // namespace

CAF_TEST(seats have names of section row and label and are found by them) {
  auto draft = draft_of_rows({"sss", "ss"});
  draft.sections.push_back({.code = "T7", .name = "Table 7", .rows = {row_of("", "ss", 900)}});
  draft.sections.push_back({.code = "P", .name = "Parkett", .rows = {row_of("A", "ss", 950)}});
  const auto plan = make_plan(draft).plan;
  CAF_REQUIRE(plan != nullptr);
  CAF_CHECK_EQUAL(plan->name_of(0), "A-1");
  CAF_CHECK_EQUAL(plan->name_of(4), "B-2");
  CAF_CHECK_EQUAL(plan->name_of(5), "T7-1");
  CAF_CHECK_EQUAL(plan->name_of(8), "P-A-2");
  for (seat_number n = 0; n < plan->seats().size(); ++n) CAF_CHECK(plan->find(plan->name_of(n)) == n);
  for (const auto* name : {"", "-", "A", "A-", "A-4", "-1", "A-1-", "a-1", "C-1", "P-A-3", "P-1", "A-01"})
    CAF_CHECK(!plan->find(name));
  CAF_CHECK(plan->find_section("P") == 2);
  CAF_CHECK(!plan->find_section("Q"));
}

CAF_TEST(seats with two digits are found in rows of any order) {
  auto draft = draft_of_rows({std::string(40, 's')});
  std::ranges::reverse(draft.sections[0].rows[0].seats);
  const auto plan = make_plan(draft).plan;
  for (seat_number n = 0; n < 40; ++n) CAF_CHECK(plan->find("A-" + std::to_string(40 - n)) == n);
}

CAF_TEST(every error of a draft has its place) {
  const auto good = draft_of_rows({"ss", "ss"});
  CAF_CHECK(errors_of(good).empty());
  const auto place = [&](auto spoil) {
    auto draft = good;
    spoil(draft);
    return first_place(draft);
  };
  using draft_t = plan_draft&;
  CAF_CHECK_EQUAL(place([](draft_t d) { d.ticket_types.clear(); }), "ticket_types");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.ticket_types[1] = d.ticket_types[0]; }), "ticket_types[1]");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.ticket_types[0] = "=1"; }), "ticket_types[0]");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.name = "a\nb"; }), "name");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.name = "a;=b"; }), "name");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.name = std::string(101, 'x'); }), "name");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.focus = plan_point{-1, 0}; }), "focus");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].code = "A-B"; }), "sections[0].section");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rank = 1'000; }), "sections[0].rank");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections.push_back(d.sections[0]); }), "sections[1].section");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rows[1].label = "A"; }), "sections[0].rows[1].row");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rows[1].label = ""; }), "sections[0].rows[1].row");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rows[1].seats.clear(); }), "sections[0].rows[1].seats");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rows[1].seats[1].label = "1"; }),
                  "sections[0].rows[1].seats[1].seat");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rows[1].seats[0].label = "ä"; }),
                  "sections[0].rows[1].seats[0].seat");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rows[0].seats[0].type = 2; }),
                  "sections[0].rows[0].seats[0].ticket_type");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.sections[0].rows[0].seats[0].at.x = plan_extent_max + 1; }),
                  "sections[0].rows[0].seats[0].x");
  CAF_CHECK_EQUAL(
    place([](draft_t d) { d.areas.push_back({.code = "S", .places = 0, .width = 1, .height = 1}); }),
    "areas[0].places");
  CAF_CHECK_EQUAL(place([](draft_t d) { d.areas.push_back({.code = "S", .places = 1, .width = 1}); }),
                  "areas[0].width");
  CAF_CHECK_EQUAL(first_place({.ticket_types = {"One"}}), "sections");
}

CAF_TEST(rows whose names would be the same are refused) {
  auto draft = draft_of_rows({"ss"});
  draft.sections.push_back({.code = "A", .rows = {row_of("", "ss", 500)}});
  CAF_CHECK(problems(draft)
            == std::vector<std::string>{"sections[1].rows[0].row: Another row has the name A."});
}

CAF_TEST(two seats at one place are refused with the name of the other) {
  auto draft = draft_of_rows({"ss", "ss"});
  draft.sections[0].rows[1].seats[0].at = draft.sections[0].rows[0].seats[1].at;
  draft.sections[0].rows[1].seats[0].line = 17;
  const auto errors = errors_of(draft);
  CAF_REQUIRE_EQUAL(errors.size(), 1u);
  CAF_CHECK_EQUAL(errors[0].line, 17u);
  CAF_CHECK_EQUAL(errors[0].what, "Seat A-2 stands at the same place.");
}

CAF_TEST(a report of errors is bounded) {
  plan_draft draft = draft_of_rows({std::string(500, 's')});
  for (auto& s : draft.sections[0].rows[0].seats) s.label = "?";
  CAF_CHECK_EQUAL(errors_of(draft).size(), plan_errors_max);
}

CAF_TEST(plans beyond a limit are refused) {
  hall h;
  for (int i = 0; i < 100; ++i)
    h.sections.push_back({.code = "S" + std::to_string(i), .ticket_type = "One", .rows = 1, .seats = 500});
  h.section_gap = 0;
  auto draft = draft_of(h);
  CAF_CHECK(errors_of(draft).empty());
  draft.sections.push_back({.code = "X", .rows = {row_of("A", "s", 0)}});
  CAF_CHECK_EQUAL(problems(draft), std::vector<std::string>{"sections: A plan has at most 50000 seats."});
  draft.sections.resize(plan_sections_max + 1);
  CAF_CHECK_EQUAL(first_place(draft), "sections");
}

CAF_TEST(rows near the focus are better and the rank of a section comes first) {
  auto draft = draft_of_rows({"ssss", "ssss", "ssss"});
  draft.focus = plan_point{1'000, 500}; // behind the last row
  auto plan = make_plan(draft).plan;
  CAF_CHECK(std::ranges::equal(plan->rows_by_quality(), std::vector<std::uint16_t>{2, 1, 0}));
  draft.sections.push_back({.code = "B", .rank = 0, .rows = {row_of("A", "ssss", 5'000)}});
  draft.sections[0].rank = 1;
  plan = make_plan(draft).plan;
  CAF_CHECK(std::ranges::equal(plan->rows_by_quality(), std::vector<std::uint16_t>{3, 2, 1, 0}));
  CAF_CHECK_EQUAL(plan->rows()[3].quality, 0);
}

CAF_TEST(the best point of a row is its middle or the end that is clearly nearer) {
  auto draft = draft_of_rows({"ssssss"});
  CAF_CHECK_EQUAL(make_plan(draft).plan->rows()[0].best, 5);
  draft.focus = plan_point{0, 100}; // in line with the row, to the left
  CAF_CHECK_EQUAL(make_plan(draft).plan->rows()[0].best, 0);
  draft.focus = plan_point{2'000, 100};
  CAF_CHECK_EQUAL(make_plan(draft).plan->rows()[0].best, 10);
  const auto curved = make_plan(draft_of(two_sections())).plan;
  for (const auto& r : curved->rows()) CAF_CHECK_EQUAL(r.best, r.count - 1);
}

CAF_TEST(a hall has its rows seats aisles and accessible seats) {
  const auto draft = draft_of(two_sections());
  const auto made = make_plan(draft);
  CAF_REQUIRE(made.plan != nullptr);
  const auto& plan = *made.plan;
  CAF_CHECK_EQUAL(plan.seats().size(), 10u + 12 + 14 + 9 + 9);
  CAF_CHECK_EQUAL(plan.rows().size(), 5u);
  CAF_CHECK(plan.ticket_types() == (std::vector<std::string>{"Parkett", "Balkon"}));
  for (const auto& r : plan.rows()) {
    std::size_t aisles = 0;
    for (auto n = r.first; n < r.first + r.count; ++n)
      aisles += plan.seats()[n].has(seat_plan::aisle) ? 1 : 0;
    CAF_CHECK_EQUAL(aisles, 1u);
  }
  CAF_CHECK(plan.seats()[*plan.find("P-1-6")].has(seat_plan::aisle));
  CAF_CHECK(plan.seats()[*plan.find("B-2-1")].has(seat_plan::accessible));
  CAF_CHECK(plan.seats()[*plan.find("B-2-4")].has(seat_plan::companion));
  CAF_CHECK_EQUAL(plan.rows()[4].accessible, 2);
  CAF_CHECK(std::ranges::is_sorted(plan.rows_by_quality()));
}

CAF_TEST(a hall of any lengths and numbers is bounded) {
  for (const auto length :
       {std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()})
    for (const bool is_curved : {false, true}) {
      hall all{.name = "Hall", .sections = {}, .aisles = 4'000'000'000};
      all.sections.resize(600, {"P", "", "One", 4'000'000'000, 4'000'000'000, 4'000'000'000, 4'000'000'000});
      all.radius = is_curved ? length : 0;
      all.stage_distance = length;
      CAF_CHECK(draft_of(all).sections.size() <= plan_sections_max);
      all.stage_distance = 500;
      all.seat_width = all.row_depth = all.aisle_width = all.section_gap = length;
      std::size_t seats = 0;
      for (const auto& section : draft_of(all).sections)
        for (const auto& row : section.rows) {
          seats += row.seats.size();
          for (const auto& s : row.seats) CAF_REQUIRE(s.at.x >= 0 && s.at.y >= 0);
        }
      CAF_CHECK(seats <= plan_seats_max);
    }
}

CAF_TEST(letters of rows go on with two after Z) {
  CAF_CHECK_EQUAL(letters_of(0), "A");
  CAF_CHECK_EQUAL(letters_of(25), "Z");
  CAF_CHECK_EQUAL(letters_of(26), "AA");
  CAF_CHECK_EQUAL(letters_of(51), "AZ");
  CAF_CHECK_EQUAL(letters_of(52), "BA");
  CAF_CHECK_EQUAL(letters_of(701), "ZZ");
  CAF_CHECK_EQUAL(letters_of(702), "AAA");
}

} // namespace plan_test
