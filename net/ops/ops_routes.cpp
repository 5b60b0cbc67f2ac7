// SPDX-License-Identifier: Apache-2.0
// Routes for operators: health, metrics, the API description.
#include "net/bridge/readiness.hpp"
#include "net/ops/routes.hpp"
#include "net/pages/openapi.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"

namespace fq::net {
namespace {

std::string_view body_of(readiness r) {
  switch (r) {
    case readiness::ready: return R"({"status":"ready"})";
    case readiness::draining:
      return R"({"status":"draining","checks":{"owners":"ok","shutdown":"draining"}})";
    case readiness::superseded:
      return R"({"status":"not_ready","checks":{"owners":"superseded","node":"superseded"}})";
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

awaitable<response> show_livez(call) { return ready({.status = 200, .body = R"({"status":"ok"})"}); }

/// Events that are stopped do not stop the others.
awaitable<response> show_readyz(call c) {
  const auto& s = c.ctx.state;
  const auto r = readiness_of(s);
  auto answer = answer_of(r);
  if (r == readiness::ready && s.events_lost != nullptr && s.events_lost->load(std::memory_order_relaxed) > 0)
    answer.body = R"({"status":"ready","checks":{"events":"ledger_lost"}})";
  return ready(std::move(answer));
}

awaitable<response> show_metrics(call c) {
  return ready({.status = 200,
                .content_type = "text/plain; version=0.0.4; charset=utf-8",
                .body = c.ctx.shared->counts.text(c.ctx.state)});
}

awaitable<response> show_openapi(call) { return ready({.status = 200, .static_body = openapi_json()}); }

} // namespace

std::span<const route> ops_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/livez", for_anybody<show_livez, address_limit::none>},
    {get, "/readyz", for_anybody<show_readyz, address_limit::none>},
    {get, "/health", for_anybody<show_readyz, address_limit::none>},
    {get, "/openapi.json", for_anybody<show_openapi, address_limit::anonymous>},
  };
  return table;
}

std::span<const route> admin_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/metrics", for_anybody<show_metrics, address_limit::none>},
    {get, "/livez", for_anybody<show_livez, address_limit::none>},
    {get, "/readyz", for_anybody<show_readyz, address_limit::none>},
  };
  return table;
}

} // namespace fq::net
