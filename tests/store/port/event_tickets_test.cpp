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

CAF_TEST(an open offer wakes its event until it ends) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto confirmed = claim;
    confirmed.status = claim_status::confirmed;
    const auto ticket = sample_event_ticket(1, claim);
    const auto offer = sample_transfer(1, ticket, id_of(2, accounts_aggregate));
    FQ_COMMITS(w.put(
      {claim_opened{claim}, claim_moved{claim_status::claimed, confirmed}, event_ticket_issued{ticket}}));
    CAF_CHECK(w.store.aggregates_to_wake({}).empty());
    FQ_COMMITS(w.put({transfer_offered{offer}}));
    CAF_CHECK((w.store.aggregates_to_wake({}) == std::vector{sale}));
    auto expired = offer;
    expired.status = transfer_status::expired;
    FQ_COMMITS(w.put({transfer_moved{transfer_status::offered, expired}}));
    CAF_CHECK(w.store.aggregates_to_wake({}).empty());
  });
}

CAF_TEST(an offer of a ticket is kept and ends once) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto ticket = sample_event_ticket(1, claim);
    auto offer = sample_transfer(1, ticket, id_of(2, accounts_aggregate));
    FQ_CONFLICTS(w.put({claim_opened{claim}, transfer_offered{offer}})); // of no ticket
    FQ_COMMITS(w.put({claim_opened{claim}, event_ticket_issued{ticket}, transfer_offered{offer}}));
    CAF_CHECK((w.image().transfers == std::vector{offer}));
    auto second = sample_transfer(2, ticket, id_of(3, accounts_aggregate));
    FQ_CONFLICTS(w.put({transfer_offered{second}})); // one at a time
    auto sent = offer;
    sent.status = transfer_status::accepted;
    sent.giver_email.clear();
    sent.receiver_email.clear();
    sent.ended_at = noon + seconds{5};
    const auto next = sent;
    sent.giver = sent.receiver = {};
    sent.expires_at = never;
    FQ_CONFLICTS(w.put({transfer_moved{transfer_status::declined, sent}}));
    FQ_COMMITS(w.put({transfer_moved{transfer_status::offered, sent}, transfer_offered{second}}));
    CAF_CHECK((w.image().transfers == std::vector{next, second}));
    second.status = transfer_status::withdrawn;
    FQ_CONFLICTS(w.put({transfer_moved{transfer_status::accepted, second}}));
  });
}

CAF_TEST(giver and receiver see the open offers) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto bob = id_of(2, accounts_aggregate), eve = id_of(3, accounts_aggregate);
    changes content{claim_opened{claim}};
    std::vector<transfer_listing> newest_first;
    for (std::uint64_t n = 1; n <= 3; ++n) {
      const auto ticket = sample_event_ticket(n, claim);
      auto offer = sample_transfer(n, ticket, bob);
      if (n == 2) offer.status = transfer_status::declined;
      content.emplace_back(event_ticket_issued{ticket});
      content.emplace_back(transfer_offered{offer});
      if (n != 2)
        newest_first.insert(newest_first.begin(),
                            {sample_event().id, sample_event().name, "Standing", offer});
    }
    FQ_COMMITS(w.put(std::move(content)));
    for (const auto& who : {claim.customer, bob})
      CAF_CHECK((w.store.list_transfers({who, 50}) == newest_first));
    CAF_CHECK_EQUAL(w.store.list_transfers({bob, 1}).size(), 1u);
    CAF_CHECK(w.store.list_transfers({eve, 50}).empty());
  });
}

CAF_TEST(a holder sees the valid event tickets of all events page by page) {
  on_every_engine([](ledger& store) {
    owner me(store);
    me.take(catalog_aggregate);
    const event_ticket_settings rules{true, 7, 4'294'967'295};
    for (const auto a : {sale, other_sale}) {
      auto event = sample_event(a);
      event.event_tickets = rules;
      if (a == other_sale) event.status = event_status::cancelled;
      event.facts.starts_at = noon;
      event.facts.time_zone = "Europe/Zagreb";
      event.facts.venue_name = "Hall";
      FQ_COMMITS(me.put(catalog_aggregate, {event_created{event, {sample_type(0, 10, a)}}}));
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
          newest_first.push_back({sample_event(a).id, sample_event(a).name, sample_type(0, 10, a).id,
                                  "Standing", ticket, rules, noon, "Europe/Zagreb", "Hall",
                                  a == sale ? sample_event(a).status : event_status::cancelled});
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

CAF_TEST(ended events with too few or too many event tickets are found some at a time) {
  on_every_engine([](ledger& store) {
    owner me(store);
    me.take(catalog_aggregate);
    const auto number = [](std::uint32_t n) { return aggregate_id{number_of(first_event_aggregate) + n}; };
    /// One purchase of two; `tickets` are valid.
    const auto put = [&](std::uint32_t n, event_status status, std::uint64_t tickets) {
      const auto a = number(n);
      auto event = sample_event(a);
      event.status = status;
      FQ_COMMITS(me.put(catalog_aggregate, {event_created{event, {sample_type(0, 10, a)}}}));
      me.take(a);
      const auto claim = sample_claim(1, 1, {});
      changes content{claim_opened{claim}, stock_moved{0, 0, 2}};
      for (std::uint64_t t = 1; t <= tickets + 1; ++t) {
        auto ticket = sample_event_ticket(t, claim, a);
        if (t > tickets) ticket.status = event_ticket_status::cancelled;
        content.emplace_back(event_ticket_issued{ticket});
      }
      FQ_COMMITS(me.put(a, std::move(content)));
    };
    const auto none = aggregate_id{}, first = aggregate_id{number_of(first_event_aggregate) - 1};
    const auto found = [&](aggregate_id after, const std::string& who = {}) {
      return store.find_events_to_settle(who, after);
    };
    put(0, event_status::active, 0); // has an owner
    put(1, event_status::ended, 2);
    put(2, event_status::ended, 1); // of two, when its node was killed
    put(3, event_status::cancelled, 0);
    put(4, event_status::ended, 3);
    CAF_CHECK((found(first) == events_to_settle{{number(2), number(3), number(4)}, none}));
    CAF_CHECK((found(number(3)) == events_to_settle{{number(4)}, none}));
    CAF_CHECK((found(number(4)) == events_to_settle{}));
    CAF_CHECK(
      std::holds_alternative<acquired>(store.acquire(number(3), {"ada", milliseconds{60'000}}, never)));
    CAF_CHECK((found(first, "ben") == events_to_settle{{number(2), number(4)}, none}));
    CAF_CHECK_EQUAL(found(first, "ada").found.size(), 3u);
    for (std::uint32_t n = 5; n <= 6; ++n) put(n, event_status::ended, 0);
    CAF_CHECK(
      (found(first) == events_to_settle{{number(2), number(3), number(4), number(5)}, number(5)})); // no more
    CAF_CHECK((found(number(5)) == events_to_settle{{number(6)}, none}));
    for (std::uint32_t n = 7; n <= 26; ++n) put(n, event_status::ended, 2);
    CAF_CHECK((found(number(6)) == events_to_settle{{}, number(26)})); // looked at so many
    CAF_CHECK((found(number(26)) == events_to_settle{}));
  });
}

} // namespace event_tickets_test
