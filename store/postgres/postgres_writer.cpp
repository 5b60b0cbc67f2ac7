// SPDX-License-Identifier: Apache-2.0
// The first attempt sends everything at once, assuming that all guards hold. If one fails, a second attempt
// locks the aggregates' rows, checks them, and sends only the allowed batches.
#include "store/postgres/postgres_writer.hpp"

#include <algorithm>
#include <array>

namespace fq {
namespace {

const postgres_statement begin{"begin", "BEGIN"};
const postgres_statement commit_changes{"commit", "COMMIT"};
const postgres_statement lock_heads{"lock_heads", "SELECT number, epoch, applied_seq, tenant FROM aggregate "
                                                  "WHERE number = ANY($1::bigint[]) FOR UPDATE SKIP LOCKED"};
const postgres_statement find_head{"find_head", "SELECT FROM aggregate WHERE number = $1::bigint"};

std::string prune(const std::string& table, const std::string& age) {
  const std::string key = "(aggregate, seq, ordinal)";
  return "DELETE FROM " + table + " WHERE " + key + " IN (SELECT aggregate, seq, ordinal FROM " + table
         + " WHERE " + age + " < $1::bigint ORDER BY " + age + ", aggregate, seq, ordinal LIMIT $2::bigint)";
}
const postgres_statement prune_keys{"prune_idempotency", prune("idempotency", "created_at")};
const postgres_statement prune_receipt{"prune_receipts", prune("receipt", "received_at")};

/// Ended entries that never had a claim, oldest end first, with their access codes, and in standalone queues
/// the history of as old entries, as far as the rows in front reach.
const std::string due_entries =
  "SELECT aggregate, queue_number FROM queue_entry WHERE ended_at <> 0 AND NOT has_claimed AND reclaims = 0"
  " AND ended_at < $1::bigint ORDER BY ended_at, aggregate, queue_number LIMIT $2::bigint";
const postgres_statement prune_entry{
  "prune_entries",
  "WITH due AS MATERIALIZED (" + due_entries
    + "), codes AS (DELETE FROM entry_access AS c USING due WHERE c.aggregate = due.aggregate"
      " AND c.queue_number = due.queue_number), gone AS (DELETE FROM queue_entry AS e USING due"
      " WHERE e.aggregate = due.aggregate AND e.queue_number = due.queue_number RETURNING e.aggregate),"
      " queues AS (SELECT g.aggregate, count(*) AS entries FROM gone AS g JOIN event"
      " ON event.aggregate = g.aggregate AND event.kind = 1 GROUP BY g.aggregate),"
      " old AS (SELECT h.aggregate, h.seq, h.ordinal FROM queues CROSS JOIN LATERAL"
      " (SELECT * FROM history WHERE history.aggregate = queues.aggregate ORDER BY seq, ordinal LIMIT "
      "queues.entries * "
    + std::to_string(history_rows_per_entry)
    + ") AS h WHERE h.kind = 1 AND h.at < $1::bigint),"
      " told AS (DELETE FROM history AS h USING old WHERE h.aggregate = old.aggregate AND h.seq = old.seq"
      " AND h.ordinal = old.ordinal) SELECT 1 FROM gone"};

/// An event's last row is kept.
const postgres_statement prune_old_statistics{
  "prune_statistics",
  "DELETE FROM statistics WHERE (aggregate, at) IN (SELECT aggregate, at FROM statistics AS s"
  " WHERE at < $1::bigint AND EXISTS (SELECT FROM statistics AS later WHERE later.aggregate = s.aggregate"
  " AND later.at > s.at) ORDER BY at, aggregate LIMIT $2::bigint)"};

std::size_t affected(postgres_connection& db, const postgres_statement& statement, timestamp before,
                     std::size_t limit) {
  return db.run(statement, postgres_parameters::of(before, limit)).affected();
}

/// Returns the number of statements sent.
std::size_t begin_in(postgres_pipeline& pipeline, const postgres_writer::manner& how) {
  pipeline.send(begin);
  if (!how.lock_wait) return 1;
  pipeline.send("SET LOCAL lock_timeout = " + std::to_string(how.lock_wait->count()));
  return 2;
}

} // namespace

postgres_writer::postgres_writer(postgres_connection& db) : db_(db) {
  db.prepare(postgres_writes());
  db.prepare(std::array{begin, commit_changes, lock_heads, find_head, prune_keys, prune_receipt, prune_entry,
                        prune_old_statistics});
}

std::vector<commit_outcome> postgres_writer::commit(std::span<const batch> batches, const manner& how) {
  if (how.order == postgres_order::in_rounds && commit_all(batches, how))
    return std::vector(batches.size(), commit_outcome::committed);
  return commit_possible(batches, how);
}

/// In one round trip. False, without effect, if a guard failed.
bool postgres_writer::commit_all(std::span<const batch> batches, const manner& how) {
  postgres_rounds content(how.order);
  for (const auto& b : batches) {
    const auto tenant = tenants_.find(b.aggregate);
    const bool may_hold =
      tenant != tenants_.end() && b.epoch > 0 && b.to_seq > b.from_seq && postgres_rounds::is_possible(b);
    if (!may_hold) return false;
    content.add(b, tenant->second);
  }
  const postgres_rollback unless_committed(db_);
  postgres_pipeline pipeline(db_);
  try {
    finish(pipeline, content, begin_in(pipeline, how));
    return true;
  } catch (const postgres_error& e) {
    if (e.sqlstate() == postgres_guard_failed) return false;
    throw;
  }
}

/// In two round trips.
std::vector<commit_outcome> postgres_writer::commit_possible(std::span<const batch> batches,
                                                             const manner& how) {
  const postgres_rollback unless_committed(db_);
  const auto locked = lock(batches, how);
  postgres_rounds content(how.order);
  std::vector<commit_outcome> outcomes;
  for (const auto& b : batches) {
    outcomes.push_back(judge(b, locked));
    if (outcomes.back() == commit_outcome::committed)
      content.add(b, tenants_.at(b.aggregate));
    else
      tenants_.erase(b.aggregate); // do not try the single round trip next time
  }
  const auto has = [&](commit_outcome o) { return std::ranges::find(outcomes, o) != outcomes.end(); };
  // A primary that crashed shows afterwards what no standby has. `already_applied` is therefore told after a
  // COMMIT too, which waits for the standby; the locks alone make it one that waits.
  if (has(commit_outcome::committed) || has(commit_outcome::already_applied)) {
    postgres_pipeline pipeline(db_);
    finish(pipeline, content, 0);
  }
  return outcomes;
}

postgres_writer::heads postgres_writer::lock(std::span<const batch> batches, const manner& how) {
  postgres_array numbers;
  for (const auto& b : batches) numbers.push(b.aggregate);
  postgres_pipeline pipeline(db_);
  auto statements = begin_in(pipeline, how);
  pipeline.send(lock_heads, postgres_parameters::of(std::move(numbers)));
  pipeline.flush();
  while (statements-- > 0) pipeline.receive();
  heads result;
  pipeline.receive_each([&](const postgres_row& r) {
    const auto aggregate = r.number<aggregate_id>(0);
    result[aggregate] = {r.number<std::uint64_t>(1), r.number<std::uint64_t>(2)};
    tenants_[aggregate] = r.number<tenant_id>(3);
  });
  return result;
}

bool postgres_writer::exists(aggregate_id aggregate) {
  return db_.run(find_head, postgres_parameters::of(aggregate)).size() == 1;
}

/// `committed` here means: may be applied.
commit_outcome postgres_writer::judge(const batch& b, const heads& locked) {
  const auto found = locked.find(b.aggregate);
  if (found == locked.end()) return exists(b.aggregate) ? commit_outcome::busy : commit_outcome::fenced;
  const auto& stored = found->second;
  if (b.epoch == 0 || b.epoch != stored.epoch) return commit_outcome::fenced;
  if (b.to_seq <= b.from_seq) return commit_outcome::out_of_order;
  if (stored.applied_seq == b.from_seq)
    return postgres_rounds::is_possible(b) ? commit_outcome::committed : commit_outcome::conflict;
  return stored.applied_seq >= b.to_seq ? commit_outcome::already_applied : commit_outcome::out_of_order;
}

/// Sends content and COMMIT after `statements` earlier statements. Postgres skips COMMIT after a failed
/// statement. If the connection is lost from here on, the outcome is unknown.
void postgres_writer::finish(postgres_pipeline& pipeline, postgres_rounds& content, std::size_t statements) {
  content.take_all([&](const postgres_statement& statement, const postgres_parameters& rows) {
    pipeline.send(statement, rows);
    ++statements;
  });
  pipeline.send(commit_changes);
  ++statements;
  try {
    pipeline.flush();
    while (statements-- > 0) pipeline.receive();
  } catch (const postgres_error& e) {
    if (e.lost_connection()) throw commit_unknown(e.what());
    throw;
  }
}

std::size_t postgres_writer::prune_idempotency(timestamp before, std::size_t limit) {
  return affected(db_, prune_keys, before, limit);
}

std::size_t postgres_writer::prune_entries(timestamp before, std::size_t limit) {
  return is_set(before) && limit > 0 ? affected(db_, prune_entry, before, limit) : 0;
}

std::size_t postgres_writer::prune_statistics(timestamp before, std::size_t limit) {
  return affected(db_, prune_old_statistics, before, limit);
}

std::size_t postgres_writer::prune_receipts(timestamp before, std::size_t limit) {
  return affected(db_, prune_receipt, before, limit);
}

} // namespace fq
