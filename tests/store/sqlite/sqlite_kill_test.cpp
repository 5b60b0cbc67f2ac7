// SPDX-License-Identifier: Apache-2.0
// kill -9 during commits, repeatedly on the same file: acknowledged commits are complete (I7), no commit is
// partial, and the file is intact. For power loss see sqlite_power_test.
#define CAF_SUITE store_sqlite_kill
#include "tests/store/port/engines.hpp"
#include "tests/store/sqlite/victim_plan.hpp"

#include <chrono>
#include <random>
#include <string>
#include <thread>

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sqlite_kill_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr int rounds = 25;

class victim {
public:
  explicit victim(const std::filesystem::path& file) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"pipe2 failed"};
    from_victim_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string program = STORE_VICTIM, argument = file.string();
    char* const argv[] = {program.data(), argument.data(), nullptr};
    const int failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failed != 0) throw std::runtime_error{"cannot start " + program};
  }
  ~victim() { ::close(from_victim_); }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;

  /// Waits for its first acknowledged commit and then for `more`; kills it; returns its number of
  /// acknowledged commits.
  std::uint64_t kill_after(std::chrono::microseconds more) {
    std::uint64_t acknowledged = read_some();
    std::this_thread::sleep_for(more);
    ::kill(pid_, SIGKILL);
    while (const auto n = read_some()) acknowledged += n;
    ::waitpid(pid_, &status_, 0);
    return acknowledged;
  }
  [[nodiscard]] bool was_killed() const { return WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL; }

private:
  std::uint64_t read_some() {
    char bytes[4096];
    const auto n = ::read(from_victim_, bytes, sizeof bytes);
    return n > 0 ? static_cast<std::uint64_t>(n) : 0;
  }

  int from_victim_ = -1;
  pid_t pid_ = 0;
  int status_ = 0;
};

} // namespace

CAF_TEST(kill -9 in the middle of commits loses nothing that was acknowledged) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  std::mt19937_64 rng{20'261'121};
  std::uint64_t applied = 0;
  for (int round = 0; round < rounds; ++round) {
    victim v(file);
    const auto acknowledged = v.kill_after(std::chrono::microseconds{rng() % 40'000});
    CAF_REQUIRE(v.was_killed());
    CAF_REQUIRE(acknowledged > 0);

    sqlite_ledger store({.file = file});
    CAF_REQUIRE_EQUAL(store.check_integrity(), "ok");
    const auto taken = store.acquire_unleased(victim_sale, never);
    // One more batch may be committed without an answer.
    CAF_REQUIRE(taken->applied_seq >= applied + acknowledged);
    CAF_REQUIRE(taken->applied_seq <= applied + acknowledged + 1);
    applied = taken->applied_seq;
    const auto expected = planned_after(applied);
    const auto& image = taken->image;
    CAF_REQUIRE_EQUAL(image.entries.size(), expected.entries);
    CAF_REQUIRE_EQUAL(image.claims.size(), expected.claims);
    CAF_REQUIRE_EQUAL(image.ticket_types.at(0).held, static_cast<std::int64_t>(expected.claims));
    if (!image.entries.empty()) CAF_REQUIRE_EQUAL(value_of(image.entries.back().number), expected.entries);
  }
  CAF_MESSAGE(applied << " batches over " << rounds << " kills");
}

} // namespace sqlite_kill_test
