// SPDX-License-Identifier: Apache-2.0
// A lease is two columns: lease_owner (null: none) and lease_until. Renewals are not synced: losing one in a
// database crash only ends the lease sooner, and the epoch guards commits.
#include "store/postgres/postgres_leases.hpp"

#include "store/port/ledger_rows.hpp"
#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/postgres_unsynced.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace fq {
namespace {

const postgres_statement enlist_process{
  "enlist_process", "INSERT INTO node_incarnation AS n (node, incarnation) VALUES ($1::text, 1)"
                    " ON CONFLICT (node) DO UPDATE SET incarnation = n.incarnation + 1"
                    " RETURNING incarnation"};
const postgres_statement fence_earlier{"fence_earlier",
                                       "UPDATE aggregate SET epoch = epoch + 1 WHERE lease_owner = $1::text"};
/// Locked until the transaction ends: a process that begins meanwhile waits, and finds what this one did.
const postgres_statement latest_process{
  "latest_process", "SELECT incarnation FROM node_incarnation WHERE node = $1::text FOR SHARE"};

/// Adds the time since the lease's last renewal to clock_lag, unless it was given back. `term`: its duration.
std::string add_silence(const std::string& term) {
  return "clock_lag = clock_lag + CASE WHEN lease_owner IS NULL THEN 0 ELSE greatest(0, " + postgres_now
         + " + " + term + " - lease_until) END";
}

const postgres_statement take_aggregate{
  "take_aggregate",
  "UPDATE aggregate SET epoch = epoch + 1, lease_owner = nullif($2::text, ''),"
  " lease_until = CASE WHEN $2::text = '' THEN 0 ELSE "
    + postgres_now + " + $3::bigint END, " + add_silence("$3::bigint")
    + " WHERE number IN (SELECT number FROM aggregate WHERE number = $1::bigint FOR UPDATE SKIP LOCKED)"
      " AND lost_epoch = 0 AND ($2::text = '' OR lease_owner IS NULL OR lease_owner = $2::text OR "
      "lease_until <= "
    + postgres_now
    + ")"
      " RETURNING epoch, counted_seq = applied_seq, "
    + postgres_now + ", clock_lag"};
const postgres_statement mark_lost{
  "mark_lost",
  "UPDATE aggregate SET lost_epoch = greatest(lost_epoch, $2::bigint), lost_seq = greatest(lost_seq, "
  "$3::bigint)"
  " WHERE number IN (SELECT number FROM aggregate WHERE number = $1::bigint FOR UPDATE SKIP LOCKED)"
  " AND (epoch < $2::bigint OR applied_seq < $3::bigint)"};
const postgres_statement find_lost{"find_lost",
                                   "SELECT epoch, applied_seq, lost_epoch, lost_seq FROM aggregate"
                                   " WHERE number = $1::bigint AND lost_epoch <> 0"};
const postgres_statement all_lost{"all_lost", lost_columns};
const postgres_statement accept_lost{
  "accept_lost",
  "WITH log AS (UPDATE log_state SET is_lost = true WHERE aggregate = (SELECT number FROM aggregate"
  " WHERE number = $1::bigint AND lost_epoch <> 0))"
  " UPDATE aggregate SET epoch = greatest(epoch, lost_epoch) + 1,"
  " applied_seq = greatest(applied_seq, lost_seq) + 1,"
  " cache_generation = cache_generation + greatest(applied_seq, lost_seq) - applied_seq + 1,"
  " counted_seq = counted_seq + greatest(applied_seq, lost_seq) - applied_seq + 1,"
  " lost_epoch = 0, lost_seq = 0 WHERE number = $1::bigint AND lost_epoch <> 0 RETURNING applied_seq"};
postgres_statement insert_of_audit() {
  const auto t = table_of<audit_row>();
  const auto columns = t.place + t.inserted;
  return {"insert_one_audit",
          "INSERT INTO audit (" + names_of(columns) + ") SELECT * FROM " + postgres_given(columns)};
}
const postgres_statement insert_audit = insert_of_audit();
const postgres_statement count_line{
  "count_line",
  "UPDATE aggregate SET (last_number, admitted_total, completed_total, last_batch, counted_seq) ="
  " (SELECT greatest(last_number, max(queue_number)),"
  " greatest(admitted_total, count(*) FILTER (WHERE admitted_at <> 0)),"
  " greatest(completed_total, count(*) FILTER (WHERE status = 5)),"
  " greatest(last_batch, max(admission_batch)), applied_seq FROM queue_entry"
  " WHERE aggregate = $1::bigint) WHERE number = $1::bigint"};
/// The lease's owner, its remaining time, and whether $2 may take the aggregate.
const postgres_statement find_lease{"find_lease",
                                    "SELECT lease_owner, lease_until - " + postgres_now
                                      + ", $2::text = '' OR lease_owner IS NULL OR lease_owner = $2::text"
                                        " OR lease_until <= "
                                      + postgres_now + " FROM aggregate WHERE number = $1::bigint"};

/// The held leases, and whether enough of each remains. A locked row is not extended; the next renewal
/// retries. If the database's clock went back, more than the term remains: such a lease is written too.
const postgres_statement renew_leases{
  "renew_leases", "WITH mine AS (SELECT number, tenure.epoch, lease_until BETWEEN " + postgres_now
                    + " + $5::bigint AND " + postgres_now
                    + " + $4::bigint AS is_kept FROM unnest($1::bigint[], $2::bigint[])"
                      " AS tenure (number, epoch) JOIN aggregate USING (number)"
                      " WHERE lease_owner = $3::text AND aggregate.epoch = tenure.epoch),"
                      " free AS (SELECT a.number FROM aggregate a JOIN mine USING (number)"
                      " WHERE NOT mine.is_kept AND a.lease_owner = $3::text AND a.epoch = mine.epoch"
                      " FOR UPDATE OF a SKIP LOCKED),"
                      " extended AS (UPDATE aggregate SET lease_until = "
                    + postgres_now
                    + " + $4::bigint WHERE number IN (SELECT number FROM free) RETURNING number)"
                      " SELECT number, is_kept OR number IN (SELECT number FROM extended) FROM mine"};
const postgres_statement release_leases{
  "release_leases", "UPDATE aggregate SET lease_owner = NULL, lease_until = 0"
                    " FROM unnest($1::bigint[], $2::bigint[]) AS tenure (number, epoch)"
                    " WHERE aggregate.number = tenure.number AND aggregate.epoch = tenure.epoch"
                    " AND lease_owner = $3::text"};

/// The node's row if it may be taken for dead. It stays locked, so that a heartbeat waits and comes too late.
/// Programs of releases without incarnations do not name their sessions.
const postgres_statement find_dead{
  "find_dead", "SELECT 1 FROM node WHERE id = $1::text AND incarnation = $2::bigint AND seen_at = $3::bigint"
               " AND ($4::boolean OR incarnation > 0 AND NOT EXISTS"
               " (SELECT FROM pg_stat_activity WHERE application_name = $5::text)) FOR UPDATE"};
const postgres_statement end_partitions{
  "end_partitions",
  "UPDATE outbox_partition SET lease_owner = NULL, lease_until = 0 WHERE lease_owner = $1::text"};
const postgres_statement end_of_dead{
  "end_of_dead", "UPDATE aggregate SET epoch = epoch + 1, lease_owner = NULL, lease_until = 0, "
                   + add_silence("$2::bigint") + " WHERE lease_owner = $1::text"};

const postgres_statement take_partition{
  "take_partition", "UPDATE outbox_partition SET lease_owner = $2::text, lease_until = " + postgres_now
                      + " + $3::bigint"
                        " WHERE partition = ANY($1::bigint[]) AND (lease_owner IS NULL OR lease_owner = "
                        "$2::text OR lease_until <= "
                      + postgres_now + ") RETURNING partition"};

const postgres_statement note_node{"note_node", postgres_store(table_of<node_row>())};
const postgres_statement forget_nodes{"forget_nodes",
                                      "DELETE FROM node WHERE seen_at < " + postgres_now
                                        + " - $1::bigint OR id = $2::text AND incarnation = $3::bigint"};
const postgres_statement live_nodes{"live_nodes", select_rows<node_row>() + "WHERE seen_at > " + postgres_now
                                                    + " - $1::bigint ORDER BY id"};

template <class Number>
std::set<Number> numbers_in(const postgres_result& rows) {
  std::set<Number> result;
  for (int i = 0; i < rows.size(); ++i) result.insert(rows[i].number<Number>(0));
  return result;
}

/// `latest`: the answer to latest_process.
void refuse_earlier(const postgres_result& latest, std::uint64_t incarnation) {
  if (latest.size() == 0 || latest[0].number<std::uint64_t>(0) <= incarnation) return;
  throw superseded("process " + std::to_string(incarnation) + " of the node is not the latest");
}

postgres_array numbers_of(std::span<const tenure> tenures) {
  std::vector<aggregate_id> all;
  for (const auto& t : tenures) all.push_back(t.aggregate);
  return postgres_array::of(std::span<const aggregate_id>{all});
}

postgres_array epochs_of(std::span<const tenure> tenures) {
  std::vector<std::uint64_t> all;
  for (const auto& t : tenures) all.push_back(t.epoch);
  return postgres_array::of(std::span<const std::uint64_t>{all});
}

} // namespace

postgres_leases::postgres_leases(postgres_connection& db) : db_(db) {
  db.prepare(std::array{enlist_process, fence_earlier,  latest_process, take_aggregate, count_line,
                        find_lease,     mark_lost,      find_lost,      all_lost,       accept_lost,
                        insert_audit,   renew_leases,   release_leases, find_dead,      end_partitions,
                        end_of_dead,    take_partition, note_node,      forget_nodes,   live_nodes});
}

/// The second statement sees everything that the first one waited for.
std::uint64_t postgres_leases::enlist(const std::string& node) {
  postgres_pipeline pipeline(db_);
  pipeline.send(enlist_process, postgres_parameters::of(node));
  pipeline.send(fence_earlier, postgres_parameters::of(node));
  pipeline.flush();
  const auto incarnation = pipeline.receive()[0].number<std::uint64_t>(0);
  pipeline.receive();
  return incarnation;
}

/// Why `lease.owner` may not take it; empty if it may.
std::optional<postgres_leases::take_result> postgres_leases::hindrance(aggregate_id aggregate,
                                                                       const lease_terms& lease) {
  postgres_pipeline pipeline(db_);
  pipeline.send(latest_process, postgres_parameters::of(lease.owner));
  pipeline.send(find_lease, postgres_parameters::of(aggregate, lease.owner));
  pipeline.flush();
  refuse_earlier(pipeline.receive(), lease.incarnation);
  const auto rows = pipeline.receive();
  if (rows.size() == 0) return no_such_aggregate{};
  if (rows[0].boolean(2)) return std::nullopt;
  return lease_held{rows[0].text(0), std::max(rows[0].duration(1), milliseconds{0})};
}

postgres_leases::take_result postgres_leases::take(aggregate_id aggregate, const lease_terms& lease,
                                                   const ledger_mark& seen) {
  if (auto no = hindrance(aggregate, lease)) return std::move(*no);
  postgres_pipeline pipeline(db_);
  pipeline.send(mark_lost, postgres_parameters::of(aggregate, seen.epoch, seen.seq));
  pipeline.send(take_aggregate, postgres_parameters::of(aggregate, lease.owner, lease.term));
  pipeline.send(find_lost, postgres_parameters::of(aggregate));
  pipeline.flush();
  pipeline.receive();
  const auto rows = pipeline.receive();
  const auto lost = pipeline.receive();
  if (lost.size() > 0) {
    const auto count = [&](int i) { return lost[0].number<std::uint64_t>(i); };
    return ledger_lost{{count(0), count(1)}, {count(2), count(3)}};
  }
  if (rows.size() == 0) return aggregate_busy{}; // its row is locked, or was just taken
  if (!rows[0].boolean(1)) { // after a program that does not count
    db_.run(count_line, postgres_parameters::of(aggregate));
  }
  return taken{rows[0].number<std::uint64_t>(0), rows[0].time(2), rows[0].duration(3)};
}

std::vector<lost_aggregate> postgres_leases::losses() {
  const auto rows = db_.run(all_lost);
  std::vector<lost_aggregate> all;
  for (int i = 0; i < rows.size(); ++i) all.push_back(lost_of(rows[i]));
  return all;
}

bool postgres_leases::accept_loss(aggregate_id aggregate, const audit_row& row) {
  const auto rows = db_.run(accept_lost, postgres_parameters::of(aggregate));
  if (rows.size() == 0) return false;
  postgres_columns audit;
  add_inserted(audit, row, {aggregate, row.tenant, rows[0].number<std::uint64_t>(0), 0});
  db_.run(insert_audit, std::move(audit).parameters());
  return true;
}

acquire_result postgres_leases::refusal(const take_result& answer) {
  if (const auto* held = std::get_if<lease_held>(&answer)) return *held;
  if (const auto* lost = std::get_if<ledger_lost>(&answer)) return *lost;
  if (std::holds_alternative<aggregate_busy>(answer)) return aggregate_busy{};
  return no_such_aggregate{};
}

lease_renewal postgres_leases::renew(const lease_terms& lease, std::span<const tenure> tenures) {
  postgres_unsynced transaction(db_);
  transaction.send(renew_leases, postgres_parameters::of(numbers_of(tenures), epochs_of(tenures), lease.owner,
                                                         lease.term, lease_kept(lease.term)));
  const auto rows = transaction.run();
  const auto held = numbers_in<aggregate_id>(rows);
  lease_renewal result;
  for (const auto& t : tenures)
    if (!held.contains(t.aggregate)) result.lost.push_back(t.aggregate);
  for (int i = 0; i < rows.size(); ++i)
    if (!rows[i].boolean(1)) result.busy.push_back(rows[i].number<aggregate_id>(0));
  return result;
}

void postgres_leases::release(const std::string& owner, std::span<const tenure> tenures) {
  postgres_unsynced transaction(db_);
  transaction.send(release_leases, postgres_parameters::of(numbers_of(tenures), epochs_of(tenures), owner));
  transaction.run();
}

std::size_t postgres_leases::end(const node_row& last, bool is_silent, milliseconds term) {
  if (db_
        .run(find_dead, postgres_parameters::of(last.id, last.incarnation, last.seen_at, is_silent,
                                                postgres_name_of(last.id)))
        .size()
      == 0)
    return 0;
  postgres_pipeline ending(db_);
  ending.send(end_partitions, postgres_parameters::of(last.id));
  ending.send(end_of_dead, postgres_parameters::of(last.id, term));
  ending.flush();
  ending.receive();
  return ending.receive().affected();
}

std::vector<node_row> postgres_leases::beat(const node_row& self, milliseconds alive_for) {
  postgres_unsynced transaction(db_);
  refuse_earlier(transaction.ask(latest_process, postgres_parameters::of(self.id)), self.incarnation);
  postgres_columns row;
  add_inserted(row, self, {});
  transaction.send(note_node, std::move(row).parameters());
  transaction.send(forget_nodes, postgres_parameters::of(node_memory, std::string{}, std::uint64_t{0}));
  transaction.send(live_nodes, postgres_parameters::of(alive_for));
  const auto rows = transaction.run();
  std::vector<node_row> nodes;
  for (int i = 0; i < rows.size(); ++i) nodes.push_back(read_row<node_row>(rows[i]));
  return nodes;
}

void postgres_leases::leave(const std::string& node, std::uint64_t incarnation) {
  postgres_unsynced transaction(db_);
  transaction.send(forget_nodes, postgres_parameters::of(node_memory, node, incarnation));
  transaction.run();
}

std::vector<std::uint32_t> postgres_leases::take_partitions(const lease_terms& lease,
                                                            std::span<const std::uint32_t> wanted) {
  postgres_unsynced transaction(db_);
  refuse_earlier(transaction.ask(latest_process, postgres_parameters::of(lease.owner)), lease.incarnation);
  transaction.send(take_partition,
                   postgres_parameters::of(postgres_array::of(wanted), lease.owner, lease.term));
  const auto held = numbers_in<std::uint32_t>(transaction.run());
  std::vector<std::uint32_t> result(wanted.begin(), wanted.end());
  std::erase_if(result, [&](std::uint32_t p) { return !held.contains(p); });
  return result;
}

} // namespace fq
