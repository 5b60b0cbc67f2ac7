// SPDX-License-Identifier: Apache-2.0
// Bearer tokens (RFC 6750). The answer does not reveal why a token is refused.
#include "net/service/auth.hpp"

#include "net/http/problem.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"

#include <algorithm>

namespace fq::net {

std::string_view bearer_token(const request& rq) {
  constexpr std::string_view scheme = "Bearer ";
  std::string_view token;
  for (const auto& [name, value] : rq.fields) {
    if (!same_text(name, "Authorization")) continue;
    if (!token.empty() || value.size() <= scheme.size() || !same_text(value.substr(0, scheme.size()), scheme))
      return {};
    token = value.substr(scheme.size());
  }
  return token;
}

response unauthenticated(context& ctx, const request& rq) {
  ctx.shared->counts.unauthenticated.add();
  if (auto no = limit(ctx, rq, ctx.shared->key_failures, limit_key(rq.peer))) return std::move(*no);
  return problem(fault::unauthenticated, rq.request_id);
}

namespace {

identity authenticate_one_of(context& ctx, const request& rq, std::initializer_list<token_kind> wanted,
                             std::string_view token) {
  const auto checked = token.empty() ? token_result{token_error::malformed, {}}
                                     : ctx.verifier.verify(token, ctx.environment.wall_now());
  if (!checked) return {unauthenticated(ctx, rq), {}, {}};
  const auto kind = checked.claims.kind;
  if (std::ranges::find(wanted, kind) == wanted.end())
    return {problem(fault::forbidden, rq.request_id), {}, {}};
  if (kind == token_kind::customer && ctx.shared->keys.was_erased(checked.claims.subject))
    return {problem(fault::unauthenticated, rq.request_id), {}, {}};
  return {std::nullopt, checked.claims.subject, checked.claims.expires_at};
}

} // namespace

identity authenticate(context& ctx, const request& rq, token_kind wanted, std::string_view token) {
  return authenticate_one_of(ctx, rq, {wanted}, token);
}

identity authenticate_shopper(context& ctx, const request& rq, std::string_view token) {
  return authenticate_one_of(ctx, rq, {token_kind::customer, token_kind::guest}, token);
}

identity authenticate(context& ctx, const request& rq, token_kind wanted) {
  return authenticate(ctx, rq, wanted, bearer_token(rq));
}

} // namespace fq::net
