// SPDX-License-Identifier: Apache-2.0
// One writer per ledger file: an exclusive flock on a file beside it, held as long as the object lives and
// dropped by the kernel when the process dies, however it dies. Called by the SQLite engine and the
// migrations.
#pragma once
#include <filesystem>
#include <stdexcept>

namespace fq {

/// Another process, or another ledger in this one, writes to the same file.
struct ledger_locked : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class file_lock {
public:
  /// Creates `path` (0600) if needed. Throws ledger_locked if somebody else holds it, std::system_error
  /// otherwise.
  explicit file_lock(const std::filesystem::path& path);
  ~file_lock();
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;

private:
  int fd_ = -1;
};

} // namespace fq
