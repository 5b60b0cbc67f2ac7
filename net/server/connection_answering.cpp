// SPDX-License-Identifier: Apache-2.0
// Runs the handler, writes its answer, passes WebSockets to the hub, and closes gracefully. See
// connection_parts.hpp.
#include "net/bridge/actor_bridge.hpp"
#include "net/http/response_head.hpp"
#include "net/http/websocket.hpp"
#include "net/server/connection_parts.hpp"
#include "net/websocket/hub.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

namespace fq::net {

namespace {

constexpr std::string_view last_chunk = "0\r\n\r\n";

/// One chunk (RFC 9112, 7.1); the last chunk for an empty text.
std::string chunk_of(std::string_view text) {
  if (text.empty()) return std::string{last_chunk};
  char size[16];
  const auto end = std::to_chars(size, size + sizeof size, text.size(), 16).ptr;
  std::string out;
  out.reserve(text.size() + 24);
  out.append(size, end).append("\r\n").append(text).append("\r\n");
  return out;
}

/// Writes the format of app/log: members of one JSON object.
void log_failure(const request& rq, const char* what) {
  spdlog::error(R"("message":"a handler failed","request_id":{},"trace_id":"{}","what":{})",
                boost::json::serialize(boost::json::string{rq.request_id}),
                rq.trace ? trace_id_text(rq.trace.trace) : std::string{},
                boost::json::serialize(boost::json::string{what}));
}

/// Whether the field may be forwarded to gateways: bounded and printable.
bool is_fit_to_pass_on(std::string_view tracestate) {
  return tracestate.size() <= tracestate_max
         && std::ranges::all_of(tracestate, [](char c) { return c >= ' ' && c <= '~'; });
}

trace_context traced_by(const request& rq) {
  auto sent = parse_traceparent(rq.field("traceparent"));
  if (!sent) return {};
  if (const auto state = rq.field("tracestate"); is_fit_to_pass_on(state)) sent->state = state;
  return std::move(*sent);
}

} // namespace

// -- traces

/// Continues the client's trace if it sent one; else starts a new trace for a sample of the requests.
void connection::begin_trace() {
  auto& req = x_->req;
  auto& ctx = pool_.ctx;
  req.trace = traced_by(req);
  x_->work = {};
  if (ctx.state.spans == nullptr) return;
  const auto share = static_cast<std::uint64_t>(ctx.options.tracing.sample_per_mille);
  if (!req.trace && share > 0 && ctx.environment.random_u64() % 1000 < share)
    req.trace = {.trace = {ctx.environment.random_u64(), ctx.environment.random_u64() | 1},
                 .span = 0,
                 .is_sampled = true};
  if (!req.trace) return;
  x_->work = {ctx.state.spans, ctx.environment, req.trace, span_kind::server, name_of(req.verb)};
  req.trace = x_->work.context();
}

void connection::end_trace(unsigned status) {
  auto& x = *x_;
  if (!x.work.is_kept()) return;
  if (x.found) x.work.name(std::string{name_of(x.req.verb)} + ' ' + std::string{x.found->pattern});
  x.work.end(status >= 500, static_cast<int>(status));
}

// -- the handler

/// Returns true if the response is written and the next request may begin.
bool connection::start_handler() {
  auto& x = *x_;
  enter(phase::handling, milliseconds::max());
  keep_ = x.req.keep_alive;
  finished_ = false;
  begin_trace();
  try {
    if (where_.what.before) {
      auto answer = where_.what.before(pool_.ctx, x.req, x.found);
      if (by_proxy_ = x.req.peer != peer_; by_proxy_) pool_.ctx.guests->enter(*this, x.req.peer);
      if (answer) return respond(std::move(*answer));
    }
    if (!x.found) {
      const auto why = x.allow.empty() ? http_refusal::not_found : http_refusal::method_not_allowed;
      return respond(word_refusal(why, {}));
    }
    x.task = x.found->guarded.handle(pool_.ctx, x.req, x.parameters);
    starting_ = true;
    x.task.start(&connection::handler_done, this);
    starting_ = false;
    if (!finished_) return false;
    return respond(x.task.take());
  } catch (const std::exception& e) {
    starting_ = false;
    pool_.ctx.state.handler_exceptions.fetch_add(1, std::memory_order_relaxed);
    log_failure(x.req, e.what());
    return respond(word_refusal(http_refusal::internal_error, {}));
  }
}

/// Called at the end of the coroutine, inside it: only sets flags.
void connection::handler_done(void* self) noexcept {
  auto* s = static_cast<connection*>(self);
  s->finished_ = true;
  if (s->starting_) return;
  intrusive_ptr_add_ref(s);
  s->pool_.ctx.bridge->defer(&connection::resume, s);
}

void connection::resume(void* self) noexcept {
  const ptr s{static_cast<connection*>(self), false};
  if (s->phase_ == phase::handling) s->x_->source ? s->finish_part() : s->finish_handler();
}

void connection::finish_handler() {
  auto& x = *x_;
  bool next;
  try {
    next = respond(x.task.take());
  } catch (const std::exception& e) {
    pool_.ctx.state.handler_exceptions.fetch_add(1, std::memory_order_relaxed);
    log_failure(x.req, e.what());
    next = respond(word_refusal(http_refusal::internal_error, {}));
  }
  if (next) proceed();
}

response connection::word_refusal(http_refusal why, std::string_view detail) {
  response answer;
  if (where_.what.refuse)
    answer = where_.what.refuse(pool_.ctx, x_->req, why, detail, x_->allow);
  else if (!x_->allow.empty())
    answer.fields.emplace_back("Allow", x_->allow);
  if (why == http_refusal::upgrade_required) answer.fields.emplace_back("Sec-WebSocket-Version", "13");
  answer.status = status_of(why);
  return answer;
}

/// Answers an invalid request and closes.
void connection::refuse(http_refusal why, std::string_view detail, std::string allow) {
  auto& x = *x_;
  pool_.ctx.state.requests_refused.fetch_add(1, std::memory_order_relaxed);
  if (phase_ == phase::head) {
    if (x.begun == milliseconds{0}) x.begun = pool_.ctx.environment.steady_now();
    x.req.target = x.req.path = x.req.query = x.req.body = {};
    x.req.verb = method::get;
    x.req.fields.clear();
    x.req.peer = peer_;
    x.req.http_1_0 = false;
    pool_.make_request_id(x.req.request_id);
  }
  x.allow = std::move(allow);
  unread_ = true;
  keep_ = false;
  x.found = nullptr;
  enter(phase::handling, milliseconds::max());
  respond(word_refusal(why, detail));
}

// -- the way out

/// Returns true if the response is written and the next request may begin.
bool connection::respond(response&& answer) {
  auto& x = *x_;
  if (answer.upgrade) {
    if (auto no = check_handshake(x.req); no || x.filled != x.used)
      answer = word_refusal(no.value_or(http_refusal::bad_handshake), {});
    else if (!pool_.make_room_for_socket()) {
      pool_.ctx.state.connections_refused.fetch_add(1, std::memory_order_relaxed);
      answer = word_refusal(http_refusal::overloaded, "no WebSocket is free");
    } else
      return upgrade(answer);
  }
  keep_ =
    keep_ && !answer.close && !pool_.draining && !pool_.ctx.state.draining.load(std::memory_order_relaxed);
  keep_ = keep_ && !(answer.source && x.req.http_1_0); // the body ends with the connection
  if (where_.what.after)
    where_.what.after(pool_.ctx, x.req, x.found, answer, pool_.ctx.environment.steady_now() - x.begun);
  end_trace(answer.status);
  render_head(answer, keep_);
  const bool with_body = x.req.verb != method::head && answer.status != 204 && answer.status != 304;
  if (with_body) x.out.append(answer.body);
  if (with_body) x.source = std::move(answer.source);
  x.rest = with_body ? answer.static_body : std::string_view{};
  x.written = 0;
  return flush() && after_write();
}

void connection::render_head(const response& answer, bool keep) {
  const auto& date = pool_.ctx.date;
  write_head(x_->out, answer,
             {{date.data(), date.size()},
              x_->req.request_id,
              keep,
              x_->req.http_1_0,
              socket_.is_encrypted() ? std::string_view{pool_.strict_transport} : std::string_view{}});
}

/// Passes the socket to the hub. Always returns false.
bool connection::upgrade(const response& answer) {
  auto& x = *x_;
  response switching;
  switching.status = 101;
  switching.fields.emplace_back("Sec-WebSocket-Accept", accept_of(x.req.field("sec-websocket-key")));
  if (!answer.upgrade->protocol.empty())
    switching.fields.emplace_back("Sec-WebSocket-Protocol", answer.upgrade->protocol);
  for (const auto& extra : answer.fields) switching.fields.push_back(extra);
  if (where_.what.after)
    where_.what.after(pool_.ctx, x.req, x.found, switching, pool_.ctx.environment.steady_now() - x.begun);
  end_trace(switching.status);
  render_head(switching, true);
  const auto sent = socket_.send(x.out);
  if (sent != static_cast<ssize_t>(x.out.size()) || !pool_.ctx.sockets) {
    close(); // a new socket that cannot take 200 bytes is not usable
    return false;
  }
  const auto follow = *answer.upgrade; // a copy: close() gives back the exchange that may own `answer`
  const auto client = x.req.peer;
  auto socket = std::move(socket_);
  close();
  pool_.ctx.sockets->adopt(std::move(socket), follow, client);
  return false;
}

/// Returns true if everything is written.
bool connection::flush() {
  auto& x = *x_;
  while (x.written < x.out.size() + x.rest.size()) {
    const auto left = x.written < x.out.size() ? std::string_view{x.out}.substr(x.written)
                                               : x.rest.substr(x.written - x.out.size());
    const auto sent = socket_.send(left);
    if (sent >= 0) {
      x.written += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (phase_ != phase::writing) {
        enter(phase::writing, pool_.ctx.now + pool_.write_timeout);
        pool_.ctx.guests->owe(*this, x.out.capacity());
      }
      wait_writable();
      return false;
    } else if (errno != EINTR) {
      close();
      return false;
    }
  }
  return true;
}

/// Writes parts while they are ready and the socket accepts them. Returns true if the body is complete and
/// the next request may begin.
bool connection::send_parts() {
  auto& x = *x_;
  while (x.source) {
    enter(phase::handling, milliseconds::max()); // each request to an actor has its own deadline
    finished_ = false;
    starting_ = true;
    x.part = x.source->next();
    x.part.start(&connection::handler_done, this);
    starting_ = false;
    if (!finished_ || !take_part()) return false;
  }
  return after_write();
}

/// Writes the finished part. Returns false if making it failed or the socket is full.
bool connection::take_part() {
  auto& x = *x_;
  std::string text;
  try {
    text = x.part.take();
  } catch (const std::exception& e) {
    log_failure(x.req, e.what());
    close();
    return false;
  }
  x.part.reset();
  x.rest = {};
  x.written = 0;
  x.out = x.req.http_1_0 ? std::move(text) : chunk_of(text);
  if (x.req.http_1_0 ? x.out.empty() : x.out == last_chunk) x.source.reset();
  return flush();
}

void connection::finish_part() {
  if (take_part() && after_write()) proceed();
}

void connection::wait_writable() { socket_.wait_writable<&connection::on_writable>(this); }

void connection::on_writable() {
  if (phase_ == phase::closed) return;
  const ptr self{this};
  if (flush() && after_write()) proceed();
}

/// Returns true if the next request may begin at once.
bool connection::after_write() {
  auto& x = *x_;
  if (x.source) return send_parts();
  if (!keep_) {
    if (unread_ || x.filled > x.used)
      linger();
    else
      close();
    return false;
  }
  x.next();
  x.begun = milliseconds{0};
  if (x.filled == 0) {
    go_idle();
    return false;
  }
  enter(phase::head, pool_.ctx.now + pool_.header_timeout);
  return true;
}

/// Reads on for a short time: if unread input remained, the kernel would reset the connection and the peer
/// would lose the answer.
void connection::linger() {
  socket_.shutdown_send();
  pool_.give_back(std::move(x_));
  enter(phase::lingering, pool_.ctx.now + linger_timeout);
  wait_readable();
}

void connection::discard() {
  char scratch[16 * 1024];
  const auto got = socket_.skip(scratch, sizeof scratch);
  if (got > 0 && (lingered_ += static_cast<std::uint32_t>(got)) < linger_bytes_max) return wait_readable();
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return wait_readable();
  close();
}

} // namespace fq::net
