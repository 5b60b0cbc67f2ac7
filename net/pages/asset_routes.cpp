// SPDX-License-Identifier: Apache-2.0
// The pages about this server, and the embedded files that pages load.
#include "domain/money/money_text.hpp"
#include "net/http/encoding.hpp"
#include "net/http/query.hpp"
#include "net/pages/demo.hpp"
#include "net/pages/openapi.hpp"
#include "net/pages/plain_page.hpp"
#include "net/pages/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/public_log.hpp"
#include "net/service/services.hpp"
#include "web/assets.hpp"

namespace fq::net {
namespace {

/// For names with a hash of the content, which never changes.
constexpr std::string_view for_ever = "public, max-age=31536000, immutable";
/// For plain names: the file changes with the server, and other sites' pages soon get the new version.
constexpr std::string_view for_minutes = "public, max-age=300";
constexpr std::string_view for_a_day = "public, max-age=86400";

std::string_view bytes_of(const web::asset& a, coding how) {
  switch (how) {
    case coding::identity: return a.plain;
    case coding::gzip: return a.gzip;
    case coding::brotli: return a.brotli;
  }
  return {};
}

/// Available codings, smallest first.
std::vector<coding> codings_of(const web::asset& a) {
  std::vector<coding> all;
  for (const auto how : {coding::brotli, coding::gzip, coding::identity})
    if (!bytes_of(a, how).empty()) all.push_back(how);
  return all;
}

response content_of(const web::asset& found, const request& rq, std::string_view kept) {
  response answer{.status = 200, .content_type = found.content_type};
  const auto how = choose_coding(rq.field("Accept-Encoding"), codings_of(found));
  answer.static_body = bytes_of(found, how);
  if (how != coding::identity) answer.fields.emplace_back("Content-Encoding", std::string{name_of(how)});
  answer.fields.emplace_back("Vary", "Accept-Encoding");
  answer.fields.emplace_back("Cache-Control", std::string{kept});
  return answer;
}

/// {"JPY":0,"KWD":3,...}. Browsers know how people write currencies (CLDR), but not the minor unit of a
/// price.
std::string decimals_json() {
  std::string json;
  for (const auto& [currency, decimals] : unusual_decimals())
    json.append(json.empty() ? "{\"" : ",\"").append(currency).append("\":").append(std::to_string(decimals));
  return json + "}";
}

awaitable<response> get_docs(context&, const request& rq, const path_parameters&) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  return ready(docs_page());
}

/// For browsers that look for an icon by this name: on our JSON answers, and on pages that name none.
awaitable<response> get_favicon(context&, const request& rq, const path_parameters&) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  return ready(content_of(web::get_asset("icon.png"), rq, for_a_day));
}

/// The organizer's console: all script, which uses the public API, the currency list and the witnesses' keys
/// only.
awaitable<response> get_console(context& ctx, const request& rq, const path_parameters&) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  page_data data;
  data.set("DECIMALS", decimals_json());
  data.set("WITNESSES", witness_keys_json(ctx));
  data.show("DEMO", demo_for(ctx, rq)); // the sign-in links to its address and password
  return ready(plain_page("console", std::move(data), page_rights::application));
}

awaitable<response> get_asset(context&, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  const auto* found = web::find_served_asset(path.values[0]);
  return ready(found ? content_of(*found, rq, for_ever) : problem(fault::not_found, rq.request_id));
}

/// The waiting pages' service worker. Its path determines the pages that it controls.
awaitable<response> get_wait_worker(context&, const request& rq, const path_parameters&) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  auto answer = content_of(web::get_asset("worker.js"), rq, for_minutes);
  answer.fields.emplace_back("Content-Security-Policy", "default-src 'none'"); // it loads nothing
  return ready(std::move(answer));
}

/// Files that other sites' pages load. The path ends in the name used in their snippet.
awaitable<response> get_sdk(context&, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  const bool is_public = path.values[0] == "fairqueue.mjs" || path.values[0] == "fair-queue-element.mjs";
  const auto* found = is_public ? web::find_asset(path.values[0]) : nullptr;
  return ready(found ? content_of(*found, rq, for_minutes) : problem(fault::not_found, rq.request_id));
}

} // namespace

std::span<const route> asset_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/docs", self_guarded_for_anybody<get_docs>},
    {get, "/favicon.ico", self_guarded_for_anybody<get_favicon>},
    {get, "/console", self_guarded_for_anybody<get_console>},
    {get, "/assets/{name}", self_guarded_for_anybody<get_asset>},
    {get, "/sdk/{name}", self_guarded_for_anybody<get_sdk>},
    {get, "/wait/worker.js", self_guarded_for_anybody<get_wait_worker>},
  };
  return table;
}

} // namespace fq::net
