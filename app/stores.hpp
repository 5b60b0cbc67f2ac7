// SPDX-License-Identifier: Apache-2.0
// Which engines the options name: the ledger's connections and the cache.
#pragma once
#include "config/options.hpp"
#include "crypto/keys.hpp"
#include "domain/base/environment.hpp"
#include "store/port/cache.hpp"
#include "store/port/file_lock.hpp"
#include "store/port/ledger.hpp"
#include "store/redis/shared_limits.hpp"

#include <memory>
#include <string>
#include <vector>

namespace fq {

/// A ledger as the composition needs it. Embedded engines have one connection that does everything and need
/// no lease: the lock of their file is theirs. Postgres has connections that write, others that read, and a
/// lease under this node's name.
struct ledger_engines {
  std::vector<std::unique_ptr<ledger>> writers;
  std::vector<std::unique_ptr<ledger>> readers; ///< empty: the writers read as well
  lease_terms lease;
  std::unique_ptr<file_lock> name_lock; ///< nobody else runs under this node's name
};

ledger_engines open_ledger(const config::options& options, environment& env);
/// Null if none is configured. `keys`: nodes of one installation share them, and by them what they keep in
/// the cache.
std::unique_ptr<cache> open_cache(const config::options& options, const key_store& keys, environment& env);
/// Null if no cache is configured, or there are no other nodes.
std::unique_ptr<shared_limits> open_shared_limits(const config::options& options, const key_store& keys,
                                                  environment& env);

} // namespace fq
