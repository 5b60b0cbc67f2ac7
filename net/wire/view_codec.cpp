// SPDX-License-Identifier: Apache-2.0
#include "net/wire/view_codec.hpp"

#include "net/wire/json_out.hpp"
#include "net/wire/page.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace fq::net {
namespace {

namespace json = boost::json;

/// The object with one more member, whose value is JSON text.
std::string with_member(std::string object, std::string_view name, std::string_view value) {
  object.pop_back();
  object.append(",\"").append(name).append("\":").append(value);
  return object += '}';
}

} // namespace

std::string claim_text(const claim_view& view) {
  const auto& claim = view.claim;
  json::array items;
  for (std::size_t i = 0; i < claim.items.size(); ++i) {
    const auto type = i < view.item_ids.size() ? view.item_ids[i] : ticket_type_id{};
    items.push_back(json::object{{"ticket_type_id", to_string(type)},
                                 {"quantity", claim.items[i].quantity},
                                 {"unit_price", claim.items[i].unit_price}});
  }
  json::object out{{"claim_id", to_string(claim.id)},
                   {"event_id", to_string(view.event)},
                   {"status", name_of(claim.status)},
                   {"items", std::move(items)},
                   {"fees", fees_of(claim)},
                   {"amount", claim.amount},
                   {"currency", view.currency},
                   {"created_at", time_or_null(claim.created_at)},
                   {"expires_at", time_or_null(claim.expires_at)}};
  if (!view.seats.empty()) {
    out["seats"] = json::array(view.seats.begin(), view.seats.end());
    json::array places;
    for (const auto& place : view.places) places.push_back(place_object(place));
    out["seat_places"] = std::move(places);
  }
  return json::serialize(out);
}

std::string payment_text(const payment_view& view) {
  const auto& payment = view.payment;
  return json::serialize(json::object{{"payment_id", to_string(payment.id)},
                                      {"claim_id", to_string(payment.claim)},
                                      {"event_id", to_string(view.event)},
                                      {"status", name_of(payment.status)},
                                      {"gateway", payment.gateway},
                                      {"reference", payment.reference},
                                      {"authorization_url", text_or_null(payment.authorization_url)},
                                      {"amount", payment.amount},
                                      {"currency", view.currency},
                                      {"refunded_amount", payment.refunded},
                                      {"created_at", time_or_null(payment.created_at)},
                                      {"updated_at", time_or_null(payment.updated_at)}});
}

std::string stats_text(const event_stats& s) {
  return json::serialize(json::object{{"event_id", to_string(s.event)},
                                      {"status", name_of(s.status)},
                                      {"waiting", s.waiting},
                                      {"away", s.away},
                                      {"admitted", s.admitted},
                                      {"joined_total", s.joined_total},
                                      {"admitted_total", s.admitted_total},
                                      {"completed_total", s.completed_total},
                                      {"held", s.held},
                                      {"sold", s.sold},
                                      {"available", s.available},
                                      {"total", s.total},
                                      {"claims_live", s.claims_live},
                                      {"claims_confirmed", s.claims_confirmed},
                                      {"payments_open", s.payments_open},
                                      {"revenue", s.revenue},
                                      {"refunded", s.refunded},
                                      {"last_admission_batch", s.last_admission_batch},
                                      {"admission_rate_per_minute", s.admission_rate_per_minute},
                                      {"arrival_rate_per_minute", s.arrival_rate_per_minute},
                                      {"server_time", time_or_null(s.server_time)}});
}

std::string queue_stats_text(const event_stats& s) {
  return json::serialize(json::object{{"queue_id", to_string(s.event)},
                                      {"status", name_of(s.status)},
                                      {"waiting", s.waiting},
                                      {"away", s.away},
                                      {"active", s.admitted},
                                      {"joined_total", s.joined_total},
                                      {"admitted_total", s.admitted_total},
                                      {"completed_total", s.completed_total},
                                      {"admission_rate_per_minute", s.admission_rate_per_minute},
                                      {"arrival_rate_per_minute", s.arrival_rate_per_minute},
                                      {"server_time", time_or_null(s.server_time)}});
}

std::string audit_text(const std::vector<audit_row>& rows, bool more) {
  std::string out;
  const auto append_row = [&out](const audit_row& r) {
    const json::object entry{
      {"id", to_string(r.id)}, {"at", time_or_null(r.at)},      {"actor", r.actor},
      {"action", r.action},    {"target", to_string(r.target)}, {"reason", text_or_null(r.reason)}};
    // A JSON object as it was sent.
    out += with_member(json::serialize(entry), "detail", r.detail.empty() ? "{}" : r.detail);
  };
  append_page(out, "entries", rows, more, append_row, [](const audit_row& r) { return to_string(r.id); });
  return out;
}

void append_tenant_plan(std::string& out, const seat_plan_row& plan) {
  const auto owner = plan.organizer.is_nil() ? std::string{} : to_string(plan.organizer);
  out += json::serialize(json::object{{"seat_plan_id", to_string(plan.id)},
                                      {"organizer_id", text_or_null(owner)},
                                      {"name", plan.name},
                                      {"created_at", time_or_null(plan.created_at)}});
}

std::string tenant_plans_text(const std::vector<seat_plan_row>& plans, bool more) {
  std::string out;
  append_page(
    out, "seat_plans", plans, more, [&out](const seat_plan_row& plan) { append_tenant_plan(out, plan); },
    [](const seat_plan_row& plan) { return to_string(plan.id); });
  return out;
}

} // namespace fq::net
