// SPDX-License-Identifier: Apache-2.0
// Every kind of change in its simplest form: check, change the row, record the undo. If a check fails, the
// batch's undo list runs backwards. The SQL engines are tested against this file.
#include "store/memory/memory_ledger.hpp"

#include "store/port/history.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace fq {
namespace {

// -- sorted vectors as tables

std::uint32_t key_of(const ticket_type_row& r) { return r.ordinal; }
queue_number key_of(const entry_row& r) { return r.number; }
const uuid& key_of(const claim_row& r) { return r.id; }
const uuid& key_of(const payment_row& r) { return r.id; }
const uuid& key_of(const refund_row& r) { return r.id; }
std::uint32_t key_of(const promo_code_row& r) { return r.ordinal; }
const uuid& key_of(const order_row& r) { return r.id; }
const uuid& key_of(const dead_letter_row& r) { return r.id; }
const uuid& key_of(const priority_row& r) { return r.customer; }
const uuid& key_of(const invitation_row& r) { return r.customer; }
std::tuple<tenant_id, organizer_id, customer_id> key_of(const block_row& r) {
  return {r.tenant, r.organizer, r.customer};
}
const std::string& key_of(const setting_row& r) { return r.name; }
const uuid& key_of(const organizer_row& r) { return r.id; }
const uuid& key_of(const customer_row& r) { return r.id; }
const std::string& key_of(const otp_row& r) { return r.email; }
tenant_id key_of(const tenant_row& r) { return r.id; }
const uuid& key_of(const api_key_row& r) { return r.id; }

template <class Rows, class Key>
auto lower_bound_of(Rows& rows, const Key& key) {
  return std::lower_bound(rows.begin(), rows.end(), key,
                          [](const auto& row, const Key& k) { return key_of(row) < k; });
}

template <class Rows, class Key>
auto* find_row(Rows& rows, const Key& key) {
  auto i = lower_bound_of(rows, key);
  return i != rows.end() && key_of(*i) == key ? &*i : nullptr;
}

template <class Row, class Key>
void erase_row(std::vector<Row>& rows, const Key& key) {
  auto i = lower_bound_of(rows, key);
  if (i != rows.end() && key_of(*i) == key) rows.erase(i);
}

/// Inserts, or overwrites the row of the same key.
template <class Row>
void put_row(std::vector<Row>& rows, const Row& row) {
  auto i = lower_bound_of(rows, key_of(row));
  if (i != rows.end() && key_of(*i) == key_of(row))
    *i = row;
  else
    rows.insert(i, row);
}

// -- the CHECKs of the schema

bool is_sound(const event_row& r) { return r.async_percent >= async_inherited && r.async_percent <= 100; }

bool is_sound(const ticket_type_row& r) {
  return r.price >= 0 && r.total >= 0 && r.total <= ticket_total_max && r.held >= 0 && r.sold >= 0
         && r.held <= r.total && r.sold <= r.total - r.held;
}

bool is_sound(const entry_row& r) {
  return value_of(r.number) >= 1 && value_of(r.number) <= queue_number_max;
}

bool is_sound(const claim_item& i) {
  return i.quantity >= 1 && i.unit_price >= 0 && i.refunded <= i.quantity && i.donation >= 0
         && i.unit_discount >= 0 && i.unit_discount <= i.unit_price;
}

bool is_sound(const claim_row& r) {
  const auto item_is_sound = [](const claim_item& i) { return is_sound(i); };
  return r.amount >= 0 && std::all_of(r.items.begin(), r.items.end(), item_is_sound);
}

bool is_sound(const payment_row& r) {
  return r.amount >= 0 && r.captured >= 0 && r.tax >= 0 && r.tax <= r.captured && r.refunded >= 0
         && r.refunded <= r.captured;
}

bool is_sound(const refund_row& r) {
  return r.amount >= 0 && std::ranges::all_of(r.items, [](const refund_item& i) { return i.quantity >= 1; });
}

bool is_sound(const promo_code_row& r) {
  return !r.code.empty() && r.reduction.value >= 0 && (r.uses_max == 0 || r.uses <= r.uses_max);
}

bool is_sound(const order_row& r) {
  return r.subtotal >= 0 && r.discount >= 0 && r.donations >= 0 && r.platform_fee >= 0
         && r.processing_fee >= 0
         && r.total == r.subtotal - r.discount + r.donations + r.platform_fee + r.processing_fee
         && r.total >= 0;
}

/// No other promo code of the event has the same word; no other order has the same claim.
bool is_alone(const std::vector<promo_code_row>& codes, const promo_code_row& row) {
  return std::ranges::none_of(codes,
                              [&](const auto& c) { return c.ordinal != row.ordinal && c.code == row.code; });
}
bool is_alone(const std::vector<order_row>& orders, const order_row& row) {
  return std::ranges::none_of(orders, [&](const auto& o) { return o.id != row.id && o.claim == row.claim; });
}

bool takes_a_slot(claim_status s) { return is_live(s) || s == claim_status::confirmed; }

/// No other claim of this customer occupies the same live slot.
bool slot_is_free(const std::vector<claim_row>& claims, const claim_row& row) {
  return !takes_a_slot(row.status) || std::none_of(claims.begin(), claims.end(), [&](const claim_row& c) {
    return c.id != row.id && c.customer == row.customer && c.live_slot == row.live_slot
           && takes_a_slot(c.status);
  });
}

/// No other open attempt pays for the same claim.
bool attempt_is_alone(const std::vector<payment_row>& payments, const payment_row& row) {
  return !is_open(row.status) || std::none_of(payments.begin(), payments.end(), [&](const payment_row& p) {
    return p.id != row.id && p.claim == row.claim && is_open(p.status);
  });
}

template <class Row>
bool email_is_free(const std::vector<Row>& rows, const Row& row) {
  return std::none_of(rows.begin(), rows.end(),
                      [&](const Row& r) { return r.id != row.id && r.email == row.email; });
}

bool add(std::int64_t& value, std::int64_t delta) { return !__builtin_add_overflow(value, delta, &value); }

std::set<aggregate_id> touched_by(std::span<const batch> batches) {
  std::set<aggregate_id> result;
  for (const auto& b : batches) {
    result.insert(b.aggregate);
    for (const auto& c : b.content)
      if (const auto* created = std::get_if<event_created>(&c)) result.insert(created->event.aggregate);
  }
  return result;
}

bool overlap(const std::set<aggregate_id>& a, const std::set<aggregate_id>& b) {
  return std::any_of(a.begin(), a.end(), [&](aggregate_id id) { return b.contains(id); });
}

bool is_on_sale(const event_row& event) {
  return event.status == event_status::active || event.status == event_status::paused;
}

/// Whether the aggregate needs a running owner: DESIGN I13. A due payment link needs no condition of its
/// own, because its claim is live.
bool must_run(const aggregate_image& image) {
  if (image.event && is_on_sale(*image.event)) return true;
  const bool cancelled = image.event && image.event->status == event_status::cancelled;
  const auto entry_runs = [](const entry_row& e) { return is_live(e.status); };
  const auto claim_runs = [](const claim_row& c) { return is_live(c.status); };
  const auto payment_runs = [cancelled](const payment_row& p) {
    return is_open(p.status) || p.status == payment_status::confirmed_late
           || p.status == payment_status::refund_pending || (cancelled && is_refundable(p.status));
  };
  const auto refund_runs = [](const refund_row& r) { return r.status == refund_status::requested; };
  return std::any_of(image.entries.begin(), image.entries.end(), entry_runs)
         || std::any_of(image.claims.begin(), image.claims.end(), claim_runs)
         || std::any_of(image.payments.begin(), image.payments.end(), payment_runs)
         || std::any_of(image.refunds.begin(), image.refunds.end(), refund_runs);
}

/// Whether a customer in `blocks` has paid here and was not fully refunded.
bool has_paid(const aggregate_image& image, const std::vector<block_row>& blocks) {
  return std::ranges::any_of(image.payments, [&](const payment_row& p) {
    return (p.status == payment_status::confirmed || p.status == payment_status::partially_refunded)
           && std::ranges::any_of(blocks, [&](const block_row& b) {
                return b.customer == p.customer && b.tenant == image.event->tenant
                       && (b.organizer.is_nil() || b.organizer == image.event->organizer)
                       && (b.includes_ended || image.event->status != event_status::ended);
              });
  });
}

} // namespace

// -- one batch

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
    next.name = c.row.name;
    next.price = c.row.price;
    next.total = c.row.total;
    next.max_per_order = c.row.max_per_order;
    next.on_sale = c.row.on_sale;
    next.hidden = c.row.hidden;
    next.sale_from = c.row.sale_from;
    next.sale_until = c.row.sale_until;
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
    auto next = c.row;
    next.subject = stored->subject;
    next.subject_name = stored->subject_name;
    next.join_key = stored->join_key;
    next.joined_at = stored->joined_at;
    if (!replace(own_.image.entries, next)) return false;
    tell(history_kind::entry, std::to_string(value_of(next.number)), c.from, next.status);
    return true;
  }

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
    next.status = c.row.status;
    next.live_slot = c.row.live_slot;
    next.expires_at = c.row.expires_at;
    next.ended_at = c.row.ended_at;
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
    next.status = c.row.status;
    next.claim = c.row.claim;
    next.authorization_url = c.row.authorization_url;
    next.gateway_id = c.row.gateway_id;
    next.captured = c.row.captured;
    next.tax = c.row.tax;
    next.refunded = c.row.refunded;
    next.updated_at = c.row.updated_at;
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
    next.status = c.row.status;
    next.attempts = c.row.attempts;
    next.next_attempt_at = c.row.next_attempt_at;
    next.updated_at = c.row.updated_at;
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
    auto next = c.row;
    next.id = stored->id;
    next.uses = stored->uses;
    next.created_at = stored->created_at;
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
    next.status = c.row.status;
    next.claim = c.row.claim;
    next.failure = c.row.failure;
    next.payment_link_at = c.row.payment_link_at;
    next.updated_at = c.row.updated_at;
    if (!is_alone(own_.image.orders, next) || !replace(own_.image.orders, next)) return false;
    tell(history_kind::order, to_string(next.id), c.from, next.status);
    return true;
  }

  bool operator()(const dead_letter_stored& c) {
    auto next = c.row;
    if (const auto* stored = find_row(own_.dead_letters, c.row.id)) {
      next = *stored;
      next.status = c.row.status;
      next.updated_at = c.row.updated_at;
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

  bool operator()(const otp_removed& c) { return remove(own_.image.otps, c.email); }

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
  std::uint32_t outbox_rows_ = 0; ///< of this batch so far
  std::vector<std::function<void()>> undo_;
};

// -- the port

memory_ledger::memory_ledger(memory_ledger_options options) : options_(std::move(options)) {
  if (!options_.now)
    options_.now = [] {
      return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
    };
  state_.aggregates[accounts_aggregate].image.tenants = {{default_tenant, "default", {}, {}, never}};
  state_.aggregates[catalog_aggregate];
  if (!options_.sync_each_commit) synced_ = state_;
}

memory_ledger::~memory_ledger() = default;

commit_outcome memory_ledger::apply(const batch& b) {
  const auto found = state_.aggregates.find(b.aggregate);
  if (found == state_.aggregates.end()) return commit_outcome::fenced;
  auto& own = found->second;
  const bool is_owner = b.epoch != 0 && b.epoch == own.head.epoch;
  if (!is_owner && !options_.skip_epoch_guard) return commit_outcome::fenced;
  if (b.to_seq <= b.from_seq) return commit_outcome::out_of_order;
  if (own.head.applied_seq != b.from_seq)
    return own.head.applied_seq >= b.to_seq ? commit_outcome::already_applied : commit_outcome::out_of_order;
  if (!applier(state_, own, b).apply_content()) return commit_outcome::conflict;
  own.head.applied_seq = b.to_seq;
  own.head.committed_at = std::max(own.head.committed_at, b.at);
  if (options_.on_applied) options_.on_applied(b);
  return commit_outcome::committed;
}

std::vector<commit_outcome> memory_ledger::apply_all(std::span<const batch> batches) {
  std::vector<commit_outcome> outcomes;
  outcomes.reserve(batches.size());
  for (const auto& b : batches) outcomes.push_back(apply(b));
  return outcomes;
}

/// Counts one call. Commits in flight are applied when their calls are over, or when the call touches an
/// aggregate that they lock.
void memory_ledger::pass_a_call(const std::set<aggregate_id>& touched) {
  std::vector<undecided> waiting;
  std::vector<undecided> landing;
  for (auto& u : air_) {
    const bool lands = u.calls_left == 0 || (u.holds_locks && overlap(touched_by(u.batches), touched));
    if (!lands) --u.calls_left;
    (lands ? landing : waiting).push_back(std::move(u));
  }
  air_ = std::move(waiting);
  for (const auto& u : landing) apply_all(u.batches);
}

std::vector<commit_outcome> memory_ledger::commit(std::span<const batch> batches) {
  pass_a_call(touched_by(batches));
  const auto fault = options_.faults.on_commit ? options_.faults.on_commit(batches) : commit_fault{};
  switch (fault.what) {
    case commit_fault::kind::none: return apply_all(batches);
    case commit_fault::kind::unavailable: throw ledger_unavailable("memory ledger: told to fail");
    case commit_fault::kind::busy: return std::vector(batches.size(), commit_outcome::busy);
    case commit_fault::kind::unknown_applied: apply_all(batches); break;
    case commit_fault::kind::unknown_lost: break;
    case commit_fault::kind::unknown_late:
    case commit_fault::kind::unknown_delayed:
      air_.push_back(
        {{batches.begin(), batches.end()}, fault.calls, fault.what == commit_fault::kind::unknown_late});
      break;
  }
  throw commit_unknown("memory ledger: told to leave the commit unknown");
}

std::vector<event_listing> memory_ledger::list_events(const event_filter& filter) {
  std::vector<event_listing> result;
  for (auto i = state_.aggregates.upper_bound(filter.after); i != state_.aggregates.end(); ++i) {
    if (result.size() >= filter.limit) break;
    const auto& event = i->second.image.event;
    if (!event) continue;
    const bool is_sale = event->kind == event_kind::sale;
    const bool is_wanted = filter.organizer ? is_sale && event->organizer == *filter.organizer
                           : filter.tenant
                             ? event->tenant == *filter.tenant && event->kind == filter.kind
                                 && (filter.external_id.empty() || event->external_id == filter.external_id)
                             : is_sale && is_on_sale(*event);
    if (is_wanted) result.push_back({*event, i->second.image.ticket_types});
  }
  return result;
}

access_directory memory_ledger::directory() {
  const auto& accounts = state_.aggregates.at(accounts_aggregate).image;
  access_directory all;
  all.tenants = accounts.tenants;
  std::ranges::copy_if(accounts.api_keys, std::back_inserter(all.api_keys),
                       [](const api_key_row& k) { return !is_set(k.revoked_at); });
  for (const auto& o : accounts.organizers) all.organizers.emplace_back(o.id, o.tenant);
  all.settings = accounts.settings;
  return all;
}

std::vector<block_row> memory_ledger::blocks() {
  return state_.aggregates.at(accounts_aggregate).image.blocks;
}

std::vector<audit_row> memory_ledger::audit(const audit_filter& filter) {
  std::vector<audit_row> rows;
  for (const auto& [number, state] : state_.aggregates)
    for (const auto& r : state.audit)
      if (r.tenant == filter.tenant && (filter.target.is_nil() || r.target == filter.target)
          && (filter.before.is_nil() || r.id < filter.before)
          && (filter.actor.empty() || r.actor == filter.actor || r.actor == "system"
              || r.action.starts_with("queue.")))
        rows.push_back(r);
  std::ranges::sort(rows, std::greater{}, &audit_row::id);
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<order_listing> memory_ledger::list_orders(const order_filter& filter) {
  std::vector<order_listing> rows;
  for (const auto& [number, state] : state_.aggregates)
    if (const auto& event = state.image.event)
      for (const auto& o : state.image.orders)
        if (o.customer == filter.customer && (filter.before.is_nil() || o.id < filter.before))
          rows.push_back({event->id, event->name, event->currency, o});
  std::ranges::sort(rows, std::greater{}, [](const order_listing& l) { return l.order.id; });
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<dead_letter_listing> memory_ledger::list_dead_letters(const dead_letter_filter& filter) {
  std::vector<dead_letter_listing> rows;
  for (const auto& [number, state] : state_.aggregates) {
    const auto& event = state.image.event; // the accounts' letters have no event
    if (state.tenant != filter.tenant
        || (filter.organizer && !(event && event->organizer == *filter.organizer)))
      continue;
    for (const auto& l : filter.is_open ? state.image.dead_letters : state.dead_letters)
      if (filter.before.is_nil() || l.id < filter.before) rows.push_back({event ? event->id : event_id{}, l});
  }
  std::ranges::sort(rows, std::greater{}, [](const dead_letter_listing& l) { return l.letter.id; });
  if (rows.size() > filter.limit) rows.resize(filter.limit);
  return rows;
}

std::vector<aggregate_id> memory_ledger::aggregates_to_wake(const std::string& owner) {
  const auto now = options_.now();
  const auto& blocks = state_.aggregates.at(accounts_aggregate).image.blocks;
  std::vector<aggregate_id> result;
  for (const auto& [number, state] : state_.aggregates)
    if ((must_run(state.image) || has_paid(state.image, blocks)) && !state.lease.keeps_out(owner, now))
      result.push_back(number);
  return result;
}

aggregate_id memory_ledger::last_aggregate() {
  const auto least = aggregate_id{number_of(first_event_aggregate) - 1};
  return std::max(least, state_.aggregates.rbegin()->first);
}

std::vector<history_row> memory_ledger::history(aggregate_id aggregate) {
  const auto* state = find(aggregate);
  return state ? state->history : std::vector<history_row>{};
}

aggregate_snapshot memory_ledger::peek(aggregate_id aggregate) {
  const auto* state = find(aggregate);
  if (!state) return {};
  return {state->head, state->image};
}

/// Erases at most `most` rows older than `before`, oldest first, from the vectors that `rows_of` names.
template <class RowsOf, class TimeOf, class Forget>
std::size_t memory_ledger::prune_rows(RowsOf rows_of, TimeOf time_of_row, timestamp before, std::size_t most,
                                      Forget forget) {
  using place = std::tuple<timestamp, aggregate_id, std::size_t>; // ties: by aggregate, then by insertion
  std::vector<place> old;
  for (auto& [number, state] : state_.aggregates)
    for (std::size_t i = 0; i < rows_of(state).size(); ++i)
      if (const auto at = time_of_row(rows_of(state)[i]); at < before) old.emplace_back(at, number, i);
  std::sort(old.begin(), old.end());
  if (old.size() > most) old.resize(most);
  // From the back of each vector, so that the remaining indexes stay valid.
  const auto later_place = [](const place& a, const place& b) { return std::get<2>(a) > std::get<2>(b); };
  std::sort(old.begin(), old.end(), later_place);
  for (const auto& [at, number, i] : old) {
    auto& rows = rows_of(state_.aggregates.at(number));
    forget(rows[i]);
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return old.size();
}

std::size_t memory_ledger::prune(const prune_bounds& bounds) {
  const auto idempotency = prune_rows(
    [](auto& s) -> auto& { return s.image.idempotency; },
    [](const idempotency_row& r) { return r.created_at; }, bounds.idempotency_before, bounds.limit,
    [](const idempotency_row&) {});
  const auto forget_receipt = [this](const receipt_row& r) {
    state_.receipts.erase({r.gateway, r.gateway_event});
  };
  const auto receipts = prune_rows(
    [](auto& s) -> auto& { return s.image.receipts; }, [](const receipt_row& r) { return r.received_at; },
    bounds.receipts_before, bounds.limit - idempotency, forget_receipt);
  // Undelivered rows are never deleted.
  const auto delivered = prune_rows(
    [](auto& s) -> auto& { return s.outbox; },
    [](const stored_outbox_row& r) { return is_set(r.delivered_at) ? r.delivered_at : timestamp::max(); },
    bounds.outbox_delivered_before, bounds.limit - idempotency - receipts, [](const stored_outbox_row&) {});
  const auto left = bounds.limit - idempotency - receipts - delivered;
  return idempotency + receipts + delivered + prune_notices(bounds, left);
}

// -- for tests

const memory_ledger::aggregate_state* memory_ledger::find(aggregate_id aggregate) const {
  const auto found = state_.aggregates.find(aggregate);
  return found == state_.aggregates.end() ? nullptr : &found->second;
}

std::vector<aggregate_id> memory_ledger::aggregates() const {
  std::vector<aggregate_id> result;
  for (const auto& [number, state] : state_.aggregates) result.push_back(number);
  return result;
}

const aggregate_head* memory_ledger::head(aggregate_id aggregate) const {
  const auto* state = find(aggregate);
  return state ? &state->head : nullptr;
}

const aggregate_image* memory_ledger::committed(aggregate_id aggregate) const {
  const auto* state = find(aggregate);
  return state ? &state->image : nullptr;
}

const std::vector<history_row>* memory_ledger::committed_history(aggregate_id aggregate) const {
  const auto* state = find(aggregate);
  return state ? &state->history : nullptr;
}

const ticket_type_row* memory_ledger::find_ticket_type(aggregate_id aggregate, std::uint32_t ordinal) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->ticket_types, ordinal) : nullptr;
}

const entry_row* memory_ledger::find_entry(aggregate_id aggregate, queue_number number) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->entries, number) : nullptr;
}

const claim_row* memory_ledger::find_claim(aggregate_id aggregate, const claim_id& id) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->claims, id) : nullptr;
}

const payment_row* memory_ledger::find_payment(aggregate_id aggregate, const payment_id& id) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->payments, id) : nullptr;
}

const refund_row* memory_ledger::find_refund(aggregate_id aggregate, const refund_id& id) const {
  const auto* image = committed(aggregate);
  return image ? find_row(image->refunds, id) : nullptr;
}

void memory_ledger::settle() {
  const auto landing = std::exchange(air_, {});
  for (const auto& u : landing) apply_all(u.batches);
}

void memory_ledger::sync() {
  if (!options_.sync_each_commit) synced_ = state_;
}

void memory_ledger::crash() {
  air_.clear();
  if (!options_.sync_each_commit) state_ = synced_;
}

} // namespace fq
