// SPDX-License-Identifier: Apache-2.0
#include "net/server/tls_handshakes.hpp"

#include "net/http/client_address.hpp"
#include "net/server/limits.hpp"

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <sys/socket.h>

#include <tuple>
#include <utility>

namespace fq::net {

// -- one handshake

tls_handshake::tls_handshake(tls_handshakes& door, ready_socket socket, ssl_ptr tls,
                             const boost::asio::ip::address& peer) :
    door_(door),
    socket_(std::move(socket)),
    tls_(std::move(tls)),
    peer_(peer),
    deadline_(door.ctx_.now + door.timeout_),
    last_step_(door.ctx_.now) {}

void tls_handshake::begin() {
  intrusive_ptr_add_ref(this); // the list's reference
  door_.under_way_.push_back(*this);
  of_prefix_ = &door_.prefixes_[limit_prefix(peer_)];
  ++*of_prefix_;
  door_.tls_.counts.pending.fetch_add(1, std::memory_order_relaxed);
  wait(false);
}

void tls_handshake::wait(bool by_writing) {
  socket_.wait_readable<&tls_handshake::on_ready>(this, by_writing);
}

void tls_handshake::on_ready() {
  if (!is_linked()) return;
  last_step_ = door_.ctx_.now;
  go_on();
}

void tls_handshake::go_on() {
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.get());
  const auto why = SSL_get_error(tls_.get(), result);
  socket_.was_read(why == SSL_ERROR_WANT_READ);
  socket_.was_written(why == SSL_ERROR_WANT_WRITE);
  if (result == 1) return come_through();
  switch (why) {
    case SSL_ERROR_WANT_READ: return wait(false);
    case SSL_ERROR_WANT_WRITE: return wait(true);
    default: return refuse();
  }
}

void tls_handshake::come_through() {
  const ptr self{this};
  auto& counts = door_.tls_.counts;
  (SSL_session_reused(tls_.get()) == 1 ? counts.resumed : counts.full)
    .fetch_add(1, std::memory_order_relaxed);
  leave();
  door_.sessions_.adopt(stream{std::move(socket_), std::move(tls_)}, peer_, door_.where_);
}

/// OpenSSL has sent its alert; a client that spoke plain HTTP also gets a readable answer.
void tls_handshake::refuse() {
  if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST) {
    constexpr std::string_view answer =
      "HTTP/1.1 400 Bad Request\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Content-Type: text/plain\r\nContent-Length: 27\r\nConnection: close\r\n\r\n"
      "This port speaks TLS only.\n";
    char rest[16 * 1024]; // unread bytes would make the kernel reset the connection before the client sees
                          // the answer
    [[maybe_unused]] const auto read = ::recv(socket_.native_handle(), rest, sizeof rest, MSG_DONTWAIT);
    [[maybe_unused]] const auto sent =
      ::send(socket_.native_handle(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  give_up(door_.tls_.counts.failed);
}

void tls_handshake::give_up(std::atomic<std::uint64_t>& count) {
  const ptr self{this};
  count.fetch_add(1, std::memory_order_relaxed);
  leave();
  socket_.close();
  door_.ctx_.state.connections.fetch_sub(1, std::memory_order_relaxed);
}

void tls_handshake::leave() {
  door_.tls_.counts.pending.fetch_sub(1, std::memory_order_relaxed);
  door_.under_way_.erase(tls_handshakes::list::s_iterator_to(*this));
  if (--*of_prefix_ == 0) door_.prefixes_.erase(limit_prefix(peer_));
  intrusive_ptr_release(this); // the list's reference; the caller has another
}

// -- all handshakes

tls_handshakes::tls_handshakes(context& ctx, connection_pool& sessions, tls_server& tls,
                               const served_site& where, std::size_t at_most) :
    ctx_(ctx),
    sessions_(sessions),
    tls_(tls),
    where_(where),
    timeout_(ctx.options.tls.handshake_timeout),
    at_most_(at_most) {}

tls_handshakes::~tls_handshakes() { stop(); }

void tls_handshakes::adopt(ready_socket socket, const boost::asio::ip::address& peer) {
  auto tls = tls_.begin(socket.native_handle());
  if (!tls) { // out of memory; closes the socket
    tls_.counts.failed.fetch_add(1, std::memory_order_relaxed);
    ctx_.state.connections.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  const boost::intrusive_ptr<tls_handshake> one{
    new tls_handshake(*this, std::move(socket), std::move(tls), peer)};
  one->begin();
}

/// Null: no candidate is left, or each has unread input.
tls_handshake* tls_handshakes::most_dispensable() {
  tls_handshake* found = nullptr;
  std::tuple<std::size_t, bool> weight{0, false};
  for (auto& one : under_way_) {
    if (one.deadline() - timeout_ > ctx_.now - evictable_after) break;
    const bool is_silent = one.last_step_ <= ctx_.now - evictable_after;
    const std::tuple its_weight{*one.of_prefix_, is_silent};
    if (one.passed_over_ != rooms_made_ && (is_silent || *one.of_prefix_ > 1) && its_weight > weight) {
      found = &one;
      weight = its_weight;
    }
  }
  return found;
}

bool tls_handshakes::make_room() {
  ++rooms_made_;
  for (std::size_t looks = 0; looks < eviction_looks_max; ++looks) {
    auto* one = most_dispensable();
    if (one == nullptr) return false;
    if (!one->has_input()) {
      one->give_up(tls_.counts.late);
      return true;
    }
    one->passed_over_ = rooms_made_;
  }
  return false;
}

void tls_handshakes::sweep(milliseconds now) {
  while (!under_way_.empty() && under_way_.front().deadline() <= now)
    under_way_.front().give_up(tls_.counts.late);
}

void tls_handshakes::stop() {
  while (!under_way_.empty()) under_way_.front().give_up(tls_.counts.failed);
}

} // namespace fq::net
