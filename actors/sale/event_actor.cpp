// SPDX-License-Identifier: Apache-2.0
// The event actor's life cycle (load, reload, idle, move), timers, and effects after a commit.
#include "actors/sale/event_actor.hpp"

#include "actors/base/domain_events.hpp"
#include "actors/base/sale_board.hpp"
#include "actors/protocol/directory_messages.hpp"
#include "actors/sale/mails.hpp"
#include "domain/base/planted.hpp"
#include "domain/cluster/placement.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {
constexpr milliseconds release_timeout{3'000};
/// Time for which a moved owner returns late requests to their senders.
constexpr milliseconds moved_linger{3'000};
constexpr milliseconds load_retry{200};
constexpr milliseconds may_load_retry{20}; // local check only
/// Min delay of a timer: a burst of due deadlines becomes one run.
constexpr milliseconds timer_min{1};
/// Timer interval while the ledger is unavailable.
constexpr milliseconds stall_check{100};
} // namespace

event_handle::behavior_type event_actor(event_handle::stateful_pointer<event_state> self,
                                        aggregate_id aggregate, const owner_services* services,
                                        supervisor_handle supervisor) {
  self->state.init(self, aggregate, *services, std::move(supervisor));
  return self->state.behavior();
}

void event_state::init(pointer self, aggregate_id aggregate, const owner_services& services,
                       supervisor_handle supervisor) {
  self_ = self;
  aggregate_ = aggregate;
  services_ = &services;
  supervisor_ = std::move(supervisor);
  clock_.emplace(*services.env);
  hubs_.emplace(self, aggregate);
  journal_ = std::make_unique<journal>(journal::port{
    [this](batch_ptr b) {
      self_->send<caf::message_priority::high>(services_->ledgers.of(aggregate_), commit_batch{std::move(b)});
    },
    [this](milliseconds delay, std::uint64_t generation) {
      set_timer(timer_kind::journal, delay, generation);
    },
    [this](const batch& b) {
      if (mirror_) mirror_->begun(b);
      if (audit_) audit_->begun(b);
      if (sessions_) sessions_->begun(b);
    }});
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
  seat_ = nullptr;
  if (journal_) journal_->fail(); // fails open promises
  fail_waiters();
}

/// Fails open promises, so that no requester waits for its timeout.
void event_state::fail_waiters() {
  for (auto& w : page_waiters_) w.promise.deliver(make_error(errc::unavailable));
  for (auto& [order, w] : order_waiters_) w.promise.deliver(make_error(errc::unavailable));
  for (auto& [payment, w] : report_waiters_) w.promise.deliver(make_error(errc::unavailable));
  page_waiters_.clear();
  order_waiters_.clear();
  order_deadlines_.clear();
  report_waiters_.clear();
}

event_handle::behavior_type event_state::behavior() {
  return {
    [this](const join& x) { return on_join(x); },
    [this](const find_entry& x) { return on_find_entry(x); },
    [this](const leave& x) { return on_leave(x); },
    [this](const find_ticket& x) { return on_find_ticket(x); },
    [this](const leave_ticket& x) { return on_leave_ticket(x); },
    [this](const end_session& x) { return on_end_session(x); },
    [this](const present& x) { on_present(x); },
    [this](const advance_line& x) { return on_advance(x); },
    [this](const revoke_sessions& x) { return on_revoke(x); },
    [this](const find_line& x) { return on_find_line(x); },
    [this](const watch_sessions& x) { on_watch(x.on); },
    [this](const push_read& x) { on_push_read(x); },
    [this](const open_claim& x) { return on_open_claim(x); },
    [this](const find_claim& x) { return on_find_claim(x); },
    [this](const release_claim& x) { return on_release_claim(x); },
    [this](const open_payment& x) { return on_open_payment(x); },
    [this](const find_payment& x) { return on_find_payment(x); },
    [this](const apply_fact& x) { return on_apply_fact(x); },
    [this](const get_quote& x) { return on_get_quote(x); },
    [this](const place_order& x) { return on_place_order(x); },
    [this](const find_order& x) { return on_find_order(x); },
    [this](const cancel_order& x) { return on_cancel_order(x); },
    [this](const list_event_orders& x) { return on_list_orders(x); },
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
    [this](const find_stats& x) { return on_find_stats(x); },
    [this](const find_positions& x) { return on_find_positions(x); },
    [this](const subscribe& x) { on_subscribe(x.on); },
    [this](const batch_settled& x) { on_settled(x); },
    [this](const aggregate_acquired& x) { on_acquired(x); },
    [this](const lease_lost&) { on_lease_lost(); },
    [this](const hand_over& x) { on_hand_over(x); },
    [this](const blocks_changed&) { on_blocks_changed(); },
    [this](const verify_mirror& x) { return on_verify(x); },
    [this](const verify_ledger& x) { return on_verify_ledger(x); },
    [this](const aggregate_peeked& x) {
      if (audit_) audit_->peeked(x);
    },
    [this](const mirror_checked& x) {
      if (mirror_) mirror_->checked(x);
    },
    [this](const mirror_lost& x) {
      if (mirror_) mirror_->lost(x.generation);
    },
    [this](const fq::cache_is_back&) {
      if (mirror_) mirror_->cache_is_back();
    },
    [this](const gateway_answered& x) { on_gateway_answered(x); },
    [this](const timer_fired& x) { on_timer(x); },
  };
}

// -- life

void event_state::load() {
  ++loads_;
  if (services_->may_load && !services_->may_load())
    return set_timer(timer_kind::retry_load, may_load_retry, loads_);
  self_->send(services_->ledgers.of(aggregate_),
              acquire_aggregate{aggregate_, services_->env->wall_now() - idempotency_life});
}

void event_state::on_acquired(const aggregate_acquired& answer) {
  if (serving_) return;
  switch (answer.outcome) {
    case acquire_outcome::acquired: lease_ = answer.lease; return serve(*answer.content);
    case acquire_outcome::unavailable: return set_timer(timer_kind::retry_load, load_retry, loads_);
    case acquire_outcome::absent: return self_->send(supervisor_, owner_absent{});
    case acquire_outcome::not_owner: return self_->send(supervisor_, owner_denied{answer.lease_owner});
  }
}

void event_state::serve(const acquired& image) {
  if (!image.image.event) return self_->send(supervisor_, owner_absent{});
  clock_->start(image.now, image.committed_at);
  const auto random = [env = services_->env] { return env->random_u64(); };
  sale::destination_lookup destination_of;
  if (services_->destination_of)
    destination_of = [s = services_, tenant = image.image.event->tenant](const std::string& gateway) {
      return s->destination_of(gateway, tenant);
    };
  sale_ = std::make_unique<sale>(services_->rules, random, std::move(destination_of));
  sale_->load(*image.image.event, image.image.ticket_types);
  for (const auto& row : image.image.entries) sale_->load(row);
  for (const auto& row : image.image.claims) sale_->load(row);
  for (const auto& row : image.image.payments) sale_->load(row);
  for (const auto& row : image.image.refunds) sale_->load(row);
  for (const auto& row : image.image.receipts) sale_->load(row);
  for (const auto& row : image.image.promo_codes) sale_->load(row);
  for (const auto& row : image.image.orders) sale_->load(row);
  for (const auto& row : image.image.dead_letters) sale_->load(row);
  for (const auto& row : image.image.priorities) sale_->load(row);
  for (const auto& row : image.image.invitations) sale_->load(row);
  for (const auto& row : image.image.idempotency) sale_->load(row);
  sale_->loaded();
  journal_->start(aggregate_, image);
  serving_ = true;
  const auto ask_ledger = [this](std::uint64_t reading) {
    self_->send(services_->ledgers.reader(number_of(aggregate_)), peek_aggregate{aggregate_, reading});
  };
  audit_ = std::make_unique<event_audit>(ask_ledger, *sale_, *journal_);
  const auto tell_table = [](const caf::strong_actor_ptr& table, sessions_changed news) {
    caf::anon_send(caf::actor_cast<caf::actor>(table), std::move(news));
  };
  const auto mark_table = [this](const caf::strong_actor_ptr& table, push_mark mark) {
    self_->send(caf::actor_cast<hub_handle>(table), mark);
  };
  sessions_ = std::make_unique<event_sessions>(
    tell_table, mark_table, [this] { return now(); }, [env = services_->env] { return env->steady_now(); },
    *sale_, *journal_, lease_);
  if (services_->cache) {
    mirror_ = make_mirror(image.cache_generation);
    mirror_->rebuild(); // a crash may have lost a mirror step after its commit
  }
  if (services_->board)
    seat_ =
      services_->board->enter(sale_->event().id, sale_->sells() ? sale_->event().currency : std::string{});
  commit({}, now());
  for (const auto& id :
       sale_->payments().stale(timestamp::max(), 10'000)) // a crash may have lost the gateway's answers
    if (sale_->payments().find(id)->status == payment_status::initializing)
      call({gateway_call_kind::initialize, id, {}});
  self_->send(supervisor_, owner_ready{});
}

/// Memory and ledger have diverged, or a successor took over. Nothing uncommitted was revealed: load again.
void event_state::reload() {
  serving_ = false;
  if (std::exchange(is_moving_, false)) self_->send(region_, handed_over{aggregate_, false});
  journal_->fail();
  mirror_ = nullptr;
  audit_ = nullptr;
  sessions_ = nullptr;
  seat_ = nullptr;
  fail_waiters();
  ++generation_;
  timer_at_ = never;
  no_room_ = false;
  load();
}

void event_state::on_settled(const batch_settled& answer) {
  if (!journal_->settled(answer)) return reload();
  if (is_moving_) finish_move();
  journal_->is_stalled() ? clock_->pause() : clock_->resume();
}

/// Fails held replies now, not at their deadlines; senders resolve the new owner.
void event_state::on_lease_lost() {
  if (serving_ && !planted(bug::lease_loss_ignored)) reload();
}

/// Ends what blocked customers have here. Every decision applies the block lists; this one is for events
/// without other activity.
void event_state::on_blocks_changed() {
  if (!serving_ || is_moving_ || !services_->blocked_at) return; // the next load applies the lists
  if (refuses() || journal_->is_stalled()) return self_->delayed_send(self_, stall_check, blocks_changed{});
  apply_block_list();
}

/// Call before deciding a customer's request: a block that was acknowledged must apply even before
/// `blocks_changed` arrives here.
void event_state::apply_block_list() {
  if (services_->blocked_at && !sale_->is_blocked_with(blocked_here())) commit({}, now());
}

blocked_customers event_state::blocked_here() const {
  return services_->blocked_at(sale_->event().tenant, sale_->event().organizer);
}

void event_state::on_timer(const timer_fired& t) {
  switch (t.kind) {
    case timer_kind::journal:
      journal_->timer_fired(t.generation);
      if (journal_->is_stalled()) clock_->pause();
      return;
    case timer_kind::retry_load:
      if (!serving_ && t.generation == loads_) load();
      return;
    case timer_kind::idle: return on_idle_check();
    case timer_kind::flush: on_page_timeout(); return on_order_timeout();
    case timer_kind::admission:
      if (!serving_ || is_moving_ || t.generation != generation_) return;
      if (journal_->is_stalled()) return set_timer(timer_kind::admission, stall_check, generation_);
      timer_at_ = never;
      commit({}, now());
      return;
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
    case timer_kind::moved: return self_->send(supervisor_, owner_denied{moves_to_});
    case timer_kind::beat:
    case timer_kind::sweep:
    case timer_kind::renew:
    case timer_kind::restart: return;
  }
}

void event_state::on_idle_check() {
  set_timer(timer_kind::idle, services_->idle_after, 0);
  if (!serving_ || !hubs_->empty() || !journal_->is_idle() || !sale_->is_quiet()) return;
  if (services_->env->steady_now() - last_request_ >= services_->idle_after) {
    serving_ = false; // accept nothing that would be lost by the stop
    listen_for_nobody();
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

void event_state::finish_move() {
  if (!serving_ || !journal_->is_idle()) return;
  if (planted(bug::answers_after_handover)) {
    is_moving_ = false;
    self_->send(services_->ledgers.of(aggregate_), release_aggregate{aggregate_});
    return self_->send(region_, handed_over{aggregate_, true});
  }
  serving_ = false;
  fail_waiters();
  mirror_ = nullptr;
  audit_ = nullptr;
  sessions_ = nullptr; // watchers are notified
  seat_ = nullptr;
  hubs_->leave();
  listen_for_nobody();
  if (planted(bug::handover_keeps_lease)) return self_->send(region_, handed_over{aggregate_, true});
  self_->request(services_->ledgers.of(aggregate_), release_timeout, end_lease{aggregate_})
    .then(
      [this](const ack_reply&) {
        self_->send(region_, handed_over{aggregate_, true});
      },
      [this](const caf::error&) {
        self_->send(region_, handed_over{aggregate_, true});
      }); // the lease expires
  set_timer(timer_kind::moved, moved_linger, 0);
}

// -- decisions

std::uint64_t event_state::commit(decision&& d, timestamp t) {
  if (services_->blocked_at) sale_->block(blocked_here());
  const auto wake = sale_->run(t, d);
  no_room_ = sale_->queue().counts().waiting > 0;
  retry_admission_at_ = wake.at;
  tell_outside(d, t);
  alert(d.content);
  if (services_->board) services_->board->count(d.content, t);
  auto orders = order_changes_of(d.content);
  const auto seq = journal_->append(std::move(d.content), t, d.reveals);
  answer_order_waiters(orders, seq);
  show(std::move(d), std::move(orders), seq);
  tell_board(wake, t);
  arm(wake, t);
  return seq;
}

void event_state::tell_board(sale::wake_up wake, timestamp t) {
  if (!seat_) return;
  const auto& line = sale_->queue().counts();
  const auto& stock = sale_->stock();
  event_numbers n;
  n.waiting = line.waiting;
  n.away = line.away;
  n.admitted = line.admitted;
  n.held = stock.held();
  n.sold = stock.sold();
  n.free = stock.total() - n.held - n.sold;
  n.revenue = sale_->payments().revenue();
  n.orders_pending = sale_->orders().pending_count();
  n.oldest_pending = sale_->orders().oldest_pending();
  n.dead_letters = sale_->dead_letters().size();
  if (wake.again || is_set(wake.at))
    n.due =
      services_->env->steady_now() + (wake.again ? milliseconds{0} : std::max(wake.at - t, milliseconds{0}));
  seat_->tell(n);
}

std::shared_ptr<const notice_routing> event_state::routing() const {
  static const auto everything = std::make_shared<const notice_routing>();
  return services_->routing_of ? services_->routing_of(sale_->event().tenant) : everything;
}

void event_state::tell(std::string_view topic, std::string payload, timestamp t, changes& out) {
  const auto lanes = lanes_of(topic, *routing(), services_->has_bus);
  if (lanes == 0) return;
  out.emplace_back(outbox_appended{
    {services_->env->make_id(t, aggregate_), std::string{topic}, std::move(payload), t, lanes}});
}

void event_state::tell_by_mail(std::string_view topic, std::string mail, timestamp t, changes& out) {
  if (!routing()->goes(topic, medium::mail)) return;
  out.emplace_back(outbox_appended{{services_->env->make_id(t, aggregate_), std::string{topic::mail_send},
                                    std::move(mail), t, bit_of(lane::mail)}});
}

/// Adds the decision's domain events and mails to its changes.
void event_state::tell_outside(decision& d, timestamp t) {
  const auto& event = sale_->event();
  const auto tell_of = [&](const domain_event& told) {
    tell(told.topic, payload_of(told, event, sale_->stock().types()), t, d.content);
  };
  for (auto& fact : domain_events_of(d.content, aggregate_)) {
    const auto told = sale_->related(std::move(fact));
    tell_of(told);
    if (const auto award = loyalty_of(told, event.currency, services_->loyalty_points_per_unit))
      tell_of(*award);
  }
  for (const auto& effect : d.blocked) {
    tell(topic::blacklist_enforced, block_payload_of(effect, event), t, d.content);
    record(d, own({}), {block_payload_of(effect, event), {}}, "block", t);
  }
  for (const auto& row : d.invited) tell_of(invitation_event_of(row));
  for (auto& mail : mails_of(d.content, *sale_))
    tell_by_mail(mail.topic, std::move(mail.payload), t, d.content);
}

/// Alerts about new dead letters before their commit; a false alert after a failed commit is harmless.
void event_state::alert(const changes& content) const {
  if (!services_->alert) return;
  for (const auto& c : content)
    if (const auto* letter = std::get_if<dead_letter_stored>(&c);
        letter != nullptr && letter->row.status == dead_letter_status::open)
      services_->alert(letter->row);
}

void event_state::show(decision&& d, std::vector<order_change> orders, std::uint64_t seq) {
  for (const auto& order : d.gateway_calls) journal_->hold(seq, [this, order] { call(order); });
  if (hubs_->empty() || (d.entry_changes.empty() && d.notices.empty() && orders.empty() && !d.line_moved))
    return;
  journal_->hold(seq, [this, orders = std::move(orders), changed = std::move(d.entry_changes),
                       notices = std::move(d.notices), moved = d.line_moved] {
    const auto event = sale_->event().id;
    // Notices first: `ended` closes waiting sockets; admitted customers still receive their own end
    // afterwards.
    for (const auto what : notices) hubs_->tell(event_noticed{event, what, sale_->event().message});
    // Sent before the end of the entry that placed the order.
    if (!orders.empty()) hubs_->tell(orders_changed{event, orders}, orders.size());
    if (!changed.empty()) hubs_->tell(entries_changed{event, changed}, changed.size());
    if (moved) hubs_->tell(fq::line_moved{event});
  });
}

void event_state::arm(sale::wake_up wake, timestamp t) {
  const auto at = wake.again ? t + timer_min : wake.at;
  if (!is_set(at) || (is_set(timer_at_) && timer_at_ <= at)) return;
  timer_at_ = at;
  // Far deadlines are reached in steps of sweep_interval: CAF counts nanoseconds, which would overflow.
  set_timer(timer_kind::admission, std::clamp(at - t, timer_min, services_->sweep_interval), ++generation_);
}

void event_state::set_timer(timer_kind kind, milliseconds delay, std::uint64_t generation) {
  self_->delayed_send(self_, delay, timer_fired{kind, generation});
}

// -- cache

std::unique_ptr<event_mirror> event_state::make_mirror(std::uint64_t generation) {
  event_mirror::port port{
    [this](std::shared_ptr<const mirror_step> step) {
      self_->send(services_->cache, take_mirror_step{std::move(step)});
    },
    [this](check_mirror x) {
      x.sent_at = services_->env->steady_now();
      self_->send(services_->cache, std::move(x));
    },
    [this](std::shared_ptr<const vouched_mirror> x) {
      self_->send(services_->cache, vouch_for_mirror{std::move(x), services_->env->steady_now()});
    },
    [this](std::uint64_t from) {
      changes content;
      content.emplace_back(cache_generation_raised{from});
      journal_->append(std::move(content), now(), false);
    },
    [this] { return now(); }};
  return std::make_unique<event_mirror>(aggregate_, std::move(port), *sale_, *journal_, generation);
}

caf::result<mirror_report> event_state::on_verify(const verify_mirror& x) {
  if (refuses()) return refused(x);
  if (!mirror_) return mirror_report{sale_->event().id, 0, mirror_state::none, {}};
  auto promise = self_->make_response_promise<mirror_report>();
  mirror_->verify(x.rebuild, promise);
  return promise;
}

caf::result<ledger_report> event_state::on_verify_ledger(const verify_ledger& x) {
  if (refuses()) return refused(x);
  auto promise = self_->make_response_promise<ledger_report>();
  audit_->begin(promise);
  return promise;
}

// -- hubs

/// Without its supervisor the owner stops, or it would compete with the region's new one. Other monitored
/// actors are listeners.
void event_state::on_down(const caf::down_msg& down) {
  if (supervisor_ && down.source == supervisor_.address())
    return self_->quit(caf::exit_reason::user_shutdown);
  monitored_.erase(down.source);
  if (!planted(bug::lost_hub_kept)) hubs_->remove(down.source);
  if (sessions_) sessions_->unwatch(caf::actor_cast<caf::strong_actor_ptr>(down.source));
}

/// Once per listener: an io thread's actor lives as long as the process and would keep every monitor.
void event_state::listen_for(const caf::actor_addr& listener) {
  if (monitored_.insert(listener).second) self_->monitor(listener);
}

void event_state::listen_for_nobody() {
  for (const auto& listener : monitored_) self_->demonitor(listener);
  monitored_.clear();
}

/// Subscribers without requests would not notice that the lease has passed.
void event_state::watch_lease() {
  if (!services_->has_cluster || !lease_ || hubs_->empty() || watches_lease_) return;
  if (is_lapsed()) return hubs_->leave();
  watches_lease_ = true;
  set_timer(timer_kind::lapse, std::max(lease_->left(services_->env->steady_now()), milliseconds{1}), 0);
}

void event_state::on_subscribe(bool on) {
  const auto hub = caf::actor_cast<hub_handle>(self_->current_sender());
  if (!hub) return;
  if (!on) return hubs_->remove(hub.address());
  if (!hubs_->add(hub)) return;
  listen_for(hub.address());
  watch_lease();
}

void event_state::on_push_read(const push_read& x) {
  const auto& listener = self_->current_sender();
  if (!listener) return;
  if (x.kind == push_kind::places) return hubs_->read(listener->address(), x.number);
  if (sessions_) sessions_->read(listener, x.number);
}

void event_state::on_watch(bool on) {
  auto table = caf::actor_cast<caf::strong_actor_ptr>(self_->current_sender());
  if (!table || !sessions_) return;
  if (!on) return sessions_->unwatch(table);
  const bool is_remote = table->node() != self_->node();
  listen_for(table->address());
  sessions_->watch(std::move(table), is_remote);
  if (is_remote && !std::exchange(pulses_, true)) set_timer(timer_kind::pulse, pulse_interval, 0);
}

} // namespace fq
