// SPDX-License-Identifier: Apache-2.0
#include "net/http/ready_set.hpp"

#include "net/http/limits.hpp"

#include <boost/asio/post.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace fq::net {

namespace {

int new_epoll() {
  const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) throw std::system_error{errno, std::generic_category(), "epoll_create1"};
  return descriptor;
}

} // namespace

ready_set::ready_set(boost::asio::io_context& io) : io_(io), epoll_(io.get_executor(), new_epoll()) {
  wait();
}

void ready_set::wait() {
  epoll_.async_wait(decltype(epoll_)::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    serve();
    wait();
  });
}

/// Sockets that become ready meanwhile wait for the next turn, so that Asio's handlers get theirs.
void ready_set::serve() {
  std::array<epoll_event, ready_sockets_per_turn> events;
  const int count = ::epoll_wait(epoll_.native_handle(), events.data(), static_cast<int>(events.size()), 0);
  is_serving_ = true;
  for (int i = 0; i < count; ++i) serve(*static_cast<member*>(events[i].data.ptr), events[i].events);
  is_serving_ = false;
  closed_.clear();
}

void ready_set::serve(member& m, std::uint32_t events) {
  if (m.descriptor < 0) return; // closed since the events were taken
  constexpr std::uint32_t failed = EPOLLHUP | EPOLLERR;
  m.read_ended = m.read_ended || (events & (failed | EPOLLRDHUP)) != 0;
  m.write_ended = m.write_ended || (events & failed) != 0;
  const bool reads = m.may_read || (events & (EPOLLIN | EPOLLRDHUP | failed)) != 0;
  const bool writes = m.may_write || (events & (EPOLLOUT | failed)) != 0;
  m.may_read = reads;
  m.may_write = writes;
  const auto take = [&](place& p) {
    if (!p.who || !(p.by_writing ? writes : reads)) return waiter{};
    (p.by_writing ? m.may_write : m.may_read) = false;
    return std::move(p.who);
  };
  const auto writer = take(m.writer), reader = take(m.reader);
  if (writer) writer();
  if (reader) reader();
}

ready_socket::ready_socket(ready_set& set, int descriptor) :
    set_(&set), member_(new ready_set::member{.descriptor = descriptor}) {
  epoll_event what{EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {}};
  what.data.ptr = member_.get();
  if (::epoll_ctl(set.epoll_.native_handle(), EPOLL_CTL_ADD, descriptor, &what) == 0) return;
  const int why = errno;
  ::close(descriptor);
  throw std::system_error{why, std::generic_category(), "epoll_ctl"};
}

bool ready_socket::has_input() const {
  char byte;
  return ::recv(member_->descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/// A read that leaves room has emptied the socket (epoll(7)): the next bytes are another edge.
ssize_t ready_socket::receive(char* into, std::size_t room) {
  const auto got = ::recv(member_->descriptor, into, room, MSG_DONTWAIT);
  was_read(got != static_cast<ssize_t>(room));
  return got;
}

ssize_t ready_socket::send(const char* bytes, std::size_t size) {
  const auto sent = ::send(member_->descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  was_written(sent != static_cast<ssize_t>(size));
  return sent;
}

void ready_socket::wait(ready_set::place& at, ready_set::place p) {
  auto& m = *member_;
  const bool has_ended = p.by_writing ? m.write_ended : m.read_ended;
  if (!std::exchange(p.by_writing ? m.may_write : m.may_read, false) && !has_ended) {
    at = std::move(p);
    return;
  }
  boost::asio::post(set_->io_, [called = std::move(p.who)] { called(); });
}

void ready_socket::shutdown_send() { ::shutdown(member_->descriptor, SHUT_WR); }

/// The waiters are released later: one may be the caller's last reference.
void ready_socket::close() {
  if (!member_) return;
  ::close(std::exchange(member_->descriptor, -1));
  for (auto* p : {&member_->reader, &member_->writer})
    if (p->who) boost::asio::post(set_->io_, [dropped = std::move(p->who)] {});
  if (set_->is_serving_) set_->closed_.push_back(std::move(member_));
  member_.reset();
}

} // namespace fq::net
