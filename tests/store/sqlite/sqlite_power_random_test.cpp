// SPDX-License-Identifier: Apache-2.0
// Random calls on the SQLite ledger while its disk fails, is full and loses power, and while the process is
// killed. After each end the ledger equals the memory engine: all that was acknowledged is there, and the
// call without an answer is there as a whole or not at all. One seed: FQ_STORE_SEED=<n> test_store -s
// store_sqlite_power_random; more seeds: FQ_STORE_RUNS=<n>.
#define CAF_SUITE store_sqlite_power_random
#include "tests/store/port/random_calls.hpp"
#include "tests/store/sqlite/fault_vfs.hpp"

#include <array>
#include <optional>

namespace sqlite_power_random_test {

using namespace fq;
using namespace fq::test;
using differential_test::all_partitions;
using differential_test::generator;

namespace {

struct process_ended {};

struct totals {
  disk_counts disk;
  std::uint64_t calls = 0, in_doubt = 0, landed = 0;

  void add(const disk_counts& d) {
    disk.syncs += d.syncs;
    disk.failed_writes += d.failed_writes;
    disk.failed_syncs += d.failed_syncs;
    disk.failed_truncates += d.failed_truncates;
    disk.full += d.full;
    disk.power_losses += d.power_losses;
    disk.process_ends += d.process_ends;
  }
};

uuid person(std::uint64_t n) { return id_of(1 + n, accounts_aggregate); }

class trial {
public:
  trial(std::uint64_t seed, totals& sum) : sum_(sum), disk_(seed), draw_(seed, memory_) {
    disk_.set_tearing(seed % 2 == 1);
    checkpoint_pages_ = static_cast<std::uint32_t>(draw_.between(20, 600));
    open();
    for (const auto a : {accounts_aggregate, catalog_aggregate}) acquire(a, {});
  }
  ~trial() { sum_.add(disk_.counts()); }
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;

  /// True if nothing acknowledged was lost.
  bool run(int steps) {
    for (int i = 0; i < steps && is_same_; ++i) {
      disturb();
      step();
    }
    disk_.cut_power();
    start_again();
    check("the end");
    return is_same_ && store_->check_integrity() == "ok";
  }

private:
  // -- the process

  void open() {
    const auto fatal = [this](const std::string&) {
      disk_.end_process();
      throw process_ended{};
    };
    for (;;) {
      if (draw_.percent(15)) arm();
      try {
        store_.emplace(sqlite_ledger_options{
          .file = folder_ / "ledger.db", .checkpoint_pages = checkpoint_pages_, .fatal = fatal});
        return;
      } catch (const process_ended&) {
      } catch (const ledger_unavailable&) { disk_.end_process(); }
      disk_.start_again();
    }
  }

  void start_again() {
    store_.reset();
    disk_.start_again();
    open();
  }

  void arm() {
    static constexpr std::array calls{disk_call::write, disk_call::sync, disk_call::sync, disk_call::truncate,
                                      disk_call::any};
    disk_.arm(calls.at(draw_.below(calls.size())), static_cast<unsigned>(draw_.between(1, 25)),
              draw_.percent(70) ? disk_fault::error : disk_fault::power);
  }

  void disturb() {
    if (draw_.percent(12)) arm();
    if (draw_.percent(15)) disk_.set_full(true);
    if (!draw_.percent(4)) return;
    draw_.percent(50) ? disk_.cut_power() : disk_.end_process();
    start_again();
    check("a quiet moment");
  }

  /// Makes the call on both ledgers, and again until it is answered.
  template <class Call>
  void both(Call call) {
    ++sum_.calls;
    std::string why;
    for (int tries = 0; is_same_; ++tries) {
      if (tries > 100) throw std::runtime_error{"a call is never answered: " + why};
      try {
        call(*store_);
        call(memory_);
        return;
      } catch (const ledger_unavailable& e) {
        why = e.what();
        disk_.set_full(false); // nothing was committed
      } catch (const commit_unknown&) { ++sum_.in_doubt; } catch (const process_ended&) {
        if (has_landed(call)) return;
      }
    }
  }

  /// The process ended without an answer: whether the next one finds the call's effect.
  template <class Call>
  bool has_landed(Call call) {
    start_again();
    ++sum_.in_doubt;
    if (is_equal()) return false;
    ++sum_.landed;
    call(memory_);
    check("a call without an answer");
    return true;
  }

  // -- calls

  void step() {
    for (const auto a : memory_.aggregates()) // a new event has no owner
      if (memory_.head(a)->epoch == 0) acquire(a, {});
    switch (draw_.below(12)) {
      case 0: return acquire(draw_.some_aggregate(), draw_.lease());
      case 1: return lease();
      case 2: return dispatch();
      case 3: return prune();
      case 4:
      case 5:
      case 6: return notices();
      default: break;
    }
    const auto call = draw_.call();
    both([&](ledger& l) { l.commit(call); });
  }

  void acquire(aggregate_id a, const lease_terms& terms) {
    both([&](ledger& l) { l.acquire(a, terms, never); });
  }

  void lease() {
    const auto terms = draw_.lease();
    const auto some = draw_.tenures_of(draw_.some_aggregates());
    const auto wanted = draw_.some_partitions();
    both([&](ledger& l) { l.renew(terms, some); });
    both([&](ledger& l) { l.lease_outbox(terms, wanted); });
    node_row node;
    node.id = "node";
    both([&](ledger& l) { l.beat(node, milliseconds{1}); });
    if (draw_.percent(30)) both([&](ledger& l) { l.release(terms.owner, some); });
  }

  void dispatch() {
    const auto which = all_lanes.at(draw_.below(all_lanes.size()));
    const auto keys = draw_.some_keys(memory_.undelivered(which, all_partitions(), 30, {}));
    const auto at = draw_.time();
    both([&](ledger& l) { l.mark_delivered(which, keys, at); });
  }

  void prune() {
    const prune_bounds bounds{draw_.time(), draw_.time(), draw_.time(), draw_.below(12)};
    both([&](ledger& l) { l.prune(bounds); });
  }

  void notices() {
    const auto now = draw_.time();
    if (draw_.percent(30)) {
      const device_row d{.id = id_of(100'000 + ++notices_),
                         .holder = person(draw_.below(5)),
                         .way = channel::fcm,
                         .token = "token-" + std::to_string(draw_.below(20)),
                         .is_sandbox = false,
                         .registered_at = now,
                         .gone_at = never,
                         .gone_reason = {}};
      both([&](ledger& l) { l.register_device(d); });
    }
    delivery_row row;
    row.target = id_of(draw_.below(5));
    row.notice = id_of(300 + ++notices_);
    row.way = channel::fcm;
    row.holder = person(draw_.below(5));
    row.due_at = now;
    row.ended_at = never;
    if (draw_.percent(70)) both([&](ledger& l) { l.store_deliveries({&row, 1}); });
    const due_filter due{.way = row.way, .limit = 3, .hold = milliseconds{5'000}};
    std::vector<delivery_row> taken;
    both([&](ledger& l) {
      taken.clear();
      for (auto& d : l.take_deliveries(due, now)) taken.push_back(std::move(d.row));
    });
    for (auto& d : taken) d.state = delivery_state::delivered, d.ended_at = now;
    if (draw_.percent(60)) both([&](ledger& l) { l.settle_deliveries(taken); });
  }

  // -- comparison

  void check(const std::string& when) {
    if (!is_same_ || is_equal()) return;
    is_same_ = false;
    CAF_MESSAGE(difference_ << " differs after " << when);
  }

  template <class Ask>
  void compare(const std::string& what, Ask ask) {
    if (difference_.empty() && ask(memory_) != ask(*store_)) difference_ = what;
  }

  bool is_equal() {
    disk_.disarm();
    difference_.clear();
    for (std::uint32_t n : {1, 2, 16, 17, 18, 19}) {
      compare("an image", [&](ledger& l) { return l.peek(aggregate_id{n}); });
      compare("a history", [&](ledger& l) { return l.history(aggregate_id{n}); });
    }
    for (const auto which : all_lanes)
      compare("the outbox", [&](ledger& l) { return l.undelivered(which, all_partitions(), 100'000, {}); });
    for (std::uint64_t n = 0; n < 5; ++n) {
      compare("devices", [&](ledger& l) { return l.list_devices(person(n)); });
      compare("deliveries",
              [&](ledger& l) { return l.list_deliveries({.target = id_of(n), .limit = 10'000}); });
    }
    compare("the audit log", [](ledger& l) { return l.audit({.limit = 100'000}); });
    compare("blocks", [](ledger& l) { return l.blocks(); });
    return difference_.empty();
  }

  totals& sum_;
  bool is_same_ = true;
  std::string difference_; ///< of the last comparison
  temp_folder folder_;
  fault_vfs disk_;
  memory_ledger memory_{{.now = wall_now}};
  generator draw_;
  std::uint32_t checkpoint_pages_ = 0;
  std::uint64_t notices_ = 0;
  std::optional<sqlite_ledger> store_;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace

CAF_TEST(acknowledged calls survive every failure of the disk) {
  const auto first = from_environment("FQ_STORE_SEED", 1);
  const auto runs = from_environment("FQ_STORE_RUNS", std::getenv("FQ_STORE_SEED") ? 1 : 12);
  totals sum;
  int failed = 0;
  for (auto seed = first; seed < first + runs; ++seed) {
    const bool is_same = trial(seed, sum).run(150);
    failed += is_same ? 0 : 1;
    if (!is_same)
      CAF_ERROR("replay with FQ_STORE_SEED=" << seed << " test_store -s store_sqlite_power_random");
  }
  const auto& d = sum.disk;
  CAF_MESSAGE("seeds with a loss: " << failed << " of " << runs << "; calls: " << sum.calls
                                    << ", in doubt: " << sum.in_doubt << ", of which landed: " << sum.landed);
  CAF_MESSAGE("power losses: " << d.power_losses << ", process ends: " << d.process_ends
                               << ", syncs: " << d.syncs << ", failed: " << d.failed_syncs
                               << ", failed writes: " << d.failed_writes << ", failed truncates: "
                               << d.failed_truncates << ", refused by a full disk: " << d.full);
  if (runs < 12) return;
  CAF_CHECK(sum.landed > 3);
  CAF_CHECK(d.power_losses > 40);
  CAF_CHECK(d.failed_syncs > 8);
  CAF_CHECK(d.failed_writes > 20);
  CAF_CHECK(d.full > 10);
}

} // namespace sqlite_power_random_test
