// SPDX-License-Identifier: Apache-2.0
// Loading of a sale, and its time-driven parts: deadlines, admission.
#include "domain/sale/sale.hpp"

#include "domain/base/planted.hpp"
#include "domain/sale/waiting_list.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

timestamp earlier(timestamp a, timestamp b) {
  if (!is_set(a)) return b;
  return is_set(b) && b < a ? b : a;
}

} // namespace

void sale::load(event_row event, std::vector<ticket_type_row> types) {
  event_ = std::move(event);
  stock_.load(std::move(types));
}

void sale::load(const line_totals& totals) {
  queue_.load(totals);
  first_kept_ = totals.first_kept;
}

void sale::load(const payment_row& row) {
  payments_.load(row);
  if (planted(bug::recheck_forgotten)) payments_.forget_recheck(row.id);
}

void sale::load(const refund_row& row) {
  payments_.load(row);
  tell_gates(row.payment, row.status == refund_status::requested ? row.created_at : row.updated_at);
}

void sale::loaded() {
  was_sold_out_ = sells() && stock_.sold_out();
  is_fresh_ = true;
  if (draws_lots() && lobby_ && is_set(lobby_->closed_at) && !is_set(lobby_->drawn_at))
    closing_classes_ = lowest_classes();
  sells() ? outcomes_.load(queue_, claims_, orders_) : order_ended();
  find_lost_locks();
  // Refunds begin when all holders have their mail, so without a refundable payment no holder is left.
  if (event_.status == event_status::cancelled && payments_.has_refundable()) find_holders_to_tell();
  for (const auto& id : claims_.overdue(timestamp::max(), milliseconds{0}, claims_.counts().live))
    if (const auto* open = payments_.open_of(id)) payments_.ask_again(open->id, claims_.find(id)->expires_at);
}

void sale::order_ended() {
  std::vector<std::pair<timestamp, queue_number>> all;
  queue_.each([&](const queue_line::entry& e) {
    if (!is_live(e.status)) all.emplace_back(e.ended_at, e.number);
  });
  std::ranges::sort(all);
  for (const auto& [at, number] : all) ended_.push_back(number);
}

/// What a load leaves to the first decision, because it depends on the time.
void sale::refresh(timestamp now, decision& out) {
  if (!std::exchange(is_fresh_, false)) return;
  claims_.restart_grace(now);
  watch_presence(now);
  regroup_all(now, out, true); // the log may have other groups than those of this load
  open_codes(now, out);
}

// -- time

sale::wake_up sale::run(timestamp now, decision& out) {
  refresh(now, out);
  run_lobby(now, out);
  free_lost_locks(out);
  if (seating_) seating_->end_leftovers(out.content);
  auto moved = end_sale(now, out) + end_sessions(now, out) + end_pending(now, out) + end_claims(now, out)
               + check_stale_payments(now, out) + recheck_failed_attempts(now, out);
  moved += end_blocked_entries(now, out);
  follow_waiting_list(now, out);
  moved +=
    expire_waiting(now, out) + mark_absent(now, out) + send_links(now, out) + expire_transfers(now, out);
  if (event_.status == event_status::ended || event_.status == event_status::cancelled)
    moved += end_waiting(now, out);
  if (event_.status == event_status::cancelled) moved += cancel_everything(now, out);
  moved += refund_blocked_customers(now, out);
  const bool forgets_more = forget_ended(now, out) == forgotten_per_run;
  const auto admitted = admit(now, out);
  outcomes_.follow(queue_, claims_, orders_);
  update_sold_out(out);
  const bool again = forgets_more || !tickets_due_.empty() || !lost_locks_.empty()
                     || moved >= rules_.bounds.refunds_per_run
                     || admitted.count >= admissions_per_decision_max;
  return {again, earlier(admitted.retry_at, next_deadline(now))};
}

std::size_t sale::end_sale(timestamp now, decision& out) {
  const bool selling = event_.status == event_status::active || event_.status == event_status::paused;
  if (selling && is_over(now)) turn(event_trigger::end, now, out);
  return 0;
}

std::size_t sale::end_waiting(timestamp now, decision& out) {
  std::size_t ended = 0;
  while (ended < rules_.bounds.rows_per_run) {
    const auto* head = queue_.oldest();
    if (head == nullptr) break;
    end_entry(head->number, entry_trigger::leave, now, out, left_why::over);
    ++ended;
  }
  return ended;
}

/// When the oldest entry in line expires, counted from the opening or its draw. `never` if the line is empty,
/// or entries live until the sale's end.
timestamp sale::ticket_deadline() const {
  const auto* head = queue_.oldest();
  if (head == nullptr || event_.queue.ticket_ttl.count() == 0 || is_waiting_list(event_) || !has_positions())
    return never;
  const auto drawn_at = lobby_ ? lobby_->drawn_at : never;
  return std::max({head->joined_at, event_.queue_opens_at, drawn_at}) + event_.queue.ticket_ttl;
}

std::size_t sale::expire_waiting(timestamp now, decision& out) {
  std::size_t expired = 0;
  for (auto t = ticket_deadline(); is_set(t) && t <= now && expired < rules_.bounds.rows_per_run;
       t = ticket_deadline(), ++expired)
    end_entry(queue_.oldest()->number, entry_trigger::expire, now, out);
  return expired;
}

std::size_t sale::end_sessions(timestamp now, decision& out) {
  const auto due = queue_.sessions_due(now, rules_.bounds.rows_per_run);
  for (const auto n : due) end_entry(n, entry_trigger::end_session, now, out);
  return due.size();
}

std::size_t sale::end_claims(timestamp now, decision& out) {
  const auto due = claims_.due(now, rules_.bounds.rows_per_run);
  for (const auto& id : due) {
    const auto* open = payments_.open_of(id);
    if (open == nullptr || planted(bug::expiry_ignores_payment)) {
      release(*claims_.find(id), now, out);
      continue;
    }
    claims_.move(id, claim_trigger::deadline_with_payment, now, out.content);
    out.reveals = true;
    verify_soon(open->id, now, out);
  }
  const auto overdue = claims_.overdue(now, rules_.verdict_grace, rules_.bounds.rows_per_run);
  for (const auto& id : overdue) {
    if (const auto* open = payments_.open_of(id))
      payments_.move(open->id, payment_trigger::fail, now, out.content);
    release(*claims_.find(id), now, out);
  }
  return due.size() + overdue.size();
}

/// Asks the gateway now and schedules the next check while the attempt is open: four checks within the grace
/// if its claim's deadline has passed, else after stale_after. An attempt without a known page is
/// initialized again with the same reference, or closed if it is late.
void sale::verify_soon(const payment_id& id, timestamp now, decision& out) {
  const auto& payment = *payments_.find(id);
  const bool late = claims_.find(payment.claim)->status != claim_status::claimed;
  payments_.ask_again(id, now + (late ? rules_.verdict_grace / 4 : rules_.stale_after));
  auto ask = gateway_call_kind::verify;
  if (payment.status == payment_status::initializing)
    ask = late ? gateway_call_kind::expire : gateway_call_kind::initialize;
  out.gateway_calls.push_back({ask, id, {}});
}

std::size_t sale::check_stale_payments(timestamp now, decision& out) {
  const auto stale = payments_.stale(now, rules_.bounds.rows_per_run);
  for (const auto& id : stale) verify_soon(id, now, out);
  const auto refunds = payments_.refunds_due(now, rules_.bounds.refunds_per_run);
  for (const auto& id : refunds) {
    out.gateway_calls.push_back({gateway_call_kind::refund, payments_.find_refund(id)->payment, id});
    payments_.tried(id, false, now + rules_.refund_retry.cap, now, out.content);
  }
  return stale.size() + refunds.size();
}

/// When a failed attempt is asked about for the first time after `t`; `never`: no more.
timestamp sale::recheck_after(const payment_row& failed, timestamp t) const {
  for (const auto after : rules_.recheck_after)
    if (failed.updated_at + after > t) return failed.updated_at + after;
  return never;
}

/// Asks the gateway about failed attempts again, at each time in recheck_after: a page that could not be
/// closed may have been paid, and its webhook lost. Without an answer the question is repeated, less and less
/// often.
std::size_t sale::recheck_failed_attempts(timestamp now, decision& out) {
  if (now < rechecks_from_) return 0;
  const auto due = payments_.rechecks_due(now, lapsed_per_run);
  if (due.empty()) return 0;
  rechecks_from_ = now + lapsed_pause;
  for (const auto& id : due) {
    const auto& p = *payments_.find(id);
    const auto late = now - p.recheck_at;
    if (late > lapsed_memory) {
      payments_.recheck(id, recheck_after(p, p.recheck_at), out.content);
      continue;
    }
    payments_.recheck_again(id, now + std::max<milliseconds>(late / 4, rules_.recheck_pause));
    out.gateway_calls.push_back({gateway_call_kind::verify, id, {}});
  }
  return due.size();
}

void sale::rechecked(const payment_id& id, timestamp now, decision& out) {
  const auto* p = payments_.find(id);
  if (p != nullptr && p->status == payment_status::failed && is_set(p->recheck_at) && p->recheck_at <= now)
    payments_.recheck(id, recheck_after(*p, now), out.content);
}

std::size_t sale::cancel_everything(timestamp now, decision& out) {
  std::size_t moved = tell_holders(now, out);
  if (holders_to_tell_.empty()) { // a load finds the holders by their tickets, which refunds cancel
    std::size_t begun = 0;
    // Bounded, because other events' payment pages go through the same gateway.
    for (const auto& id : payments_.refundable(refund_room(now)))
      begun += request_refund(id, now, out) ? 1 : 0;
    rules_.pace->note_begun(begun);
    moved += begun;
  }
  moved += end_all_offers(now, out);
  for (const auto& id : claims_.live_ones(rules_.bounds.rows_per_run)) {
    const auto& claim = *claims_.find(id);
    if (claim.status != claim_status::claimed && payments_.open_of(id) != nullptr)
      continue; // already being verified
    withdraw(claim, now, out, {order_trigger::fail, "event_cancelled"});
    ++moved;
  }
  for (const auto n : queue_.sessions_due(timestamp::max(), rules_.bounds.rows_per_run)) {
    end_entry(n, entry_trigger::revoke, now, out);
    ++moved;
  }
  return moved;
}

/// How many automatic refunds may start now.
std::size_t sale::refund_room(timestamp now) {
  const auto under_way = payments_.unanswered_refunds();
  return under_way < refunds_under_way_max
           ? std::min(refunds_under_way_max - under_way, rules_.pace->room(now))
           : 0;
}

bool sale::owes_refunds() const {
  return !blocked_to_refund_.empty()
         || (event_.status == event_status::cancelled && payments_.has_refundable());
}

/// When more automatic refunds may start. `never`: none are due, or the next one starts when one is
/// answered.
timestamp sale::next_refund_slot(timestamp now) const {
  return owes_refunds() && payments_.unanswered_refunds() < refunds_under_way_max
           ? now + rules_.pace->wait(now)
           : never;
}

/// Ends entries, sessions and holds at once, because others wait for them.
std::size_t sale::end_blocked_entries(timestamp now, decision& out) {
  if (planted(bug::block_forgotten)) blocked_to_end_.clear();
  std::size_t looked = 0;
  for (; !blocked_to_end_.empty() && looked < rules_.bounds.rows_per_run; ++looked) {
    const auto customer = blocked_to_end_.back();
    blocked_to_end_.pop_back();
    if (is_blocked(customer)) end_customer(customer, now, out);
  }
  return looked;
}

/// Starts refunds at the pace of a cancelled event.
std::size_t sale::refund_blocked_customers(timestamp now, decision& out) {
  std::size_t looked = 0;
  for (; !blocked_to_refund_.empty() && looked < rules_.bounds.refunds_per_run && refund_room(now) > 0;
       ++looked) {
    const auto customer = blocked_to_refund_.back();
    blocked_to_refund_.pop_back();
    const bool is_due =
      is_blocked(customer) && (event_.status != event_status::ended || blocked_.includes_ended(customer));
    const auto refunds = is_due ? refund_customer(customer, now, out) : 0;
    if (refunds == 0) continue;
    rules_.pace->note_begun(refunds);
    const auto told = std::ranges::find(out.blocked, customer, &block_effect::customer);
    told != out.blocked.end() ? told->refunds += refunds
                              : out.blocked.emplace_back(block_effect{customer, false, 0, refunds}).refunds;
  }
  return looked;
}

/// What admissions may count on now. Policy `open` admits as long as anything can be bought.
unit_pools sale::free_pools(timestamp now) const {
  unit_pools pools;
  const bool starts_later = sells() && now < event_.sale_start && !planted(bug::windows_ignored);
  if (event_.status != event_status::active || now < event_.queue_opens_at || starts_later) return pools;
  if (!has_positions() && !planted(bug::admits_before_draw)) return pools;
  if (!sells()) pools.add_public(unit_pools::unlimited);
  const auto settings = admission_of(event_, rules_, now);
  if (is_set(quiet_until(event_, rules_, now))) return pools;
  const bool is_unbound = settings.policy == admission_policy::open;
  const auto people = [&](std::uint64_t units) { return units * settings.over_admission_percent / 100; };
  std::uint64_t public_units = 0;
  for (const auto& t : stock_.types()) {
    if (!inventory::is_open(t, now) && !(t.on_sale && planted(bug::windows_ignored))) continue;
    const auto free = static_cast<std::uint64_t>(std::max<std::int64_t>(inventory::free_units(t), 0));
    const auto units = is_unbound ? unit_pools::unlimited : free;
    if (t.hidden)
      pools.add_hidden(t.ordinal, people(units));
    else
      public_units += units;
  }
  pools.add_public(people(public_units));
  if (!planted(bug::admit_without_counting))
    for (const auto& g : queue_.groups()) pools.book(g.opens, g.unclaimed);
  return pools;
}

/// When admission may begin, or more can be bought; `never` if no such time is ahead.
timestamp sale::next_opening(timestamp now) const {
  auto next = event_.queue_opens_at > now ? event_.queue_opens_at : never;
  if (!sells()) return next;
  if (event_.sale_start > now) next = earlier(next, event_.sale_start);
  next = earlier(next, next_code_);
  next = earlier(next, quiet_until(event_, rules_, now));
  return earlier(next, stock_.next_opening(now));
}

/// The first entry in line that could buy something, and takes a unit for it; null: none.
const queue_line::entry* sale::next_to_admit(unit_pools& pools, timestamp now, party_gate& gate,
                                             decision& out) {
  for (;;) {
    const queue_line::entry* best = nullptr;
    for (std::size_t g = 0; g < queue_.groups().size(); ++g) {
      const auto& group = queue_.groups()[g];
      if (group.waiting == 0 || !pools.serves(group.opens)) continue;
      const auto* head = queue_.first(g);
      const bool overtakes = planted(bug::hidden_overtakes) && g > 0;
      if (best == nullptr || overtakes || queue_.precedes(*head, *best)) best = head;
    }
    if (best != nullptr && planted(bug::offer_to_second) && is_waiting_list(event_))
      if (const auto* other = queue_.find(queue_number{value_of(best->number) + 1});
          other != nullptr && other->status == entry_status::waiting && other->group == best->group)
        best = other;
    // What opens its hidden types may have ended since: then it belongs to another group.
    if (best != nullptr && best->group != 0 && regroup(*best, now, out)) continue;
    if (best == nullptr) return best;
    const auto party = queue_.parties().party_of(best->number);
    if (party != queue_number{} && party != gate.going) {
      if (regroup_party(party, now, out)) continue;
      if (!may_go(party, pools, now, gate)) return nullptr;
    }
    pools.book(queue_.groups()[best->group].opens);
    if (gate.left > 0) --gate.left;
    return best;
  }
}

admission_answer sale::admit(timestamp now, decision& out, std::uint64_t called) {
  refresh(now, out);
  if (is_set(next_code_) && next_code_ <= now) open_codes(now, out);
  if (queue_.counts().waiting == 0) return {};
  if (!blocked_to_end_.empty()) return {0, now}; // they may be in line
  auto pools = free_pools(now);
  const auto settings = admission_of(event_, rules_, now);
  auto units = is_logged_ ? pools.all() : admitted_record{};
  const auto allowed = [&] {
    const admission_state state{now, pools.room(queue_.groups()), queue_.counts().admitted, called};
    return admissions_now(settings, queue_.window(), state);
  };
  auto answer = allowed();
  if (answer.count == 0) return answer;
  party_gate gate{.left = answer.count};
  const bool is_bounded = answer.count == admissions_per_decision_max;
  const auto next = [&] { return next_to_admit(pools, now, gate, out); };
  const auto numbers = queue_.admit(answer.count, next, now, settings, out.content);
  for (const auto n : numbers) out.entry_changes.push_back(change_of(*queue_.find(n)));
  answer.count = numbers.size();
  if (is_bounded && gate.waits) answer.retry_at = now; // only this decision has too little room
  if (numbers.empty()) return answer;
  if (sells()) outcomes_.open.insert(outcomes_.open.end(), numbers.begin(), numbers.end());
  units.splits_party = gate.splits;
  note_admitted(std::move(units), numbers, out);
  out.reveals = true;
  answer.retry_at = earlier(answer.retry_at, allowed().retry_at); // this admission may have filled the window
  return answer;
}

void sale::update_sold_out(decision& out) {
  const bool sold_out = sells() && stock_.sold_out();
  if (sold_out == was_sold_out_) return;
  was_sold_out_ = sold_out;
  out.notices.push_back(sold_out ? socket_notice_kind::sold_out : socket_notice_kind::back_on_sale);
}

timestamp sale::next_deadline(timestamp now) const {
  auto t = earlier(queue_.next_session_deadline(), claims_.next_deadline(rules_.verdict_grace));
  t = earlier(t, payments_.next_refund_attempt());
  t = earlier(t, payments_.next_ask());
  t = earlier(t, next_refund_slot(now));
  t = earlier(t, ticket_deadline());
  t = earlier(t, next_absence());
  t = earlier(t, next_checkout_deadline());
  t = earlier(t, transfers_.next_deadline());
  if (const auto recheck = payments_.next_recheck(); is_set(recheck))
    t = earlier(t, std::max(recheck, rechecks_from_));
  t = earlier(t, next_forgetting());
  if (event_.status == event_status::active || event_.status == event_status::paused)
    t = earlier(t, event_.sale_end);
  if (event_.status == event_status::active && queue_.counts().waiting > 0) t = earlier(t, next_opening(now));
  if (event_.status == event_status::active && event_.waiting_list.enabled && !is_waiting_list(event_))
    t = earlier(t, stock_.next_closing(now));
  t = earlier(t, next_lobby_step(now));
  return t;
}

bool sale::has_deadlines() const {
  return queue_.counts().admitted > 0 || claims_.counts().live > 0 || payments_.open_count() > 0
         || is_set(ticket_deadline());
}

bool sale::is_quiet(timestamp now) const {
  const bool selling = event_.status == event_status::active || event_.status == event_status::paused;
  return !selling && queue_.counts().admitted == 0 && queue_.oldest() == nullptr && claims_.counts().live == 0
         && payments_.open_count() == 0 && !is_set(payments_.next_refund_attempt())
         && !payments_.owes_recheck(now) && !owes_refunds() && tickets_due_.empty()
         && !is_set(transfers_.next_deadline()) && holders_to_tell_.empty();
}

} // namespace fq
