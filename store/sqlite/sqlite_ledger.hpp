// SPDX-License-Identifier: Apache-2.0
// The embedded ledger: one SQLite file in WAL mode, one connection that writes and one that reads, every
// commit synced (FULL). Opened by app/ and called by two ledger workers: members lock their connection.
#pragma once
#include "store/port/file_lock.hpp"
#include "store/port/ledger.hpp"
#include "store/sqlite/migrations.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fq {

/// Exit code of a process that ends at an I/O error (EX_IOERR). The service manager starts it again.
inline constexpr int exit_io_error = 74;
/// Writes the reason to stderr and ends with exit_io_error, without any clean-up.
[[noreturn]] void end_process(const std::string& why);

struct sqlite_ledger_options {
  std::filesystem::path file; ///< its folder must exist; "<file>.lock" is created beside it
  std::uint32_t cache_mib = 128; ///< page cache, filled on demand
  std::uint32_t read_cache_mib = 16; ///< of the reading connection
  /// WAL pages that trigger a checkpoint before the next call. A larger value is faster, but that call waits
  /// longer.
  std::uint32_t checkpoint_pages = 4'000;
  milliseconds busy_timeout{5'000}; ///< for a lock held by a tool on the same file
  /// Ends the process after an I/O error of a write or sync, or a damaged file; must not return. What is
  /// unknown is read again at the next start.
  std::function<void(const std::string&)> fatal = end_process;
};

class sqlite_ledger final : public ledger {
public:
  /// Locks, opens and migrates. Throws ledger_locked (in use), schema_refused (newer, altered or foreign
  /// file) or ledger_unavailable.
  explicit sqlite_ledger(const sqlite_ledger_options& options);
  ~sqlite_ledger() override;

  FQ_LEDGER_OVERRIDES;

  /// "ok", or the findings of SQLite's integrity check. Reads the whole file.
  std::string check_integrity();
  /// Reason of the last `conflict` in SQLite's words, for logs: names constraints, never values.
  [[nodiscard]] const std::string& last_refusal() const;

private:
  struct connection;
  std::optional<std::vector<commit_outcome>> commit_together(std::span<const batch> batches);
  std::vector<commit_outcome> commit_isolated(std::span<const batch> batches);

  std::unique_ptr<connection> connection_;
};

} // namespace fq
