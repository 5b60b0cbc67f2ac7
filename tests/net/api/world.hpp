// SPDX-License-Identifier: Apache-2.0
// Handlers over a real bridge and scripted actors that record their requests. No sockets; the test moves the
// clock.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "actors/protocol/system_config.hpp"
#include "config/options.hpp"
#include "crypto/random.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/bridge/session_table.hpp"
#include "net/http/router.hpp"
#include "net/service/services.hpp"
#include "net/site/routes.hpp"
#include "outbound/sandbox_gateway.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/net/api/requests.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

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

/// Shared with the actors. The test accesses it only while no request is in flight.
struct script {
  // answers
  entry_reply entry;
  ack_reply ack;
  claim_reply claim;
  payment_reply payment;
  event_reply event;
  stats_reply stats;
  event_list_reply list;
  count_reply count;
  audit_reply audit;
  person_reply person;
  quote_reply quote;
  order_reply order;
  orders_reply orders;
  std::vector<orders_reply> order_pages; ///< for the first requests for orders
  promo_codes_reply promo_codes;
  customers_reply customers;
  order_list_reply own_orders;
  dead_letters_reply dead_letters;
  sessions_changed sessions; ///< sent to a table that subscribes
  bool answers_watch = true;
  caf::error error; ///< answer of the event actor, if set
  // requests
  int questions = 0;
  int watches = 0, unwatches = 0; ///< subscriptions and cancellations
  join asked_join;
  open_claim asked_claim;
  open_payment asked_payment;
  apply_fact asked_fact;
  find_event asked_event;
  patch_event asked_patch;
  turn_event asked_turn;
  create_event asked_create;
  list_events asked_list;
  log_in asked_login;
  request_otp asked_otp;
  verify_otp asked_code;
  entry_id asked_ticket;
  std::string asked_end;
  advance_line asked_advance;
  revoke_sessions asked_revocation;
  list_audit asked_audit;
  get_quote asked_quote;
  place_order asked_order;
  find_order asked_find_order;
  list_event_orders asked_orders;
  refund_tickets asked_refund;
  set_promo_code asked_promo_code;
  set_priorities asked_priorities;
  invite_customers asked_invitations;
  block_customers asked_block;
  find_blocks asked_blocks;
  invitations_reply invitations;
  blocks_reply blocks;
  settle_dead_letter asked_settle;
  find_customers asked_customers;
  change_setting asked_setting;
  std::vector<record_deed> deeds;
};

using script_ptr = std::shared_ptr<script>;

template <class Reply>
caf::result<Reply> scripted(script& s, const Reply& reply) {
  ++s.questions;
  if (s.error) return s.error;
  return reply;
}

inline event_handle::behavior_type scripted_event(event_handle::pointer self, script_ptr s) {
  return {[s](const join& m) {
            s->asked_join = m;
            return scripted(*s, s->entry);
          },
          [s](const find_entry&) { return scripted(*s, s->entry); },
          [s](const leave&) { return scripted(*s, s->ack); },
          [s](const open_claim& m) {
            s->asked_claim = m;
            return scripted(*s, s->claim);
          },
          [s](const find_claim&) { return scripted(*s, s->claim); },
          [s](const release_claim&) { return scripted(*s, s->ack); },
          [s](const open_payment& m) {
            s->asked_payment = m;
            return scripted(*s, s->payment);
          },
          [s](const find_payment&) { return scripted(*s, s->payment); },
          [s](const apply_fact& m) {
            s->asked_fact = m;
            return scripted(*s, s->ack);
          },
          [s](const find_event& m) {
            s->asked_event = m;
            return scripted(*s, s->event);
          },
          [s](const patch_event& m) {
            s->asked_patch = m;
            return scripted(*s, s->event);
          },
          [s](const turn_event& m) {
            s->asked_turn = m;
            return scripted(*s, s->event);
          },
          [s](const find_stats&) { return scripted(*s, s->stats); },
          [](const find_positions&) { return positions_reply{}; },
          [](const subscribe&) {},
          [s](const find_ticket& m) {
            s->asked_ticket = m.ticket;
            return scripted(*s, s->entry);
          },
          [s](const leave_ticket& m) {
            s->asked_ticket = m.ticket;
            return scripted(*s, s->ack);
          },
          [s](const end_session& m) {
            s->asked_end = m.session_token;
            return scripted(*s, s->ack);
          },
          [](const present&) {},
          [](const push_read&) {},
          [s](const advance_line& m) {
            s->asked_advance = m;
            return scripted(*s, s->count);
          },
          [s](const revoke_sessions& m) {
            s->asked_revocation = m;
            return scripted(*s, s->count);
          },
          [s](const find_line&) { return scripted(*s, line_reply{}); },
          [self, s](const watch_sessions& m) {
            ++(m.on ? s->watches : s->unwatches);
            if (m.on && s->answers_watch)
              caf::anon_send(caf::actor_cast<caf::actor>(self->current_sender()), s->sessions);
          },
          [s](const get_quote& m) {
            s->asked_quote = m;
            return scripted(*s, s->quote);
          },
          [s](const place_order& m) {
            s->asked_order = m;
            return scripted(*s, s->order);
          },
          [s](const find_order& m) {
            s->asked_find_order = m;
            return scripted(*s, s->order);
          },
          [s](const cancel_order&) { return scripted(*s, s->order); },
          [s](const list_event_orders& m) {
            s->asked_orders = m;
            if (s->order_pages.empty()) return scripted(*s, s->orders);
            auto page = std::move(s->order_pages.front());
            s->order_pages.erase(s->order_pages.begin());
            return scripted(*s, page);
          },
          [s](const refund_tickets& m) {
            s->asked_refund = m;
            return scripted(*s, s->order);
          },
          [s](const resend_order&) { return scripted(*s, s->ack); },
          [s](const set_promo_code& m) {
            s->asked_promo_code = m;
            return scripted(*s, s->promo_codes);
          },
          [s](const find_promo_codes&) { return scripted(*s, s->promo_codes); },
          [s](const set_priorities& m) {
            s->asked_priorities = m;
            return scripted(*s, s->count);
          },
          [s](const find_priorities&) { return scripted(*s, s->customers); },
          [s](const invite_customers& m) {
            s->asked_invitations = m;
            return scripted(*s, s->count);
          },
          [s](const withdraw_invitations&) { return scripted(*s, s->count); },
          [s](const find_invitations&) { return scripted(*s, s->invitations); },
          [s](const settle_dead_letter& m) {
            s->asked_settle = m;
            return scripted(*s, s->ack);
          },
          [](const report_undelivered&) { return ack_reply{}; },
          [](const verify_mirror&) { return mirror_report{}; },
          [](const verify_ledger&) { return ledger_report{}; },
          [](const aggregate_peeked&) {},
          [](const batch_settled&) {},
          [](const aggregate_acquired&) {},
          [](const hand_over&) {},
          [](const blocks_changed&) {},
          [](const lease_lost&) {},
          [](const mirror_checked&) {},
          [](const mirror_lost&) {},
          [](const cache_is_back&) {},
          [](const gateway_answered&) {},
          [](const timer_fired&) {}};
}

/// Aggregate 16 is the scripted event; every other one is absent.
inline region_handle::behavior_type scripted_region(region_handle::pointer, event_handle event) {
  return {[event](const resolve_event& m) -> caf::result<event_handle> {
            if (m.aggregate != first_event_aggregate) return make_error(errc::absent);
            return event;
          },
          [](const list_owned&) { return owned_aggregates{}; },
          [](const move_event&) { return ack_reply{}; },
          [](const cluster_changed&) {},
          [](const handed_over&) {},
          [](const blocks_changed&) {},
          [](const aggregates_to_wake&) {},
          [](const timer_fired&) {}};
}

inline catalog_handle::behavior_type scripted_catalog(catalog_handle::pointer, script_ptr s) {
  return {[s](const create_event& m) {
            s->asked_create = m;
            return scripted(*s, s->event);
          },
          [s](const list_events& m) {
            s->asked_list = m;
            return scripted(*s, s->list);
          },
          [s](const list_audit& m) {
            s->asked_audit = m;
            return scripted(*s, s->audit);
          },
          [s](const list_orders&) { return scripted(*s, s->own_orders); },
          [s](const list_dead_letters&) { return scripted(*s, s->dead_letters); },
          [](const cluster_changed&) {},
          [](const batch_settled&) {},
          [](const aggregate_acquired&) {},
          [](const lease_lost&) {},
          [](const last_aggregate_found&) {},
          [](const timer_fired&) {}};
}

inline accounts_handle::behavior_type scripted_accounts(accounts_handle::pointer, script_ptr s) {
  return {[s](const log_in& m) {
            s->asked_login = m;
            return scripted(*s, s->person);
          },
          [s](const request_otp& m) {
            s->asked_otp = m;
            return scripted(*s, s->ack);
          },
          [s](const verify_otp& m) {
            s->asked_code = m;
            return scripted(*s, s->person);
          },
          [s](const add_organizer&) { return scripted(*s, s->person); },
          [s](const add_tenant&) { return scripted(*s, s->ack); },
          [](const list_tenants&) { return tenants_reply{}; },
          [](const issue_api_key&) { return api_key_reply{}; },
          [](const revoke_api_key&) { return ack_reply{}; },
          [s](const find_customers& m) {
            s->asked_customers = m;
            return scripted(*s, s->customers);
          },
          [s](const change_setting& m) {
            s->asked_setting = m;
            return scripted(*s, s->ack);
          },
          [s](const record_deed& m) {
            s->deeds.push_back(m);
            return scripted(*s, s->ack);
          },
          [s](const block_customers& m) {
            s->asked_block = m;
            return scripted(*s, s->customers);
          },
          [s](const unblock_customer&) { return scripted(*s, s->ack); },
          [s](const find_blocks& m) {
            s->asked_blocks = m;
            return scripted(*s, s->blocks);
          },
          [](const cluster_changed&) {},
          [](const batch_settled&) {},
          [](const aggregate_acquired&) {},
          [](const lease_lost&) {},
          [](const timer_fired&) {}};
}

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
  o.tokens = {milliseconds{86'400'000}, milliseconds{3'600'000}, milliseconds{604'800'000}};
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
      keys(key_store::open(folder.path())),
      verifier(keys),
      issuer(keys),
      sessions(keys.session),
      sandbox(sandbox_settings(), clock),
      routes(public_routes(256 * 1024)),
      passes(open_pass_keys(folder.path(), clock.wall_now())),
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
    ctx.shared = &shared;
    ctx.bridge = &bridge;
    ctx.table = &table;
    bridge.set_receiver(static_cast<session_receiver*>(&table));
    directory.publish(make_directory());
  }
  ~world() {
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
    if (auto early = public_part.before(ctx, made.rq))
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
  /// Pushes as the owner does, and waits for the arrival.
  void push(const sessions_changed& news) { static_cast<session_receiver&>(table).on_sessions_changed(news); }
  text_fields as_customer() const { return bearer(token_kind::customer, customer); }
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

private:
  sandbox_gateway::settings sandbox_settings() const {
    sandbox_gateway::settings s;
    s.file = folder / "sandbox.db";
    s.public_url = options.http.public_url;
    s.webhook_secret = keys.sandbox;
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
