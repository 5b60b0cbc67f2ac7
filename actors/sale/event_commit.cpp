// SPDX-License-Identifier: Apache-2.0
// The event actor's commits and their effects: domain events, metrics, mirror, pushes to line tables and
// session tables.
#include "actors/base/domain_events.hpp"
#include "actors/base/sale_board.hpp"
#include "actors/sale/event_actor.hpp"
#include "actors/sale/limits.hpp"
#include "actors/sale/mails.hpp"
#include "domain/base/planted.hpp"
#include "domain/sale/waiting_list.hpp"

#include <algorithm>
#include <utility>

namespace fq {

// -- decisions

std::uint64_t event_state::commit(decision&& d, timestamp t) {
  begin_log(d);
  if (services_->blocked_at) sale_->block(blocked_here());
  const auto wake = sale_->run(t, d);
  has_run_ = true;
  retry_admission_at_ = wake.at;
  const bool gives_positions = d.gives_positions;
  const auto seq = append(std::move(d), t);
  if (gives_positions) start_lines_over();
  update_board(wake, t);
  arm(wake, t);
  follow_draw();
  return seq;
}

/// Others who may buy the same were left waiting: the new entry waits too, without a run.
std::uint64_t event_state::commit_join(decision&& d, queue_number n, timestamp t) {
  const auto& line = sale_->queue();
  const bool has_no_room = has_run_ && line.groups()[line.find(n)->group].waiting > 1
                           && (!is_set(retry_admission_at_) || t < retry_admission_at_);
  if (!has_no_room) return commit(std::move(d), t);
  if (seat_) seat_->set_waiting(sale_->queue().counts().waiting);
  return append(std::move(d), t);
}

std::uint64_t event_state::append(decision&& d, timestamp t) {
  note_records(d, t);
  add_domain_events(d, t);
  alert(d.content);
  if (services_->board) services_->board->count(d.content, t);
  if (!d.content.empty()) arm_statistics(t);
  auto orders = order_changes_of(d.content);
  const auto seq = journal_->append(std::move(d.content), t, d.reveals);
  answer_order_waiters(orders, seq);
  push_after_commit(std::move(d), std::move(orders), seq);
  return seq;
}

void event_state::update_board(sale::wake_up wake, timestamp t) {
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

void event_state::add_outbox_row(std::string_view topic, std::string payload, timestamp t, changes& out) {
  const auto lanes = lanes_of(topic, *routing(), services_->has_bus);
  if (lanes == 0) return;
  out.emplace_back(outbox_appended{
    {services_->env->make_id(t, aggregate_), std::string{topic}, std::move(payload), t, lanes}});
}

void event_state::add_mail(std::string_view topic, std::string mail, timestamp t, changes& out) {
  if (!routing()->goes(topic, medium::mail)) return;
  out.emplace_back(outbox_appended{{services_->env->make_id(t, aggregate_), std::string{topic::mail_send},
                                    std::move(mail), t, bit_of(lane::mail)}});
}

/// Adds the decision's domain events and mails to its changes.
void event_state::add_domain_events(decision& d, timestamp t) {
  const auto& event = sale_->event();
  const auto tell_of = [&](const domain_event& told) {
    add_outbox_row(told.topic, payload_of(told, event, sale_->stock().types()), t, d.content);
  };
  for (auto& fact : domain_events_of(d.content, aggregate_)) {
    const auto told = sale_->related(std::move(fact));
    tell_of(told);
    if (const auto award = loyalty_of(told, event.currency, services_->loyalty_points_per_unit))
      tell_of(*award);
  }
  for (const auto& effect : d.blocked) {
    add_outbox_row(topic::blacklist_enforced, block_payload_of(effect, event), t, d.content);
    record(d, own({}), {block_payload_of(effect, event), {}}, "block", t);
  }
  for (const auto& row : d.invited) tell_of(invitation_event_of(row));
  for (auto& mail : transfer_mails(d.transfers, *sale_, services_->my_tickets_url))
    add_mail(mail.topic, std::move(mail.payload), t, d.content);
  for (auto& mail : holder_mails(d.told_holders, *sale_))
    add_mail(mail.topic, std::move(mail.payload), t, d.content);
  for (auto& mail : mails_of(d.content, *sale_, services_->shop_url, services_->my_tickets_url))
    add_mail(mail.topic, std::move(mail.payload), t, d.content);
}

/// Alerts about new dead letters before their commit; a false alert after a failed commit is harmless.
void event_state::alert(const changes& content) const {
  if (!services_->alert) return;
  for (const auto& c : content)
    if (const auto* letter = std::get_if<dead_letter_stored>(&c);
        letter != nullptr && letter->row.status == dead_letter_status::open)
      services_->alert(letter->row);
}

void event_state::push_after_commit(decision&& d, std::vector<order_change> orders, std::uint64_t seq) {
  if (!d.gateway_calls.empty())
    journal_->hold(seq, [this, calls = std::move(d.gateway_calls)] {
      for (const auto& c : calls) call(c);
    });
  if (planted(bug::return_not_told))
    std::erase_if(d.entry_changes, [](const auto& c) { return c.status == entry_status::waiting; });
  if (planted(bug::overtaking_not_told)) d.overtaking.clear();
  const bool is_told = !d.entry_changes.empty() || !d.overtaking.empty() || !d.notices.empty();
  const auto before = line_version_;
  if (is_told) line_version_ = seq;
  if (subscribers_->empty()) {
    if (is_told) journal_->hold(seq, [this, seq] { told_->set(seq); });
    return;
  }
  if (!is_told && orders.empty()) return;
  entries_changed news{sale_->event().id, before, seq, std::move(d.overtaking), std::move(d.entry_changes)};
  journal_->hold(
    seq, [this, is_told, news = std::move(news), orders = std::move(orders), notices = std::move(d.notices)] {
      if (is_told) told_->set(news.version);
      // Notices first: `ended` closes waiting sockets; admitted customers still receive their own end
      // afterwards.
      for (const auto what : notices)
        subscribers_->tell(event_noticed{news.event, what, sale_->event().message});
      // Sent before the end of the entry that placed the order.
      if (!orders.empty()) subscribers_->tell(orders_changed{news.event, orders}, orders.size());
      if (is_told)
        subscribers_->tell(news, std::max<std::size_t>(1, news.changes.size() + news.overtaking.size()));
    });
}

/// Told with an answer that waits for the commit of `line_version_`.
line_facts event_state::facts_of_line(timestamp t) const {
  const auto left = lease_ ? lease_->left(services_->env->steady_now()) : line_trust;
  return {line_version_,         sale_->pace(t), evidence_of(*sale_, t), std::min(line_trust, left),
          lease_of_copy{lease_}, told_,          sale_->lobby_now()};
}

void event_state::arm(sale::wake_up wake, timestamp t) {
  auto at = wake.at;
  if (wake.again) {
    const bool waits = is_behind() && !sale_->has_settled_tickets();
    const auto soon = t + (waits ? stall_check : owner_timer_min);
    if (!is_set(at) || at > soon) at = soon;
  }
  if (!is_set(at) || (is_set(timer_at_) && timer_at_ <= at)) return;
  timer_at_ = at;
  // Far deadlines are reached in steps of sweep_interval: CAF counts nanoseconds, which would overflow.
  set_timer(timer_kind::admission, std::clamp(at - t, owner_timer_min, services_->sweep_interval),
            ++generation_);
}

// -- statistics

/// What an earlier owner did not write any more is written at the end of this step.
void event_state::start_statistics(const std::optional<statistics_row>& last) {
  if (services_->statistics_step.count() == 0) return;
  statistics_.emplace(services_->statistics_step).start(last, sale_->stats(now()));
  arm_statistics(now());
}

void event_state::arm_statistics(timestamp t) {
  if (!statistics_ || std::exchange(statistics_armed_, true)) return;
  set_timer(timer_kind::statistics, statistics_->next(t) - t, 0);
}

/// At most one row a step, only if something changed. Armed again by the next decision.
void event_state::write_statistics() {
  statistics_armed_ = false;
  if (!serving_ || is_moving_ || !statistics_) return;
  if (refuses() || journal_->is_stalled()) return arm_statistics(now());
  const auto stats = sale_->stats(now());
  if (!statistics_->has_news(stats)) return;
  const auto row = statistics_->take(stats);
  if (!row) return arm_statistics(now()); // the aggregate's clock is behind the timer's
  changes content;
  content.emplace_back(std::in_place_type<statistics_stored>, statistics_stored{*row});
  journal_->append(std::move(content), now(), false);
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

// -- subscribers

/// Without its supervisor the owner stops, or it would compete with the region's new one. Other monitored
/// actors are listeners.
void event_state::on_down(const caf::down_msg& down) {
  if (supervisor_ && down.source == supervisor_.address())
    return self_->quit(caf::exit_reason::user_shutdown);
  monitored_.erase(down.source);
  if (!planted(bug::lost_subscriber_kept)) subscribers_->remove(down.source);
  if (sessions_) sessions_->unwatch(caf::actor_cast<caf::strong_actor_ptr>(down.source));
}

/// Once per listener: an io thread's actor lives as long as the process and would keep every monitor.
void event_state::monitor_listener(const caf::actor_addr& listener) {
  if (monitored_.insert(listener).second) self_->monitor(listener);
}

void event_state::demonitor_listeners() {
  for (const auto& listener : monitored_) self_->demonitor(listener);
  monitored_.clear();
}

/// Subscribers without requests would not notice that the lease has passed.
void event_state::watch_lease() {
  if (!services_->has_cluster || !lease_ || subscribers_->empty() || watches_lease_) return;
  if (is_lapsed()) return subscribers_->leave();
  watches_lease_ = true;
  set_timer(timer_kind::lapse, std::max(lease_->left(services_->env->steady_now()), milliseconds{1}), 0);
}

void event_state::on_subscribe(bool on) {
  const auto subscriber = caf::actor_cast<subscriber_handle>(self_->current_sender());
  if (!subscriber) return;
  if (!on) return subscribers_->remove(subscriber.address());
  if (!subscribers_->add(subscriber)) return;
  monitor_listener(subscriber.address());
  watch_lease();
}

void event_state::on_owner_kept() {
  const auto& keeper = self_->current_sender();
  if (!keeper) return;
  subscribers_->add_keeper(keeper);
  if (is_moving_ && !serving_) subscribers_->leave(); // resolved before the move, arrived after it
}

void event_state::on_push_read(const push_read& x) {
  const auto& listener = self_->current_sender();
  if (!listener) return;
  if (x.kind == push_kind::places) return subscribers_->read(listener->address(), x.number);
  if (sessions_) sessions_->read(listener, x.number);
}

void event_state::on_watch(const watch_sessions& x) {
  auto table = caf::actor_cast<caf::strong_actor_ptr>(self_->current_sender());
  if (!table || !sessions_) return;
  if (!x.on) return sessions_->unwatch(table);
  const bool is_remote = table->node() != self_->node();
  monitor_listener(table->address());
  sessions_->watch(std::move(table), is_remote, x.asked_at);
  if (is_remote && !std::exchange(pulses_, true)) set_timer(timer_kind::pulse, pulse_interval, 0);
}

} // namespace fq
