// SPDX-License-Identifier: Apache-2.0
// The simulation program: runs seeded sales, finds the planted bugs, checks determinism, replays one seed.
//   test_sim --seeds 5000     sales 1..5000, and some of each other family: all invariants, every rare
//                             branch reached, every tenth seed twice
//   test_sim --meshed 500     only sales on meshed nodes
//   test_sim --twins 500      only sales with two living processes of one name
//   test_sim --lost 500       only sales whose ledger goes back
//   test_sim --disk 500       only sales on the SQLite engine, with a disk that fails
//   test_sim --minutes 60     new seeds for so long
//   test_sim --planted        each planted bug is found within its stated number of seeds
//   test_sim --seed 17 [--bug NAME] [--trace]
//   test_sim --logs FOLDER --seeds 200   writes the public log of each sale to FOLDER/SEED, for other
//   checkers
//   ... --without PART,... turns off what was drawn
// Works on all cores (--jobs). A failing sale is made smaller before it is printed.
#include "tests/sim/options.hpp"
#include "tests/sim/processes.hpp"
#include "tests/sim/shrink.hpp"
#include "tests/sim/simulation.hpp"

#include "domain/base/planted.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <thread>

namespace {

using namespace fq;
using namespace fq::sim;

constexpr std::uint64_t failures_max = 5; ///< per process; then it stops
constexpr std::uint64_t seeds_a_turn = 16; ///< has sales of each family, so that processes get equal work

enum class family : std::uint8_t {
  all, ///< seeds without a family of their own
  checkouts,
  meshed,
  twins,
  lost,
  disk
};

/// A family with seeds of its own. `every`: other sales per sale of it in a run over all.
struct family_row {
  family which;
  std::string_view name;
  std::uint64_t first, every;
};
constexpr std::array families{family_row{family::all, "sales", 0, 1},
                              family_row{family::meshed, "meshed", first_meshed, meshed_every},
                              family_row{family::twins, "twins", first_twins, twins_every},
                              family_row{family::lost, "lost", first_lost, lost_every},
                              family_row{family::disk, "disk", first_disk, disk_every}};

struct planted_row {
  const char* name;
  bug which;
  std::uint64_t within; ///< number of seeds
  family in = family::all; ///< tries and counts only seeds of this family
};

std::uint64_t step_of(family f) { return f == family::checkouts ? checkout_every : 1; }
const family_row& row_of(family f) {
  const auto row = std::ranges::find(families, f == family::checkouts ? family::all : f, &family_row::which);
  return *row;
}
std::uint64_t first_of(family f, std::uint64_t first) {
  const auto step = step_of(f);
  return row_of(f).first + (first + step - 1) / step * step;
}
/// `option`: as `--meshed`.
auto family_of(std::string_view option) {
  const auto is_its = [&](const family_row& row) {
    return row.which != family::all && option == "--" + std::string{row.name};
  };
  return std::ranges::find_if(families, is_its);
}
std::string name_of(family f) {
  if (f == family::all) return "";
  return f == family::checkouts ? " checkouts" : ' ' + std::string{row_of(f).name};
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
  planted_row{"lease_loss_ignored", bug::lease_loss_ignored, 130},
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
  planted_row{"offer_to_second", bug::offer_to_second, 300},
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
  planted_row{"join_not_noted", bug::join_not_noted, 10},
  planted_row{"answers_after_handover", bug::answers_after_handover, 20, family::meshed},
  planted_row{"takes_back_given", bug::takes_back_given, 450, family::meshed},
  planted_row{"handover_keeps_lease", bug::handover_keeps_lease, 20, family::meshed},
  planted_row{"subscribes_twice", bug::subscribes_twice, 40, family::meshed},
  planted_row{"lost_subscriber_kept", bug::lost_subscriber_kept, 40, family::meshed},
  planted_row{"lost_peer_kept", bug::lost_peer_kept, 20, family::meshed},
  planted_row{"recheck_forgotten", bug::recheck_forgotten, 100},
  planted_row{"renewal_ignores_epoch", bug::renewal_ignores_epoch, 300, family::twins},
  planted_row{"earlier_takes_back", bug::earlier_takes_back, 300, family::twins},
  planted_row{"loss_unnoticed", bug::loss_unnoticed, 10, family::lost},
  planted_row{"loss_not_written", bug::loss_not_written, 40, family::lost},
  planted_row{"gossip_forgotten", bug::gossip_forgotten, 80, family::lost},
  planted_row{"commits_unsynced", bug::commits_unsynced, 300, family::disk},
  planted_row{"leftover_log_trusted", bug::leftover_log_trusted, 300, family::disk},
  planted_row{"failed_sync_ignored", bug::failed_sync_ignored, 300, family::disk},
  planted_row{"full_disk_ignored", bug::full_disk_ignored, 300, family::disk},
  planted_row{"key_not_sent", bug::key_not_sent, 300, family::meshed},
  planted_row{"number_not_sent", bug::number_not_sent, 300, family::meshed},
  planted_row{"time_follows_wall", bug::time_follows_wall, 300},
  planted_row{"time_follows_ledger", bug::time_follows_ledger, 300},
  planted_row{"full_journal_accepts", bug::full_journal_accepts, 300},
  planted_row{"waits_without_limit", bug::waits_without_limit, 300, family::checkouts},
  planted_row{"revokes_without_limit", bug::revokes_without_limit, 300},
  planted_row{"session_end_not_told", bug::session_end_not_told, 300},
  planted_row{"lost_sessions_kept", bug::lost_sessions_kept, 300},
  planted_row{"session_end_not_mirrored", bug::session_end_not_mirrored, 300},
  planted_row{"absence_believed", bug::absence_believed, 300},
  planted_row{"return_not_told", bug::return_not_told, 300, family::meshed},
  planted_row{"overtaking_not_told", bug::overtaking_not_told, 300, family::meshed},
  planted_row{"recipients_forgotten", bug::recipients_forgotten, 300},
  planted_row{"any_answer_delivers", bug::any_answer_delivers, 300},
  planted_row{"lock_given_twice", bug::lock_given_twice, 300},
  planted_row{"draw_repeated", bug::draw_repeated, 300},
  planted_row{"late_entrant", bug::late_entrant, 100},
  planted_row{"party_counted_once", bug::party_counted_once, 600},
  planted_row{"rank_lost_at_load", bug::rank_lost_at_load, 300},
  planted_row{"admits_before_draw", bug::admits_before_draw, 100},
  planted_row{"code_accepted_twice", bug::code_accepted_twice, 300},
  planted_row{"code_before_commit", bug::code_before_commit, 300},
  planted_row{"revoked_key_kept", bug::revoked_key_kept, 300},
  planted_row{"keys_without_limit", bug::keys_without_limit, 300},
  planted_row{"blocks_version_kept", bug::blocks_version_kept, 300},
  planted_row{"event_number_again", bug::event_number_again, 300},
  planted_row{"external_id_forgotten", bug::external_id_forgotten, 300},
  planted_row{"put_off_mail_done", bug::put_off_mail_done, 300, family::checkouts},
  planted_row{"mail_id_anew", bug::mail_id_anew, 300, family::checkouts},
  planted_row{"mail_overtakes", bug::mail_overtakes, 300, family::checkouts},
  planted_row{"page_ends_early", bug::page_ends_early, 300},
  planted_row{"seat_conflict_ignored", bug::seat_conflict_ignored, 300},
  planted_row{"single_seat_left", bug::single_seat_left, 300},
  planted_row{"refund_keeps_event_ticket", bug::refund_keeps_event_ticket, 15, family::checkouts},
  planted_row{"late_money_without_event_tickets", bug::late_money_without_event_tickets, 100,
              family::checkouts},
  planted_row{"scan_counted_twice", bug::scan_counted_twice, 60, family::checkouts},
  planted_row{"late_scan_moves_back", bug::late_scan_moves_back, 60, family::checkouts},
  planted_row{"guest_limit_forgotten", bug::guest_limit_forgotten, 60, family::checkouts},
};

/// Printed at once, so that several processes do not mix their lines.
void print(const std::string& text) { std::cout << text + "\n" << std::flush; }

/// Shows the failure as drawn, and the smallest sale that still fails.
void print_failure(const sale_options& o, const outcome& failed) {
  const auto small = shrink(o, failed);
  auto smallest = o;
  turn_off(small.off, smallest);
  auto text = "VIOLATION " + failed.violation + "\n" + describe(o) + "\nreplay: test_sim --seed "
              + std::to_string(o.seed) + " --trace";
  if (!small.off.empty())
    text += "\nsmaller: " + small.last.violation + "\n" + describe(smallest) + "\nreplay: test_sim --seed "
            + std::to_string(o.seed) + " --without " + small.off + " --trace";
  print(text);
}

/// Whether the bug is found, by a seed that fails only with it.
bool find_planted(const planted_row& row, std::uint64_t first) {
  planted_bug = row.which;
  const auto step = step_of(row.in);
  auto seed = first_of(row.in, first);
  std::uint64_t tried = 0;
  outcome o;
  for (; tried < row.within && o.violation.empty(); ++tried, seed += step) o = run_sale(seed, false);
  planted_bug = bug::none;
  const bool found = !o.violation.empty();
  if (found && !run_sale(seed - step, false).violation.empty()) {
    print("UNCLEAR " + std::string{row.name} + ": seed " + std::to_string(seed - step)
          + " fails also without the bug: " + o.violation);
    return false;
  }
  print(found ? std::string{"found  "} + row.name + " with seed " + std::to_string(seed - step) + " ("
                  + std::to_string(tried) + " of " + std::to_string(row.within) + name_of(row.in)
                  + "): " + o.violation
              : std::string{"MISSED "} + row.name + " in " + std::to_string(row.within) + " seeds");
  return found;
}

int run_planted(std::uint64_t first, unsigned jobs) {
  const auto missed = in_processes(jobs, [&](unsigned k) {
    int n = 0;
    for (auto i = std::size_t{k}; i < planted_bugs.size(); i += jobs)
      n += find_planted(planted_bugs[i], first) ? 0 : 1;
    return n;
  });
  return std::accumulate(missed.begin(), missed.end(), 0) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

struct tally {
  std::array<std::uint64_t, static_cast<std::size_t>(rare::count_)> reached{};
  std::array<std::uint64_t, families.size()> sales{};
  std::uint64_t steps = 0, failures = 0;
  milliseconds virtual_time{0};
  double cpu_seconds = 0;

  void add(const tally& t) {
    for (std::size_t i = 0; i < reached.size(); ++i) reached[i] += t.reached[i];
    for (std::size_t i = 0; i < sales.size(); ++i) sales[i] += t.sales[i];
    steps += t.steps;
    failures += t.failures;
    virtual_time += t.virtual_time;
    cpu_seconds += t.cpu_seconds;
  }
  void run(const sale_options& options) {
    const auto seed = options.seed;
    const auto o = run_sale(options, false);
    steps += o.steps;
    virtual_time += o.virtual_time;
    for (std::size_t i = 0; i < reached.size(); ++i) reached[i] += o.reached[i] != 0 ? 1 : 0;
    if (!o.violation.empty()) {
      print_failure(options, o);
      ++failures;
      return;
    }
    if (seed % 10 != 0) return;
    if (const auto again = run_sale(options, false); again.hash != o.hash || again.steps != o.steps) {
      print("NOT DETERMINISTIC: seed " + std::to_string(seed) + " ran differently the second time");
      ++failures;
    }
  }
};

/// Which seeds a run covers.
struct seed_range {
  std::uint64_t first = 1, count = 0;
  family in = family::all; ///< all: seeds of every family; else only of this one
  std::chrono::steady_clock::time_point until{}; ///< end of a run by time; then `count` does not matter
  std::string without{}; ///< parts that are turned off in each sale
  [[nodiscard]] bool has_more(std::uint64_t done) const {
    return until == std::chrono::steady_clock::time_point{} ? done < count
                                                            : std::chrono::steady_clock::now() < until;
  }
};

/// The part of process `k` of `jobs`.
tally run_part(const seed_range& range, unsigned k, unsigned jobs) {
  tally t;
  for (std::uint64_t i = 0; range.has_more(i) && t.failures < failures_max; ++i) {
    const auto seed = range.first + i;
    if (seed / seeds_a_turn % jobs != k) continue;
    const bool all = range.in == family::all;
    for (std::size_t f = 0; f < families.size(); ++f) {
      const auto& row = families[f];
      if (row.which != range.in && !(all && seed % row.every == 0)) continue;
      auto options = options_of(row.first + (all ? seed / row.every : seed));
      turn_off(range.without, options);
      t.run(options);
      ++t.sales[f];
    }
  }
  t.cpu_seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return t;
}

int run_seeds(const seed_range& range, unsigned jobs, bool all_rare) {
  tally sum;
  for (const auto& t : in_processes(jobs, [&](unsigned k) { return run_part(range, k, jobs); })) sum.add(t);
  for (std::size_t f = 0; f < families.size(); ++f)
    std::cout << sum.sales[f] << ' ' << families[f].name << ", ";
  std::cout << sum.steps << " steps, " << sum.virtual_time.count() / 1000 << " virtual seconds, "
            << sum.failures << " failed, CPU " << sum.cpu_seconds << " s\n";
  for (std::size_t i = 0; i < sum.reached.size(); ++i) {
    std::cout << "  sometimes: " << name_of(static_cast<rare>(i)) << ": " << sum.reached[i] << " sales\n";
    if (all_rare && sum.reached[i] == 0) {
      std::cout << "NEVER REACHED: " << name_of(static_cast<rare>(i)) << "\n";
      ++sum.failures;
    }
  }
  return sum.failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// False: the sale failed, or has no log.
bool write_log(const std::filesystem::path& folder, std::uint64_t seed) {
  const auto options = options_of(seed);
  const auto o = run_sale(options, false);
  if (!o.violation.empty()) print_failure(options, o);
  for (const auto& [path, bytes] : o.log) {
    const auto file = folder / std::to_string(seed) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << bytes;
  }
  return o.violation.empty() && !o.log.empty();
}

int write_logs(const std::filesystem::path& folder, std::uint64_t first, std::uint64_t seeds, unsigned jobs) {
  const auto failed = in_processes(jobs, [&](unsigned k) {
    int n = 0;
    for (auto seed = first + k; seed < first + seeds; seed += jobs) n += write_log(folder, seed) ? 0 : 1;
    return n;
  });
  return std::accumulate(failed.begin(), failed.end(), 0) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// New seeds in each call, below those of other families.
std::uint64_t new_seeds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return 1'000'000 + static_cast<std::uint64_t>(now / std::chrono::seconds{1}) * 1009 % 900'000'000;
}

int run_one(const sale_options& options, bool trace) {
  if (trace) std::cout << std::unitbuf; // keeps the trace if the program crashes
  const auto o = run_sale(options, trace);
  std::cout << "seed " << options.seed << ": hash " << std::hex << o.hash << std::dec << ", " << o.steps
            << " steps, " << o.virtual_time.count() << " virtual ms, " << o.sold << " sold\n";
  if (o.violation.empty()) return EXIT_SUCCESS;
  std::cout << "VIOLATION " << o.violation << "\n" << describe(options) << "\n";
  return EXIT_FAILURE;
}

struct arguments {
  std::uint64_t seed = 0, first = 1, seeds = 5000, long_seeds = 100'000, only = 0, minutes = 0;
  unsigned jobs = std::max(std::thread::hardware_concurrency(), 1u);
  family in = family::all;
  bool trace = false, planted_run = false;
  std::string without;
  std::string logs; ///< folder
};

bool plant(std::string_view name) {
  const auto found = std::ranges::find(planted_bugs, name, &planted_row::name);
  if (found != planted_bugs.end()) planted_bug = found->which;
  return found != planted_bugs.end();
}

/// False: an argument is unknown.
bool read(arguments& a, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg{argv[i]};
    const auto text = [&] { return i + 1 < argc ? argv[++i] : ""; };
    const auto number = [&] { return std::strtoull(text(), nullptr, 10); };
    if (arg == "--seed")
      a.seed = number();
    else if (arg == "--first")
      a.first = number();
    else if (arg == "--seeds")
      a.seeds = number();
    else if (arg == "--long-seeds")
      a.long_seeds = number();
    else if (arg == "--minutes")
      a.minutes = number();
    else if (arg == "--jobs")
      a.jobs = std::max(static_cast<unsigned>(number()), 1u);
    else if (const auto row = family_of(arg); row != families.end()) {
      a.in = row->which;
      a.only = number();
    } else if (arg == "--without")
      a.without = text();
    else if (arg == "--logs")
      a.logs = text();
    else if (arg == "--trace")
      a.trace = true;
    else if (arg == "--planted")
      a.planted_run = true;
    else if (arg != "--bug" || !plant(text()))
      return false;
  }
  return true;
}

int run(const arguments& a) {
  if (a.planted_run) return run_planted(a.first, a.jobs);
  if (!a.logs.empty()) return write_logs(a.logs, a.first, a.seeds, a.jobs);
  auto one = options_of(std::max<std::uint64_t>(a.seed, 1));
  if (!turn_off(a.without, one)) {
    std::cerr << "--without names an unknown part\n";
    return EXIT_FAILURE;
  }
  if (a.seed != 0) return run_one(one, a.trace);
  if (a.minutes != 0) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{a.minutes};
    return run_seeds({a.first != 1 ? a.first : new_seeds(), 0, a.in, until, a.without}, a.jobs, false);
  }
  if (a.only != 0) return run_seeds({a.first, a.only, a.in, {}, a.without}, a.jobs, false);
  auto seeds = a.seeds;
  if (const char* longer = std::getenv("FAIRQUEUE_LONG"); longer != nullptr && std::strcmp(longer, "1") == 0)
    seeds = a.long_seeds;
  if (const char* fewer = std::getenv("FAIRQUEUE_SIM_SEEDS"); fewer != nullptr)
    seeds = std::strtoull(fewer, nullptr, 10);
  // A smaller run may miss a rare branch by chance.
  return run_seeds({a.first, seeds, family::all, {}, a.without}, a.jobs, seeds >= 500 && a.without.empty());
}

} // namespace

int main(int argc, char** argv) {
  arguments a;
  if (read(a, argc, argv)) return run(a);
  std::cerr << "usage: test_sim [--seeds N | --meshed N | --twins N | --lost N | --disk N | --minutes N] "
               "[--first N] "
               "[--jobs N] | "
               "--seed N [--bug NAME] [--trace] | --planted | --logs FOLDER; [--without PART,...]\n";
  return EXIT_FAILURE;
}
