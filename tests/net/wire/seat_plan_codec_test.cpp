// SPDX-License-Identifier: Apache-2.0
// Files of seat plans: each form reads back as the same plan; every error has its line.
#define CAF_SUITE routes_seat_plan_codec
#include "caf/test/unit_test.hpp"

#include "net/wire/csv.hpp"
#include "net/wire/seat_plan_codec.hpp"
#include "tests/domain/seats/sample_plan.hpp"

namespace seat_plan_codec_test {

using namespace fq;
using namespace fq::net;
using namespace fq::test;

namespace {

plan_draft full_draft() {
  auto draft = draft_of_rows({"acss|sSS", "ssss"});
  draft.name = "Große \"Halle\", Nord";
  draft.ticket_types = {"Parkett, links", "Balkon", "Steh"};
  draft.sections[0].rows[1].seats[2].obstructed = true;
  draft.sections.push_back({.code = "E", .name = "without rows", .rank = 3});
  draft.sections.push_back({.code = "T1", .rows = {row_of("", "ss", 900)}});
  draft.areas.push_back({.code = "F",
                         .name = "Floor",
                         .type = 2,
                         .places = 500,
                         .corner = {5, 950},
                         .width = 300,
                         .height = 200});
  return draft;
}

/// "line place: what" of each error.
std::vector<std::string> problems(const made_plan& made) {
  std::vector<std::string> out;
  for (const auto& e : made.errors) out.push_back(std::to_string(e.line) + " " + e.place + ": " + e.what);
  return out;
}

std::string first_problem(const made_plan& made) {
  const auto all = problems(made);
  return all.empty() ? "" : all.front();
}

constexpr std::string_view small_csv = "section,row,seat,x,y,ticket_type\n"
                                       "P,A,1,100,100,One\n"
                                       "P,A,2,150,100,One\n"
                                       "P,B,1,100,200,Two\n";

} // namespace

CAF_TEST(a plan written as JSON or CSV reads back as the same plan) {
  const auto plan = make_plan(full_draft()).plan;
  CAF_REQUIRE(plan != nullptr);
  const auto json = plan_of_json(json_of(*plan));
  CAF_REQUIRE_EQUAL(first_problem(json), "");
  CAF_CHECK(*json.plan == *plan);
  CAF_CHECK(json_of(*json.plan) == json_of(*plan));
  const auto csv = plan_of_csv(csv_of(*plan));
  CAF_REQUIRE_EQUAL(first_problem(csv), "");
  CAF_CHECK(*csv.plan == *plan);
  CAF_CHECK(csv_of(*csv.plan) == csv_of(*plan));
}

CAF_TEST(random plans read back as the same plans) {
  for_seeds(200, [](std::uint64_t seed) {
    dice d{seed};
    const auto plan = make_plan(random_draft(d)).plan;
    const auto json = plan_of_json(json_of(*plan)), csv = plan_of_csv(csv_of(*plan));
    FQ_HOLDS(seed, json.plan && *json.plan == *plan);
    FQ_HOLDS(seed, csv.plan && *csv.plan == *plan);
  });
}

CAF_TEST(a list of seats alone is a plan) {
  const auto made = plan_of_csv(small_csv);
  CAF_REQUIRE_EQUAL(first_problem(made), "");
  CAF_CHECK_EQUAL(made.plan->name_of(2), "P-B-1");
  CAF_CHECK(made.plan->ticket_types() == (std::vector<std::string>{"One", "Two"}));
  const auto crlf =
    plan_of_csv("\xef\xbb\xbfrow,seat,x,y,ticket_type\r\n\r\n\"A\",\"1\",0,0,\"One \"\"x\"\"\"\r\n");
  CAF_REQUIRE_EQUAL(first_problem(crlf), "");
  CAF_CHECK_EQUAL(crlf.plan->name_of(0), "A-1");
  CAF_CHECK_EQUAL(crlf.plan->ticket_types()[0], "One \"x\"");
}

CAF_TEST(every error of a CSV file has its line and column) {
  const auto problem = [](std::string text) { return first_problem(plan_of_csv(text)); };
  const std::string head = "section,row,seat,x,y,ticket_type,aisle\n";
  CAF_CHECK_EQUAL(problem(""), "1 : The file is empty.");
  CAF_CHECK_EQUAL(problem("a;b\n"), "1 a;b: Columns must be separated by commas.");
  CAF_CHECK_EQUAL(problem("row,prize\n"), "1 prize: There is no such column.");
  CAF_CHECK_EQUAL(problem("row,row\n"), "1 row: The column is given twice.");
  CAF_CHECK_EQUAL(problem(head + "P,A,1,0,0,One\nP,A,2,x,0,One\n"),
                  "3 x: Must be a number from 0 to 100000.");
  CAF_CHECK_EQUAL(problem(head + "P,A,1,0,-5,One\n"), "2 y: Must be a number from 0 to 100000.");
  CAF_CHECK_EQUAL(problem(head + "P,A,1,,0,One\n"), "2 x: Must be a number from 0 to 100000.");
  CAF_CHECK_EQUAL(problem(head + "P,A,1,0,0,\n"), "2 ticket_type: Must be given.");
  CAF_CHECK_EQUAL(problem(head + "P,A,1,0,0,One,maybe\n"), "2 aisle: Must be 1, 0, true, false or empty.");
  CAF_CHECK_EQUAL(problem(head + "P,A,1,0,0,One,0,more\n"), "2 : The line has more cells than the header.");
  CAF_CHECK_EQUAL(problem(head + "\n\nP,A,1,0,0,One\nP,A,1,9,0,One\n"),
                  "5 seat: Another seat of the row has this label.");
  CAF_CHECK_EQUAL(problem(head + "P,A,1,0,0,One\nP,A,2,0,0,One\n"),
                  "3 x: Seat P-A-1 stands at the same place.");
  CAF_CHECK_EQUAL(problem(head + ",,1,0,0,One\n"), "2 row: A row without label needs a section with a code.");
  CAF_CHECK_EQUAL(problem(head + "P,A,\"1\n"), "3 : This is not CSV: a quotation mark is not closed.");
  CAF_CHECK_EQUAL(problem(head + "P,A\"1\n"),
                  "2 : This is not CSV: a comma or the end of the line must follow the cell.");
  CAF_CHECK_EQUAL(problem(head + "P,A,\xff\n"), "2 : This is not CSV: the cell is not UTF-8.");
  CAF_CHECK_EQUAL(problem(head + std::string(2'000, 'x')), "2 : This is not CSV: the cell is too long.");
  CAF_CHECK_EQUAL(problem(head + std::string(100, ',')), "2 : This is not CSV: the line has too many cells.");
}

CAF_TEST(lines of other kinds are checked too) {
  const auto problem = [](std::string text) {
    return first_problem(plan_of_csv("kind,section,row,seat,x,y,ticket_type,name,rank\n" + text));
  };
  CAF_CHECK_EQUAL(problem("hall,P\n"), "2 kind: Must be plan, type, section, seat or area.");
  CAF_CHECK_EQUAL(problem("type,,,,,,One\nseat,P,A,1,0,0,Two\n"),
                  "3 ticket_type: Must be one of the types in earlier lines.");
  CAF_CHECK_EQUAL(problem("type,,,,,,One\ntype,,,,,,One\n"), "3 ticket_type: Is given twice.");
  CAF_CHECK_EQUAL(problem("type,,,,,,One\nplan,,,,0,0,,a;b\n").substr(0, 12), "3 name: Must");
  CAF_CHECK_EQUAL(problem("section,P,A\n"), "2 row: Not used in a line of kind section.");
  CAF_CHECK_EQUAL(problem("section,P\nsection,P\n"),
                  "3 section: Its line must stand before its seats, and once.");
  CAF_CHECK_EQUAL(problem("section,P,,,,,,,1000\n"), "2 rank: Must be a number from 0 to 999.");
}

CAF_TEST(every error of a JSON file has its line and path) {
  const auto problem = [](std::string_view sections) {
    return first_problem(
      plan_of_json("{\"ticket_types\": [\"One\"],\n\"sections\": " + std::string{sections} + "}"));
  };
  CAF_CHECK_EQUAL(first_problem(plan_of_json("")), "1 : This is not JSON: the document does not end.");
  CAF_CHECK_EQUAL(first_problem(plan_of_json("{\n\"name\": \"x\",\n}")).substr(0, 20),
                  "3 : This is not JSON");
  CAF_CHECK_EQUAL(first_problem(plan_of_json("{}\n{}")), "2 : This is not JSON: text after the document.");
  CAF_CHECK_EQUAL(first_problem(plan_of_json("[]")), "1 : This is not JSON: the document must be an object.");
  CAF_CHECK_EQUAL(first_problem(plan_of_json("{\"name\": \"a\",\n\"name\": \"b\"\n}")),
                  "2 : This is not JSON: the member name is given twice.");
  CAF_CHECK_EQUAL(first_problem(plan_of_json("{\n}")), "1 ticket_types: Must be given.");
  CAF_CHECK_EQUAL(
    problem("[\n{\"rows\": [\n{\"row\": \"A\", \"seats\": [\n{\"seat\": \"1\", \"x\": 1, \"y\": 2}]}]}]"),
    "5 sections[0].rows[0].seats[0].ticket_type: Must be given.");
  CAF_CHECK_EQUAL(
    problem("[\n{\"rows\": [\n{\"row\": \"A\", \"ticket_type\": \"One\", \"seats\": [\n"
            "{\"seat\": \"1\", \"x\": 1, \"y\": 2},\n{\"seat\": \"2\",\n\"x\": 1.5, \"y\": 2}]}]}]"),
    "7 sections[0].rows[0].seats[1].x: Must be an integer.");
  CAF_CHECK_EQUAL(
    problem("[\n{\"rows\": [\n{\"row\": \"A\", \"ticket_type\": \"One\", \"seats\": [\n"
            "{\"seat\": \"1\", \"x\": 1, \"y\": 2},\n{\"seat\": \"1\", \"x\": 9, \"y\": 2}]}]}]"),
    "6 sections[0].rows[0].seats[1].seat: Another seat of the row has this label.");
  CAF_CHECK_EQUAL(problem("[\n{\"rows\": [],\n\"colour\": \"red\"}]"),
                  "4 sections[0].colour: Not known here.");
  CAF_CHECK_EQUAL(problem("[]"), "2 sections: A plan has at least one seat or area.");
}

CAF_TEST(each of several errors of a JSON file has its own line whatever ends the lines) {
  const auto places = [](const std::string& text) {
    std::vector<std::string> out;
    for (const auto& e : plan_of_json(text).errors) out.push_back(std::to_string(e.line) + " " + e.place);
    return out;
  };
  const auto with = [](std::string_view end, const std::vector<std::string_view>& lines) {
    std::string text;
    for (const auto line : lines) text.append(line).append(end);
    return text;
  };
  for (const auto* end : {"\n", "\r\n"}) {
    const auto wrong_values =
      with(end, {R"({"ticket_types": ["One"],)", R"("focus": {"x": -1, "y": 0},)", R"("sections": [)",
                 R"({"section": "P", "rows": [)", R"({"row": "A", "ticket_type": "One", "seats": [)",
                 R"({"seat": "1", "x": 1, "y": 2},)", R"({"seat": "2", "x": "far", "y": 2},)",
                 R"({"seat": "3", "x": 9}]},)", R"({"row": "B", "ticket_type": "Two", "seats": [)",
                 R"({"seat": "1", "x": 1,)", R"("y": 2, "colour": "red"}]}]},)",
                 R"({"section": "Q", "rows": 5}],)", R"("areas": [{"area": "F", "ticket_type": "One",)",
                 R"("places": 0, "x": 0, "y": 0, "width": 1, "height": 1}]})"});
    CAF_CHECK(places(wrong_values)
              == (std::vector<std::string>{
                "2 focus.x", "7 sections[0].rows[0].seats[1].x", "8 sections[0].rows[0].seats[2].y",
                "9 sections[0].rows[1].ticket_type", "11 sections[0].rows[1].seats[0].colour",
                "12 sections[1].rows", "14 areas[0].places"}));
    const auto wrong_together =
      with(end, {R"({"ticket_types": ["One"],)", R"("sections": [{"rows": [)",
                 R"({"row": "A", "ticket_type": "One", "seats": [)", R"({"seat": "1", "x": 1, "y": 2},)",
                 R"({"seat": "1", "x": 9, "y": 2}]},)", R"({"row": "A", "ticket_type": "One", "seats": [)",
                 R"({"seat": "1", "x": 1, "y": 3}]}]}]})"});
    CAF_CHECK(
      places(wrong_together)
      == (std::vector<std::string>{"5 sections[0].rows[0].seats[1].seat", "6 sections[0].rows[1].row"}));
  }
}

CAF_TEST(files beyond a limit are refused) {
  const std::string large(17 * 1024 * 1024, ' ');
  CAF_CHECK_EQUAL(first_problem(plan_of_json(large)), "1 : The file is too large.");
  CAF_CHECK_EQUAL(first_problem(plan_of_csv(large)), "1 : The file is too large.");
  std::string seats = "row,seat,x,y,ticket_type\n";
  for (std::size_t i = 0; i < plan_seats_max + 10; ++i) {
    const auto n = std::to_string(i);
    seats +=
      std::to_string(i / 500) + "," + n + "," + n.substr(0, 5) + "," + n.substr(n.size() / 2) + ",One\n";
  }
  CAF_CHECK_EQUAL(first_problem(plan_of_csv(seats)), "1 sections: A plan has at most 50000 seats.");
  std::string wrong = "row,seat,x,y,ticket_type\n";
  for (int i = 0; i < 100; ++i) wrong += "A,?,x,y,\n";
  CAF_CHECK_EQUAL(plan_of_csv(wrong).errors.size(), plan_errors_max);
  std::string header;
  for (int i = 0; i < 40; ++i) header += "column" + std::to_string(i) + ",";
  CAF_CHECK_EQUAL(plan_of_csv(header).errors.size(), plan_errors_max);
  std::string lists;
  for (std::size_t i = 0; i < 9'000; ++i) lists += "[[[[[[[[[[[[[]]]]]]]]]]]]],";
  const auto objects = "{\"ticket_types\":[\"One\"],\"x\":[" + lists + "1],\"y\":[" + lists + "1]}";
  CAF_CHECK_EQUAL(first_problem(plan_of_json(objects)).substr(0, 20), "1 : This is not JSON");
}

CAF_TEST(a file is read no further than to a limit of sections areas or rows) {
  const std::string end = "?,,,,,,,,\n"; // an error if it were read
  std::string sections = "kind,section,area,x,y,ticket_type,places,width,height,row,seat\n", areas = sections,
              rows = sections;
  sections += "type,,,,,One\n";
  for (std::size_t i = 0; i <= plan_sections_max; ++i) sections += "section," + std::to_string(i) + "\n";
  for (std::size_t i = 0; i <= plan_areas_max; ++i)
    areas += "area,," + std::to_string(i) + ",1,1,One,1,1,1\n";
  for (std::size_t i = 0; i <= plan_rows_max; ++i)
    rows += "seat,,,1," + std::to_string(i) + ",One,,,," + std::to_string(i) + ",1\n";
  CAF_CHECK_EQUAL(first_problem(plan_of_csv(sections + end)), "1 sections: A plan has at most 500 sections.");
  CAF_CHECK_EQUAL(first_problem(plan_of_csv(areas + end)), "1 areas: A plan has at most 100 standing areas.");
  CAF_CHECK_EQUAL(first_problem(plan_of_csv(rows + end)), "1 sections: A plan has at most 20000 rows.");
}

CAF_TEST(a hostile name of a plan cannot become a formula) {
  auto draft = full_draft();
  draft.name = "=1+1";
  CAF_CHECK(!errors_of(draft).empty());
  draft.name = "'=1+1"; // stays as it is
  const auto plan = make_plan(draft).plan;
  CAF_CHECK(*plan_of_csv(csv_of(*plan)).plan == *plan);
}

} // namespace seat_plan_codec_test
