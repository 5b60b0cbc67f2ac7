// SPDX-License-Identifier: Apache-2.0
// One function per kind of change. A change that finds another state than expected updates no row: a
// conflict. A broken constraint is a conflict too, thrown by the statement.
#include "store/sqlite/sqlite_writer.hpp"

#include "store/sqlite/limits.hpp"
#include "store/sqlite/sqlite_rows.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace fq {
namespace {

using sqlite_limits::rows_of_few, sqlite_limits::rows_of_many;

/// INSERT of plain joins.
std::string join_sql(std::size_t rows) {
  const auto t = table_of<entry_row>();
  return insert_sql(t.name, t.place + t.inserted_plain, rows);
}

/// Ended entries that never had a claim, oldest end first: an index of their own.
const std::string due_entries =
  "SELECT aggregate, queue_number FROM queue_entry INDEXED BY queue_entry_ended WHERE ended_at <> 0"
  " AND has_claimed = 0 AND reclaims = 0 AND ended_at < ?1 ORDER BY ended_at, aggregate, queue_number"
  " LIMIT ?2";

const entry_row* plain_join_of(const change& c) {
  const auto* joined = std::get_if<entry_joined>(&c);
  return joined && is_plain_join(joined->row) ? &joined->row : nullptr;
}

} // namespace

sqlite_writer::statements::statements(sqlite_db& db) :
    guard(db, "UPDATE aggregate SET applied_seq = ?, committed_at = max(committed_at, ?),"
              " clock_lag = max(0, "
                + sqlite_now
                + " - ?2),"
                  " live_entries = live_entries + ?, last_number = max(last_number, ?),"
                  " counted_seq = ?1, first_kept = max(first_kept, ?), admitted_total = admitted_total + ?,"
                  " completed_total = completed_total + ?, last_batch = max(last_batch, ?)"
                  " WHERE number = ? AND epoch = ? AND applied_seq = ? RETURNING tenant"),
    head(db, "SELECT epoch, applied_seq FROM aggregate WHERE number = ?"),
    raise_generation(db, "UPDATE aggregate SET cache_generation = cache_generation + 1 WHERE number = ? AND"
                         " cache_generation = ?"),
    insert_aggregate(db, "INSERT INTO aggregate (number, kind, tenant, committed_at) VALUES (?, ?, ?, ?)"),
    insert_event(db, insert_sql(table_of<event_row>())),
    update_event(db, update_sql(table_of<event_row>())),
    insert_ticket_type(db, insert_sql(table_of<ticket_type_row>())),
    update_ticket_type(db, update_sql(table_of<ticket_type_row>())),
    move_stock(db,
               "UPDATE ticket_type SET held = held + ?, sold = sold + ? WHERE aggregate = ? AND ordinal = ?"),
    join_one(db, join_sql(1)),
    join_few(db, join_sql(rows_of_few)),
    join_many(db, join_sql(rows_of_many)),
    join_admitted(db, insert_sql(table_of<entry_row>())),
    update_entry(db, update_sql(table_of<entry_row>())),
    insert_claim(db, insert_sql(table_of<claim_row>())),
    insert_claim_item(db, insert_sql(table_of<claim_item>())),
    update_claim(db, update_sql(table_of<claim_row>())),
    update_claim_item(
      db, "UPDATE claim_item SET refunded = ?1 WHERE aggregate = ?2 AND claim = ?3 AND position = ?4 AND"
          " refunded <> ?1"),
    insert_payment(db, insert_sql(table_of<payment_row>())),
    update_payment(db, update_sql(table_of<payment_row>())),
    insert_refund(db, insert_sql(table_of<refund_row>())),
    update_refund(db, update_sql(table_of<refund_row>())),
    insert_promo_code(db, insert_sql(table_of<promo_code_row>())),
    update_promo_code(db, update_sql(table_of<promo_code_row>())),
    move_promo_uses(db, "UPDATE promo_code SET uses = uses + ? WHERE aggregate = ? AND ordinal = ?"),
    insert_order(db, insert_sql(table_of<order_row>())),
    update_order(db, update_sql(table_of<order_row>())),
    insert_event_ticket(db, insert_sql(table_of<event_ticket_row>())),
    update_event_ticket(db, update_sql(table_of<event_ticket_row>())),
    store_seat_plan(db, store_sql(table_of<seat_plan_row>())),
    remove_seat_plan(db, "DELETE FROM seat_plan WHERE tenant = ? AND id = ?"),
    insert_event_plan(db, insert_sql(table_of<event_plan_row>())),
    set_seat_rules(
      db, "UPDATE event_plan SET singles = ?, may_split = ?, accessible_for_all = ? WHERE aggregate = ?"),
    remove_event_plan(db, "DELETE FROM event_plan WHERE aggregate = ?"),
    store_lobby(db, store_sql(table_of<lobby_row>())),
    insert_claim_seat(db, insert_sql(table_of<claim_seat_row>())),
    end_claim_seat(
      db, "UPDATE claim_seat SET is_live = 0 WHERE aggregate = ? AND claim = ? AND seat = ? AND is_live = 1"),
    store_seat_setting(db, store_sql(table_of<seat_setting_row>())),
    insert_transfer(db, insert_sql(table_of<transfer_row>())),
    update_transfer(db, update_sql(table_of<transfer_row>())),
    insert_statistics(db, insert_sql(table_of<statistics_row>())),
    insert_log_batch(db, insert_sql(table_of<log_batch_row>())),
    remove_log_batches(db, "DELETE FROM log_batch WHERE aggregate = ? AND (seq, ordinal) <= (?, ?)"),
    store_log_state(db, store_sql(table_of<log_state_row>())),
    store_log_tile(db, store_sql(table_of<log_tile_row>())),
    store_checkin_list(db, store_sql(table_of<checkin_list_row>())),
    store_checkin_device(db, store_sql(table_of<checkin_device_row>())),
    insert_scan(db, insert_sql(table_of<scan_row>())),
    store_dead_letter(db, store_sql(table_of<dead_letter_row>())),
    store_priority(db, store_sql(table_of<priority_row>())),
    remove_priority(db, "DELETE FROM event_priority WHERE aggregate = ? AND customer = ?"),
    store_invitation(db, store_sql(table_of<invitation_row>())),
    insert_access(db, insert_sql(table_of<entry_access_row>())),
    insert_lock(db, insert_sql(table_of<session_lock_row>())),
    remove_lock(db, "DELETE FROM session_lock WHERE aggregate = ? AND name = ?"),
    store_block(db, store_sql(table_of<block_row>())),
    remove_block(db, "DELETE FROM blocked_customer WHERE tenant = ? AND organizer = ? AND customer = ?"),
    store_setting(db, store_sql(table_of<setting_row>())),
    insert_idempotency(db, insert_sql(table_of<idempotency_row>())),
    insert_receipt(db, insert_sql(table_of<receipt_row>())),
    insert_outbox(db, insert_sql(table_of<outbox_row>())),
    store_organizer(db, store_sql(table_of<organizer_row>())),
    store_customer(db, store_sql(table_of<customer_row>())),
    store_otp(db, store_sql(table_of<otp_row>())),
    store_tenant(db, store_sql(table_of<tenant_row>())),
    store_api_key(db, store_sql(table_of<api_key_row>())),
    insert_audit(db, insert_sql(table_of<audit_row>())),
    remove_otp(db, "DELETE FROM code_request WHERE aggregate = ? AND handle_hash = ?"),
    remove_organizer(db, "DELETE FROM organizer WHERE aggregate = ? AND id = ?"),
    store_organizer_session(db, store_sql(table_of<organizer_session_row>())),
    remove_organizer_session(db, "DELETE FROM organizer_session WHERE aggregate = ? AND id = ?"),
    insert_history(
      db, "INSERT INTO history (aggregate, seq, ordinal, tenant, kind, key, from_status, to_status, at)"
          " VALUES (?,?,?,?,?,?,?,?,?)"),
    prune_idempotency(
      db, "DELETE FROM idempotency WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal"
          " FROM idempotency WHERE created_at < ? ORDER BY created_at, aggregate, seq, ordinal LIMIT ?)"),
    prune_receipts(
      db, "DELETE FROM receipt WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM"
          " receipt WHERE received_at < ? ORDER BY received_at, aggregate, seq, ordinal LIMIT ?)"),
    prune_access(db, "DELETE FROM entry_access WHERE (aggregate, queue_number) IN (" + due_entries + ")"),
    prune_entries(db, "DELETE FROM queue_entry WHERE (aggregate, queue_number) IN (" + due_entries
                        + ") RETURNING aggregate"),
    // Only as far as the rows in front reach: those of an entry are older than its end.
    prune_history(
      db, "DELETE FROM history WHERE (aggregate, seq, ordinal) IN (SELECT aggregate, seq, ordinal FROM"
          " (SELECT aggregate, seq, ordinal, kind, at FROM history WHERE aggregate = ?1 ORDER BY seq, ordinal"
          " LIMIT ?3) WHERE kind = 1 AND at < ?2)"),
    is_queue(db, "SELECT 1 FROM event WHERE aggregate = ? AND kind = 1"),
    prune_statistics(
      db, "DELETE FROM statistics WHERE (aggregate, at) IN (SELECT aggregate, at FROM statistics AS s"
          " WHERE at < ?1 AND EXISTS (SELECT 1 FROM statistics AS later"
          " WHERE later.aggregate = s.aggregate AND later.at > s.at) ORDER BY at, aggregate LIMIT ?2)"),
    prune_logs(db, "DELETE FROM log_tile WHERE (aggregate, number, level, position) IN (SELECT t.aggregate,"
                   " t.number, t.level, t.position FROM event AS e JOIN log_tile AS t ON t.aggregate ="
                   " e.aggregate WHERE e.kind = 0 AND e.status IN (3, 4) AND e.sale_end < ?1"
                   " ORDER BY t.aggregate, t.number, t.level, t.position LIMIT ?2)") {}

// -- the content of one batch

/// Every operator() returns whether the change found the expected state.
class sqlite_writer::content {
public:
  content(statements& sql, const batch& b, tenant_id tenant) : sql_(sql), batch_(b), tenant_(tenant) {}

  bool write_all() {
    for (std::size_t i = 0; i < batch_.content.size();) {
      if (const auto joins = count_plain_joins(i)) {
        write_joins(i, joins);
        i += joins;
      } else if (!std::visit(*this, batch_.content[i++])) {
        return false;
      }
    }
    return true;
  }

  bool operator()(const event_created& c) {
    const auto& e = c.event;
    if (e.aggregate < first_event_aggregate) return false;
    for (const auto& t : c.ticket_types)
      if (t.held != 0 || t.sold != 0) return false;
    sql_.insert_aggregate.run(e.aggregate, aggregate_kind_of(e.kind), e.tenant, batch_.at);
    insert_row(sql_.insert_event, e, {});
    for (const auto& t : c.ticket_types) insert_row(sql_.insert_ticket_type, t, {e.aggregate, e.tenant});
    // The history of the event starts before its first batch.
    constexpr auto kind = history_kind::event;
    sql_.insert_history.run(e.aggregate, 0, 0, e.tenant, kind, e.id, nullptr, e.status, batch_.at);
    return true;
  }

  bool operator()(const event_changed& c) {
    return c.event.aggregate == batch_.aggregate
           && move(sql_.update_event, history_kind::event, c.event.id, c.event, c.from);
  }

  bool operator()(const ticket_type_added& c) {
    return c.row.held == 0 && c.row.sold == 0 && insert(sql_.insert_ticket_type, c.row);
  }

  bool operator()(const ticket_type_changed& c) { return update(sql_.update_ticket_type, c.row); }

  bool operator()(const stock_moved& c) {
    return sql_.move_stock.run(c.held_delta, c.sold_delta, batch_.aggregate, c.ticket_type) == 1;
  }

  bool operator()(const entry_joined& c) { return insert(sql_.join_admitted, c.row); }

  bool operator()(const entry_moved& c) {
    return move(sql_.update_entry, history_kind::entry, c.row.number, c.row, c.from);
  }

  bool operator()(const claim_opened& c) {
    begin(sql_.insert_claim, history_kind::claim, c.row);
    for (std::size_t i = 0; i < c.row.items.size(); ++i)
      insert_row(sql_.insert_claim_item, c.row.items[i],
                 {batch_.aggregate, tenant_, 0, static_cast<std::int64_t>(i), c.row.id});
    return true;
  }

  bool operator()(const claim_moved& c) {
    const auto& r = c.row;
    if (!update(sql_.update_claim, r, c.from)) return false;
    for (std::size_t i = 0; i < r.items.size(); ++i)
      sql_.update_claim_item.run(r.items[i].refunded, batch_.aggregate, r.id, i);
    return tell(history_kind::claim, r.id, c.from, r.status);
  }

  bool operator()(const payment_opened& c) {
    return begin(sql_.insert_payment, history_kind::payment, c.row);
  }

  bool operator()(const payment_moved& c) {
    return move(sql_.update_payment, history_kind::payment, c.row.id, c.row, c.from);
  }

  bool operator()(const refund_opened& c) { return begin(sql_.insert_refund, history_kind::refund, c.row); }

  bool operator()(const refund_moved& c) {
    return move(sql_.update_refund, history_kind::refund, c.row.id, c.row, c.from);
  }

  bool operator()(const idempotency_stored& c) { return append(sql_.insert_idempotency, c.row, ordinal_); }
  bool operator()(const receipt_stored& c) { return append(sql_.insert_receipt, c.row, ordinal_); }
  bool operator()(const audit_recorded& c) { return append(sql_.insert_audit, c.row, ordinal_); }
  bool operator()(const outbox_appended& c) { return append(sql_.insert_outbox, c.row, outbox_rows_); }

  bool operator()(const organizer_stored& c) { return insert(sql_.store_organizer, c.row); }
  bool operator()(const customer_stored& c) { return insert(sql_.store_customer, c.row); }
  bool operator()(const otp_stored& c) { return insert(sql_.store_otp, c.row); }
  bool operator()(const tenant_stored& c) { return insert(sql_.store_tenant, c.row); }
  bool operator()(const api_key_stored& c) { return insert(sql_.store_api_key, c.row); }
  bool operator()(const dead_letter_stored& c) { return insert(sql_.store_dead_letter, c.row); }
  bool operator()(const priority_stored& c) { return insert(sql_.store_priority, c.row); }
  bool operator()(const invitation_stored& c) { return insert(sql_.store_invitation, c.row); }
  bool operator()(const access_given& c) { return insert(sql_.insert_access, c.row); }
  bool operator()(const lock_taken& c) { return insert(sql_.insert_lock, c.row); }
  bool operator()(const lock_freed& c) { return remove(sql_.remove_lock, batch_.aggregate, c.name); }
  bool operator()(const block_stored& c) { return insert(sql_.store_block, c.row); }
  bool operator()(const setting_stored& c) { return insert(sql_.store_setting, c.row); }

  bool operator()(const otp_removed& c) { return remove(sql_.remove_otp, batch_.aggregate, c.handle_hash); }
  bool operator()(const organizer_removed& c) {
    return remove(sql_.remove_organizer, batch_.aggregate, c.id);
  }
  bool operator()(const organizer_session_stored& c) { return insert(sql_.store_organizer_session, c.row); }
  bool operator()(const organizer_session_removed& c) {
    return remove(sql_.remove_organizer_session, batch_.aggregate, c.id);
  }
  bool operator()(const priority_removed& c) {
    return remove(sql_.remove_priority, batch_.aggregate, c.customer);
  }
  bool operator()(const block_removed& c) {
    return remove(sql_.remove_block, c.tenant, c.organizer, c.customer);
  }

  bool operator()(const promo_code_added& c) {
    return c.row.uses == 0 && insert(sql_.insert_promo_code, c.row);
  }

  bool operator()(const promo_code_changed& c) { return update(sql_.update_promo_code, c.row); }

  bool operator()(const promo_uses_moved& c) {
    return sql_.move_promo_uses.run(c.delta, batch_.aggregate, c.promo_code) == 1;
  }

  bool operator()(const order_placed& c) { return begin(sql_.insert_order, history_kind::order, c.row); }

  bool operator()(const order_moved& c) {
    return move(sql_.update_order, history_kind::order, c.row.id, c.row, c.from);
  }

  bool operator()(const event_ticket_issued& c) { return insert(sql_.insert_event_ticket, c.row); }

  bool operator()(const event_ticket_moved& c) {
    return move(sql_.update_event_ticket, history_kind::event_ticket, c.row.id, c.row, c.from);
  }

  bool operator()(const seat_plan_stored& c) { return insert(sql_.store_seat_plan, c.row); }
  bool operator()(const seat_plan_removed& c) { return remove(sql_.remove_seat_plan, c.tenant, c.id); }
  bool operator()(const event_plan_set& c) { return insert(sql_.insert_event_plan, c.row); }
  bool operator()(const seat_rules_set& c) {
    return sql_.set_seat_rules.run(c.singles, c.may_split, c.accessible_for_all, batch_.aggregate) == 1;
  }
  bool operator()(const event_plan_removed&) { return remove(sql_.remove_event_plan, batch_.aggregate); }
  bool operator()(const lobby_stored& c) { return insert(sql_.store_lobby, c.row); }

  bool operator()(const seats_taken& c) {
    for (const auto& r : c.rows) insert(sql_.insert_claim_seat, r);
    return true;
  }

  bool operator()(const seats_ended& c) {
    return std::ranges::all_of(c.seats, [&](std::uint32_t seat) {
      return sql_.end_claim_seat.run(batch_.aggregate, c.claim, seat) == 1;
    });
  }

  bool operator()(const seats_set& c) {
    for (const auto& r : c.rows) insert(sql_.store_seat_setting, r);
    return true;
  }

  bool operator()(const transfer_offered& c) { return insert(sql_.insert_transfer, c.row); }
  bool operator()(const transfer_moved& c) { return update(sql_.update_transfer, c.row, c.from); }

  bool operator()(const checkin_list_stored& c) { return insert(sql_.store_checkin_list, c.row); }
  bool operator()(const checkin_device_stored& c) { return insert(sql_.store_checkin_device, c.row); }
  bool operator()(const scan_recorded& c) { return insert(sql_.insert_scan, c.row); }

  bool operator()(const statistics_stored& c) { return insert(sql_.insert_statistics, c.row); }

  bool operator()(const log_noted& c) { return append(sql_.insert_log_batch, c.row, log_rows_); }
  bool operator()(const log_kept& c) {
    insert(sql_.store_log_state, c.state);
    for (const auto& t : c.tiles) insert(sql_.store_log_tile, t);
    return remove(sql_.remove_log_batches, batch_.aggregate, c.state.taken_seq, c.state.taken_ordinal);
  }

  bool operator()(const entries_forgotten&) { return true; } // the guard has written it
  bool operator()(const cache_generation_raised& c) {
    return sql_.raise_generation.run(batch_.aggregate, c.from) == 1;
  }

private:
  [[nodiscard]] std::size_t count_plain_joins(std::size_t from) const {
    std::size_t n = 0;
    while (from + n < batch_.content.size() && plain_join_of(batch_.content[from + n])) ++n;
    return n;
  }

  void write_joins(std::size_t from, std::size_t count) {
    while (count > 0) {
      const auto rows = count >= rows_of_many ? rows_of_many : count >= rows_of_few ? rows_of_few : 1;
      auto& insert = rows == rows_of_many  ? sql_.join_many
                     : rows == rows_of_few ? sql_.join_few
                                           : sql_.join_one;
      sqlite_row_binder binder(insert);
      for (std::size_t i = 0; i < rows; ++i) {
        binder.place<entry_row>(place());
        binder.fields(*plain_join_of(batch_.content[from + i]), is_inserted_plain);
      }
      binder.run();
      from += rows;
      count -= rows;
    }
  }

  [[nodiscard]] row_place place() const { return {batch_.aggregate, tenant_}; }

  template <class Row>
  bool insert(sqlite_statement& s, const Row& row) {
    insert_row(s, row, place());
    return true;
  }
  /// Appends a row at the next position of the batch.
  template <class Row>
  bool append(sqlite_statement& s, const Row& row, std::int64_t& position) {
    insert_row(s, row, {batch_.aggregate, tenant_, batch_.to_seq, position++});
    return true;
  }
  template <class Row, class... Status>
  bool update(sqlite_statement& s, const Row& row, Status... from) {
    return update_row(s, row, batch_.aggregate, from...);
  }
  template <class... Keys>
  bool remove(sqlite_statement& s, const Keys&... keys) {
    s.run(keys...);
    return true;
  }

  // rows with a status: with their history

  template <class Row>
  bool begin(sqlite_statement& s, history_kind kind, const Row& row) {
    insert(s, row);
    write_history(kind, row.id, nullptr, row.status);
    return true;
  }
  template <class Key, class Row, class Status>
  bool move(sqlite_statement& s, history_kind kind, const Key& key, const Row& row, Status from) {
    return update(s, row, from) && tell(kind, key, from, row.status);
  }

  template <class Key, class From, class To>
  void write_history(history_kind kind, const Key& key, const From& from, To to) {
    sql_.insert_history.run(batch_.aggregate, batch_.to_seq, ordinal_++, tenant_, kind, key, from, to,
                            batch_.at);
  }

  template <class Key, class Status>
  bool tell(history_kind kind, const Key& key, Status from, Status to) {
    if (from != to) write_history(kind, key, from, to);
    return true;
  }

  statements& sql_;
  const batch& batch_;
  tenant_id tenant_;
  std::int64_t ordinal_ = 0; ///< next position in the batch, over all appended tables but the outbox
  std::int64_t outbox_rows_ = 0, log_rows_ = 0; ///< of this batch so far
};

// -- batches

sqlite_writer::sqlite_writer(sqlite_db& db) : sql_(db) {}

commit_outcome sqlite_writer::apply(const batch& b) {
  if (b.epoch == 0 || b.to_seq <= b.from_seq) return judge_skipped(b);
  const auto line = totals_gained(b);
  sql_.guard.bind(b.to_seq, b.at, live_entries_gained(b), line.last_number, line.first_kept, line.admitted,
                  line.completed, line.last_batch, b.aggregate, b.epoch, b.from_seq);
  if (!sql_.guard.step()) return judge_skipped(b);
  const auto tenant = sql_.guard.number<tenant_id>(0);
  sql_.guard.finish();
  return content(sql_, b, tenant).write_all() ? commit_outcome::committed : commit_outcome::conflict;
}

/// Determines why a guard failed.
commit_outcome sqlite_writer::judge_skipped(const batch& b) {
  sql_.head.bind(b.aggregate);
  if (!sql_.head.step()) return commit_outcome::fenced;
  const auto epoch = sql_.head.number<std::uint64_t>(0);
  const auto applied_seq = sql_.head.number<std::uint64_t>(1);
  sql_.head.finish();
  if (b.epoch == 0 || epoch != b.epoch) return commit_outcome::fenced;
  if (b.to_seq <= b.from_seq || applied_seq < b.to_seq) return commit_outcome::out_of_order;
  return commit_outcome::already_applied;
}

std::size_t sqlite_writer::prune_idempotency(timestamp before, std::size_t limit) {
  return static_cast<std::size_t>(sql_.prune_idempotency.run(before, limit));
}

/// With their access codes, and in standalone queues with the history of as old entries.
std::size_t sqlite_writer::prune_entries(timestamp before, std::size_t limit) {
  if (!is_set(before) || limit == 0) return 0;
  sql_.prune_access.run(before, limit);
  std::map<aggregate_id, std::size_t> gone;
  sql_.prune_entries.bind(before, limit);
  while (sql_.prune_entries.step()) ++gone[sql_.prune_entries.number<aggregate_id>(0)];
  std::size_t sum = 0;
  for (const auto& [aggregate, count] : gone) {
    sum += count;
    sql_.is_queue.bind(aggregate);
    const bool is_queue = sql_.is_queue.step();
    sql_.is_queue.reset();
    if (is_queue) sql_.prune_history.run(aggregate, before, count * history_rows_per_entry);
  }
  return sum;
}

std::size_t sqlite_writer::prune_statistics(timestamp before, std::size_t limit) {
  return static_cast<std::size_t>(sql_.prune_statistics.run(before, limit));
}

std::size_t sqlite_writer::prune_logs(timestamp before, std::size_t limit) {
  return is_set(before) ? static_cast<std::size_t>(sql_.prune_logs.run(before, limit)) : 0;
}

std::size_t sqlite_writer::prune_receipts(timestamp before, std::size_t limit) {
  return static_cast<std::size_t>(sql_.prune_receipts.run(before, limit));
}

} // namespace fq
