// SPDX-License-Identifier: Apache-2.0
// A disk for SQLite in the test's process: a shim over the default VFS that injects faults and knows what a
// power loss would leave. It behaves as the kernel does: after a failed fsync the written sectors count as
// clean, so a later fsync does not write them, while every reader still sees them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace fq::test {

enum class disk_call : std::uint8_t { write, sync, truncate, any };
enum class disk_fault : std::uint8_t {
  error, ///< the call fails with EIO
  power, ///< the machine loses power before the call
};

/// What the disk was asked, and what was injected.
struct disk_counts {
  std::uint64_t syncs = 0, failed_writes = 0, failed_syncs = 0, failed_truncates = 0, full = 0;
  std::uint64_t power_losses = 0, process_ends = 0;
};

class fault_vfs {
public:
  /// Becomes the default VFS of this process until its end. One seed gives one sequence of torn writes.
  explicit fault_vfs(std::uint64_t seed);
  ~fault_vfs();
  fault_vfs(const fault_vfs&) = delete;
  fault_vfs& operator=(const fault_vfs&) = delete;

  /// The `n`-th call of this kind from now has the fault; 1: the next one.
  void arm(disk_call which, unsigned n, disk_fault what);
  void disarm();
  /// While it is full, no file grows.
  void set_full(bool is_full);
  /// Sectors of 512 bytes reach the disk in any order and without a sync, or only by a sync (the default).
  void set_tearing(bool is_tearing);
  /// SQLite's clock in Unix milliseconds, instead of the machine's.
  void set_clock(std::function<std::int64_t()> unix_ms);

  /// Nothing reaches the files from now on. The page cache survives the end of a process, but no power loss.
  void end_process();
  void cut_power();
  [[nodiscard]] bool is_down() const;
  /// After an end or a power loss, when all connections are closed: the files are as the next process finds
  /// them.
  void start_again();

  [[nodiscard]] const disk_counts& counts() const;

  struct disk; ///< shared with the functions that SQLite calls

private:
  std::unique_ptr<disk> disk_;
};

} // namespace fq::test
