// SPDX-License-Identifier: Apache-2.0
// The book of event tickets: by claim, which go first, and steps.
#define CAF_SUITE domain_event_tickets
#include "domain/sale/event_tickets.hpp"

#include "caf/test/unit_test.hpp"

namespace event_tickets_book_test {

using namespace fq;

namespace {

using ids = std::vector<event_ticket_id>;

event_ticket_row row(std::uint64_t n, std::uint64_t claim, std::uint32_t type = 0) {
  event_ticket_row r;
  r.id = {1, n};
  r.claim = {2, claim};
  r.ticket_type = type;
  return r;
}

} // namespace

CAF_TEST(tickets are found by claim in the order of their ids) {
  event_tickets_book book;
  for (const std::uint64_t n : {5u, 1u, 3u}) book.load(row(n, 1));
  book.load(row(2, 2));
  ids found;
  for (const auto* t : book.of_claim({2, 1})) found.push_back(t->id);
  CAF_CHECK(found == (ids{{1, 1}, {1, 3}, {1, 5}}));
  CAF_CHECK(book.of_claim({2, 9}).empty());
  CAF_CHECK(book.find({1, 2})->claim == (claim_id{2, 2}));
  CAF_CHECK(book.find({1, 9}) == nullptr);
  CAF_REQUIRE_EQUAL(book.size(), 4u);
  const std::uint64_t sorted[] = {1, 2, 3, 5};
  for (std::size_t i = 0; i < 4; ++i) CAF_CHECK(book.at(i).id == (event_ticket_id{1, sorted[i]}));
  CAF_CHECK_EQUAL(book.place_of({1, 0}), 0u);
  CAF_CHECK_EQUAL(book.place_of({1, 3}), 2u);
  CAF_CHECK_EQUAL(book.place_of({1, 4}), 3u);
  CAF_CHECK_EQUAL(book.place_of({1, 9}), 4u);
}

CAF_TEST(a row stays where it is while others come) {
  event_tickets_book book;
  book.load(row(500, 1));
  const auto* first = book.find({1, 500});
  for (std::uint64_t n = 0; n < 1'000; ++n)
    if (n != 500) book.load(row(n, n % 7));
  CAF_CHECK(first == book.find({1, 500}));
  for (std::uint64_t n = 0; n < 1'000; ++n) CAF_CHECK(book.at(n).id == (event_ticket_id{1, n}));
  CAF_CHECK_EQUAL(book.of_claim({2, 3}).size(), 142u);
}

CAF_TEST(valid ones count and the buyer loses those first that are still his and unused) {
  event_tickets_book book;
  changes out;
  const timestamp now = from_unix_ms(7);
  auto received = row(1, 1);
  received.status = event_ticket_status::transferred;
  received.generation = 2; // the buyer gave it away
  book.load(received);
  for (std::uint64_t n = 2; n <= 6; ++n) book.issue(row(n, 1, n == 5 ? 1 : 0), out);
  CAF_CHECK_EQUAL(out.size(), 5u);
  CAF_CHECK(book.move({1, 4}, event_ticket_trigger::check_in, now, out));
  CAF_CHECK(book.move({1, 6}, event_ticket_trigger::cancel, now, out));
  CAF_CHECK_EQUAL(book.count_valid({2, 1}, 0), 4u);
  CAF_CHECK_EQUAL(book.count_valid({2, 1}, 1), 1u);
  CAF_CHECK(book.first_to_cancel({2, 1}, 0, 9) == (ids{{1, 3}, {1, 2}, {1, 4}, {1, 1}}));
  CAF_CHECK(book.first_to_cancel({2, 1}, 0, 1) == (ids{{1, 3}}));
  CAF_CHECK(book.first_to_cancel({2, 9}, 0, 9).empty());
}

CAF_TEST(changes are found by time and id and tickets are counted by type and status) {
  event_tickets_book book;
  changes out;
  for (std::uint64_t n = 1; n <= 4; ++n) {
    auto r = row(n, 1, n == 4 ? 1 : 0);
    r.updated_at = from_unix_ms(n < 3 ? 5 : 6);
    book.load(r);
  }
  const auto changed = [&](std::int64_t at, std::uint64_t n, std::int64_t until, std::size_t limit = 9) {
    ids found;
    for (const auto* t : book.changed_after(from_unix_ms(at), {1, n}, from_unix_ms(until), limit))
      found.push_back(t->id);
    return found;
  };
  CAF_CHECK(changed(0, 0, 9) == (ids{{1, 1}, {1, 2}, {1, 3}, {1, 4}}));
  CAF_CHECK(changed(5, 1, 9, 2) == (ids{{1, 2}, {1, 3}}));
  CAF_CHECK(changed(0, 0, 6) == (ids{{1, 1}, {1, 2}})); // not the present millisecond
  CAF_CHECK(book.move({1, 1}, event_ticket_trigger::check_in, from_unix_ms(7), out));
  CAF_CHECK(changed(6, 4, 9) == (ids{{1, 1}}));
  CAF_CHECK(changed(0, 0, 7) == (ids{{1, 2}, {1, 3}, {1, 4}}));
  CAF_CHECK_EQUAL(book.count(0, event_ticket_status::issued), 2u);
  CAF_CHECK_EQUAL(book.count(0, event_ticket_status::checked_in), 1u);
  CAF_CHECK_EQUAL(book.count(1, event_ticket_status::issued), 1u);
  CAF_CHECK_EQUAL(book.count(9, event_ticket_status::issued), 0u);
}

CAF_TEST(a refund of a claim that begins or ends is a change of its tickets) {
  for (const bool asked_before : {true, false}) {
    event_tickets_book book;
    changes out;
    for (std::uint64_t n = 1; n <= 3; ++n) {
      auto r = row(n, n == 2 ? 2 : 1);
      r.updated_at = from_unix_ms(5);
      book.load(r);
    }
    const auto changed = [&](std::int64_t at, std::uint64_t n) {
      ids found;
      for (const auto* t : book.changed_after(from_unix_ms(at), {1, n}, from_unix_ms(99), 9))
        found.push_back(t->id);
      return found;
    };
    if (asked_before) CAF_CHECK_EQUAL(changed(0, 0).size(), 3u);
    book.refund_changed({2, 1}, from_unix_ms(7));
    book.refund_changed({2, 1}, from_unix_ms(6)); // an older one, from a load
    CAF_CHECK(changed(5, 3) == (ids{{1, 1}, {1, 3}}));
    CAF_CHECK(changed(0, 0) == (ids{{1, 2}, {1, 1}, {1, 3}}));
    CAF_CHECK(book.changed_at(*book.find({1, 1})) == from_unix_ms(7));
    CAF_CHECK(book.changed_at(*book.find({1, 2})) == from_unix_ms(5));
    CAF_CHECK(book.move({1, 1}, event_ticket_trigger::check_in, from_unix_ms(8), out));
    CAF_CHECK(changed(7, 3) == ids{{1, 1}});
    CAF_CHECK(changed(0, 0) == (ids{{1, 2}, {1, 3}, {1, 1}})); // each once
    CAF_CHECK(book.find({1, 3})->updated_at == from_unix_ms(5)); // the row itself stays
  }
}

CAF_TEST(a forbidden step changes nothing) {
  event_tickets_book book;
  changes out;
  book.issue(row(1, 1), out);
  CAF_CHECK(book.move({1, 1}, event_ticket_trigger::cancel, from_unix_ms(7), out));
  const auto& moved = std::get<event_ticket_moved>(out.back());
  CAF_CHECK(moved.from == event_ticket_status::issued && moved.row == *book.find({1, 1}));
  CAF_CHECK(moved.row.updated_at == from_unix_ms(7));
  CAF_CHECK(!book.move({1, 1}, event_ticket_trigger::check_in, from_unix_ms(8), out));
  CAF_CHECK_EQUAL(out.size(), 2u);
}

CAF_TEST(a transfer is no mere step because it changes holder and generation) {
  event_tickets_book book;
  changes out;
  book.load(row(1, 1));
  CAF_CHECK(!book.move({1, 1}, event_ticket_trigger::transfer, from_unix_ms(7), out));
  CAF_CHECK(out.empty() && *book.find({1, 1}) == row(1, 1));
}

} // namespace event_tickets_book_test
