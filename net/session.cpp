// SPDX-License-Identifier: Apache-2.0
// See session.hpp. One state machine per connection; a request in hand owns an `exchange` (buffer, parser, response) from a pool.
// Reads and writes go to the socket directly; Asio is only asked to wait.
#include "net/session.hpp"

#include "net/actor_bridge.hpp"
#include "net/hub.hpp"
#include "net/parser.hpp"
#include "net/websocket.hpp"

#include <boost/asio/post.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <spdlog/spdlog.h>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace fq::net {

namespace {

/// In the form of app/log: members of one JSON object.
void log_failure(const std::string& request_id, const char* what) {
  spdlog::error(R"("message":"a handler failed","request_id":{},"what":{})",
                boost::json::serialize(boost::json::string{request_id}), boost::json::serialize(boost::json::string{what}));
}

using error_code = boost::system::error_code;

constexpr std::size_t buffer_first_size = 4096;
constexpr std::size_t buffer_head_size = request_header_max + 4096;
constexpr std::size_t buffer_kept_max = buffer_head_size; ///< a larger one is not kept for the next request
constexpr std::size_t output_kept_max = 16 * 1024;
constexpr std::size_t exchanges_kept_max = 512;
constexpr std::size_t requests_per_turn_max = 16; ///< pipelined ones, before other connections get their turn
constexpr milliseconds linger_timeout{2000};
constexpr std::size_t linger_bytes_max = 256 * 1024;
constexpr milliseconds evictable_after{1000};
constexpr std::size_t request_id_max = 64;

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

bool is_sane_request_id(std::string_view id) {
  return !id.empty() && id.size() <= request_id_max && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
  });
}

void append_number(std::string& out, std::size_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

/// What one request needs while it is in hand.
struct exchange {
  std::unique_ptr<char[]> buffer{new char[buffer_first_size]};
  std::size_t capacity = buffer_first_size;
  std::size_t filled = 0; ///< bytes in the buffer
  std::size_t used = 0; ///< of them: this request's
  request_parser parser;
  framing frame;
  std::string chunked_body;
  request req;
  const route* found = nullptr;
  path_parameters parameters;
  std::string allow;
  milliseconds begun{0};
  awaitable<response> task;
  std::string out;
  std::size_t written = 0;

  void grow(std::size_t wanted) {
    if (wanted <= capacity)
      return;
    std::unique_ptr<char[]> larger{new char[wanted]};
    std::memcpy(larger.get(), buffer.get(), filled);
    buffer.swap(larger);
    capacity = wanted;
  }

  /// Drops this request's bytes and keeps what was read ahead.
  void next() {
    task.reset();
    std::memmove(buffer.get(), buffer.get() + used, filled - used);
    filled -= used;
    used = written = 0;
    found = nullptr;
    if (chunked_body.capacity() > output_kept_max)
      chunked_body = {};
    if (out.capacity() > output_kept_max)
      out = {};
    parser.reset();
  }

  void shrink() {
    if (capacity <= buffer_kept_max)
      return;
    buffer.reset(new char[buffer_first_size]);
    capacity = buffer_first_size;
  }
};

enum class phase : std::uint8_t { fresh, idle, head, body, handling, writing, lingering, closed };

class session;

} // namespace

struct session_pool::impl {
  explicit impl(context& c);

  std::unique_ptr<exchange> take_exchange();
  void give_back(std::unique_ptr<exchange> x);
  void make_request_id(std::string& out);

  using hook = boost::intrusive::list_base_hook<>;
  context& ctx;
  const milliseconds header_timeout, body_timeout, write_timeout, idle_timeout;
  const std::size_t body_limit;
  const std::string_view base_path;
  bool draining = false;
  std::size_t open = 0;
  std::vector<std::unique_ptr<exchange>> exchanges;
  std::uint64_t id_prefix, id_next;
  struct lists;
  std::unique_ptr<lists> in;
};

namespace {

class session final : public session_pool::impl::hook {
public:
  session(session_pool::impl& pool, tcp_socket socket, const boost::asio::ip::address& peer, const served_site& where)
      : pool_(pool), socket_(std::move(socket)), peer_(peer), where_(where) {}

  void begin();
  void close();
  void deadline_passed();
  [[nodiscard]] bool has_input() const;
  [[nodiscard]] milliseconds deadline() const { return deadline_; }

  friend void intrusive_ptr_add_ref(session* s) { ++s->references_; }
  friend void intrusive_ptr_release(session* s) {
    if (--s->references_ == 0)
      delete s;
  }

private:
  using ptr = boost::intrusive_ptr<session>;

  void enter(phase next, milliseconds deadline);
  void wait_readable();
  void wait_writable();
  void on_readable();
  void on_writable();
  void go_idle();
  bool fill();
  void proceed();
  bool advance();
  bool advance_head();
  bool advance_body();
  bool take_head();
  void build_request();
  void find_route();
  bool start_handler();
  static void handler_done(void* self) noexcept;
  static void resume(void* self) noexcept;
  void finish_handler();
  void refuse(http_refusal why, std::string_view detail);
  response word_refusal(http_refusal why, std::string_view detail);
  bool respond(response&& answer);
  void write_head(const response& answer, bool keep);
  bool upgrade(const response& answer);
  bool flush();
  bool after_write();
  void linger();
  void discard();

  session_pool::impl& pool_;
  tcp_socket socket_;
  boost::asio::ip::address peer_;
  const served_site& where_;
  std::unique_ptr<exchange> x_;
  milliseconds deadline_{0};
  unsigned references_ = 0;
  phase phase_ = phase::closed; ///< in no list yet
  bool starting_ = false; ///< the handler is on the stack
  bool finished_ = false; ///< the handler has ended
  bool keep_ = true; ///< after the response in hand
  bool unread_ = false; ///< the peer may still be sending: close gently
  std::uint32_t lingered_ = 0;
};

using session_list = boost::intrusive::list<session, boost::intrusive::constant_time_size<false>>;

} // namespace

/// `fresh` and `idle` in the order of their deadlines, `busy` in none.
struct session_pool::impl::lists {
  session_list fresh, idle, busy;

  session_list& of(phase p) { return p == phase::fresh ? fresh : p == phase::idle ? idle : busy; }
};

session_pool::impl::impl(context& c)
    : ctx(c), header_timeout(c.options.http.header_timeout), body_timeout(c.options.http.body_timeout),
      write_timeout(c.options.http.write_timeout), idle_timeout(c.options.http.idle_timeout),
      body_limit(static_cast<std::size_t>(c.options.http.body_limit)), base_path(c.options.http.base_path),
      id_prefix(c.environment.random_u64()), id_next(c.environment.random_u64()), in(std::make_unique<lists>()) {}

std::unique_ptr<exchange> session_pool::impl::take_exchange() {
  std::unique_ptr<exchange> x;
  if (exchanges.empty()) {
    x = std::make_unique<exchange>();
  } else {
    x = std::move(exchanges.back());
    exchanges.pop_back();
  }
  x->parser.reset();
  return x;
}

void session_pool::impl::give_back(std::unique_ptr<exchange> x) {
  x->task.reset();
  if (exchanges.size() >= exchanges_kept_max)
    return;
  x->used = x->filled;
  x->next();
  x->shrink();
  exchanges.push_back(std::move(x));
}

/// 32 hex digits, unique per server and not worth guessing: a request id opens nothing.
void session_pool::impl::make_request_id(std::string& out) {
  constexpr char digits[] = "0123456789abcdef";
  const std::uint64_t parts[2] = {id_prefix, id_next += 0x9e3779b97f4a7c15ull};
  out.resize(32);
  for (std::size_t i = 0; i < 32; ++i)
    out[i] = digits[parts[i / 16] >> (60 - 4 * (i % 16)) & 15];
}

namespace {

// -- life -------------------------------------------------------------------------------------------------------------

void session::begin() {
  ++pool_.open;
  enter(phase::fresh, pool_.ctx.now + std::min(pool_.header_timeout, pool_.idle_timeout));
  wait_readable();
}

void session::enter(phase next, milliseconds deadline) {
  deadline_ = deadline;
  auto& to = pool_.in->of(next);
  if (!is_linked()) {
    intrusive_ptr_add_ref(this); // the list's
    to.push_back(*this);
  } else if (auto& from = pool_.in->of(phase_); &from != &to || &to == &pool_.in->idle) {
    to.splice(to.end(), from, from.iterator_to(*this));
  }
  phase_ = next;
}

void session::close() {
  if (phase_ == phase::closed)
    return;
  const ptr self{this};
  pool_.in->of(phase_).erase(session_list::s_iterator_to(*this));
  phase_ = phase::closed;
  if (x_)
    pool_.give_back(std::move(x_));
  if (socket_.is_open()) {
    error_code ignored;
    socket_.close(ignored);
    pool_.ctx.state.connections.fetch_sub(1, std::memory_order_relaxed);
  }
  --pool_.open;
  intrusive_ptr_release(this); // the list's
}

/// A request is on its way that we have not been told of yet.
bool session::has_input() const {
  char byte;
  return ::recv(const_cast<tcp_socket&>(socket_).native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void session::deadline_passed() {
  switch (phase_) {
    case phase::head:
      return refuse(http_refusal::request_timeout, "the request header did not arrive in time");
    case phase::body:
      return refuse(http_refusal::request_timeout, "the request body did not arrive in time");
    case phase::handling:
      return; // has its own: every question to an actor ends
    default:
      return close();
  }
}

void session::go_idle() {
  if (pool_.draining)
    return close();
  pool_.give_back(std::move(x_));
  enter(phase::idle, pool_.ctx.now + pool_.idle_timeout);
  wait_readable();
}

// -- reading ------------------------------------------------------------------------------------------------------------

void session::wait_readable() {
  socket_.async_wait(tcp_socket::wait_read, [self = ptr{this}](const error_code& error) {
    if (self->phase_ == phase::closed)
      return;
    if (error)
      return self->close();
    self->on_readable();
  });
}

void session::on_readable() {
  if (phase_ == phase::lingering)
    return discard();
  if (!x_) {
    x_ = pool_.take_exchange();
    enter(phase::head, pool_.ctx.now + pool_.header_timeout);
  }
  if (phase_ != phase::head && phase_ != phase::body)
    return; // answered while the wait was on its way
  if (fill())
    proceed();
}

/// Reads what is there into the room there is. False: nothing new, the session waits or is closed.
bool session::fill() {
  auto& x = *x_;
  if (x.filled == x.capacity)
    x.grow(std::max(buffer_head_size, x.capacity));
  const auto got = ::recv(socket_.native_handle(), x.buffer.get() + x.filled, x.capacity - x.filled, MSG_DONTWAIT);
  if (got > 0) {
    x.filled += static_cast<std::size_t>(got);
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    wait_readable();
    return false;
  }
  close();
  return false;
}

/// Serves requests until one has to wait for bytes, for its handler, or for the peer to read.
void session::proceed() {
  const ptr self{this};
  for (std::size_t served = 0; phase_ != phase::closed; ++served) {
    if (served == requests_per_turn_max) {
      boost::asio::post(pool_.ctx.io, [self] {
        if (self->phase_ == phase::head)
          self->proceed();
      });
      return;
    }
    if (!advance() || !start_handler())
      return;
  }
}

/// Towards a complete request. False: waits for bytes, or has refused.
bool session::advance() {
  if (phase_ == phase::head && !advance_head())
    return false;
  return advance_body();
}

bool session::advance_head() {
  auto& x = *x_;
  switch (x.parser.parse_head(x.buffer.get(), x.filled)) {
    case request_parser::step::need_more:
      wait_readable();
      return false;
    case request_parser::step::failed:
      unread_ = true;
      refuse(x.parser.why(), x.parser.detail());
      return false;
    case request_parser::step::complete:
      break;
  }
  return take_head();
}

/// The header is here: guard it, route it, make room for the body.
bool session::take_head() {
  auto& x = *x_;
  x.used = x.parser.head_size();
  x.begun = pool_.ctx.environment.steady_now();
  x.frame = check_framing(x.parser.head());
  if (x.frame.no) {
    unread_ = true;
    refuse(*x.frame.no, x.frame.detail);
    return false;
  }
  build_request();
  find_route();
  const auto limit = x.found && x.found->body_limit > 0 ? x.found->body_limit : pool_.body_limit;
  if (x.frame.kind == body_kind::length && x.frame.length > limit) {
    unread_ = true;
    refuse(http_refusal::body_too_large, "the body is too large");
    return false;
  }
  if (x.frame.kind == body_kind::length && x.used + x.frame.length > x.capacity) {
    x.grow(x.used + static_cast<std::size_t>(x.frame.length));
    x.parser.rebase(x.buffer.get());
    x.frame = check_framing(x.parser.head());
    build_request();
    find_route();
  }
  if (x.frame.expects_continue && x.filled == x.used) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    if (::send(socket_.native_handle(), go_on.data(), go_on.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      close();
      return false;
    }
  }
  x.chunked_body.clear();
  enter(phase::body, pool_.ctx.now + pool_.body_timeout);
  return true;
}

void session::build_request() {
  auto& x = *x_;
  auto& req = x.req;
  const auto head = x.parser.head();
  req.verb = x.frame.verb;
  req.target = x.frame.target;
  const auto question = req.target.find('?');
  req.path = req.target.substr(0, question);
  req.query = question == std::string_view::npos ? std::string_view{} : req.target.substr(question + 1);
  req.body = {};
  req.fields.assign(head.fields.begin(), head.fields.end());
  req.peer = peer_;
  req.keep_alive = x.frame.keep_alive;
  req.http_1_0 = head.version == 10;
  if (const auto id = req.field("x-request-id"); is_sane_request_id(id))
    req.request_id.assign(id);
  else
    pool_.make_request_id(req.request_id);
}

void session::find_route() {
  auto& x = *x_;
  x.found = nullptr;
  x.allow.clear();
  const auto base = pool_.base_path;
  if (!base.empty()) {
    if (!x.req.path.starts_with(base))
      return;
    x.req.path.remove_prefix(base.size());
    if (x.req.path.empty())
      x.req.path = "/";
  }
  auto match = where_.routes.match(x.req.verb, x.req.path);
  x.found = match.found;
  x.parameters = match.parameters;
  x.allow = std::move(match.allow);
}

bool session::advance_body() {
  auto& x = *x_;
  if (x.frame.kind == body_kind::length) {
    const auto end = x.parser.head_size() + static_cast<std::size_t>(x.frame.length);
    if (x.filled < end) {
      wait_readable();
      return false;
    }
    x.used = end;
    x.req.body = {x.buffer.get() + x.parser.head_size(), static_cast<std::size_t>(x.frame.length)};
    return true;
  }
  if (x.frame.kind == body_kind::none)
    return true;
  const auto limit = x.found && x.found->body_limit > 0 ? x.found->body_limit : pool_.body_limit;
  const auto head = x.parser.head_size();
  std::size_t consumed = 0;
  const auto step = x.parser.parse_chunks(x.buffer.get() + head, x.filled - head, limit, x.chunked_body, consumed);
  if (step == request_parser::step::failed) {
    unread_ = true;
    refuse(x.parser.why(), x.parser.detail());
    return false;
  }
  // The header stays in front: its views are the request's fields.
  std::memmove(x.buffer.get() + head, x.buffer.get() + head + consumed, x.filled - head - consumed);
  x.filled -= consumed;
  if (step == request_parser::step::need_more) {
    if (x.filled == x.capacity) {
      x.grow(x.capacity + buffer_first_size);
      x.parser.rebase(x.buffer.get());
      x.frame = check_framing(x.parser.head());
      const auto id = x.req.request_id;
      build_request();
      x.req.request_id = id;
      find_route();
    }
    wait_readable();
    return false;
  }
  x.req.body = x.chunked_body;
  return true;
}

// -- handling -----------------------------------------------------------------------------------------------------------

/// True: the response is written and the next request may begin.
bool session::start_handler() {
  auto& x = *x_;
  enter(phase::handling, milliseconds::max());
  keep_ = x.req.keep_alive;
  finished_ = false;
  try {
    if (where_.what.before)
      if (auto answer = where_.what.before(pool_.ctx, x.req))
        return respond(std::move(*answer));
    if (!x.found) {
      const auto why = x.allow.empty() ? http_refusal::not_found : http_refusal::method_not_allowed;
      return respond(word_refusal(why, {}));
    }
    x.task = x.found->handle(pool_.ctx, x.req, x.parameters);
    starting_ = true;
    x.task.start(&session::handler_done, this);
    starting_ = false;
    if (!finished_)
      return false;
    return respond(x.task.take());
  } catch (const std::exception& e) {
    starting_ = false;
    pool_.ctx.state.handler_exceptions.fetch_add(1, std::memory_order_relaxed);
    log_failure(x.req.request_id, e.what());
    return respond(word_refusal(http_refusal::internal_error, {}));
  }
}

/// Called at the end of the coroutine, inside it: only takes note.
void session::handler_done(void* self) noexcept {
  auto* s = static_cast<session*>(self);
  s->finished_ = true;
  if (s->starting_)
    return;
  intrusive_ptr_add_ref(s);
  s->pool_.ctx.bridge->defer(&session::resume, s);
}

void session::resume(void* self) noexcept {
  const ptr s{static_cast<session*>(self), false};
  if (s->phase_ == phase::handling)
    s->finish_handler();
}

void session::finish_handler() {
  auto& x = *x_;
  bool next;
  try {
    next = respond(x.task.take());
  } catch (const std::exception& e) {
    pool_.ctx.state.handler_exceptions.fetch_add(1, std::memory_order_relaxed);
    log_failure(x.req.request_id, e.what());
    next = respond(word_refusal(http_refusal::internal_error, {}));
  }
  if (next)
    proceed();
}

response session::word_refusal(http_refusal why, std::string_view detail) {
  response answer;
  if (where_.what.refuse)
    answer = where_.what.refuse(pool_.ctx, x_->req, why, detail, x_->allow);
  else if (!x_->allow.empty())
    answer.fields.emplace_back("Allow", x_->allow);
  if (why == http_refusal::upgrade_required)
    answer.fields.emplace_back("Sec-WebSocket-Version", "13");
  answer.status = status_of(why);
  return answer;
}

/// Answers what never became a request, and closes.
void session::refuse(http_refusal why, std::string_view detail) {
  auto& x = *x_;
  pool_.ctx.state.requests_refused.fetch_add(1, std::memory_order_relaxed);
  if (phase_ == phase::head) {
    if (x.begun == milliseconds{0})
      x.begun = pool_.ctx.environment.steady_now();
    x.req.target = x.req.path = x.req.query = x.req.body = {};
    x.req.verb = method::get;
    x.req.fields.clear();
    x.req.peer = peer_;
    x.req.http_1_0 = false;
    x.allow.clear();
    pool_.make_request_id(x.req.request_id);
  }
  unread_ = true;
  keep_ = false;
  x.found = nullptr;
  enter(phase::handling, milliseconds::max());
  respond(word_refusal(why, detail));
}

// -- writing ------------------------------------------------------------------------------------------------------------

/// True: written, and the next request may begin.
bool session::respond(response&& answer) {
  auto& x = *x_;
  if (answer.upgrade) {
    if (auto no = check_handshake(x.req); no || x.filled != x.used)
      answer = word_refusal(no.value_or(http_refusal::bad_handshake), {});
    else
      return upgrade(answer);
  }
  keep_ = keep_ && !answer.close && !pool_.draining && !pool_.ctx.state.draining.load(std::memory_order_relaxed);
  if (where_.what.after)
    where_.what.after(pool_.ctx, x.req, x.found, answer, pool_.ctx.environment.steady_now() - x.begun);
  write_head(answer, keep_);
  if (x.req.verb != method::head && answer.status != 204 && answer.status != 304)
    x.out.append(answer.body);
  x.written = 0;
  return flush() && after_write();
}

void session::write_head(const response& answer, bool keep) {
  auto& x = *x_;
  auto& out = x.out;
  out.assign("HTTP/1.1 ");
  append_number(out, answer.status);
  out.append(" ").append(reason_phrase(answer.status));
  out.append("\r\nDate: ").append(pool_.ctx.date.data(), pool_.ctx.date.size());
  if (answer.status != 204 && answer.status != 304 && answer.status != 101) {
    if (!answer.content_type.empty() && !answer.body.empty())
      out.append("\r\nContent-Type: ").append(answer.content_type);
    out.append("\r\nContent-Length: ");
    append_number(out, answer.body.size());
  }
  out.append("\r\nX-Request-Id: ").append(x.req.request_id);
  out.append("\r\nX-Content-Type-Options: nosniff");
  bool has_cache_control = false;
  for (const auto& [name, value] : answer.fields) {
    has_cache_control |= same_text(name, "cache-control");
    out.append("\r\n").append(name).append(": ").append(value);
  }
  if (!has_cache_control)
    out.append("\r\nCache-Control: no-store");
  if (answer.status == 101)
    out.append("\r\nConnection: Upgrade\r\nUpgrade: websocket");
  else if (!keep)
    out.append("\r\nConnection: close");
  else if (x.req.http_1_0)
    out.append("\r\nConnection: keep-alive");
  out.append("\r\n\r\n");
}

/// The connection leaves HTTP: the hub owns the socket from here.
bool session::upgrade(const response& answer) {
  auto& x = *x_;
  response switching;
  switching.status = 101;
  switching.fields.emplace_back("Sec-WebSocket-Accept", accept_of(x.req.field("sec-websocket-key")));
  if (!answer.upgrade->protocol.empty())
    switching.fields.emplace_back("Sec-WebSocket-Protocol", answer.upgrade->protocol);
  for (const auto& extra : answer.fields)
    switching.fields.push_back(extra);
  if (where_.what.after)
    where_.what.after(pool_.ctx, x.req, x.found, switching, pool_.ctx.environment.steady_now() - x.begun);
  write_head(switching, true);
  const auto sent = ::send(socket_.native_handle(), x.out.data(), x.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent != static_cast<ssize_t>(x.out.size()) || !pool_.ctx.sockets) {
    close(); // a fresh socket with no room for 200 bytes is no peer
    return false;
  }
  const auto follow = *answer.upgrade; // `answer` may live in the exchange that close() gives back
  auto socket = std::move(socket_);
  close();
  pool_.ctx.sockets->adopt(std::move(socket), follow);
  return false;
}

/// True: all is written.
bool session::flush() {
  auto& x = *x_;
  while (x.written < x.out.size()) {
    const auto sent = ::send(socket_.native_handle(), x.out.data() + x.written, x.out.size() - x.written,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      x.written += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (phase_ != phase::writing)
        enter(phase::writing, pool_.ctx.now + pool_.write_timeout);
      wait_writable();
      return false;
    } else if (errno != EINTR) {
      close();
      return false;
    }
  }
  return true;
}

void session::wait_writable() {
  socket_.async_wait(tcp_socket::wait_write, [self = ptr{this}](const error_code& error) {
    if (self->phase_ == phase::closed)
      return;
    if (error)
      return self->close();
    self->on_writable();
  });
}

void session::on_writable() {
  const ptr self{this};
  if (flush() && after_write())
    proceed();
}

/// True: another request may begin at once.
bool session::after_write() {
  auto& x = *x_;
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

/// Closing with unread input makes the kernel reset the connection and the peer lose the answer: read on a little.
void session::linger() {
  error_code ignored;
  socket_.shutdown(tcp_socket::shutdown_send, ignored);
  pool_.give_back(std::move(x_));
  enter(phase::lingering, pool_.ctx.now + linger_timeout);
  wait_readable();
}

void session::discard() {
  char scratch[16 * 1024];
  const auto got = ::recv(socket_.native_handle(), scratch, sizeof scratch, MSG_DONTWAIT);
  if (got > 0 && (lingered_ += static_cast<std::uint32_t>(got)) < linger_bytes_max)
    return wait_readable();
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return wait_readable();
  close();
}

} // namespace

// -- the pool -------------------------------------------------------------------------------------------------------------

session_pool::session_pool(context& ctx) : impl_(std::make_unique<impl>(ctx)) {}

session_pool::~session_pool() {
  stop();
}

void session_pool::adopt(tcp_socket socket, const boost::asio::ip::address& peer, const served_site& where) {
  boost::intrusive_ptr<session> s{new session(*impl_, std::move(socket), peer, where)};
  s->begin();
}

bool session_pool::evict_idle() {
  auto& idle = impl_->in->idle;
  if (idle.empty() || idle.front().deadline() > impl_->ctx.now + impl_->idle_timeout - evictable_after)
    return false;
  idle.front().close();
  return true;
}

void session_pool::sweep(milliseconds now) {
  for (auto* ordered : {&impl_->in->fresh, &impl_->in->idle})
    while (!ordered->empty() && ordered->front().deadline() <= now)
      ordered->front().close();
  std::vector<boost::intrusive_ptr<session>> late;
  for (auto& s : impl_->in->busy)
    if (s.deadline() <= now)
      late.emplace_back(&s);
  for (const auto& s : late)
    s->deadline_passed();
}

void session_pool::drain() {
  impl_->draining = true;
  std::vector<boost::intrusive_ptr<session>> silent;
  for (auto* list : {&impl_->in->fresh, &impl_->in->idle})
    for (auto& s : *list)
      if (!s.has_input())
        silent.emplace_back(&s);
  for (const auto& s : silent)
    s->close();
}

void session_pool::stop() {
  impl_->draining = true;
  for (auto* list : {&impl_->in->fresh, &impl_->in->idle, &impl_->in->busy})
    while (!list->empty())
      list->front().close();
}

std::size_t session_pool::open() const {
  return impl_->open;
}

} // namespace fq::net
