// SPDX-License-Identifier: Apache-2.0
// The checks in their order. Plain functions, so that a request costs one coroutine frame: the step's.
#include "net/service/guards.hpp"

#include "net/http/query.hpp"
#include "net/service/auth.hpp"
#include "net/service/device_token.hpp"
#include "net/service/limits.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <cstring>

namespace fq::net {
namespace {

/// The authenticated caller.
struct caller {
  uuid who;
  principal by = {};
  std::optional<api_key> key = {};
};

/// Checks path and query, then runs the step.
awaitable<response> admitted(context& ctx, const request& rq, const path_parameters& path, const caller& from,
                             step run, query_use query) {
  uuid id;
  if (path.count > 0) {
    const bool may_be_foreign = query == query_use::foreign_id || query == query_use::own_foreign_id;
    const auto parsed = may_be_foreign ? parse_uuid(path.values[0]) : parse_event_owned_id(path.values[0]);
    if (!parsed) return ready(problem(fault::not_found, rq.request_id));
    id = *parsed;
  }
  uuid part;
  if (path.count > 1) {
    const auto parsed = parse_uuid(path.values[1]);
    if (!parsed) return ready(problem(fault::not_found, rq.request_id));
    part = *parsed;
  }
  if (query != query_use::own && query != query_use::own_foreign_id)
    if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  return run({ctx, rq, from.who, id, from.by, from.key, part});
}

response refuse_rate(context& ctx, const request& rq, const rate_rule& rule, const rate_verdict& verdict) {
  ctx.shared->counts.rate_limited.add();
  return too_many(rule, verdict, rq.request_id);
}

/// Whether the answer needs RateLimit fields. They cost 60 bytes and some allocations, and are useless to a
/// client far from its limit.
bool is_near_limit(const rate_rule& rule, const rate_verdict& verdict) {
  return rule.quota > 0 && verdict.remaining < rule.quota / 4;
}

awaitable<response> with_rate_fields(awaitable<response> answering, const rate_rule& rule,
                                     rate_verdict verdict) {
  auto answer = co_await answering;
  add_rate_fields(answer, rule, verdict);
  co_return answer;
}

/// Takes a token of `limiter` for `key`, then continues with `admitted`.
awaitable<response> limited(context& ctx, const request& rq, const path_parameters& path, const caller& from,
                            step run, query_use query, rate_limiter& limiter, const uuid& key) {
  const auto verdict = limiter.take(key, ctx.environment.steady_now());
  if (!verdict.allowed) [[unlikely]]
    return ready(refuse_rate(ctx, rq, limiter.rule(), verdict));
  auto answering = admitted(ctx, rq, path, from, run, query);
  if (is_near_limit(limiter.rule(), verdict)) [[unlikely]]
    return with_rate_fields(std::move(answering), limiter.rule(), verdict);
  return answering;
}

awaitable<response> with_kind(context& ctx, const request& rq, const path_parameters& path, step run,
                              token_kind kind, rate_limiter& limiter, query_use query) {
  auto who = authenticate(ctx, rq, kind);
  if (who.no) return ready(std::move(*who.no));
  return limited(ctx, rq, path, {who.subject}, run, query, limiter, who.subject);
}

} // namespace

std::optional<response> limit(context& ctx, const request& rq, rate_limiter& limiter, const uuid& key,
                              std::uint32_t tokens) {
  const auto verdict = limiter.take(key, ctx.environment.steady_now(), tokens);
  if (verdict.allowed) [[likely]]
    return std::nullopt;
  return refuse_rate(ctx, rq, limiter.rule(), verdict);
}

namespace {

/// Null: no limit.
rate_limiter* limiter_of(services& shared, address_limit limit) {
  switch (limit) {
    case address_limit::none:
    case address_limit::without_token: return nullptr;
    case address_limit::anonymous: return &shared.anonymous;
    case address_limit::public_log: return &shared.log_reads;
    case address_limit::checkpoint: return &shared.checkpoints;
    case address_limit::sandbox: return &shared.sandbox_pages;
    case address_limit::login: return &shared.login_failures;
    case address_limit::code: return &shared.otp_clients;
    case address_limit::guest: return &shared.guests;
    case address_limit::webhook: return &shared.key_failures;
  }
  return nullptr;
}

} // namespace

std::optional<response> limit_address(context& ctx, const request& rq, address_limit asked) {
  auto* limiter = limiter_of(*ctx.shared, asked);
  return limiter ? limit(ctx, rq, *limiter, limit_key(rq.peer)) : std::nullopt;
}

void give_back(context& ctx, const request& rq, address_limit taken) {
  if (auto* limiter = limiter_of(*ctx.shared, taken))
    limiter->give_back(limit_key(rq.peer), ctx.environment.steady_now());
}

namespace {

/// A guest is new as often as it likes: its address pays too.
std::optional<response> limit_guest(context& ctx, const request& rq, const uuid& who) {
  return is_guest(who) ? limit(ctx, rq, ctx.shared->guest_requests, limit_key(rq.peer)) : std::nullopt;
}

} // namespace

std::optional<response> limit_customer(context& ctx, const request& rq, const uuid& customer) {
  auto no = limit_guest(ctx, rq, customer);
  return no ? std::move(no) : limit(ctx, rq, ctx.shared->customers, customer);
}

std::optional<response> limit_join(context& ctx, const request& rq, const uuid& customer) {
  auto no = limit(ctx, rq, ctx.shared->joins, customer);
  if (no || !is_guest(customer)) return no;
  no = limit(ctx, rq, ctx.shared->guest_joins, limit_key(rq.peer));
  if (no) ctx.shared->joins.give_back(customer, ctx.environment.steady_now());
  return no;
}

void give_back_join(context& ctx, const request& rq, const uuid& customer) {
  const auto now = ctx.environment.steady_now();
  ctx.shared->joins.give_back(customer, now);
  if (is_guest(customer)) ctx.shared->guest_joins.give_back(limit_key(rq.peer), now);
}

awaitable<response> with_customer(context& ctx, const request& rq, const path_parameters& path, step run,
                                  query_use query) {
  return with_kind(ctx, rq, path, run, token_kind::customer, ctx.shared->customers, query);
}

awaitable<response> with_customer_or_guest(context& ctx, const request& rq, const path_parameters& path,
                                           step run, query_use query) {
  auto who = authenticate_shopper(ctx, rq, bearer_token(rq));
  if (!who.no) who.no = limit_guest(ctx, rq, who.subject);
  if (who.no) return ready(std::move(*who.no));
  return limited(ctx, rq, path, {who.subject}, run, query, ctx.shared->customers, who.subject);
}

namespace {

struct manager {
  std::optional<response> no;
  principal by;
  uuid subject{}; ///< subject of the token
  bool may_be_new = false; ///< `no` is set, but another node may have added the manager since our directory
                           ///< was read
  bool is_shopper = false; ///< a customer or a guest
};

token_result token_of(context& ctx, const request& rq) {
  const auto token = bearer_token(rq);
  return token.empty() ? token_result{token_error::malformed, {}}
                       : ctx.verifier.verify(token, ctx.environment.wall_now());
}

/// The manager of a valid token. `by` is empty for a token of another kind.
manager manager_of(context& ctx, const request& rq, const token_claims& claims) {
  if (claims.kind == token_kind::customer && ctx.shared->keys.was_erased(claims.subject))
    return {problem(fault::unauthenticated, rq.request_id), {}};
  if (claims.kind != token_kind::organizer && claims.kind != token_kind::operate)
    return {std::nullopt,
            {},
            claims.subject,
            false,
            claims.kind == token_kind::customer || claims.kind == token_kind::guest};
  const auto keys = ctx.shared->keys.get();
  if (!keys) return {problem(fault::unavailable, rq.request_id, {}, 1), {}};
  if (claims.kind == token_kind::organizer) {
    const auto tenant = keys->tenant_of(claims.subject);
    if (!tenant) return {problem(fault::unauthenticated, rq.request_id), {}, claims.subject, true};
    if (keys->has_ended(claims.subject, claims.issued_at, claims.session))
      return {problem(fault::unauthenticated, rq.request_id), {}};
    return {std::nullopt, {principal_kind::organizer, *tenant, claims.subject}, claims.subject};
  }
  const auto key = keys->find(claims.subject);
  if (!key || key->scope != api_key_scope::operate) // revoked after the token was issued
    return {problem(fault::unauthenticated, rq.request_id), {}};
  return {std::nullopt, {principal_kind::operate, key->tenant, key->id}, claims.subject};
}

manager manager_of(context& ctx, const request& rq) {
  const auto checked = token_of(ctx, rq);
  return checked ? manager_of(ctx, rq, checked.claims) : manager{unauthenticated(ctx, rq), {}};
}

/// The token's signature is valid but its manager is unknown here: another node may have added it. Reads
/// the directory again and repeats the guard once.
awaitable<response> with_fresh_directory(context& ctx, const request& rq, const path_parameters& path,
                                         step run, query_use query, manager found, guard& again) {
  if (auto no = limit(ctx, rq, ctx.shared->organizers, found.subject)) co_return std::move(*no);
  if (!ctx.directory) co_return std::move(*found.no);
  auto refreshed = co_await ask(ctx, ctx.directory, refresh_directory{});
  if (refreshed.error || refreshed.reply.no) co_return problem(fault::unavailable, rq.request_id, {}, 1);
  if (manager_of(ctx, rq).may_be_new) // still unknown
    co_return std::move(*found.no);
  auto answering = again(ctx, rq, path, run, query);
  co_return co_await answering;
}

} // namespace

bool has_token_of(context& ctx, const request& rq, audience who) {
  const bool is_managers = who == audience::managers || who == audience::operators;
  if (!is_managers && who != audience::customers && who != audience::customers_or_guests) return true;
  const auto checked = token_of(ctx, rq);
  if (!checked) return false;
  const auto found = manager_of(ctx, rq, checked.claims);
  if (is_managers) return found.may_be_new || (!found.no && found.by.kind != principal_kind::nobody);
  const bool may_be_guest = who == audience::customers_or_guests;
  return !found.no && found.is_shopper && (may_be_guest || checked.claims.kind == token_kind::customer);
}

awaitable<response> with_manager(context& ctx, const request& rq, const path_parameters& path, step run,
                                 query_use query) {
  auto found = manager_of(ctx, rq);
  if (found.may_be_new)
    return with_fresh_directory(ctx, rq, path, run, query, std::move(found), with_manager);
  if (found.no) return ready(std::move(*found.no));
  if (found.by.kind == principal_kind::nobody) return ready(problem(fault::forbidden, rq.request_id));
  return limited(ctx, rq, path, {found.subject, found.by}, run, query, ctx.shared->organizers, found.subject);
}

awaitable<response> with_customer_or_manager(context& ctx, const request& rq, const path_parameters& path,
                                             step run, query_use query) {
  auto found = manager_of(ctx, rq);
  if (found.may_be_new)
    return with_fresh_directory(ctx, rq, path, run, query, std::move(found), with_customer_or_manager);
  if (found.no) return ready(std::move(*found.no));
  if (found.by.kind == principal_kind::nobody) return with_customer(ctx, rq, path, run, query);
  return limited(ctx, rq, path, {{}, found.by}, run, query, ctx.shared->organizers, found.subject);
}

awaitable<response> with_operator(call c, step run, const char* detail) {
  if (c.by.kind != principal_kind::operate) return ready(problem(fault::forbidden, c.rq.request_id, detail));
  return run(std::move(c));
}

awaitable<response> with_ticket(context& ctx, const request& rq, const path_parameters& path, step run,
                                query_use query) {
  auto who = authenticate(ctx, rq, token_kind::ticket);
  if (who.no) return ready(std::move(*who.no));
  if (parse_uuid(path.values[0]) != who.subject) return ready(problem(fault::not_found, rq.request_id));
  return limited(ctx, rq, path, {who.subject}, run, query, ctx.shared->customers, who.subject);
}

bool is_known_device(const context& ctx, const request& rq, const uuid& device) {
  return ctx.shared->gate_secrets.is_ours(owner_of(device), secret_of(bearer_token(rq)));
}

uuid limit_key(const device_pass& pass) {
  const auto hash = sha256(pass.secret_hash);
  uuid key;
  std::memcpy(&key, hash.data(), sizeof key);
  return key;
}

/// A bucket for each token: a device's id is no secret, and its bucket must last for the device alone. The
/// address pays only for texts that we did not issue: a gate shares it with strangers.
awaitable<response> with_device(context& ctx, const request& rq, const path_parameters& path, step run,
                                query_use query) {
  const auto pass = pass_of(rq);
  if (!pass) return ready(unauthenticated(ctx, rq));
  if (!is_known_device(ctx, rq, pass->device))
    if (auto no = limit_address(ctx, rq, address_limit::webhook)) return ready(std::move(*no));
  return limited(ctx, rq, path, {pass->device}, run, query, ctx.shared->devices, limit_key(*pass));
}

awaitable<response> with_api_key(context& ctx, const request& rq, const path_parameters& path, step run,
                                 std::initializer_list<api_key_scope> scopes) {
  const auto keys = ctx.shared->keys.get();
  if (!keys) return ready(problem(fault::unavailable, rq.request_id, {}, 1));
  const auto key = keys->find(bearer_token(rq));
  if (!key) return ready(unauthenticated(ctx, rq));
  if (std::find(scopes.begin(), scopes.end(), key->scope) == scopes.end())
    return ready(problem(fault::forbidden, rq.request_id));
  return admitted(ctx, rq, path, {key->id, {}, key}, run, query_use::none);
}

awaitable<response> with_anybody(context& ctx, const request& rq, const path_parameters& path, step run,
                                 query_use query) {
  return admitted(ctx, rq, path, {}, run, query);
}

awaitable<response> with_anybody_or_person(context& ctx, const request& rq, const path_parameters& path,
                                           step run, query_use query) {
  if (!rq.has_field("Authorization"))
    return limited(ctx, rq, path, {}, run, query, ctx.shared->anonymous, limit_key(rq.peer));
  auto found = manager_of(ctx, rq);
  if (found.may_be_new)
    return with_fresh_directory(ctx, rq, path, run, query, std::move(found), with_anybody_or_person);
  if (!found.no && found.is_shopper) found.no = limit_guest(ctx, rq, found.subject);
  if (found.no) return ready(std::move(*found.no));
  const bool manages = found.by.kind != principal_kind::nobody;
  auto& limiter = manages ? ctx.shared->organizers : ctx.shared->customers;
  const auto who = manages || found.is_shopper ? found.subject : uuid{};
  return limited(ctx, rq, path, {who, found.by}, run, query, limiter, found.subject);
}

awaitable<response> ready(response answer) { co_return answer; }

response infrastructure_problem(const caf::error& error, const request& rq) {
  const auto why = is(error, errc::absent)        ? fault::not_found
                   : is(error, errc::not_owner)   ? fault::not_owner
                   : is(error, errc::ledger_lost) ? fault::ledger_lost
                                                  : fault::unavailable;
  return problem(why, rq.request_id, {}, why == fault::ledger_lost ? lost_retry_after : 1);
}

response refusal_problem(refusal no, const request& rq) {
  if (no.why == reason::challenge_required) {
    const std::string of =
      no.id.is_nil() ? "/auth" : (no.first == 0 ? "/events/" : "/queues/") + to_string(no.id);
    no.detail = of + "/challenge";
  }
  return problem(no, rq.request_id);
}

std::optional<uuid> parse_event_owned_id(std::string_view text) {
  const auto id = parse_uuid(text);
  if (!id || number_of(owner_of(*id)) < number_of(first_event_aggregate)) return std::nullopt;
  return id;
}

std::string location(const context& ctx, std::string_view folder, const uuid& id) {
  return ctx.options.http.base_path + std::string{folder} + to_string(id);
}

void mark_replayed(context& ctx, response& answer) {
  ctx.shared->counts.idempotent_replays.add();
  answer.fields.emplace_back("Idempotency-Replayed", "true");
}

} // namespace fq::net
