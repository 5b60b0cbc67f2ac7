// SPDX-License-Identifier: Apache-2.0
// The real SQLite engine on a disk that fails, is full and loses power. The memory ledger follows what SQLite
// acknowledged, and the checkers follow the memory ledger. After each end of the process both must be equal;
// a call without an answer is there as a whole or not at all (I7).
#pragma once
#include "tests/sim/world.hpp"

#include "store/sqlite/sqlite_ledger.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/store/sqlite/fault_vfs.hpp"

#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace fq::sim {

class disk_ledger {
public:
  disk_ledger(world& w, memory_ledger& follower);

  /// Makes the call on SQLite, then on the follower, which must answer the same.
  template <class Call>
  auto ask(Call call) {
    if (must_end_) throw ledger_unavailable("the process has ended");
    try {
      return answered(call);
    } catch (const process_ended&) {
    } catch (const ledger_unavailable&) {
      if (!vfs_.is_down()) throw; // nothing was committed
    } catch (const commit_unknown&) {
      if (!vfs_.is_down()) {
        settle(call);
        throw;
      }
    }
    start_again();
    settle(call);
    must_end_ = true;
    throw ledger_unavailable("the process has ended");
  }

  /// True after an error of the disk and after a power loss: the memory of the process is ahead of the disk.
  [[nodiscard]] bool must_end() const { return must_end_; }
  /// The process is gone; the file is open for the next one.
  void end_process(bool killed);
  void strike();
  /// No faults from now on.
  void calm();
  /// Loses power for a last time.
  void check_end();

private:
  struct process_ended {};

  template <class Call>
  auto answered(Call& call) {
    if constexpr (std::is_void_v<std::invoke_result_t<Call, ledger&>>) {
      call(*sqlite_);
      if (vfs_.is_down()) throw process_ended{}; // before the answer left
      call(follower_);
    } else {
      auto told = call(*sqlite_);
      if (vfs_.is_down()) throw process_ended{};
      if (!are_same(told, call(follower_))) disagree();
      return told;
    }
  }

  // answers that are compared; the rows behind the others are, at the next start
  static bool are_same(const std::vector<commit_outcome>& a, const std::vector<commit_outcome>& b) {
    return a == b;
  }
  static bool are_same(const aggregate_image& a, const aggregate_image& b) { return a == b; }
  static bool are_same(const std::vector<outbox_item>& a, const std::vector<outbox_item>& b) {
    return a == b;
  }
  static bool are_same(const acquire_result& a, const acquire_result& b);
  template <class Other>
  static bool are_same(const Other&, const Other&) {
    return true;
  }

  void open();
  void start_again();
  void arm(test::disk_fault what);
  void disagree();
  /// The call has no answer: its effect is in SQLite as a whole or not at all, and now in the follower too.
  void settle(const std::function<void(ledger&)>& call);
  void check(const std::string& when);
  [[nodiscard]] std::string difference();
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "ledger.db"; }
  bool strikes_now(std::uint32_t per_100000) {
    return per_100000 != 0 && world_.rng() % 100'000 < per_100000;
  }

  world& world_;
  memory_ledger& follower_;
  test::temp_folder folder_;
  test::fault_vfs vfs_;
  milliseconds full_until_{0};
  bool must_end_ = false;
  std::optional<sqlite_ledger> sqlite_;
};

/// Makes the call on the ledger that the server has.
template <class Call>
auto ask_ledger(world& w, Call call) {
  return w.disk != nullptr ? w.disk->ask(call) : call(static_cast<ledger&>(*w.store));
}

} // namespace fq::sim
