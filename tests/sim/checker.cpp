// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/checker.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

bool takes_a_slot(claim_status s) { return is_live(s) || s == claim_status::confirmed; }

} // namespace

void checker::fail(std::string_view invariant, std::string what) {
  if (violation_.empty() && (!has_lost_track_ || invariant == lost_invariant))
    violation_ = std::string{invariant} + ": " + std::move(what) + " (step " + std::to_string(step) + ")";
}

// -- what the ledger did ----------------------------------------------------------------------------------

void checker::applied(const batch& b) {
  news_.clear();
  // a bystander
  if (b.aggregate != aggregate_ && number_of(b.aggregate) >= number_of(first_event_aggregate)) return;
  digest_ = digest_ * 1099511628211u ^ (b.to_seq << 20) ^ (b.epoch << 8) ^ b.content.size();
  if (b.aggregate == aggregate_) {
    if (b.epoch != store_.head(aggregate_)->epoch || b.epoch < epoch_)
      fail("I17", "a batch of epoch " + std::to_string(b.epoch) + " was applied under epoch "
                    + std::to_string(epoch_));
    if (!seen_seq_.emplace(b.from_seq, b.to_seq).second) fail("I9", "the same batch was applied twice");
  }
  for (const auto& c : b.content) {
    const auto* moved = std::get_if<entry_moved>(&c);
    const bool goes_on =
      moved != nullptr && moved->row.party == going_ && moved->row.status == entry_status::admitted;
    if (!goes_on) check_torn_party();
    std::visit([this](const auto& x) { see(x); }, c);
  }
  check_torn_party();
  if (b.aggregate != aggregate_) return;
  if (uncalled_ != 0) fail("I5", "admitted, and the operator called nobody");
  check_stock();
  check_returned_stock();
  check_batch();
  check_locks();
}

void checker::settled(const batch& b, commit_outcome outcome) {
  switch (outcome) {
    case commit_outcome::committed:
    case commit_outcome::already_applied: return;
    case commit_outcome::busy: return reached(rare::commit_busy);
    case commit_outcome::fenced:
      if (b.epoch + 1 == rival_epoch_) reached(rare::fenced_reload);
      return reached(rare::old_epoch_refused);
    case commit_outcome::out_of_order:
      return fail("I17", "owner and ledger disagree about applied_seq under one epoch");
    case commit_outcome::conflict:
      return fail("I1", "the ledger had to refuse a change of the living owner (batch to "
                          + std::to_string(b.to_seq) + ")");
  }
}

void checker::see(const event_created& c) {
  if (c.event.aggregate != aggregate_) return;
  event_ = c.event;
  types_ = c.ticket_types;
  claimed_.resize(types_.size());
  watch_sold_out();
}

void checker::see(const event_changed& c) {
  if (c.from != c.event.status && !is_step(event_rules, c.from, c.event.status))
    fail("I10", "illegal step of the event");
  if (event_.status != c.from) fail("I10", "the event was not in the state its change starts from");
  const bool was_list = is_waiting_list();
  event_ = c.event;
  if (is_waiting_list() != was_list) check_list_turn(was_list);
}

void checker::see(const ticket_type_added& c) {
  types_.push_back(c.row);
  claimed_.emplace_back();
  watch_sold_out();
}

void checker::see(const ticket_type_changed& c) {
  auto& t = types_.at(c.row.ordinal);
  const auto held = t.held, sold = t.sold;
  t = c.row;
  t.held = held;
  t.sold = sold;
  watch_sold_out();
}

void checker::see(const stock_moved& c) {
  auto& t = types_.at(c.ticket_type);
  t.held += c.held_delta;
  t.sold += c.sold_delta;
  if (t.held < 0 || t.sold < 0 || t.held + t.sold > t.total)
    fail("I1", "held + sold exceed the total, or fell below zero");
  watch_sold_out();
}

void checker::see(const entry_joined& c) {
  const auto& row = c.row;
  if (!entries_.empty() && row.number <= entries_.rbegin()->first)
    fail("I6", "a queue number was given out of order");
  if (row.joined_at < latest_) fail("clock", "the aggregate's time went back");
  latest_ = row.joined_at;
  if (!live_place_.emplace(row.subject, row.number).second) fail("I2", "a second live place for one subject");
  check_blocked(row.subject, row.joined_at, "joined");
  const auto& q = event_.queue;
  if (q.capacity != 0) {
    const auto in_line = std::ranges::count_if(live_place_, [&](const auto& p) {
      return p.second != row.number && is_in_line(entries_.at(p.second).status);
    });
    if (in_line >= static_cast<std::ptrdiff_t>(q.capacity)) fail("I14", "a place beyond the line's capacity");
  }
  entries_[row.number] = row;
  waiting_.insert(place_of(row));
  if (row.party != queue_number{}) check_party(row.party);
}

void checker::see(const statistics_stored& c) {
  if (statistics_ && c.row.at <= statistics_->at) fail("statistics", "two rows of one step");
  statistics_ = c.row;
  arrivals_counted_ += c.row.arrivals;
  admissions_counted_ += c.row.admissions;
  reached(rare::statistics_written);
  check_statistics();
}

void checker::check_statistics() {
  const auto model = counts();
  std::int64_t held = 0;
  for (const auto& t : types_) held += t.held;
  const auto& r = statistics_.value_or(statistics_row{});
  if (r.waiting != model.waiting || r.admitted != model.admitted || r.waiting_peak < r.waiting)
    fail("statistics", "a row counts other people than there are");
  if (r.held != held || r.sold != sold()) fail("statistics", "a row counts other units than there are");
  if (r.arrivals_total != entries_.size() || arrivals_counted_ != r.arrivals_total)
    fail("statistics", "the rows have " + std::to_string(arrivals_counted_) + " arrivals of "
                         + std::to_string(entries_.size()));
  if (r.admissions_total != admissions_seen_ || admissions_counted_ != r.admissions_total)
    fail("statistics", "the rows have " + std::to_string(admissions_counted_) + " admissions of "
                         + std::to_string(admissions_seen_));
}

void checker::see(const entry_moved& c) {
  auto& known = entries_.at(c.row.number);
  if (known.status != c.from)
    fail("I10", "entry " + text(c.row.number) + " was not in the state its change starts from");
  if (c.from != c.row.status && !is_step(entry_rules, c.from, c.row.status))
    fail("I10", "illegal step of an entry");
  const auto before = std::exchange(known, c.row);
  const auto from = before.status;
  if (known.subject != before.subject || known.joined_at != before.joined_at)
    fail("I6", "the place " + text(c.row.number) + " became another one");
  see_place(before, known);
  if (c.row.status == entry_status::admitted) deadlines_[c.row.number].insert(deadline_of(c.row));
  if (from == c.row.status) {
    if (deadline_of(c.row) < deadline_of(before) && c.row.reclaims != before.reclaims + 1)
      fail("I15", "the time promised to claim in became shorter");
    if (waiting_.erase(place_of(before)) > 0) waiting_.insert(place_of(known));
    return;
  }
  if (c.row.status == entry_status::admitted) admitted(c.row);
  if (c.row.status == entry_status::session_expired && c.row.ended_at < deadline_of(c.row)
      && (!c.row.has_claimed || may_reclaim(c.row)))
    fail("I15", "session of " + text(c.row.number) + " ended before its time");
  if (is_waiting_list() && from == entry_status::waiting
      && (c.row.status == entry_status::away || c.row.status == entry_status::expired))
    fail("waiting list", "place " + text(c.row.number) + " was lost for absence");
  if (c.row.status == entry_status::expired && from == entry_status::waiting
      && (event_.queue.ticket_ttl.count() == 0
          || c.row.ended_at < line_from(c.row) + event_.queue.ticket_ttl))
    fail("I13", "place " + text(c.row.number) + " expired before its time");
  if (c.row.status == entry_status::cancelled && !may_leave_.contains(c.row.subject)
      && (event_.status == event_status::active || event_.status == event_status::paused))
    fail("I7", "place " + text(c.row.number) + " was cancelled, and nobody asked for it");
  waiting_.erase(place_of(c.row));
  if (c.row.status == entry_status::waiting) waiting_.insert(place_of(c.row));
  if (c.row.status == entry_status::away) reached(rare::went_away);
  if (c.row.status == entry_status::waiting) reached(rare::came_back);
  if (c.row.status == entry_status::expired) reached(rare::place_expired);
  if (!is_live(c.row.status)) {
    active_.erase(c.row.number);
    live_place_.erase(c.row.subject);
  }
}

void checker::admitted(const entry_row& row) {
  check_order_of(row);
  see_party_admission(row);
  const auto overtaken = [&](const auto& w) {
    return w.priority_class > row.priority_class && w.number < row.number;
  };
  if (std::ranges::any_of(waiting_, overtaken)) reached(rare::preferred_admitted);
  if (row.admitted_at < latest_) fail("clock", "the aggregate's time went back");
  latest_ = row.admitted_at;
  check_blocked(row.subject, row.admitted_at, "admitted");
  active_.insert(row.number);
  if (!sells()) reached(rare::queue_admitted);
  admissions_.push_back(row.admitted_at);
  ++admissions_seen_;
  const auto q = admission();
  check_offer(row);
  if (event_.status != event_status::active) fail("I5", "admitted while the event is not ACTIVE");
  if (!sells_anything(row.admitted_at)) fail("I5", "admitted before anything could be bought");
  if (q.policy == admission_policy::open) return;
  if (q.concurrency != 0 && active_.size() > q.concurrency)
    fail("I5", "more active sessions than the concurrency in force");
  if (q.policy == admission_policy::operated) ++uncalled_;
  check_stock_for(row);
  if (q.policy == admission_policy::batch
      && admissions_within(q.admission_interval, row.admitted_at) > q.batch_size)
    fail("I5", "a batch larger than configured");
  if (q.rate_per_minute != 0 && admissions_within(rate_span, row.admitted_at) > q.rate_per_minute)
    fail("I5", "admitted faster than the configured rate");
}

void checker::count_claim(const claim_row& row, std::int64_t sign) {
  for (const auto& i : row.items) {
    auto& sum = claimed_.at(i.ticket_type);
    if (is_live(row.status)) sum.held += sign * std::int64_t{i.quantity};
    if (row.status == claim_status::confirmed) sum.sold += sign * (std::int64_t{i.quantity} - i.refunded);
  }
  if (row.promo != 0 && takes_a_slot(row.status)) promo_claims_[row.promo] += sign;
  if (is_live(row.status)) live_claims_[row.entry] += static_cast<int>(sign);
}

void checker::check_claims_of(const customer_id& who) {
  std::set<std::uint8_t> slots;
  std::size_t live = 0;
  for (const auto& [id, c] : claims_) {
    if (c.customer != who || !takes_a_slot(c.status)) continue;
    ++live;
    if (!slots.insert(c.live_slot).second) fail("I2", "two claims in one slot");
  }
  if (live > event_.claims_per_customer) fail("I2", "more claims than a customer may have");
}

void checker::see(const claim_opened& c) {
  claims_[c.row.id] = c.row;
  opened_claims_.insert(c.row.id);
  touched_claims_.insert(c.row.id);
  check_own_uses(c.row);
  check_claimed(c.row);
  count_claim(c.row, 1);
  check_claims_of(c.row.customer);
}

void checker::see(const claim_moved& c) {
  auto& known = claims_.at(c.row.id);
  if (known.status != c.from) fail("I10", "a claim was not in the state its change starts from");
  if (c.from != c.row.status && !is_step(claim_rules, c.from, c.row.status))
    fail("I10", "illegal step of a claim");
  count_claim(known, -1);
  if (known.promo != 0 && takes_a_slot(known.status) && !takes_a_slot(c.row.status))
    reached(rare::promo_came_back);
  const auto before = known.customer;
  known = c.row;
  touched_claims_.insert(known.id);
  count_claim(known, 1);
  if (known.customer != before) check_bought_by_guest(before, known);
  if (known.status == claim_status::expiring) reached(rare::claim_waited_for_verdict);
  if (known.status != claim_status::released) return;
  for (const auto& [id, p] : payments_)
    if (p.claim == known.id && is_open(p.status))
      fail("I3", "a claim was released while a payment for it is open");
}

/// What a guest has paid for is the customer's of its order, within the customer's limit.
void checker::check_bought_by_guest(const customer_id& guest, const claim_row& claim) {
  const auto* order = order_of(claim.id);
  if (!is_guest(guest) || claim.status != claim_status::confirmed || order == nullptr || order->guest != guest
      || order->customer != claim.customer)
    fail("I2", "a claim got another customer");
  check_claims_of(claim.customer);
  check_blocked(claim.customer, claim.ended_at, "bought by way of a guest");
  reached(rare::guest_bought);
}

void checker::see(const payment_opened& c) {
  const auto* claim = find_claim(c.row.claim);
  if (claim == nullptr) return fail("I4", "a payment for no claim");
  if (c.row.amount != claim->amount) fail("I4", "a payment asks for another amount than its claim");
  for (const auto& [id, p] : payments_)
    if (p.claim == c.row.claim && is_open(p.status)) fail("I2", "two open attempts for one claim");
  payments_[c.row.id] = c.row;
}

void checker::see(const payment_moved& c) {
  auto& known = payments_.at(c.row.id);
  if (known.status != c.from) fail("I10", "a payment was not in the state its change starts from");
  if (c.from != c.row.status && !is_step(payment_rules, c.from, c.row.status))
    fail("I10", "illegal step of a payment");
  const auto from = known.status;
  known = c.row;
  if (known.refunded > known.captured) fail("I4", "more was refunded than captured");
  if (known.status == from) return;
  if (known.status == payment_status::confirmed && known.captured - known.tax != known.amount)
    fail("I4", "a payment of another amount was confirmed");
  touched_claims_.insert(known.claim);
  if (known.status == payment_status::confirmed && known.tax > 0) reached(rare::paid_with_tax);
  if (from == payment_status::confirmed_late) {
    if (known.status == payment_status::confirmed) reached(rare::late_money_claimed_again);
    if (known.status == payment_status::refund_pending) reached(rare::late_money_refunded);
    const auto* order = order_of(known.claim);
    const bool given_up = order != nullptr && order->status == order_status::cancelled;
    if (given_up && known.status == payment_status::refund_pending) reached(rare::order_given_up_then_paid);
  }
}

void checker::see(const idempotency_stored& c) { answered_.emplace(c.row.key, c.row.body); }

void checker::check_stock() {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const auto* row = store_.find_ticket_type(aggregate_, static_cast<std::uint32_t>(i));
    if (row == nullptr || row->held != types_[i].held || row->sold != types_[i].sold)
      return fail("I1", "the ledger's counters are not the sum of its changes");
    if (row->held + row->sold > row->total) return fail("I1", "oversold");
    if (row->held != claimed_[i].held || row->sold != claimed_[i].sold)
      return fail("I1", "held and sold units are not those of the live and the confirmed claims");
  }
}

void checker::watch_sold_out() {
  const bool now = sold_out();
  if (was_sold_out_ && !now) reached(rare::sold_out_then_reopened);
  was_sold_out_ = now;
  stock_state state{step};
  for (const auto& t : types_) {
    const auto bit = type_set{1} << t.ordinal;
    if (t.on_sale && (t.total - t.sold > 0 || t.held > 0)) state.unsold |= bit;
    if (t.hidden) state.hidden |= bit;
  }
  stock_states_.push_back(state);
}

bool checker::sells_anything(timestamp now) const {
  return !sells() || (event_.sale_start <= now && std::ranges::any_of(types_, [now](const auto& t) {
                        return is_on_sale(t, now);
                      }));
}

bool checker::may_reclaim(const entry_row& row) const {
  return event_.queue.reclaim_window.count() > 0 && row.reclaims < event_.queue.reclaims_max;
}

/// After a claim ended without a purchase, its session has a reclaim window or is over.
void checker::check_returned_stock() {
  for (const auto& id : touched_claims_) {
    const auto& claim = claims_.at(id);
    const auto& entry = entries_.at(claim.entry);
    if (claim.status == claim_status::released && entry.status == entry_status::admitted && entry.has_claimed
        && live_claims_[claim.entry] == 0)
      fail("I13", "the session of " + text(claim.entry) + " keeps the place of the stock that it gave back");
  }
}

bool checker::sold_out() const {
  return std::ranges::all_of(
    types_, [](const auto& t) { return !t.on_sale || (t.total - t.sold <= 0 && t.held == 0); });
}

std::int64_t checker::sold() const {
  std::int64_t n = 0;
  for (const auto& t : types_) n += t.sold;
  return n;
}

checker::counts_t checker::counts() const {
  counts_t n{waiting_.size(), active_.size(), 0, 0, 0};
  for (const auto& [id, c] : claims_) {
    n.claims_live += is_live(c.status) ? 1 : 0;
    n.claims_confirmed += c.status == claim_status::confirmed ? 1 : 0;
  }
  for (const auto& [id, p] : payments_) n.payments_open += is_open(p.status) ? 1 : 0;
  return n;
}

bool checker::is_unclaimed(queue_number n) const {
  const auto claims = live_claims_.find(n);
  return claims == live_claims_.end() || claims->second == 0;
}

std::uint64_t checker::admissions_within(milliseconds span, timestamp now) const {
  return static_cast<std::uint64_t>(std::count_if(admissions_.begin(), admissions_.end(),
                                                  [&](timestamp t) { return t > now - span && t <= now; }));
}

const claim_row* checker::find_claim(const claim_id& id) const {
  const auto i = claims_.find(id);
  return i == claims_.end() ? nullptr : &i->second;
}

const entry_row* checker::entry_of(const entry_id& id) const {
  const auto i = entries_.find(queue_number_of(id));
  return i == entries_.end() ? nullptr : &i->second;
}

// -- time -------------------------------------------------------------------------------------------------

timestamp checker::deadline_of(const entry_row& row) const {
  return row.has_claimed ? row.session_expires_at : row.claim_by;
}

std::uint64_t checker::room(timestamp now) const {
  if (event_.status != event_status::active || now < event_.queue_opens_at || waiting_.empty()
      || awaits_draw() || !sells_anything(now))
    return 0;
  const auto q = admission();
  if (q.policy == admission_policy::open)
    return static_cast<std::uint64_t>(std::ranges::count_if(
      waiting_, [&](const auto& w) { return may_buy(entries_.at(w.number), now) != 0; }));
  const auto less = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  if (q.policy == admission_policy::operated) return 0;
  auto n = room_in_stock(now);
  if (q.concurrency != 0) n = std::min(n, less(q.concurrency, active_.size()));
  if (q.policy == admission_policy::batch)
    n = std::min(n, less(q.batch_size, admissions_within(q.admission_interval, now)));
  if (q.rate_per_minute != 0) n = std::min(n, less(q.rate_per_minute, admissions_within(rate_span, now)));
  const bool has_parties = std::ranges::any_of(
    waiting_, [&](const auto& w) { return entries_.at(w.number).party != queue_number{}; });
  return has_parties && n < event_.lobby.party_max ? 0 : n; // it may be kept for a party
}

void checker::check_liveness(timestamp now, timestamp owned_since) {
  for (const auto n : active_)
    if (now > deadline_of(entries_.at(n)) + sweep)
      return fail("I13", "session of " + text(n) + " outlived its deadline");
  for (const auto& [id, c] : claims_) {
    if (c.status == claim_status::claimed && now > c.expires_at + sweep)
      return fail("I13", "a CLAIMED claim outlived its deadline");
    // The grace period starts when the owner can ask the gateway; a new owner asks again.
    if (c.status == claim_status::expiring
        && now > std::max(c.expires_at, owned_since) + rules_.verdict_grace + sweep)
      return fail("I13", "an EXPIRING claim outlived the verdict's grace");
  }
  check_pending(now, owned_since);
  check_blocked_ended(now);
  check_list_begins(now, owned_since);
  const bool draws_alone = lobby_ && event_.lobby.beacon == beacon_kind::none;
  if (draws_alone && awaits_draw() && event_.status == event_status::active
      && now > std::max(event_.queue_opens_at, owned_since) + 2 * sweep)
    fail("I13", "a lobby was not drawn");
  if (const auto ttl = event_.queue.ticket_ttl; ttl.count() > 0 && !awaits_draw() && !is_waiting_list())
    for (const auto& [priority_class, rank, n] : waiting_)
      if (now > line_from(entries_.at(n)) + ttl + sweep)
        return fail("I13", "place " + text(n) + " outlived ticket_ttl");
  const bool selling = event_.status == event_status::active || event_.status == event_status::paused;
  if (selling && is_set(event_.sale_end) && now > event_.sale_end + sweep)
    fail("I13", "the sale outlived its end");
  if (!selling && !waiting_.empty() && now > event_.updated_at + sweep * 5)
    fail("I13", "somebody still waits after the event's end");
  if (room(now) == 0 || admissions_seen_ != admissions_at_stuck_) {
    stuck_since_ = now;
    admissions_at_stuck_ = admissions_seen_;
  } else if (now - stuck_since_ > event_.queue.admission_interval * 2 + sweep) {
    fail("I13", "stock and waiters, but nobody was admitted for two ticks");
  }
}

void checker::check_end() {
  for (const auto& [id, p] : payments_) {
    if (is_open(p.status)) fail("I13", "a payment is still open: " + std::string{name_of(p.status)});
    if (p.status == payment_status::confirmed_late)
      fail("I3", "late money was neither claimed again nor refunded");
    if (p.status == payment_status::refund_pending) fail("I3", "a refund never ended");
    const auto* claim = find_claim(p.claim);
    if (is_refundable(p.status) && claim->status != claim_status::confirmed)
      fail("I3", "a confirmed payment without a confirmed claim");
    check_letters(p);
  }
  for (const auto& [id, c] : claims_) {
    if (is_live(c.status)) fail("I13", "a claim is still live");
    if (c.status == claim_status::confirmed) check_payers(c);
  }
  check_orders_at_end();
  check_blocked_at_end();
  const auto* image = store_.committed(aggregate_);
  const auto same = [](const auto& model, const auto& rows) {
    return std::ranges::equal(model, rows, [](const auto& m, const auto& r) { return m.second == r; });
  };
  if (!same(entries_, image->entries) || !same(claims_, image->claims) || !same(payments_, image->payments)
      || !same(refunds_, image->refunds) || !same(promo_codes_, image->promo_codes)
      || !same(orders_, image->orders) || !same(event_tickets_, image->event_tickets)
      || !same(transfers_, image->transfers) || !same(open_letters_, image->dead_letters)
      || !same(scans_, image->scans) || !same(priorities_, image->priorities)
      || !same(invitations_, image->invitations) || image->event != event_ || image->ticket_types != types_
      || image->lobby != lobby_)
    fail("I9", "the ledger's image is not the sum of the changes it applied");
  for (const auto& [who, number] : known_place_) {
    const auto row = entries_.find(number);
    if (row == entries_.end() || row->second.subject != who) fail("I7", "an acknowledged place is gone");
  }
}

} // namespace fq::sim
