// SPDX-License-Identifier: Apache-2.0
#include "app/node.hpp"

#include "actors/ledger_worker.hpp"
#include "actors/workers.hpp"
#include "app/root.hpp"
#include "store/memory_ledger.hpp"
#include "store/sqlite_ledger.hpp"

#include <caf/scoped_actor.hpp>

namespace fq {
namespace {

/// How often the courier looks for new webhooks of the sandbox gateway.
constexpr milliseconds courier_poll{20};

std::unique_ptr<ledger> open_ledger(const config::options& options) {
  if (const auto path = options.ledger.sqlite_path(); !path.empty()) return std::make_unique<sqlite_ledger>(sqlite_ledger_options{.file = path});
  return std::make_unique<memory_ledger>();
}

sale_rules rules_of(const config::options& o) {
  sale_rules r;
  r.attempts_per_claim = static_cast<std::uint32_t>(o.payments.attempts_per_claim);
  r.stale_after = o.payments.stale_after;
  r.verdict_grace = o.payments.verdict_grace;
  return r;
}

retry_policy retry_of(const config::options& o) {
  return {static_cast<std::uint32_t>(o.payments.retry_attempts), o.payments.retry_base, o.payments.retry_cap};
}

} // namespace

actor_config::actor_config(std::size_t threads) {
  add_message_types<caf::id_block::fairqueue>();
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
  set("scheduler.max-throughput", std::size_t{100});
}

node::node(const config::options& options, environment& env, std::function<void(std::string)> on_failure)
    : options_(options), env_(env), keys_(key_store::open(options.data_dir)), sessions_(keys_.session),
      ledger_(open_ledger(options)), caf_config_(static_cast<std::size_t>(options.caf.threads)) {
  if (options.gateway.sandbox)
    sandbox_ = std::make_unique<sandbox_gateway>(
      sandbox_gateway::settings{options.data_dir / "sandbox.db", options.http.public_url, keys_.sandbox}, env);
  mailer_ = std::make_unique<file_mailer>(options.data_dir / "mail", options.mail.sender, env);
  system_ = std::make_unique<caf::actor_system>(caf_config_);
  spawn_actors(std::move(on_failure));
}

void node::spawn_actors(std::function<void(std::string)> on_failure) {
  root_children children;
  const auto add = [&children](std::string name, const auto& handle) {
    children.emplace_back(std::move(name), caf::actor_cast<caf::actor>(handle));
    return handle;
  };
  const auto ledger_actor = add("ledger worker", system_->spawn<caf::detached>(ledger_worker, ledger_.get(), &env_,
                                                                        options_.workers.reconciliation_interval));

  payments_services_.env = &env_;
  payments_services_.retry = retry_of(options_);
  if (sandbox_)
    payments_services_.gateways.emplace("sandbox",
                                        add("sandbox gateway", system_->spawn<caf::detached>(gateway_worker, sandbox_.get())));
  const auto payments_actor = add("payments", system_->spawn(payments, &payments_services_));

  owner_services_ = {.env = &env_,
                     .sessions = &sessions_,
                     .ledger = ledger_actor,
                     .payments = payments_actor,
                     .rules = rules_of(options_),
                     .sweep_interval = options_.workers.expiry_interval};
  region_ = add("region", system_->spawn(fq::region, &owner_services_, restart_budget{}));
  catalog_ = add("catalog", system_->spawn(fq::catalog, &env_, ledger_actor));

  accounts_services_ = {.env = &env_,
                        .ledger = ledger_actor,
                        .passwords = add("passwords", system_->spawn<caf::detached>(password_worker)),
                        .mailer = add("mailer", system_->spawn<caf::detached>(mailer, mailer_.get())),
                        .otp_key = secret_key{hmac_sha256(keys_.session.bytes(), "fairqueue one-time passwords")},
                        .otp_life = options_.otp.ttl,
                        .otp_failures_max = static_cast<std::uint32_t>(options_.otp.guesses)};
  accounts_ = add("accounts", system_->spawn(fq::accounts, &accounts_services_));
  root_ = system_->spawn(root_supervisor, std::move(children), std::move(on_failure));
}

void node::start_courier(std::string url) {
  if (!sandbox_) return;
  courier_ = system_->spawn<caf::detached>(sandbox_courier, sandbox_.get(), std::move(url), &env_, courier_poll,
                                           options_.gateway.webhook_timeout);
}

node::~node() {
  if (courier_) caf::anon_send_exit(courier_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(root_, caf::exit_reason::user_shutdown);
  // Handles must go before the system: it waits until nobody is left.
  courier_ = nullptr;
  root_ = nullptr;
  region_ = nullptr;
  catalog_ = nullptr;
  accounts_ = nullptr;
  system_->await_all_actors_done();
  owner_services_.ledger = nullptr;
  owner_services_.payments = nullptr;
  payments_services_.gateways.clear();
  accounts_services_.ledger = nullptr;
  accounts_services_.passwords = nullptr;
  accounts_services_.mailer = nullptr;
  system_.reset();
}

} // namespace fq
