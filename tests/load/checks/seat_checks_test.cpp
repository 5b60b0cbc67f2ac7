// SPDX-License-Identifier: Apache-2.0
// The checks of reserved seats, each with a planted violation and a valid history beside it.
#define CAF_SUITE load.seat_checks
#include "caf/test/unit_test.hpp"

#include "load/checks/checker.hpp"

#include <utility>

namespace {

using namespace fq::load;

claim_sight sight(run_time_us sent_us, std::uint64_t claim, claim_status status,
                  std::vector<std::string> seats) {
  const auto units = static_cast<std::int64_t>(seats.size());
  return {sent_us, sent_us, sent_us + 5, {2, claim},      status, {{{9, 1}, units, 0}},
          0,       0,       "NGN",       std::move(seats)};
}

// Two fans: the first holds A-1 and lets it go, the second then buys it with A-2.
sale_history two_fans() {
  sale_history sale;
  sale.fans.resize(2);
  sale.fans[0].claims = {sight(10, 1, claim_status::claimed, {"A-1"}),
                         sight(50, 1, claim_status::claimed, {"A-1"}),
                         sight(60, 1, claim_status::released, {})};
  sale.fans[1].claims = {sight(70, 2, claim_status::claimed, {"A-1", "A-2"}),
                         sight(90, 2, claim_status::confirmed, {"A-1", "A-2"})};
  sale.seats = {true, true, {"A-1", "A-2", "A-3"}, "220", "220", 3, 0, 1};
  return sale;
}

std::uint64_t violations(const sale_history& sale, check_id id) { return judge(sale).of(id).violations; }

} // namespace

CAF_TEST(a seat that comes back may be bought by another fan) {
  const auto judged = judge(two_fans());
  CAF_CHECK(judged.of(check_id::seat_twice).result == verdict::held);
  CAF_CHECK(judged.of(check_id::seat_map).result == verdict::held);
  CAF_CHECK_EQUAL(judged.of(check_id::seat_twice).detail, "2 seats bought");
}

CAF_TEST(two fans who have a seat at the same time are found) {
  auto sale = two_fans();
  sale.fans[0].claims[2] = sight(95, 1, claim_status::claimed, {"A-1"});
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_twice), 1u);
  sale.fans[0].claims[2].status = claim_status::confirmed;
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_twice), 1u);
}

CAF_TEST(seats of orders count like those of claims) {
  auto sale = two_fans();
  order_terms terms;
  terms.claim = {2, 3};
  terms.items = {{{9, 1}, 1, 0, 0, 0, 0}};
  terms.seats = {"A-3"};
  sale.fans[0].orders = {{60, 60, 65, {3, 1}, order_status::success, terms, 0, {}, {}}};
  sale.seats.followed = sale.seats.last = "222";
  CAF_CHECK_EQUAL(judge(sale).of(check_id::seat_twice).detail, "3 seats bought");
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_map), 0u);
  sale.fans[0].orders[0].terms->seats = {"A-2"};
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_twice), 1u);
}

CAF_TEST(a bought claim has as many seats as units) {
  auto sale = two_fans();
  sale.fans[1].claims[1].items[0].quantity = 3;
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_twice), 1u);
}

CAF_TEST(changes must lead to the map and the map must show what was bought) {
  auto sale = two_fans();
  sale.seats.followed = "221";
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_map), 1u);
  sale = two_fans();
  sale.seats.followed = sale.seats.last = "210";
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_map), 1u);
  sale = two_fans();
  sale.seats.unusable = 2;
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_map), 1u);
  sale = two_fans();
  sale.seats.read = false;
  CAF_CHECK(judge(sale).of(check_id::seat_map).result == verdict::not_judged);
}

CAF_TEST(the maps of fans must be the map) {
  auto sale = two_fans();
  sale.seats.maps = {{0, "220"}, {1, "220"}};
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_map), 0u);
  sale.seats.maps[1].states = "211";
  CAF_CHECK_EQUAL(violations(sale, check_id::seat_map), 1u);
}

CAF_TEST(without seats nothing is judged about them) {
  auto sale = two_fans();
  sale.seats = {};
  CAF_CHECK(judge(sale).of(check_id::seat_twice).result == verdict::not_judged);
  CAF_CHECK(judge(sale).of(check_id::seat_map).result == verdict::not_judged);
}
