// SPDX-License-Identifier: Apache-2.0
#include "net/pages/visit.hpp"
#include "net/pages/limits.hpp"

#include "net/http/preferences.hpp"
#include "net/http/query.hpp"
#include "net/pages/site_page.hpp"
#include "net/service/guards.hpp"
#include "net/service/pictures.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"

#include <boost/json/parse.hpp>

#include <array>
#include <span>

namespace fq::net {
namespace {

constexpr std::string_view language_cookie = "fairqueue_language";

language language_of_visitor(const visit& v) {
  const auto chosen = language_of(cookie(v.rq, v.cookie_name(language_cookie)));
  return chosen ? *chosen : preferred_language(v.rq.field("Accept-Language")).value_or(language::en);
}

/// The problem's stable code, from its body.
std::string code_in(const response& problem) {
  const auto body = boost::json::parse(problem.body);
  return std::string{body.at("code").as_string()};
}

std::string_view sentence_of(unsigned status) {
  if (status == 404) return "error_not_found";
  return status == 429 || status == 503 ? "error_busy" : "try_again";
}

bool is_problem(const response& answer) { return answer.content_type == "application/problem+json"; }

/// The same refusal as a page for people; keeps code and request id for support.
response as_page(context& ctx, const request& rq, language in, response no) {
  site_page shown{in, "error", std::string{text(in, "error_title")}};
  shown.data.set("SENTENCE", text(in, sentence_of(no.status)));
  shown.data.set("CODE", code_in(no));
  shown.data.set("REQUEST_ID", rq.request_id);
  auto page = render(std::move(shown), ctx.options.http.base_path, brand_of(ctx, default_tenant), no.status);
  for (auto& field : no.fields) // Retry-After, limits
    page.fields.push_back(std::move(field));
  return page;
}

awaitable<response> for_people(context& ctx, const request& rq, language in, awaitable<response> answering) {
  auto answer = co_await answering;
  if (is_problem(answer) && wants_page(rq)) co_return as_page(ctx, rq, in, std::move(answer));
  co_return answer;
}

visit visit_of(context& ctx, const request& rq) {
  visit v{ctx, rq, {}, {}, {}, {}, {}, {}, {}, {}};
  v.in = language_of_visitor(v);
  return v;
}

/// Checks the path's id, the visitor and the limit.
std::optional<response> begin_visit(visit& v, const path_parameters& path) {
  if (path.count > 0) {
    const auto parsed = parse_event_owned_id(path.values[0]);
    if (!parsed) return problem(fault::not_found, v.rq.request_id);
    v.id = *parsed;
  }
  if (path.count > 1) v.secret = path.values[1];
  const auto token = cookie(v.rq, v.cookie_name(customer_cookie));
  const auto checked = token.empty() ? token_result{token_error::malformed, {}}
                                     : v.ctx.verifier.verify(token, v.ctx.environment.wall_now());
  const bool is_customer = checked && checked.claims.kind == token_kind::customer
                           && !v.ctx.shared->keys.was_erased(checked.claims.subject);
  if (!is_customer && !(checked && checked.claims.kind == token_kind::guest))
    return limit(v.ctx, v.rq, v.ctx.shared->anonymous, limit_key(v.rq.peer));
  v.shopper = checked.claims.subject;
  if (is_customer) v.customer = v.shopper;
  v.token = token;
  return limit_customer(v.ctx, v.rq, v.shopper);
}

response change_language(const visit& v, std::string_view tag) {
  const auto chosen = language_of(tag);
  if (!chosen || tag.size() != 2)
    return problem(fault::invalid_parameter, v.rq.request_id, "lang must be en, fr, es, hr or ar.");
  auto answer = see_other(v, v.rq.path);
  set_cookie(answer, v.cookie_name(language_cookie), tag_of(*chosen),
             {v.base(), language_seconds, v.is_secure()});
  return answer;
}

awaitable<response> open_page(visit v, const path_parameters& path, page_step run, extra_query extra) {
  if (extra != extra_query::ignored) {
    std::optional<response> no;
    const auto query = extra == extra_query::reason
                         ? query_parameters::read(v.rq, {"lang", "reason", "solved"}, no)
                       : extra == extra_query::cursor ? query_parameters::read(v.rq, {"lang", "cursor"}, no)
                                                      : query_parameters::read(v.rq, {"lang"}, no);
    if (no) return ready(std::move(*no));
    if (const auto tag = query.find("lang")) return ready(change_language(v, *tag));
    v.reason = query.find("reason").value_or(std::string_view{});
    v.cursor = query.find("cursor").value_or(std::string_view{});
    v.solved = query.find("solved").value_or(std::string_view{});
  }
  if (auto no = begin_visit(v, path)) return ready(std::move(*no));
  return run(std::move(v));
}

awaitable<response> open_form(visit v, const path_parameters& path, page_step run) {
  if (!is_from_own_page(v.rq, v.ctx.options.http.public_url))
    return ready(problem(fault::origin_not_allowed, v.rq.request_id));
  if (auto no = expect_no_query(v.rq)) return ready(std::move(*no));
  if (auto no = begin_visit(v, path)) return ready(std::move(*no));
  std::optional<response> no;
  v.sent = form::read(v.rq, no);
  if (no) return ready(std::move(*no));
  return run(std::move(v));
}

} // namespace

awaitable<response> on_page(context& ctx, const request& rq, const path_parameters& path, page_step run,
                            extra_query extra) {
  auto v = visit_of(ctx, rq);
  const auto in = v.in;
  return for_people(ctx, rq, in, open_page(std::move(v), path, run, extra));
}

awaitable<response> on_form(context& ctx, const request& rq, const path_parameters& path, page_step run) {
  auto v = visit_of(ctx, rq);
  const auto in = v.in;
  return for_people(ctx, rq, in, open_form(std::move(v), path, run));
}

bool wants_page(const request& rq) { return rq.field("Accept").find("text/html") != std::string_view::npos; }

response see_other(const visit& v, std::string_view path) {
  response answer;
  answer.status = 303;
  answer.content_type = {};
  answer.fields.emplace_back("Location", v.base() + std::string{path});
  return answer;
}

config::brand brand_of(const context& ctx, tenant_id tenant) {
  const auto& brands = ctx.options.pages.brands;
  const auto keys = ctx.shared->keys.get();
  if (!keys) return {};
  const auto found = brands.find(keys->name_of(tenant));
  auto brand = found == brands.end() ? config::brand{} : found->second;
  if (const auto logo = keys->logo_of(tenant); !logo.empty())
    brand.logo_url = logo_url(ctx.options.http.base_path, logo);
  return brand;
}

void keep_shopper(const visit& v, response& answer, token_kind kind, const uuid& subject) {
  const auto life = std::chrono::duration_cast<seconds>(v.ctx.options.tokens.ttl);
  const bool ends = subject.is_nil();
  set_cookie(answer, v.cookie_name(customer_cookie),
             ends ? std::string{} : v.ctx.issuer.issue(kind, subject, v.ctx.environment.wall_now(), life),
             {v.base(), ends ? 0 : life.count(), v.is_secure()});
}

} // namespace fq::net
