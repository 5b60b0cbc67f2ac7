// SPDX-License-Identifier: Apache-2.0
// /fairness/{id}: the page whose script checks the public log of a line in the visitor's browser. It has no
// data but the names of the line and the witnesses: all else is in the log.
#include "net/http/json_text.hpp"
#include "net/pages/line_of.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/site_page.hpp"
#include "net/pages/visit.hpp"
#include "net/service/public_log.hpp"

namespace fq::net {
namespace {

/// "/events/<id>/log", without the base path.
std::string log_path(const event_row& line) {
  return (line.kind == event_kind::queue ? "/queues/" : "/events/") + to_string(line.id) + "/log";
}

/// As --beacon of the checker.
std::string beacon_text(const lobby_settings& lobby) {
  if (lobby.beacon == beacon_kind::none) return "none";
  if (lobby.beacon == beacon_kind::announced) return "announced:" + lobby.announced;
  return "drand:" + lobby.chain_hash + ':' + std::to_string(lobby.round);
}

/// What the event promises, for comparison with its log. Without a lobby there is no draw.
std::string promise_json(const lobby_settings& lobby) {
  if (!is_set(lobby.opens_at) || lobby.draw == draw_kind::none) return R"({"draw":"none"})";
  std::string out = R"({"draw":"at_opening","beacon":)";
  append_text(out, beacon_text(lobby));
  return out + '}';
}

std::string fairness_state(const visit& v, const event_row& line) {
  std::string out = "{\"event\":";
  append_id(out, line.id);
  out += ",\"log\":";
  append_text(out, v.base() + log_path(line) + "/");
  out += ",\"promised\":" + promise_json(line.lobby);
  out += ",\"witnesses\":" + witness_keys_json(v.ctx) + ",\"texts\":" + prefixed_texts_json(v.in, "fair_");
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
  page.state = fairness_state(v, event);
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
