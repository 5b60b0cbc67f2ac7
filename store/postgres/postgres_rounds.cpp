// SPDX-License-Identifier: Apache-2.0
// One function per kind of change: the items that it touches, and its row. Appended rows (history, answers,
// receipts, domain events) depend on nothing and go into the first round.
// Claims and payments of the same customer depend on each other: claims share the customer's slots, payments
// the claim's one open attempt.
#include "store/postgres/postgres_rounds.hpp"

#include "store/postgres/postgres_rows.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace fq {
namespace {

bool is_unsold(const ticket_type_row& t) { return t.held == 0 && t.sold == 0; }

} // namespace

// -- checks without the database

bool postgres_rounds::is_possible(const batch& b) {
  return std::all_of(b.content.begin(), b.content.end(), [&](const change& c) {
    if (const auto* created = std::get_if<event_created>(&c))
      return created->event.aggregate >= first_event_aggregate
             && std::all_of(created->ticket_types.begin(), created->ticket_types.end(), is_unsold);
    if (const auto* changed = std::get_if<event_changed>(&c)) return changed->event.aggregate == b.aggregate;
    if (const auto* added = std::get_if<ticket_type_added>(&c)) return is_unsold(added->row);
    if (const auto* added = std::get_if<promo_code_added>(&c)) return added->row.uses == 0;
    return true;
  });
}

template <class Sum>
Sum& postgres_rounds::sum_of(std::map<counter_key, Sum>& sums, const thing_key& counter,
                             std::uint32_t ordinal) {
  const auto key = [&](int round) { return counter_key{round, counter.aggregate, ordinal}; };
  const auto seen = things_.find(counter);
  const bool follows =
    seen != things_.end() && sums.contains(key(seen->second.changed)) && order_ == postgres_order::in_rounds;
  return sums[key(follows ? seen->second.changed : static_cast<int>(round_for({counter})))];
}

// -- the changes of one batch

class postgres_rounds::reader {
public:
  reader(postgres_rounds& rounds, const batch& b, tenant_id tenant) :
      rounds_(rounds), batch_(b), tenant_(tenant) {}

  void operator()(const event_created& c) {
    const auto& e = c.event;
    const auto round = rounds_.round_for({{e.aggregate, item::event}});
    row(round, postgres_write::insert_aggregate, e.aggregate, aggregate_kind_of(e.kind), e.tenant, batch_.at);
    add_inserted(rounds_.rows(round, postgres_write::insert_event), e, {});
    for (const auto& t : c.ticket_types)
      add_inserted(rounds_.rows(round, postgres_write::insert_ticket_type), t, {e.aggregate, e.tenant});
    // The history of the event starts before its first batch.
    write_history({e.aggregate, e.tenant, 0, 0}, {history_kind::event, e.id}, std::optional<event_status>{},
                  e.status);
  }

  void operator()(const event_changed& c) {
    update(rounds_.round_for({of(item::event)}), postgres_write::update_event, c.event, c.from);
    move({history_kind::event, c.event.id}, c.from, c.event.status);
  }

  void operator()(const ticket_type_added& c) {
    const auto ordinal = c.row.ordinal;
    const auto round =
      rounds_.round_for({of(item::ticket_type, ordinal), of(item::ticket_type_exists, ordinal)});
    insert(round, postgres_write::insert_ticket_type, c.row);
  }

  void operator()(const ticket_type_changed& c) {
    update(rounds_.round_for({of(item::ticket_type, c.row.ordinal)}), postgres_write::update_ticket_type,
           c.row);
  }

  void operator()(const stock_moved& c) {
    rounds_.sum_of(rounds_.stock_, of(item::ticket_type, c.ticket_type), c.ticket_type).add(c);
  }

  void operator()(const entry_joined& c) {
    const auto& e = c.row;
    const auto round = rounds_.round_for({of(item::entry, value_of(e.number))});
    if (!is_plain_join(e)) return insert(round, postgres_write::join_as_is, e);
    auto& joins = rounds_.rows(round, postgres_write::join);
    joins.next_row();
    each_place<entry_row>(place(), [&](const char*, const auto& value) { joins.push(value); });
    each_cell(e, is_inserted_plain, [&](const auto& cell) { joins.push(cell); });
  }

  void operator()(const entry_moved& c) {
    const auto& e = c.row;
    update(rounds_.round_for({of(item::entry, value_of(e.number))}), postgres_write::update_entry, e, c.from);
    move(subject{e.number}, c.from, e.status);
  }

  void operator()(const claim_opened& c) {
    const auto& r = c.row;
    std::vector<thing_key> types;
    for (const auto& i : r.items) types.push_back(of(item::ticket_type_exists, i.ticket_type));
    const auto round = rounds_.round_for(
      {of(item::claim, r.id), of(item::claim_exists, r.id), of(item::person, r.customer)}, types);
    insert(round, postgres_write::insert_claim, r);
    for (std::size_t i = 0; i < r.items.size(); ++i)
      add_inserted(rounds_.rows(round, postgres_write::insert_claim_item), r.items[i],
                   {batch_.aggregate, tenant_, 0, static_cast<std::int64_t>(i), r.id});
    begin({history_kind::claim, r.id}, r.status);
  }

  void operator()(const claim_moved& c) {
    const auto& r = c.row;
    const auto round = rounds_.round_for({of(item::claim, r.id), of(item::person, r.customer)});
    update(round, postgres_write::update_claim, r, c.from);
    for (std::size_t i = 0; i < r.items.size(); ++i)
      row(round, postgres_write::update_claim_item, batch_.aggregate, r.id, i, r.items[i].refunded);
    move({history_kind::claim, r.id}, c.from, r.status);
  }

  void operator()(const payment_opened& c) {
    const auto& r = c.row;
    insert(round_of(r), postgres_write::insert_payment, r);
    begin({history_kind::payment, r.id}, r.status);
  }

  void operator()(const payment_moved& c) {
    const auto& r = c.row;
    update(round_of(r), postgres_write::update_payment, r, c.from);
    move({history_kind::payment, r.id}, c.from, r.status);
  }

  void operator()(const refund_opened& c) {
    const auto& r = c.row;
    insert(rounds_.round_for({of(item::refund, r.id)}, std::array{of(item::payment, r.payment)}),
           postgres_write::insert_refund, r);
    begin({history_kind::refund, r.id}, r.status);
  }

  void operator()(const refund_moved& c) {
    const auto& r = c.row;
    update(rounds_.round_for({of(item::refund, r.id)}), postgres_write::update_refund, r, c.from);
    move({history_kind::refund, r.id}, c.from, r.status);
  }

  void operator()(const promo_code_added& c) {
    insert(round_of(c.row), postgres_write::insert_promo_code, c.row);
  }

  void operator()(const promo_code_changed& c) {
    update(round_of(c.row), postgres_write::update_promo_code, c.row);
  }

  void operator()(const promo_uses_moved& c) {
    rounds_.sum_of(rounds_.promo_uses_, of(item::promo_code, c.promo_code), c.promo_code).add(c);
  }

  void operator()(const order_placed& c) {
    const auto& r = c.row;
    insert(round_of(r), postgres_write::insert_order, r);
    begin({history_kind::order, r.id}, r.status);
  }

  void operator()(const order_moved& c) {
    const auto& r = c.row;
    update(round_of(r), postgres_write::update_order, r, c.from);
    move({history_kind::order, r.id}, c.from, r.status);
  }

  void operator()(const event_ticket_issued& c) {
    const auto& r = c.row;
    insert(rounds_.round_for({of(item::event_ticket, r.id)}, std::array{of(item::claim_exists, r.claim)}),
           postgres_write::insert_event_ticket, r);
  }

  void operator()(const event_ticket_moved& c) {
    const auto& r = c.row;
    update(rounds_.round_for({of(item::event_ticket, r.id)}), postgres_write::update_event_ticket, r, c.from);
    move({history_kind::event_ticket, r.id}, c.from, r.status);
  }

  void operator()(const seat_plan_stored& c) {
    insert(rounds_.round_for({of(item::seat_plan, c.row.id)}), postgres_write::store_seat_plan, c.row);
  }

  void operator()(const seat_plan_removed& c) {
    row(rounds_.round_for({of(item::seat_plan, c.id)}), postgres_write::remove_seat_plan, c.tenant, c.id);
  }

  void operator()(const event_plan_set& c) {
    insert(rounds_.round_for({of(item::plan)}), postgres_write::insert_event_plan, c.row);
  }
  void operator()(const seat_rules_set& c) {
    row(rounds_.round_for({of(item::plan)}), postgres_write::set_seat_rules, batch_.aggregate, c.singles,
        c.may_split, c.accessible_for_all);
  }
  void operator()(const event_plan_removed&) {
    row(rounds_.round_for({of(item::plan)}), postgres_write::remove_event_plan, batch_.aggregate);
  }

  void operator()(const seats_taken& c) {
    for (const auto& r : c.rows)
      insert(rounds_.round_for({of(item::seat, r.seat)},
                               std::array{of(item::claim_exists, r.claim), of(item::plan)}),
             postgres_write::insert_claim_seat, r);
  }

  void operator()(const seats_ended& c) {
    for (const auto seat : c.seats)
      row(rounds_.round_for({of(item::seat, seat)}), postgres_write::end_claim_seat, batch_.aggregate,
          c.claim, seat);
  }

  void operator()(const seats_set& c) {
    for (const auto& r : c.rows)
      insert(rounds_.round_for({of(item::seat_setting, r.seat)}, std::array{of(item::plan)}),
             postgres_write::store_seat_setting, r);
  }

  void operator()(const transfer_offered& c) {
    const auto& r = c.row;
    insert(rounds_.round_for({of(item::transfer, r.id), of(item::offered_ticket, r.ticket)},
                             std::array{of(item::event_ticket, r.ticket)}),
           postgres_write::insert_transfer, r);
  }

  void operator()(const transfer_moved& c) {
    const auto& r = c.row;
    update(rounds_.round_for({of(item::transfer, r.id), of(item::offered_ticket, r.ticket)}),
           postgres_write::update_transfer, r, c.from);
  }

  void operator()(const checkin_list_stored& c) {
    insert(rounds_.round_for({of(item::checkin_list, c.row.id)}), postgres_write::store_checkin_list, c.row);
  }

  void operator()(const checkin_device_stored& c) {
    insert(rounds_.round_for({of(item::checkin_device, c.row.id)}), postgres_write::store_checkin_device,
           c.row);
  }

  void operator()(const scan_recorded& c) {
    insert(rounds_.round_for({of(item::scan, c.row.id)}), postgres_write::insert_scan, c.row);
  }

  void operator()(const statistics_stored& c) {
    const auto minute = of(item::statistics, static_cast<std::uint64_t>(unix_ms(c.row.at)));
    insert(rounds_.round_for({minute}), postgres_write::insert_statistics, c.row);
  }

  /// After a log that would take it too: a round inserts before it removes.
  void operator()(const log_noted& c) {
    const auto round = takes_own_ ? rounds_.round_for({}, std::array{of(item::log)}) : first_round;
    append(postgres_write::insert_log_batch, c.row, log_rows_, round);
  }
  void operator()(const log_kept& c) {
    const auto round = rounds_.round_for({of(item::log)});
    takes_own_ = takes_own_ || c.state.taken_seq >= batch_.to_seq;
    insert(round, postgres_write::store_log_state, c.state);
    for (const auto& t : c.tiles) insert(round, postgres_write::store_log_tile, t);
    row(round, postgres_write::remove_log_batches, batch_.aggregate, c.state.taken_seq,
        c.state.taken_ordinal);
  }

  void operator()(const dead_letter_stored& c) {
    insert(rounds_.round_for({of(item::dead_letter, c.row.id)}), postgres_write::store_dead_letter, c.row);
  }

  void operator()(const priority_stored& c) {
    insert(rounds_.round_for({of(item::priority, c.row.customer)}), postgres_write::store_priority, c.row);
  }

  void operator()(const priority_removed& c) {
    row(rounds_.round_for({of(item::priority, c.customer)}), postgres_write::remove_priority,
        batch_.aggregate, c.customer);
  }

  void operator()(const invitation_stored& c) {
    const auto& r = c.row;
    const auto round = rounds_.round_for({of(item::invitation, r.customer)},
                                         std::array{of(item::ticket_type_exists, r.ticket_type)});
    insert(round, postgres_write::store_invitation, r);
  }

  void operator()(const access_given& c) {
    insert(rounds_.round_for({of(item::access, uuid{value_of(c.row.number), c.row.promo_code})}),
           postgres_write::insert_access, c.row);
  }

  /// Names with the same hash need two rounds, as in otp_of.
  void operator()(const lock_taken& c) {
    insert(rounds_.round_for({of(item::lock, std::hash<std::string>{}(c.row.name))}),
           postgres_write::insert_lock, c.row);
  }

  void operator()(const lock_freed& c) {
    row(rounds_.round_for({of(item::lock, std::hash<std::string>{}(c.name))}), postgres_write::remove_lock,
        batch_.aggregate, c.name);
  }

  void operator()(const lobby_stored& c) {
    insert(rounds_.round_for({of(item::lobby)}), postgres_write::store_lobby, c.row);
  }

  /// Keyed by customer only: blocks of one customer by two organizers need two rounds.
  void operator()(const block_stored& c) {
    insert(rounds_.round_for({of(item::block, c.row.customer)}), postgres_write::store_block, c.row);
  }

  void operator()(const block_removed& c) {
    row(rounds_.round_for({of(item::block, c.customer)}), postgres_write::remove_block, c.tenant, c.organizer,
        c.customer);
  }

  /// Names with the same hash need two rounds, as in otp_of.
  void operator()(const setting_stored& c) {
    insert(rounds_.round_for({of(item::setting, std::hash<std::string>{}(c.row.name))}),
           postgres_write::store_setting, c.row);
  }

  void operator()(const idempotency_stored& c) {
    append(postgres_write::insert_idempotency, c.row, ordinal_);
  }

  void operator()(const receipt_stored& c) { append(postgres_write::insert_receipt, c.row, ordinal_); }

  void operator()(const organizer_stored& c) {
    insert(round_of_account(c.row.id), postgres_write::store_organizer, c.row);
  }

  void operator()(const customer_stored& c) {
    insert(round_of_account(c.row.id), postgres_write::store_customer, c.row);
  }

  void operator()(const tenant_stored& c) {
    insert(round_of_account({0, static_cast<std::uint64_t>(c.row.id)}), postgres_write::store_tenant, c.row);
  }

  void operator()(const api_key_stored& c) {
    const auto& r = c.row;
    const uuid tenant{0, static_cast<std::uint64_t>(r.tenant)};
    insert(rounds_.round_for({of(item::api_key, r.id)}, std::array{of(item::account, tenant)}),
           postgres_write::store_api_key, r);
  }

  void operator()(const audit_recorded& c) { append(postgres_write::insert_audit, c.row, ordinal_); }

  void operator()(const otp_stored& c) {
    insert(rounds_.round_for({otp_of(c.row.handle_hash)}), postgres_write::store_otp, c.row);
  }

  void operator()(const otp_removed& c) {
    row(rounds_.round_for({otp_of(c.handle_hash)}), postgres_write::remove_otp, batch_.aggregate,
        c.handle_hash);
  }

  /// After all earlier changes of accounts, because a round removes before it stores.
  void operator()(const organizer_removed& c) {
    ++account_round_;
    row(round_of_account(c.id), postgres_write::remove_organizer, batch_.aggregate, c.id);
  }

  void operator()(const organizer_session_stored& c) {
    insert(rounds_.round_for({of(item::organizer_session, c.row.id)}),
           postgres_write::store_organizer_session, c.row);
  }

  void operator()(const organizer_session_removed& c) {
    row(rounds_.round_for({of(item::organizer_session, c.id)}), postgres_write::remove_organizer_session,
        batch_.aggregate, c.id);
  }

  void operator()(const outbox_appended& c) { append(postgres_write::insert_outbox, c.row, outbox_rows_); }

  void operator()(const entries_forgotten&) {} // move_aggregate writes it

  void operator()(const cache_generation_raised& c) {
    row(rounds_.round_for({of(item::generation)}), postgres_write::raise_generation, batch_.aggregate, c.from,
        c.from + 1);
  }

private:
  static constexpr std::size_t first_round = 0;

  [[nodiscard]] thing_key of(item kind, std::uint64_t number = 0) const {
    return {batch_.aggregate, kind, number, 0};
  }
  [[nodiscard]] thing_key of(item kind, const uuid& id) const {
    return {batch_.aggregate, kind, id.hi, id.lo};
  }
  /// Handles with the same hash count as one, which costs a round.
  [[nodiscard]] thing_key otp_of(const std::string& handle_hash) const {
    return of(item::otp, std::hash<std::string>{}(handle_hash));
  }

  std::size_t round_of(const payment_row& r) {
    return rounds_.round_for(
      {of(item::payment, r.id), of(item::attempts, r.claim), of(item::person, r.customer)},
      std::array{of(item::claim, r.claim)});
  }

  /// One code may take a word, and one order a claim, that another has just released: their order is kept.
  std::size_t round_of(const promo_code_row& r) {
    return rounds_.round_for({of(item::promo_code, r.ordinal), of(item::promo_word)});
  }
  std::size_t round_of(const order_row& r) {
    return rounds_.round_for({of(item::order, r.id), of(item::person, r.customer)},
                             std::array{of(item::claim, r.claim)});
  }

  /// One account may take an address that another has just released: their order is kept. Within a
  /// statement, INSERT processes its rows in order.
  std::size_t round_of_account(const uuid& id) {
    return account_round_ = rounds_.round_for({of(item::account, id)}, {}, account_round_);
  }

  template <class... Values>
  void row(std::size_t round, postgres_write what, const Values&... values) {
    rounds_.rows(round, what).add(values...);
  }

  [[nodiscard]] row_place place() const { return {batch_.aggregate, tenant_}; }

  /// A row for an INSERT, which may replace a row with the same key.
  template <class Row>
  void insert(std::size_t round, postgres_write what, const Row& row) {
    add_inserted(rounds_.rows(round, what), row, place());
  }
  template <class Row, class... Status>
  void update(std::size_t round, postgres_write what, const Row& row, Status... from) {
    add_updated(rounds_.rows(round, what), row, batch_.aggregate, from...);
  }
  /// A row at the next position of the batch.
  template <class Row>
  void append(postgres_write what, const Row& row, std::int64_t& position, std::size_t round = first_round) {
    add_inserted(rounds_.rows(round, what), row, {batch_.aggregate, tenant_, batch_.to_seq, position++});
  }

  /// Subject of a history row: an entry by its number, everything else by its id.
  struct subject {
    subject(history_kind k, const uuid& i) : kind(k), id(i) {}
    explicit subject(queue_number n) : kind(history_kind::entry), number(n) {}
    history_kind kind;
    std::optional<uuid> id;
    std::optional<queue_number> number;
  };

  template <class Status>
  void write_history(const row_place& p, const subject& what, const std::optional<Status>& from, Status to) {
    row(first_round, postgres_write::insert_history, p.aggregate, p.seq, p.ordinal, p.tenant, what.kind,
        what.id, what.number, from, to, batch_.at);
  }

  template <class Status>
  void tell(const subject& what, const std::optional<Status>& from, Status to) {
    write_history({batch_.aggregate, tenant_, batch_.to_seq, ordinal_++}, what, from, to);
  }
  template <class Status>
  void begin(const subject& what, Status to) {
    tell(what, std::optional<Status>{}, to);
  }
  template <class Status>
  void move(const subject& what, Status from, Status to) {
    if (from != to) tell(what, std::optional{from}, to);
  }

  postgres_rounds& rounds_;
  const batch& batch_;
  tenant_id tenant_;
  std::int64_t ordinal_ = 0; ///< next position in the batch, over all appended tables but the outbox
  std::int64_t outbox_rows_ = 0, log_rows_ = 0; ///< of this batch so far
  std::size_t account_round_ = 0; ///< of the last account
  bool takes_own_ = false; ///< a log has taken rows up to this batch
};

void postgres_rounds::add(const batch& b, tenant_id tenant) {
  reader visit(*this, b, tenant);
  const auto line = totals_gained(b);
  rows(0, postgres_write::move_aggregate)
    .add(b.aggregate, b.epoch, b.from_seq, b.to_seq, b.at, live_entries_gained(b), line.last_number,
         line.first_kept, line.admitted, line.completed, line.last_batch);
  for (const auto& c : b.content) std::visit(visit, c);
}

// -- rounds

std::size_t postgres_rounds::round_for(std::initializer_list<thing_key> changed,
                                       std::span<const thing_key> read, std::size_t at_least) {
  auto round = static_cast<int>(order_ == postgres_order::one_by_one ? rounds_.size() : at_least);
  for (const auto& k : changed) round = std::max({round, things_[k].changed + 1, things_[k].read + 1});
  for (const auto& k : read) round = std::max(round, things_[k].changed + 1);
  for (const auto& k : changed) things_[k].changed = round;
  for (const auto& k : read) things_[k].read = std::max(things_[k].read, round);
  if (rounds_.size() <= static_cast<std::size_t>(round)) rounds_.resize(static_cast<std::size_t>(round) + 1);
  return static_cast<std::size_t>(round);
}

} // namespace fq
