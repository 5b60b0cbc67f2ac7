// SPDX-License-Identifier: Apache-2.0
// The event actor's life cycle: load, reload, idle, move; and its timers.
#include "actors/sale/event_actor.hpp"

#include "actors/base/limits.hpp"
#include "actors/base/sale_board.hpp"
#include "actors/protocol/directory_messages.hpp"
#include "actors/protocol/log_messages.hpp"
#include "actors/sale/limits.hpp"
#include "domain/base/planted.hpp"
#include "domain/cluster/placement.hpp"
#include "fair/records.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fq {

event_handle::behavior_type event_actor(event_handle::stateful_pointer<event_state> self,
                                        aggregate_id aggregate, const owner_services* services,
                                        supervisor_handle supervisor) {
  self->state.init(self, aggregate, *services, std::move(supervisor));
  return self->state.behavior();
}

void event_state::init(pointer self, aggregate_id aggregate, const owner_services& services,
                       supervisor_handle supervisor) {
  const auto begun = [this](batch& b) {
    add_notes(b);
    if (mirror_) mirror_->begun(b);
    if (audit_) audit_->begun(b);
    if (sessions_) sessions_->begun(b);
    if (statistics_) statistics_->see_waiting(sale_->queue().counts().waiting);
  };
  owner_core::init(self, aggregate, *services.env, services.ledgers, begun, services.bounds);
  services_ = &services;
  memory_retention_ = std::max(services.rules.memory_retention, rate_window_loaded);
  supervisor_ = std::move(supervisor);
  subscribers_.emplace(self, aggregate);
  self_->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
  if (supervisor_) self_->monitor(supervisor_);
  load();
  set_timer(timer_kind::idle, services_->idle_after, 0);
  if (services_->cache) { // spreads the events of a node over the interval
    const auto half = services_->reconciliation_interval / 2;
    set_timer(timer_kind::mirror,
              milliseconds{1
                           + static_cast<std::int64_t>(services_->env->random_u64()
                                                       % static_cast<std::uint64_t>(half.count()))},
              0);
    if (services_->vouch_interval > milliseconds{0})
      set_timer(timer_kind::vouch, services_->vouch_interval, 0);
  }
}

event_state::~event_state() {
  if (told_) told_->end();
  seat_ = nullptr;
  if (journal_) journal_->fail(); // fails open promises
  fail_waiters();
}

/// Fails open promises, so that no requester waits for its timeout.
void event_state::fail_waiters() {
  for (auto& [payment, w] : page_waiters_) w.promise.deliver(make_error(errc::unavailable));
  for (auto& [order, w] : order_waiters_) w.promise.deliver(make_error(errc::unavailable));
  for (auto& [payment, w] : report_waiters_) w.promise.deliver(make_error(errc::unavailable));
  page_waiters_.clear();
  page_deadlines_.clear();
  order_waiters_.clear();
  order_deadlines_.clear();
  report_waiters_.clear();
}

auto event_state::frequent_messages() {
  return std::tuple{[this](const batch_settled& x) { on_settled(x); },
                    [this](const timer_fired& x) { on_timer(x); },
                    [this](const join& x) { return on_join(x); },
                    [this](const open_challenge& x) { return on_open_challenge(x); },
                    [this](const find_entry& x) { return on_find_entry(x); },
                    [this](const place_order& x) { return on_place_order(x); },
                    [this](const find_order& x) { return on_find_order(x); },
                    [this](const gateway_answered& x) { on_gateway_answered(x); },
                    [this](const apply_fact& x) { return on_apply_fact(x); },
                    [this](const leave& x) { return on_leave(x); },
                    [this](const find_ticket& x) { return on_find_ticket(x); },
                    [this](const leave_ticket& x) { return on_leave_ticket(x); },
                    [this](const end_session& x) { return on_end_session(x); },
                    [this](const change_lock& x) { return on_change_lock(x); },
                    [this](const find_locks& x) { return on_find_locks(x); },
                    [this](const present& x) { on_present(x); },
                    [this](const advance_line& x) { return on_advance(x); },
                    [this](const revoke_sessions& x) { return on_revoke(x); },
                    [this](const find_line& x) { return on_find_line(x); },
                    [this](const find_receipt& x) { return on_find_receipt(x); },
                    [this](const change_party& x) { return on_change_party(x); },
                    [this](const watch_sessions& x) { on_watch(x); },
                    [this](const push_read& x) { on_push_read(x); },
                    [this](const open_claim& x) { return on_open_claim(x); },
                    [this](const find_claim& x) { return on_find_claim(x); },
                    [this](const release_claim& x) { return on_release_claim(x); },
                    [this](const open_payment& x) { return on_open_payment(x); },
                    [this](const find_payment& x) { return on_find_payment(x); }};
}

auto event_state::other_messages() {
  return std::tuple{[this](const get_quote& x) { return on_get_quote(x); },
                    [this](const cancel_order& x) { return on_cancel_order(x); },
                    [this](const list_event_orders& x) { return on_list_orders(x); },
                    [this](const find_event_ticket& x) { return on_find_event_ticket(x); },
                    [this](const find_ticket_papers& x) { return on_find_ticket_papers(x); },
                    [this](const find_ticket_seats& x) { return on_find_ticket_seats(x); },
                    [this](const offer_ticket& x) { return on_offer_ticket(x); },
                    [this](const end_transfer& x) { return on_end_transfer(x); },
                    [this](const list_event_tickets& x) { return on_list_event_tickets(x); },
                    [this](const refund_tickets& x) { return on_refund(x); },
                    [this](const resend_order& x) { return on_resend(x); },
                    [this](const set_promo_code& x) { return on_set_promo_code(x); },
                    [this](const find_promo_codes& x) { return on_find_promo_codes(x); },
                    [this](const set_priorities& x) { return on_set_priorities(x); },
                    [this](const find_priorities& x) { return on_find_priorities(x); },
                    [this](const invite_customers& x) { return on_invite(x); },
                    [this](const withdraw_invitations& x) { return on_withdraw_invitations(x); },
                    [this](const find_invitations& x) { return on_find_invitations(x); },
                    [this](const settle_dead_letter& x) { return on_settle(x); },
                    [this](const report_undelivered& x) { return on_undelivered(x); },
                    [this](const find_event& x) { return on_find_event(x); },
                    [this](const patch_event& x) { return on_patch(x); },
                    [this](const turn_event& x) { return on_turn(x); },
                    [this](const set_seat_plan& x) { return on_set_seat_plan(x); },
                    [this](const set_seats& x) { return on_set_seats(x); },
                    [this](const find_seats& x) { return on_find_seats(x); },
                    [this](const find_seat_plan& x) { return on_find_seat_plan(x); },
                    [this](const renew_ticket_keys& x) { return on_renew_ticket_keys(x); },
                    [this](const enter_beacon& x) { return on_enter_beacon(x); },
                    [this](const end_draw_wait& x) { return on_end_draw_wait(x); },
                    [this](const set_checkin_list& x) { return on_set_checkin_list(x); },
                    [this](const set_checkin_device& x) { return on_set_checkin_device(x); },
                    [this](const find_checkin& x) { return on_find_checkin(x); },
                    [this](const list_checkin_conflicts& x) { return on_list_conflicts(x); },
                    [this](const redeem_scans& x) { return on_redeem(x); },
                    [this](const find_gate& x) { return on_find_gate(x); },
                    [this](const find_gate_state& x) { return on_find_gate_state(x); },
                    [this](const search_gate& x) { return on_search_gate(x); },
                    [this](const find_stats& x) { return on_find_stats(x); },
                    [this](const subscribe& x) { on_subscribe(x.on); },
                    [this](const owner_kept&) { on_owner_kept(); }};
}

auto event_state::internal_messages() {
  return std::tuple{[this](const aggregate_acquired& x) { on_acquired(x); },
                    [this](const lease_lost&) { on_lease_lost(); },
                    [this](const hand_over& x) { on_hand_over(x); },
                    [this](const blocks_changed&) { on_blocks_changed(); },
                    [this](const verify_mirror& x) { return on_verify(x); },
                    [this](const verify_ledger& x) { return on_verify_ledger(x); },
                    [this](const aggregate_peeked& x) { on_peeked(x); },
                    [this](const mirror_checked& x) { on_mirror_checked(x); },
                    [this](const mirror_lost& x) { on_mirror_lost(x); },
                    [this](const cache_is_back&) { on_cache_is_back(); },
                    [this](const lobby_computed& x) { on_lobby_computed(x); },
                    [this](const prove_growth& x) { return on_prove_growth(x); },
                    [this](const checkpoint_cosigned& x) { on_cosigned(x); }};
}

/// CAF compares a message with one handler after the other: the frequent ones first.
event_handle::behavior_type event_state::behavior() {
  return std::apply([](auto... handlers) { return event_handle::behavior_type{std::move(handlers)...}; },
                    std::tuple_cat(frequent_messages(), other_messages(), internal_messages()));
}

// -- life

void event_state::load() { owner_core::load(!services_->may_load || services_->may_load()); }

void event_state::on_acquired(const aggregate_acquired& answer) {
  if (!is_awaited(answer)) return;
  switch (answer.outcome) {
    case acquire_outcome::acquired:
      if (!answer.content->image.event) return self_->send(supervisor_, owner_absent{});
      start(answer);
      return serve(answer.content);
    case acquire_outcome::unavailable: return load_later(owner_load_retry);
    case acquire_outcome::absent: return self_->send(supervisor_, owner_absent{});
    case acquire_outcome::lost: return self_->send(supervisor_, owner_lost{});
    case acquire_outcome::not_owner: return self_->send(supervisor_, owner_denied{answer.lease_owner});
  }
}

namespace {

void load_rows(const acquired& from, sale& to) {
  const auto& rows = from.image;
  to.load(*rows.event, rows.ticket_types);
  if (rows.lobby) to.load(*rows.lobby);
  to.load(from.line);
  to.load(rows.entries);
  to.begin_maps_at(from.epoch << 32); // above all that earlier owners showed
  if (rows.plan) to.load(*rows.plan, from.epoch << 32);
  for (const auto& row : rows.seat_settings) to.load(row);
  for (const auto& row : rows.event_tickets) to.load(row);
  for (const auto& row : rows.transfers) to.load(row);
  for (const auto& row : rows.checkin_lists) to.load(row);
  for (const auto& row : rows.checkin_devices) to.load(row);
  for (const auto& row : rows.scans) to.load(row);
  for (const auto& row : rows.claims) to.load(row);
  for (const auto& row : rows.claim_seats) to.load(row);
  for (const auto& row : rows.payments) to.load(row);
  for (const auto& row : rows.refunds) to.load(row);
  for (const auto& row : rows.receipts) to.load(row);
  for (const auto& row : rows.promo_codes) to.load(row);
  for (const auto& row : rows.orders) to.load(row);
  for (const auto& row : rows.dead_letters) to.load(row);
  for (const auto& row : rows.priorities) to.load(row);
  for (const auto& row : rows.invitations) to.load(row);
  for (const auto& row : rows.access) to.load(row);
  for (const auto& row : rows.locks) to.load(row);
  for (const auto& row : rows.idempotency) to.load(row);
}

} // namespace

/// The order of a draw is computed before the first answer: positions do not go and come back.
void event_state::serve(acquired_ptr image) {
  const auto random = [env = services_->env] { return env->random_u64(); };
  sale::destination_lookup destination_of;
  if (services_->destination_of)
    destination_of = [s = services_, tenant = image->image.event->tenant](const std::string& gateway) {
      return s->destination_of(gateway, tenant);
    };
  const auto new_seed = [env = services_->env] {
    sha256_digest seed{};
    env->random_bytes(std::as_writable_bytes(std::span{seed}));
    return sale::lobby_seed{to_hex(seed), to_hex(seed_commitment_of(seed))};
  };
  sale_ = std::make_unique<sale>(services_->rules, random, std::move(destination_of), new_seed);
  load_rows(*image, *sale_);
  draw_step_ = {};
  loading_ = std::move(image);
  if (sale_->next_draw_step() == sale::draw_step::order) return follow_draw();
  sale_->loaded();
  begin_serving();
}

void event_state::begin_serving() {
  const auto from = std::exchange(loading_, nullptr);
  const auto& image = *from;
  draw_step_ = {};
  start_log(image.image.log); // before any append: notes of the earlier tenure are not committed
  forget_erased();
  catch_up();
  serving_ = true;
  const auto ask_ledger = [this](std::uint64_t reading) {
    self_->send(services_->ledgers.reader(number_of(aggregate_)), peek_aggregate{aggregate_, reading});
  };
  audit_ = std::make_unique<event_audit>(ask_ledger, *sale_, *journal_);
  const auto tell_table = [](const caf::strong_actor_ptr& table, sessions_changed news) {
    caf::anon_send(caf::actor_cast<caf::actor>(table), std::move(news));
  };
  const auto mark_table = [this](const caf::strong_actor_ptr& table, push_mark mark) {
    self_->send(caf::actor_cast<subscriber_handle>(table), mark);
  };
  sessions_ = std::make_unique<event_sessions>(
    tell_table, mark_table, *clock_, [env = services_->env] { return env->steady_now(); }, *sale_, *journal_,
    lease_);
  if (services_->cache) {
    mirror_ = make_mirror(image.cache_generation);
    mirror_->rebuild(); // a crash may have lost a mirror step after its commit
  }
  if (services_->board)
    seat_ =
      services_->board->enter(sale_->event().id, sale_->sells() ? sale_->event().currency : std::string{});
  line_version_ = journal_->last_seq();
  told_ = std::make_shared<told_version>();
  told_->set(line_version_);
  start_statistics(image.image.statistics);
  commit({}, now());
  for (const auto& id :
       sale_->payments().stale(timestamp::max(), 10'000)) // a crash may have lost the gateway's answers
    if (sale_->payments().find(id)->status == payment_status::initializing)
      call({gateway_call_kind::initialize, id, {}});
  self_->send(supervisor_, owner_ready{});
}

/// Memory and ledger have diverged, or a successor took over. Nothing uncommitted was revealed: load again.
void event_state::reload() {
  if (std::exchange(is_moving_, false)) self_->send(region_, handed_over{aggregate_, false});
  stop_serving();
  told_->end();
  subscribers_->start_over();
  mirror_ = nullptr;
  audit_ = nullptr;
  sessions_ = nullptr;
  statistics_.reset();
  seat_ = nullptr;
  fail_waiters();
  joined_.clear();
  loading_ = nullptr;
  ++draw_asked_;
  ++generation_;
  timer_at_ = never;
  has_run_ = false;
  load();
}

void event_state::on_settled(const batch_settled& answer) {
  if (!journal_->settled(answer)) return reload();
  std::erase_if(joined_, [this](const auto& e) { return journal_->is_committed(e.second); });
  if (is_moving_) finish_move();
  follow_ledger();
}

/// No deadline passes while the ledger is unavailable.
void event_state::follow_ledger() {
  if (journal_->is_stalled() == clock_->is_paused()) return;
  journal_->is_stalled() ? clock_->pause() : clock_->resume();
  catch_up();
  if (sessions_) sessions_->clock_changed();
}

/// Without a customer's deadline, the event's clock gives up its lag, so that the sale opens and ends on
/// time.
void event_state::catch_up() {
  if (!clock_->is_paused() && !sale_->has_deadlines()) clock_->catch_up();
}

/// Fails held replies now, not at their deadlines; senders resolve the new owner.
void event_state::on_lease_lost() {
  if (serving_ && !planted(bug::lease_loss_ignored)) reload();
}

/// Ends what blocked customers have here. Every decision applies the block lists; this one is for events
/// without other activity.
void event_state::on_blocks_changed() {
  if (serving_) forget_erased();
  if (!serving_ || is_moving_ || !services_->blocked_at) return; // the next load applies the lists
  if (refuses() || journal_->is_stalled()) return self_->delayed_send(self_, stall_check, blocks_changed{});
  apply_block_list();
}

/// Call before deciding a request that admits a customer or holds stock. A block that was acknowledged
/// applies even before `blocks_changed` arrives here.
void event_state::apply_block_list() {
  if (services_->blocked_at && !sale_->is_blocked_with(blocked_here())) commit({}, now());
}

/// As apply_block_list, for requests that may join: also opens or closes the lobby, if that is due.
void event_state::follow_rules() {
  if (sale_->is_lobby_due(now())) commit({}, now());
  apply_block_list();
}

void event_state::forget_erased() {
  if (services_->erased) sale_->forget_contacts(*services_->erased());
  if (services_->contacts_life.count() > 0)
    sale_->forget_contacts_of_sales_before(now() - services_->contacts_life);
}

blocked_customers event_state::blocked_here() const {
  return services_->blocked_at(sale_->event().tenant, sale_->event().organizer);
}

void event_state::on_timer(const timer_fired& t) {
  switch (t.kind) {
    case timer_kind::journal:
      journal_->timer_fired(t.generation);
      if (journal_->is_stalled()) follow_ledger();
      return;
    case timer_kind::retry_load:
      if (is_load_due(t)) load();
      return;
    case timer_kind::idle: return on_idle_check();
    case timer_kind::flush: on_page_timeout(); return on_order_timeout();
    case timer_kind::admission:
      if (!serving_ || is_moving_ || t.generation != generation_) return;
      if (journal_->is_stalled() || journal_->is_full())
        return set_timer(timer_kind::admission, stall_check, generation_);
      timer_at_ = never;
      catch_up();
      return on_run_due(now());
    case timer_kind::mirror: // twice per interval, so that a loss is repaired within one interval
      set_timer(timer_kind::mirror, services_->reconciliation_interval / 2, 0);
      if (mirror_ && !journal_->is_stalled()) mirror_->check();
      return;
    case timer_kind::vouch:
      set_timer(timer_kind::vouch, services_->vouch_interval, 0);
      if (mirror_ && !refuses()) mirror_->vouch();
      return;
    case timer_kind::pulse:
      pulses_ = serving_ && (refuses() || sessions_->pulse());
      if (pulses_) set_timer(timer_kind::pulse, pulse_interval, 0);
      return;
    case timer_kind::lapse: watches_lease_ = false; return watch_lease();
    case timer_kind::statistics: return write_statistics();
    case timer_kind::log: return grow_log();
    case timer_kind::beacon:
      if (serving_ && !is_moving_ && t.generation == draw_asked_) ask_beacon();
      return;
    case timer_kind::moved: return self_->send(supervisor_, owner_denied{moves_to_});
    case timer_kind::beat:
    case timer_kind::sweep:
    case timer_kind::renew:
    case timer_kind::restart:
    case timer_kind::tasks: return;
  }
}

void event_state::on_run_due(timestamp t) {
  decision d;
  if (!is_behind()) sale_->settle_loaded_tickets(t, d);
  commit(std::move(d), t);
}

/// The next batch has enough changes: event tickets of older purchases wait, so that it stays small.
bool event_state::is_behind() const {
  return journal_->pending() >= 2 * services_->rules.bounds.rows_per_run;
}

void event_state::on_idle_check() {
  set_timer(timer_kind::idle, services_->idle_after, 0);
  if (serving_) forget_erased();
  // Nothing may become due while it lingers: the region takes it for running. Twice: clocks differ.
  if (!serving_ || !subscribers_->empty() || !journal_->is_idle()
      || !sale_->is_quiet(now() + 2 * moved_linger))
    return;
  if (statistics_armed_ || reads_under_way_ > 0 || log_.is_armed || log_.is_growing) return;
  if (services_->env->steady_now() - last_request_ >= services_->idle_after) {
    is_moving_ = true; // late requests go back to their senders, who find the next owner
    retire();
    self_->send(services_->ledgers.of(aggregate_), release_aggregate{aggregate_});
    self_->send(supervisor_, owner_idle{});
  }
}

// -- moving

/// Starts a move: returns new requests, commits pending decisions, then ends the lease so that the successor
/// can acquire it.
void event_state::on_hand_over(const hand_over& x) {
  region_ = caf::actor_cast<region_handle>(self_->current_sender());
  const bool is_no_time =
    refuses() || journal_->is_stalled() || (!x.is_forced && is_opening(sale_->event(), now()));
  if (is_no_time) return self_->send(region_, handed_over{aggregate_, false});
  is_moving_ = true;
  moves_to_ = x.to;
  finish_move();
}

/// It serves no more, and tells its watchers.
void event_state::retire() {
  serving_ = false;
  told_->end();
  fail_waiters();
  mirror_ = nullptr;
  audit_ = nullptr;
  sessions_ = nullptr;
  statistics_.reset();
  seat_ = nullptr;
  subscribers_->leave();
  demonitor_listeners();
}

void event_state::finish_move() {
  if (!serving_ || !journal_->is_idle()) return;
  if (planted(bug::answers_after_handover)) {
    is_moving_ = false;
    self_->send(services_->ledgers.of(aggregate_), release_aggregate{aggregate_});
    return self_->send(region_, handed_over{aggregate_, true});
  }
  retire();
  if (planted(bug::handover_keeps_lease)) return self_->send(region_, handed_over{aggregate_, true});
  const auto done = [this] {
    if (supervisor_) self_->send(supervisor_, owner_moved{});
    self_->send(region_, handed_over{aggregate_, true});
  };
  self_->request(services_->ledgers.of(aggregate_), release_timeout, end_lease{aggregate_})
    .then([done](const ack_reply&) { done(); }, [done](const caf::error&) { done(); }); // the lease expires
  set_timer(timer_kind::moved, moved_linger, 0);
}

} // namespace fq
