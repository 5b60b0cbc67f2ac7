// SPDX-License-Identifier: Apache-2.0
// Connections, transactions and failures of the Postgres ledger; the statements are in postgres_writer,
// postgres_reader, postgres_leases and postgres_outbox.
#include "store/postgres/postgres_ledger.hpp"

#include "store/port/history.hpp"
#include "store/postgres/limits.hpp"
#include "store/postgres/postgres_erasure.hpp"
#include "store/postgres/postgres_leases.hpp"
#include "store/postgres/postgres_logs.hpp"
#include "store/postgres/postgres_migrations.hpp"
#include "store/postgres/postgres_notices.hpp"
#include "store/postgres/postgres_outbox.hpp"
#include "store/postgres/postgres_reader.hpp"
#include "store/postgres/postgres_writer.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>

namespace fq {
namespace {

using namespace postgres_limits;

constexpr std::size_t unlimited = std::numeric_limits<std::int64_t>::max();

/// A configured and migrated connection.
struct ready_connection : postgres_connection {
  ready_connection(const postgres_url& url, const postgres_patience& patience) :
      postgres_connection(url, patience) {
    migrate(*this);
  }
};

} // namespace

struct postgres_ledger::session {
  session(const postgres_url& url, const postgres_patience& patience) :
      db(url, patience), writer(db), reader(db), leases(db), outbox(db), notices(db), erasure(db), logs(db) {}

  ready_connection db;
  postgres_writer writer;
  postgres_reader reader;
  postgres_leases leases;
  postgres_outbox outbox;
  postgres_notices notices;
  postgres_erasure erasure;
  postgres_logs logs;

  aggregate_image image_of(aggregate_id aggregate, const postgres_reader::bounds& limits) {
    auto image = reader.read_image(aggregate, limits);
    image.log = logs.state(aggregate);
    return image;
  }
};

postgres_ledger::postgres_ledger(const postgres_ledger_options& options) :
    url_(options.url, options.node.empty() ? "fairqueue" : postgres_name_of(options.node)),
    patience_(options.patience),
    steady_now_(options.steady_now) {}

postgres_ledger::~postgres_ledger() = default;

// -- the connection

/// Between connection attempts all calls fail at once, so that an unavailable server costs no time-outs.
postgres_ledger::session& postgres_ledger::connected() {
  if (session_ && session_->db.is_alive()) return *session_;
  session_.reset();
  if (steady_now_() < pause_.until) throw ledger_unavailable(pause_.reason);
  try {
    session_ = std::make_unique<session>(url_, patience_);
  } catch (const std::runtime_error& e) { // postgres_error, schema_refused
    pause_.reason = e.what();
    pause_.length = std::clamp(pause_.length * 2, first_pause, longest_pause);
    pause_.until = steady_now_() + pause_.length;
    throw;
  }
  pause_ = {};
  return *session_;
}

namespace {

void must_be_replicated(const postgres_connection& db) {
  if (db.is_unreplicated()) throw commit_unknown("postgres: the wait for the standby was cancelled");
}

} // namespace

/// Runs `work`. Drops the connection after an outage or an unknown commit.
template <class Work>
auto postgres_ledger::in_session(Work work) {
  try {
    auto& s = connected();
    if constexpr (std::is_void_v<decltype(work(s))>) {
      work(s);
      must_be_replicated(s.db);
    } else {
      auto result = work(s);
      must_be_replicated(s.db);
      return result;
    }
  } catch (const postgres_error& e) {
    if (e.trouble() == postgres_trouble::outage) session_.reset();
    throw ledger_unavailable(e.what());
  } catch (const commit_unknown&) {
    session_.reset();
    throw;
  } catch (const schema_refused& e) { throw ledger_unavailable(e.what()); }
}

void postgres_ledger::connect() {
  try {
    connected();
  } catch (const postgres_error& e) { throw ledger_unavailable(e.what()); }
}

// -- commit

namespace {

/// One call of commit(): uses the largest transactions that Postgres accepts.
class commit_call {
public:
  commit_call(postgres_writer& writer, std::string& last_refusal) :
      writer_(writer), last_refusal_(last_refusal) {}

  std::vector<commit_outcome> run(std::span<const batch> batches) {
    std::vector<commit_outcome> outcomes(batches.size());
    try {
      for (std::size_t done = 0; done < batches.size();) {
        const auto part = count_distinct(batches.subspan(done));
        settle(batches.subspan(done, part), std::span{outcomes}.subspan(done, part));
        done += part;
      }
    } catch (const postgres_error& e) {
      if (committed_some_) throw commit_unknown(e.what());
      throw;
    }
    return outcomes;
  }

private:
  /// A transaction locks each aggregate once: a second batch of an aggregate starts the next transaction.
  static std::size_t count_distinct(std::span<const batch> batches) {
    std::set<aggregate_id> seen;
    const auto was_seen = [&](const batch& b) { return !seen.insert(b.aggregate).second; };
    const auto repeated = std::find_if(batches.begin(), batches.end(), was_seen);
    return static_cast<std::size_t>(repeated - batches.begin());
  }

  /// Splits a refused transaction in halves until the refused batch is alone.
  void settle(std::span<const batch> batches, std::span<commit_outcome> outcomes) {
    auto trouble = attempt(batches, outcomes, postgres_order::in_rounds);
    if (!trouble) return;
    if (batches.size() > 1) {
      const auto half = batches.size() / 2;
      settle(batches.first(half), outcomes.first(half));
      settle(batches.subspan(half), outcomes.subspan(half));
      return;
    }
    if (trouble == postgres_trouble::refused)
      trouble = attempt(batches, outcomes, postgres_order::one_by_one);
    if (trouble)
      outcomes[0] = trouble == postgres_trouble::refused ? commit_outcome::conflict : commit_outcome::busy;
  }

  /// Commits the batches whose guard holds, or returns why Postgres refused. Throws postgres_error for an
  /// outage.
  std::optional<postgres_trouble> attempt(std::span<const batch> batches, std::span<commit_outcome> outcomes,
                                          postgres_order order) {
    if (waits_ == waits_max) return postgres_trouble::waited;
    for (int collisions = 0;; ++collisions) {
      try {
        const auto lock_wait = waits_ > 0 ? std::optional{short_wait} : std::nullopt;
        std::ranges::copy(writer_.commit(batches, {order, lock_wait}), outcomes.begin());
        committed_some_ |= std::ranges::find(outcomes, commit_outcome::committed) != outcomes.end();
        return std::nullopt;
      } catch (const postgres_error& e) {
        const auto trouble = e.trouble();
        if (trouble == postgres_trouble::outage) throw;
        if (trouble == postgres_trouble::collided && collisions < collisions_max) continue;
        if (trouble == postgres_trouble::waited) ++waits_;
        last_refusal_ = e.what();
        return trouble;
      }
    }
  }

  postgres_writer& writer_;
  std::string& last_refusal_;
  bool committed_some_ = false;
  int waits_ = 0;
};

} // namespace

std::vector<commit_outcome> postgres_ledger::commit(std::span<const batch> batches) {
  return in_session([&](session& s) { return commit_call(s.writer, last_refusal_).run(batches); });
}

// -- leases

std::uint64_t postgres_ledger::enlist(const std::string& node) {
  return in_session([&](session& s) {
    postgres_transaction transaction(s.db, postgres_access::read_write, patience_.load);
    const auto incarnation = s.leases.enlist(node);
    transaction.commit();
    return incarnation;
  });
}

namespace {
postgres_reader::bounds loaded(const load_since& since) {
  return {since, loaded_idempotency_max, loaded_receipts_max};
}
} // namespace

acquire_result postgres_ledger::acquire(aggregate_id aggregate, const lease_terms& lease,
                                        const std::optional<load_since>& since, const ledger_mark& seen) {
  return in_session([&](session& s) -> acquire_result {
    postgres_transaction transaction(s.db, postgres_access::read_write, patience_.load);
    auto answer = s.leases.take(aggregate, lease, seen);
    const auto* own = std::get_if<postgres_leases::taken>(&answer);
    if (std::holds_alternative<ledger_lost>(answer)) transaction.commit(); // the mark
    if (!own) return postgres_leases::refusal(answer);
    const auto head = s.reader.read_head(aggregate);
    acquired result{own->epoch,     head.applied_seq,      head.committed_at, own->now,
                    own->clock_lag, head.cache_generation, head.line,         {}};
    if (since) result.image = s.image_of(aggregate, loaded(*since));
    transaction.commit();
    return result;
  });
}

std::vector<lost_aggregate> postgres_ledger::losses() {
  return in_session([](session& s) { return s.leases.losses(); });
}

bool postgres_ledger::accept_loss(aggregate_id aggregate, const audit_row& row) {
  return in_session([&](session& s) {
    postgres_transaction transaction(s.db, postgres_access::read_write, patience_.load);
    const bool was_lost = s.leases.accept_loss(aggregate, row);
    transaction.commit();
    return was_lost;
  });
}

aggregate_image postgres_ledger::load(aggregate_id aggregate, const load_since& since) {
  return in_session([&](session& s) {
    postgres_transaction snapshot(s.db, postgres_access::snapshot, patience_.load);
    return s.image_of(aggregate, loaded(since));
  });
}

lease_renewal postgres_ledger::renew(const lease_terms& lease, std::span<const tenure> tenures) {
  if (lease.owner.empty()) return {}; // no lease to renew
  return in_session([&](session& s) { return s.leases.renew(lease, tenures); });
}

void postgres_ledger::release(const std::string& owner, std::span<const tenure> tenures) {
  in_session([&](session& s) { s.leases.release(owner, tenures); });
}

// -- reads

std::vector<event_listing> postgres_ledger::list_events(const event_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_events(filter); });
}

access_directory postgres_ledger::directory() {
  return in_session([&](session& s) {
    postgres_transaction snapshot(s.db, postgres_access::snapshot, patience_.load);
    return s.reader.directory();
  });
}

std::vector<block_row> postgres_ledger::blocks() {
  return in_session([&](session& s) { return s.reader.blocks(); });
}

std::vector<audit_row> postgres_ledger::audit(const audit_filter& filter) {
  return in_session([&](session& s) { return s.reader.audit(filter); });
}

std::vector<statistics_row> postgres_ledger::list_statistics(const statistics_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_statistics(filter); });
}

sale_figures postgres_ledger::figures(aggregate_id aggregate) {
  return in_session([&](session& s) { return s.reader.figures(aggregate); });
}

std::vector<event_ticket_listing> postgres_ledger::list_event_tickets(const event_ticket_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_event_tickets(filter); });
}

std::vector<transfer_listing> postgres_ledger::list_transfers(const transfer_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_transfers(filter); });
}

std::vector<order_listing> postgres_ledger::list_orders(const order_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_orders(filter); });
}

std::vector<seat_plan_row> postgres_ledger::list_seat_plans(const seat_plan_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_seat_plans(filter); });
}

std::vector<dead_letter_listing> postgres_ledger::list_dead_letters(const dead_letter_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_dead_letters(filter); });
}

record_page postgres_ledger::list_records(const record_filter& filter) {
  return in_session([&](session& s) { return s.reader.list_records(filter); });
}

open_purchase postgres_ledger::find_open_purchase(const customer_id& customer) {
  return in_session([&](session& s) { return s.reader.find_open_purchase(customer); });
}

std::vector<aggregate_id> postgres_ledger::aggregates_to_wake(const std::string& owner) {
  return in_session([&](session& s) { return s.reader.aggregates_to_wake(owner); });
}

events_to_settle postgres_ledger::find_events_to_settle(const std::string& owner, aggregate_id after) {
  return in_session([&](session& s) { return s.reader.find_events_to_settle(owner, after); });
}

aggregate_id postgres_ledger::last_aggregate() {
  return in_session([](session& s) { return s.reader.last_aggregate(); });
}

std::vector<history_row> postgres_ledger::history(aggregate_id aggregate) {
  return in_session([&](session& s) {
    postgres_transaction snapshot(s.db, postgres_access::snapshot, patience_.load);
    return s.reader.history(aggregate);
  });
}

aggregate_snapshot postgres_ledger::peek(aggregate_id aggregate) {
  const postgres_reader::bounds all{from_unix_ms(std::numeric_limits<std::int64_t>::min()), unlimited,
                                    unlimited};
  return in_session([&](session& s) {
    postgres_transaction snapshot(s.db, postgres_access::snapshot, patience_.load);
    const auto head = s.reader.read_head(aggregate);
    return aggregate_snapshot{head, s.image_of(aggregate, all)};
  });
}

std::optional<entry_row> postgres_ledger::read_entry(aggregate_id aggregate, queue_number number) {
  return in_session([&](session& s) { return s.reader.read_entry(aggregate, number); });
}

// -- outbox and age

std::vector<node_row> postgres_ledger::beat(const node_row& self, milliseconds alive_for) {
  return in_session([&](session& s) { return s.leases.beat(self, alive_for); });
}

void postgres_ledger::leave(const std::string& node, std::uint64_t incarnation) {
  in_session([&](session& s) { s.leases.leave(node, incarnation); });
}

std::size_t postgres_ledger::end_leases(const node_row& last, bool is_silent, milliseconds term) {
  return in_session([&](session& s) {
    postgres_transaction transaction(s.db, postgres_access::read_write, patience_.write);
    const auto ended = s.leases.end(last, is_silent, term);
    transaction.commit();
    return ended;
  });
}

std::vector<std::uint32_t> postgres_ledger::lease_outbox(const lease_terms& lease,
                                                         std::span<const std::uint32_t> wanted) {
  if (lease.owner.empty()) return {wanted.begin(), wanted.end()};
  return in_session([&](session& s) { return s.leases.take_partitions(lease, wanted); });
}

std::vector<outbox_item> postgres_ledger::undelivered(lane which, std::span<const std::uint32_t> partitions,
                                                      std::size_t limit, aggregate_id after) {
  return in_session([&](session& s) { return s.outbox.undelivered(which, partitions, limit, after); });
}

void postgres_ledger::mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) {
  in_session([&](session& s) { s.outbox.mark_delivered(which, keys, at); });
}

std::size_t postgres_ledger::prune(const prune_bounds& bounds) {
  return in_session([&](session& s) {
    const auto keys = s.writer.prune_idempotency(bounds.idempotency_before, bounds.limit);
    const auto receipts = s.writer.prune_receipts(bounds.receipts_before, bounds.limit - keys);
    const auto delivered = s.outbox.prune(bounds.outbox_delivered_before, bounds.limit - keys - receipts);
    auto gone = keys + receipts + delivered;
    gone += s.notices.prune(bounds, bounds.limit - gone);
    gone += s.writer.prune_entries(bounds.entries_before, bounds.limit - gone);
    gone += s.writer.prune_statistics(bounds.statistics_before, bounds.limit - gone);
    gone += s.logs.prune(bounds.logs_before, bounds.limit - gone);
    return gone + erase_some(s.erasure, bounds, bounds.limit - gone);
  });
}

// -- notices

notice_audience postgres_ledger::audience(const audience_filter& filter) {
  return in_session([&](session& s) { return s.notices.audience(filter); });
}

std::vector<device_row> postgres_ledger::crowd(const crowd_filter& filter) {
  return in_session([&](session& s) { return s.notices.crowd(filter); });
}

void postgres_ledger::store_deliveries(std::span<const delivery_row> rows) {
  return in_session([&](session& s) { return s.notices.store_deliveries(rows); });
}

std::vector<due_delivery> postgres_ledger::take_deliveries(const due_filter& filter, timestamp now) {
  return in_session([&](session& s) { return s.notices.take_deliveries(filter, now); });
}

void postgres_ledger::settle_deliveries(std::span<const delivery_row> rows) {
  return in_session([&](session& s) { return s.notices.settle_deliveries(rows); });
}

std::vector<delivery_row> postgres_ledger::list_deliveries(const delivery_filter& filter) {
  return in_session([&](session& s) { return s.notices.list_deliveries(filter); });
}

bool postgres_ledger::replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice,
                                      timestamp now) {
  return in_session([&](session& s) { return s.notices.replay_delivery(tenant, target, notice, now); });
}

uuid postgres_ledger::register_device(const device_row& device) {
  return in_session([&](session& s) { return s.notices.register_device(device); });
}

std::vector<device_row> postgres_ledger::list_devices(const uuid& holder) {
  return in_session([&](session& s) { return s.notices.list_devices(holder); });
}

bool postgres_ledger::remove_device(const uuid& holder, const uuid& device) {
  return in_session([&](session& s) { return s.notices.remove_device(holder, device); });
}

void postgres_ledger::end_device(const uuid& device, timestamp since, const std::string& reason,
                                 timestamp at) {
  return in_session([&](session& s) { return s.notices.end_device(device, since, reason, at); });
}

bool postgres_ledger::store_endpoint(const webhook_endpoint_row& endpoint) {
  return in_session([&](session& s) { return s.notices.store_endpoint(endpoint); });
}

std::vector<webhook_endpoint_row> postgres_ledger::list_endpoints(tenant_id tenant) {
  return in_session([&](session& s) { return s.notices.list_endpoints(tenant); });
}

bool postgres_ledger::disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                       timestamp at) {
  return in_session([&](session& s) { return s.notices.disable_endpoint(endpoint, reason, since, at); });
}

bool postgres_ledger::remove_endpoint(tenant_id tenant, const uuid& endpoint) {
  return in_session([&](session& s) { return s.notices.remove_endpoint(tenant, endpoint); });
}

bool postgres_ledger::store_picture(const picture_row& picture) {
  return in_session([&](session& s) { return s.notices.pictures.store(picture); });
}

std::vector<char> postgres_ledger::find_picture(const std::string& id, picture_size size) {
  return in_session([&](session& s) { return s.notices.pictures.find(id, size); });
}

std::optional<witnessed_row> postgres_ledger::find_witnessed(const std::string& id) {
  return in_session([&](session& s) { return s.notices.witness.find(id); });
}

bool postgres_ledger::store_witnessed(const witnessed_row& next, const witnessed_before& before) {
  return in_session([&](session& s) { return s.notices.witness.store(next, before); });
}

std::vector<task_row> postgres_ledger::keep_tasks(std::span<const task_row> finished, std::uint64_t after) {
  return in_session([&](session& s) { return s.notices.tasks.keep(finished, after); });
}

log_rows postgres_ledger::read_log(aggregate_id aggregate, const log_wish& wish) {
  return in_session([&](session& s) {
    postgres_transaction snapshot(s.db, postgres_access::snapshot, patience_.load);
    return s.logs.read(aggregate, wish);
  });
}

} // namespace fq
