// SPDX-License-Identifier: Apache-2.0
// Opens the engines that the options name: the ledger's connections and the cache.
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

/// The ledger's connections. SQLite has one engine, called by a writer and two readers (one of them loads,
/// the other has the outbox); it needs no lease, because a file lock protects it. Postgres has writers,
/// readers, and a lease under this node's name.
struct ledger_engines {
  std::vector<std::shared_ptr<ledger>> writers;
  std::vector<std::shared_ptr<ledger>> readers; ///< empty: the writers also read
  lease_terms lease;
  std::unique_ptr<file_lock> name_lock; ///< prevents a second process with this node's name
};

ledger_engines open_ledger(const config::options& options, environment& env);
/// Max life of what each kind of key signs.
key_lives lives_of(const config::options& options);
/// The keys of a server, which signs for these lives from now on.
key_store open_keys(const config::options& options, timestamp now);
/// Returns null if no cache is configured. `keys`: shared by the nodes of one installation; they determine
/// the prefix of its cache keys.
std::unique_ptr<cache> open_cache(const config::options& options, const key_store& keys, environment& env);
/// Returns null if no cache is configured or the ledger is not shared.
std::unique_ptr<shared_limits> open_shared_limits(const config::options& options, const key_store& keys,
                                                  environment& env);

} // namespace fq
