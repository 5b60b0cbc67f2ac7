// SPDX-License-Identifier: Apache-2.0
#include "app/mesh_door.hpp"

#include "app/limits.hpp"
#include "app/log.hpp"
#include "domain/base/environment.hpp"
#include "net/http/client_address.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <openssl/err.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace fq {

mesh_door::mesh_door(const config::endpoint& where, const mesh_tls* tls, mesh_links& links,
                     environment& env) :
    tls_(tls), links_(links), env_(env) {
  try {
    const tcp::endpoint address{boost::asio::ip::make_address(where.address), where.port};
    acceptor_.open(address.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(address);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& e) {
    throw std::runtime_error{"cluster.listen: cannot listen at " + config::to_string(where) + ": "
                             + e.code().message()};
  }
  sweep();
  thread_ = std::thread{[this] { run(); }};
}

mesh_door::~mesh_door() {
  close();
  io_.stop();
  thread_.join();
}

/// A failure in one handler, such as a lack of memory, must not end the node.
void mesh_door::run() {
  for (;;) try {
      io_.run();
      return;
    } catch (const std::exception& e) { log::error("cluster port", {{"what", e.what()}}); }
}

void mesh_door::open(receiver then) {
  const std::lock_guard guard{lock_};
  then_ = std::move(then);
  boost::asio::post(io_, [this] { accept(); });
}

void mesh_door::close() {
  const std::lock_guard guard{lock_};
  then_ = nullptr;
  boost::asio::post(io_, [this] {
    error_code ignored;
    acceptor_.close(ignored);
  });
}

// -- accepting

void mesh_door::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (!acceptor_.is_open()) return;
    if (error) return pause(error);
    if (std::exchange(is_paused_, false)) log::info("cluster port: accepts connections again");
    accept(); // before admit, which may throw
    admit(std::move(socket));
  });
}

/// Out of descriptors or memory, which is temporary.
void mesh_door::pause(const error_code& why) {
  if (!std::exchange(is_paused_, true))
    log::error("cluster port: cannot accept connections", {{"why", why.message()}});
  pause_.expires_after(accept_pause);
  pause_.async_wait([this](const error_code& aborted) {
    if (!aborted && acceptor_.is_open()) accept();
  });
}

void mesh_door::admit(tcp::socket socket) {
  error_code failed;
  const auto peer = socket.remote_endpoint(failed);
  if (!failed) socket.non_blocking(true, failed);
  if (failed) return;
  const auto deadline = env_.steady_now() + arrival_timeout;
  if (tls_ == nullptr) return hand_over(socket, nullptr, {}, deadline);
  const auto address = net::limit_prefix(peer.address());
  make_room_for(address);
  auto session = tls_->accepting(socket.native_handle());
  if (!session) return; // out of memory; closes the socket
  const auto one =
    std::make_shared<arrival>(arrival{std::move(socket), std::move(session), address, deadline});
  arrivals_.push_back(one);
  go_on(one);
}

void mesh_door::make_room_for(const config::ip_bytes& address) {
  if (arrivals_of(address) >= arrivals_per_address_max) return drop_oldest_of(address);
  if (arrivals_.size() < arrivals_max) return;
  const auto crowded = std::ranges::max_element(
    arrivals_, {}, [this](const arrival_ptr& each) { return arrivals_of(each->address); });
  drop_oldest_of((*crowded)->address);
}

void mesh_door::drop_oldest_of(const config::ip_bytes& address) {
  const auto oldest =
    std::ranges::find(arrivals_, address, [](const arrival_ptr& each) { return each->address; });
  drop(arrival_ptr{*oldest});
}

std::size_t mesh_door::arrivals_of(const config::ip_bytes& address) const {
  return static_cast<std::size_t>(
    std::ranges::count(arrivals_, address, [](const arrival_ptr& each) { return each->address; }));
}

// -- one handshake

void mesh_door::go_on(const arrival_ptr& one) {
  ERR_clear_error();
  const int result = SSL_do_handshake(one->tls.get());
  if (result == 1) return finish(one);
  switch (SSL_get_error(one->tls.get(), result)) {
    case SSL_ERROR_WANT_READ: return wait(one, tcp::socket::wait_read);
    case SSL_ERROR_WANT_WRITE: return wait(one, tcp::socket::wait_write);
    default: return refuse(one);
  }
}

void mesh_door::wait(const arrival_ptr& one, tcp::socket::wait_type what) {
  one->socket.async_wait(what, [this, one](const error_code& error) {
    if (!one->socket.is_open()) return; // it was dropped
    error ? drop(one) : go_on(one);
  });
}

void mesh_door::finish(const arrival_ptr& one) {
  std::erase(arrivals_, one);
  auto peer = peer_of(one->tls.get());
  hand_over(one->socket, std::move(one->tls), std::move(peer), one->deadline);
}

/// Logs only what a certificate of the authority is needed for: strangers must not fill the log.
void mesh_door::refuse(const arrival_ptr& one) {
  const auto why = why_failed(one->tls.get());
  const auto verdict = SSL_get_verify_result(one->tls.get());
  if (verdict == X509_V_ERR_CERT_REVOKED || verdict == X509_V_ERR_APPLICATION_VERIFICATION)
    log::warn("cluster port: refused a connection", {{"node", peer_of(one->tls.get()).node}, {"why", why}});
  else
    log::debug("cluster port: refused a connection", {{"why", why}});
  drop(one);
}

void mesh_door::drop(const arrival_ptr& one) {
  error_code ignored;
  one->socket.close(ignored);
  std::erase(arrivals_, arrival_ptr{one}); // a copy: the argument may be the list's
}

void mesh_door::hand_over(tcp::socket& socket, ssl_session tls, peer_certificate peer,
                          milliseconds deadline) {
  const auto refused = [&](const char* why) {
    log::warn("cluster port: refused a connection", {{"node", peer.node}, {"why", why}});
  };
  if (!links_.enter(socket.native_handle(), peer, deadline)) return refused("there are too many already");
  mesh_socket done{socket.release(), std::move(tls), links_};
  if (is_refused_now(tls_, peer)) return refused("its certificate was withdrawn during the handshake");
  const std::lock_guard guard{lock_};
  if (then_) then_(std::move(done));
}

void mesh_door::sweep() {
  sweep_.expires_after(port_sweep_interval);
  sweep_.async_wait([this](const error_code& aborted) {
    if (!aborted) sweep();
  });
  const auto now = env_.steady_now();
  while (!arrivals_.empty() && arrivals_.front()->deadline <= now) drop(arrivals_.front());
  links_.end_late(now);
}

} // namespace fq
