// SPDX-License-Identifier: Apache-2.0
// Stock: units are free, held or sold; every move creates a change.
#define CAF_SUITE domain_inventory
#include "domain/sale/inventory.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

namespace inventory_test {

using namespace fq;
using namespace fq::test;

namespace {

std::vector<ticket_type_row> two_types() {
  ticket_type_row a{.ordinal = 0, .id = {1, 1}, .name = "Stand", .price = 100, .total = 10};
  ticket_type_row b{.ordinal = 1, .id = {1, 2}, .name = "Seat", .price = 250, .total = 5};
  return {a, b};
}
std::vector<claim_item> items(std::uint32_t stand, std::uint32_t seats) {
  return {{0, stand, 100, 0}, {1, seats, 250, 0}};
}

/// The ledger's view: rows changed by stock_moved only.
void replay(std::vector<ticket_type_row>& rows, const changes& content) {
  for (const auto& c : content)
    if (const auto* m = std::get_if<stock_moved>(&c)) {
      rows[m->ticket_type].held += m->held_delta;
      rows[m->ticket_type].sold += m->sold_delta;
    }
}

} // namespace

CAF_TEST(units go from free to held to sold and back) {
  inventory stock;
  stock.load(two_types());
  changes out;
  CAF_CHECK(stock.has_free(items(10, 5)));
  CAF_CHECK(!stock.has_free(items(10, 6)));
  stock.hold(items(4, 5), out);
  CAF_CHECK_EQUAL(stock.available(), 6);
  CAF_CHECK_EQUAL(stock.held(), 9);
  CAF_CHECK(!stock.has_free(items(1, 1)));
  stock.confirm(items(4, 5), out);
  CAF_CHECK_EQUAL(stock.held(), 0);
  CAF_CHECK_EQUAL(stock.sold(), 9);
  stock.sell(items(6, 0), out);
  CAF_CHECK_EQUAL(stock.available(), 0);
  CAF_CHECK(stock.sold_out());
  const std::vector<refund_item> back{{0, 4}, {1, 3}};
  stock.take_back(back, out);
  CAF_CHECK_EQUAL(stock.sold(), 15 - 4 - 3);
  CAF_CHECK(!stock.sold_out());
  auto rows = two_types();
  replay(rows, out);
  CAF_CHECK(rows == stock.types());
}

CAF_TEST(sold out means that no type has a free or a held unit) {
  auto rows = two_types();
  inventory stock;
  rows[0].sold = 10;
  rows[1].sold = 4;
  rows[1].held = 1;
  stock.load(rows);
  CAF_CHECK_EQUAL(stock.available(), 0);
  CAF_CHECK(!stock.sold_out()); // the held unit may return
  rows[1].held = 0;
  rows[1].sold = 5;
  stock.load(rows);
  CAF_CHECK(stock.sold_out());
  rows[0].sold = 0;
  rows[0].on_sale = false; // held back: not available, and not sold out
  stock.load(rows);
  CAF_CHECK(!stock.sold_out());
  CAF_CHECK_EQUAL(stock.available(), 0);
}

CAF_TEST(types are found added at the end and changed without their counters) {
  inventory stock;
  stock.load(two_types());
  CAF_CHECK(stock.find({1, 2})->name == "Seat");
  CAF_CHECK(stock.find({9, 9}) == nullptr);
  changes out;
  ticket_type_row fresh{
    .ordinal = 77, .id = {1, 3}, .name = "Box", .price = 1, .total = 2, .held = 5, .sold = 5};
  stock.add(fresh, out);
  const auto& added = std::get<ticket_type_added>(out.at(0)).row;
  CAF_CHECK_EQUAL(added.ordinal, 2u);
  CAF_CHECK_EQUAL(added.held + added.sold, 0);
  CAF_CHECK(stock.types()[2] == added);
  auto changed = added;
  changed.total = 9;
  stock.change_type(changed, out);
  CAF_CHECK_EQUAL(stock.total(), 24);
}

CAF_TEST(hidden types count as available only where nothing else is on sale) {
  auto rows = two_types();
  rows[1].hidden = true;
  inventory stock;
  stock.load(rows);
  CAF_CHECK_EQUAL(stock.available(), rows[0].total);
  rows[0].hidden = true;
  stock.load(rows);
  CAF_CHECK_EQUAL(stock.available(), rows[0].total + rows[1].total);
}

} // namespace inventory_test
