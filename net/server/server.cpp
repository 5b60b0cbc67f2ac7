// SPDX-License-Identifier: Apache-2.0
#include "net/server/server.hpp"

#include "net/bridge/actor_bridge.hpp"
#include "net/bridge/push_relay.hpp"
#include "net/bridge/session_table.hpp"
#include "net/http/crowd.hpp"
#include "net/server/connection.hpp"
#include "net/server/limits.hpp"
#include "net/server/listener.hpp"
#include "net/server/tls_handshakes.hpp"
#include "net/websocket/hub.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace fq::net {

namespace {

/// "Sun, 06 Nov 1994 08:49:37 GMT"
void write_date(timestamp now, std::array<char, 29>& out) {
  static constexpr const char* weekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(now - day)};
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d GMT",
                weekdays[std::chrono::weekday{day}.c_encoding()], static_cast<unsigned>(date.day()),
                months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  std::copy_n(text, out.size(), out.begin());
}

/// One io thread and its objects. `ctx` is declared first because pending handlers of `io` refer to it.
struct worker {
  worker(const server_parts& parts, unsigned index, std::size_t threads) :
      ctx{io,
          parts.environment,
          parts.options,
          parts.state,
          parts.region,
          parts.catalog,
          parts.accounts,
          parts.directory,
          parts.notices,
          parts.session_reader,
          parts.verifier,
          parts.issuer,
          parts.sessions,
          parts.shared},
      ready(io),
      timer(io),
      guests(parts.options.http.trusted_proxies, pending_of_address_max / threads,
             pending_of_all_max / threads, [this] { boost::asio::post(io, [this] { guests.relieve(); }); }),
      bridge(parts.system, io, parts.region, parts.state, limits(parts.options, threads)),
      lines(ctx),
      sockets(ctx),
      table(ctx),
      sessions(ctx) {
    ctx.thread_index = index;
    ctx.ready = &ready;
    ctx.bridge = &bridge;
    ctx.guests = &guests;
    ctx.lines = &lines;
    ctx.sockets = &sockets;
    ctx.table = &table;
    ctx.ws = parts.ws;
    lines.set_follower(&sockets);
    bridge.set_receiver(static_cast<push_receiver*>(&lines));
    bridge.set_receiver(static_cast<session_receiver*>(&table));
    tick();
  }

  static bridge_limits limits(const config::options& options, std::size_t threads) {
    return {options.http.request_timeout,
            std::max<std::size_t>(1, static_cast<std::size_t>(options.http.in_flight_per_event) / threads),
            static_cast<std::size_t>(options.cluster.in_flight_per_node)};
  }

  void tick() {
    ctx.now = ctx.environment.steady_now();
    write_date(ctx.environment.wall_now(), ctx.date);
    bridge.sweep(ctx.now);
    sessions.sweep(ctx.now);
    lines.sweep(ctx.now);
    sockets.sweep(ctx.now);
    if (door) door->sweep(ctx.now);
    table.sweep(ctx.now);
  }

  void keep_ticking() {
    timer.expires_after(sweep_interval);
    timer.async_wait([this](const boost::system::error_code& error) {
      if (error || ended) return;
      tick();
      keep_ticking();
    });
  }

  void begin() {
    for (auto& l : listeners) l->begin();
    keep_ticking();
  }

  void drain() {
    for (auto& l : listeners) l->close();
    if (door) door->stop();
    sessions.drain();
    sockets.drain();
  }

  /// On the io thread, or after its end.
  void end() {
    if (std::exchange(ended, true)) return;
    for (auto& l : listeners) l->close();
    timer.cancel();
    if (door) door->stop();
    sessions.stop();
    lines.stop();
    sockets.stop();
    table.stop();
    bridge.stop();
  }

  context ctx;
  boost::asio::io_context io{1};
  ready_set ready;
  boost::asio::steady_timer timer;
  crowd guests;
  actor_bridge bridge;
  line_table lines;
  hub sockets;
  session_table table;
  connection_pool sessions;
  std::optional<tls_handshakes> door; ///< of the TLS listener
  std::vector<std::unique_ptr<listener>> listeners;
  bool ended = false;
  std::thread thread;
};

} // namespace

struct server::impl {
  explicit impl(server_parts p);
  ~impl();

  void listen();
  void listen_with_tls();
  void each(const std::function<void(worker&)>& what);
  void wait_while(milliseconds patience, const std::function<bool()>& condition) const;

  server_parts parts;
  shared_push_relay relay;
  served_site public_site, admin_site;
  std::vector<std::unique_ptr<worker>> workers;
  std::uint16_t public_port = 0, admin_port = 0, tls_port = 0;
  std::atomic<bool> stopping{false};
  std::mutex stop_mutex;
  bool started = false;
};

server::impl::impl(server_parts p) :
    parts(std::move(p)), relay(parts.system), public_site(parts.public_site), admin_site(parts.admin_site) {
  const auto threads = static_cast<std::size_t>(std::max<std::int64_t>(1, parts.options.io.threads));
  for (std::size_t i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<worker>(parts, static_cast<unsigned>(i), threads));
    workers.back()->bridge.set_relay(relay.get());
  }
  listen();
}

server::impl::~impl() = default;

void server::impl::listen() {
  const int descriptor = open_listening_socket(parts.options.http.listen);
  public_port = port_of(descriptor);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    auto& w = *workers[i];
    const int mine = i + 1 == workers.size() ? descriptor : ::dup(descriptor);
    w.listeners.push_back(std::make_unique<listener>(w.ctx, w.sessions, public_site, mine, 0));
  }
  if (parts.tls) listen_with_tls();
  if (admin_site.what.routes.empty()) return;
  auto& first = *workers.front();
  const int admin = open_listening_socket(parts.options.http.admin_listen);
  admin_port = port_of(admin);
  first.listeners.push_back(
    std::make_unique<listener>(first.ctx, first.sessions, admin_site, admin, admin_reserve));
}

void server::impl::listen_with_tls() {
  const auto& options = parts.options.tls;
  const int descriptor = open_listening_socket(options.where());
  tls_port = port_of(descriptor);
  const auto share =
    std::max<std::size_t>(1, static_cast<std::size_t>(options.handshakes_max) / workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) {
    auto& w = *workers[i];
    w.door.emplace(w.ctx, w.sessions, *parts.tls, public_site, share);
    const int mine = i + 1 == workers.size() ? descriptor : ::dup(descriptor);
    w.listeners.push_back(std::make_unique<listener>(w.ctx, w.sessions, public_site, mine, 0, &*w.door));
  }
}

void server::impl::each(const std::function<void(worker&)>& what) {
  for (auto& w : workers)
    boost::asio::post(w->io, [what, target = w.get()] {
      if (!target->ended) what(*target);
    });
}

void server::impl::wait_while(milliseconds patience, const std::function<bool()>& condition) const {
  const auto until = parts.environment.steady_now() + patience;
  while (!stopping && condition() && parts.environment.steady_now() < until)
    std::this_thread::sleep_for(drain_poll);
}

server::server(server_parts parts) : impl_(std::make_unique<impl>(std::move(parts))) {}

server::~server() { stop(); }

void server::start() {
  impl_->started = true;
  for (auto& w : impl_->workers) {
    w->begin();
    w->thread = std::thread{[w = w.get()] {
      pthread_setname_np(pthread_self(), "fq-io");
      const auto work = boost::asio::make_work_guard(w->io);
      w->io.run();
    }};
  }
}

void server::drain(milliseconds patience) {
  auto& state = impl_->parts.state;
  state.ready = false;
  state.draining = true;
  impl_->wait_while(impl_->parts.options.shutdown.delay, [] { return true; });
  impl_->each([](worker& w) { w.drain(); });
  impl_->wait_while(patience, [&] { return state.connections.load() > 0; });
  stop();
}

bool server::answers(milliseconds within) {
  struct roll_call {
    std::mutex lock;
    std::condition_variable changed;
    std::size_t missing;
  };
  const auto call = std::make_shared<roll_call>();
  call->missing = impl_->workers.size();
  impl_->each([call](worker&) {
    const std::lock_guard guard{call->lock};
    --call->missing;
    call->changed.notify_one();
  });
  std::unique_lock guard{call->lock};
  return call->changed.wait_for(guard, within, [&] { return call->missing == 0; });
}

void server::stop() {
  impl_->stopping = true;
  const std::lock_guard guard{impl_->stop_mutex};
  for (auto& w : impl_->workers) {
    if (w->thread.joinable()) {
      boost::asio::post(w->io, [target = w.get()] {
        target->end();
        target->io.stop();
      });
      w->thread.join();
    }
    w->end();
    // Run cancelled handlers, which still refer to this worker.
    w->io.restart();
    w->io.poll();
  }
}

std::uint16_t server::public_port() const { return impl_->public_port; }

std::uint16_t server::admin_port() const { return impl_->admin_port; }

std::uint16_t server::tls_port() const { return impl_->tls_port; }

} // namespace fq::net
