// SPDX-License-Identifier: Apache-2.0
// Routes for operators: health, metrics, the API description.
#include "net/bridge/readiness.hpp"
#include "net/http/query.hpp"
#include "net/pages/openapi.hpp"
#include "net/service/guards.hpp"
#include "net/service/handlers.hpp"
#include "net/service/services.hpp"

namespace fq::net {
namespace {

std::string_view body_of(readiness r) {
  switch (r) {
    case readiness::ready: return R"({"status":"ready"})";
    case readiness::draining:
      return R"({"status":"draining","checks":{"owners":"ok","shutdown":"draining"}})";
    case readiness::loading: return R"({"status":"not_ready","checks":{"owners":"loading"}})";
    case readiness::another_version_serves:
      return R"({"status":"not_ready","checks":{"owners":"ok","cluster":"another_version_serves"}})";
    case readiness::ledger_unreachable:
      return R"({"status":"not_ready","checks":{"owners":"ok","ledger":"unreachable"}})";
  }
  return {};
}

response answer_of(readiness r) {
  response answer{.status = r == readiness::ready ? 200u : 503u, .body = std::string{body_of(r)}};
  if (r != readiness::ready) answer.fields.emplace_back("Retry-After", "1");
  return answer;
}

template <class Make>
awaitable<response> without_query(const request& rq, Make make) {
  auto no = expect_no_query(rq);
  return ready(no ? std::move(*no) : make());
}

} // namespace

awaitable<response> get_livez(context&, const request& rq, const path_parameters&) {
  return without_query(rq, [] { return response{.status = 200, .body = R"({"status":"ok"})"}; });
}

awaitable<response> get_readyz(context& ctx, const request& rq, const path_parameters&) {
  return without_query(rq, [&] { return answer_of(readiness_of(ctx.state)); });
}

awaitable<response> get_metrics(context& ctx, const request& rq, const path_parameters&) {
  return without_query(rq, [&] {
    return response{.status = 200,
                    .content_type = "text/plain; version=0.0.4; charset=utf-8",
                    .body = ctx.shared->counts.text(ctx.state)};
  });
}

awaitable<response> get_openapi(context&, const request& rq, const path_parameters&) {
  return without_query(rq, [] { return response{.status = 200, .body = std::string{openapi_json()}}; });
}

} // namespace fq::net
