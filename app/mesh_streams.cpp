// SPDX-License-Identifier: Apache-2.0
#include "app/mesh_streams.hpp"

#include "actors/base/cluster_links.hpp"
#include "app/limits.hpp"
#include "app/log.hpp"
#include "domain/base/environment.hpp"

#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/policy/tcp.hpp>

#include <openssl/err.h>

#include <sys/socket.h>

#include <utility>

namespace fq {
namespace {

namespace network = caf::io::network;
using network::rw_state;

network::default_multiplexer& loop_of(caf::actor_system& system) {
  return static_cast<network::default_multiplexer&>(system.middleman().backend());
}

/// Reads and writes of a stream, as CAF's stream_impl calls them.
class tls_policy {
public:
  explicit tls_policy(ssl_session session) : session_(std::move(session)) {}

  rw_state read_some(std::size_t& done, network::native_socket descriptor, void* to, std::size_t size) {
    if (!session_) return caf::policy::tcp::read_some(done, descriptor, to, size);
    ERR_clear_error();
    done = 0;
    return state_after(SSL_read_ex(session_.get(), to, size, &done));
  }
  rw_state write_some(std::size_t& done, network::native_socket descriptor, const void* from,
                      std::size_t size) {
    if (!session_) return caf::policy::tcp::write_some(done, descriptor, from, size);
    done = 0;
    if (size == 0) return rw_state::indeterminate;
    ERR_clear_error();
    return state_after(SSL_write_ex(session_.get(), from, size, &done));
  }
  /// The rest of a record is in memory: the socket does not announce it.
  bool must_read_more(network::native_socket, std::size_t wanted) {
    return session_ && static_cast<std::size_t>(SSL_pending(session_.get())) >= wanted;
  }

private:
  [[nodiscard]] rw_state state_after(int result) const {
    if (result == 1) return rw_state::success;
    const int why = SSL_get_error(session_.get(), result);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? rw_state::success : rw_state::failure;
  }

  ssl_session session_; ///< null: without TLS
};

class mesh_scribe final : public caf::io::scribe {
public:
  mesh_scribe(caf::actor_system& system, mesh_socket socket, mesh_side side,
              const stream_services& services) :
      scribe(network::conn_hdl_from_socket(socket.descriptor())),
      services_(services),
      guard_(side, system.node()),
      stream_(loop_of(system), socket.descriptor(), socket.take_tls()) {
    static_cast<void>(socket.release()); // the stream closes it
  }
  ~mesh_scribe() override { services_.links.leave(stream_.fd()); }

  bool consume(caf::execution_unit* context, const void* bytes, std::size_t size) override {
    if (detached()) return false;
    auto wrong = guard_.read({static_cast<const char*>(bytes), size});
    if (wrong.empty() && guard_.process() && !is_introduced_) {
      is_introduced_ = services_.links.introduce(stream_.fd(), guard_.process());
      if (!is_introduced_) wrong = "another node's certificate speaks for its process";
    }
    if (wrong.empty() && ++parts_ % handles_look_parts == 0 && handles() > handles_per_node_max)
      wrong = "its node shows more actors than a node has";
    if (wrong.empty()) return scribe::consume(context, bytes, size);
    services_.counts.closed.fetch_add(1, std::memory_order_relaxed);
    log::warn("closed a connection between nodes",
              {{"node", services_.links.node_at(stream_.fd())}, {"peer", addr()}, {"why", wrong}});
    ::shutdown(stream_.fd(), SHUT_RDWR); // output that waits would keep it open
    io_failure(context, network::operation::read);
    return false;
  }

  void configure_read(caf::io::receive_policy::config how) override {
    stream_.configure_read(how);
    if (!std::exchange(is_launched_, true)) stream_.start(this);
  }
  void ack_writes(bool enable) override { stream_.ack_writes(enable); }
  std::vector<char>& wr_buf() override { return stream_.wr_buf(); }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void flush() override { stream_.flush(this); }
  void add_to_loop() override { stream_.activate(this); }
  void remove_from_loop() override { stream_.passivate(); }
  std::string addr() const override {
    const auto found = network::remote_addr_of_fd(stream_.fd());
    return found ? *found : std::string{};
  }
  std::uint16_t port() const override {
    const auto found = network::remote_port_of_fd(stream_.fd());
    return found ? *found : std::uint16_t{0};
  }
  void graceful_shutdown() override {
    stream_.graceful_shutdown();
    services_.links.end_by(stream_.fd(), services_.env.steady_now() + stream_linger);
    detach(&stream_.backend(), false);
  }

private:
  /// Actors of the node at the other end that CAF knows here.
  [[nodiscard]] std::size_t handles() {
    const auto& known = static_cast<caf::io::basp_broker*>(parent())->proxies();
    std::size_t sum = 0;
    for (const auto& process : services_.links.processes_beside(stream_.fd()))
      sum += known.count_proxies(process);
    return sum;
  }

  const stream_services& services_;
  frame_guard guard_;
  bool is_launched_ = false, is_introduced_ = false;
  std::uint64_t parts_ = 0; ///< headers and payloads
  network::stream_impl<tls_policy> stream_;
};

} // namespace

caf::io::scribe_ptr make_stream(caf::actor_system& system, mesh_socket socket, mesh_side side,
                                const stream_services& services) {
  return caf::make_counted<mesh_scribe>(system, std::move(socket), side, services);
}

mesh_doorman::mesh_doorman(caf::actor_system& system, std::uint16_t port, const stream_services& services) :
    doorman(caf::io::accept_handle::from_int(port)), system_(system), port_(port), services_(services) {}

void mesh_doorman::admit(mesh_socket socket) {
  loop_of(system_).post([self = caf::intrusive_ptr<mesh_doorman>{this},
                         stream = make_stream(system_, std::move(socket), mesh_side::accepted, services_)] {
    if (self->detached()) return;
    const auto handle = stream->hdl();
    self->parent()->add_scribe(stream);
    self->doorman::new_connection(&loop_of(self->system_), handle);
  });
}

void mesh_doorman::graceful_shutdown() { detach(&loop_of(system_), false); }

} // namespace fq
