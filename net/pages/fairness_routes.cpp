// SPDX-License-Identifier: Apache-2.0
// /fairness/{id}: the page whose script checks the public log of a line in the visitor's browser. It has no
// data but the names of the line and the witnesses: all else is in the log.
#include "net/http/json_text.hpp"
#include "net/pages/line_of.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/site_page.hpp"
#include "net/pages/visit.hpp"

namespace fq::net {
namespace {

/// Verifier keys of the witnesses that cosign this installation's logs.
std::vector<std::string> witness_keys(const context& ctx) {
  std::vector<std::string> keys;
  for (auto& w : ctx.options.witness.parsed_urls().value_or(std::vector<config::witness_address>{}))
    keys.push_back(std::move(w.key));
  return keys;
}

/// "/events/<id>/log", without the base path.
std::string log_path(const event_row& line) {
  return (line.kind == event_kind::queue ? "/queues/" : "/events/") + to_string(line.id) + "/log";
}

std::string fairness_state(const visit& v, const event_row& line, const std::vector<std::string>& witnesses) {
  std::string out = "{\"event\":";
  append_id(out, line.id);
  out += ",\"log\":";
  append_text(out, v.base() + log_path(line) + "/");
  out += ",\"witnesses\":[";
  for (const auto& key : witnesses) {
    if (&key != &witnesses.front()) out += ',';
    append_text(out, key);
  }
  out += "],\"texts\":"
         + texts_json(v.in, {"fair_admitted",
                             "fair_check_admissions",
                             "fair_check_beacon",
                             "fair_check_closing",
                             "fair_check_consistency",
                             "fair_check_draw",
                             "fair_check_entrants",
                             "fair_check_event",
                             "fair_check_hands",
                             "fair_check_numbers",
                             "fair_check_parties",
                             "fair_check_receipt",
                             "fair_check_records",
                             "fair_check_seed",
                             "fair_check_signature",
                             "fair_check_units",
                             "fair_check_witnesses",
                             "fair_completed",
                             "fair_details",
                             "fair_failed_admissions",
                             "fair_failed_beacon",
                             "fair_failed_consistency",
                             "fair_failed_draw",
                             "fair_failed_entrants",
                             "fair_failed_event",
                             "fair_failed_hands",
                             "fair_failed_numbers",
                             "fair_failed_parties",
                             "fair_failed_receipt",
                             "fair_failed_records",
                             "fair_failed_seed",
                             "fair_failed_signature",
                             "fair_failed_units",
                             "fair_failed_witnesses",
                             "fair_hand_advance",
                             "fair_hand_block",
                             "fair_hand_cancel",
                             "fair_hand_end",
                             "fair_hand_end_wait",
                             "fair_hand_pause",
                             "fair_hand_priority",
                             "fair_hand_resume",
                             "fair_hand_revoke",
                             "fair_hand_settings",
                             "fair_hands_more",
                             "fair_is_failed",
                             "fair_is_passed",
                             "fair_is_skipped",
                             "fair_is_unproven",
                             "fair_joined",
                             "fair_no_log",
                             "fair_per_minute",
                             "fair_reading",
                             "fair_reason_none",
                             "fair_receipt_bad",
                             "fair_result_failed",
                             "fair_result_passed",
                             "fair_result_unproven",
                             "fair_unreadable",
                             "fair_waiting"});
  return out + '}';
}

awaitable<response> show_fairness(visit v) {
  auto found = co_await find_line(v);
  if (found.no) co_return std::move(*found.no);
  const auto& event = found.line.event;
  site_page page{v.in, "fairness", std::string{text(v.in, "fair_title")} + " " + event.name};
  const auto& url = v.ctx.options.http.public_url;
  const auto witnesses = witness_keys(v.ctx);
  page.data.set("NAME", event.name);
  page.data.set("PLACE", (event.kind == event_kind::queue ? "--queue " : "--event ") + to_string(event.id));
  page.data.set("URL", url);
  page.data.set("LOG_PATH", log_path(event));
  for (const auto& key : witnesses) page.data.add("WITNESS").set("KEY", key);
  page.data.show("HAS_NO_WITNESS", witnesses.empty());
  page.script = "fairness.mjs";
  page.state = fairness_state(v, event, witnesses);
  page.signed_in = !v.customer.is_nil();
  co_return render(std::move(page), v.base(), brand_of(v.ctx, event.tenant));
}

} // namespace

std::span<const route> fairness_routes() {
  using enum method;
  static constexpr route table[] = {{get, "/fairness/{id}", page_of<show_fairness>}};
  return table;
}

} // namespace fq::net
