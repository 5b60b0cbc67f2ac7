// SPDX-License-Identifier: Apache-2.0
// Reads wait for readiness first and then read into the shared buffer, so that an idle connection needs no
// buffer of its own.
#include "load/wire/link.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

namespace fq::load {

using asio::ip::tcp;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

namespace {

constexpr std::size_t scratch_bytes = 64 * 1024;
constexpr std::size_t inbox_kept_bytes = 4 * 1024;
constexpr std::uint32_t first_loopback = 0x7F000001;

bool is_loopback_v4(const tcp::endpoint& server) {
  return server.address().is_v4() && server.address().to_v4().is_loopback();
}

// The kernel chooses the port at connect, so that each source address has the full ephemeral range per
// server.
void bind_source(tcp::socket& socket, std::uint32_t which) {
  const int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  boost::system::error_code ignored;
  socket.bind(tcp::endpoint(asio::ip::address_v4(first_loopback + which), 0), ignored);
}

} // namespace

link_hub::link_hub(asio::io_context& context, std::uint32_t source_addresses) :
    context_(context), source_addresses_(source_addresses), scratch_(scratch_bytes) {}

void link_hub::enroll(link* which) {
  which->place_in_hub_ = links_.size();
  links_.push_back(which);
}

void link_hub::forget(link* which) {
  links_[which->place_in_hub_] = links_.back();
  links_[which->place_in_hub_]->place_in_hub_ = which->place_in_hub_;
  links_.pop_back();
}

void link_hub::sweep(steady::time_point now) {
  for (auto* each : links_)
    if (each->deadline_ < now) each->close();
}

link::link(link_hub& hub, tcp::endpoint server) : hub_(hub), server_(server), socket_(hub.context_) {
  hub_.enroll(this);
}

link::~link() { hub_.forget(this); }

void link::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  inbox_.clear();
  if (inbox_.capacity() > inbox_kept_bytes) inbox_.shrink_to_fit();
}

asio::awaitable<bool> link::open() {
  boost::system::error_code error;
  socket_.open(server_.protocol(), error);
  if (error) co_return false;
  socket_.set_option(tcp::no_delay(true), error);
  socket_.non_blocking(true, error);
  if (is_loopback_v4(server_) && hub_.source_addresses_ > 1)
    bind_source(socket_, hub_.next_source_++ % hub_.source_addresses_);
  auto [failed] = co_await socket_.async_connect(server_, as_result);
  if (failed) close();
  co_return !failed;
}

asio::awaitable<bool> link::send_all(std::string_view data) {
  while (!data.empty()) {
    const auto sent = ::send(socket_.native_handle(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      data.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) co_return false;
    auto [failed] = co_await socket_.async_wait(tcp::socket::wait_write, as_result);
    if (failed || !socket_.is_open()) co_return false;
  }
  co_return true;
}

// Appends received bytes to the inbox; false if the connection failed.
asio::awaitable<bool> link::receive(bool& at_end) {
  for (;;) {
    auto [failed] = co_await socket_.async_wait(tcp::socket::wait_read, as_result);
    if (failed || !socket_.is_open()) co_return false;
    auto& scratch = hub_.scratch_;
    const auto got = ::recv(socket_.native_handle(), scratch.data(), scratch.size(), 0);
    if (got > 0) {
      inbox_.append(scratch.data(), static_cast<std::size_t>(got));
      co_return true;
    }
    if (got == 0) {
      at_end = true;
      co_return true;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) co_return false;
  }
}

// `silent`: the connection ended before the first byte of a reply.
asio::awaitable<transfer> link::exchange_once(std::string_view request, http_reply& reply, bool& silent) {
  silent = true;
  if (!socket_.is_open()) {
    const bool opened = co_await open();
    if (!opened) co_return transfer::dropped;
  }
  inbox_.clear();
  const bool sent = co_await send_all(request);
  if (!sent) co_return transfer::dropped;
  bool at_end = false;
  for (;;) {
    const bool alive = co_await receive(at_end);
    silent = inbox_.empty();
    if (!alive) co_return transfer::dropped;
    switch (take_reply(inbox_, at_end, reply)) {
      case parse_result::done: co_return transfer::answered;
      case parse_result::bad: co_return transfer::malformed;
      case parse_result::need_more: break;
    }
    if (at_end) co_return transfer::dropped;
  }
}

asio::awaitable<transfer> link::exchange(std::string_view request, http_reply& reply,
                                         steady::time_point deadline) {
  deadline_ = deadline;
  const bool reused = socket_.is_open();
  bool silent = false;
  auto result = co_await exchange_once(request, reply, silent);
  if (result == transfer::dropped && reused && silent && steady::now() < deadline) {
    close();
    result = co_await exchange_once(request, reply, silent);
  }
  deadline_ = steady::time_point::max();
  if (result != transfer::answered || !reply.keep_alive) close();
  co_return result;
}

asio::awaitable<transfer> link::read_frame(ws_frame& frame, steady::time_point deadline) {
  deadline_ = deadline;
  auto result = transfer::dropped;
  bool at_end = false;
  for (;;) {
    const auto taken = take_frame(inbox_, frame);
    if (taken == parse_result::done)
      result = transfer::answered;
    else if (taken == parse_result::bad)
      result = transfer::malformed;
    if (taken != parse_result::need_more || at_end) break;
    if (!socket_.is_open()) break;
    const bool alive = co_await receive(at_end);
    if (!alive) break;
  }
  deadline_ = steady::time_point::max();
  if (result != transfer::answered) close();
  co_return result;
}

transfer link::send_frame(ws_opcode opcode, std::string_view payload, std::uint32_t mask) {
  const auto frame = client_frame(opcode, payload, mask);
  const auto sent = ::send(socket_.native_handle(), frame.data(), frame.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(frame.size())) return transfer::answered;
  close();
  return transfer::dropped;
}

link_pool::link_pool(link_hub& hub, tcp::endpoint server, std::size_t size) : hub_(hub) {
  for (std::size_t i = 0; i < size; ++i) {
    links_.push_back(std::make_unique<link>(hub, server));
    idle_.push_back(links_.back().get());
  }
}

asio::awaitable<transfer> link_pool::exchange(std::string_view request, http_reply& reply,
                                              steady::time_point deadline) {
  asio::steady_timer turn(hub_.context(), deadline);
  while (idle_.empty()) {
    waiting_.push_back(&turn);
    auto [called] = co_await turn.async_wait(as_result);
    if (!called) { // no wake-up: the deadline has passed
      std::erase(waiting_, &turn);
      if (idle_.empty()) co_return transfer::dropped;
    }
  }
  auto* mine = idle_.back();
  idle_.pop_back();
  const auto result = co_await mine->exchange(request, reply, deadline);
  idle_.push_back(mine);
  if (!waiting_.empty()) {
    waiting_.front()->cancel();
    waiting_.pop_front();
  }
  co_return result;
}

} // namespace fq::load
