// SPDX-License-Identifier: Apache-2.0
// One writer per ledger file: an exclusive flock on a separate file beside it. Held for the life of the
// object; the kernel releases it when the process dies. Used by the SQLite engine and the migrations.
#pragma once
#include <filesystem>
#include <stdexcept>

namespace fq {

/// Another process, or another ledger in this process, holds the lock.
struct ledger_locked : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class file_lock {
public:
  /// Creates `path` (0600) if needed. Throws ledger_locked if it is locked, else std::system_error.
  explicit file_lock(const std::filesystem::path& path);
  ~file_lock();
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;

private:
  int fd_ = -1;
};

} // namespace fq
