// SPDX-License-Identifier: Apache-2.0
// The cluster port. Accepts connections on a thread of its own and passes those on whose TLS handshake
// succeeds in time: a stranger never reaches CAF. Limits unfinished handshakes of each address and in total;
// at a limit it closes the oldest one of the address with most. Survives the lack of descriptors.
#pragma once
#include "app/mesh_socket.hpp"
#include "app/mesh_tls.hpp"
#include "config/network.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace fq {

class mesh_door {
public:
  using receiver = std::function<void(mesh_socket)>;

  /// Listens. `tls` null: connections are passed on at once. Throws std::runtime_error.
  mesh_door(const config::endpoint& where, const mesh_tls* tls, mesh_links& links, environment& env);
  ~mesh_door();
  mesh_door(const mesh_door&) = delete;
  mesh_door& operator=(const mesh_door&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Accepts from now on. `then` is called on the port's thread.
  void open(receiver then);
  /// After it returns, `then` is not called any more. Deadlines of mesh_links are kept on.
  void close();

private:
  using tcp = boost::asio::ip::tcp;
  using error_code = boost::system::error_code;
  struct arrival {
    tcp::socket socket;
    ssl_session tls;
    config::ip_bytes address;
    milliseconds deadline;
  };
  using arrival_ptr = std::shared_ptr<arrival>;

  void run();
  void accept();
  void pause(const error_code& why);
  void admit(tcp::socket socket);
  void make_room_for(const config::ip_bytes& address);
  void drop_oldest_of(const config::ip_bytes& address);
  [[nodiscard]] std::size_t arrivals_of(const config::ip_bytes& address) const;
  void go_on(const arrival_ptr& one);
  void wait(const arrival_ptr& one, tcp::socket::wait_type what);
  void finish(const arrival_ptr& one);
  void refuse(const arrival_ptr& one);
  void drop(const arrival_ptr& one);
  void hand_over(tcp::socket& socket, ssl_session tls, peer_certificate peer, milliseconds deadline);
  void sweep();

  const mesh_tls* const tls_;
  mesh_links& links_;
  environment& env_;
  boost::asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  boost::asio::steady_timer pause_{io_}, sweep_{io_};
  std::uint16_t port_ = 0;
  std::list<arrival_ptr> arrivals_; ///< unfinished handshakes, ordered by deadline
  bool is_paused_ = false;
  std::mutex lock_; // the port's thread and close()
  receiver then_; ///< guarded by lock_
  std::thread thread_;
};

} // namespace fq
