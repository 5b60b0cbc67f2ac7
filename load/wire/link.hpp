// SPDX-License-Identifier: Apache-2.0
// One TCP connection to one server, opened on demand: HTTP exchanges one at a time, or a WebSocket. Used by
// fans, directly or through a pool. Runs on the context's single thread.
#pragma once

#include "load/wire/http_reply.hpp"
#include "load/wire/ws_frames.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

class link;

// Shared by all connections of a run: the thread's context, one receive buffer, and the deadline sweep. A
// sweep every 100 ms is precise enough for deadlines of seconds; a timer per exchange would cost more than
// the exchange.
class link_hub {
public:
  explicit link_hub(asio::io_context& context, std::uint32_t source_addresses);

  [[nodiscard]] asio::io_context& context() { return context_; }
  // Closes connections past their deadline. Call it every 100 ms.
  void sweep(steady::time_point now);

private:
  friend class link;
  void enroll(link* which);
  void forget(link* which);

  asio::io_context& context_;
  std::uint32_t source_addresses_;
  std::uint32_t next_source_ = 0;
  std::vector<link*> links_;
  std::vector<char> scratch_;
};

enum class transfer : std::uint8_t { answered, dropped, malformed };

class link {
public:
  link(link_hub& hub, asio::ip::tcp::endpoint server);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  // Sends one request and reads its reply. Reopens a kept connection once if the server has closed it. After
  // any result except `answered` the connection is closed and the outcome unknown.
  asio::awaitable<transfer> exchange(std::string_view request, http_reply& reply,
                                     steady::time_point deadline);

  // After a 101: reads the next frame; waits until `deadline` at most.
  asio::awaitable<transfer> read_frame(ws_frame& frame, steady::time_point deadline);
  // For small frames only; a full socket buffer counts as dropped.
  transfer send_frame(ws_opcode opcode, std::string_view payload, std::uint32_t mask);

  void close();

private:
  friend class link_hub;
  asio::awaitable<bool> open();
  asio::awaitable<bool> send_all(std::string_view data);
  asio::awaitable<bool> receive(bool& at_end);
  asio::awaitable<transfer> exchange_once(std::string_view request, http_reply& reply, bool& silent);

  link_hub& hub_;
  asio::ip::tcp::endpoint server_;
  asio::ip::tcp::socket socket_;
  std::string inbox_;
  steady::time_point deadline_ = steady::time_point::max();
  std::size_t place_in_hub_ = 0;
};

// N links shared by any number of fans, first come first served.
class link_pool {
public:
  link_pool(link_hub& hub, asio::ip::tcp::endpoint server, std::size_t size);
  asio::awaitable<transfer> exchange(std::string_view request, http_reply& reply,
                                     steady::time_point deadline);

private:
  link_hub& hub_;
  std::vector<std::unique_ptr<link>> links_;
  std::vector<link*> idle_;
  std::deque<asio::steady_timer*> waiting_; // at most one per fan
};

} // namespace fq::load
