// SPDX-License-Identifier: Apache-2.0
// A sale's loading, its relation to time (deadlines, admission) and its views.
#include "domain/sale.hpp"

#include "domain/planted.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fq {
namespace {

/// Rows of one kind that one run moves at most: a commit and a push stay small, the rest follows at once.
constexpr std::size_t rows_per_run = 500;
/// Refunds begun in one run when an event is cancelled: each is a gateway call.
constexpr std::size_t refunds_per_run = 100;
/// Over how long the admission rate is measured for the ETA.
constexpr milliseconds eta_span{60'000};
/// Clients poll this often near the front, and ever less often the longer they will wait.
constexpr double poll_min_ms = 500;
constexpr double poll_max_ms = 15'000;

timestamp earlier(timestamp a, timestamp b) {
  if (!is_set(a)) return b;
  return is_set(b) && b < a ? b : a;
}

} // namespace

void sale::load(event_row event, std::vector<ticket_type_row> types) {
  event_ = std::move(event);
  stock_.load(std::move(types));
}

void sale::load(const claim_row& row) {
  claims_.load(row);
  if (is_live(row.status)) queue_.restore_claim(row.entry);
}

void sale::loaded() {
  was_sold_out_ = sells() && stock_.sold_out();
  is_fresh_ = true;
  for (const auto& id : claims_.overdue(timestamp::max(), milliseconds{0}, claims_.counts().live))
    if (const auto* open = payments_.open_of(id)) payments_.ask_again(open->id, claims_.find(id)->expires_at);
}

// -- time ------------------------------------------------------------------------------------------------------------

sale::wake_up sale::run(timestamp now, decision& out) {
  if (std::exchange(is_fresh_, false)) {
    claims_.restart_grace(now);
    watch_presence(now);
  }
  auto moved = end_sale(now, out) + end_sessions(now, out) + end_claims(now, out) + chase_payments(now, out);
  moved += expire_waiting(now, out) + notice_absence(now, out);
  if (event_.status == event_status::ended || event_.status == event_status::cancelled) moved += end_waiting(now, out);
  if (event_.status == event_status::cancelled) moved += cancel_everything(now, out);
  const auto admitted = admit(now, out);
  notice_stock(out);
  const bool again = moved >= refunds_per_run || admitted.count >= admissions_per_decision_max;
  return {again, earlier(admitted.retry_at, next_deadline(now))};
}

std::size_t sale::end_sale(timestamp now, decision& out) {
  const bool selling = event_.status == event_status::active || event_.status == event_status::paused;
  if (selling && is_over(now)) turn(event_trigger::end, now, out);
  return 0;
}

std::size_t sale::end_waiting(timestamp now, decision& out) {
  std::size_t ended = 0;
  while (ended < rows_per_run) {
    const auto* head = queue_.oldest();
    if (head == nullptr) break;
    end_entry(head->row.number, entry_trigger::leave, now, out);
    ++ended;
  }
  return ended;
}

/// When the oldest place in line expires, counted from the opening; `never` if nobody waits or places last until the sale's end.
timestamp sale::ticket_deadline() const {
  const auto* head = queue_.oldest();
  if (head == nullptr || event_.queue.ticket_ttl.count() == 0) return never;
  return std::max(head->row.joined_at, event_.queue_opens_at) + event_.queue.ticket_ttl;
}

std::size_t sale::expire_waiting(timestamp now, decision& out) {
  std::size_t expired = 0;
  for (auto t = ticket_deadline(); is_set(t) && t <= now && expired < rows_per_run; t = ticket_deadline(), ++expired)
    end_entry(queue_.oldest()->row.number, entry_trigger::expire, now, out);
  return expired;
}

std::size_t sale::end_sessions(timestamp now, decision& out) {
  const auto due = queue_.sessions_due(now, rows_per_run);
  for (const auto n : due) end_entry(n, entry_trigger::end_session, now, out);
  return due.size();
}

std::size_t sale::end_claims(timestamp now, decision& out) {
  const auto due = claims_.due(now, rows_per_run);
  for (const auto& id : due) {
    const auto* open = payments_.open_of(id);
    if (open == nullptr || planted(bug::expiry_ignores_payment)) {
      release(*claims_.find(id), now, out);
      continue;
    }
    claims_.move(id, claim_trigger::deadline_with_payment, now, out.content);
    out.reveals = true;
    ask_soon(open->id, now, out);
  }
  const auto overdue = claims_.overdue(now, rules_.verdict_grace, rows_per_run);
  for (const auto& id : overdue) {
    if (const auto* open = payments_.open_of(id)) payments_.move(open->id, payment_trigger::fail, now, out.content);
    release(*claims_.find(id), now, out);
  }
  return due.size() + overdue.size();
}

/// Asks the gateway now and, as long as `payment` is open, again: an attempt whose claim has passed its deadline four times within
/// the grace, others when they have grown stale.
void sale::ask_soon(const payment_id& payment, timestamp now, decision& out) {
  const bool late = claims_.find(payments_.find(payment)->claim)->status != claim_status::claimed;
  payments_.ask_again(payment, now + (late ? rules_.verdict_grace / 4 : rules_.stale_after));
  out.orders.push_back({gateway_order_kind::verify, payment, {}});
}

std::size_t sale::chase_payments(timestamp now, decision& out) {
  const auto stale = payments_.stale(now, rows_per_run);
  for (const auto& id : stale) ask_soon(id, now, out);
  const auto refunds = payments_.refunds_due(now, refunds_per_run);
  for (const auto& id : refunds) {
    out.orders.push_back({gateway_order_kind::refund, payments_.find_refund(id)->payment, id});
    payments_.tried(id, false, now + rules_.refund_retry.cap, now, out.content);
  }
  return stale.size() + refunds.size();
}

std::size_t sale::cancel_everything(timestamp now, decision& out) {
  std::size_t moved = 0;
  const auto confirmed = payments_.confirmed_ones(refunds_per_run);
  for (const auto& id : confirmed) {
    const auto claim = payments_.find(id)->claim;
    if (payments_.find(id)->captured > 0) {
      request_refund(id, now, out);
    } else { // nothing was paid, nothing goes back but the ticket
      payments_.move(id, payment_trigger::request_refund, now, out.content);
      payments_.move(id, payment_trigger::refund_done, now, out.content);
      take_ticket_back(*claims_.find(claim), now, out);
    }
    ++moved;
  }
  for (const auto& id : claims_.live_ones(rows_per_run)) {
    const auto* claim = claims_.find(id);
    if (payments_.open_of(id) == nullptr) {
      release(*claim, now, out);
      ++moved;
    } else if (claim->status == claim_status::claimed) {
      claims_.move(id, claim_trigger::deadline_with_payment, now, out.content);
      ask_soon(payments_.open_of(id)->id, now, out);
      out.reveals = true;
      ++moved;
    }
  }
  for (const auto n : queue_.sessions_due(timestamp::max(), rows_per_run)) {
    end_entry(n, entry_trigger::revoke, now, out);
    ++moved;
  }
  return moved;
}

admission_answer sale::admit(timestamp now, decision& out, std::uint64_t called) {
  if (event_.status != event_status::active || now < event_.queue_opens_at) return {};
  const auto& c = queue_.counts();
  if (c.waiting == 0) return {};
  const admission_state state{.now = now,
                              .waiting = c.waiting,
                              .active_sessions = c.admitted,
                              .stock_bound = sells(),
                              .units_available = stock_.available(),
                              .admitted_without_claim = c.admitted - c.admitted_with_claim,
                              .called = called};
  auto answer = admissions_now(event_.queue, queue_.window(), state);
  if (answer.count == 0) return answer;
  const auto numbers = queue_.admit(answer.count, now, event_.queue, out.content);
  for (const auto n : numbers) out.entry_changes.push_back(change_of(queue_.find(n)->row));
  answer.count = numbers.size();
  out.line_moved = out.reveals = true;
  // Another look when the window that we may just have filled frees again.
  answer.retry_at = earlier(answer.retry_at, admissions_now(event_.queue, queue_.window(), state).retry_at);
  return answer;
}

void sale::notice_stock(decision& out) {
  const bool sold_out = sells() && stock_.sold_out();
  if (sold_out == was_sold_out_) return;
  was_sold_out_ = sold_out;
  out.notices.push_back(sold_out ? notice_kind::sold_out : notice_kind::back_on_sale);
}

timestamp sale::next_deadline(timestamp now) const {
  auto t = earlier(queue_.next_session_deadline(), claims_.next_deadline(rules_.verdict_grace));
  t = earlier(t, payments_.next_refund_attempt());
  t = earlier(t, payments_.next_ask());
  t = earlier(t, ticket_deadline());
  t = earlier(t, next_absence());
  if (event_.status == event_status::active || event_.status == event_status::paused) t = earlier(t, event_.sale_end);
  if (event_.status == event_status::active && queue_.counts().waiting > 0 && event_.queue_opens_at > now)
    t = earlier(t, event_.queue_opens_at);
  return t;
}

bool sale::is_quiet() const {
  const bool selling = event_.status == event_status::active || event_.status == event_status::paused;
  return !selling && queue_.counts().admitted == 0 && queue_.oldest() == nullptr && claims_.counts().live == 0
         && payments_.open_count() == 0 && !is_set(payments_.next_refund_attempt());
}

// -- views -----------------------------------------------------------------------------------------------------------

std::pair<double, double> sale::seconds_per_place(timestamp now) const {
  const auto admitted = queue_.window().count_within(eta_span, now);
  if (admitted == 0) return {-1, -1};
  // The rate is a count over a minute, or over the time since the queue opened; its spread is about its square root (Poisson).
  const auto open_for = std::max<std::int64_t>((now - event_.queue_opens_at).count(), 1000);
  const double span = static_cast<double>(std::min<std::int64_t>(eta_span.count(), open_for)) / 1000.0;
  const auto n = static_cast<double>(admitted);
  return {span / (n + 2 * std::sqrt(n)), span / std::max(n - 2 * std::sqrt(n), n / 4)};
}

entry_view sale::view_of(const queue_line::entry& e, timestamp now) const {
  const auto& row = e.row;
  entry_view v;
  v.id = make_entry_id(row.joined_at, event_.aggregate, row.number);
  v.event = event_.id;
  v.kind = event_.kind;
  v.customer = row.subject;
  v.subject_name = row.subject_name;
  v.message = event_.message;
  v.number = row.number;
  v.status = row.status;
  v.joined_at = row.joined_at;
  v.poll_after_ms = static_cast<std::uint32_t>(poll_min_ms);
  if (is_in_line(row.status)) {
    v.position = queue_.position(e);
    const auto [low, high] = seconds_per_place(now);
    double poll = poll_min_ms + static_cast<double>(v.position); // a thousand places: about a second later
    if (low >= 0) {
      const auto places = static_cast<double>(v.position);
      v.eta_low_seconds = static_cast<std::int32_t>(std::min(places * low, 1e9));
      v.eta_high_seconds = static_cast<std::int32_t>(std::min(std::ceil(places * high), 1e9));
      poll = std::max(poll_min_ms, places * low * 100.0); // a tenth of the least wait
    }
    // Never so seldom that the claim window could pass unseen.
    const auto seen_in_time = std::max(poll_min_ms, static_cast<double>(event_.queue.claim_window.count()) / 4);
    v.poll_after_ms = static_cast<std::uint32_t>(std::min({poll, poll_max_ms, seen_in_time}));
  }
  if (!is_set(row.admitted_at)) return v;
  v.admission_no = row.admission_no;
  v.admission_batch = row.admission_batch;
  v.admitted_at = row.admitted_at;
  v.session_expires_at = row.session_expires_at;
  v.claim_by = deadline_of(row);
  if (planted(bug::claim_window_at_read) && !row.has_claimed) v.claim_by = row.admitted_at + event_.queue.claim_window;
  return v;
}

claim_view sale::view_of(const claim_row& c) const {
  claim_view v{c, event_.id, event_.currency, {}};
  for (const auto& i : c.items) v.item_ids.push_back(stock_.types()[i.ticket_type].id);
  return v;
}

payment_view sale::view_of(const payment_row& p) const { return {p, event_.id, event_.currency}; }

event_view sale::view() const { return {event_, stock_.types(), sells() && stock_.sold_out()}; }

entry_change sale::change_of(const entry_row& row) const {
  entry_change c;
  c.id = make_entry_id(row.joined_at, event_.aggregate, row.number);
  c.number = row.number;
  c.status = row.status;
  c.admission_no = row.admission_no;
  c.admission_batch = row.admission_batch;
  c.admitted_at = row.admitted_at;
  c.session_expires_at = row.session_expires_at;
  c.claim_by = is_set(row.admitted_at) ? deadline_of(row) : never;
  return c;
}

event_stats sale::stats(timestamp now) const {
  const auto& c = queue_.counts();
  event_stats s;
  s.event = event_.id;
  s.status = event_.status;
  s.waiting = c.waiting;
  s.away = c.away;
  s.admitted = c.admitted;
  s.joined_total = c.joined_total;
  s.admitted_total = c.admitted_total;
  s.completed_total = c.completed_total;
  s.total = stock_.total();
  s.held = stock_.held();
  s.sold = stock_.sold();
  s.available = stock_.available();
  s.claims_live = claims_.counts().live;
  s.claims_confirmed = claims_.counts().confirmed;
  s.payments_open = payments_.open_count();
  s.revenue = payments_.revenue();
  s.refunded = payments_.refunded();
  s.admission_rate_per_minute = static_cast<double>(queue_.window().count_within(rate_span, now));
  s.arrival_rate_per_minute = static_cast<double>(queue_.arrivals().count_within(rate_span, now));
  s.last_admission_batch = queue_.last_batch();
  s.server_time = now;
  return s;
}

} // namespace fq
