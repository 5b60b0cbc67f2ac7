// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: event tickets, and the tickets that a refund names.
#define CAF_SUITE store_event_tickets
#include "store/port/refund_items.hpp"
#include "tests/store/port/engines.hpp"

#include <algorithm>
#include <functional>

namespace event_tickets_test {

using namespace fq;
using namespace fq::test;

namespace {

using listings = std::vector<event_ticket_listing>;

} // namespace

CAF_TEST(the ids that a refund names are text and back) {
  const std::vector<uuid> none, one{{1, 2}}, two{{1, 2}, {~0ull, 3}};
  for (const auto& ids : {none, one, two}) CAF_CHECK(ids_of(text_of(ids)) == ids);
  CAF_CHECK_EQUAL(text_of(none), "");
  const auto id = to_string(uuid{1, 2});
  for (const auto& wrong :
       {" " + id, id + " ", id + "  " + id, id + "," + id, id.substr(1), std::string{"x"}})
    CAF_CHECK(!ids_of(wrong));
}

CAF_TEST(an event ticket is kept and only its state and holder change) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto ticket = sample_event_ticket(1, claim);
    ticket.ticket_type = 4'294'967'295;
    FQ_CONFLICTS(w.put({event_ticket_issued{ticket}})); // of no claim
    FQ_COMMITS(w.put({claim_opened{claim}, event_ticket_issued{ticket}}));
    CAF_CHECK((w.image().event_tickets == std::vector{ticket}));
    FQ_CONFLICTS(w.put({event_ticket_issued{ticket}}));
    const auto issued = w.store.history(sale).size();
    auto next = ticket;
    next.status = event_ticket_status::transferred;
    next.holder = id_of(2, accounts_aggregate);
    next.generation = 4'294'967'295;
    next.updated_at = noon + seconds{5};
    auto sent = next;
    sent.ticket_type = 0;
    sent.claim = {};
    sent.created_at = never;
    FQ_CONFLICTS(w.put({event_ticket_moved{event_ticket_status::checked_out, sent}}));
    FQ_COMMITS(w.put({event_ticket_moved{event_ticket_status::issued, sent}}));
    CAF_CHECK((w.image().event_tickets == std::vector{next}));
    const auto history = w.store.history(sale);
    CAF_REQUIRE_EQUAL(history.size(), issued + 1);
    CAF_CHECK(history.back().kind == "event ticket" && history.back().key == to_string(ticket.id)
              && history.back().from == "ISSUED" && history.back().to == "TRANSFERRED");
    auto unknown = sample_event_ticket(2, claim);
    FQ_CONFLICTS(w.put({event_ticket_moved{event_ticket_status::issued, unknown}}));
  });
}

CAF_TEST(an event ticket is issued and cancelled in the batch of its claim) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto confirmed = claim;
    confirmed.status = claim_status::confirmed;
    const auto first = sample_event_ticket(1, claim), second = sample_event_ticket(2, claim);
    auto cancelled = first;
    cancelled.status = event_ticket_status::cancelled;
    FQ_COMMITS(
      w.put({claim_opened{claim}, claim_moved{claim_status::claimed, confirmed}, event_ticket_issued{first},
             event_ticket_issued{second}, event_ticket_moved{event_ticket_status::issued, cancelled}}));
    CAF_CHECK((w.image().event_tickets == std::vector{cancelled, second}));
  });
}

CAF_TEST(a refund keeps the event tickets that it names) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto payment = sample_payment(1, claim);
    auto refund = sample_refund(1, payment);
    refund.items = {{0, 2}};
    refund.tickets = {id_of(45'002), id_of(45'001)};
    FQ_COMMITS(w.put({claim_opened{claim}, payment_opened{payment}, refund_opened{refund}}));
    CAF_CHECK((w.image().refunds == std::vector{refund}));
    auto sent = refund;
    sent.status = refund_status::succeeded;
    sent.tickets.clear();
    FQ_COMMITS(w.put({refund_moved{refund_status::requested, sent}}));
    CAF_CHECK((w.image().refunds.at(0).tickets == refund.tickets));
  });
}

CAF_TEST(a holder sees the valid event tickets of all events page by page) {
  on_every_engine([](ledger& store) {
    owner me(store);
    me.take(catalog_aggregate);
    for (const auto a : {sale, other_sale}) {
      FQ_COMMITS(me.put(catalog_aggregate, {event_created{sample_event(a), {sample_type(0, 10, a)}}}));
      me.take(a);
    }
    listings newest_first;
    for (const auto a : {sale, other_sale}) {
      const auto claim = sample_claim(1, 1, {});
      changes content{claim_opened{claim}};
      for (std::uint64_t n = 1; n <= 6; ++n) {
        auto ticket = sample_event_ticket(n, claim, a);
        ticket.status = static_cast<event_ticket_status>((n - 1) % 5);
        if (n == 6) ticket.holder = id_of(2, accounts_aggregate);
        content.emplace_back(event_ticket_issued{ticket});
        if (n <= 4)
          newest_first.push_back(
            {sample_event(a).id, sample_event(a).name, sample_type(0, 10, a).id, "Standing", ticket});
      }
      FQ_COMMITS(me.put(a, std::move(content)));
    }
    std::ranges::sort(newest_first, std::greater{}, [](const auto& l) { return l.ticket.id; });
    event_ticket_filter f{.holder = id_of(1, accounts_aggregate)};
    CAF_CHECK((store.list_event_tickets(f) == newest_first));
    f.limit = 4;
    CAF_CHECK((store.list_event_tickets(f) == listings(newest_first.begin(), newest_first.begin() + 4)));
    f.before = newest_first[3].ticket.id;
    CAF_CHECK((store.list_event_tickets(f) == listings(newest_first.begin() + 4, newest_first.end())));
    CAF_CHECK_EQUAL(store.list_event_tickets({.holder = id_of(2, accounts_aggregate)}).size(), 2u);
    CAF_CHECK(store.list_event_tickets({.holder = id_of(9, accounts_aggregate)}).empty());
  });
}

} // namespace event_tickets_test
