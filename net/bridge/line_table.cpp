// SPDX-License-Identifier: Apache-2.0
// There is no gap between what an owner answers and what it pushes: the table subscribes before it asks, and
// an actor's replies and pushes arrive in the order it sent them. Pushes before the answer are part of it.
#include "net/bridge/line_table.hpp"

#include <algorithm>
#include <utility>

namespace fq::net {

// -- places

const known_places::place* known_places::find(const event_id& event, const customer_id& holder) {
  const key k{event, holder};
  if (const auto found = recent_.find(k); found != recent_.end()) return &found->second;
  auto older = older_.extract(k);
  if (!older) return nullptr;
  make_room();
  return &recent_.insert(std::move(older)).position->second;
}

void known_places::put(const event_id& event, const customer_id& holder, const place& p) {
  older_.erase({event, holder});
  make_room();
  recent_.insert_or_assign({event, holder}, p);
}

void known_places::make_room() {
  if (recent_.size() < known_places_max / 2) return;
  forgotten_ = std::exchange(older_, std::exchange(recent_, {}));
}

void known_places::free_some() {
  for (std::size_t n = 0; n < places_freed_at_once && !forgotten_.empty(); ++n)
    forgotten_.erase(forgotten_.begin());
}

// -- subscriptions

known_line* line_table::find(const event_id& event) const {
  const auto found = lines_.find(event);
  return found == lines_.end() ? nullptr : found->second.get();
}

known_line_ptr line_table::enter(const event_id& event) {
  auto& l = lines_[event];
  if (l) return l;
  l = std::make_shared<known_line>();
  l->event = event;
  l->generation = ++generations_;
  return l;
}

known_line_ptr line_table::follow(const event_id& event) {
  const bool is_new = find(event) == nullptr;
  auto l = enter(event);
  l->is_followed = true;
  if (is_new) open(l);
  return l;
}

void line_table::unfollow(const event_id& event) {
  auto* l = find(event);
  if (l == nullptr) return;
  l->is_followed = false;
  if (ctx_.now - l->polled_at > polled_for) leave(*l);
}

void line_table::leave(known_line& l) {
  l.is_gone = true;
  if (!stopped_ && ctx_.bridge) ctx_.bridge->subscribe_to(owner_of(l.event), false);
  lines_.erase(event_id{l.event});
}

/// The owner stopped or is unreachable, or a push is missing.
void line_table::lose(known_line& l) {
  l.generation = ++generations_;
  l.now = known_line::phase::lost;
  l.reopen_at = ctx_.now + l.reopen_wait;
  l.reopen_wait = std::min(2 * l.reopen_wait, reopen_most);
  l.trusted_until = {};
  tell_presence(l);
  if (follower_ && l.is_followed) follower_->on_line_lost(l.event);
}

detached line_table::open(known_line_ptr l) {
  const auto aggregate = owner_of(l->event);
  const auto generation = l->generation;
  const auto still = [&] { return !stopped_ && !l->is_gone && l->generation == generation; };
  auto reached =
    co_await ask_event(ctx_, aggregate, fq::find_line{l->event}); // the bridge now knows the owner
  if (!still()) co_return;
  l->told = nullptr;
  if (reached.error || !ctx_.bridge->subscribe_to(aggregate, true, &l->told)) {
    lose(*l);
    if (reached.error && is(reached.error, errc::not_owner) && follower_ && l->is_followed)
      follower_->on_line_elsewhere(l->event);
    co_return;
  }
  // Read again after the subscription, so that no change in between is lost.
  const auto asked_at = ctx_.now;
  auto found = co_await ask_event(ctx_, aggregate, fq::find_line{l->event});
  if (!still()) co_return;
  if (found.error) {
    lose(*l);
    co_return;
  }
  if (!found.reply.no) {
    l->status = found.reply.status;
    l->sold_out = found.reply.sold_out;
    l->watches_presence = found.reply.watches_presence;
    l->message = found.reply.message;
  }
  l->now = known_line::phase::open;
  l->reopen_wait = reopen_after;
  l->places.begin(found.reply.line.version);
  take_facts(*l, found.reply.line, asked_at);
  if (follower_ && l->is_followed) follower_->on_line_open(l->event);
}

/// Facts of a later version: pushes are missing. The owner says so when this node has read the others
/// (actors/sale/push_window.hpp); to subscribe again before that would not bring them.
void line_table::take_facts(known_line& l, const line_facts& facts, milliseconds asked_at) {
  const auto until = asked_at + facts.trusted_for;
  if (facts.version != l.places.version() || until <= l.trusted_until) return;
  l.facts = facts;
  l.trusted_until = until;
  if (facts.told) l.told = facts.told;
}

awaitable<answer<line_reply>> line_table::renew(known_line_ptr l) {
  const auto generation = l->generation;
  const auto asked_at = ctx_.now;
  ++l->renewals;
  auto found = co_await ask_event(ctx_, owner_of(l->event), fq::find_line{l->event});
  --l->renewals;
  if (!stopped_ && l->generation == generation && !found.error) take_facts(*l, found.reply.line, asked_at);
  if (!has_pace(*l)) l->renew_at = ctx_.now + renewal_pause;
  co_return found;
}

void line_table::sweep(milliseconds now) {
  if (stopped_) return;
  places_.free_some();
  std::vector<known_line_ptr> all;
  for (const auto& [event, l] : lines_) all.push_back(l);
  for (const auto& l : all) {
    if (l->is_gone) continue;
    tell_presence(*l);
    if (!l->is_followed && now - l->polled_at > polled_for) {
      leave(*l);
    } else if (l->now == known_line::phase::lost && l->reopen_at <= now) {
      l->now = known_line::phase::opening;
      open(l);
    }
  }
}

void line_table::stop() {
  stopped_ = true;
  lines_.clear();
}

// -- pushes

void line_table::on_entries_changed(const entries_changed& push) {
  auto* l = find(push.event);
  if (l == nullptr) return;
  auto news = line_copy::news::known;
  if (l->now == known_line::phase::open) news = l->places.advance(push.before, push.version);
  if (news == line_copy::news::next) {
    for (const auto& spot : push.overtaking) l->places.arrived(spot);
    for (const auto& c : push.changes) l->places.changed(c.spot, c.status);
    if (l->places.is_full()) news = line_copy::news::missed;
  }
  const auto kept = lines_.at(push.event); // the follower may leave it
  if (follower_ && l->is_followed) follower_->on_entries_changed(push);
  if (news == line_copy::news::missed && !kept->is_gone) lose(*kept);
}

void line_table::on_event_noticed(const event_noticed& push) {
  auto* l = find(push.event);
  if (l == nullptr) return;
  switch (push.what) {
    case socket_notice_kind::presence_watched:
    case socket_notice_kind::presence_unwatched:
      l->watches_presence = push.what == socket_notice_kind::presence_watched;
      break;
    case socket_notice_kind::paused: l->status = event_status::paused; break;
    case socket_notice_kind::resumed: l->status = event_status::active; break;
    case socket_notice_kind::sold_out: l->sold_out = true; break;
    case socket_notice_kind::back_on_sale: l->sold_out = false; break;
    case socket_notice_kind::ended: l->status = event_status::ended; break;
    case socket_notice_kind::waiting_list:
    case socket_notice_kind::no_waiting_list:
      l->facts.evidence.waiting_list = push.what == socket_notice_kind::waiting_list;
      break;
    case socket_notice_kind::message: l->message = push.message; break;
  }
  if (follower_ && l->is_followed) follower_->on_event_noticed(push);
}

void line_table::on_orders_changed(const orders_changed& push) {
  const auto* l = find(push.event);
  if (l != nullptr && follower_ && l->is_followed) follower_->on_orders_changed(push);
}

void line_table::on_owner_gone(aggregate_id aggregate) {
  for (const auto& [event, l] : lines_)
    if (owner_of(event) == aggregate) lose(*l);
}

// -- polls

/// Whether the line is here as its owner, or the owner of a later lease, would show it.
bool line_table::is_current(const known_line& l, milliseconds steady) {
  return l.now == known_line::phase::open && steady < l.trusted_until && !l.facts.lease.has_passed(steady)
         && (!l.told || l.told->is_in(l.places.version()));
}

const known_places::place* line_table::find_waiting(const known_line& l, const customer_id& holder) {
  const auto* p = places_.find(l.event, holder);
  return p != nullptr && p->generation == l.generation && !l.places.is_away(p->spot) ? p : nullptr;
}

known_line_ptr line_table::find_stale(const event_id& event, const customer_id& holder) {
  const auto found = lines_.find(event);
  if (found == lines_.end() || found->second->now != known_line::phase::open) return nullptr;
  const auto& l = *found->second;
  if (l.renewals > 0 || ctx_.now < l.renew_at) return nullptr;
  return !has_pace(l) && find_waiting(l, holder) != nullptr ? found->second : nullptr;
}

std::optional<entry_view> line_table::find_place(const event_id& event, const customer_id& holder) {
  auto* l = find(event);
  if (l == nullptr || !is_current(*l, ctx_.environment.steady_now())) return std::nullopt;
  const auto* p = find_waiting(*l, holder);
  if (p == nullptr) return std::nullopt;
  const auto position = l->places.position(p->spot, p->base);
  if (!position) return std::nullopt;
  l->polled_at = ctx_.now;
  entry_view v;
  v.id = p->id;
  v.event = event;
  v.kind = event_kind::sale;
  v.customer = holder;
  v.message = l->message;
  v.number = queue_number_of(p->id);
  v.joined_at = time_of(p->id);
  v.spot = p->spot;
  const bool has_position = l->facts.lobby.phase == lobby_phase::none;
  has_position ? set_wait(v, *position, l->facts.pace)
               : set_wait(v, l->facts.lobby, ctx_.environment.wall_now());
  if (p->has_outlook && has_position) v.outlook = outlook_of(l->facts.evidence, *position);
  if (l->watches_presence) l->seen.push_back(v.number);
  if (l->seen.size() >= present_at_most) tell_presence(*l);
  return v;
}

void line_table::learn(const entry_reply& told) {
  const auto& e = told.entry;
  auto* l = find(e.event);
  if (l == nullptr) {
    if (stopped_ || told.line_version == 0 || e.status != entry_status::waiting
        || lines_.size() >= polled_lines_max)
      return;
    const auto opened = enter(e.event);
    opened->polled_at = ctx_.now;
    open(opened);
    return;
  }
  l->polled_at = ctx_.now;
  if (l->now != known_line::phase::open || told.line_version != l->places.version()) return;
  if (e.status != entry_status::waiting || e.kind != event_kind::sale || !e.subject_name.empty()
      || !line_copy::is_spot(e.spot) || e.party != queue_number{})
    return; // only the owner knows parties
  places_.put(e.event, e.customer,
              {e.id, e.spot, l->places.base_of(e.spot, e.position), l->generation, e.outlook.is_known});
}

/// An owner that is gone is not told: the next one counts every entry as seen.
void line_table::tell_presence(known_line& l) {
  if (l.seen.empty()) return;
  present batch{std::exchange(l.seen, {})};
  if (ctx_.bridge) ctx_.bridge->tell_event(owner_of(l.event), std::move(batch));
}

} // namespace fq::net
