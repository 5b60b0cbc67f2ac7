// SPDX-License-Identifier: Apache-2.0
// Every kind of change in its simplest form: check, change the row, record the undo. If a check fails, the
// batch's undo list runs backwards. The SQL engines are tested against this file.
#pragma once
#include "store/memory/memory_checks.hpp"
#include "store/memory/memory_ledger.hpp"
#include "store/memory/memory_tables.hpp"
#include "store/port/history.hpp"

#include <limits>
#include <tuple>

namespace fq {

/// Applies the changes of one batch; every operator() returns whether the change was possible.
class memory_ledger::applier {
public:
  applier(durable& state, aggregate_state& own, const batch& b) : state_(state), own_(own), batch_(b) {}

  bool apply_content() {
    for (const auto& c : batch_.content)
      if (!std::visit(*this, c)) {
        for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
        return false;
      }
    return true;
  }

  bool operator()(const event_created& c) {
    const auto number = c.event.aggregate;
    if (number < first_event_aggregate || state_.aggregates.contains(number)) return false;
    if (!tenant_exists(c.event.tenant) || !external_id_is_free(c.event) || !is_sound(c.event)) return false;
    aggregate_state fresh;
    fresh.head.committed_at = batch_.at;
    fresh.tenant = c.event.tenant;
    fresh.image.event = c.event;
    for (const auto& t : c.ticket_types) {
      auto& stored = fresh.image.ticket_types;
      if (!is_sound(t) || t.held != 0 || t.sold != 0 || find_row(stored, t.ordinal)) return false;
      put_row(stored, t);
    }
    const std::string status{name_of(c.event.status)};
    fresh.history.push_back({0, name_of(history_kind::event), to_string(c.event.id), "", status, batch_.at});
    state_.aggregates.emplace(number, std::move(fresh));
    undo([this, number] { state_.aggregates.erase(number); });
    return true;
  }

  bool operator()(const event_changed& c) {
    auto& stored = own_.image.event;
    if (!stored || stored->status != c.from) return false;
    if (!is_sound(c.event) || stored->id != c.event.id || c.event.aggregate != batch_.aggregate
        || !external_id_is_free(c.event))
      return false;
    undo([&stored, before = *stored] { stored = before; });
    stored = c.event;
    tell(history_kind::event, to_string(c.event.id), c.from, c.event.status);
    return true;
  }

  bool operator()(const ticket_type_added& c) {
    if (!own_.image.event || c.row.held != 0 || c.row.sold != 0) return false;
    return insert(own_.image.ticket_types, c.row);
  }

  bool operator()(const ticket_type_changed& c) {
    const auto* stored = find_row(own_.image.ticket_types, c.row.ordinal);
    if (!stored) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    return replace(own_.image.ticket_types, next);
  }

  bool operator()(const stock_moved& c) {
    const auto* stored = find_row(own_.image.ticket_types, c.ticket_type);
    if (!stored) return false;
    auto next = *stored;
    if (!add(next.held, c.held_delta) || !add(next.sold, c.sold_delta)) return false;
    return replace(own_.image.ticket_types, next);
  }

  bool operator()(const entry_joined& c) { return insert(own_.image.entries, c.row); }

  bool operator()(const entry_moved& c) {
    const auto* stored = find_row(own_.image.entries, c.row.number);
    if (!stored || stored->status != c.from) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    if (!replace(own_.image.entries, next)) return false;
    tell(history_kind::entry, std::to_string(value_of(next.number)), c.from, next.status);
    return true;
  }

  bool operator()(const entries_forgotten&) { return true; } // of the totals, which apply() adds

  bool operator()(const claim_opened& c) {
    for (const auto& item : c.row.items)
      if (!find_row(own_.image.ticket_types, item.ticket_type)) return false;
    if (!slot_is_free(own_.image.claims, c.row) || !insert(own_.image.claims, c.row)) return false;
    begin(history_kind::claim, c.row.id, c.row.status);
    return true;
  }

  bool operator()(const claim_moved& c) {
    const auto* stored = find_row(own_.image.claims, c.row.id);
    if (!stored || stored->status != c.from || stored->items.size() != c.row.items.size()) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    for (std::size_t i = 0; i < next.items.size(); ++i) next.items[i].refunded = c.row.items[i].refunded;
    if (!slot_is_free(own_.image.claims, next) || !replace(own_.image.claims, next)) return false;
    tell(history_kind::claim, to_string(next.id), c.from, next.status);
    return true;
  }

  bool operator()(const payment_opened& c) {
    if (state_.payment_references.contains(c.row.reference)) return false;
    if (!find_row(own_.image.claims, c.row.claim)) return false;
    if (!attempt_is_alone(own_.image.payments, c.row) || !insert(own_.image.payments, c.row)) return false;
    state_.payment_references.insert(c.row.reference);
    undo([this, reference = c.row.reference] { state_.payment_references.erase(reference); });
    begin(history_kind::payment, c.row.id, c.row.status);
    return true;
  }

  bool operator()(const payment_moved& c) {
    const auto* stored = find_row(own_.image.payments, c.row.id);
    if (!stored || stored->status != c.from || !find_row(own_.image.claims, c.row.claim)) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    if (!attempt_is_alone(own_.image.payments, next) || !replace(own_.image.payments, next)) return false;
    tell(history_kind::payment, to_string(next.id), c.from, next.status);
    return true;
  }

  bool operator()(const refund_opened& c) {
    if (!find_row(own_.image.payments, c.row.payment) || !insert(own_.image.refunds, c.row)) return false;
    begin(history_kind::refund, c.row.id, c.row.status);
    return true;
  }

  bool operator()(const refund_moved& c) {
    const auto* stored = find_row(own_.image.refunds, c.row.id);
    if (!stored || stored->status != c.from) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    if (!replace(own_.image.refunds, next)) return false;
    tell(history_kind::refund, to_string(next.id), c.from, next.status);
    return true;
  }

  bool operator()(const promo_code_added& c) {
    auto& codes = own_.image.promo_codes;
    return own_.image.event && c.row.uses == 0 && is_alone(codes, c.row) && insert(codes, c.row);
  }

  bool operator()(const promo_code_changed& c) {
    auto& codes = own_.image.promo_codes;
    const auto* stored = find_row(codes, c.row.ordinal);
    if (!stored || !is_alone(codes, c.row)) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    return replace(codes, next);
  }

  bool operator()(const promo_uses_moved& c) {
    const auto* stored = find_row(own_.image.promo_codes, c.promo_code);
    if (!stored) return false;
    auto uses = static_cast<std::int64_t>(stored->uses);
    if (!add(uses, c.delta) || uses < 0 || uses > std::numeric_limits<std::uint32_t>::max()) return false;
    auto next = *stored;
    next.uses = static_cast<std::uint32_t>(uses);
    return replace(own_.image.promo_codes, next);
  }

  bool operator()(const order_placed& c) {
    if (!find_row(own_.image.claims, c.row.claim) || !is_alone(own_.image.orders, c.row)
        || !insert(own_.image.orders, c.row))
      return false;
    begin(history_kind::order, c.row.id, c.row.status);
    return true;
  }

  bool operator()(const order_moved& c) {
    const auto* stored = find_row(own_.image.orders, c.row.id);
    if (!stored || stored->status != c.from || !find_row(own_.image.claims, c.row.claim)) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    if (!is_alone(own_.image.orders, next) || !replace(own_.image.orders, next)) return false;
    tell(history_kind::order, to_string(next.id), c.from, next.status);
    return true;
  }

  bool operator()(const event_ticket_issued& c) {
    return find_row(own_.image.claims, c.row.claim) && insert(own_.image.event_tickets, c.row);
  }

  bool operator()(const event_ticket_moved& c) {
    const auto* stored = find_row(own_.image.event_tickets, c.row.id);
    if (!stored || stored->status != c.from) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    if (!replace(own_.image.event_tickets, next)) return false;
    tell(history_kind::event_ticket, to_string(next.id), c.from, next.status);
    return true;
  }

  bool operator()(const seat_plan_stored& c) {
    return tenant_exists(c.row.tenant) && insert_or_replace(state_.seat_plans, c.row);
  }

  bool operator()(const seat_plan_removed& c) {
    const auto* stored = find_row(state_.seat_plans, c.id);
    return !stored || stored->tenant != c.tenant || remove(state_.seat_plans, c.id);
  }

  bool operator()(const event_plan_set& c) {
    return !own_.image.plan && is_sound(c.row) && set(own_.image.plan, c.row);
  }
  bool operator()(const seat_rules_set& c) {
    return own_.image.plan && is_sound(c) && set(own_.image.plan, c.applied_to(*own_.image.plan));
  }

  bool operator()(const lobby_stored& c) { return is_sound(c.row) && set(own_.image.lobby, c.row); }

  bool operator()(const event_plan_removed&) {
    auto& image = own_.image;
    if (!image.claim_seats.empty()) return false;
    undo([&image, plan = image.plan, settings = image.seat_settings] {
      image.plan = plan;
      image.seat_settings = settings;
    });
    image.plan.reset();
    image.seat_settings.clear();
    return true;
  }

  bool operator()(const seats_taken& c) {
    auto& rows = own_.image.claim_seats;
    return c.rows.empty() || (own_.image.plan && std::ranges::all_of(c.rows, [&](const claim_seat_row& r) {
                                return find_row(own_.image.claims, r.claim)
                                       && !(r.is_live && is_taken(r.seat)) && insert(rows, r);
                              }));
  }

  bool operator()(const seats_ended& c) {
    auto& rows = own_.image.claim_seats;
    return std::ranges::all_of(c.seats, [&](std::uint32_t seat) {
      const auto* stored = find_row(rows, std::pair{c.claim, seat});
      if (!stored || !stored->is_live) return false;
      auto next = *stored;
      next.is_live = false;
      return replace(rows, next);
    });
  }

  bool operator()(const seats_set& c) {
    return c.rows.empty() || (own_.image.plan && std::ranges::all_of(c.rows, [&](const seat_setting_row& r) {
                                return insert_or_replace(own_.image.seat_settings, r);
                              }));
  }

  bool operator()(const transfer_offered& c) {
    return find_row(own_.image.event_tickets, c.row.ticket) && is_alone(own_.image.transfers, c.row)
           && insert(own_.image.transfers, c.row);
  }

  bool operator()(const transfer_moved& c) {
    const auto* stored = find_row(own_.image.transfers, c.row.id);
    if (!stored || stored->status != c.from) return false;
    auto next = *stored;
    copy_updated(next, c.row);
    return is_alone(own_.image.transfers, next) && replace(own_.image.transfers, next);
  }

  bool operator()(const checkin_list_stored& c) {
    return own_.image.event && is_sound(c.row) && insert_or_replace(own_.image.checkin_lists, c.row);
  }

  bool operator()(const checkin_device_stored& c) {
    return own_.image.event && is_sound(c.row) && insert_or_replace(own_.image.checkin_devices, c.row);
  }

  bool operator()(const scan_recorded& c) { return own_.image.event && insert(own_.image.scans, c.row); }

  bool operator()(const dead_letter_stored& c) {
    auto next = c.row;
    if (const auto* stored = find_row(own_.dead_letters, c.row.id)) {
      next = *stored;
      copy_updated(next, c.row);
    }
    auto& open = own_.image.dead_letters;
    undo([&open, before = open] { open = before; });
    if (next.status == dead_letter_status::open)
      put_row(open, next);
    else
      erase_row(open, next.id);
    return insert_or_replace(own_.dead_letters, next);
  }

  bool operator()(const priority_stored& c) {
    return own_.image.event && insert_or_replace(own_.image.priorities, c.row);
  }

  bool operator()(const priority_removed& c) { return remove(own_.image.priorities, c.customer); }

  bool operator()(const invitation_stored& c) {
    return c.row.quantity > 0 && find_row(own_.image.ticket_types, c.row.ticket_type)
           && insert_or_replace(own_.image.invitations, c.row);
  }

  bool operator()(const access_given& c) { return insert(own_.image.access, c.row); }

  bool operator()(const lock_taken& c) { return insert(own_.image.locks, c.row); }
  bool operator()(const lock_freed& c) { return remove(own_.image.locks, c.name); }

  bool operator()(const block_stored& c) { return insert_or_replace(blocks(), c.row); }

  bool operator()(const block_removed& c) {
    return remove(blocks(), std::tuple{c.tenant, c.organizer, c.customer});
  }

  bool operator()(const setting_stored& c) {
    return !c.row.name.empty()
           && insert_or_replace(state_.aggregates.at(accounts_aggregate).image.settings, c.row);
  }

  /// Append-only. The owner's index ensures that a key is used once; it forgets a key before the row is
  /// deleted.
  bool operator()(const idempotency_stored& c) {
    own_.image.idempotency.push_back(c.row);
    undo([this] { own_.image.idempotency.pop_back(); });
    return true;
  }

  bool operator()(const receipt_stored& c) {
    const std::pair key{c.row.gateway, c.row.gateway_event};
    if (!state_.receipts.insert(key).second) return false;
    own_.image.receipts.push_back(c.row);
    undo([this, key] {
      own_.image.receipts.pop_back();
      state_.receipts.erase(key);
    });
    return true;
  }

  bool operator()(const organizer_stored& c) {
    return email_is_free(own_.image.organizers, c.row) && insert_or_replace(own_.image.organizers, c.row);
  }

  bool operator()(const customer_stored& c) {
    return email_is_free(own_.image.customers, c.row) && insert_or_replace(own_.image.customers, c.row);
  }

  bool operator()(const otp_stored& c) { return insert_or_replace(own_.image.otps, c.row); }

  bool operator()(const otp_removed& c) { return remove(own_.image.otps, c.handle_hash); }

  bool operator()(const organizer_removed& c) { return remove(own_.image.organizers, c.id); }

  bool operator()(const organizer_session_stored& c) {
    return insert_or_replace(own_.image.organizer_sessions, c.row);
  }

  bool operator()(const organizer_session_removed& c) { return remove(own_.image.organizer_sessions, c.id); }

  bool operator()(const tenant_stored& c) {
    auto& tenants = state_.aggregates.at(accounts_aggregate).image.tenants;
    const bool is_free = std::ranges::none_of(
      tenants, [&](const tenant_row& t) { return t.id != c.row.id && t.name == c.row.name; });
    return is_free && insert_or_replace(tenants, c.row);
  }

  bool operator()(const api_key_stored& c) {
    return tenant_exists(c.row.tenant)
           && insert_or_replace(state_.aggregates.at(accounts_aggregate).image.api_keys, c.row);
  }

  bool operator()(const audit_recorded& c) {
    own_.audit.push_back(c.row);
    undo([this] { own_.audit.pop_back(); });
    return true;
  }

  bool operator()(const statistics_stored& c) {
    return insert(own_.statistics, c.row) && set(own_.image.statistics, own_.statistics.back());
  }

  bool operator()(const log_noted& c); // memory_logs.cpp
  bool operator()(const log_kept& c); // the same

  bool operator()(const outbox_appended& c) {
    own_.outbox.push_back({batch_.to_seq, outbox_rows_++, c.row, never});
    undo([this] { own_.outbox.pop_back(); });
    return true;
  }

  bool operator()(const cache_generation_raised& c) {
    auto& generation = own_.head.cache_generation;
    if (generation != c.from) return false;
    ++generation;
    undo([&generation] { --generation; });
    return true;
  }

private:
  [[nodiscard]] bool tenant_exists(tenant_id tenant) const {
    return find_row(state_.aggregates.at(accounts_aggregate).image.tenants, tenant) != nullptr;
  }
  [[nodiscard]] bool external_id_is_free(const event_row& row) const {
    return row.external_id.empty() || std::ranges::none_of(state_.aggregates, [&](const auto& other) {
             const auto& e = other.second.image.event;
             return e && e->aggregate != row.aggregate && e->tenant == row.tenant
                    && e->external_id == row.external_id;
           });
  }

  [[nodiscard]] bool is_taken(std::uint32_t seat) const {
    return std::ranges::any_of(own_.image.claim_seats,
                               [&](const claim_seat_row& r) { return r.seat == seat && r.is_live; });
  }

  static bool add(std::int64_t& value, std::int64_t delta) {
    return !__builtin_add_overflow(value, delta, &value);
  }

  template <class F>
  void undo(F f) {
    undo_.emplace_back(std::move(f));
  }

  template <class Row>
  bool insert(std::vector<Row>& rows, const Row& row) {
    if (!is_sound(row) || find_row(rows, key_of(row))) return false;
    put_row(rows, row);
    undo([&rows, key = key_of(row)] { erase_row(rows, key); });
    return true;
  }

  template <class Row>
  bool replace(std::vector<Row>& rows, const Row& row) {
    if (!is_sound(row)) return false;
    undo([&rows, before = *find_row(rows, key_of(row))] { put_row(rows, before); });
    put_row(rows, row);
    return true;
  }

  template <class Row>
  bool insert_or_replace(std::vector<Row>& rows, const Row& row) {
    if (const auto* stored = find_row(rows, key_of(row)))
      undo([&rows, before = *stored] { put_row(rows, before); });
    else
      undo([&rows, key = key_of(row)] { erase_row(rows, key); });
    put_row(rows, row);
    return true;
  }

  std::vector<block_row>& blocks() { return state_.aggregates.at(accounts_aggregate).image.blocks; }

  /// Ignores an absent row.
  template <class Row, class Key>
  bool remove(std::vector<Row>& rows, const Key& key) {
    if (const auto* stored = find_row(rows, key)) {
      undo([&rows, before = *stored] { put_row(rows, before); });
      erase_row(rows, key);
    }
    return true;
  }

  void write(history_row row) {
    own_.history.push_back(std::move(row));
    undo([this] { own_.history.pop_back(); });
  }

  template <class Row>
  bool set(std::optional<Row>& field, const Row& row) {
    undo([&field, before = field] { field = before; });
    field = row;
    return true;
  }

  template <class Status>
  void begin(history_kind kind, const uuid& id, Status to) {
    write({batch_.to_seq, name_of(kind), to_string(id), "", std::string{name_of(to)}, batch_.at});
  }

  template <class Status>
  void tell(history_kind kind, std::string key, Status from, Status to) {
    if (from != to)
      write({batch_.to_seq, name_of(kind), std::move(key), std::string{name_of(from)},
             std::string{name_of(to)}, batch_.at});
  }

  durable& state_;
  aggregate_state& own_;
  const batch& batch_;
  std::uint32_t outbox_rows_ = 0, log_rows_ = 0; ///< of this batch so far
  std::vector<std::function<void()>> undo_;
};

} // namespace fq
