// SPDX-License-Identifier: Apache-2.0
// There is no gap between `state` and pushes: the line is open before the hub requests the snapshot, and an
// actor's replies and pushes arrive in the order it sent them. Pushes before the snapshot are part of it
// and are skipped.
#include "net/websocket/hub.hpp"

#include "net/bridge/limits.hpp"
#include "net/websocket/limits.hpp"
#include "net/websocket/seat_feed.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/order_codec.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace fq::net {

namespace {

bool moved_enough(std::uint64_t from, std::uint64_t to) {
  const auto moved = from > to ? from - to : to - from;
  return moved > 0 && (to <= always_updated_places || moved * 100 >= from);
}

} // namespace

milliseconds refresh_of(std::size_t sockets, std::int64_t io_threads) {
  const auto all = static_cast<std::int64_t>(sockets) * std::max<std::int64_t>(io_threads, 1);
  return std::clamp(milliseconds{all * 1'000 / small_moves_a_second}, refresh_min, refresh_max);
}

bool may_be_due(std::uint64_t last, std::uint64_t moves, milliseconds age, milliseconds refresh) {
  return moves > 0 && (age >= refresh || moved_enough(last, last - std::min(last, moves)));
}

/// The sockets of one event.
struct line {
  event_id event;
  known_line_ptr known;
  bool gone = false; ///< the last socket left
  milliseconds present_told_at{0};
  std::size_t peers = 0;
  std::unordered_map<std::uint64_t, ws_peer*> by_number; ///< first socket of a chain
  std::deque<ws_peer::ptr> to_show; ///< sockets that wait for their snapshot
  std::size_t snapshots = 0; ///< snapshots in flight
  milliseconds show_at{0}; ///< earliest time of the next snapshot; set after an error
  std::uint64_t moves_seen = 0; ///< of the line, at the last sweep
  bool untold = false; ///< a socket may have moved since its last position
  bool sweeping = false;
  seat_feed seats;

  [[nodiscard]] bool is_open() const { return known && known->now == known_line::phase::open; }
};

hub::hub(context& ctx) : ctx_(ctx), chance_(ctx.environment.random_u64()) {}

hub::~hub() { stop(); }

/// splitmix64 from one random seed: it spreads clients and needs no secrecy.
std::uint64_t hub::chance() {
  auto x = chance_ += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// Converts wall time to steady time, so that a clock jump closes no socket. Not set: never.
milliseconds hub::steady(timestamp when) const {
  return is_set(when) ? ctx_.now + (when - ctx_.environment.wall_now()) : milliseconds::max();
}

// -- sockets

void hub::adopt(stream socket, const ws_upgrade& upgrade, const boost::asio::ip::address& client) {
  ws_peer::ptr peer{
    new ws_peer(ctx_, *this, std::move(socket), client, upgrade.holder, steady(upgrade.authorized_until))};
  peer->number = upgrade.number;
  peer->by_ticket = upgrade.by_ticket;
  peer->seats_version = upgrade.seats_version;
  intrusive_ptr_add_ref(peer.get()); // the list's reference
  peers_.push_back(*peer);
  ++peers_open_;
  auto& l = lines_[upgrade.event];
  const bool is_new = !l;
  if (is_new) {
    l = std::make_shared<line>();
    l->event = upgrade.event;
    l->known = ctx_.lines->follow(upgrade.event);
  }
  const auto mine = l;
  const bool crowded = sockets_of(*mine, peer->number) >= sockets_per_entry_max;
  enter_line(mine, *peer);
  mine->to_show.push_back(peer);
  peer->begin();
  if (crowded) return peer->close(ws_close::try_again);
  if (draining_) return send_away(*peer);
  take_snapshots(mine);
}

std::size_t hub::sockets_of(const line& l, queue_number number) {
  const auto found = l.by_number.find(value_of(number));
  std::size_t count = 0;
  for (const auto* at = found == l.by_number.end() ? nullptr : found->second; at; at = at->next_same_number)
    ++count;
  return count;
}

void hub::enter_line(const line_ptr& l, ws_peer& peer) {
  peer.line = l.get();
  auto& first = l->by_number[value_of(peer.number)];
  if (first) first->stand(standing::extra);
  peer.next_same_number = std::exchange(first, &peer);
  peer.stand(standing::needed);
  ++l->peers;
  if (peer.seats_version != 0) ++l->seats.sockets;
}

void hub::leave_line(line& l, ws_peer& peer) {
  const auto found = l.by_number.find(value_of(peer.number));
  if (found != l.by_number.end()) {
    auto** at = &found->second;
    while (*at && *at != &peer) at = &(*at)->next_same_number;
    if (*at) *at = peer.next_same_number;
    if (found->second)
      found->second->stand(standing::needed);
    else
      l.by_number.erase(found);
  }
  peer.stand(standing::owing);
  peer.line = nullptr;
  peer.next_same_number = nullptr;
  --l.peers;
  if (peer.seats_version != 0) --l.seats.sockets;
}

void hub::on_closing(ws_peer& peer) {
  --peers_open_;
  auto* l = peer.line;
  if (!l) return;
  leave_line(*l, peer);
  if (l->peers > 0) return;
  l->gone = true;
  const auto event = l->event;
  lines_.erase(event);
  ctx_.lines->unfollow(event);
}

void hub::on_closed(ws_peer& peer) {
  if (!peer.is_linked()) return;
  peers_.erase(peers_.iterator_to(peer));
  intrusive_ptr_release(&peer); // the list's reference; the caller has another
}

std::string_view hub::render_position(const ws_peer& peer, const place& where) {
  const bool has_outlook = peer.has_outlook && peer.line != nullptr && peer.line->known;
  scratch_ =
    position_frame(where.position, where.seconds_per_place_low, where.seconds_per_place_high,
                   has_outlook ? outlook_of(peer.line->known->facts.evidence, where.position) : outlook{});
  return scratch_;
}

void hub::drain() {
  draining_ = true;
  std::vector<ws_peer::ptr> all;
  for (auto& peer : peers_) all.emplace_back(&peer);
  for (const auto& peer : all)
    if (peer->is_open()) send_away(*peer);
}

/// Sends a random reconnect delay and closes the socket.
void hub::send_away(ws_peer& peer) {
  peer.send(draining_frame(milliseconds{reconnect_min_ms + chance() % reconnect_spread_ms}));
  peer.close(ws_close::service_restart);
}

void hub::stop() {
  stopped_ = true;
  while (!peers_.empty()) {
    const ws_peer::ptr peer{&peers_.front()};
    peer->drop();
  }
  lines_.clear();
}

void hub::sweep(milliseconds now) {
  if (stopped_) return;
  std::vector<line_ptr> due;
  for (const auto& [event, l] : lines_) due.push_back(l);
  for (const auto& l : due) {
    if (l->gone || !l->is_open()) continue;
    take_snapshots(l);
    if (l->known->watches_presence && now - l->present_told_at >= presence_interval) tell_presence(*l);
    const bool has_moved = l->known->places.moves() != l->moves_seen;
    if ((has_moved || l->untold) && !l->sweeping) sweep_positions(l);
    if (l->seats.sockets > 0 && !l->seats.is_asking && l->seats.ask_at <= now) follow_seats(l);
  }
  if (++ticks_ % peer_sweep_ticks != 0) return;
  for (auto at = peers_.begin(); at != peers_.end();) {
    const ws_peer::ptr peer{&*at};
    ++at; // a dropped peer leaves the list
    peer->sweep(now);
  }
}

// -- subscriptions

hub::line_ptr hub::find_line(const event_id& event) const {
  const auto found = lines_.find(event);
  return found == lines_.end() ? nullptr : found->second;
}

void hub::on_line_open(const event_id& event) {
  const auto l = find_line(event);
  if (!l) return;
  l->moves_seen = 0;
  l->to_show.clear();
  for (const auto& [number, first] : l->by_number)
    for (auto* peer = first; peer; peer = peer->next_same_number) {
      peer->in_sync = false;
      l->to_show.emplace_back(peer);
    }
  take_snapshots(l);
}

/// Sockets stay open and get a new `state` when the event has an owner again.
void hub::on_line_lost(const event_id& event) {
  if (const auto l = find_line(event)) l->to_show.clear();
}

/// Another node owns the event; a load balancer routes new connections there.
void hub::on_line_elsewhere(const event_id& event) {
  const auto l = find_line(event);
  if (!l) return;
  std::vector<ws_peer::ptr> all;
  for (const auto& [number, first] : l->by_number)
    for (auto* peer = first; peer; peer = peer->next_same_number) all.emplace_back(peer);
  for (const auto& peer : all) send_away(*peer);
}

// -- snapshots

void hub::take_snapshots(const line_ptr& l) {
  while (l->is_open() && !l->to_show.empty() && l->snapshots < snapshots_in_flight_max
         && l->show_at <= ctx_.now) {
    auto peer = std::move(l->to_show.front());
    l->to_show.pop_front();
    if (peer->is_open()) take_snapshot(l, std::move(peer));
  }
}

detached hub::take_snapshot(line_ptr l, ws_peer::ptr peer) {
  const auto generation = l->known->generation;
  ++l->snapshots;
  const auto owner = owner_of(l->event);
  answer<entry_reply> got;
  if (peer->by_ticket)
    got = co_await ask_event(ctx_, owner, find_ticket{peer->holder});
  else
    got = co_await ask_event(ctx_, owner, find_entry{l->event, peer->holder});
  auto& [error, reply] = got;
  --l->snapshots;
  if (stopped_ || l->gone || l->known->generation != generation || !peer->is_open())
    co_return; // on_line_open shows it again with the new owner
  const bool is_other = !error && is_in_line(reply.entry.status) && !reply.no
                        && (reply.line_version != l->known->places.version()
                            || !line_copy::is_spot(reply.entry.spot)); // no owner answers so
  if (error || is_other) {
    l->to_show.push_back(std::move(peer));
    l->show_at = ctx_.now + milliseconds{1}; // retried at the next tick
    co_return;
  }
  if (reply.no)
    peer->close(ws_close::normal); // the entry is gone
  else
    show(l, *peer, reply.entry);
  take_snapshots(l);
}

void hub::show(const line_ptr& l, ws_peer& peer, const entry_view& entry) {
  if (entry.number != peer.number) { // the customer has joined again since the request
    leave_line(*l, peer);
    peer.number = entry.number;
    enter_line(l, peer);
  }
  peer.in_sync = true;
  peer.status = entry.status;
  peer.admission_no = entry.admission_no;
  peer.has_outlook = entry.outlook.is_known;
  peer.last_position = entry.position;
  peer.last_position_at = ctx_.now;
  const auto& known = *l->known;
  peer.moves_then = known.places.moves();
  peer.spot = entry.spot;
  if (is_in_line(entry.status)) peer.base = known.places.base_of(entry.spot, entry.position);
  peer.forget_position();
  peer.kind = entry.kind;
  peer.send(state_frame(entry, known.status, known.sold_out, ctx_.environment.wall_now(), ctx_.sessions));
  const bool over = is_in_line(entry.status)
                    && (known.status == event_status::ended || known.status == event_status::cancelled);
  if (!is_live(entry.status) || over) peer.close(ws_close::normal);
}

// -- pushes

/// Calls `push(peer, change)` for every socket of each changed entry.
template <class Change, class Push>
void hub::push_to_each(const event_id& event, const std::vector<Change>& changes, Push push) {
  const auto l = find_line(event);
  if (!l) return;
  for (const auto& c : changes) {
    const auto found = l->by_number.find(value_of(c.number));
    if (found == l->by_number.end()) continue;
    for (ws_peer::ptr peer{found->second}; peer;) {
      const ws_peer::ptr next{peer->next_same_number};
      push(*peer, c);
      peer = next;
    }
    if (l->gone) return;
  }
}

void hub::on_entries_changed(const entries_changed& push) {
  push_to_each(push.event, push.changes, [this](ws_peer& peer, const entry_change& c) {
    if (peer.in_sync) change(peer, c);
  });
}

/// Sends to every socket of the order's entry, even before its `state`.
void hub::on_orders_changed(const orders_changed& push) {
  push_to_each(push.event, push.changes,
               [](ws_peer& peer, const order_change& c) { peer.send(order_frame(c)); });
}

void hub::change(ws_peer& peer, const entry_change& c) {
  if (peer.status == c.status && peer.admission_no == c.admission_no) return; // already in the snapshot
  peer.status = c.status;
  peer.admission_no = c.admission_no;
  if (is_in_line(c.status)) return;
  peer.forget_position();
  if (c.status == entry_status::admitted) {
    peer.send(admitted_frame(c, peer.kind, ctx_.sessions));
    return;
  }
  peer.send(terminal_frame(c.status, peer.kind, c.id));
  peer.close(ws_close::normal);
}

void hub::on_event_noticed(const event_noticed& push) {
  const auto l = find_line(push.event);
  if (!l || push.what == socket_notice_kind::presence_watched
      || push.what == socket_notice_kind::presence_unwatched)
    return;
  std::vector<ws_peer::ptr> in_sync;
  for (const auto& [number, first] : l->by_number)
    for (auto* peer = first; peer; peer = peer->next_same_number)
      if (peer->in_sync) in_sync.emplace_back(peer);
  const auto frame = notice_frame(push.what, push.message);
  for (const auto& peer : in_sync) {
    peer->send(frame);
    if (push.what == socket_notice_kind::ended && is_in_line(peer->status)) peer->close(ws_close::normal);
  }
}

// -- positions

/// The sockets that may have to hear a position.
std::vector<ws_peer*> hub::due_positions(line& l, milliseconds refresh) const {
  std::vector<ws_peer*> due;
  l.untold = false;
  l.moves_seen = l.known->places.moves();
  for (const auto& [number, first] : l.by_number)
    for (auto* peer = first; peer; peer = peer->next_same_number) {
      const auto moves = l.moves_seen - peer->moves_then;
      if (!peer->in_sync || !is_in_line(peer->status) || moves == 0) continue;
      l.untold = true;
      if (may_be_due(peer->last_position, moves, ctx_.now - peer->last_position_at, refresh))
        due.push_back(peer);
    }
  return due;
}

/// Asks for the pace of the line if the last one is old.
detached hub::sweep_positions(line_ptr l) {
  const auto generation = l->known->generation;
  l->sweeping = true;
  bool has_pace = ctx_.lines->has_pace(*l->known);
  if (!has_pace) has_pace = !(co_await ctx_.lines->renew(l->known)).error;
  l->sweeping = false;
  if (has_pace && !stopped_ && !l->gone && l->known->generation == generation) show_positions(*l);
}

void hub::show_positions(line& l) {
  if (l.known->facts.lobby.phase != lobby_phase::none) return;
  const auto& places = l.known->places;
  const auto refresh = refresh_of(l.peers, ctx_.options.io.threads);
  const auto [low, high] = l.known->facts.pace.seconds_per_place();
  const auto due = due_positions(l, refresh);
  const std::vector<ws_peer::ptr> kept(due.begin(), due.end()); // a peer that does not read closes
  for (const auto& peer : kept)
    if (const auto position = places.position(peer->spot, peer->base))
      offer_position(*peer, {*position, static_cast<float>(low), static_cast<float>(high)}, l.moves_seen,
                     refresh);
}

// -- seats

/// One question for all sockets of the event. After a new owner, or with no known version: the whole map.
detached hub::follow_seats(line_ptr l) {
  auto& feed = l->seats;
  feed.is_asking = true;
  find_seats wish{{l->event, {}}, feed.version};
  auto got = co_await ask_event(ctx_, owner_of(l->event), std::move(wish));
  feed.is_asking = false;
  const bool is_known = !got.error && !got.reply.no;
  feed.ask_at =
    ctx_.now + (is_known ? seats_refresh_of(feed.sockets, ctx_.options.io.threads) : seats_retry_after);
  if (is_known && !stopped_ && !l->gone) show_seats(*l, got.reply);
}

/// A socket that has not read its last frame keeps its version. It hears of the map when it reads again.
void hub::show_seats(line& l, const seats_reply& got) {
  l.seats.version = got.version;
  std::vector<ws_peer::ptr> due;
  for (const auto& [number, first] : l.by_number)
    for (auto* peer = first; peer; peer = peer->next_same_number)
      if (peer->seats_version != 0 && peer->in_sync && !peer->has_unread()) due.emplace_back(peer);
  const auto changes = got.from == 0 ? std::string{} : seats_frame(got.text);
  const auto reload = seats_reload_frame(got.version);
  for (const auto& peer : due) {
    const auto news = news_for(peer->seats_version, {got.from, got.version, changes.size()});
    if (news == seat_news::none) continue;
    peer->seats_version = got.version;
    peer->send(news == seat_news::changes ? changes : reload);
  }
}

/// Reports every entry with an open socket as present.
void hub::tell_presence(line& l) {
  l.present_told_at = ctx_.now;
  present batch;
  for (const auto& [number, first] : l.by_number) {
    if (is_in_line(first->status)) batch.numbers.push_back(queue_number{number});
    if (batch.numbers.size() == present_at_most)
      ctx_.bridge->tell_event(owner_of(l.event), std::exchange(batch, {}));
  }
  if (!batch.numbers.empty()) ctx_.bridge->tell_event(owner_of(l.event), std::move(batch));
}

/// Sends the position if it moved far enough or the last one is old. `moves`: of the line.
void hub::offer_position(ws_peer& peer, const place& where, std::uint64_t moves, milliseconds refresh) {
  if (!peer.is_open() || !peer.in_sync) return;
  const bool has_moved = where.position != peer.last_position;
  if (has_moved && !moved_enough(peer.last_position, where.position)
      && ctx_.now - peer.last_position_at < refresh)
    return;
  peer.moves_then = moves;
  if (has_moved) peer.send_position(where);
}

} // namespace fq::net
