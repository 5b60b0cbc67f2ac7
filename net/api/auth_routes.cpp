// SPDX-License-Identifier: Apache-2.0
// Logins: organizers by password, customers by a one-time code by mail. The accounts actor checks them;
// tokens are signed here.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/service/sign_in.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"

#include <algorithm>

namespace fq::net {
namespace {

response token_answer(context& ctx, token_kind kind, const uuid& person, milliseconds lifetime,
                      std::string_view id_name) {
  const auto now = ctx.environment.wall_now();
  const auto whole = std::chrono::duration_cast<seconds>(lifetime);
  const auto expires = std::chrono::floor<seconds>(now) + whole; // whole seconds, as in the token
  response answer;
  answer.body =
    R"({"token":")" + ctx.issuer.issue(kind, person, now, whole) + "\",\"" + std::string{id_name} + "\":";
  append_id(answer.body, person);
  answer.body += ",\"expires_at\":";
  append_time(answer.body, expires);
  answer.body += '}';
  return answer;
}

// -- organizers

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
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  const bool failed = !got.error && got.reply.no.why == reason::invalid_credentials;
  if (failed)
    c.ctx.shared->counts.logins_failed.add();
  else if (!got.error && !got.reply.no) // a timeout may hide a failure
    give_back(c.ctx, c.rq, address_limit::login);
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return token_answer(c.ctx, token_kind::organizer, got.reply.person, c.ctx.options.tokens.ttl,
                         "organizer_id");
}

// -- customers

std::optional<response> read_otp_request(const request& rq, request_otp& wish) {
  return read_json(rq, body_need::required,
                   [&wish](object_reader& body) { wish.email = read_email(body, "email"); });
}

awaitable<response> send_code(call c) {
  request_otp wish;
  if (auto no = read_otp_request(c.rq, wish)) co_return std::move(*no);
  auto no = co_await mail_code(c.ctx, c.rq, std::move(wish.email));
  if (no) co_return std::move(*no);
  co_return response{.status = 202, .body = R"({"message":"If the address exists, a code is on its way."})"};
}

std::optional<response> read_otp(const request& rq, verify_otp& wish) {
  return read_json(rq, body_need::required, [&wish](object_reader& body) {
    wish.email = read_email(body, "email");
    body.require("otp");
    wish.code = body.text("otp", code_size).value;
  });
}

awaitable<response> check_code(call c) {
  verify_otp wish;
  if (auto no = read_otp(c.rq, wish)) co_return std::move(*no);
  auto got = co_await redeem_code(c.ctx, c.rq, std::move(wish.email), std::move(wish.code));
  if (got.no) co_return std::move(*got.no);
  co_return token_answer(c.ctx, token_kind::customer, got.customer, c.ctx.options.tokens.ttl, "customer_id");
}

} // namespace

awaitable<std::optional<response>> mail_code(context& ctx, const request& rq, std::string email) {
  request_otp wish{std::move(email)};
  if (auto no = limit(ctx, rq, ctx.shared->otp_addresses, ctx.shared->key_of(wish.email)))
    co_return std::move(no);
  auto got = co_await ask(ctx, ctx.accounts, std::move(wish));
  if (auto no = refused(rq, got)) co_return std::move(no);
  ctx.shared->counts.otp_requested.add();
  co_return std::nullopt;
}

awaitable<redeemed_code> redeem_code(context& ctx, const request& rq, std::string email, std::string code) {
  verify_otp wish{std::move(email), std::move(code)};
  auto got = co_await ask(ctx, ctx.accounts, std::move(wish));
  if (auto no = refused(rq, got))
    co_return redeemed_code{std::move(no), {}, !got.error && got.reply.no.why == reason::invalid_otp};
  co_return redeemed_code{std::nullopt, got.reply.person, false};
}

std::span<const route> auth_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/auth/organizer/login", for_anybody<log_organizer_in, address_limit::login>},
    {post, "/auth/customer/otp/request", for_anybody<send_code, address_limit::code>},
    {post, "/auth/customer/otp/verify", for_anybody<check_code, address_limit::code>},
  };
  return table;
}

} // namespace fq::net
