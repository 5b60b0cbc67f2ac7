// SPDX-License-Identifier: Apache-2.0
// Transactions and failures of the SQLite ledger; the statements are in sqlite_writer, sqlite_reader,
// sqlite_leases and sqlite_outbox.
#include "store/sqlite/sqlite_ledger.hpp"

#include "domain/base/planted.hpp"
#include "store/port/history.hpp"
#include "store/sqlite/sqlite_connection.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

namespace fq {
namespace {

/// After an error in COMMIT, the commit record may be in the WAL. A full disk or a lock fails before the
/// record is written. A fatal error ends the process; the next one may find the record.
void commit_or_unknown(sqlite_transaction& transaction) {
  try {
    transaction.commit();
  } catch (const sqlite_error& e) {
    if (planted(bug::full_disk_ignored) && e.is_full()) return;
    if (planted(bug::failed_sync_ignored) && e.is_fatal()) return;
    if (e.is_full() || e.is_busy() || e.is_fatal()) throw;
    throw commit_unknown(e.what());
  }
}

image_bounds loaded(const load_since& since) { return {since, loaded_idempotency_max, loaded_receipts_max}; }
} // namespace

void end_process(const std::string& why) {
  std::fprintf(stderr, "fairqueue: %s\n", why.c_str());
  std::_Exit(exit_io_error);
}

sqlite_ledger::sqlite_ledger(const sqlite_ledger_options& options) {
  try {
    connection_ = std::make_unique<connection>(options);
  } catch (const sqlite_error& e) { throw ledger_unavailable(options.file.string() + ": " + e.what()); }
}

sqlite_ledger::~sqlite_ledger() = default;

/// The fast path: all batches in one transaction without savepoints. Empty: none was applied.
std::optional<std::vector<commit_outcome>> sqlite_ledger::commit_together(std::span<const batch> batches) {
  auto& c = *connection_;
  try {
    std::vector<commit_outcome> outcomes;
    outcomes.reserve(batches.size());
    sqlite_transaction transaction(c.db);
    for (const auto& b : batches) {
      outcomes.push_back(c.writer.apply(b));
      if (outcomes.back() == commit_outcome::conflict) {
        c.last_refusal = "a row was not in the state that a change expects";
        return std::nullopt;
      }
    }
    commit_or_unknown(transaction);
    return outcomes;
  } catch (const sqlite_error& e) {
    if (!e.is_refusal()) throw;
    c.last_refusal = e.what();
    return std::nullopt;
  }
}

/// The slow path: a savepoint around each batch, so that only refused batches are left out.
std::vector<commit_outcome> sqlite_ledger::commit_isolated(std::span<const batch> batches) {
  auto& c = *connection_;
  const auto apply_or_refuse = [&](const batch& b) {
    try {
      return c.writer.apply(b);
    } catch (const sqlite_error& e) {
      if (!e.is_refusal()) throw;
      return commit_outcome::conflict;
    }
  };
  std::vector<commit_outcome> outcomes;
  sqlite_transaction transaction(c.db);
  for (const auto& b : batches) {
    c.db.execute("SAVEPOINT one_batch");
    outcomes.push_back(apply_or_refuse(b));
    if (outcomes.back() == commit_outcome::conflict) c.db.execute("ROLLBACK TO one_batch");
    c.db.execute("RELEASE one_batch");
  }
  commit_or_unknown(transaction);
  return outcomes;
}

std::vector<commit_outcome> sqlite_ledger::commit(std::span<const batch> batches) {
  return connection_->guarded([&] {
    if (auto outcomes = commit_together(batches)) return std::move(*outcomes);
    if (batches.size() == 1) return std::vector{commit_outcome::conflict};
    return commit_isolated(batches);
  });
}

std::uint64_t sqlite_ledger::enlist(const std::string& node) {
  return connection_->write([&] { return connection_->leases.enlist(node); });
}

acquire_result sqlite_ledger::acquire(aggregate_id aggregate, const lease_terms& lease,
                                      const std::optional<load_since>& since, const ledger_mark& seen) {
  auto& c = *connection_;
  std::optional<sqlite_leases::taken> own;
  auto refused = c.write([&]() -> std::optional<acquire_result> {
    c.leases.refuse_earlier(lease.owner, lease.incarnation);
    if (auto held = c.leases.of_another(aggregate, lease.owner)) return std::move(*held);
    if (auto lost = c.leases.loss(aggregate, seen)) return std::move(*lost);
    own = c.leases.take(aggregate, lease);
    if (!own) return no_such_aggregate{};
    return std::nullopt;
  });
  if (refused) return std::move(*refused);
  return c.read([&](sqlite_reader& reader) {
    const auto head = reader.read_head(aggregate);
    return acquired{
      own->epoch,        head.applied_seq,
      head.committed_at, own->now,
      own->clock_lag,    head.cache_generation,
      head.line,         since ? reader.read_image(aggregate, loaded(*since)) : aggregate_image{}};
  });
}

std::vector<lost_aggregate> sqlite_ledger::losses() {
  return connection_->guarded([&] { return connection_->leases.losses(); });
}

bool sqlite_ledger::accept_loss(aggregate_id aggregate, const audit_row& row) {
  return connection_->write([&] { return connection_->leases.accept_loss(aggregate, row); });
}

aggregate_image sqlite_ledger::load(aggregate_id aggregate, const load_since& since) {
  return connection_->read([&](sqlite_reader& r) { return r.read_image(aggregate, loaded(since)); });
}

lease_renewal sqlite_ledger::renew(const lease_terms& lease, std::span<const tenure> tenures) {
  lease_renewal result;
  if (lease.owner.empty()) return result; // no lease to renew
  connection_->write([&] {
    for (const auto& t : tenures)
      if (!connection_->leases.renew(t, lease)) result.lost.push_back(t.aggregate);
  });
  return result;
}

void sqlite_ledger::release(const std::string& owner, std::span<const tenure> tenures) {
  connection_->write([&] {
    for (const auto& t : tenures) connection_->leases.release(t, owner);
  });
}

std::vector<event_listing> sqlite_ledger::list_events(const event_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_events(filter); });
}

access_directory sqlite_ledger::directory() {
  return connection_->read([&](sqlite_reader& r) { return r.directory(); });
}

std::vector<block_row> sqlite_ledger::blocks() {
  return connection_->read([&](sqlite_reader& r) { return r.blocks(); });
}

std::vector<audit_row> sqlite_ledger::audit(const audit_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.audit(filter); });
}

std::vector<event_ticket_listing> sqlite_ledger::list_event_tickets(const event_ticket_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_event_tickets(filter); });
}

std::vector<transfer_listing> sqlite_ledger::list_transfers(const transfer_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_transfers(filter); });
}

std::vector<statistics_row> sqlite_ledger::list_statistics(const statistics_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_statistics(filter); });
}

sale_figures sqlite_ledger::figures(aggregate_id aggregate) {
  return connection_->read([&](sqlite_reader& r) { return r.figures(aggregate); });
}

std::vector<order_listing> sqlite_ledger::list_orders(const order_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_orders(filter); });
}

std::vector<seat_plan_row> sqlite_ledger::list_seat_plans(const seat_plan_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_seat_plans(filter); });
}

std::vector<dead_letter_listing> sqlite_ledger::list_dead_letters(const dead_letter_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_dead_letters(filter); });
}

record_page sqlite_ledger::list_records(const record_filter& filter) {
  return connection_->read([&](sqlite_reader& r) { return r.list_records(filter); });
}

open_purchase sqlite_ledger::find_open_purchase(const customer_id& customer) {
  return connection_->read([&](sqlite_reader& r) { return r.find_open_purchase(customer); });
}

std::vector<aggregate_id> sqlite_ledger::aggregates_to_wake(const std::string& owner) {
  return connection_->read([&](sqlite_reader& r) { return r.aggregates_to_wake(owner); });
}

events_to_settle sqlite_ledger::find_events_to_settle(const std::string& owner, aggregate_id after) {
  return connection_->read([&](sqlite_reader& r) { return r.find_events_to_settle(owner, after); });
}

aggregate_id sqlite_ledger::last_aggregate() {
  return connection_->read([&](sqlite_reader& r) { return r.last_aggregate(); });
}

std::vector<history_row> sqlite_ledger::history(aggregate_id aggregate) {
  return connection_->read([&](sqlite_reader& r) { return r.history(aggregate); });
}

aggregate_snapshot sqlite_ledger::peek(aggregate_id aggregate) {
  constexpr std::size_t unlimited = std::numeric_limits<std::int64_t>::max();
  const image_bounds all{from_unix_ms(std::numeric_limits<std::int64_t>::min()), unlimited, unlimited};
  return connection_->read([&](sqlite_reader& r) {
    return aggregate_snapshot{r.read_head(aggregate), r.read_image(aggregate, all)};
  });
}

std::optional<entry_row> sqlite_ledger::read_entry(aggregate_id aggregate, queue_number number) {
  return connection_->read([&](sqlite_reader& r) { return r.read_entry(aggregate, number); });
}

std::vector<node_row> sqlite_ledger::beat(const node_row& self, milliseconds alive_for) {
  return connection_->write([&] { return connection_->leases.beat(self, alive_for); });
}

void sqlite_ledger::leave(const std::string& node, std::uint64_t incarnation) {
  connection_->guarded([&] { connection_->leases.leave(node, incarnation); });
}

std::size_t sqlite_ledger::end_leases(const node_row& last, bool is_silent, milliseconds term) {
  if (!is_silent) return 0;
  return connection_->write([&] { return connection_->leases.end(last, term); });
}

std::vector<std::uint32_t> sqlite_ledger::lease_outbox(const lease_terms& lease,
                                                       std::span<const std::uint32_t> wanted) {
  if (lease.owner.empty()) return {wanted.begin(), wanted.end()};
  return connection_->write([&] {
    std::vector<std::uint32_t> held;
    connection_->leases.refuse_earlier(lease.owner, lease.incarnation);
    for (const auto p : wanted)
      if (connection_->leases.take_partition(p, lease)) held.push_back(p);
    return held;
  });
}

std::vector<outbox_item> sqlite_ledger::undelivered(lane which, std::span<const std::uint32_t> partitions,
                                                    std::size_t limit, aggregate_id after) {
  return connection_->read_newest(
    [&] { return connection_->outbox.undelivered(which, partitions, limit, after); });
}

void sqlite_ledger::mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) {
  connection_->write([&] {
    for (const auto& key : keys) connection_->outbox.mark_delivered(which, key, at);
  });
}

std::size_t sqlite_ledger::prune(const prune_bounds& bounds) {
  auto& c = *connection_;
  return c.write([&] {
    auto gone = c.writer.prune_idempotency(bounds.idempotency_before, bounds.limit);
    gone += c.writer.prune_receipts(bounds.receipts_before, bounds.limit - gone);
    gone += c.outbox.prune(bounds.outbox_delivered_before, bounds.limit - gone);
    gone += c.notices.prune(bounds, bounds.limit - gone);
    gone += c.writer.prune_entries(bounds.entries_before, bounds.limit - gone);
    gone += c.writer.prune_statistics(bounds.statistics_before, bounds.limit - gone);
    gone += c.writer.prune_logs(bounds.logs_before, bounds.limit - gone);
    return gone + erase_some(c.erasure, bounds, bounds.limit - gone);
  });
}

// -- notices

notice_audience sqlite_ledger::audience(const audience_filter& filter) {
  return connection_->read_newest([&] { return connection_->notices.audience(filter); });
}

std::vector<device_row> sqlite_ledger::crowd(const crowd_filter& filter) {
  return connection_->guarded([&] { return connection_->notices.crowd(filter); });
}

void sqlite_ledger::store_deliveries(std::span<const delivery_row> rows) {
  connection_->write([&] {
    for (const auto& row : rows) connection_->notices.store_delivery(row);
  });
}

std::vector<due_delivery> sqlite_ledger::take_deliveries(const due_filter& filter, timestamp now) {
  return connection_->write([&] { return connection_->notices.take_deliveries(filter, now); });
}

void sqlite_ledger::settle_deliveries(std::span<const delivery_row> rows) {
  connection_->write([&] {
    for (const auto& row : rows) connection_->notices.settle_delivery(row);
  });
}

std::vector<delivery_row> sqlite_ledger::list_deliveries(const delivery_filter& filter) {
  return connection_->guarded([&] { return connection_->notices.list_deliveries(filter); });
}

bool sqlite_ledger::replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice, timestamp now) {
  return connection_->guarded(
    [&] { return connection_->notices.replay_delivery(tenant, target, notice, now); });
}

uuid sqlite_ledger::register_device(const device_row& device) {
  return connection_->write([&] { return connection_->notices.register_device(device); });
}

std::vector<device_row> sqlite_ledger::list_devices(const uuid& holder) {
  return connection_->guarded([&] { return connection_->notices.list_devices(holder); });
}

bool sqlite_ledger::remove_device(const uuid& holder, const uuid& device) {
  return connection_->guarded([&] { return connection_->notices.remove_device(holder, device); });
}

void sqlite_ledger::end_device(const uuid& device, timestamp since, const std::string& reason, timestamp at) {
  return connection_->guarded([&] { return connection_->notices.end_device(device, since, reason, at); });
}

bool sqlite_ledger::store_endpoint(const webhook_endpoint_row& endpoint) {
  return connection_->guarded([&] { return connection_->notices.store_endpoint(endpoint); });
}

std::vector<webhook_endpoint_row> sqlite_ledger::list_endpoints(tenant_id tenant) {
  return connection_->guarded([&] { return connection_->notices.list_endpoints(tenant); });
}

bool sqlite_ledger::disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                     timestamp at) {
  return connection_->guarded(
    [&] { return connection_->notices.disable_endpoint(endpoint, reason, since, at); });
}

bool sqlite_ledger::remove_endpoint(tenant_id tenant, const uuid& endpoint) {
  return connection_->guarded([&] { return connection_->notices.remove_endpoint(tenant, endpoint); });
}

std::string sqlite_ledger::check_integrity() {
  return connection_->guarded([&] { return connection_->db.check_integrity(); });
}

const std::string& sqlite_ledger::last_refusal() const { return connection_->last_refusal; }

} // namespace fq
