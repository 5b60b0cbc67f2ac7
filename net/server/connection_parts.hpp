// SPDX-License-Identifier: Apache-2.0
// Private parts of net/server/connection: one state machine per connection. A current request owns an
// `exchange` (buffer, parser, response) from a pool. Reads and writes use the stream directly; Asio only
// waits.
// connection.cpp has the life cycle and the pool, connection_reading.cpp the input,
// connection_answering.cpp handlers and output.
#pragma once
#include "net/http/crowd.hpp"
#include "net/http/parser.hpp"
#include "net/server/connection.hpp"
#include "net/server/limits.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// What one current request needs.
struct exchange {
  std::unique_ptr<char[]> buffer{new char[buffer_first_size]};
  std::size_t capacity = buffer_first_size;
  std::size_t filled = 0; ///< bytes in the buffer
  std::size_t used = 0; ///< bytes of this request
  request_parser parser;
  framing frame;
  std::string chunked_body;
  request req;
  const route* found = nullptr;
  std::size_t body_limit = 0; ///< bytes
  path_parameters parameters;
  std::string allow;
  milliseconds begun{0};
  open_span work; ///< span of handler and answer, if traced
  awaitable<response> task;
  std::string out;
  std::shared_ptr<body_source> source; ///< rest of the body after `out`; null: none
  awaitable<std::string> part; ///< the next part, in progress
  std::string_view rest; ///< sent after `out`; static storage
  std::size_t written = 0; ///< bytes written of `out` and `rest`

  void grow(std::size_t wanted);

  /// Drops this request's bytes and keeps the bytes read ahead.
  void next();
  /// Frees a large buffer before reuse by another connection.
  void shrink();
};

enum class phase : std::uint8_t { fresh, idle, head, body, handling, writing, lingering, closed };

class connection final : public boost::intrusive::list_base_hook<>, public guest {
public:
  connection(connection_pool::impl& pool, stream socket, const boost::asio::ip::address& peer,
             const served_site& where) :
      pool_(pool), socket_(std::move(socket)), peer_(peer), where_(where) {}

  void begin();
  void close();
  void deadline_passed();
  /// Whether unread bytes have arrived.
  [[nodiscard]] bool has_input() const;
  bool give_way() override;
  [[nodiscard]] milliseconds deadline() const { return deadline_; }
  [[nodiscard]] const boost::asio::ip::address& peer() const { return peer_; }

  friend void intrusive_ptr_add_ref(connection* s) { ++s->references_; }
  friend void intrusive_ptr_release(connection* s) {
    if (--s->references_ == 0) s->end();
  }

private:
  using ptr = boost::intrusive_ptr<connection>;
  using error_code = boost::system::error_code;

  void end(); ///< called without references left
  void enter(phase next, milliseconds deadline);
  void go_idle();

  // connection_reading.cpp
  void wait_readable();
  void on_readable();
  bool fill();
  void proceed();
  bool advance();
  bool advance_head();
  bool advance_body();
  bool take_head();
  void build_request();
  void find_route();
  bool is_below_base(std::string_view& path) const;
  [[nodiscard]] std::string allowed_methods() const;

  // connection_answering.cpp
  void begin_trace();
  void end_trace(unsigned status);
  bool start_handler();
  static void handler_done(void* self) noexcept;
  static void resume(void* self) noexcept;
  void finish_handler();
  void refuse(http_refusal why, std::string_view detail, std::string allow = {});
  response word_refusal(http_refusal why, std::string_view detail);
  bool respond(response&& answer);
  void render_head(const response& answer, bool keep);
  bool upgrade(const response& answer);
  bool flush();
  bool send_parts();
  bool take_part();
  void finish_part();
  void wait_writable();
  void on_writable();
  bool after_write();
  void linger();
  void discard();

  connection_pool::impl& pool_;
  stream socket_;
  boost::asio::ip::address peer_;
  const served_site& where_;
  std::unique_ptr<exchange> x_;
  milliseconds deadline_{0};
  unsigned references_ = 0;
  phase phase_ = phase::closed; ///< in no list yet
  bool starting_ = false; ///< the handler is on the stack
  bool finished_ = false; ///< the handler has ended
  bool keep_ = true; ///< stay open after the current response
  bool by_proxy_ = false; ///< the current request's client is behind a trusted proxy
  bool unread_ = false; ///< the peer may still be sending: linger before the close
  std::uint32_t lingered_ = 0;
};

using connection_list = boost::intrusive::list<connection, boost::intrusive::constant_time_size<false>>;

/// Connections by the phase in which they wait for bytes. Each list has one timeout and is ordered by
/// deadline. `busy` has all other phases, unordered.
struct connection_lists {
  connection_list fresh, idle, head, body, busy;

  connection_list& of(phase p) {
    switch (p) {
      case phase::fresh: return fresh;
      case phase::idle: return idle;
      case phase::head: return head;
      case phase::body: return body;
      case phase::handling:
      case phase::writing:
      case phase::lingering:
      case phase::closed: return busy;
    }
    return busy;
  }
};

struct connection_pool::impl {
  explicit impl(context& c);

  std::unique_ptr<exchange> take_exchange();
  void give_back(std::unique_ptr<exchange> x);
  void make_request_id(std::string& out);

  /// The connection that has waited in `p` for longest, if for more than `grace` and without new input.
  connection* longest_silent(phase p, milliseconds grace);
  void evict(connection& s);
  void thin_out();
  /// Whether a WebSocket may take this connection. Closes an extra socket if that helps.
  bool make_room_for_socket();

  /// Timeout of a phase that waits for bytes, from its start.
  [[nodiscard]] milliseconds timeout_of(phase p) const;
  [[nodiscard]] milliseconds waits_since(const connection& s, phase p) const {
    return s.deadline() - timeout_of(p);
  }

  context& ctx;
  const milliseconds fresh_timeout, header_timeout, body_timeout, write_timeout, idle_timeout;
  const std::size_t body_limit;
  const std::string_view base_path;
  const std::string strict_transport; ///< value of Strict-Transport-Security on the TLS listener; empty:
                                      ///< none
  bool draining = false;
  std::size_t open = 0;
  std::vector<std::unique_ptr<exchange>> exchanges;
  std::uint64_t id_prefix, id_next;
  connection_lists in;
};

} // namespace fq::net
