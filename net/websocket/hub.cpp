// SPDX-License-Identifier: Apache-2.0
// There is no gap between `state` and pushes: the hub subscribes before it requests the snapshot, and an
// actor's replies and pushes arrive in the order it sent them. Pushes before the snapshot are part of it
// and are skipped.
#include "net/websocket/hub.hpp"

#include "net/websocket/limits.hpp"
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
  enum class phase : std::uint8_t { opening, open, lost };

  event_id event;
  phase now = phase::opening;
  bool gone = false; ///< the last socket left and the subscription ended
  std::uint32_t generation = 0; ///< number of the owner as seen by this hub
  event_status status = event_status::active;
  bool sold_out = false;
  bool watches_presence = false;
  milliseconds present_told_at{0};
  std::size_t peers = 0;
  std::unordered_map<std::uint64_t, ws_peer*> by_number; ///< first socket of a chain
  std::deque<ws_peer::ptr> to_show; ///< sockets that wait for their snapshot
  std::size_t snapshots = 0; ///< snapshots in flight
  milliseconds show_at{0}; ///< earliest time of the next snapshot; set after an error
  milliseconds reopen_at{0};
  std::uint64_t moves = 0; ///< as pushed, since the first socket
  bool untold = false; ///< a socket may have moved since its last position
  bool sweeping = false;
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
  intrusive_ptr_add_ref(peer.get()); // the list's reference
  peers_.push_back(*peer);
  ++peers_open_;
  auto& l = lines_[upgrade.event];
  const bool is_new = !l;
  if (is_new) {
    l = std::make_shared<line>();
    l->event = upgrade.event;
  }
  const auto mine = l;
  const bool crowded = sockets_of(*mine, peer->number) >= sockets_per_entry_max;
  enter_line(mine, *peer);
  mine->to_show.push_back(peer);
  peer->begin();
  if (crowded) return peer->close(ws_close::try_again);
  if (draining_) return send_away(*peer);
  if (is_new)
    open_line(mine);
  else
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
}

void hub::on_closing(ws_peer& peer) {
  --peers_open_;
  auto* l = peer.line;
  if (!l) return;
  leave_line(*l, peer);
  if (l->peers > 0) return;
  l->gone = true;
  if (!stopped_ && ctx_.bridge) ctx_.bridge->subscribe_to(owner_of(l->event), false);
  const auto event = l->event;
  lines_.erase(event);
}

void hub::on_closed(ws_peer& peer) {
  if (!peer.is_linked()) return;
  peers_.erase(peers_.iterator_to(peer));
  intrusive_ptr_release(&peer); // the list's reference; the caller has another
}

std::string_view hub::render_position(const place& where) {
  scratch_ = position_frame(where.position, where.seconds_per_place_low, where.seconds_per_place_high);
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
    if (l->gone) continue;
    if (l->now == line::phase::lost && l->reopen_at <= now) {
      l->now = line::phase::opening;
      open_line(l);
    } else if (l->now == line::phase::open) {
      take_snapshots(l);
      if (l->watches_presence && now - l->present_told_at >= presence_interval) tell_presence(*l);
      if (l->untold && !l->sweeping) sweep_positions(l);
    }
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

/// The owner stopped or is unreachable. Sockets stay open and get a new `state` when the event has an owner
/// again.
void hub::lose(line& l) {
  ++l.generation;
  l.now = line::phase::lost;
  l.reopen_at = ctx_.now + reopen_after;
  l.to_show.clear();
}

void hub::on_owner_gone(aggregate_id aggregate) {
  for (const auto& [event, l] : lines_)
    if (owner_of(event) == aggregate) lose(*l);
}

/// Another node owns the event; a load balancer routes new connections there.
void hub::send_away(const line& l) {
  std::vector<ws_peer::ptr> all;
  for (const auto& [number, first] : l.by_number)
    for (auto* peer = first; peer; peer = peer->next_same_number) all.emplace_back(peer);
  for (const auto& peer : all) send_away(*peer);
}

detached hub::open_line(line_ptr l) {
  const auto aggregate = owner_of(l->event);
  const auto generation = l->generation;
  const auto still = [&] { return !stopped_ && !l->gone && l->generation == generation; };
  auto reached =
    co_await ask_event(ctx_, aggregate, fq::find_line{l->event}); // the bridge now knows the owner
  if (!still()) co_return;
  if (reached.error && is(reached.error, errc::not_owner)) {
    lose(*l); // sockets that arrive before the last one left are sent away too
    send_away(*l);
    co_return;
  }
  if (reached.error || !ctx_.bridge->subscribe_to(aggregate, true)) {
    lose(*l);
    co_return;
  }
  // Read again after the subscription, so that no change in between is lost.
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
  }
  opened(l);
}

void hub::opened(const line_ptr& l) {
  l->now = line::phase::open;
  l->to_show.clear();
  for (const auto& [number, first] : l->by_number)
    for (auto* peer = first; peer; peer = peer->next_same_number) {
      peer->in_sync = false;
      l->to_show.emplace_back(peer);
    }
  take_snapshots(l);
}

// -- snapshots

void hub::take_snapshots(const line_ptr& l) {
  while (l->now == line::phase::open && !l->to_show.empty() && l->snapshots < snapshots_in_flight_max
         && l->show_at <= ctx_.now) {
    auto peer = std::move(l->to_show.front());
    l->to_show.pop_front();
    if (peer->is_open()) take_snapshot(l, std::move(peer));
  }
}

detached hub::take_snapshot(line_ptr l, ws_peer::ptr peer) {
  const auto generation = l->generation;
  ++l->snapshots;
  const auto owner = owner_of(l->event);
  const auto moves = l->moves;
  answer<entry_reply> got;
  if (peer->by_ticket)
    got = co_await ask_event(ctx_, owner, find_ticket{peer->holder});
  else
    got = co_await ask_event(ctx_, owner, find_entry{l->event, peer->holder});
  auto& [error, reply] = got;
  --l->snapshots;
  if (stopped_ || l->gone || l->generation != generation || !peer->is_open())
    co_return; // opened() shows it again with the new owner
  if (error) {
    l->to_show.push_back(std::move(peer));
    l->show_at = ctx_.now + milliseconds{1}; // retried at the next tick
    co_return;
  }
  if (reply.no)
    peer->close(ws_close::normal); // the entry is gone
  else
    show(l, *peer, reply.entry, moves);
  take_snapshots(l);
}

void hub::show(const line_ptr& l, ws_peer& peer, const entry_view& entry, std::uint64_t moves) {
  if (entry.number != peer.number) { // the customer has joined again since the request
    leave_line(*l, peer);
    peer.number = entry.number;
    enter_line(l, peer);
  }
  peer.in_sync = true;
  peer.status = entry.status;
  peer.admission_no = entry.admission_no;
  peer.last_position = entry.position;
  peer.last_position_at = ctx_.now;
  peer.moves_then = moves;
  peer.forget_position();
  peer.kind = entry.kind;
  peer.send(state_frame(entry, l->status, l->sold_out, ctx_.environment.wall_now(), ctx_.sessions));
  const bool over =
    is_in_line(entry.status) && (l->status == event_status::ended || l->status == event_status::cancelled);
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

void hub::on_line_moved(const line_moved& push) {
  const auto l = find_line(push.event);
  if (!l) return;
  l->moves += push.moves;
  l->untold = true;
}

void hub::on_event_noticed(const event_noticed& push) {
  const auto l = find_line(push.event);
  if (!l) return;
  switch (push.what) {
    case socket_notice_kind::presence_watched:
    case socket_notice_kind::presence_unwatched:
      l->watches_presence = push.what == socket_notice_kind::presence_watched;
      return;
    case socket_notice_kind::paused: l->status = event_status::paused; break;
    case socket_notice_kind::resumed: l->status = event_status::active; break;
    case socket_notice_kind::sold_out: l->sold_out = true; break;
    case socket_notice_kind::back_on_sale: l->sold_out = false; break;
    case socket_notice_kind::ended: l->status = event_status::ended; break;
    case socket_notice_kind::message: break; // later sockets get it with their snapshot
  }
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

/// The places that may have to hear a position, ascending: the owner finds neighbours faster.
std::vector<queue_number> hub::due_positions(line& l, milliseconds refresh) const {
  std::vector<queue_number> due;
  l.untold = false;
  for (const auto& [number, first] : l.by_number)
    for (const auto* peer = first; peer; peer = peer->next_same_number) {
      const auto moves = l.moves - peer->moves_then;
      if (!peer->in_sync || !is_in_line(peer->status) || moves == 0) continue;
      l.untold = true;
      if (!may_be_due(peer->last_position, moves, ctx_.now - peer->last_position_at, refresh)) continue;
      due.push_back(queue_number{number});
      break;
    }
  std::ranges::sort(due);
  return due;
}

detached hub::sweep_positions(line_ptr l) {
  const auto generation = l->generation;
  l->sweeping = true;
  const auto moves = l->moves;
  const auto refresh = refresh_of(l->peers, ctx_.options.io.threads);
  const auto numbers = due_positions(*l, refresh);
  for (std::size_t from = 0; from < numbers.size(); from += positions_per_question) {
    const auto to = std::min(from + positions_per_question, numbers.size());
    const auto begin = numbers.begin();
    const std::vector<queue_number> chunk(begin + static_cast<std::ptrdiff_t>(from),
                                          begin + static_cast<std::ptrdiff_t>(to));
    find_positions question{chunk};
    auto [error, reply] = co_await ask_event(ctx_, owner_of(l->event), std::move(question));
    if (stopped_ || l->gone || l->generation != generation) break;
    if (error || reply.positions.size() != chunk.size()) break; // retried at the next tick
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const auto found = l->by_number.find(value_of(chunk[i]));
      if (found == l->by_number.end()) continue;
      if (reply.positions[i] == 0) {
        show_again(*l, *found->second);
        continue;
      }
      const place where{reply.positions[i], static_cast<float>(reply.us_per_place_low) / 1e6f,
                        static_cast<float>(reply.us_per_place_high) / 1e6f};
      for (ws_peer::ptr peer{found->second}; peer;) {
        const ws_peer::ptr next{peer->next_same_number};
        offer_position(*peer, where, moves, refresh);
        peer = next;
      }
    }
  }
  l->sweeping = false;
}

/// The owner reports that the entry left the line, but no push did: the push was lost or came before the
/// subscription. A new snapshot repairs both.
void hub::show_again(line& l, ws_peer& first) {
  for (auto* peer = &first; peer; peer = peer->next_same_number)
    if (peer->in_sync && is_in_line(peer->status)) {
      peer->in_sync = false;
      l.to_show.emplace_back(peer);
    }
}

/// Reports every entry with an open socket as present.
void hub::tell_presence(line& l) {
  l.present_told_at = ctx_.now;
  present batch;
  for (const auto& [number, first] : l.by_number) {
    if (is_in_line(first->status)) batch.numbers.push_back(queue_number{number});
    if (batch.numbers.size() == positions_per_question)
      ctx_.bridge->tell_event(owner_of(l.event), std::exchange(batch, {}));
  }
  if (!batch.numbers.empty()) ctx_.bridge->tell_event(owner_of(l.event), std::move(batch));
}

/// Sends the position if it moved far enough or the last one is old. `moves`: of the line at the question.
void hub::offer_position(ws_peer& peer, const place& where, std::uint64_t moves, milliseconds refresh) {
  if (!peer.in_sync || !is_in_line(peer.status)) return;
  const bool has_moved = where.position != peer.last_position;
  if (has_moved && !moved_enough(peer.last_position, where.position)
      && ctx_.now - peer.last_position_at < refresh)
    return;
  peer.moves_then = moves;
  if (has_moved) peer.send_position(where);
}

} // namespace fq::net
