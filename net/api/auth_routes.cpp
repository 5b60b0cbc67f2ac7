// SPDX-License-Identifier: Apache-2.0
// Logins: organizers by password, customers by a one-time code by mail. The accounts actor checks them;
// tokens are signed here.
#include "actors/base/customer_book.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/api/sign_in_log.hpp"
#include "net/http/json_text.hpp"
#include "net/http/preferences.hpp"
#include "net/service/auth.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/service/sign_in.hpp"
#include "net/wire/challenge_codec.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"

#include <algorithm>

namespace fq::net {
namespace {

response token_answer(context& ctx, token_kind kind, const person_reply& who, milliseconds lifetime,
                      std::string_view id_name) {
  const auto& person = who.person;
  const auto now = std::max(ctx.environment.wall_now(), who.not_before);
  const auto whole = std::chrono::duration_cast<seconds>(lifetime);
  const auto expires = std::chrono::floor<seconds>(now) + whole; // whole seconds, as in the token
  response answer;
  answer.body = R"({"token":")" + ctx.issuer.issue(kind, person, now, whole, who.session) + "\",\""
                + std::string{id_name} + "\":";
  append_id(answer.body, person);
  answer.body += ",\"expires_at\":";
  append_time(answer.body, expires);
  answer.body += '}';
  return answer;
}

// -- organizers

/// Printable ASCII: it is stored and shown.
std::string agent_of(const request& rq) {
  std::string agent;
  for (const auto& [name, value] : rq.fields)
    if (same_text(name, "User-Agent")) agent = value.substr(0, user_agent_max);
  std::erase_if(agent, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  return agent;
}

std::optional<response> read_login(const request& rq, log_in& wish) {
  return read_json(rq, body_need::required, [&wish](object_reader& body) {
    wish.email = read_email(body, "email");
    body.require("password");
    wish.password = body.text("password", password_size).value;
  });
}

/// Each attempt has taken a token of the client's bucket, and a success returns it, so that parallel guesses
/// count too.
awaitable<response> log_organizer_in(call c) {
  log_in wish;
  if (auto no = read_login(c.rq, wish)) co_return std::move(*no);
  wish.client = limit_key(c.rq.peer);
  wish.agent = agent_of(c.rq);
  wish.lifetime = c.ctx.options.tokens.ttl;
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  const bool failed = !got.error && got.reply.no.why == reason::invalid_credentials;
  if (failed) {
    c.ctx.shared->counts.logins_failed.add();
    log_refused_sign_in(c.rq, "organizer", code_of(got.reply.no.why));
  } else if (!got.error && !got.reply.no) { // a timeout may hide a failure
    give_back(c.ctx, c.rq, address_limit::login);
    log_sign_in(c.rq, "organizer", got.reply.person);
  }
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return token_answer(c.ctx, token_kind::organizer, got.reply, c.ctx.options.tokens.ttl, "organizer_id");
}

void append_session(std::string& out, const organizer_session_row& row, const uuid& current) {
  out += R"({"id":)";
  append_id(out, row.id);
  out += R"(,"created_at":)";
  append_time(out, row.created_at);
  out += R"(,"expires_at":)";
  append_time(out, row.expires_at);
  out += R"(,"user_agent":)";
  append_text(out, row.agent);
  out += row.id == current ? R"(,"current":true})" : R"(,"current":false})";
}

/// An operator has none: the token ends with its API key.
awaitable<response> list_sessions(call c) {
  auto got = co_await ask(c.ctx, c.ctx.accounts, list_organizer_sessions{c.by.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  const auto own = c.ctx.verifier.verify(bearer_token(c.rq), c.ctx.environment.wall_now());
  response answer;
  answer.body = R"({"items":[)";
  for (const auto& row : got.reply.sessions) {
    if (answer.body.back() == '}') answer.body += ',';
    append_session(answer.body, row, own.claims.session);
  }
  answer.body += "]}";
  co_return answer;
}

/// In force at this node when it is answered, and at others within seconds.
awaitable<response> end_session(call c) {
  auto got = co_await ask(c.ctx, c.ctx.accounts, end_organizer_session{c.by.id, c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  if (c.ctx.directory) {
    auto refreshed = co_await ask(c.ctx, c.ctx.directory, refresh_directory{});
    if (auto no = refused(c.rq, refreshed)) co_return std::move(*no);
  }
  co_return response{.status = 204, .content_type = {}};
}

// -- customers

struct code_wish {
  std::string email, replaces, mark, challenge;
};

std::optional<response> read_otp_request(const request& rq, code_wish& wish) {
  return read_json(rq, body_need::required, [&wish](object_reader& body) {
    wish.email = read_email(body, "email");
    wish.replaces = body.text("replaces", handle_size).value;
    wish.mark = body.text("browser_mark", {1, browser_mark_max}).value;
    wish.challenge = body.text("challenge", challenge_size).value;
  });
}

awaitable<response> send_code(call c) {
  code_wish wish;
  if (auto no = read_otp_request(c.rq, wish)) co_return std::move(*no);
  code_proof proof{read_solved(wish.challenge)};
  auto sent = co_await mail_code(
    c.ctx, c.rq, std::move(wish.email), std::move(wish.replaces), std::move(wish.mark),
    preferred_language(c.rq.field("Accept-Language")).value_or(language::en), std::move(proof));
  if (sent.no) co_return std::move(*sent.no);
  co_return response{.status = 202,
                     .body = R"({"message":"If the address exists, a code is on its way.","handle":")"
                             + sent.handle + "\"}"};
}

std::optional<response> read_otp(const request& rq, verify_otp& wish) {
  return read_json(rq, body_need::required, [&wish](object_reader& body) {
    wish.email = read_email(body, "email");
    body.require("otp");
    wish.code = body.text("otp", code_size).value;
    body.require("handle");
    wish.handle = body.text("handle", handle_size).value;
  });
}

awaitable<response> check_code(call c) {
  verify_otp wish;
  if (auto no = read_otp(c.rq, wish)) co_return std::move(*no);
  auto got = co_await redeem_code(c.ctx, c.rq, std::move(wish.email), std::move(wish.code),
                                  std::move(wish.handle), preferred_language(c.rq.field("Accept-Language")));
  if (got.no) co_return std::move(*got.no);
  person_reply who;
  who.person = got.customer;
  auto answer = token_answer(c.ctx, token_kind::customer, who, c.ctx.options.tokens.ttl, "customer_id");
  answer.body.back() = ',';
  answer.body += R"("browser_mark":")" + got.mark + "\"}";
  co_return answer;
}

// -- guests

awaitable<response> begin_as_guest(call c) {
  if (auto no = expect_no_body(c.rq)) return ready(std::move(*no));
  person_reply who;
  who.person = make_guest_id(c.ctx);
  auto answer = token_answer(c.ctx, token_kind::guest, who, c.ctx.options.tokens.ttl, "guest_id");
  answer.status = 201;
  return ready(std::move(answer));
}

} // namespace

/// A browser mark has limits of its own instead of those of its network address.
awaitable<mailed_code> mail_code(context& ctx, const request& rq, std::string email, std::string replaces,
                                 std::string mark, language in, code_proof proof) {
  const auto network = limit_key(rq.peer);
  const auto known = ctx.shared->marks.read(mark, email, ctx.environment.wall_now());
  const auto client = known.is_nil() ? network : known;
  const auto handle = random_key(ctx);
  request_otp wish{std::move(email),        network,       handle, std::move(replaces), known, in,
                   std::move(proof.solved), proof.may_work};
  const auto address = ctx.shared->key_of(wish.email, client);
  auto no = limit(ctx, rq, ctx.shared->otp_addresses, address);
  if (!no) no = limit(ctx, rq, ctx.shared->otp_mails, client);
  if (no) {
    log_refused_sign_in(rq, "customer", code_of(reason::rate_limited));
    co_return mailed_code{std::move(no), {}};
  }
  auto got = co_await ask(ctx, ctx.accounts, std::move(wish));
  if (no = refused(rq, got); no) {
    if (!got.error) log_refused_sign_in(rq, "customer", code_of(got.reply.no.why));
    ctx.shared->otp_mails.give_back(client, ctx.environment.steady_now());
    ctx.shared->otp_addresses.give_back(address, ctx.environment.steady_now());
    co_return mailed_code{std::move(no), {}};
  }
  ctx.shared->counts.otp_requested.add();
  co_return mailed_code{std::nullopt, handle};
}

awaitable<redeemed_code> redeem_code(context& ctx, const request& rq, std::string email, std::string code,
                                     std::string handle, std::optional<language> in) {
  verify_otp wish{email, std::move(code), std::move(handle), {in.has_value(), in.value_or(language::en)}};
  auto got = co_await ask(ctx, ctx.accounts, std::move(wish));
  if (auto no = refused(rq, got)) {
    if (!got.error) log_refused_sign_in(rq, "customer", code_of(got.reply.no.why));
    co_return redeemed_code{std::move(no), {}, {}, !got.error && got.reply.no.why == reason::invalid_otp};
  }
  log_sign_in(rq, "customer", got.reply.person);
  if (!got.reply.had_mark) ctx.shared->otp_mails.give_back(limit_key(rq.peer), ctx.environment.steady_now());
  const auto& who = got.reply.person;
  auto mark = ctx.shared->marks.issue(email, who, ctx.environment.random_u64(), ctx.environment.wall_now());
  co_return redeemed_code{std::nullopt, who, std::move(mark), false};
}

namespace {

/// The same for every address: it does not reveal whether there is an account. Limited by the buyer, whose
/// mailbox may have many spellings, and by who sends mails to others.
awaitable<account_address> find_buyer(context& ctx, const request& rq, std::string email) {
  account_address found{std::nullopt, email};
  find_customers who{default_tenant, {std::move(email)}};
  auto got = co_await ask(ctx, ctx.accounts, std::move(who));
  found.no = refused(rq, got);
  if (found.no) co_return found;
  const auto now = ctx.environment.steady_now();
  const auto client = limit_key(rq.peer);
  const auto& buyer = got.reply.customers.front();
  if (!ctx.shared->order_clients.take(client, now).allowed) co_return found;
  if (ctx.shared->guest_orders.take(buyer, now).allowed)
    found.buyer = buyer;
  else
    ctx.shared->order_clients.give_back(client, now);
  co_return found;
}

} // namespace

void give_back_address(context& ctx, const request& rq, const account_address& account) {
  if (account.buyer.is_nil()) return;
  const auto now = ctx.environment.steady_now();
  ctx.shared->guest_orders.give_back(account.buyer, now);
  ctx.shared->order_clients.give_back(limit_key(rq.peer), now);
}

customer_id make_guest_id(const context& ctx) {
  return make_uuid(ctx.environment.wall_now(), guests_aggregate, ctx.environment.random_u64());
}

awaitable<account_address> find_account_address(context& ctx, const request& rq, uuid customer,
                                                std::string_view contact) {
  if (is_guest(customer)) {
    auto finding = find_buyer(ctx, rq, lower_email(contact));
    co_return co_await finding;
  }
  const auto erased = [&] { return account_address{problem(fault::unauthenticated, rq.request_id), {}}; };
  if (const auto* here = ctx.shared->known_customers)
    if (auto found = here->mailbox_of(customer))
      co_return found->address == erased_address(customer)
        ? erased()
        : account_address{std::nullopt, std::move(found->address), found->language};
  find_customer who{customer};
  auto got = co_await ask(ctx, ctx.accounts, std::move(who));
  if (auto own = lower_email(contact); got.error && ctx.shared->is_address_of(own, customer))
    co_return account_address{std::nullopt, std::move(own)};
  if (!got.error && got.reply.no.why == reason::not_found) {
    if (got.reply.customer.is_nil()) co_return account_address{};
    co_return erased();
  }
  if (auto no = refused(rq, got)) co_return account_address{std::move(no), {}};
  co_return account_address{std::nullopt, std::move(got.reply.email), got.reply.language};
}

std::span<const route> auth_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/auth/organizer/login", for_anybody<log_organizer_in, address_limit::login>},
    {get, "/auth/organizer/sessions", for_managers<list_sessions>},
    {del, "/auth/organizer/sessions/{id}", for_managers<end_session, query_use::foreign_id>},
    {post, "/auth/customer/otp/request", for_anybody<send_code, address_limit::code>},
    {post, "/auth/customer/otp/verify", for_anybody<check_code, address_limit::code>},
    {post, "/guests", for_anybody<begin_as_guest, address_limit::guest>},
  };
  return table;
}

} // namespace fq::net
