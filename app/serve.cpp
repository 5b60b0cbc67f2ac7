// SPDX-License-Identifier: Apache-2.0
// `fairqueue serve`: everything in order, and down again in reverse. SIGTERM or SIGINT drains; a second one ends at once.
#include "app/commands.hpp"
#include "app/control_requests.hpp"
#include "app/demo.hpp"
#include "app/log.hpp"
#include "app/node.hpp"
#include "app/system_environment.hpp"
#include "crypto/tokens.hpp"
#include "net/routes.hpp"
#include "net/limit_sharer.hpp"
#include "net/server.hpp"
#include "net/services.hpp"

#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <mutex>
#include <sys/resource.h>
#include <thread>

namespace fq {
namespace {

/// What other nodes have not taken by then they take when the leases end.
constexpr milliseconds give_away_timeout{10'000};

/// Blocks the signals that `serve` waits for; before any thread exists, so that all inherit it.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1); // ours: a global actor died
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

/// As many descriptors as the system allows us: a crowd is a crowd of sockets.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int wait_for(const sigset_t& signals) {
  int which = 0;
  while (sigwait(&signals, &which) != 0) {}
  return which;
}

/// What a defect in a global actor leaves for the main thread.
class failure_note {
public:
  void report(std::string what) {
    {
      const std::lock_guard guard{lock_};
      if (!what_.empty()) return;
      what_ = std::move(what);
    }
    ::kill(::getpid(), SIGUSR1);
  }
  [[nodiscard]] std::string text() {
    const std::lock_guard guard{lock_};
    return what_;
  }

private:
  std::mutex lock_;
  std::string what_;
};

/// Waits until the ledger answers: the first moment at which we can serve. False: told to stop before that.
bool wait_for_ledger(node& node, const sigset_t& signals) {
  caf::scoped_actor self{node.system()};
  const timespec pause{0, 50'000'000};
  for (bool answered = false;;) {
    self->request(node.catalog(), seconds{1}, list_events{})
      .receive([&](const event_list_reply& reply) { answered = !reply.no; }, [](const caf::error&) {});
    if (answered) return true;
    if (sigtimedwait(&signals, nullptr, &pause) > 0) return false;
  }
}

/// To other nodes, while we go on serving what they do not own yet. Ends early when told to stop again.
void give_away(node& node, milliseconds at_most, const sigset_t& signals) {
  if (!node.cluster()) return;
  caf::scoped_actor self{node.system()};
  const timespec pause{0, 50'000'000};
  const auto is_done = [](const nodes_reply& reply) {
    const auto mine = std::ranges::find(reply.nodes, true, &node_status::is_self);
    if (mine == reply.nodes.end()) return true;
    const auto is_taker = [&ours = mine->node](const node_status& n) {
      return !n.node.is_draining && (n.is_connected || !is_of_one_kind(n.node, ours));
    };
    return std::ranges::none_of(reply.nodes, is_taker) || (mine->node.is_draining && mine->node.owners == 0);
  };
  self->send(node.cluster(), drain_node{});
  for (const auto end = std::chrono::steady_clock::now() + at_most; std::chrono::steady_clock::now() < end;) {
    bool done = false;
    self->request(node.cluster(), seconds{1}, list_nodes{})
      .receive([&](const nodes_reply& reply) { done = is_done(reply); }, [&](const caf::error&) { done = true; });
    if (done || sigtimedwait(&signals, nullptr, &pause) > 0) return;
  }
}

/// The second signal while draining ends the wait.
class impatience {
public:
  impatience(const sigset_t& signals, net::server& server)
      : signals_(signals), thread_([this, &server] {
          wait_for(signals_);
          if (!done_) server.stop();
        }) {}
  ~impatience() {
    done_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }

private:
  sigset_t signals_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

} // namespace

int run_serve(bool demo, const config::loaded& config) {
  const auto signals = block_signals();
  raise_descriptor_limit();
  const auto& options = config.values;
  if (demo && options.environment == config::environment_kind::production) {
    std::cerr << "fairqueue: --demo is refused in production: its password is printed\n";
    return 2;
  }
  log::start(options.log.level);
  std::filesystem::create_directories(options.data_dir);
  std::filesystem::permissions(options.data_dir, std::filesystem::perms::owner_all);

  system_environment env;
  failure_note failure;
  net::key_directory keys;
  const pass_signer passes{open_pass_keys(options.data_dir, env.wall_now())};
  node below{options, env, [&failure](std::string what) { failure.report(std::move(what)); },
             [&keys](const directory_ptr& content) { keys.publish(*content); }};
  const token_verifier verifier{below.keys()};
  const token_issuer issuer{below.keys()};
  const auto public_routes = net::public_routes(static_cast<std::size_t>(options.http.webhook_body_limit));
  const auto admin_routes = net::admin_routes();
  net::services shared{options, below.keys(), keys, passes, env, public_routes, below.sandbox()};
  shared.gateways = below.gateways();
  std::optional<net::limit_sharer> limits_of_all_nodes;
  if (auto store = open_shared_limits(options, below.keys(), env))
    limits_of_all_nodes.emplace(shared.limiters(), std::move(store), shared.address_key, env).start();
  net::server_state state;
  state.ledger_is_reachable = &below.ledger_is_reachable();
  state.cache = below.cache_counts();
  state.checkouts = &below.checkouts();
  state.links = below.links();
  state.spans = below.spans();
  state.wall_now = [&env] { return env.wall_now(); };
  net::server server{{.system = below.system(),
                      .environment = env,
                      .options = options,
                      .state = state,
                      .region = below.region(),
                      .catalog = below.catalog(),
                      .accounts = below.accounts(),
                      .directory = below.directory(),
                      .session_reader = below.session_reader(),
                      .verifier = verifier,
                      .issuer = issuer,
                      .sessions = below.sessions(),
                      .shared = &shared,
                      .public_site = net::public_site(public_routes),
                      .admin_site = net::admin_site(admin_routes)}};
  control_server control{options.data_dir, control_requests({below.system(), below.accounts(), below.region(), below.directory(), below.cluster()})};
  server.start();
  if (!wait_for_ledger(below, signals)) return failure.text().empty() ? 0 : 70;
  auto endpoint = options.http.listen;
  endpoint.port = server.public_port();
  below.start_courier("http://" + config::to_string(endpoint) + options.http.base_path + "/webhooks/sandbox");
  if (demo) std::cout << prepare_demo(below, options, env) << std::flush;
  state.ready = true;
  log::info("serving", {{"listen", config::to_string(endpoint)}, {"ledger", options.ledger.is_postgres() ? "postgres" : options.ledger.url}});

  wait_for(signals);
  const auto defect = failure.text();
  if (!defect.empty()) log::error("a global actor died; ending to be started again", {{"actor", defect}});
  log::info("draining");
  give_away(below, std::min(options.shutdown.drain_timeout, give_away_timeout), signals);
  {
    const impatience second_signal{signals, server};
    server.drain(options.shutdown.drain_timeout);
  }
  log::info("stopped");
  log::flush();
  return defect.empty() ? 0 : 70;
}

} // namespace fq
