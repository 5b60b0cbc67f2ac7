// SPDX-License-Identifier: Apache-2.0
// What this installation has cosigned as a witness. As notice_store, this part of the ledger port has no
// owners: every row changes by compare and set, so that all nodes give one consistent answer.
#pragma once
#include "domain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace fq {

/// The newest checkpoint of a log that was cosigned.
struct witnessed_row {
  std::string id; ///< SHA-256 of the origin in hex
  std::string origin;
  std::string log_key; ///< in hex; of all logs of an installation
  std::uint64_t size = 0;
  std::string root; ///< in hex
  std::string note; ///< with the log's signature and the cosignature
  timestamp at;
  friend bool operator==(const witnessed_row&, const witnessed_row&) = default;
};

/// The state that a cosignature was decided on. Size 0 also matches a log without a row.
struct witnessed_before {
  std::uint64_t size = 0;
  std::string root; ///< in hex
};

/// Throws ledger_unavailable or commit_unknown like the rest of the ledger.
class witness_store {
public:
  virtual ~witness_store() = default;

  /// `id`: of the row. Empty: nothing was cosigned.
  virtual std::optional<witnessed_row> find_witnessed(const std::string& id) = 0;
  /// Stores the row if the log is still as it was. False if it is not, or if its key has
  /// witnessed_logs_per_key_max logs already. Durable on return.
  virtual bool store_witnessed(const witnessed_row& next, const witnessed_before& before) = 0;
};

} // namespace fq
