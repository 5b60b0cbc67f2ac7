// SPDX-License-Identifier: Apache-2.0
// Drawings of plans: an element for each seat, escaped text, bounded size.
#define CAF_SUITE domain_seat_drawing
#include "domain/seats/drawing.hpp"
#include "domain/seats/hall.hpp"
#include "tests/domain/seats/sample_plan.hpp"

#include "caf/test/unit_test.hpp"

namespace drawing_test {

using namespace fq;
using namespace fq::test;

namespace {

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

bool has(std::string_view text, std::string_view what) { return count_of(text, what) > 0; }

/// 50,000 seats in four curved sections.
hall stadium() {
  hall h;
  h.radius = 3'000;
  h.stage_distance = 3'000;
  h.aisles = 12;
  for (int i = 0; i < 4; ++i)
    h.sections.push_back({.code = "S" + std::to_string(i + 1),
                          .name = "Section " + std::to_string(i + 1),
                          .ticket_type = "Type " + std::to_string(i % 3),
                          .rows = 50,
                          .seats = 250});
  return h;
}

} // namespace

CAF_TEST(a drawing has each seat row section and area once) {
  auto draft = draft_of_rows({"acss", "SSs"});
  draft.sections[0].name = "Parkett";
  draft.sections[0].rows[1].seats[2].obstructed = true;
  draft.areas.push_back({.code = "F",
                         .name = "Floor",
                         .type = 1,
                         .places = 500,
                         .corner = {0, 900},
                         .width = 300,
                         .height = 200});
  const auto svg = draw(*make_plan(draft).plan);
  CAF_CHECK_EQUAL(count_of(svg, "<circle"), 7u);
  for (int i = 0; i < 7; ++i) CAF_CHECK_EQUAL(count_of(svg, "id=\"s" + std::to_string(i) + "\""), 1u);
  CAF_CHECK_EQUAL(count_of(svg, "class=\"a\""), 1u);
  CAF_CHECK_EQUAL(count_of(svg, "class=\"c\""), 1u);
  CAF_CHECK_EQUAL(count_of(svg, "class=\"o\""), 1u);
  CAF_CHECK_EQUAL(count_of(svg, "<g class=\"t0\">"), 2u);
  CAF_CHECK_EQUAL(count_of(svg, "<g class=\"t1\">"), 1u);
  CAF_CHECK(has(svg, ">Parkett</text>") && has(svg, ">A</text>") && has(svg, ">Floor · 500</text>"));
  CAF_CHECK(has(svg, "id=\"section-0\"") && has(svg, "<g id=\"area-0\" class=\"area t1\">"));
  CAF_CHECK(has(svg, "data-row=\"B\""));
  CAF_CHECK_EQUAL(count_of(svg, "<g"), count_of(svg, "</g>"));
  CAF_CHECK(!has(svg, "<style"));
  CAF_CHECK(has(draw(*make_plan(draft).plan, drawing_style::built_in), "<style"));
}

CAF_TEST(all text is escaped) {
  auto draft = draft_of_rows({"ss"});
  draft.sections[0].name = "<script>\"x\" & 'y'</script>";
  draft.areas.push_back({.code = "F", .name = "<b>", .places = 1, .width = 10, .height = 10});
  const auto svg = draw(*make_plan(draft).plan);
  CAF_CHECK(has(svg, ">&lt;script&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/script&gt;</text>"));
  CAF_CHECK(has(svg, ">&lt;b&gt; · 1</text>"));
  CAF_CHECK(!has(svg, "<script") && !has(svg, "<b>"));
}

CAF_TEST(a plan without seats and one of a single seat are drawn) {
  plan_draft draft;
  draft.ticket_types = {"One"};
  draft.areas.push_back({.code = "F", .places = 1, .width = 10, .height = 10});
  CAF_CHECK(has(draw(*make_plan(draft).plan), "area-0"));
  draft = draft_of_rows({"s"});
  draft.sections.push_back({.code = "E"}); // a section without rows
  CAF_CHECK_EQUAL(count_of(draw(*make_plan(draft).plan), "<circle"), 1u);
}

CAF_TEST(a drawing of 50000 seats has at most 2 MiB and is always the same) {
  const auto plan = make_plan(draft_of(stadium())).plan;
  CAF_REQUIRE(plan != nullptr);
  CAF_CHECK_EQUAL(plan->seats().size(), 50'000u);
  const auto svg = draw(*plan);
  CAF_CHECK_EQUAL(count_of(svg, "<circle"), 50'000u);
  CAF_CHECK(svg.size() <= 2 * 1024 * 1024);
  CAF_CHECK(svg == draw(*plan));
}

} // namespace drawing_test
