// SPDX-License-Identifier: Apache-2.0
// GET /: the first page for a browser, a small index for programs. GET /robots.txt.
#include "net/http/query.hpp"
#include "net/pages/demo.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/visit.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"

namespace fq::net {
namespace {

response index_of(const visit& v) {
  response answer{.status = 200};
  answer.body = "{\"name\":\"FairQueue\",\"version\":";
  append_text(answer.body, v.ctx.state.release);
  for (const auto& [name, path] :
       {std::pair{"openapi", "/openapi.json"}, {"docs", "/docs"}, {"health", "/readyz"}}) {
    answer.body.append(",\"").append(name).append("\":");
    append_text(answer.body, v.base() + path);
  }
  answer.body += '}';
  return answer;
}

site_page welcome_page(const visit& v) {
  site_page page{v.in, "welcome", std::string{text(v.in, "welcome")}};
  if (demo_for(v.ctx, v.rq)) page.data.set_optional("MAILBOX", v.base() + std::string{mailbox_path});
  return page;
}

/// The page that pages.root names.
response first_page(const visit& v) {
  const auto& root = v.ctx.options.pages.root;
  auto answer = see_other(v, root);
  if (!root.starts_with('/')) answer.fields.back().second = root;
  return answer;
}

awaitable<response> show_root(visit v) {
  const bool is_demo = v.ctx.state.ready && v.ctx.shared->is_demo;
  auto answer = !wants_page(v.rq) ? index_of(v)
                : is_demo         ? render(welcome_page(v), v.base(), brand_of(v.ctx, default_tenant))
                                  : first_page(v);
  answer.fields.emplace_back("Vary", "Accept");
  return ready(std::move(answer));
}

/// Paths of pages for one person or for the organizer.
constexpr std::array not_for_robots{"/shop/",    "/checkout", "/orders", "/console",
                                    "/sandbox/", "/demo/",    "/scan"};

awaitable<response> get_robots(context& ctx, const request& rq, const path_parameters&) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  response answer{
    .status = 200, .content_type = "text/plain; charset=utf-8", .body = "User-agent: *\nAllow: "};
  const auto& base = ctx.options.http.base_path;
  answer.body += base + "/shop\n";
  for (const auto* path : not_for_robots) answer.body += "Disallow: " + base + path + "\n";
  answer.fields.emplace_back("Cache-Control", "public, max-age=86400");
  return ready(std::move(answer));
}

} // namespace

std::span<const route> root_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/", page_of<show_root>},
    {get, "/robots.txt", self_guarded_for_anybody<get_robots>},
  };
  return table;
}

} // namespace fq::net
