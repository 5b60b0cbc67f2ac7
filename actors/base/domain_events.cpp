// SPDX-License-Identifier: Apache-2.0
#include "actors/base/domain_events.hpp"

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace fq {
namespace {

constexpr std::size_t members_usual = 10; ///< of a payload

std::string_view subject_name(std::string_view topic) {
  if (topic.starts_with("queue.")) return "entry_id";
  if (topic.starts_with("payment.")) return "payment_id";
  return "claim_id";
}

bool has_amount(std::string_view topic) {
  return topic.starts_with("order.") || topic.starts_with("payment.") || topic.starts_with("loyalty.");
}

void add_items(boost::json::array& to, const domain_event& told, std::span<const ticket_type_row> types) {
  for (const auto& i : told.items)
    to.push_back({{"ticket_type_id", to_string(types[i.ticket_type].id)}, {"quantity", i.quantity}});
}

void add_ids(boost::json::array& to, const std::vector<event_ticket_id>& tickets) {
  for (const auto& id : tickets) to.push_back(boost::json::value(to_string(id)));
}

} // namespace

std::string payload_of(const domain_event& told, const event_row& event,
                       std::span<const ticket_type_row> types) {
  boost::json::monotonic_resource memory; // of all parts, freed at once
  boost::json::object payload{&memory};
  payload.reserve(members_usual);
  payload["event_id"] = to_string(event.id);
  if (!told.subject.is_nil() && told.subject != event.id)
    payload[subject_name(told.topic)] = to_string(told.subject);
  if (!told.claim.is_nil()) payload["claim_id"] = to_string(told.claim);
  if (!told.entry.is_nil()) payload["entry_id"] = to_string(told.entry);
  if (!told.order.is_nil()) payload["order_id"] = to_string(told.order);
  if (!told.customer.is_nil()) payload["customer_id"] = to_string(told.customer);
  if (!told.giver.is_nil()) payload["from_customer_id"] = to_string(told.giver);
  if (has_amount(told.topic)) {
    payload["amount"] = told.amount;
    payload["currency"] = event.currency;
  }
  if (is_set(told.until))
    payload[told.topic == topic::quota_invitation ? "valid_until" : "session_expires_at"] =
      unix_ms(told.until);
  if (is_set(told.claim_by)) payload["claim_by"] = unix_ms(told.claim_by);
  if (!told.items.empty()) add_items(payload["items"].emplace_array(), told, types);
  if (told.topic.starts_with("ticket."))
    add_ids(payload["event_ticket_ids"].emplace_array(), told.event_tickets);
  if (!told.what.empty()) payload[told.topic == topic::order_failed ? "failure" : "what"] = told.what;
  if (told.points > 0) payload["points"] = told.points;
  return boost::json::serialize(payload);
}

domain_event invitation_event_of(const invitation_row& invitation) {
  domain_event told{topic::quota_invitation, {}, invitation.customer, {}, 0, invitation.valid_until};
  told.items = {{invitation.ticket_type, invitation.quantity}};
  return told;
}

std::string block_payload_of(const block_effect& effect, const event_row& event) {
  return boost::json::serialize(boost::json::object{{"event_id", to_string(event.id)},
                                                    {"customer_id", to_string(effect.customer)},
                                                    {"place_ended", effect.had_place},
                                                    {"claims_released", effect.claims},
                                                    {"orders_refunded", effect.refunds}});
}

std::string user_payload_of(const customer_row& customer) {
  if (customer.email == erased_address(customer.id))
    return boost::json::serialize(boost::json::object{{"customer_id", to_string(customer.id)},
                                                      {"email", nullptr},
                                                      {"email_verified", false},
                                                      {"erased", true}});
  return boost::json::serialize(boost::json::object{{"customer_id", to_string(customer.id)},
                                                    {"email", customer.email},
                                                    {"email_verified", true},
                                                    {"language", tag_of(customer.language)}});
}

} // namespace fq
