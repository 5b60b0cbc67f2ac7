// SPDX-License-Identifier: Apache-2.0
// /scan: the page of a device that scans tickets, and its service worker. The page holds no data: its script
// calls the check-in routes with the token that the device was given.
#include "net/http/json_text.hpp"
#include "net/http/query.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/site_page.hpp"
#include "net/pages/visit.hpp"
#include "net/service/guards.hpp"
#include "web/assets.hpp"

namespace fq::net {
namespace {

std::string scan_state(const visit& v) {
  std::string out = "{\"base\":";
  append_text(out, v.base());
  out += ",\"decoder\":";
  append_text(out, v.base() + "/assets/" + std::string{web::get_asset("qr-decoder.mjs").served_name});
  out += ",\"texts\":"
         + texts_json(v.in, {"scan_admitted",
                             "scan_camera_off",
                             "scan_camera_on",
                             "scan_check_in",
                             "scan_counts",
                             "scan_decided_here",
                             "scan_earlier",
                             "scan_exit",
                             "scan_force_sure",
                             "scan_found_none",
                             "scan_insecure",
                             "scan_let_in_although",
                             "scan_list_now",
                             "scan_loading",
                             "scan_no_camera",
                             "scan_no_token",
                             "scan_offline",
                             "scan_online",
                             "scan_refused",
                             "scan_refused_already_in",
                             "scan_refused_cancelled",
                             "scan_refused_cannot_check",
                             "scan_refused_expired_code",
                             "scan_refused_list_gone",
                             "scan_refused_no_exit",
                             "scan_refused_not_here",
                             "scan_refused_not_in",
                             "scan_refused_not_ready",
                             "scan_refused_other_event",
                             "scan_refused_refund_pending",
                             "scan_refused_revoked",
                             "scan_refused_too_many",
                             "scan_refused_transferred",
                             "scan_refused_unknown_ticket",
                             "scan_refused_unreadable",
                             "scan_refused_wrong_key",
                             "scan_refused_wrong_list",
                             "scan_revoked",
                             "scan_search_offline",
                             "scan_sent_away",
                             "scan_somewhere",
                             "scan_waiting",
                             "seat_place",
                             "seat_place_row",
                             "seat_place_table"});
  return out + '}';
}

awaitable<response> show_scan(visit v) {
  site_page page{v.in, "scan", std::string{text(v.in, "scan_title")}};
  page.script = "scan.mjs";
  page.state = scan_state(v);
  return ready(render(std::move(page), v.base(), brand_of(v.ctx, default_tenant)));
}

/// Its path is below /scan, which it may control nevertheless.
awaitable<response> get_scan_worker(context& ctx, const request& rq, const path_parameters&) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  const auto& worker = web::get_asset("scan-worker.js");
  response answer{.status = 200, .content_type = worker.content_type, .static_body = worker.plain};
  answer.fields.emplace_back("Cache-Control", "no-cache");
  answer.fields.emplace_back("Service-Worker-Allowed", ctx.options.http.base_path + "/scan");
  answer.fields.emplace_back("Content-Security-Policy", "default-src 'none'; connect-src 'self'");
  return ready(std::move(answer));
}

} // namespace

std::span<const route> scan_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/scan", page_of<show_scan>},
    {get, "/scan/worker.js", self_guarded_for_anybody<get_scan_worker>},
  };
  return table;
}

} // namespace fq::net
