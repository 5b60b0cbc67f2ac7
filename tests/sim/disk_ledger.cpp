// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/disk_ledger.hpp"

#include "store/sqlite/sqlite.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <numeric>

namespace fq::sim {
namespace {

using test::disk_call, test::disk_fault;

/// A migrated file without rows, made once: migrations take longer than a sale.
const std::string& empty_file() {
  static const std::string content = [] {
    const test::temp_folder folder;
    const auto file = folder / "ledger.db";
    sqlite_ledger{{.file = file}};
    std::ifstream in(file, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  }();
  return content;
}

std::vector<std::uint32_t> all_partitions() {
  std::vector<std::uint32_t> all(outbox_partitions);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

} // namespace

disk_ledger::disk_ledger(world& w, memory_ledger& follower) :
    world_(w), follower_(follower), vfs_(w.options.seed) {
  std::ofstream(file(), std::ios::binary) << empty_file();
  vfs_.set_tearing(w.options.disk.tears);
  vfs_.set_clock([&w] { return unix_ms(w.env->wall_now()); });
  open();
}

/// Opens the file for the next process, which may meet faults too.
void disk_ledger::open() {
  const auto fatal = [this](const std::string&) {
    vfs_.end_process();
    throw process_ended{};
  };
  for (;;) {
    if (world_.chaos && strikes(world_.rng, world_.options.disk.open)) arm(disk_fault::error);
    try {
      sqlite_.emplace(sqlite_ledger_options{
        .file = file(), .checkpoint_pages = world_.options.disk.checkpoint_pages, .fatal = fatal});
      return;
    } catch (const process_ended&) {
    } catch (const ledger_unavailable&) { vfs_.end_process(); }
    vfs_.start_again();
  }
}

void disk_ledger::start_again() {
  sqlite_.reset();
  vfs_.start_again();
  open();
}

void disk_ledger::end_process(bool killed) {
  if (std::exchange(must_end_, false)) return; // the next one has begun
  if (killed) vfs_.end_process();
  start_again();
  check(killed ? "a kill" : "an orderly end");
}

void disk_ledger::arm(disk_fault what) {
  static constexpr std::array calls{disk_call::write, disk_call::sync, disk_call::sync, disk_call::truncate,
                                    disk_call::any};
  vfs_.arm(calls.at(world_.rng() % calls.size()), static_cast<unsigned>(between(world_.rng, 1, 25)), what);
}

void disk_ledger::strike() {
  const auto& o = world_.options.disk;
  const auto now = world_.env->steady_now();
  if (full_until_ <= now) vfs_.set_full(false);
  if (strikes_now(o.error)) arm(disk_fault::error);
  if (strikes_now(o.power)) arm(disk_fault::power);
  if (strikes_now(o.full)) {
    full_until_ = now + between(world_.rng, milliseconds{50}, milliseconds{2'000});
    vfs_.set_full(true);
  }
  if (must_end_ || !strikes_now(o.power / 4)) return;
  vfs_.cut_power();
  start_again();
  check("a quiet moment");
  must_end_ = true;
}

void disk_ledger::calm() {
  vfs_.disarm();
  vfs_.set_full(false);
}

void disk_ledger::check_end() {
  vfs_.cut_power();
  start_again();
  check("the end");
  const auto& c = vfs_.counts();
  auto& check = *world_.check;
  if (const auto found = sqlite_->check_integrity(); found != "ok") check.fail("I7", "the file: " + found);
  if (c.power_losses > 1) check.reached(rare::power_lost);
  if (c.failed_syncs > 0) check.reached(rare::sync_failed);
  if (c.full > 0) check.reached(rare::disk_full);
}

bool disk_ledger::are_same(const acquire_result& a, const acquire_result& b) {
  const auto *x = std::get_if<acquired>(&a), *y = std::get_if<acquired>(&b);
  if (x == nullptr || y == nullptr) return a.index() == b.index();
  return x->epoch == y->epoch && x->applied_seq == y->applied_seq && x->committed_at == y->committed_at
         && x->cache_generation == y->cache_generation && x->line == y->line && x->image == y->image;
}

void disk_ledger::disagree() { world_.check->fail("I7", "SQLite answers not as the memory ledger"); }

void disk_ledger::settle(const std::function<void(ledger&)>& call) {
  if (difference().empty()) return;
  world_.check->reached(rare::found_without_answer);
  call(follower_);
  check("a call without an answer");
}

void disk_ledger::check(const std::string& when) {
  if (const auto what = difference(); !what.empty())
    world_.check->fail("I7", what + " is not what was acknowledged, after " + when);
}

/// What of SQLite is not as in the follower; "": nothing.
std::string disk_ledger::difference() {
  vfs_.disarm();
  auto& store = *sqlite_;
  sqlite_db db(file(), sqlite_access::read_only, milliseconds{0});
  sqlite_statement lease(db, "SELECT coalesce(lease_owner, '') FROM aggregate WHERE number = ?");
  for (const auto a : follower_.aggregates()) {
    const auto name = " of " + std::to_string(number_of(a));
    if (store.peek(a) != follower_.peek(a)) return "the image" + name;
    if (store.history(a) != follower_.history(a)) return "the history" + name;
    const bool exists = lease.bind(a).step();
    if (!exists || lease.text(0) != follower_.lease_owner(a)) return "the lease" + name;
    lease.reset();
  }
  const auto node = node_name(0);
  sqlite_statement process(db, "SELECT incarnation FROM node_incarnation WHERE node = ?");
  const auto incarnation = process.bind(node).step() ? process.number<std::uint64_t>(0) : 0;
  if (incarnation != follower_.incarnation_of(node)) return "the incarnation";
  for (const auto which : all_lanes)
    if (store.undelivered(which, all_partitions(), 100'000, {})
        != follower_.undelivered(which, all_partitions(), 100'000, {}))
      return "the outbox";
  const audit_filter everything{.limit = 100'000};
  return store.audit(everything) != follower_.audit(everything) ? "the audit log" : "";
}

} // namespace fq::sim
