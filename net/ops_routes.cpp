// SPDX-License-Identifier: Apache-2.0
// For operators and readers: health, counters, the API description.
#include "net/guards.hpp"
#include "net/handlers.hpp"
#include "net/openapi.hpp"
#include "net/query.hpp"
#include "net/services.hpp"

namespace fq::net {
namespace {

response readiness(const server_state& state) {
  const bool draining = state.draining.load(std::memory_order_relaxed),
             loaded = state.ready.load(std::memory_order_relaxed),
             serves = state.links == nullptr || state.links->serves.load(std::memory_order_relaxed),
             ledger = state.ledger_is_reachable == nullptr || state.ledger_is_reachable->load(std::memory_order_relaxed);
  if (loaded && ledger && serves && !draining)
    return {.status = 200, .body = R"({"status":"ready"})"};
  response answer;
  answer.status = 503;
  answer.body = draining ? R"({"status":"draining","checks":{"owners":"ok","shutdown":"draining"}})"
                : !loaded ? R"({"status":"not_ready","checks":{"owners":"loading"}})"
                : !serves ? R"({"status":"not_ready","checks":{"owners":"ok","cluster":"another_version_serves"}})"
                          : R"({"status":"not_ready","checks":{"owners":"ok","ledger":"unreachable"}})";
  answer.fields.emplace_back("Retry-After", "1");
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
  return without_query(rq, [&] { return readiness(ctx.state); });
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
