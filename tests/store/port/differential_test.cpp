// SPDX-License-Identifier: Apache-2.0
// Runs random calls, valid and invalid, on the memory ledger and the SQL ledgers. All answers and images must
// be equal. One seed: FQ_STORE_SEED=<n> test_store -s store_differential; more seeds: FQ_STORE_RUNS=<n>.
#define CAF_SUITE store_differential
#include "tests/store/port/random_calls.hpp"

#include <algorithm>
#include <set>

namespace differential_test {

using namespace fq;
using namespace fq::test;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Coverage of the generator over all seeds: comparing only refusals would prove little.
struct coverage {
  std::set<std::size_t> committed_kinds;
  std::map<commit_outcome, std::size_t> outcomes;
  std::map<std::size_t, std::size_t> acquisitions; ///< by answer type
  std::size_t partial_renewals = 0, partial_dispatches = 0; ///< with only a part of the requested rows
  std::size_t superseded_calls = 0;
  std::size_t delivered = 0;
  std::size_t orders = 0, event_tickets = 0, transfers = 0, statistics = 0, letters = 0, open_letters = 0,
              seat_plans = 0,
              second_pages = 0; ///< rows in listings
  std::size_t live_seats = 0, ended_seats = 0; ///< in images

  void count(const std::vector<batch>& call, const std::vector<commit_outcome>& answers) {
    for (std::size_t i = 0; i < call.size(); ++i) {
      ++outcomes[answers[i]];
      if (answers[i] == commit_outcome::committed)
        for (const auto& c : call[i].content) committed_kinds.insert(c.index());
    }
  }
};

bool same_events(const std::vector<event_listing>& a, const std::vector<event_listing>& b) {
  const auto same = [](const event_listing& x, const event_listing& y) {
    return x.event == y.event && x.ticket_types == y.ticket_types;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

std::string text_of(commit_outcome outcome) {
  switch (outcome) {
    case commit_outcome::committed: return "committed";
    case commit_outcome::already_applied: return "already applied";
    case commit_outcome::fenced: return "fenced";
    case commit_outcome::out_of_order: return "out of order";
    case commit_outcome::conflict: return "conflict";
    case commit_outcome::busy: return "busy";
  }
  return {};
}

/// Compares two answers without the remaining lease time, which differs per engine.
bool same_answers(const acquire_result& a, const acquire_result& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<lease_held>(&a)) return x->owner == std::get<lease_held>(b).owner;
  if (const auto* x = std::get_if<ledger_lost>(&a)) return *x == std::get<ledger_lost>(b);
  const auto* x = std::get_if<acquired>(&a);
  if (x == nullptr) return true;
  const auto& y = std::get<acquired>(b);
  return x->epoch == y.epoch && x->applied_seq == y.applied_seq && x->committed_at == y.committed_at
         && x->cache_generation == y.cache_generation && x->line == y.line && x->image == y.image;
}

/// An engine compared with the oracle.
struct contender {
  std::string name;
  ledger& store;
  std::function<std::string()> last_refusal;
};

/// The answer; none if a later process of the node has begun.
template <class Call>
auto unless_superseded(Call call) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const superseded&) { return std::nullopt; }
}

class comparison {
public:
  comparison(std::uint64_t seed, coverage& seen) :
      seen_(seen),
      draw_(seed, memory_),
      sqlite_({.file = new_sqlite_file(folder_), .checkpoint_pages = 100}),
      postgres_({.url = empty_ledger_url(), .steady_now = steady_now}) {
    for (const auto a : {accounts_aggregate, catalog_aggregate}) acquire(a, {}, never);
  }

  /// True if the engines agreed on `steps` random calls and on the stored rows afterwards.
  bool run(int steps) {
    for (int i = 0; i < steps && same_; ++i) {
      step();
      if (i % 10 == 9) compare_all();
    }
    compare_all();
    check(sqlite_.check_integrity() == "ok", "integrity");
    return same_;
  }

private:
  void check(bool holds, const std::string& what) {
    if (!holds && same_) CAF_MESSAGE("the engines disagree about " << what);
    same_ = same_ && holds;
  }

  /// Returns the oracle's answer and checks that every other engine gives the same.
  template <class Ask, class Same = std::equal_to<>>
  auto agreed(const std::string& about, Ask ask, Same same = {}) {
    auto expected = ask(memory_);
    for (const auto& c : contenders_) check(same(expected, ask(c.store)), about + ": " + c.name);
    return expected;
  }

  void step() {
    if (draw_.percent(8)) return acquire(draw_.some_aggregate(), draw_.lease(), draw_.since());
    if (draw_.percent(8)) return lease();
    if (draw_.percent(2)) return lose();
    if (draw_.percent(8)) return dispatch();
    // a new event has no owner
    for (const auto a : memory_.aggregates())
      if (memory_.head(a)->epoch == 0) acquire(a, {}, {});
    if (draw_.percent(3)) return prune();
    commit(draw_.call());
  }

  void commit(const std::vector<batch>& call) {
    const auto expected = memory_.commit(call);
    seen_.count(call, expected);
    for (const auto& c : contenders_) {
      const auto got = c.store.commit(call);
      for (std::size_t i = 0; i < call.size(); ++i)
        check(expected[i] == got[i], "batch " + std::to_string(i) + " of a call: memory "
                                       + text_of(expected[i]) + ", " + c.name + " " + text_of(got[i]) + " ("
                                       + c.last_refusal() + ")");
    }
  }

  void acquire(aggregate_id a, const lease_terms& terms, const load_since& since,
               const ledger_mark& seen = {}) {
    const auto answer = agreed(
      "acquiring " + std::to_string(number_of(a)),
      [&](ledger& l) { return unless_superseded([&] { return l.acquire(a, terms, since, seen); }); },
      [](const auto& x, const auto& y) {
        return x.has_value() == y.has_value() && (!x || same_answers(*x, *y));
      });
    answer ? ++seen_.acquisitions[answer->index()] : ++seen_.superseded_calls;
  }

  /// A node has seen more of an aggregate than there is. The loss is accepted.
  void lose() {
    const auto a = draw_.some_aggregate();
    const auto* head = memory_.head(a);
    if (head == nullptr || head->epoch == 0) return;
    acquire(a, draw_.lease(), {}, {head->epoch + draw_.below(3), head->applied_seq + draw_.below(5)});
    agreed("what is lost", [&](ledger& l) { return l.losses(); });
    acquire(a, draw_.lease(), {});
    const audit_row row{make_uuid(noon, a, 5'000'000 + ++accepted_),
                        default_tenant,
                        {},
                        "system",
                        "loss.accept",
                        "{}",
                        "",
                        noon};
    agreed("whether a loss is accepted", [&](ledger& l) { return l.accept_loss(a, row); });
  }

  void begin_process() {
    const auto node = draw_.some_owner();
    if (node.empty()) return;
    draw_.begun(node, agreed("an incarnation", [&](ledger& l) { return l.enlist(node); }));
  }

  void beat() {
    const auto terms = draw_.lease();
    if (terms.owner.empty()) return;
    node_row row{terms.owner, "host", 1, 0, true, false, never, true, "keys", terms.incarnation};
    agreed("the live nodes", [&](ledger& l) {
      auto nodes = unless_superseded([&] { return l.beat(row, long_term); });
      if (nodes)
        for (auto& n : *nodes) n.seen_at = never;
      return nodes;
    });
    if (!draw_.percent(30)) return;
    memory_.leave(row.id, row.incarnation);
    for (const auto& c : contenders_) c.store.leave(row.id, row.incarnation);
  }

  void lease() {
    const auto terms = draw_.lease();
    if (draw_.percent(15)) begin_process();
    if (draw_.percent(30)) beat();
    const auto some = draw_.tenures_of(draw_.some_aggregates());
    if (draw_.percent(50)) acquire(draw_.some_aggregate(), terms, {});
    if (draw_.percent(30)) {
      memory_.release(terms.owner, some);
      for (const auto& c : contenders_) c.store.release(terms.owner, some);
    }
    const auto lost = agreed("what a renewal has lost", [&](ledger& l) { return l.renew(terms, some).lost; });
    if (!lost.empty() && lost.size() < some.size()) ++seen_.partial_renewals;
    const auto wanted = draw_.some_partitions();
    const auto held = agreed("who holds a partition", [&](ledger& l) {
      return unless_superseded([&] { return l.lease_outbox(terms, wanted); });
    });
    if (!held) ++seen_.superseded_calls;
    if (held && !held->empty() && held->size() < wanted.size()) ++seen_.partial_dispatches;
  }

  void dispatch() {
    const auto wanted = draw_.some_partitions();
    const auto limit = draw_.below(30);
    const auto which = all_lanes.at(draw_.below(all_lanes.size()));
    const auto keys = draw_.some_keys(
      agreed("what goes out", [&](ledger& l) { return l.undelivered(which, wanted, limit, {}); }));
    const auto at = draw_.time();
    memory_.mark_delivered(which, keys, at);
    for (const auto& c : contenders_) c.store.mark_delivered(which, keys, at);
    seen_.delivered += keys.size() - 1;
  }

  void prune() {
    const auto keys = draw_.time(), receipts = draw_.time(), delivered = draw_.time();
    prune_bounds bounds{keys, receipts, delivered, draw_.below(12), never, never, draw_.time()};
    bounds.statistics_before = noon + seconds{60 * draw_.between(0, 10)};
    agreed("what to prune", [&](ledger& l) { return l.prune(bounds); });
    prune_bounds people;
    people.limit = 10'000; // which contacts go first is not said
    people.contacts_before = noon + seconds{draw_.between(0, 7'200)};
    agreed("what to forget", [&](ledger& l) { return l.prune(people); });
  }

  void compare_all() {
    const auto since = draw_.since();
    for (std::uint32_t n : {1, 2, 16, 17, 18, 19}) {
      const aggregate_id a{n};
      const auto found = agreed("the image of " + std::to_string(n), [&](ledger& l) { return l.peek(a); });
      for (const auto& s : found.image.claim_seats) ++(s.is_live ? seen_.live_seats : seen_.ended_seats);
      agreed("loading " + std::to_string(n), [&](ledger& l) { return l.load(a, since); });
      for (std::uint64_t e = 1; e < 6; ++e)
        agreed("an entry of " + std::to_string(n),
               [&](ledger& l) { return l.read_entry(a, queue_number{e}); });
      agreed("the history of " + std::to_string(n), [&](ledger& l) { return l.history(a); });
      agreed("the log of " + std::to_string(n), [&](ledger& l) {
        return l.read_log(a, {.noted = 50, .edge = true, .tiles = {{0, 0}, {bundle_level, 1}}});
      });
      list_statistics(a);
    }
    for (const auto& o : owners)
      agreed("who must be woken", [&](ledger& l) { return l.aggregates_to_wake(o); });
    for (const auto& o : owners)
      agreed("whose event tickets to settle",
             [&](ledger& l) { return l.find_events_to_settle(o, aggregate_id{15}); });
    for (const auto which : all_lanes)
      agreed("all that waits to go out",
             [&](ledger& l) { return l.undelivered(which, all_partitions(), 100'000, {}); });
    agreed("the last aggregate", [](ledger& l) { return l.last_aggregate(); });
    event_filter later, organizers, tenants, queues, named;
    later.after = aggregate_id{17};
    later.limit = 1;
    organizers.organizer = id_of(1, accounts_aggregate);
    organizers.limit = 2;
    tenants.tenant = queues.tenant = named.tenant = default_tenant;
    queues.kind = named.kind = event_kind::queue;
    named.external_id = "match-1";
    const event_filter filters[] = {{}, later, organizers, tenants, queues, named};
    list_orders();
    list_event_tickets();
    for (std::uint64_t n = 1; n <= 5; ++n)
      for (const std::uint32_t limit : {1u, 50u})
        seen_.transfers += agreed("offers of tickets", [&](ledger& l) {
                             return l.list_transfers({id_of(n, accounts_aggregate), limit});
                           }).size();
    for (const auto tenant : {default_tenant, tenant_id{2}}) list_letters(tenant);
    list_seat_plans();
    agreed("tenants, keys and settings", [](ledger& l) { return l.directory(); });
    agreed("blocks", [](ledger& l) { return l.blocks(); });
    agreed("the audit log", [](ledger& l) { return l.audit({.limit = 100'000}); });
    agreed("an organizer's audit log",
           [](ledger& l) { return l.audit({.actor = "organizer 1", .limit = 100'000}); });
    for (const auto& f : filters)
      agreed(
        "a listing", [&](ledger& l) { return l.list_events(f); }, same_events);
  }

  void list_orders() {
    for (std::uint64_t n = 1; n <= 5; ++n) {
      order_filter f{.customer = id_of(n, accounts_aggregate), .limit = 2};
      const auto page = agreed("orders", [&](ledger& l) { return l.list_orders(f); });
      seen_.orders += page.size();
      if (page.size() < f.limit) continue;
      f.before = page.back().order.id;
      seen_.second_pages +=
        agreed("older orders", [&](ledger& l) { return l.list_orders(f); }).empty() ? 0 : 1;
    }
  }

  void list_statistics(aggregate_id a) {
    const statistics_filter f{a, noon + seconds{120}, noon + seconds{1'500}, milliseconds{300'000}};
    seen_.statistics += agreed("statistics", [&](ledger& l) { return l.list_statistics(f); }).size();
    agreed("figures", [&](ledger& l) { return l.figures(a); });
  }

  void list_event_tickets() {
    for (std::uint64_t n = 1; n <= 5; ++n) {
      event_ticket_filter f{.holder = id_of(n, accounts_aggregate), .limit = 2};
      const auto page = agreed("event tickets", [&](ledger& l) { return l.list_event_tickets(f); });
      seen_.event_tickets += page.size();
      if (page.size() < f.limit) continue;
      f.before = page.back().ticket.id;
      agreed("older event tickets", [&](ledger& l) { return l.list_event_tickets(f); });
    }
  }

  void list_seat_plans() {
    for (std::uint32_t t = 1; t <= 4; ++t) {
      seat_plan_filter f{.tenant = tenant_id{t}, .limit = 2};
      const auto page = agreed("seat plans", [&](ledger& l) { return l.list_seat_plans(f); });
      seen_.seat_plans += page.size();
      if (page.empty()) continue;
      f.organizer = page.front().organizer;
      agreed("an organizer's seat plans", [&](ledger& l) { return l.list_seat_plans(f); });
      f.id = page.back().id;
      agreed("a seat plan", [&](ledger& l) { return l.list_seat_plans(f); });
      seat_plan_filter later{.tenant = tenant_id{t}, .after = page.back().id};
      agreed("later seat plans", [&](ledger& l) { return l.list_seat_plans(later); });
    }
  }

  void list_letters(tenant_id tenant) {
    dead_letter_filter all{.tenant = tenant, .is_open = false, .limit = 100},
      open{.tenant = tenant, .limit = 3};
    dead_letter_filter of_organizer{
      .tenant = tenant, .organizer = id_of(1, accounts_aggregate), .is_open = false};
    const auto list = [&](const dead_letter_filter& f) {
      return agreed("dead letters", [&](ledger& l) { return l.list_dead_letters(f); });
    };
    seen_.letters += list(all).size();
    list(of_organizer);
    const auto page = list(open);
    seen_.open_letters += page.size();
    if (page.size() < open.limit) return;
    open.before = page.back().letter.id;
    seen_.second_pages += list(open).empty() ? 0 : 1;
  }

  coverage& seen_;
  std::uint64_t accepted_ = 0;
  bool same_ = true;
  temp_folder folder_;
  memory_ledger memory_{{.now = wall_now}};
  generator draw_;
  sqlite_ledger sqlite_;
  postgres_ledger postgres_;
  std::vector<contender> contenders_{{"sqlite", sqlite_, [this] { return sqlite_.last_refusal(); }},
                                     {"postgres", postgres_, [this] { return postgres_.last_refusal(); }}};
};

} // namespace

CAF_TEST(random calls have the same effect on every engine) {
  const auto first = from_environment("FQ_STORE_SEED", 1);
  const auto runs = from_environment("FQ_STORE_RUNS", std::getenv("FQ_STORE_SEED") ? 1 : 26);
  coverage seen;
  for (auto seed = first; seed < first + runs; ++seed) {
    const bool same = comparison(seed, seen).run(300);
    if (!same) CAF_ERROR("replay with FQ_STORE_SEED=" << seed << " test_store -s store_differential");
  }
  CAF_MESSAGE("seeds " << first << " to " << first + runs - 1);
  for (const auto& [outcome, count] : seen.outcomes) CAF_MESSAGE(text_of(outcome) << ": " << count);
  CAF_MESSAGE(
    "renewed in part: " << seen.partial_renewals << ", superseded: " << seen.superseded_calls
                        << ", partitions leased in part: " << seen.partial_dispatches
                        << ", marked delivered: " << seen.delivered << ", orders listed: " << seen.orders
                        << ", event tickets: " << seen.event_tickets << ", offers: " << seen.transfers
                        << ", statistics: " << seen.statistics << ", dead letters: " << seen.letters
                        << ", open ones: " << seen.open_letters << ", second pages: " << seen.second_pages);
  if (runs < 16) return;
  CAF_CHECK_EQUAL(seen.outcomes.size(), 5u);
  CAF_CHECK_EQUAL(seen.committed_kinds.size(), std::variant_size_v<change>);
  CAF_CHECK_EQUAL(seen.acquisitions.size(),
                  std::variant_size_v<acquire_result> - 1); // no other transaction locks a row: never busy
  CAF_CHECK(seen.partial_renewals > 20);
  CAF_CHECK(seen.partial_dispatches > 50);
  CAF_CHECK(seen.superseded_calls > 50);
  CAF_CHECK(seen.delivered > 100);
  CAF_CHECK(seen.orders > 200);
  CAF_CHECK(seen.event_tickets > 50);
  CAF_CHECK(seen.transfers > 20);
  CAF_CHECK(seen.statistics > 1'000);
  CAF_CHECK(seen.letters > 1'000);
  CAF_MESSAGE("seat plans: " << seen.seat_plans << ", live seats: " << seen.live_seats
                             << ", ended: " << seen.ended_seats);
  CAF_CHECK(seen.seat_plans > 50 && seen.live_seats > 200 && seen.ended_seats > 50);
  CAF_CHECK(seen.second_pages > 50);
  CAF_CHECK(seen.open_letters > 100 && seen.open_letters < seen.letters);
}

} // namespace differential_test
