// SPDX-License-Identifier: Apache-2.0
// Commits batches: guard, content and COMMIT, in one round trip if every guard holds. postgres_ledger
// handles transactions that Postgres refuses.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"
#include "store/postgres/postgres_rounds.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace fq {

class postgres_writer {
public:
  explicit postgres_writer(postgres_connection& db);

  struct manner {
    postgres_order order = postgres_order::in_rounds;
    std::optional<milliseconds> lock_wait; ///< empty: the session's
  };
  /// Commits in one transaction all of `batches` whose guard holds; each aggregate at most once. Returns one
  /// outcome per batch; `busy` if its row is locked. Throws postgres_error if nothing was committed,
  /// commit_unknown if the result is unknown.
  std::vector<commit_outcome> commit(std::span<const batch> batches, const manner& how);

  std::size_t prune_idempotency(timestamp before, std::size_t limit);
  std::size_t prune_receipts(timestamp before, std::size_t limit);
  std::size_t prune_entries(timestamp before, std::size_t limit);
  std::size_t prune_statistics(timestamp before, std::size_t limit);

private:
  /// An aggregate's row, locked by this transaction.
  struct head {
    std::uint64_t epoch = 0;
    std::uint64_t applied_seq = 0;
  };
  using heads = std::map<aggregate_id, head>;

  bool commit_all(std::span<const batch> batches, const manner& how);
  std::vector<commit_outcome> commit_possible(std::span<const batch> batches, const manner& how);
  heads lock(std::span<const batch> batches, const manner& how);
  bool exists(aggregate_id aggregate);
  commit_outcome judge(const batch& b, const heads& locked);
  void finish(postgres_pipeline& pipeline, postgres_rounds& content, std::size_t statements);

  postgres_connection& db_;
  std::unordered_map<aggregate_id, tenant_id>
    tenants_; ///< per aggregate whose last guard held; a tenant never changes
};

} // namespace fq
