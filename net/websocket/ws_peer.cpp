// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/ws_peer.hpp"

#include "net/websocket/limits.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

namespace fq::net {

namespace {

using error_code = boost::system::error_code;

/// Rounds up and clamps to the range of 32 bits.
std::uint32_t whole_seconds(milliseconds steady) {
  const auto count = std::chrono::ceil<seconds>(steady).count();
  return static_cast<std::uint32_t>(
    std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

ws_peer::ws_peer(context& ctx, ws_owner& owner, stream socket, const boost::asio::ip::address& client,
                 const uuid& who, milliseconds authorized_until) :
    holder(who),
    ctx_(ctx),
    owner_(owner),
    socket_(std::move(socket)),
    last_seen_(ctx.now),
    last_ping_(ctx.now),
    authorized_until_s_(whole_seconds(authorized_until)) {
  ctx_.state.websockets.fetch_add(1, std::memory_order_relaxed);
  ctx_.guests->enter(*this, client);
}

ws_peer::~ws_peer() { ctx_.state.websockets.fetch_sub(1, std::memory_order_relaxed); }

void ws_peer::begin() { wait_readable(); }

void ws_peer::drop() {
  if (state_ == state::closed) return;
  const ptr self{this};
  const bool was_open = std::exchange(state_, state::closed) == state::open;
  socket_.close();
  ctx_.state.connections.fetch_sub(1, std::memory_order_relaxed);
  pending_ = {};
  ctx_.guests->leave(*this);
  if (was_open) owner_.on_closing(*this);
  owner_.on_closed(*this);
}

void ws_peer::stand(standing usual) {
  usual_ = usual;
  ctx_.guests->stand(*this, pending_.empty() ? usual : standing::unread, ctx_.now);
}

/// The close frame is for clients that read: they come back later.
bool ws_peer::give_way() {
  ctx_.state.connections_evicted.fetch_add(1, std::memory_order_relaxed);
  if (pending_.empty()) {
    std::string frame;
    append_close(frame, ws_close::try_again);
    static_cast<void>(socket_.send(frame));
  }
  drop();
  return true;
}

// -- reading

void ws_peer::wait_readable() { socket_.wait_readable<&ws_peer::on_readable>(this); }

void ws_peer::on_readable() {
  if (state_ == state::closed) return;
  char scratch[16 * 1024];
  const auto got = socket_.receive(scratch, sizeof scratch);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return wait_readable();
  if (got <= 0) return drop();
  last_seen_ = ctx_.now;
  if (!count_bytes(static_cast<std::size_t>(got))) {
    close(ws_close::policy);
    return drop();
  }
  deaf_ = deaf_ || !reader_.feed({scratch, static_cast<std::size_t>(got)}, *this);
  if (state_ != state::closed) wait_readable(); // also while closing: for the peer's close frame or its end
}

/// Returns false above the limit: even frames that are no message take time.
bool ws_peer::count_bytes(std::size_t got) {
  if (ctx_.now - rate_since_ >= milliseconds{1000}) {
    rate_since_ = ctx_.now;
    inbound_ = 0;
    inbound_bytes_ = 0;
  }
  inbound_bytes_ += static_cast<std::uint32_t>(got);
  return inbound_bytes_ <= inbound_bytes_per_second_max;
}

bool ws_peer::count_inbound() {
  if (++inbound_ <= inbound_per_second_max) return true;
  close(ws_close::policy);
  return false;
}

void ws_peer::on_message() {
  if (state_ == state::open) count_inbound(); // content is ignored: clients have nothing to send
}

void ws_peer::on_ping(std::string_view payload) {
  if (state_ != state::open || !count_inbound()) return;
  std::string frame;
  append_frame(frame, ws_opcode::pong, payload);
  write(frame);
}

void ws_peer::on_pong() {
  if (state_ == state::open) count_inbound();
}

void ws_peer::on_close(ws_close code) {
  if (state_ == state::open) close(code);
  if (state_ == state::closing && pending_.empty())
    drop(); // both close frames are sent: the server closes first
}

void ws_peer::on_violation(ws_close answer) { close(answer); }

// -- writing

void ws_peer::send(std::string_view text) {
  if (state_ != state::open) return;
  std::string frame;
  frame.reserve(text.size() + 10);
  append_frame(frame, ws_opcode::text, text);
  ctx_.state.frames_sent.fetch_add(1, std::memory_order_relaxed);
  write(frame);
}

void ws_peer::send_position(const place& where) {
  if (state_ != state::open) return;
  last_position = where.position;
  last_position_at = ctx_.now;
  if (!pending_.empty()) {
    if (latest_.position != 0) ctx_.state.frames_coalesced.fetch_add(1, std::memory_order_relaxed);
    latest_ = where;
    return;
  }
  send(owner_.render_position(*this, where));
}

void ws_peer::close(ws_close code) {
  if (state_ != state::open) return;
  latest_ = {};
  std::string frame;
  append_close(frame, code);
  if (!write(frame)) return;
  state_ = state::closing;
  deadline_ = ctx_.now + ctx_.ws.close_timeout;
  owner_.on_closing(*this);
}

/// Writes what the socket accepts and keeps the rest. Returns false if the peer is gone.
bool ws_peer::write(std::string_view frame) {
  if (pending_.empty()) {
    const auto sent = socket_.send(frame);
    if (sent == static_cast<ssize_t>(frame.size())) return true;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      drop();
      return false;
    }
    frame.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
  }
  if (pending_.size() + frame.size() > pending_bytes_max || pending_frames_ == pending_frames_max) {
    ctx_.state.slow_sockets_closed.fetch_add(1, std::memory_order_relaxed);
    append_close(pending_, ws_close::try_again); // in case the peer starts to read
    state_ = state::closing;
    deadline_ = ctx_.now + ctx_.ws.close_timeout;
    owner_.on_closing(*this);
    return false;
  }
  pending_.append(frame);
  ++pending_frames_;
  if (deadline_ == milliseconds{0}) deadline_ = ctx_.now + ctx_.ws.unread_output_max;
  if (pending_frames_ == 1) stand(usual_); // the output waits from now on
  ctx_.guests->owe(*this, pending_.capacity());
  wait_writable();
  return true;
}

void ws_peer::wait_writable() {
  if (!std::exchange(waiting_to_write_, true)) socket_.wait_writable<&ws_peer::on_writable>(this);
}

void ws_peer::on_writable() {
  waiting_to_write_ = false;
  if (state_ != state::closed && !flush()) drop();
}

/// Returns false if the peer is gone or is being closed.
bool ws_peer::flush() {
  const auto sent = socket_.send(pending_);
  if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return false;
  if (sent > 0) pending_.erase(0, static_cast<std::size_t>(sent));
  if (!pending_.empty()) {
    if (sent > 0) stand(usual_); // it reads
    if (sent > 0 && state_ == state::open) deadline_ = ctx_.now + ctx_.ws.unread_output_max;
    wait_writable();
    return true;
  }
  pending_ = {};
  pending_frames_ = 0;
  ctx_.guests->owe(*this, 0);
  stand(usual_);
  if (state_ != state::open) return true; // its close frame is sent; deadline_ waits for the answer
  deadline_ = milliseconds{0};
  if (latest_.position != 0) send(owner_.render_position(*this, std::exchange(latest_, {})));
  return true;
}

void ws_peer::sweep(milliseconds now) {
  if (deadline_ != milliseconds{0} && deadline_ <= now) {
    if (state_ == state::open) ctx_.state.slow_sockets_closed.fetch_add(1, std::memory_order_relaxed);
    return drop();
  }
  if (state_ != state::open) return;
  if (now >= seconds{authorized_until_s_}) return close(ws_close::unauthorized);
  if (now - last_seen_ >= ctx_.ws.silence_max) return drop();
  if (now - last_ping_ < ctx_.ws.ping_interval) return;
  last_ping_ = now;
  constexpr char ping[] = {static_cast<char>(0x89), 0};
  write({ping, sizeof ping});
}

} // namespace fq::net
