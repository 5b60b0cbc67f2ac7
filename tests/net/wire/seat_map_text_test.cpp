// SPDX-License-Identifier: Apache-2.0
// Seat maps on the wire: a reader that applies changes has the same map as one that reads it whole.
#define CAF_SUITE routes_seat_map_text
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "domain/seats/map_text.hpp"
#include "tests/domain/seats/sample_plan.hpp"

#include <boost/json/parse.hpp>

namespace seat_map_text_test {

using namespace fq;
using namespace fq::test;
namespace json = boost::json;

namespace {

const claim_id ann{1, 1};

std::string whole(const seat_map& map, bool for_shoppers = true) {
  std::string out;
  append_seat_map(out, map, for_shoppers);
  return out;
}

std::string changes(const seat_map& map, std::uint64_t since, bool for_shoppers = true) {
  std::string out;
  return append_seat_changes(out, map, since, for_shoppers) ? out : "none";
}

std::vector<seat_number> seats_of_runs(std::string_view text) {
  std::vector<seat_number> out;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto dash = part.find('-');
    const auto first = std::stoul(std::string{part});
    const auto last = dash == std::string_view::npos ? first : std::stoul(std::string{part.substr(dash + 1)});
    for (auto n = first; n <= last; ++n) out.push_back(static_cast<seat_number>(n));
  }
  return out;
}

/// A page: states and types as it knows them.
struct page {
  std::uint64_t version = 0;
  std::vector<int> states, types;

  static page of(const std::string& text, const seat_map& map) {
    const auto read = json::parse(text).as_object();
    page p;
    p.version = read.at("version").to_number<std::uint64_t>();
    std::string bytes(map.size() / 4 + 4, '\0');
    const auto& states = read.at("states").as_string();
    const auto size = from_base64url({states.data(), states.size()},
                                     {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
    CAF_REQUIRE(size.has_value());
    for (seat_number n = 0; n < map.size(); ++n) {
      p.states.push_back(static_cast<unsigned char>(bytes[n / 4]) >> (n % 4 * 2) & 3);
      p.types.push_back(map.type_in_plan(n));
    }
    p.read_types(read);
    return p;
  }
  void apply(const std::string& text, const seat_map& map) {
    const auto read = json::parse(text).as_object();
    CAF_CHECK_EQUAL(read.at("from").to_number<std::uint64_t>(), version);
    version = read.at("version").to_number<std::uint64_t>();
    const std::array<const char*, 4> names{"free", "held", "sold", "blocked"};
    for (int s = 0; s < 4; ++s)
      if (const auto* list = read.if_contains(names[static_cast<std::size_t>(s)]))
        for (const auto n : seats_of_runs({list->as_string().data(), list->as_string().size()})) {
          states[n] = s;
          types[n] = map.type_in_plan(n);
        }
    read_types(read);
  }
  void read_types(const json::object& read) {
    if (const auto* moved = read.if_contains("types"))
      for (const auto& [type, list] : moved->as_object())
        for (const auto n : seats_of_runs({list.as_string().data(), list.as_string().size()}))
          types[n] = std::stoi(std::string{type});
  }
  bool operator==(const page&) const = default;
};

} // namespace

CAF_TEST(a map has its states in base64 and the moved seats) {
  auto map = map_of(draft_of_rows({"sssss"}), 7);
  CAF_CHECK_EQUAL(whole(map), R"({"version":7,"seats":5,"states":"AAA","plan_types":[0,1]})");
  CAF_CHECK(!map.hold(ann, seats(map, {"A-2"})));
  CAF_CHECK(!map.block(seats(map, {"A-4"})));
  CAF_CHECK(!map.move_to_type(seats(map, {"A-1", "A-3", "A-4"}), 1));
  CAF_CHECK_EQUAL(whole(map),
                  R"({"version":10,"seats":5,"states":"hAA","types":{"1":"0,2-3"},"plan_types":[0,1]})");
  CAF_CHECK_EQUAL(changes(map, 7),
                  R"({"from":7,"version":10,"free":"0,2","held":"1","sold":"3","types":{"1":"0,2-3"}})");
  CAF_CHECK_EQUAL(changes(map, 8, false),
                  R"({"from":8,"version":10,"free":"0,2","blocked":"3","types":{"1":"0,2-3"}})");
  CAF_CHECK_EQUAL(changes(map, 10), R"({"from":10,"version":10})");
  CAF_CHECK_EQUAL(changes(map, 6), "none");
  CAF_CHECK_EQUAL(changes(map, 11), "none");
}

CAF_TEST(a map and its changes have the free places of standing areas) {
  auto map = map_of(draft_of_rows({"ss"}), 7);
  auto text = whole(map);
  append_standing(text, {});
  CAF_CHECK_EQUAL(text, whole(map));
  const std::vector<std::int64_t> free{500, 0};
  append_standing(text, free);
  CAF_CHECK_EQUAL(text, R"({"version":7,"seats":2,"states":"AA","plan_types":[0,1],"areas_free":[500,0]})");
  map.renew_version();
  auto changed = changes(map, 7);
  append_standing(changed, free);
  CAF_CHECK_EQUAL(changed, R"({"from":7,"version":8,"areas_free":[500,0]})");
}

CAF_TEST(a map and its changes have the rules that concern the reader) {
  auto map = map_of(draft_of_rows({"ss"}), 7);
  auto text = changes(map, 7);
  append_rules(text, {}, true);
  CAF_CHECK_EQUAL(text, R"({"from":7,"version":7})");
  append_rules(text, {.accessible_for_all = true}, true);
  CAF_CHECK_EQUAL(text, R"({"from":7,"version":7,"accessible_for_all":true})");
  text = "{\"version\":7}";
  append_rules(text, {single_rule::when_needed, true, false}, false);
  CAF_CHECK_EQUAL(text, R"({"version":7,"singles":"when_needed","split":true,"accessible_for_all":false})");
}

CAF_TEST(a reader that missed many changes takes the whole map) {
  auto map = map_of(draft_of_rows({"ss"}), 7);
  for (std::size_t i = 0; i < seat_changes_told_max / 2; ++i) {
    CAF_CHECK(!map.hold(ann, seats(map, {"A-1"})));
    CAF_CHECK(map.release(ann));
  }
  CAF_CHECK(changes(map, 7) != "none");
  CAF_CHECK(!map.hold(ann, seats(map, {"A-2"})));
  CAF_CHECK_EQUAL(changes(map, 7), "none");
  CAF_CHECK(changes(map, 8) != "none");
}

CAF_TEST(pages that apply changes have the whole map) {
  for_seeds(200, [](std::uint64_t seed) {
    dice d{seed};
    auto map = map_of(random_draft(d), seed);
    auto reader = page::of(whole(map), map);
    for (int step = 0; step < 30; ++step) {
      const std::vector<seat_number> some{static_cast<seat_number>(d.below(map.size()))};
      const claim_id claim{2, d.below(5)};
      switch (d.below(5)) {
        case 0: std::ignore = map.hold(claim, some); break;
        case 1: map.release(claim); break;
        case 2: map.confirm(claim); break;
        case 3: std::ignore = d.chance(50) ? map.block(some) : map.unblock(some); break;
        case 4: std::ignore = map.move_to_type(some, static_cast<std::uint8_t>(d.below(3))); break;
      }
      if (!d.chance(30)) continue;
      reader.apply(changes(map, reader.version), map);
      FQ_HOLDS(seed, reader == page::of(whole(map), map));
    }
  });
}

} // namespace seat_map_text_test
