// SPDX-License-Identifier: Apache-2.0
// A lease is two columns: lease_owner (null: none) and lease_until.
#include "store/sqlite/sqlite_leases.hpp"

#include "store/port/ledger_rows.hpp"
#include "store/sqlite/sqlite_rows.hpp"

namespace fq {
namespace {

/// Adds the time since the lease's last renewal to clock_lag, unless it was given back. `term`: its duration.
std::string add_silence(const std::string& term) {
  return "clock_lag = clock_lag + iif(lease_owner IS NULL, 0, max(0, " + sqlite_now + " + " + term
         + " - lease_until))";
}

} // namespace

sqlite_leases::statements::statements(sqlite_db& db) :
    enlist(db, "INSERT INTO node_incarnation (node, incarnation) VALUES (?1, 1)"
               " ON CONFLICT (node) DO UPDATE SET incarnation = incarnation + 1 RETURNING incarnation"),
    fence_earlier(db, "UPDATE aggregate SET epoch = epoch + 1 WHERE lease_owner = ?1"),
    latest_process(db, "SELECT incarnation FROM node_incarnation WHERE node = ?1"),
    of_another(db, "SELECT lease_owner, lease_until - " + sqlite_now
                     + " FROM aggregate WHERE number = ?1 AND ?2 <> ''"
                       " AND lease_owner <> ?2 AND lease_until > "
                     + sqlite_now),
    take(db, "UPDATE aggregate SET epoch = epoch + 1, lease_owner = nullif(?2, ''),"
             " lease_until = iif(?2 = '', 0, "
               + sqlite_now + " + ?3), " + add_silence("?3") + " WHERE number = ?1 RETURNING epoch, "
               + sqlite_now + ", clock_lag"),
    count_line(db,
               "UPDATE aggregate SET (last_number, admitted_total, completed_total, last_batch, counted_seq)"
               " = (SELECT max(last_number, coalesce(max(queue_number), 0)),"
               " max(admitted_total, count(nullif(admitted_at, 0))),"
               " max(completed_total, count(CASE status WHEN 5 THEN 1 END)),"
               " max(last_batch, coalesce(max(admission_batch), 0)), applied_seq"
               " FROM queue_entry WHERE queue_entry.aggregate = ?1)"
               " WHERE number = ?1 AND counted_seq <> applied_seq"),
    mark_lost(db, "UPDATE aggregate SET lost_epoch = max(lost_epoch, ?2), lost_seq = max(lost_seq, ?3)"
                  " WHERE number = ?1 AND (epoch < ?2 OR applied_seq < ?3)"),
    find_lost(db, "SELECT epoch, applied_seq, lost_epoch, lost_seq FROM aggregate"
                  " WHERE number = ? AND lost_epoch <> 0"),
    all_lost(db, lost_columns),
    accept_lost(db,
                "UPDATE aggregate SET epoch = max(epoch, lost_epoch) + 1,"
                " applied_seq = max(applied_seq, lost_seq) + 1,"
                " cache_generation = cache_generation + max(applied_seq, lost_seq) - applied_seq + 1,"
                " counted_seq = counted_seq + max(applied_seq, lost_seq) - applied_seq + 1,"
                " lost_epoch = 0, lost_seq = 0 WHERE number = ? AND lost_epoch <> 0 RETURNING applied_seq"),
    insert_audit(db, insert_sql(table_of<audit_row>())),
    mark_log_lost(db, "UPDATE log_state SET is_lost = 1 WHERE aggregate = ?"),
    is_kept(db, "SELECT lease_until BETWEEN " + sqlite_now + " + ?5 AND " + sqlite_now
                  + " + ?4 FROM aggregate WHERE number = ?1 AND epoch = ?2 AND lease_owner = ?3"),
    extend(db, "UPDATE aggregate SET lease_until = " + sqlite_now + " + ?2 WHERE number = ?1"),
    find_node(db, "SELECT 1 FROM node WHERE id = ?1 AND incarnation = ?2 AND seen_at = ?3"),
    end(db, "UPDATE aggregate SET epoch = epoch + 1, lease_owner = NULL, lease_until = 0, "
              + add_silence("?2") + " WHERE lease_owner = ?1"),
    end_partitions(db,
                   "UPDATE outbox_partition SET lease_owner = NULL, lease_until = 0 WHERE lease_owner = ?1"),
    release(db, "UPDATE aggregate SET lease_owner = NULL, lease_until = 0"
                " WHERE number = ?1 AND epoch = ?2 AND lease_owner = ?3"),
    take_partition(db, "UPDATE outbox_partition SET lease_owner = ?2, lease_until = " + sqlite_now
                         + " + ?3 WHERE partition = ?1"
                           " AND (lease_owner IS NULL OR lease_owner = ?2 OR lease_until <= "
                         + sqlite_now + ")"),
    note_node(db, store_sql(table_of<node_row>())),
    forget_nodes(db,
                 "DELETE FROM node WHERE seen_at < " + sqlite_now + " - ?1 OR id = ?2 AND incarnation = ?3"),
    live_nodes(db, select_rows<node_row>() + "WHERE seen_at > " + sqlite_now + " - ? ORDER BY id") {}

sqlite_leases::sqlite_leases(sqlite_db& db) : sql_(db) {}

std::uint64_t sqlite_leases::enlist(const std::string& node) {
  std::uint64_t incarnation = 0;
  sql_.enlist.bind(node);
  while (sql_.enlist.step()) incarnation = sql_.enlist.number<std::uint64_t>(0);
  sql_.fence_earlier.run(node);
  return incarnation;
}

void sqlite_leases::refuse_earlier(const std::string& node, std::uint64_t incarnation) {
  std::uint64_t latest = 0;
  sql_.latest_process.bind(node);
  while (sql_.latest_process.step()) latest = sql_.latest_process.number<std::uint64_t>(0);
  if (latest > incarnation)
    throw superseded("process " + std::to_string(incarnation) + " of the node is not the latest");
}

std::optional<lease_held> sqlite_leases::of_another(aggregate_id aggregate, const std::string& owner) {
  std::optional<lease_held> result;
  sql_.of_another.bind(aggregate, owner);
  while (sql_.of_another.step()) result = lease_held{sql_.of_another.text(0), sql_.of_another.duration(1)};
  return result;
}

std::optional<sqlite_leases::taken> sqlite_leases::take(aggregate_id aggregate, const lease_terms& lease) {
  std::optional<taken> result;
  sql_.count_line.run(aggregate); // after a program that does not count
  sql_.take.bind(aggregate, lease.owner, lease.term);
  while (sql_.take.step())
    result = taken{sql_.take.number<std::uint64_t>(0), sql_.take.time(1), sql_.take.duration(2)};
  return result;
}

std::optional<ledger_lost> sqlite_leases::loss(aggregate_id aggregate, const ledger_mark& seen) {
  if (seen != ledger_mark{}) sql_.mark_lost.run(aggregate, seen.epoch, seen.seq);
  std::optional<ledger_lost> result;
  const auto count = [this](int i) { return sql_.find_lost.number<std::uint64_t>(i); };
  sql_.find_lost.bind(aggregate);
  while (sql_.find_lost.step()) result = ledger_lost{{count(0), count(1)}, {count(2), count(3)}};
  return result;
}

std::vector<lost_aggregate> sqlite_leases::losses() {
  std::vector<lost_aggregate> all;
  sql_.all_lost.bind();
  while (sql_.all_lost.step()) all.push_back(lost_of(sql_.all_lost));
  return all;
}

bool sqlite_leases::accept_loss(aggregate_id aggregate, const audit_row& row) {
  std::optional<std::uint64_t> seq;
  sql_.accept_lost.bind(aggregate);
  while (sql_.accept_lost.step()) seq = sql_.accept_lost.number<std::uint64_t>(0);
  if (!seq) return false;
  insert_row(sql_.insert_audit, row, {aggregate, row.tenant, *seq, 0});
  sql_.mark_log_lost.run(aggregate);
  return true;
}

bool sqlite_leases::renew(const tenure& held, const lease_terms& lease) {
  std::optional<bool> is_kept;
  sql_.is_kept.bind(held.aggregate, held.epoch, lease.owner, lease.term, lease_kept(lease.term));
  while (sql_.is_kept.step()) is_kept = sql_.is_kept.integer(0) != 0;
  if (is_kept && !*is_kept) sql_.extend.run(held.aggregate, lease.term);
  return is_kept.has_value();
}

void sqlite_leases::release(const tenure& held, const std::string& owner) {
  sql_.release.run(held.aggregate, held.epoch, owner);
}

std::size_t sqlite_leases::end(const node_row& last, milliseconds term) {
  bool is_dead = false;
  sql_.find_node.bind(last.id, last.incarnation, last.seen_at);
  while (sql_.find_node.step()) is_dead = true;
  if (!is_dead) return 0;
  sql_.end_partitions.run(last.id);
  return static_cast<std::size_t>(sql_.end.run(last.id, term));
}

std::vector<node_row> sqlite_leases::beat(const node_row& self, milliseconds alive_for) {
  refuse_earlier(self.id, self.incarnation);
  insert_row(sql_.note_node, self, {});
  leave({}, 0);
  std::vector<node_row> nodes;
  sql_.live_nodes.bind(alive_for);
  while (sql_.live_nodes.step()) nodes.push_back(read_row<node_row>(sql_.live_nodes));
  return nodes;
}

/// Deletes `node`, and every node without a heartbeat for node_memory.
void sqlite_leases::leave(const std::string& node, std::uint64_t incarnation) {
  sql_.forget_nodes.run(node_memory, node, incarnation);
}

bool sqlite_leases::take_partition(std::uint32_t partition, const lease_terms& lease) {
  return sql_.take_partition.run(partition, lease.owner, lease.term) == 1;
}

} // namespace fq
