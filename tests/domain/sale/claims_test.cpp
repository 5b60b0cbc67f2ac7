// SPDX-License-Identifier: Apache-2.0
// Claims: slots per customer (I2), deadlines, counts.
#define CAF_SUITE domain_claims
#include "domain/sale/claims.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <map>

namespace claims_test {

using namespace fq;
using namespace fq::test;

namespace {

const timestamp noon = from_unix_ms(1'795'000'000'000);
uuid fan(std::uint64_t n) { return {1, n}; }
uuid claim(std::uint64_t n) { return {2, n}; }

claim_row row(std::uint64_t id, std::uint64_t customer, std::uint8_t slot, timestamp expires_at) {
  claim_row r;
  r.id = claim(id);
  r.customer = fan(customer);
  r.live_slot = slot;
  r.items = {{0, 2, 100, 0}};
  r.created_at = noon;
  r.expires_at = expires_at;
  return r;
}

} // namespace

CAF_TEST(a customers slots are taken by live and confirmed claims and come back) {
  claims_book book;
  changes out;
  CAF_CHECK(book.free_slot(fan(1), 1) == 0);
  book.open(row(1, 1, 0, noon), out);
  CAF_CHECK(!book.free_slot(fan(1), 1));
  CAF_CHECK(book.free_slot(fan(1), 2) == 1);
  CAF_CHECK(book.free_slot(fan(2), 1) == 0);
  book.open(row(2, 1, 1, noon), out);
  CAF_CHECK(!book.free_slot(fan(1), 2));
  CAF_CHECK(book.move(claim(1), claim_trigger::confirm, noon, out));
  CAF_CHECK(!book.free_slot(fan(1), 2)); // a ticket counts
  CAF_CHECK(book.standing(fan(1))->id == claim(1)); // lowest slot, independent of later moves
  CAF_CHECK(book.live(fan(1))->id == claim(2));
  CAF_CHECK(book.move(claim(2), claim_trigger::release, noon, out));
  CAF_CHECK(book.free_slot(fan(1), 2) == 1);
  CAF_CHECK(book.live(fan(1)) == nullptr);
  const std::vector<refund_item> one{{0, 1}};
  book.refund(claim(1), one, noon, out);
  CAF_CHECK(book.find(claim(1))->status == claim_status::confirmed);
  CAF_CHECK(!book.free_slot(fan(1), 1)); // one of two tickets is left
  book.refund(claim(1), one, noon, out);
  CAF_CHECK(book.find(claim(1))->status == claim_status::refunded);
  CAF_CHECK(book.free_slot(fan(1), 1) == 0);
  CAF_CHECK(book.standing(fan(1)) == nullptr);
  CAF_CHECK_EQUAL(book.find(claim(1))->items[0].refunded, 2u);
}

CAF_TEST(a move the table forbids changes nothing) {
  claims_book book;
  changes out;
  book.open(row(1, 1, 0, noon), out);
  book.move(claim(1), claim_trigger::release, noon, out);
  const auto before = *book.find(claim(1));
  const auto count = out.size();
  for (int t = 0; t < 4; ++t)
    CAF_CHECK(!book.move(claim(1), static_cast<claim_trigger>(t), noon + seconds{1}, out));
  CAF_CHECK(*book.find(claim(1)) == before);
  CAF_CHECK_EQUAL(out.size(), count);
}

CAF_TEST(deadlines come in order with grace for those that expire and bounded) {
  claims_book book;
  changes out;
  for (std::uint64_t n = 1; n <= 5; ++n)
    book.open(row(n, n, 0, noon + seconds{10 - static_cast<int>(n)}), out);
  const milliseconds grace{2000};
  CAF_CHECK(book.next_deadline(grace) == noon + seconds{5});
  CAF_CHECK(book.due(noon + seconds{4}, 10).empty());
  CAF_CHECK(book.due(noon + seconds{6}, 10) == (std::vector{claim(5), claim(4)}));
  CAF_CHECK(book.due(noon + seconds{6}, 1) == std::vector{claim(5)});
  book.move(claim(5), claim_trigger::deadline_with_payment, noon + seconds{5}, out);
  CAF_CHECK(book.next_deadline(grace) == noon + seconds{6});
  book.move(claim(4), claim_trigger::release, noon + seconds{6}, out);
  CAF_CHECK(book.next_deadline(grace) == noon + seconds{7}); // claim 3, and the end of 5's grace period
  CAF_CHECK(book.overdue(noon + milliseconds{6999}, grace, 10).empty());
  CAF_CHECK(book.overdue(noon + seconds{7}, grace, 10) == std::vector{claim(5)});
  CAF_CHECK_EQUAL(book.live_ones(10).size(), 4u);
  CAF_CHECK_EQUAL(book.live_ones(2).size(), 2u);
  CAF_CHECK_EQUAL(book.counts().live, 4u);
}

CAF_TEST(a book behaves like a list of rows and so does its reload) {
  for_seeds(200, [](std::uint64_t seed) {
    dice d{seed};
    claims_book book;
    std::map<std::uint64_t, claim_row> list;
    auto now = noon;
    for (int step = 0; step < 80; ++step) {
      changes out;
      now += milliseconds{d.below(500)};
      if (list.empty() || d.chance(45)) {
        const auto customer = d.below(8) + 1;
        if (const auto slot = book.free_slot(fan(customer), 3)) {
          auto r = row(list.size() + 1, customer, *slot, now + milliseconds{d.below(3000)});
          list[list.size() + 1] = r;
          FQ_HOLDS(seed, book.open(r, out) == r);
          FQ_HOLDS(seed, std::get<claim_opened>(out.at(0)).row == r);
        }
      } else {
        auto& r = list[1 + d.below(list.size())];
        const auto trigger = static_cast<claim_trigger>(d.below(3));
        const auto to = next(claim_rules, r.status, trigger);
        const auto from = r.status;
        if (to) {
          r.status = *to;
          if (!is_live(*to)) r.ended_at = now;
        }
        FQ_HOLDS(seed, book.move(r.id, trigger, now, out) == to.has_value());
        if (to)
          FQ_HOLDS(seed, std::get<claim_moved>(out.at(0)).from == from
                           && std::get<claim_moved>(out.at(0)).row == r);
      }
      claims_book again;
      for (const auto& [n, r] : list) again.load(r);
      for (const auto* b : {&book, &again}) {
        std::uint64_t live = 0, confirmed = 0, due = 0;
        std::map<std::pair<uuid, std::uint8_t>, int> slots;
        for (const auto& [n, r] : list) {
          FQ_HOLDS(seed, *b->find(r.id) == r);
          live += is_live(r.status);
          confirmed += r.status == claim_status::confirmed;
          due += r.status == claim_status::claimed && r.expires_at <= now;
          if (is_live(r.status) || r.status == claim_status::confirmed)
            FQ_HOLDS(seed, ++slots[std::pair(r.customer, r.live_slot)] == 1); // I2
        }
        FQ_HOLDS(seed, b->counts().live == live && b->counts().confirmed == confirmed);
        FQ_HOLDS(seed, b->due(now, 1000).size() == due);
        for (std::uint64_t c = 1; c <= 8; ++c) {
          const auto first = slots.lower_bound({fan(c), 0});
          const bool any = first != slots.end() && first->first.first == fan(c);
          FQ_HOLDS(seed, (b->standing(fan(c)) != nullptr) == any);
          if (any) FQ_HOLDS(seed, b->standing(fan(c))->live_slot == first->first.second);
        }
      }
    }
  });
}

} // namespace claims_test
