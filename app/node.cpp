// SPDX-License-Identifier: Apache-2.0
#include "app/node.hpp"

#include "app/limits.hpp"
#include "app/log.hpp"

#include "actors/outbox/dispatcher.hpp"
#include "actors/payments/workers.hpp"
#include "actors/storage/ledger_worker.hpp"
#include "actors/storage/session_reader.hpp"
#include "app/bus.hpp"
#include "app/event_log.hpp"
#include "app/mail_sources.hpp"
#include "app/mailers.hpp"
#include "app/mesh.hpp"
#include "app/release.hpp"
#include "crypto/order_link.hpp"
#include "display/event_times.hpp"
#include "domain/delivery/outbox.hpp"
#include "net/pages/ticket_papers.hpp"
#include "net/wire/challenge_codec.hpp"

#include <caf/scoped_actor.hpp>

#include <algorithm>

namespace fq {
namespace {

sale_rules rules_of(const config::options& o) {
  sale_rules r;
  r.stale_after = o.payments.stale_after;
  r.verdict_grace = o.payments.verdict_grace;
  r.memory_retention = o.retention.memory;
  r.zone_offset = zone_offset;
  for (const auto& [currency, fee] :
       o.checkout.parsed_fees().value_or(std::map<std::string, config::fee_option>{})) {
    const fee_rules rules{.platform_per_ticket = fee.per_ticket,
                          .processing_basis_points = fee.basis_points,
                          .processing_fixed = fee.fixed};
    (currency == "*" ? r.other_fees : r.fees[currency]) = rules;
  }
  return r;
}

retry_policy retry_of(const config::options& o) {
  return {static_cast<std::uint32_t>(o.payments.retry_attempts), o.payments.retry_base, o.payments.retry_cap};
}

/// Names the actor for the root supervisor's log.
template <class Handle>
Handle add(root_children& children, std::string name, Handle handle) {
  children.emplace_back(std::move(name), caf::actor_cast<caf::actor>(handle));
  return handle;
}

} // namespace

actor_config::actor_config(std::size_t threads, const config::cluster_options& cluster) {
  configure_mesh(*this, cluster);
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
  set("scheduler.max-throughput", std::size_t{100});
}

node::node(const config::options& options, environment& env, std::function<void(std::string)> on_failure,
           std::function<void(directory_ptr)> on_directory) :
    options_(options),
    env_(env),
    keys_(open_keys(options, env.wall_now())),
    sessions_(keys_.session),
    ledger_(open_ledger(options, env)),
    cache_(open_cache(options, keys_, env)),
    couriers_(options, env, keys_, numbers_.notices),
    witnesses_(options, env),
    caf_config_(static_cast<std::size_t>(options.caf.threads), options.cluster) {
  if (options.gateway.sandbox)
    sandbox_ = std::make_unique<sandbox_gateway>(sandbox_gateway::settings{options.data_dir / "sandbox.db",
                                                                           options.http.public_url,
                                                                           keys_.sandbox.front()},
                                                 env);
  if (!options.tracing.url.empty())
    spans_ =
      std::make_unique<otlp_exporter>(otlp_exporter::settings{.url = options.tracing.url,
                                                              .authorization = options.tracing.authorization,
                                                              .node = ledger_.lease.owner,
                                                              .ca_file = {}},
                                      env);
  beacons_ = std::make_unique<drand_source>(
    drand_source::settings{config::split_list(options.draw.beacon_url),
                           http_client::settings{.response_bytes_max = 16 * 1024, .ca_file = {}},
                           [](const std::string& what) {
                             log::warn("draw", {{"what", what}});
                           }},
    env);
  gateways_ = open_gateways(options, env);
  renew(keys_);
  const auto connections = options.mail.mode == "smtp" ? code_mail_connections : 1;
  while (mail_of_codes_.size() < connections) mail_of_codes_.push_back(open_mailer(options, env));
  mail_of_events_ = open_mailer(options, env);
  mail_of_notices_ = open_mailer(options, env);
  bus_ = make_bus(options, env);
  payment_events_ = make_payment_inbox(options);
  if (options.cluster.is_on()) mesh_.emplace(options.cluster, ledger_.lease.owner, env, links_);
  system_ = std::make_unique<caf::actor_system>(caf_config_);
  spawn_actors(std::move(on_failure), std::move(on_directory));
}

/// The root stops the actors in reverse order: later ones use earlier ones.
void node::spawn_actors(std::function<void(std::string)> on_failure,
                        std::function<void(directory_ptr)> on_directory) {
  root_children children;
  const auto ledgers = spawn_ledger_workers(children);
  notices_ = ledgers.reader(1);
  spawn_cache_workers(children);
  spawn_payments(children);
  owner_services_.witnesses = witnesses_.spawn(*system_, children);
  set_owner_services(ledgers);
  owner_services_.draws = add(children, "draws", system_->spawn<caf::detached>(draw_worker));
  region_ = add(children, "region", system_->spawn(fq::region, &owner_services_, restart_budget{}));
  spawn_directory(children, ledgers, std::move(on_directory));
  catalog_ = add(children, "catalog", system_->spawn(fq::catalog, &env_, ledgers, options_.cluster.is_on()));
  spawn_accounts(children, ledgers);
  if (options_.checkout.rollback) start_checkout_switch(children);
  start_dispatchers(children, ledgers);
  if (options_.cluster.is_on()) spawn_cluster(children, ledgers);
  root_ = system_->spawn(root_supervisor, std::move(children), std::move(on_failure));
}

void node::spawn_cache_workers(root_children& children) {
  if (!cache_) return;
  cache_metrics_.on_change = log_cache;
  owner_services_.cache =
    add(children, "cache worker",
        system_->spawn<caf::detached>(cache_worker, cache_.get(), &env_, &cache_metrics_));
  if (!has_other_nodes()) return;
  owner_services_.vouch_interval = vouch_interval;
  cache_of_others_ = open_cache(options_, keys_, env_);
  session_reader_ = add(children, "session reader",
                        system_->spawn<caf::detached>(fq::session_reader, cache_of_others_.get(), &env_));
}

void node::spawn_payments(root_children& children) {
  auto& s = payments_services_;
  s.spans = spans();
  s.env = &env_;
  s.retry = retry_of(options_);
  if (sandbox_)
    s.gateways.emplace("sandbox", add(children, "sandbox gateway",
                                      system_->spawn<caf::detached>(gateway_worker, sandbox_.get())));
  for (const auto& [name, gateway] : gateways_)
    s.gateways.emplace(name, add(children, name + " gateway", system_->spawn(gateway_worker, gateway.get())));
  s.answer_timeout = options_.gateway.call_timeout + gateway_slack;
  for (const auto& [name, gateway] : s.gateways) numbers_.gateways[name];
  s.counts = &numbers_.gateways;
  s.history = &numbers_.history;
  owner_services_.payments = add(children, "payments", system_->spawn(payments, &payments_services_));
}

void node::set_owner_services(const ledger_workers& ledgers) {
  auto& s = owner_services_;
  s.spans = spans();
  s.env = &env_;
  s.sessions = &sessions_;
  s.stored_key = keys_.stored;
  s.ledgers = ledgers;
  s.destination_of = [this](const std::string& gateway, tenant_id tenant) {
    return tenant_payments_.destination(gateway, tenant);
  };
  s.metadata_of = [this](tenant_id tenant) { return tenant_payments_.metadata(tenant); };
  s.may_load = [this] { return tenant_payments_.are_known(); };
  s.blocked_at = [this](tenant_id tenant, const organizer_id& organizer) {
    return tenant_rules_.blocked_at(tenant, organizer);
  };
  s.erased = [this] { return tenant_rules_.erased(); };
  s.contacts_life = options_.retention.personal;
  s.routing_of =
    fan_out_services_.routing_of = [this](tenant_id tenant) { return tenant_rules_.routing_of(tenant); };
  s.shop_url = options_.http.public_url + "/shop";
  s.log_address = options_.http.public_url.substr(options_.http.public_url.find("://") + 3);
  s.board = &numbers_.sales;
  s.alert = [this](const dead_letter_row& letter) {
    numbers_.dead_letters.add();
    log::error("something waits for a person",
               {{"dead_letter", to_string(letter.id)}, {"what", letter.detail}});
  };
  s.warn = [](const std::string& what) { log::warn("public log", {{"what", what}}); };
  s.rules = rules_of(options_);
  s.rules.has_gateway = !gateways().empty();
  s.rules.pace = std::make_shared<refund_pace>([this] { return env_.steady_now(); });
  s.my_tickets_url = options_.http.public_url + "/my/tickets";
  s.loyalty_points_per_unit = options_.loyalty.points_per_unit;
  s.sweep_interval = options_.workers.expiry_interval;
  s.reconciliation_interval = options_.workers.reconciliation_interval;
  s.statistics_step = options_.workers.statistics_interval;
  s.fetch_beacon = [this](const std::string& chain_hash, std::uint64_t round,
                          std::function<void(std::string)> done) {
    beacons_->fetch(chain_hash, round, std::move(done));
  };
  s.has_cluster = options_.cluster.is_on();
  s.has_bus = bus_ != nullptr;
  s.links = links();
  s.memory = memory_;
}

void node::spawn_directory(root_children& children, const ledger_workers& ledgers,
                           std::function<void(directory_ptr)> on_directory) {
  numbers_.async_percent.set(options_.checkout.async_percent);
  auto publish = [this, then = std::move(on_directory)](const directory_ptr& content) {
    if (tenant_rules_.publish(*content)) caf::anon_send(region_, blocks_changed{});
    tenant_mails_.publish(content->tenants);
    tenant_payments_.publish(content->tenants); // events may load from now on
    const auto setting = std::ranges::find(content->settings, async_percent_setting, &setting_row::name);
    const auto stored = setting == content->settings.end() ? std::string{} : setting->value;
    numbers_.async_percent.set(
      async_percent_of(stored, static_cast<std::int32_t>(options_.checkout.async_percent)));
    if (then) then(content);
  };
  directory_ = add(children, "directory", system_->spawn(fq::directory, ledgers, std::move(publish)));
}

mailer_handle node::spawn_mailer(root_children& children, const std::string& name, mailer_services& services,
                                 const std::vector<mail_port*>& ports) {
  for (std::size_t i = 0; i < ports.size(); ++i)
    services.workers.push_back(add(children, name + " worker " + std::to_string(i + 1),
                                   system_->spawn<caf::detached>(mail_worker, ports[i])));
  return add(children, name, system_->spawn(mailer, static_cast<const mailer_services*>(&services)));
}

void node::spawn_accounts(root_children& children, const ledger_workers& ledgers) {
  mailer_services_.env = &env_;
  mailer_services_.warn = [](const std::string& what) { log::warn("mail", {{"what", what}}); };
  mailer_services_.keep_for = otp_life;
  std::vector<mail_port*> ports;
  for (const auto& port : mail_of_codes_) ports.push_back(port.get());
  accounts_services_ = {.env = &env_,
                        .ledgers = ledgers,
                        .passwords =
                          add(children, "passwords", system_->spawn<caf::detached>(password_worker)),
                        .mailer = spawn_mailer(children, "mailer", mailer_services_, ports),
                        .otp_key = otp_key_of(keys_.stored),
                        .otp_life = otp_life,
                        .otp_failures_max = otp_guesses_max,
                        .has_cluster = options_.cluster.is_on(),
                        .code_challenge = net::parse_challenge_kind(options_.otp.challenge).value(),
                        .style = [this] { return tenant_mails_.style_of(default_tenant); },
                        .customers = std::make_shared<customer_book>(options_.otp.one_customer_per_mailbox)};
  accounts_ = add(children, "accounts", system_->spawn(fq::accounts, &accounts_services_));
}

void node::spawn_cluster(root_children& children, const ledger_workers& ledgers) {
  auto& s = cluster_services_;
  s.env = &env_;
  s.ledgers = ledgers;
  s.node = ledger_.lease.owner;
  s.address = options_.cluster.address();
  s.speaks = program_wire_version;
  s.keys = fingerprint_of(keys_);
  s.region = region_;
  s.catalog = catalog_;
  s.accounts = accounts_;
  s.dialer = add(children, "dialer", system_->spawn<caf::detached>(dialer, &*mesh_));
  s.links = links();
  s.memory = memory_;
  s.doubt = lease_doubt_;
  s.speaks_for = [this](const caf::node_id& process, const std::string& name) {
    return mesh_->speaks_for(process, name);
  };
  s.note = [](const std::string& what) { log::info("cluster", {{"what", what}}); };
  cluster_ = add(children, "cluster", system_->spawn(fq::cluster, &cluster_services_));
  mesh_->open(cluster_);
  publish_certificate_end();
}

void node::publish_certificate_end() {
  const auto end = mesh_->certificate_end().value_or(timestamp{});
  links_.certificate_end = std::chrono::duration_cast<seconds>(end.time_since_epoch()).count();
}

void node::reload_connections() try {
  mesh_->reload();
  links_.last_reload_refused = false;
  publish_certificate_end();
} catch (...) {
  links_.last_reload_refused = true;
  throw;
}

/// One dispatcher per lane of the outbox, so that no lane waits for another. Lanes without a configured
/// sink are consumed too, because other nodes may write rows to them.
void node::start_dispatchers(root_children& children, const ledger_workers& ledgers) {
  // Also waits for the first directory, which holds the tenants' settings.
  const auto may_take = [this] { return tenant_payments_.are_known() && this->may_take(); };
  const auto start = [&](lane which, const std::string& name, const consumer_handle& consumer) {
    add(children, name, consumer);
    const dispatcher_settings settings{which, may_take, &numbers_.outbox(which)};
    add(children, name + " dispatcher", system_->spawn(dispatcher, ledgers, consumer, settings));
  };
  mail_consumer_services_.counts = &numbers_.mails;
  mail_consumer_services_.history = &numbers_.history;
  mail_consumer_services_.env = &env_;
  mail_consumer_services_.per_second = static_cast<double>(options_.mail.per_second);
  mail_consumer_services_.port = mail_of_events_.get();
  mail_consumer_services_.region = region_;
  mail_consumer_services_.style_of = [this](tenant_id tenant) { return tenant_mails_.style_of(tenant); };
  mail_consumer_services_.link_of = [this](const order_id& order) {
    return options_.http.public_url + "/my/orders/" + to_string(order) + '/'
           + order_link_secret(keys_.stored, order);
  };
  mail_consumer_services_.tickets_page = options_.http.public_url + "/my/tickets";
  mail_consumer_services_.attach = [this, reader = notices_](const std::string& payload) {
    return net::mail_attachments(
      payload, keys_.stored, options_.http.public_url, env_.wall_now(),
      {[&](const std::string& id, picture_size size) { return picture_of(*system_, reader, id, size); },
       [&](tenant_id tenant) { return tenant_mails_.logo_of(tenant); }});
  };
  mail_consumer_services_.mailbox_of = [this, accounts = accounts_](const customer_id& customer) {
    return mailbox_of(*system_, accounts, customer);
  };
  mail_consumer_services_.log = log_event;
  mail_consumer_services_.warn = [](const std::string& what) { log::warn("mail", {{"what", what}}); };
  start(lane::mail, "notifier", system_->spawn<caf::detached>(mail_consumer, &mail_consumer_services_));
  fan_out_services_.ledgers = ledgers;
  fan_out_services_.log = log_event;
  fan_out_services_.counts = &numbers_.notices;
  start(lane::notices, "fan-out", system_->spawn(fan_out, &fan_out_services_));
  start(lane::bus, "bus", start_bus(children));
  notice_mailer_services_ = {.env = &env_,
                             .workers = {},
                             .warn = mailer_services_.warn,
                             .keep_for = notice_mail_life,
                             .late_after = notice_mail_life,
                             .template_key = "endpoint_disabled",
                             .pauses = notice_mail_pauses};
  const auto notice_mailer =
    spawn_mailer(children, "notice mailer", notice_mailer_services_, {mail_of_notices_.get()});
  couriers_.spawn(*system_, children, ledgers, notice_mailer, may_take);
}

consumer_handle node::start_bus(root_children& children) {
  if (payment_events_) {
    auto& s = bus_inbox_services_;
    s.env = &env_;
    s.port = payment_events_.get();
    s.gateway = gateways_.at("stripe").get();
    s.region = region_;
    s.may_take = [this] { return may_take(); };
    s.warn = [](const std::string& what) { log::warn("payment events by the bus", {{"what", what}}); };
    s.counts = &numbers_.bus_inbox;
    add(children, "bus inbox",
        system_->spawn<caf::detached>(bus_inbox, static_cast<const bus_inbox_services*>(&s)));
  }
  if (!bus_) return system_->spawn(no_consumer, static_cast<environment*>(&env_));
  auto& s = bus_services_;
  s.env = &env_;
  s.port = bus_.get();
  s.region = region_;
  s.note = log_bus;
  s.counts = &numbers_.bus;
  return system_->spawn<caf::detached>(bus_channel, static_cast<const bus_services*>(&s));
}

/// Its interval is short enough for the shortest time in the rollback rules.
void node::start_checkout_switch(root_children& children) {
  auto& s = checkout_switch_services_;
  s.env = &env_;
  s.numbers = &numbers_;
  s.gateway = options_.payments.gateway;
  s.rules.workers_for = options_.checkout.rollback_workers_for;
  s.interval = std::clamp(std::min({s.rules.success_for, s.rules.workers_for, s.rules.queue_for}) / 8,
                          checkout_look_min, checkout_look_max);
  s.accounts = accounts_;
  s.directory = directory_;
  s.note = [](const std::string& trigger) {
    log::warn("checkout switched to synchronous", {{"trigger", trigger}});
  };
  numbers_.has_rollback = true;
  add(children, "checkout switch",
      system_->spawn(checkout_switch, static_cast<const checkout_switch_services*>(&s)));
}

/// Only the first writer prunes and stores tasks, for all of them. Readers load the rows of acquired
/// aggregates.
ledger_workers node::spawn_ledger_workers(root_children& children) {
  mail_eraser_handle eraser;
  if (options_.mail.mode == "file")
    eraser =
      add(children, "mail eraser", system_->spawn<caf::detached>(mail_eraser, options_.data_dir / "mail"));
  const auto spawn = [&](std::string name, ledger& engine, milliseconds prune_interval,
                         ledger_worker_handle loader = {}) {
    const ledger_worker_settings settings{ledger_.lease,
                                          process_,
                                          memory_,
                                          lease_doubt_,
                                          prune_interval,
                                          options_.retention.entries,
                                          options_.retention.personal,
                                          options_.retention.log,
                                          options_.retention.statistics,
                                          eraser,
                                          &ledger_is_reachable_,
                                          [](const std::string& what) {
                                            log::warn("ledger", {{"what", what}});
                                          },
                                          [](const std::string& what) {
                                            log::error("ledger", {{"what", what}});
                                          },
                                          std::move(loader),
                                          prune_interval.count() > 0 ? &numbers_.history : nullptr};
    return add(children, std::move(name),
               system_->spawn<caf::detached>(ledger_worker, &engine, &env_, settings));
  };
  std::vector<ledger_worker_handle> writers, readers;
  for (const auto& engine : ledger_.readers)
    readers.push_back(spawn("ledger reader", *engine, milliseconds{0}));
  for (const auto& engine : ledger_.writers)
    writers.push_back(spawn(
      "ledger worker", *engine, writers.empty() ? options_.workers.reconciliation_interval : milliseconds{0},
      readers.empty() ? ledger_worker_handle{} : readers[writers.size() % readers.size()]));
  if (readers.empty()) readers = writers;
  return {std::move(writers), std::move(readers)};
}

void node::start_courier(std::string url) {
  if (!sandbox_) return;
  courier_ = system_->spawn<caf::detached>(sandbox_courier, sandbox_.get(), std::move(url), &env_,
                                           sandbox_poll, sandbox_webhook_timeout);
}

void node::renew(const key_store& keys) {
  sessions_.renew(keys.session);
  if (sandbox_) sandbox_->renew(keys.sandbox);
}

node::~node() {
  if (mesh_) mesh_->close();
  if (courier_) caf::anon_send_exit(courier_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(root_, caf::exit_reason::user_shutdown);
  // Release the handles before the system: its destructor waits for the actors that they keep alive.
  courier_ = nullptr;
  root_ = nullptr;
  region_ = nullptr;
  catalog_ = nullptr;
  accounts_ = nullptr;
  directory_ = nullptr;
  notices_ = nullptr;
  session_reader_ = nullptr;
  cluster_ = nullptr;
  system_->await_all_actors_done(); // until then they use what their services name
  checkout_switch_services_.accounts = nullptr;
  checkout_switch_services_.directory = nullptr;
  cluster_services_.region = nullptr;
  cluster_services_.catalog = nullptr;
  cluster_services_.accounts = nullptr;
  cluster_services_.dialer = nullptr;
  cluster_services_.ledgers.clear();
  owner_services_.ledgers.clear();
  owner_services_.cache = nullptr;
  owner_services_.draws = nullptr;
  owner_services_.payments = nullptr;
  owner_services_.witnesses = nullptr;
  payments_services_.gateways.clear();
  mail_consumer_services_.region = nullptr;
  mail_consumer_services_.attach = nullptr;
  mail_consumer_services_.mailbox_of = nullptr;
  fan_out_services_.ledgers.clear();
  couriers_.clear();
  bus_services_.region = nullptr;
  bus_inbox_services_.region = nullptr;
  gateways_.clear(); // answers outstanding calls, to actors that have ended
  accounts_services_.ledgers.clear();
  accounts_services_.passwords = nullptr;
  accounts_services_.mailer = nullptr;
  mailer_services_.workers.clear();
  notice_mailer_services_.workers.clear();
  system_.reset();
}

std::map<std::string, const gateway_port*, std::less<>> node::gateways() const {
  std::map<std::string, const gateway_port*, std::less<>> all;
  for (const auto& [name, gateway] : gateways_) all.emplace(name, gateway.get());
  if (sandbox_) all.emplace("sandbox", sandbox_.get());
  return all;
}

} // namespace fq
