// SPDX-License-Identifier: Apache-2.0
// Handlers over a real bridge and scripted actors that record their requests. No sockets; the test moves the
// clock.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "actors/protocol/system_config.hpp"
#include "config/options.hpp"
#include "crypto/random.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/bridge/line_table.hpp"
#include "net/bridge/session_table.hpp"
#include "net/http/router.hpp"
#include "net/service/services.hpp"
#include "net/site/routes.hpp"
#include "outbound/sandbox_gateway.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/net/api/requests.hpp"
#include "tests/net/api/scripted.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <atomic>
#include <memory>

namespace fq::net::made {

class clock_environment final : public environment {
public:
  std::atomic<std::int64_t> now_ms{1'800'000'000'000};
  timestamp wall_now() override { return from_unix_ms(now_ms); }
  milliseconds steady_now() override { return milliseconds{now_ms.load()}; }
  void random_bytes(std::span<std::byte> out) override { fill_random(out); }
};

struct world_config : system_config {
  world_config() { set("scheduler.max-threads", std::size_t{1}); }
};

inline config::options world_options() {
  config::options o;
  o.http.public_url = "http://127.0.0.1:8080";
  o.http.allowed_origins = {"https://shop.example"};
  o.http.request_timeout = milliseconds{5000};
  o.queue.session_ttl = milliseconds{1'200'000};
  o.queue.claim_window = milliseconds{300'000};
  o.queue.admission_interval = milliseconds{5000};
  o.queue.batch_size = 50;
  o.queue.ticket_ttl = milliseconds{1'800'000};
  o.claims.ttl = milliseconds{600'000};
  o.tokens = {milliseconds{86'400'000}, milliseconds{604'800'000}};
  o.otp.requests_per_address = 5;
  o.payments.gateway = "sandbox";
  o.checkout.async_percent = 100;
  o.otp.request_window = milliseconds{900'000};
  o.otp.requests_per_ip_per_minute = 600;
  o.rate_limits.login_failures_per_ip_per_minute = 20;
  o.rate_limits.customer_requests_per_minute = 600;
  o.rate_limits.organizer_requests_per_minute = 600;
  o.rate_limits.joins_per_customer_per_minute = 30;
  o.rate_limits.anonymous_requests_per_ip_per_minute = 1200;
  o.rate_limits.sandbox_requests_per_ip_per_minute = 6000;
  o.rate_limits.joins_per_ip_per_minute = 30;
  o.rate_limits.access_per_session_per_minute = 600;
  o.rate_limits.access_per_key_per_minute = 60'000;
  o.rate_limits.access_failures_per_ip_per_minute = 1000;
  o.rate_limits.device_requests_per_minute = 3000;
  o.rate_limits.tracked_max = 1000;
  return o;
}

/// "404 not_found"; for answers that are not problems, only the status.
inline std::string shown(const response& answer) {
  return std::to_string(answer.status) + " " + code_of(answer);
}

class world {
public:
  explicit world(config::options o = world_options(), bool with_sandbox = true) :
      options(std::move(o)),
      keys(key_store::open(folder.path(), clock.wall_now())),
      verifier(keys),
      issuer(keys),
      sessions(keys.session),
      sandbox(sandbox_settings(), clock),
      routes(public_routes(256 * 1024)),
      passes(keys.passes),
      shared(options, keys, directory, passes, clock, routes, with_sandbox ? &sandbox : nullptr),
      system(cfg),
      event(system.spawn(scripted_event, told)),
      region(system.spawn(scripted_region, event)),
      catalog(system.spawn(scripted_catalog, told)),
      accounts(system.spawn(scripted_accounts, told)),
      bridge(system, io, region, state, {options.http.request_timeout, 4096}),
      paths(routes),
      public_part(public_site(routes)),
      ctx{.io = io,
          .environment = clock,
          .options = options,
          .state = state,
          .region = region,
          .catalog = catalog,
          .accounts = accounts,
          .session_reader = {},
          .verifier = verifier,
          .issuer = issuer,
          .sessions = sessions} {
    ctx.now = clock.steady_now();
    ctx.shared = &shared;
    ctx.bridge = &bridge;
    ctx.table = &table;
    ctx.lines = &lines;
    bridge.set_receiver(static_cast<push_receiver*>(&lines));
    bridge.set_receiver(static_cast<session_receiver*>(&table));
    directory.publish(make_directory());
  }
  ~world() {
    lines.stop();
    table.stop();
    bridge.stop();
    for (const auto& a : {caf::actor_cast<caf::actor>(region), caf::actor_cast<caf::actor>(event),
                          caf::actor_cast<caf::actor>(catalog), caf::actor_cast<caf::actor>(accounts)})
      caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
  }

  /// As the session does: before, route, handler, after.
  response send(method verb, std::string target, std::string body = {}, text_fields fields = {},
                std::string peer = "192.0.2.1") {
    made_request made{verb, std::move(target), std::move(body), std::move(fields), std::move(peer)};
    auto found = paths.match(verb, made.rq.path);
    response answer;
    if (auto early = public_part.before(ctx, made.rq, found.found))
      answer = std::move(*early);
    else if (!found.found)
      answer = public_part.refuse(
        ctx, made.rq, found.allow.empty() ? http_refusal::not_found : http_refusal::method_not_allowed, {},
        found.allow);
    else
      answer = run(found, made.rq);
    public_part.after(ctx, made.rq, found.found, answer, milliseconds{1});
    return answer;
  }

  /// Tenant 2, "acme", with one key per scope; tenant 3, "other", with an operator's key.
  static access_directory make_directory() {
    access_directory d;
    d.organizers = {{uuid{0x2222, 0x8000'0000'0000'0002}, default_tenant}};
    d.tenants = {{default_tenant, "default", {}, {}, never},
                 {tenant_id{2}, "acme", {}, {}, never},
                 {tenant_id{3}, "other", {}, {}, never}};
    const auto add = [&d](std::uint64_t id, tenant_id tenant, api_key_scope scope, std::string_view secret) {
      d.api_keys.push_back({{0x4444, id}, tenant, scope, to_hex(sha256(secret)), {}, never, never});
    };
    add(1, tenant_id{2}, api_key_scope::join, "joins");
    add(2, tenant_id{2}, api_key_scope::server, "serves");
    add(3, tenant_id{2}, api_key_scope::operate, "operates");
    add(4, tenant_id{3}, api_key_scope::operate, "operates");
    return d;
  }
  static text_fields with_key(std::string_view key) {
    return {{"Authorization", "Bearer " + std::string{key}}, {"Content-Type", "application/json"}};
  }
  text_fields as_operator() const { return bearer(token_kind::operate, {0x4444, 3}); }
  /// Time passes while the io thread runs.
  void pass(milliseconds time) {
    for (const auto end = clock.now_ms + time.count(); clock.now_ms < end;) {
      clock.now_ms = std::min<std::int64_t>(end, clock.now_ms + 250);
      ctx.now = clock.steady_now();
      lines.sweep(ctx.now);
      table.sweep(ctx.now);
    }
  }
  /// Pushes as the owner does, and waits for the arrival.
  void push(const sessions_changed& news) { static_cast<session_receiver&>(table).on_sessions_changed(news); }
  text_fields as_customer() const { return bearer(token_kind::customer, customer); }
  text_fields as_guest(std::uint64_t n) const {
    return bearer(token_kind::guest, make_uuid(from_unix_ms(1'800'000'000'000), guests_aggregate, n));
  }
  text_fields as_organizer() const { return bearer(token_kind::organizer, organizer); }
  text_fields bearer(token_kind kind, const uuid& who) const {
    return {{"Authorization", "Bearer " + issuer.issue(kind, who, from_unix_ms(clock.now_ms), seconds{3600})},
            {"Content-Type", "application/json"}};
  }

  std::string event_path(std::string_view rest) const {
    return "/events/" + to_string(event_id) + std::string{rest};
  }

  const uuid customer{0x1111, 0x8000'0000'0000'0001}, organizer{0x2222, 0x8000'0000'0000'0002};
  const uuid event_id = make_uuid(from_unix_ms(1'800'000'000'000), first_event_aggregate, 1);
  const uuid claim_id = make_uuid(from_unix_ms(1'800'000'000'000), first_event_aggregate, 2);

  fq::test::temp_folder folder;
  clock_environment clock;
  config::options options;
  key_store keys;
  token_verifier verifier;
  token_issuer issuer;
  session_keys sessions;
  sandbox_gateway sandbox;
  std::vector<route> routes;
  key_directory directory;
  pass_signer passes;
  services shared;
  server_state state;
  script_ptr told = std::make_shared<script>();
  world_config cfg;
  caf::actor_system system;
  event_handle event;
  region_handle region;
  catalog_handle catalog;
  accounts_handle accounts;
  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> working =
    boost::asio::make_work_guard(io);
  actor_bridge bridge;
  router paths;
  site public_part;
  context ctx;
  session_table table{ctx};
  line_table lines{ctx};

private:
  sandbox_gateway::settings sandbox_settings() const {
    sandbox_gateway::settings s;
    s.file = folder / "sandbox.db";
    s.public_url = options.http.public_url;
    s.webhook_secret = keys.sandbox.front();
    return s;
  }

  response run(const route_match& found, const request& rq) {
    auto handling = found.found->guarded.handle(ctx, rq, found.parameters);
    bool done = false;
    handling.start([](void* flag) noexcept { *static_cast<bool*>(flag) = true; }, &done);
    for (int i = 0; !done && i < 10'000; ++i) io.run_one_for(std::chrono::milliseconds{10});
    if (!done) throw std::runtime_error("the handler never answered");
    auto answer = handling.take();
    while (answer.source && add_part(answer)) {}
    return answer;
  }

  /// Appends the next part of a streamed body; false at its end. Throws as the source does.
  bool add_part(response& answer) {
    auto making = answer.source->next();
    bool done = false;
    making.start([](void* flag) noexcept { *static_cast<bool*>(flag) = true; }, &done);
    for (int i = 0; !done && i < 10'000; ++i) io.run_one_for(std::chrono::milliseconds{10});
    const auto part = making.take();
    answer.body += part;
    return !part.empty();
  }
};

} // namespace fq::net::made
