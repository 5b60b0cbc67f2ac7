// SPDX-License-Identifier: Apache-2.0
// The load program's reading of plans, maps and changes. The texts are those of the server's own tests.
#define CAF_SUITE load.seat_wire
#include "caf/test/unit_test.hpp"

#include "load/wire/seat_wire.hpp"
#include "load/wire/wire.hpp"

namespace {

using namespace fq::load;

constexpr const char* map_text = R"({"version":10,"seats":5,"states":"hAA","types":{"1":"0,2-3"},)"
                                 R"("plan_types":[1,0],"ticket_type_ids":["a","b"]})";

} // namespace

CAF_TEST(a plan gives names and rows and types) {
  const auto hall = read_hall(parse_object(R"({"ticket_types":["S","B"],"sections":[{"section":"P","rows":[
    {"row":"A","ticket_type":"B","seats":[{"seat":"1"},{"seat":"2","ticket_type":"S"}]},
    {"row":"B","ticket_type":"S","seats":[{"seat":"1"}]}]}]})"));
  CAF_REQUIRE(hall && hall->size() == 3);
  CAF_CHECK((*hall)[0].name == "P-A-1" && (*hall)[0].type == 1 && (*hall)[1].type == 0);
  CAF_CHECK((*hall)[1].row == (*hall)[0].row && (*hall)[2].row != (*hall)[0].row);
  CAF_CHECK(!read_hall(parse_object(R"({"code":"not_found"})")));
}

CAF_TEST(a map and its changes give the states) {
  seat_states known;
  CAF_REQUIRE(apply_seats(parse_object(map_text), known));
  CAF_CHECK(known.version == 10 && known.states == "01020");
  CAF_CHECK(known.type_ids == (std::vector<std::string>{"b", "a"}));
  CAF_CHECK(apply_seats(parse_object(R"({"from":8,"version":12,"free":"1-2","sold":"0,4"})"), known));
  CAF_CHECK(known.version == 12 && known.states == "20022");
  CAF_CHECK(known.changed == (std::vector<std::size_t>{1, 0, 4}));
  CAF_CHECK(!apply_seats(parse_object(R"({"from":13,"version":14,"free":"1"})"), known));
  CAF_CHECK(!apply_seats(parse_object(R"({"from":12,"version":14,"free":"5"})"), known));
  CAF_CHECK(!apply_seats(parse_object(R"({"code":"not_found"})"), known));
}

CAF_TEST(an answer that comes late changes nothing) {
  seat_states known;
  CAF_REQUIRE(apply_seats(parse_object(map_text), known));
  CAF_REQUIRE(apply_seats(parse_object(R"({"from":10,"version":14,"sold":"1"})"), known));
  CAF_CHECK(apply_seats(parse_object(R"({"from":10,"version":12,"held":"1"})"), known));
  CAF_CHECK(known.version == 14 && known.states == "02020" && known.changed.empty());
}
