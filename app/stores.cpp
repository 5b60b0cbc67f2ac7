// SPDX-License-Identifier: Apache-2.0
#include "app/stores.hpp"

#include "app/log.hpp"
#include "config/node_id.hpp"
#include "domain/base/trace.hpp"
#include "store/memory/memory_ledger.hpp"
#include "store/postgres/postgres_ledger.hpp"
#include "store/redis/redis_cache.hpp"
#include "store/sqlite/sqlite_ledger.hpp"

#include <cstdlib>
#include <utility>

namespace fq {
namespace {

ledger_engines embedded(std::unique_ptr<ledger> engine) {
  ledger_engines result;
  result.writers.push_back(std::move(engine));
  return result;
}

/// Without a drain: an owner must not go on above a ledger whose disk may hold less than its memory.
void end_logged(const std::string& why) {
  log::error("the ledger's disk failed; ending to be started again", {{"why", why}});
  log::flush();
  std::_Exit(exit_io_error);
}

/// Throws if the schema does not fit this version, which only the operator can repair. An unreachable
/// server is accepted: it may come back later.
void refuse_foreign_schema(const postgres_ledger_options& options) {
  try {
    postgres_ledger{options}.connect();
  } catch (const ledger_unavailable&) {}
}

ledger_engines postgres(const config::options& options, environment& env) {
  ledger_engines result;
  // Of two processes under one name only the later one serves; in one data folder the second does not start.
  result.name_lock = std::make_unique<file_lock>(options.data_dir / "node.lock");
  result.lease = {config::node_id(options, "node-" + span_id_text(env.random_u64())), options.ledger.lease};
  const postgres_ledger_options one{.url = options.ledger.url,
                                    .patience = {},
                                    .node = result.lease.owner,
                                    .steady_now = [&env] { return env.steady_now(); }};
  refuse_foreign_schema(one);
  const auto open = [&one] { return std::make_unique<postgres_ledger>(one); };
  for (std::int64_t i = 0; i < options.ledger.workers; ++i) result.writers.push_back(open());
  for (std::int64_t i = 0; i < options.ledger.readers; ++i) result.readers.push_back(open());
  return result;
}

} // namespace

ledger_engines open_ledger(const config::options& options, environment& env) {
  if (options.ledger.is_postgres()) return postgres(options, env);
  if (const auto file = options.ledger.sqlite_path(); !file.empty()) {
    auto all =
      embedded(std::make_unique<sqlite_ledger>(sqlite_ledger_options{.file = file, .fatal = end_logged}));
    all.readers.assign(2, all.writers.front());
    return all;
  }
  memory_ledger_options memory;
  memory.now = [&env] { return env.wall_now(); };
  return embedded(std::make_unique<memory_ledger>(std::move(memory)));
}

key_lives lives_of(const config::options& options) {
  return {.person = options.tokens.ttl,
          .ticket = options.tokens.ticket_ttl,
          .session = std::max(session_keys_life, 2 * options.queue.session_ttl)};
}

key_store open_keys(const config::options& options, timestamp now) {
  const auto lives = lives_of(options);
  if (!note_lives(options.data_dir, now, lives))
    log::warn(
      "key_lives in the data folder cannot be written: after a shorter tokens.ttl or queue.session_ttl, "
      "a rotated key may end before all that it signed");
  return key_store::open(options.data_dir, now, lives);
}

namespace {

/// Key prefix in the cache, so that installations can share one.
std::string space_of(const key_store& keys) {
  return to_hex(hmac_sha256(keys.stored.bytes(), "fairqueue names in the cache")).substr(0, 16);
}

redis_options redis_of(const config::options& options) {
  return {.address = parse_redis_url(options.cache.url), .ca_file = options.cache.ca_file.string()};
}

} // namespace

std::unique_ptr<cache> open_cache(const config::options& options, const key_store& keys, environment& env) {
  if (options.cache.url.empty()) return nullptr;
  return std::make_unique<redis_cache>(redis_of(options), env, space_of(keys));
}

std::unique_ptr<shared_limits> open_shared_limits(const config::options& options, const key_store& keys,
                                                  environment& env) {
  if (options.cache.url.empty() || !options.ledger.is_postgres()) return nullptr;
  return std::make_unique<redis_limits>(redis_of(options), env, space_of(keys));
}

} // namespace fq
