// SPDX-License-Identifier: Apache-2.0
// Payment attempts, refunds and receipts as rows: references, sums, times of polls and retries.
#define CAF_SUITE domain_payments
#include "domain/money/payments.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

namespace payments_test {

using namespace fq;
using namespace fq::test;

namespace {

const timestamp noon = from_unix_ms(1'795'000'000'000);
constexpr milliseconds stale_after{1000};
uuid id(std::uint64_t n) { return {3, n}; }

payment_row row(std::uint64_t n, std::uint64_t claim, timestamp at = noon) {
  payment_row r;
  r.id = id(n);
  r.claim = {2, claim};
  r.gateway = "sandbox";
  r.reference = make_reference(r.id);
  r.amount = 500;
  r.created_at = r.updated_at = at;
  return r;
}

} // namespace

CAF_TEST(a reference leads back to its payment) {
  const auto p = make_uuid(noon, aggregate_id{77}, 12345);
  CAF_CHECK(parse_reference(make_reference(p)) == p);
  CAF_CHECK(owner_of(*parse_reference(make_reference(p))) == aggregate_id{77});
  CAF_CHECK(!parse_reference(""));
  CAF_CHECK(!parse_reference("fq-"));
  CAF_CHECK(!parse_reference(to_string(p)));
  CAF_CHECK(!parse_reference("fq-" + to_string(p) + "x"));
}

CAF_TEST(attempts are found by claim also after one moved to another claim) {
  payments_book book{stale_after};
  changes out;
  book.open(row(1, 1), out);
  CAF_CHECK(book.open_of({2, 1})->id == id(1));
  book.move(id(1), payment_trigger::fail, noon, out);
  CAF_CHECK(book.open_of({2, 1}) == nullptr);
  book.open(row(2, 1), out);
  CAF_CHECK(book.of_claim({2, 1}) == (std::vector{id(1), id(2)}));
  book.move(id(1), payment_trigger::confirm_late, noon, out);
  book.move(id(1), payment_trigger::confirm, noon, out, [](payment_row& r) { r.claim = {2, 9}; });
  CAF_CHECK(book.of_claim({2, 1}) == std::vector{id(2)});
  CAF_CHECK(book.of_claim({2, 9}) == std::vector{id(1)});
  CAF_CHECK(book.of_claim({2, 5}).empty());
}

CAF_TEST(captured money counts once it is ours and until it went back) {
  payments_book book{stale_after};
  changes out;
  book.open(row(1, 1), out);
  CAF_CHECK_EQUAL(book.revenue(), 0);
  book.move(id(1), payment_trigger::confirm, noon, out, [](payment_row& r) { r.captured = 500; });
  CAF_CHECK_EQUAL(book.revenue(), 500);
  CAF_CHECK(book.refundable(10) == std::vector{id(1)});
  book.move(id(1), payment_trigger::request_refund, noon, out);
  CAF_CHECK(book.refundable(10).empty());
  CAF_CHECK_EQUAL(book.revenue(), 500);
  book.move(id(1), payment_trigger::refund_done, noon, out, [](payment_row& r) { r.refunded = 500; });
  CAF_CHECK_EQUAL(book.revenue(), 0);
  CAF_CHECK_EQUAL(book.refunded(), 500);
  book.open(row(2, 2), out);
  book.move(id(2), payment_trigger::quarantine, noon, out, [](payment_row& r) { r.captured = 7; });
  CAF_CHECK_EQUAL(book.revenue(), 0); // a person decides
}

CAF_TEST(a forbidden move does not even edit) {
  payments_book book{stale_after};
  changes out;
  book.open(row(1, 1), out);
  book.move(id(1), payment_trigger::confirm, noon, out);
  const auto before = *book.find(id(1));
  const auto count = out.size();
  CAF_CHECK(!book.move(id(1), payment_trigger::confirm, noon, out, [](payment_row& r) { r.captured = 1; }));
  CAF_CHECK(*book.find(id(1)) == before);
  CAF_CHECK_EQUAL(out.size(), count);
}

CAF_TEST(open attempts are asked about when they are stale or when told to) {
  payments_book book{stale_after};
  changes out;
  CAF_CHECK(!is_set(book.next_ask()));
  for (std::uint64_t n = 1; n <= 3; ++n) book.open(row(n, n, noon + milliseconds{n}), out);
  CAF_CHECK(book.next_ask() == noon + milliseconds{1001});
  CAF_CHECK(book.stale(noon + milliseconds{1002}, 10) == (std::vector{id(1), id(2)}));
  CAF_CHECK_EQUAL(book.stale(timestamp::max(), 2).size(), 2u);
  book.ask_again(id(1), noon + seconds{9});
  book.ask_again(id(3), noon);
  CAF_CHECK(book.stale(noon + milliseconds{1002}, 10) == (std::vector{id(3), id(2)}));
  CAF_CHECK(book.find(id(1))->updated_at == noon + milliseconds{1}); // a poll changes no row
  book.move(id(3), payment_trigger::fail, noon, out);
  CAF_CHECK(book.stale(noon + milliseconds{1002}, 10) == std::vector{id(2)});
  book.ask_again(id(3), noon); // closed: no poll
  CAF_CHECK_EQUAL(book.open_count(), 2u);
  book.move(id(2), payment_trigger::initialized, noon + seconds{5}, out);
  CAF_CHECK(book.next_ask() == noon + seconds{6});
}

CAF_TEST(refunds wait for their next attempt and count refusals only) {
  payments_book book{stale_after};
  changes out;
  book.open(row(1, 1), out);
  refund_row r;
  r.id = {4, 1};
  r.payment = id(1);
  r.amount = 500;
  r.next_attempt_at = noon;
  book.open(r, out);
  CAF_CHECK(book.refunds_due(noon, 10) == std::vector{r.id});
  book.tried(r.id, false, noon + seconds{5}, noon, out);
  CAF_CHECK(book.refunds_due(noon + seconds{4}, 10).empty());
  CAF_CHECK_EQUAL(book.find_refund(r.id)->attempts, 0u);
  book.tried(r.id, true, noon + seconds{6}, noon, out);
  CAF_CHECK_EQUAL(book.find_refund(r.id)->attempts, 1u);
  CAF_CHECK(book.next_refund_attempt() == noon + seconds{6});
  CAF_CHECK(book.move(r.id, refund_trigger::give_up, noon, out));
  CAF_CHECK(!is_set(book.next_refund_attempt()));
  CAF_CHECK(book.move(r.id, refund_trigger::succeed, noon, out)); // the refund succeeded after all
}

CAF_TEST(a receipt is remembered per gateway) {
  payments_book book{stale_after};
  changes out;
  book.receive({"sandbox", "evt_1", noon}, out);
  CAF_CHECK(book.has_receipt("sandbox", "evt_1"));
  CAF_CHECK(!book.has_receipt("paystack", "evt_1"));
  CAF_CHECK(!book.has_receipt("sandbox", "evt_2"));
  payments_book again{stale_after};
  again.load(std::get<receipt_stored>(out.at(0)).row);
  CAF_CHECK(again.has_receipt("sandbox", "evt_1"));
}

} // namespace payments_test
