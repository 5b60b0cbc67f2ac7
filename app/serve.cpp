// SPDX-License-Identifier: Apache-2.0
// `fairqueue serve`: starts everything in order and stops it in reverse. SIGTERM or SIGINT drains; a second
// signal ends at once. SIGHUP reloads keys and certificates. Reports its state to the service manager.
#include "app/captchas.hpp"
#include "app/commands.hpp"
#include "app/control_requests.hpp"
#include "app/demo.hpp"
#include "app/limits.hpp"
#include "app/log.hpp"
#include "app/node.hpp"
#include "app/release.hpp"
#include "app/service_manager.hpp"
#include "app/system_environment.hpp"
#include "app/webhook_channels.hpp"
#include "crypto/tokens.hpp"
#include "net/bridge/readiness.hpp"
#include "net/http/tls.hpp"
#include "net/server/server.hpp"
#include "net/service/limit_sharer.hpp"
#include "net/service/services.hpp"
#include "net/site/routes.hpp"
#include "net/wire/codec.hpp"

#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <malloc.h>
#include <mutex>
#include <sys/resource.h>
#include <thread>

namespace fq {
namespace {

/// Signals that `serve` waits for.
struct signal_sets {
  sigset_t ending; ///< they end the process
  sigset_t all; ///< `ending` and SIGHUP
};

/// Blocks the signals. Call it before any thread starts: threads inherit the mask.
signal_sets block_signals() {
  signal_sets signals;
  sigemptyset(&signals.ending);
  sigaddset(&signals.ending, SIGTERM);
  sigaddset(&signals.ending, SIGINT);
  sigaddset(&signals.ending, SIGUSR1); // sent by failure_note when a global actor dies
  signals.all = signals.ending;
  sigaddset(&signals.all, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals.all, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

/// Raises the descriptor limit as far as the system allows. Returns false, after a message, if
/// `connections` cannot all be open at once.
bool reserve_descriptors(std::int64_t connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto needed = static_cast<rlim_t>(connections) + descriptor_reserve;
  if (limit.rlim_max >= needed) return true;
  std::cerr << "fairqueue: http.max_connections is " << connections << ", which needs a limit of " << needed
            << " open files; the limit is " << limit.rlim_max
            << ". Raise it (LimitNOFILE, ulimit -Hn) or lower http.max_connections\n";
  return false;
}

int wait_for(const sigset_t& signals) {
  int which = 0;
  while (sigwait(&signals, &which) != 0) {}
  return which;
}

/// Returns the signal, or 0 after `at_most`.
int wait_for(const sigset_t& signals, milliseconds at_most) {
  const auto whole = std::chrono::duration_cast<seconds>(at_most);
  const timespec pause{whole.count(), std::chrono::nanoseconds{at_most - whole}.count()};
  return std::max(sigtimedwait(&signals, nullptr, &pause), 0);
}

/// Passes the death of a global actor to the main thread.
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

/// Waits until the ledger answers, which serving needs. False: a signal came first.
bool wait_for_ledger(node& node, const sigset_t& signals) {
  caf::scoped_actor self{node.system()};
  service_manager::status("waiting for the ledger");
  for (unsigned round = 0;; ++round) {
    bool answered = false;
    self->request(node.catalog(), seconds{1}, list_events{})
      .receive([&](const event_list_reply& reply) { answered = !reply.no; }, [](const caf::error&) {});
    if (answered) return true;
    if (round % 8 == 0) service_manager::needs_longer(manager_timeout); // a round takes 50 ms to 1 s
    if (wait_for(signals, milliseconds{50}) != 0) return false;
  }
}

/// Waits until /readyz would answer ready. False: a signal came first.
bool wait_until_ready(const net::server_state& state, const sigset_t& signals) {
  for (unsigned round = 0;; ++round) {
    const auto now = net::readiness_of(state);
    if (now == net::readiness::ready) return true;
    if (round % 100 == 0) { // a round takes 50 ms
      service_manager::status(text_of(now));
      service_manager::needs_longer(manager_timeout);
    }
    if (wait_for(signals, milliseconds{50}) != 0) return false;
  }
}

// -- while we serve

/// Logs name and expiry of the certificate in use.
void log_certificate(const net::tls_server& tls, std::string_view message) {
  const auto facts = tls.facts();
  log::info(message, {{"certificate", facts.name}, {"expires", net::rfc3339(facts.not_after)}});
}

void warn_of_expiry(const net::tls_server& tls, timestamp now) {
  const auto facts = tls.facts();
  if (facts.not_after <= now)
    log::error("the certificate has expired",
               {{"certificate", facts.name}, {"expired", net::rfc3339(facts.not_after)}});
  else if (should_be_renewed(facts, now))
    log::warn("the certificate expires soon",
              {{"certificate", facts.name}, {"expires", net::rfc3339(facts.not_after)}});
}

/// Whether requests would be answered: checks every io thread and the region. Not the ledger, which may be
/// unreachable.
bool is_responsive(net::server& server, node& node) {
  if (!server.answers(liveness_timeout)) return false;
  bool answered = false;
  caf::scoped_actor {
    node.system()
    } -> request(node.region(), liveness_timeout, list_owned{})
      .receive([&](const owned_aggregates&) { answered = true; }, [](const caf::error&) {});
  return answered;
}

/// The main thread's work between start and shutdown.
class housekeeping {
public:
  housekeeping(net::server& server, const net::server_state& state, node& below,
               std::optional<net::tls_server>& tls, environment& env, std::function<timestamp()> renew_keys) :
      server_(server),
      state_(state),
      node_(below),
      tls_(tls),
      env_(env),
      renew_keys_(std::move(renew_keys)),
      keys_change_at_(below.keys().changes_at),
      watchdog_(service_manager::watchdog_interval()) {}

  /// Returns when one of `signals.ending` has come.
  void run(const signal_sets& signals) {
    for (;;) {
      check_certificate();
      if (keys_change_at_ <= env_.wall_now()) reload_keys();
      ping_watchdog();
      report_readiness();
      return_memory();
      const int which = wait_for(signals.all, pause());
      if (which == SIGHUP)
        reload();
      else if (which != 0)
        return;
    }
  }

private:
  [[nodiscard]] milliseconds pause() const {
    const auto longest = watchdog_ ? *watchdog_ / 4 : pause_max;
    return std::clamp<milliseconds>(keys_change_at_ - env_.wall_now(), milliseconds{0}, longest);
  }

  void check_certificate() {
    if (!tls_ || env_.steady_now() < next_check_) return;
    next_check_ = env_.steady_now() + certificate_check_interval;
    warn_of_expiry(*tls_, env_.wall_now());
  }

  /// Pings the watchdog only if all threads respond.
  void ping_watchdog() {
    if (!watchdog_) return;
    if (is_responsive(server_, node_))
      service_manager::alive();
    else
      log::error("an io thread or the region does not answer; the watchdog is not told that we live");
  }

  /// Reports changes of readiness in the status text. systemd cannot revoke "started".
  void report_readiness() {
    const auto now = net::readiness_of(state_);
    if (now != reported_) service_manager::status(text_of(now));
    reported_ = now;
  }

  /// After an attack, gives what its connections freed back to the system: the allocator keeps it otherwise.
  void return_memory() {
    const auto evicted = state_.connections_evicted.load(std::memory_order_relaxed);
    if (evicted < evicted_before_ + evictions_of_an_attack) return;
    evicted_before_ = evicted;
    ::malloc_trim(0);
  }

  void reload() {
    service_manager::reloading();
    reload_keys();
    if (tls_) reload_certificate();
    if (node_.connections() != nullptr) reload_cluster_certificate();
    reported_ = net::readiness_of(state_);
    service_manager::ready(text_of(reported_));
  }

  /// Also called when a key begins to sign or ends.
  void reload_keys() try {
    keys_change_at_ = renew_keys_();
    log::info("keys read anew");
  } catch (const std::exception& e) {
    keys_change_at_ = std::max(keys_change_at_, env_.wall_now() + pause_max);
    log::error("the keys are refused; those in use stay", {{"why", e.what()}});
  }

  void reload_certificate() try {
    tls_->reload();
    log_certificate(*tls_, "certificate read anew");
    next_check_ = milliseconds{0};
  } catch (const std::exception& e) {
    log::error("the new certificate is refused; the one in use stays", {{"why", e.what()}});
  }

  void reload_cluster_certificate() try {
    node_.reload_connections();
    log::info("cluster certificate read anew",
              {{"expires", net::rfc3339(node_.connections()->certificate_end().value_or(timestamp{}))},
               {"revoked", std::to_string(node_.connections()->revoked())}});
  } catch (const std::exception& e) {
    log::error("the cluster's new certificates are refused; those in use stay", {{"why", e.what()}});
  }

  static constexpr milliseconds pause_max{60'000};

  net::server& server_;
  const net::server_state& state_;
  node& node_;
  std::optional<net::tls_server>& tls_;
  environment& env_;
  const std::function<timestamp()> renew_keys_;
  timestamp keys_change_at_;
  const std::optional<milliseconds> watchdog_;
  milliseconds next_check_{0};
  std::uint64_t evicted_before_ = 0;
  net::readiness reported_ = net::readiness::ready;
};

// -- the end

/// Hands all aggregates over to other nodes and serves the remaining ones meanwhile. Then waits until the
/// former owners have returned what was on its way to them. A second signal ends the wait.
void hand_over_all(node& node, milliseconds at_most, const sigset_t& signals) {
  if (!node.cluster()) return;
  caf::scoped_actor self{node.system()};
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
      .receive([&](const nodes_reply& reply) { done = is_done(reply); },
               [&](const caf::error&) { done = true; });
    if (done)
      self->request(node.region(), seconds{1}, list_owned{})
        .receive([&](const owned_aggregates& owned) { done = !owned.is_leaving; }, [](const caf::error&) {});
    if (done || wait_for(signals, milliseconds{50}) != 0) return;
  }
}

/// Stops the server at the second signal during a drain.
class second_signal_watcher {
public:
  second_signal_watcher(const sigset_t& signals, net::server& server) :
      signals_(signals), thread_([this, &server] {
        wait_for(signals_);
        if (!done_) server.stop();
      }) {}
  ~second_signal_watcher() {
    done_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }

private:
  sigset_t signals_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

/// Everything that `serve` runs, built in order and destroyed in reverse.
class serving {
public:
  serving(bool is_demo, const config::options& options) : is_demo_(is_demo), options_(options) {
    if (options.tls.is_on()) tls_.emplace(options.tls, env_);
    shared_.emplace(options, below_.keys(), keys_, passes_, env_, public_routes_, below_.sandbox());
    shared_->gateways = below_.gateways();
    for (const auto& [kind, port] : captchas_) shared_->captchas.emplace(kind, port.get());
    shared_->webhook_urls = webhook_urls_of(options);
    shared_->known_customers = below_.customers();
    if (auto store = open_shared_limits(options, below_.keys(), env_))
      limits_of_all_nodes_.emplace(shared_->limiters(), std::move(store), shared_->address_key, env_).start();
    link_state();
    server_.emplace(parts_of_server());
    control_.emplace(options.data_dir,
                     control_requests({below_.system(), below_.accounts(), below_.region(),
                                       below_.directory(), below_.writer(), below_.cluster(),
                                       options.tokens.ttl, mail_senders_of(options.mail)}));
  }

  /// Serves until a signal comes or a global actor dies. Returns the exit code.
  int run(const signal_sets& signals) {
    server_->start();
    if (!wait_for_ledger(below_, signals.ending)) return failure_.text().empty() ? 0 : exit_failure;
    announce();
    if (wait_until_ready(state_, signals.ending)) {
      service_manager::ready(text_of(net::readiness::ready));
      housekeeping{*server_, state_, below_, tls_, env_, [this] { return renew_keys(); }}.run(signals);
    }
    const auto defect = failure_.text();
    if (!defect.empty()) log::error("a global actor died; ending to be started again", {{"actor", defect}});
    drain(signals.ending);
    return defect.empty() ? 0 : exit_failure;
  }

private:
  static constexpr int exit_failure = 70; // EX_SOFTWARE: the service manager restarts us

  void link_state() {
    state_.ledger_is_reachable = &below_.ledger_is_reachable();
    state_.is_superseded = &below_.is_superseded();
    state_.events_lost = &below_.events_lost();
    state_.cache = below_.cache_counts();
    state_.numbers = &below_.numbers();
    state_.links = below_.links();
    state_.tls = tls_ ? &*tls_ : nullptr;
    state_.env = &env_;
    state_.release = program_version;
    state_.spans = below_.spans();
  }

  net::server_parts parts_of_server() {
    return {.system = below_.system(),
            .environment = env_,
            .options = options_,
            .state = state_,
            .region = below_.region(),
            .catalog = below_.catalog(),
            .accounts = below_.accounts(),
            .directory = below_.directory(),
            .notices = below_.notices(),
            .session_reader = below_.session_reader(),
            .verifier = verifier_,
            .issuer = issuer_,
            .sessions = below_.sessions(),
            .shared = &*shared_,
            .public_site = net::public_site(public_routes_),
            .admin_site = net::admin_site(net::admin_routes()),
            .tls = tls_ ? &*tls_ : nullptr};
  }

  /// Reads the keys and returns when the next one begins to sign or ends. If it throws, those in use stay.
  timestamp renew_keys() {
    const auto keys = open_keys(options_, env_.wall_now());
    passes_.renew(keys.passes);
    verifier_.renew(keys);
    shared_->cursors.renew(keys.session);
    below_.renew(keys);
    issuer_.renew(keys); // when all is verified that it signs
    remove_ended(keys);
    return keys.changes_at;
  }

  /// The server listens and the ledger answers.
  void announce() {
    auto endpoint = options_.http.listen;
    endpoint.port = server_->public_port();
    below_.start_courier("http://" + config::to_string(endpoint) + options_.http.base_path
                         + "/webhooks/sandbox");
    if (is_demo_) {
      prepared_ = prepare_demo(below_, options_, env_);
      std::cout << prepared_.advice << std::flush;
      shared_->is_demo = true;
      if (prepared_.shown) shared_->demo = &*prepared_.shown;
    }
    state_.ready = true;
    log::info("serving", {{"listen", config::to_string(endpoint)},
                          {"ledger", options_.ledger.is_postgres() ? "postgres" : options_.ledger.url}});
    if (!tls_) return;
    log::info("serving with TLS",
              {{"listen", config::to_string({options_.tls.where().address, server_->tls_port()})}});
    log_certificate(*tls_, "certificate read");
  }

  void drain(const sigset_t& signals) {
    log::info("draining");
    service_manager::stopping("draining");
    hand_over_all(below_, std::min(options_.shutdown.drain_timeout, handover_timeout), signals);
    {
      const second_signal_watcher second_signal{signals, *server_};
      server_->drain(options_.shutdown.drain_timeout);
    }
    log::info("stopped");
    log::flush();
  }

  const bool is_demo_;
  const config::options& options_;
  system_environment env_;
  failure_note failure_;
  net::key_directory keys_;
  node below_{options_, env_, [this](std::string what) { failure_.report(std::move(what)); },
              [this](const directory_ptr& content) { keys_.publish(*content); }};
  pass_signer passes_{below_.keys().passes};
  token_verifier verifier_{below_.keys()};
  token_issuer issuer_{below_.keys()};
  const std::vector<net::route> public_routes_ =
    net::public_routes(static_cast<std::size_t>(options_.http.webhook_body_limit));
  std::optional<net::tls_server> tls_;
  prepared_demo prepared_; // outlives the server, whose pages show it
  const std::map<challenge_kind, std::unique_ptr<captcha_port>> captchas_ = open_captchas(options_, env_);
  std::optional<net::services> shared_;
  std::optional<net::limit_sharer> limits_of_all_nodes_;
  net::server_state state_;
  std::optional<net::server> server_;
  std::optional<control_server> control_;
};

} // namespace

int run_serve(bool demo, const config::loaded& config) {
  const auto signals = block_signals();
  const auto& options = config.values;
  if (!reserve_descriptors(options.http.max_connections)) return 2;
  if (demo && options.environment == config::environment_kind::production)
    return usage_error("--demo is refused in production: its password is printed");
  log::start(options.log.level);
  std::filesystem::create_directories(options.data_dir);
  std::filesystem::permissions(options.data_dir, std::filesystem::perms::owner_all);
  return serving{demo, options}.run(signals);
}

} // namespace fq
