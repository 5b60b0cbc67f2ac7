// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: an aggregate whose commits the ledger has lost is stopped, also for
// those who remember nothing, until a person accepts the loss.
#define CAF_SUITE store_loss
#include "store/port/restored.hpp"
#include "tests/store/port/engines.hpp"

namespace loss_test {

using namespace fq;
using namespace fq::test;

namespace {

const lease_terms ada{"ada", milliseconds{60'000}}, ben{"ben", milliseconds{60'000}};

std::optional<ledger_lost> lost_of(const acquire_result& result) {
  const auto* lost = std::get_if<ledger_lost>(&result);
  return lost == nullptr ? std::nullopt : std::optional{*lost};
}

ledger_mark mark_of(ledger& store, aggregate_id aggregate = sale) {
  const auto head = store.peek(aggregate).head;
  return {head.epoch, head.applied_seq};
}

struct restoring_environment final : environment {
  timestamp wall_now() override { return noon; }
  milliseconds steady_now() override { return {}; }
  void random_bytes(std::span<std::byte> out) override { std::ranges::fill(out, std::byte{7}); }
};

log_kept log_of(world& w, std::uint64_t size) {
  log_kept kept;
  kept.state.number = 1;
  kept.state.origin = "tickets.example/events/" + to_string(w.image().event->id) + "/log";
  kept.state.size = size;
  return kept;
}

struct restored {
  std::vector<lost_aggregate> accepted;
  std::size_t logs = 0;
};

restored restore(ledger& store, const event_id& only = {}) {
  restoring_environment env;
  restored result;
  result.logs =
    accept_restored(store, env, only, [&](const lost_aggregate& one) { result.accepted.push_back(one); });
  return result;
}

audit_row note_of(ledger& store) {
  return {id_of(77), default_tenant, store.peek(sale).image.event->id, "system", "loss.accept", "{}", "",
          noon};
}

milliseconds lag_of(ledger& store) {
  const auto got = store.acquire(sale, {}, std::nullopt);
  CAF_REQUIRE(std::holds_alternative<acquired>(got));
  return std::get<acquired>(got).clock_lag;
}

bool is_refused(ledger& store) {
  try {
    restore(store);
  } catch (const ledger_unavailable&) { return true; }
  return false;
}

} // namespace

CAF_TEST(what is known to be committed and is there changes nothing) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}}));
    const auto stored = mark_of(w.store);
    auto result = w.store.acquire(sale, {}, never, stored);
    CAF_REQUIRE(std::holds_alternative<acquired>(result));
    CAF_CHECK_EQUAL(std::get<acquired>(result).epoch, stored.epoch + 1);
    CAF_CHECK(w.store.losses().empty());
    CAF_CHECK(!w.store.accept_loss(sale, note_of(w.store)));
  });
}

CAF_TEST(a ledger that has gone back stops the aggregate for everybody and no other one) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}}));
    const auto stored = mark_of(w.store);
    const ledger_mark seen{stored.epoch, stored.seq + 9};
    const ledger_lost expected{stored, seen};
    CAF_CHECK(lost_of(w.store.acquire(sale, ada, never, seen)) == expected);
    CAF_CHECK(lost_of(w.store.acquire(sale, ben, std::nullopt)) == expected); // who remembers nothing
    CAF_CHECK(lost_of(w.store.acquire(sale, {}, never)) == expected);
    CAF_CHECK(mark_of(w.store) == stored);
    CAF_CHECK(std::holds_alternative<acquired>(w.store.acquire(accounts_aggregate, ada, never)));
    const auto all = w.store.losses();
    CAF_REQUIRE_EQUAL(all.size(), 1u);
    CAF_CHECK(all[0].aggregate == sale && all[0].event == w.store.peek(sale).image.event->id);
    CAF_CHECK(all[0].what == expected && all[0].decisions() == 9);
  });
}

CAF_TEST(a lost epoch is a loss too and more that was seen is added) {
  in_every_world([](world& w) {
    const auto stored = mark_of(w.store);
    CAF_CHECK((lost_of(w.store.acquire(sale, ada, never, {stored.epoch + 1, stored.seq}))
               == ledger_lost{stored, {stored.epoch + 1, stored.seq}}));
    CAF_CHECK((lost_of(w.store.acquire(sale, ada, never, {stored.epoch, stored.seq + 2}))
               == ledger_lost{stored, {stored.epoch + 1, stored.seq + 2}}));
    w.store.enlist("ada");
    CAF_CHECK(lost_of(w.store.acquire(sale, ben, never)).has_value());
  });
}

CAF_TEST(another lease is heeded first) {
  in_every_world([](world& w) {
    CAF_REQUIRE(std::holds_alternative<acquired>(w.store.acquire(sale, ada, never)));
    CAF_CHECK(std::holds_alternative<lease_held>(w.store.acquire(sale, ben, never, {99, 99})));
    CAF_CHECK(w.store.losses().empty());
  });
}

CAF_TEST(an accepted loss leaves room above what was seen) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}}));
    const auto stored = mark_of(w.store);
    const auto generation = w.store.peek(sale).head.cache_generation;
    const ledger_mark seen{stored.epoch + 3, stored.seq + 9};
    CAF_REQUIRE(lost_of(w.store.acquire(sale, ada, never, seen)).has_value());
    const auto row = note_of(w.store);
    CAF_CHECK(w.store.accept_loss(sale, row));
    CAF_CHECK(!w.store.accept_loss(sale, row));
    CAF_CHECK(w.store.losses().empty());
    CAF_CHECK(w.store.audit({}) == std::vector{row});
    CAF_CHECK_EQUAL(w.store.peek(sale).head.cache_generation, generation + 10);
    CAF_CHECK(w.store.peek(sale).head.line.last_number == queue_number{1});
    auto result = w.store.acquire(sale, ada, never, seen);
    CAF_REQUIRE(std::holds_alternative<acquired>(result));
    CAF_CHECK_EQUAL(std::get<acquired>(result).epoch, seen.epoch + 2);
    CAF_CHECK_EQUAL(std::get<acquired>(result).applied_seq, seen.seq + 1);
    CAF_CHECK_EQUAL(std::get<acquired>(result).image.entries.size(), 1u);
    w.me.take(sale);
    FQ_COMMITS(w.put({entry_joined{sample_entry(2)}}));
  });
}

CAF_TEST(what no event owns can be lost and accepted as well) {
  in_every_world([](world& w) {
    const auto stored = mark_of(w.store, accounts_aggregate);
    const ledger_mark seen{stored.epoch, stored.seq + 1};
    CAF_CHECK(lost_of(w.store.acquire(accounts_aggregate, {}, never, seen)).has_value());
    CAF_REQUIRE_EQUAL(w.store.losses().size(), 1u);
    CAF_CHECK(w.store.losses()[0].event.is_nil());
    auto row = note_of(w.store);
    row.target = {};
    CAF_CHECK(w.store.accept_loss(accounts_aggregate, row));
    CAF_CHECK(std::holds_alternative<acquired>(w.store.acquire(accounts_aggregate, {}, never, seen)));
  });
}

CAF_TEST(a restored ledger loses every log once though no process noticed it) {
  in_every_world([](world& w) {
    CAF_CHECK_EQUAL(restore(w.store).logs, 0u);
    w.me.take(catalog_aggregate);
    FQ_COMMITS(w.put({log_of(w, 3), entry_joined{sample_entry(1)}}));
    CAF_REQUIRE(w.me.put(catalog_aggregate, {event_created{sample_event(other_sale), {}}})
                == commit_outcome::committed);
    const auto lag = lag_of(w.store);
    const auto stored = mark_of(w.store);
    const auto generation = w.store.peek(sale).head.cache_generation;
    CAF_CHECK_EQUAL(restore(w.store, id_of(4'711)).logs, 0u);
    CAF_CHECK(!w.image().log->is_lost);

    const auto done = restore(w.store, w.image().event->id);
    CAF_CHECK_EQUAL(done.logs, 1u);
    CAF_REQUIRE_EQUAL(done.accepted.size(), 1u);
    CAF_CHECK(done.accepted[0].aggregate == sale && done.accepted[0].event == w.image().event->id);
    CAF_CHECK(w.image().log->is_lost && w.image().log->size == 3);
    const auto now = mark_of(w.store);
    CAF_CHECK(now.epoch > stored.epoch + restored_gap && now.seq > stored.seq + restored_gap);
    CAF_CHECK(w.store.peek(sale).head.cache_generation > generation + restored_gap);
    CAF_CHECK(w.store.losses().empty());
    const auto notes = w.store.audit({});
    CAF_REQUIRE_EQUAL(notes.size(), 1u);
    CAF_CHECK_EQUAL(notes[0].action, "loss.accept");
    CAF_CHECK_EQUAL(notes[0].detail, R"({"restored":true})");

    CAF_CHECK(lag_of(w.store) - lag < lease_terms{}.term); // the command was no owner that fell silent
    const auto again = restore(w.store);
    CAF_CHECK(again.logs == 1 && again.accepted.empty());
    w.me.take(sale);
    FQ_COMMITS(w.put({entry_joined{sample_entry(2)}}));
  });
}

CAF_TEST(a ledger in use is not taken for a restored one) {
  for (const auto used : {sale, catalog_aggregate})
    in_every_world([used](world& w) {
      FQ_COMMITS(w.put({log_of(w, 3)}));
      const auto got = w.store.acquire(used, ada, std::nullopt);
      CAF_REQUIRE(std::holds_alternative<acquired>(got));
      CAF_CHECK(is_refused(w.store));
      CAF_CHECK(!w.image().log->is_lost && w.store.losses().empty());
      const tenure own{used, std::get<acquired>(got).epoch};
      w.store.release(ada.owner, std::span{&own, 1});
      CAF_CHECK_EQUAL(restore(w.store).accepted.size(), 1u);
    });
}

CAF_TEST(the restore of an event that is stopped is accepted too) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({log_of(w, 3)}));
    const auto stored = mark_of(w.store);
    CAF_REQUIRE(lost_of(w.store.acquire(sale, {}, never, {stored.epoch, stored.seq + 9})).has_value());
    CAF_CHECK_EQUAL(restore(w.store).accepted.size(), 1u);
    CAF_CHECK(w.image().log->is_lost && mark_of(w.store).seq > stored.seq + restored_gap);
    CAF_CHECK(w.store.losses().empty());
  });
}

} // namespace loss_test
