// SPDX-License-Identifier: Apache-2.0
// The life of a connection, and the pool with its deadlines and evictions. See connection_parts.hpp.
#include "domain/base/hex.hpp"
#include "net/http/client_address.hpp"
#include "net/server/connection_parts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace fq::net {

namespace {

/// Phases in which the client owes a request.
constexpr std::array owing{phase::fresh, phase::head, phase::body};

standing standing_in(phase p) {
  switch (p) {
    case phase::fresh:
    case phase::head:
    case phase::body:
    case phase::lingering: return standing::owing;
    case phase::idle: return standing::idle;
    case phase::writing: return standing::unread;
    case phase::handling:
    case phase::closed: return standing::needed;
  }
  return standing::needed;
}

std::string strict_transport_of(milliseconds life) {
  const auto whole = std::chrono::duration_cast<seconds>(life).count();
  return whole == 0 ? std::string{} : "max-age=" + std::to_string(whole);
}

} // namespace

// -- exchanges

void exchange::grow(std::size_t wanted) {
  if (wanted <= capacity) return;
  std::unique_ptr<char[]> larger{new char[wanted]};
  std::memcpy(larger.get(), buffer.get(), filled);
  buffer.swap(larger);
  capacity = wanted;
}

void exchange::next() {
  part.reset(); // before the objects that it uses
  source.reset();
  task.reset();
  std::memmove(buffer.get(), buffer.get() + used, filled - used);
  filled -= used;
  used = written = 0;
  rest = {};
  found = nullptr;
  if (chunked_body.capacity() > output_kept_max) chunked_body = {};
  if (out.capacity() > output_kept_max) out = {};
  parser.reset();
}

void exchange::shrink() {
  if (capacity <= buffer_head_size) return;
  buffer.reset(new char[buffer_first_size]);
  capacity = buffer_first_size;
}

connection_pool::impl::impl(context& c) :
    ctx(c),
    fresh_timeout(std::min(c.options.http.header_timeout, c.options.http.idle_timeout)),
    header_timeout(c.options.http.header_timeout),
    body_timeout(c.options.http.body_timeout),
    write_timeout(c.options.http.write_timeout),
    idle_timeout(c.options.http.idle_timeout),
    body_limit(static_cast<std::size_t>(c.options.http.body_limit)),
    base_path(c.options.http.base_path),
    strict_transport(strict_transport_of(c.options.tls.hsts)),
    id_prefix(c.environment.random_u64()),
    id_next(c.environment.random_u64()) {}

std::unique_ptr<exchange> connection_pool::impl::take_exchange() {
  std::unique_ptr<exchange> x;
  if (exchanges.empty()) {
    x = std::make_unique<exchange>();
  } else {
    x = std::move(exchanges.back());
    exchanges.pop_back();
  }
  return x;
}

void connection_pool::impl::give_back(std::unique_ptr<exchange> x) {
  x->part.reset();
  x->source.reset();
  x->task.reset();
  if (exchanges.size() >= exchanges_kept_max) return;
  x->used = x->filled;
  x->next();
  x->shrink();
  exchanges.push_back(std::move(x));
}

/// Writes 32 hex digits, unique per server. They may be guessable, because a request id grants nothing.
void connection_pool::impl::make_request_id(std::string& out) {
  out.resize(32);
  write_hex(id_next += 0x9e3779b97f4a7c15ull, 8, write_hex(id_prefix, 8, out.data()));
}

// -- life

void connection::begin() {
  ++pool_.open;
  pool_.ctx.guests->enter(*this, peer_);
  enter(phase::fresh, pool_.ctx.now + pool_.fresh_timeout);
  wait_readable();
}

/// Not inlined into the reference counting: otherwise g++ 12 warns of a use after free.
void connection::end() { delete this; }

void connection::enter(phase next, milliseconds deadline) {
  deadline_ = deadline;
  auto& to = pool_.in.of(next);
  if (!is_linked()) {
    intrusive_ptr_add_ref(this); // the list's reference
    to.push_back(*this);
  } else {
    auto& from = pool_.in.of(phase_);
    to.splice(to.end(), from, from.iterator_to(*this));
  }
  if (phase_ == phase::writing && next != phase::writing) pool_.ctx.guests->owe(*this, 0);
  phase_ = next;
  pool_.ctx.guests->stand(*this, standing_in(next), pool_.ctx.now);
}

void connection::close() {
  if (phase_ == phase::closed) return;
  const ptr held{this, false}; // takes over the list's reference; released at the end of this function
  pool_.in.of(phase_).erase(connection_list::s_iterator_to(*this));
  pool_.ctx.guests->leave(*this);
  phase_ = phase::closed;
  if (x_) pool_.give_back(std::move(x_));
  if (socket_.is_open()) {
    socket_.close();
    pool_.ctx.state.connections.fetch_sub(1, std::memory_order_relaxed);
  }
  --pool_.open;
}

bool connection::has_input() const { return socket_.has_input(); }

bool connection::give_way() {
  const bool reads = phase_ != phase::writing && phase_ != phase::lingering;
  if (reads && has_input()) return false;
  pool_.evict(*this);
  return true;
}

void connection::deadline_passed() {
  switch (phase_) {
    case phase::head:
      return refuse(http_refusal::request_timeout, "the request header did not arrive in time");
    case phase::body: return refuse(http_refusal::request_timeout, "the request body did not arrive in time");
    case phase::handling: return; // each request to an actor has its own deadline
    case phase::fresh:
    case phase::idle:
    case phase::writing:
    case phase::lingering:
    case phase::closed: return close();
  }
}

void connection::go_idle() {
  if (pool_.draining) return close();
  pool_.give_back(std::move(x_));
  if (by_proxy_) pool_.ctx.guests->enter(*this, peer_); // no longer the last request's client
  enter(phase::idle, pool_.ctx.now + pool_.idle_timeout);
  wait_readable();
}

// -- the pool

connection_pool::connection_pool(context& ctx) : impl_(std::make_unique<impl>(ctx)) {}

connection_pool::~connection_pool() { stop(); }

void connection_pool::adopt(stream socket, const boost::asio::ip::address& peer, const served_site& where) {
  boost::intrusive_ptr<connection> s{new connection(*impl_, std::move(socket), peer, where)};
  s->begin();
}

milliseconds connection_pool::impl::timeout_of(phase p) const {
  switch (p) {
    case phase::fresh: return fresh_timeout;
    case phase::idle: return idle_timeout;
    case phase::head: return header_timeout;
    case phase::body: return body_timeout;
    case phase::handling:
    case phase::writing:
    case phase::lingering:
    case phase::closed: break;
  }
  return milliseconds::max();
}

connection* connection_pool::impl::longest_silent(phase p, milliseconds grace) {
  std::size_t looks = 0;
  for (auto& s : in.of(p)) {
    if (waits_since(s, p) > ctx.now - grace || ++looks > eviction_looks_max) return nullptr;
    if (!s.has_input()) return &s;
  }
  return nullptr;
}

void connection_pool::impl::evict(connection& s) {
  ctx.state.connections_evicted.fetch_add(1, std::memory_order_relaxed);
  s.close();
}

/// Evicts of the address that holds most; if no address holds many, a connection that owes a request before
/// an idle one: an idle client was already answered, so it is a real one.
bool connection_pool::make_room() {
  const auto now = impl_->ctx.now;
  if (impl_->ctx.guests->close_one(address_share_min, now, now)) return true;
  connection* oldest = nullptr;
  milliseconds since = milliseconds::max();
  for (const auto p : owing)
    if (auto* s = impl_->longest_silent(p, evictable_after); s && impl_->waits_since(*s, p) < since) {
      oldest = s;
      since = impl_->waits_since(*s, p);
    }
  if (!oldest) oldest = impl_->longest_silent(phase::idle, evictable_after);
  if (oldest) impl_->evict(*oldest);
  return oldest != nullptr;
}

/// In a crowded server, the addresses that hold most lose what they do not need.
void connection_pool::impl::thin_out() {
  const auto& open = ctx.state.connections;
  for (std::size_t closed = 0; closed < thinned_out_max; ++closed)
    if (!is_crowded(open.load(std::memory_order_relaxed), ctx.options.http.max_connections)
        || !ctx.guests->close_one(address_share_min, ctx.now - evictable_after, ctx.now))
      return;
}

bool connection_pool::impl::make_room_for_socket() {
  const auto sockets = ctx.state.websockets.load(std::memory_order_relaxed);
  if (has_room_for_socket(sockets, ctx.options.http.max_connections)) return true;
  auto* extra = ctx.guests->extra_socket();
  return extra != nullptr && extra->give_way();
}

void connection_pool::sweep(milliseconds now) {
  using ptr = boost::intrusive_ptr<connection>;
  for (const auto p : {phase::fresh, phase::idle, phase::head, phase::body})
    for (auto& ordered = impl_->in.of(p); !ordered.empty() && ordered.front().deadline() <= now;) ptr {
        &ordered.front()
        } -> deadline_passed(); // leaves the list
  std::vector<ptr> late;
  for (auto& s : impl_->in.busy)
    if (s.deadline() <= now) late.emplace_back(&s);
  for (const auto& s : late) s->deadline_passed();
  impl_->thin_out();
}

void connection_pool::drain() {
  impl_->draining = true;
  std::vector<boost::intrusive_ptr<connection>> silent;
  for (auto* list : {&impl_->in.fresh, &impl_->in.idle})
    for (auto& s : *list)
      if (!s.has_input()) silent.emplace_back(&s);
  for (const auto& s : silent) s->close();
}

void connection_pool::stop() {
  impl_->draining = true;
  auto& in = impl_->in;
  for (auto* list : {&in.fresh, &in.idle, &in.head, &in.body, &in.busy})
    while (!list->empty()) list->front().close();
}

std::size_t connection_pool::open() const { return impl_->open; }

} // namespace fq::net
