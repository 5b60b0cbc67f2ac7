// SPDX-License-Identifier: Apache-2.0
// The audit of an event's rows: no output for valid rows, one line for every broken invariant.
#define CAF_SUITE domain_audit
#include "domain/sale/audit.hpp"
#include "tests/domain/sale/sample_sale.hpp"

#include "caf/test/unit_test.hpp"

namespace audit_test {

using namespace fq;
using namespace fq::test;

namespace {

/// A sale with a confirmed ticket (fan 1), a held one (fan 2) and waiting fans, as vectors that a test can
/// falsify.
struct sold_rows {
  sold_rows() {
    sample_sale s;
    s.join_all(1, 5);
    s.claim(1);
    s.captured(s.pay(1).payment);
    s.claim(2);
    event = s.ledger.event;
    types = s.ledger.types;
    for (const auto& [key, row] : s.ledger.entries) entries.push_back(row);
    for (const auto& [key, row] : s.ledger.claims) claims.push_back(row);
    for (const auto& [key, row] : s.ledger.payments) payments.push_back(row);
    for (const auto& [key, row] : s.ledger.event_tickets) event_tickets.push_back(row);
  }
  std::vector<std::string> audited() const {
    return contradictions({event, types, entries, claims, payments, {}, {}, {}, event_tickets, true, scans});
  }
  claim_row& claim_with(claim_status status) {
    return *std::ranges::find(claims, status, &claim_row::status);
  }

  event_row event;
  std::vector<scan_row> scans;
  std::vector<ticket_type_row> types;
  std::vector<entry_row> entries;
  std::vector<claim_row> claims;
  std::vector<payment_row> payments;
  std::vector<event_ticket_row> event_tickets;
};

/// True for exactly one line that contains `what`.
bool tells_only(const std::vector<std::string>& lines, std::string_view what) {
  return lines.size() == 1 && lines[0].find(what) != std::string::npos;
}

} // namespace

CAF_TEST(sound rows contradict nothing) {
  const sold_rows rows;
  CAF_REQUIRE_EQUAL(rows.claims.size(), 2u);
  CAF_CHECK_EQUAL(rows.types[0].sold, 1);
  CAF_CHECK_EQUAL(rows.types[0].held, 1);
  CAF_CHECK(rows.audited().empty());
}

CAF_TEST(counters are held against the claims with the confirmed ones counted) {
  sold_rows rows;
  rows.types[0].held = 0;
  CAF_CHECK(tells_only(rows.audited(), "counts 0 held, its claims hold 1"));
  rows = {};
  rows.types[0].sold = 0; // simulates a count that ignores CONFIRMED
  CAF_CHECK(tells_only(rows.audited(), "counts 0 sold, its confirmed claims are 1"));
  rows = {};
  rows.types[0].total = 1;
  CAF_CHECK(tells_only(rows.audited(), "is oversold"));
}

CAF_TEST(a refunded unit is not sold) {
  sold_rows rows;
  auto& sold = rows.claim_with(claim_status::confirmed);
  sold.items[0].refunded = 1;
  CAF_CHECK_EQUAL(rows.audited().size(), 3u);
  rows.event_tickets[0].status = event_ticket_status::cancelled;
  // the money is refunded, the stock is not
  std::ranges::find(rows.payments, payment_status::confirmed, &payment_row::status)->refunded = 500;
  CAF_CHECK(tells_only(rows.audited(), "counts 1 sold, its confirmed claims are 0"));
}

CAF_TEST(two live places of one subject and one claim too many are named) {
  sold_rows rows;
  rows.entries[4].subject = rows.entries[3].subject;
  CAF_CHECK(tells_only(rows.audited(), "entries 4 and 5 are live places of one subject"));
  rows.entries[4].status = entry_status::expired;
  CAF_CHECK(rows.audited().empty()); // the newest of several, which is valid
  rows = {};
  auto second = rows.claim_with(claim_status::claimed);
  second.id = {1, 1};
  rows.claims.push_back(second);
  rows.types[0].held = 2;
  CAF_CHECK(tells_only(rows.audited(), "more live claims than allowed"));
}

CAF_TEST(a confirmed claim without its money is named) {
  sold_rows rows;
  rows.payments[0].captured -= 1;
  CAF_CHECK(tells_only(rows.audited(), "no payment captured that"));
  rows = {};
  rows.payments[0].captured += 7;
  CAF_CHECK(tells_only(rows.audited(), "no payment captured that"));
  rows.payments[0].tax = 7; // added by the gateway
  CAF_CHECK(rows.audited().empty());
  rows = {};
  rows.payments.clear();
  CAF_CHECK(tells_only(rows.audited(), "no payment captured that"));
  rows.claim_with(claim_status::confirmed).amount = 0; // a free order needs no payment
  CAF_CHECK(rows.audited().empty());
}

CAF_TEST(event tickets are held against the units of confirmed claims) {
  sold_rows rows;
  const auto ticket = rows.event_tickets.at(0);
  rows.event_tickets.clear();
  CAF_CHECK(tells_only(rows.audited(), "has 1 tickets of type 0, and 0 valid event tickets"));
  rows.event_tickets = {ticket, ticket};
  CAF_CHECK(tells_only(rows.audited(), "has 1 tickets of type 0, and 2 valid event tickets"));
  rows.event_tickets[1].status = event_ticket_status::cancelled;
  CAF_CHECK(rows.audited().empty());
  rows.event_tickets[1].status = event_ticket_status::issued;
  rows.event_tickets[1].ticket_type = 1;
  CAF_CHECK(tells_only(rows.audited(), "are of type 1, which it does not have"));
  rows.event_tickets[1] = ticket;
  rows.event_tickets[1].claim = rows.claim_with(claim_status::claimed).id;
  CAF_CHECK(tells_only(rows.audited(), "has 0 tickets of type 0, and 1 valid event tickets"));
}

CAF_TEST(event tickets that are not settled yet are no contradiction) {
  sold_rows rows;
  rows.event_tickets.clear();
  const auto audited = [&](bool has_settled_tickets) {
    return contradictions({rows.event,
                           rows.types,
                           rows.entries,
                           rows.claims,
                           rows.payments,
                           {},
                           {},
                           {},
                           rows.event_tickets,
                           has_settled_tickets});
  };
  CAF_CHECK(audited(false).empty());
  CAF_CHECK_EQUAL(audited(true).size(), 1u);
}

CAF_TEST(event tickets are held against their last admitted scan) {
  sold_rows rows;
  auto& ticket = rows.event_tickets.at(0);
  scan_row entry{{1, 1}, {}, {}, ticket.id};
  entry.is_admitted = true;
  entry.at = opening;
  auto exit = entry;
  exit.id = {1, 2};
  exit.type = scan_type::exit;
  exit.at = opening + seconds{5};
  auto refused = exit;
  refused.id = {1, 3};
  refused.is_admitted = false;
  refused.type = scan_type::entry;
  refused.at = opening + seconds{9};
  rows.scans = {exit, refused, entry};
  ticket.status = event_ticket_status::checked_out;
  CAF_CHECK(rows.audited().empty());
  ticket.status = event_ticket_status::checked_in;
  CAF_CHECK(tells_only(rows.audited(), "is CHECKED_IN, its last scan was an exit"));
  rows.scans = {entry};
  CAF_CHECK(rows.audited().empty());
  ticket.status = event_ticket_status::issued;
  CAF_CHECK(tells_only(rows.audited(), "is ISSUED, its last scan was an entry"));
}

CAF_TEST(the list has an end) {
  sold_rows rows;
  const auto sample = rows.types[0];
  for (int i = 0; i < 100; ++i)
    rows.types.push_back(sample), rows.types.back().ordinal = 100u + static_cast<std::uint32_t>(i);
  CAF_CHECK_EQUAL(rows.audited().size(), contradictions_max);
}

CAF_TEST(orders are held against their claims and promo codes against who uses them) {
  sample_sale s;
  promo_code_patch p;
  p.code = {true, "TEN"};
  p.reduction = {true, {discount_kind::percent, 1'000, 0}};
  s.promo(p);
  s.join(1);
  CAF_REQUIRE(!s.order(1, {}, "TEN").no);
  std::vector<claim_row> claims{s.claim_of(1)};
  std::vector<order_row> orders{s.order_of(1)};
  auto codes = s.ledger.promo_codes;
  const auto audited = [&] {
    return contradictions({s.ledger.event, s.ledger.types, {}, claims, {}, {}, orders, codes});
  };
  CAF_CHECK(audited().empty());
  orders[0].status = order_status::success;
  CAF_CHECK(tells_only(audited(), "is SUCCESS, its claim CLAIMED"));
  orders[0] = s.order_of(1);
  orders[0].total += 1;
  CAF_CHECK(tells_only(audited(), "costs"));
  orders[0] = s.order_of(1);
  codes[0].uses = 0;
  CAF_CHECK(tells_only(audited(), "promo code TEN counts 0 uses, its claims are 1"));
  codes = s.ledger.promo_codes;
  orders[0].claim = {};
  CAF_CHECK(tells_only(audited(), "has no claim"));
}

} // namespace audit_test
