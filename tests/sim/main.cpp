// SPDX-License-Identifier: Apache-2.0
// The simulation program: runs seeded sales, finds the planted bugs, checks determinism, replays one seed.
//   test_sim --seeds 5000     sales 1..5000, an eighth as many on meshed nodes and with twins each: all
//                             invariants, every rare branch reached, every tenth seed twice
//   test_sim --meshed 500     only sales on meshed nodes
//   test_sim --twins 500      only sales with two living processes of one name
//   test_sim --planted        each planted bug is found within its stated number of seeds
//   test_sim --seed 17 [--bug NAME] [--trace]
#include "tests/sim/options.hpp"
#include "tests/sim/simulation.hpp"

#include "domain/base/planted.hpp"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <string>

namespace {

using namespace fq;
using namespace fq::sim;

enum class family : std::uint8_t {
  all, ///< except meshed sales
  checkouts,
  meshed,
  twins
};

struct planted_row {
  const char* name;
  bug which;
  std::uint64_t within; ///< number of seeds
  family in = family::all; ///< tries and counts only seeds of this family
};

std::uint64_t step_of(family f) { return f == family::checkouts ? checkout_every : 1; }
std::uint64_t first_of(family f, std::uint64_t first) {
  const auto step = step_of(f);
  const auto base = f == family::meshed ? first_meshed : f == family::twins ? first_twins : 0;
  return base + (first + step - 1) / step * step;
}
const char* name_of(family f) {
  switch (f) {
    case family::all: return "";
    case family::checkouts: return " checkouts";
    case family::meshed: return " meshed";
    case family::twins: return " twins";
  }
  return "";
}

/// Limits: at least four times the maximum measured in six ranges of seeds (from 1, 1000, 2000, ... 5000).
constexpr std::array planted_bugs{
  planted_row{"skip_epoch_guard", bug::skip_epoch_guard, 30},
  planted_row{"trust_unknown_commit", bug::trust_unknown_commit, 10},
  planted_row{"answer_before_commit", bug::answer_before_commit, 5},
  planted_row{"release_twice", bug::release_twice, 30},
  planted_row{"admit_without_counting", bug::admit_without_counting, 10},
  planted_row{"reload_forgets_confirmed", bug::reload_forgets_confirmed, 20},
  planted_row{"expiry_ignores_payment", bug::expiry_ignores_payment, 15},
  planted_row{"order_by_timestamp", bug::order_by_timestamp, 15},
  planted_row{"late_money_kept", bug::late_money_kept, 40},
  planted_row{"amount_unchecked", bug::amount_unchecked, 80},
  planted_row{"idempotency_forgotten", bug::idempotency_forgotten, 90},
  planted_row{"claim_window_at_read", bug::claim_window_at_read, 500},
  planted_row{"mirror_before_commit", bug::mirror_before_commit, 500},
  planted_row{"lost_mirror_kept", bug::lost_mirror_kept, 500},
  planted_row{"generation_kept", bug::generation_kept, 500},
  planted_row{"lease_ignored", bug::lease_ignored, 500},
  planted_row{"lease_loss_ignored", bug::lease_loss_ignored, 500},
  planted_row{"takeover_forgotten", bug::takeover_forgotten, 500},
  planted_row{"fenced_taken_for_commit", bug::fenced_taken_for_commit, 500},
  planted_row{"marked_before_consumed", bug::marked_before_consumed, 500},
  planted_row{"windows_ignored", bug::windows_ignored, 120},
  planted_row{"returned_stock_kept", bug::returned_stock_kept, 20},
  planted_row{"invitation_ignored", bug::invitation_ignored, 300},
  planted_row{"block_forgotten", bug::block_forgotten, 300},
  planted_row{"advance_counts_twice", bug::advance_counts_twice, 300},
  planted_row{"away_loses_number", bug::away_loses_number, 300},
  planted_row{"hidden_overtakes", bug::hidden_overtakes, 300},
  planted_row{"amount_unchecked", bug::amount_unchecked, 80, family::checkouts},
  planted_row{"late_money_kept", bug::late_money_kept, 15, family::checkouts},
  planted_row{"webhook_applied_twice", bug::webhook_applied_twice, 15, family::checkouts},
  planted_row{"report_believed", bug::report_believed, 200, family::checkouts},
  planted_row{"promo_not_returned", bug::promo_not_returned, 10, family::checkouts},
  planted_row{"promo_limit_forgotten", bug::promo_limit_forgotten, 60, family::checkouts},
  planted_row{"order_left_pending", bug::order_left_pending, 100, family::checkouts},
  planted_row{"cancelled_order_sells", bug::cancelled_order_sells, 90, family::checkouts},
  planted_row{"refund_keeps_tickets", bug::refund_keeps_tickets, 15, family::checkouts},
  planted_row{"serves_after_lease", bug::serves_after_lease, 120, family::meshed},
  planted_row{"renewal_taken_for_granted", bug::renewal_taken_for_granted, 240, family::meshed},
  planted_row{"answers_after_handover", bug::answers_after_handover, 20, family::meshed},
  planted_row{"takes_back_given", bug::takes_back_given, 450, family::meshed},
  planted_row{"handover_keeps_lease", bug::handover_keeps_lease, 20, family::meshed},
  planted_row{"subscribes_twice", bug::subscribes_twice, 500, family::meshed},
  planted_row{"lost_hub_kept", bug::lost_hub_kept, 40, family::meshed},
  planted_row{"lost_peer_kept", bug::lost_peer_kept, 20, family::meshed},
  planted_row{"recheck_forgotten", bug::recheck_forgotten, 100},
  planted_row{"renewal_ignores_epoch", bug::renewal_ignores_epoch, 300, family::twins},
  planted_row{"earlier_takes_back", bug::earlier_takes_back, 300, family::twins},
};

void print_failure(std::uint64_t seed, const char* bug_name, const outcome& o) {
  std::cout << "VIOLATION " << o.violation << "\n"
            << describe(options_of(seed)) << "\nreplay: test_sim --seed " << seed;
  if (bug_name != nullptr) std::cout << " --bug " << bug_name;
  std::cout << " --trace\n";
}

int run_planted(std::uint64_t first) {
  int missed = 0;
  for (const auto& row : planted_bugs) {
    planted_bug = row.which;
    const auto step = step_of(row.in);
    auto seed = first_of(row.in, first);
    std::uint64_t tried = 0;
    outcome o;
    for (; tried < row.within && o.violation.empty(); ++tried, seed += step) o = run_sale(seed, false);
    if (!o.violation.empty()) {
      std::cout << "found  " << row.name << " with seed " << seed - step << " (" << tried << " of "
                << row.within << name_of(row.in) << "): " << o.violation << "\n";
    } else {
      std::cout << "MISSED " << row.name << " in " << row.within << " seeds\n";
      ++missed;
    }
  }
  planted_bug = bug::none;
  return missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// `in` all: seeds of every family; else only of this one.
int run_seeds(std::uint64_t first, std::uint64_t count, family in, bool all_rare) {
  std::array<std::uint64_t, static_cast<std::size_t>(rare::count_)> reached{};
  std::uint64_t steps = 0, failures = 0, meshed = 0, twins = 0;
  milliseconds virtual_time{0};
  const auto run = [&](std::uint64_t seed) {
    const auto o = run_sale(seed, false);
    steps += o.steps;
    virtual_time += o.virtual_time;
    for (std::size_t i = 0; i < reached.size(); ++i) reached[i] += o.reached[i] != 0 ? 1 : 0;
    if (!o.violation.empty()) {
      print_failure(seed, nullptr, o);
      ++failures;
      return;
    }
    if (seed % 10 != 0) return;
    if (const auto again = run_sale(seed, false); again.hash != o.hash || again.steps != o.steps) {
      std::cout << "NOT DETERMINISTIC: seed " << seed << " ran differently the second time\n";
      ++failures;
    }
  };
  for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    const bool all = in == family::all;
    if (all) run(seed);
    if (in == family::meshed || (all && seed % meshed_every == 0)) {
      run(first_meshed + (all ? seed / meshed_every : seed));
      ++meshed;
    }
    if (in == family::twins || (all && seed % twins_every == 0)) {
      run(first_twins + (all ? seed / twins_every : seed));
      ++twins;
    }
  }
  std::cout << (in == family::all ? count : 0) << " sales, " << meshed << " on meshed nodes, " << twins
            << " with twins, " << steps << " steps, " << virtual_time.count() / 1000 << " virtual seconds, "
            << failures << " failed, CPU " << static_cast<double>(std::clock()) / CLOCKS_PER_SEC << " s\n";
  for (std::size_t i = 0; i < reached.size(); ++i) {
    std::cout << "  sometimes: " << name_of(static_cast<rare>(i)) << ": " << reached[i] << " sales\n";
    if (all_rare && reached[i] == 0) {
      std::cout << "NEVER REACHED: " << name_of(static_cast<rare>(i)) << "\n";
      ++failures;
    }
  }
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run_one(std::uint64_t seed, bool trace) {
  if (trace) std::cout << std::unitbuf; // keeps the trace if the program crashes
  const auto o = run_sale(seed, trace);
  std::cout << "seed " << seed << ": hash " << std::hex << o.hash << std::dec << ", " << o.steps << " steps, "
            << o.virtual_time.count() << " virtual ms, " << o.sold << " sold\n";
  if (o.violation.empty()) return EXIT_SUCCESS;
  print_failure(seed, nullptr, o);
  return EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 0, first = 1, seeds = 5000, long_seeds = 100'000, only = 0;
  family in = family::all;
  bool trace = false, planted_run = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg{argv[i]};
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (arg == "--seed")
      seed = std::strtoull(value(), nullptr, 10);
    else if (arg == "--first")
      first = std::strtoull(value(), nullptr, 10);
    else if (arg == "--seeds")
      seeds = std::strtoull(value(), nullptr, 10);
    else if (arg == "--long-seeds")
      long_seeds = std::strtoull(value(), nullptr, 10);
    else if (arg == "--meshed" || arg == "--twins") {
      in = arg == "--meshed" ? family::meshed : family::twins;
      only = std::strtoull(value(), nullptr, 10);
    } else if (arg == "--trace")
      trace = true;
    else if (arg == "--planted")
      planted_run = true;
    else if (arg == "--bug") {
      const std::string_view name{value()};
      for (const auto& row : planted_bugs)
        if (name == row.name) planted_bug = row.which;
      if (planted_bug == bug::none) {
        std::cerr << "no planted bug named " << name << "\n";
        return EXIT_FAILURE;
      }
    } else {
      std::cerr << "usage: test_sim [--seeds N | --meshed N | --twins N] [--first N] | --seed N [--bug NAME] "
                   "[--trace] | --planted\n";
      return EXIT_FAILURE;
    }
  }
  if (planted_run) return run_planted(first);
  if (seed != 0) return run_one(seed, trace);
  if (only != 0) return run_seeds(first, only, in, false);
  if (const char* longer = std::getenv("FAIRQUEUE_LONG"); longer != nullptr && std::strcmp(longer, "1") == 0)
    seeds = long_seeds;
  if (const char* fewer = std::getenv("FAIRQUEUE_SIM_SEEDS"); fewer != nullptr)
    seeds = std::strtoull(fewer, nullptr, 10);
  return run_seeds(first, seeds, family::all, seeds >= 500); // a smaller run may miss a rare branch by chance
}
