// SPDX-License-Identifier: Apache-2.0
// The sandbox gateway's hosted payment page. It uses only the gateway, as a real gateway's page would.
#include "domain/money/money_text.hpp"
#include "net/http/query.hpp"
#include "net/pages/forms.hpp"
#include "net/pages/limits.hpp"
#include "net/pages/plain_page.hpp"
#include "net/pages/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "outbound/sandbox_gateway.hpp"

#include <algorithm>

namespace fq::net {
namespace {

bool is_reference(std::string_view text) {
  return !text.empty() && text.size() <= reference_max && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
           || c == '.';
  });
}

std::string_view name_of(charge_status status) {
  switch (status) {
    case charge_status::unknown: return "unknown";
    case charge_status::unpaid: return "open";
    case charge_status::paid: return "paid";
    case charge_status::declined: return "declined";
    case charge_status::expired: return "expired";
  }
  return "";
}

std::string_view sentence(charge_status status) {
  switch (status) {
    case charge_status::unknown:
    case charge_status::unpaid: return "";
    case charge_status::paid: return "This payment is complete. Thank you.";
    case charge_status::declined: return "This payment was declined. Nothing was charged.";
    case charge_status::expired: return "This payment has expired. Nothing was charged.";
  }
  return "";
}

bool is_web_address(std::string_view url) {
  return url.starts_with("https://") || url.starts_with("http://");
}

response charge_page(const sandbox_page& charge) {
  page_data data;
  data.set("AMOUNT", money_text(charge.money.amount, charge.money.currency));
  data.set("REFERENCE", charge.reference);
  const bool open = charge.status == charge_status::unpaid;
  data.show(open ? "IS_OPEN" : "IS_SETTLED");
  data.set("SENTENCE", sentence(charge.status));
  if (!open && is_web_address(charge.callback_url)) data.set_optional("SHOP", charge.callback_url);
  return plain_page("sandbox", std::move(data), open ? page_rights::forms : page_rights::none);
}

using charge_step = awaitable<response> (*)(context& ctx, const request& rq, std::string reference);

/// Checks common to GET and POST.
template <charge_step run>
awaitable<response> with_reference(context& ctx, const request& rq, const path_parameters& path) {
  if (!ctx.shared->sandbox || !is_reference(path.values[0]))
    return ready(problem(fault::not_found, rq.request_id));
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  return run(ctx, rq, std::string{path.values[0]});
}

// -- GET

awaitable<response> show_charge(context& ctx, const request& rq, std::string reference) {
  auto look = [gateway = ctx.shared->sandbox, reference] { return gateway->view(reference); };
  auto charge = co_await offload(ctx.io, ctx.shared->sandbox_lane, std::move(look));
  if (!charge) co_return problem(fault::unavailable, rq.request_id, {}, 1);
  if (!*charge) co_return problem(fault::not_found, rq.request_id);
  co_return charge_page(**charge);
}

// -- POST

std::optional<sandbox_action> parse_action(std::string_view text) {
  if (text == "pay") return sandbox_action::pay;
  if (text == "decline") return sandbox_action::decline;
  return std::nullopt;
}

/// Reads `action=pay` as the page's forms send it.
std::optional<response> read_form_action(const request& rq, sandbox_action& action) {
  std::optional<response> no;
  const auto sent = form::read(rq, no);
  if (no) return no;
  const auto parsed = parse_action(sent.find("action"));
  if (!parsed)
    return problem(fault::invalid_field, rq.request_id, {{"action", "invalid", "Must be pay or decline."}});
  action = *parsed;
  return std::nullopt;
}

/// Reads {"action":"pay"}.
std::optional<response> read_json_action(const request& rq, sandbox_action& action) {
  return read_json(rq, body_need::required, [&action](object_reader& body) {
    body.require("action");
    const auto text = body.text("action", {1, 16});
    const auto parsed = parse_action(text.value);
    if (text.given && !parsed) body.reject("action", "Must be pay or decline.");
    action = parsed.value_or(sandbox_action::pay);
  });
}

std::optional<response> read_action(const request& rq, sandbox_action& action) {
  return is_form(rq) ? read_form_action(rq, action) : read_json_action(rq, action);
}

bool wants_json(const request& rq) {
  return rq.field("Accept").find("application/json") != std::string_view::npos;
}

response settled_answer(const context& ctx, const request& rq, const std::string& reference,
                        charge_status status) {
  response answer;
  if (!wants_json(rq)) {
    answer.status = 303;
    answer.content_type = {};
    answer.fields.emplace_back("Location", ctx.options.http.base_path + "/sandbox/pay/" + reference);
    return answer;
  }
  answer.body = "{\"reference\":";
  append_text(answer.body, reference);
  answer.body += ",\"status\":";
  append_text(answer.body, name_of(status));
  answer.body += '}';
  return answer;
}

response settle_answer(const context& ctx, const request& rq, const std::string& reference,
                       const settle_result& result) {
  switch (result.status) {
    case settle_status::settled: return settled_answer(ctx, rq, reference, result.charge);
    case settle_status::unknown_reference: return problem(fault::not_found, rq.request_id);
    case settle_status::settled_otherwise:
      return problem(fault::sandbox_settled, rq.request_id,
                     "It is " + std::string{name_of(result.charge)} + ".");
    case settle_status::unavailable: return problem(fault::unavailable, rq.request_id, {}, 1);
  }
  return problem(fault::internal_error, rq.request_id);
}

awaitable<response> settle_charge(context& ctx, const request& rq, std::string reference) {
  sandbox_action action{};
  if (auto no = read_action(rq, action)) co_return std::move(*no);
  auto settle = [gateway = ctx.shared->sandbox, reference, action] {
    return gateway->settle(reference, action);
  };
  auto result = co_await offload(ctx.io, ctx.shared->sandbox_lane, std::move(settle));
  if (!result) co_return problem(fault::unavailable, rq.request_id, {}, 1);
  co_return settle_answer(ctx, rq, reference, *result);
}

} // namespace

template <charge_step run>
constexpr guarded_handler for_payers = self_guarded_for_anybody<with_reference<run>, address_limit::sandbox>;

std::span<const route> sandbox_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/sandbox/pay/{reference}", for_payers<show_charge>},
    {post, "/sandbox/pay/{reference}", for_payers<settle_charge>},
  };
  return table;
}

} // namespace fq::net
