// SPDX-License-Identifier: Apache-2.0
#include "actors/domain_events.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace fq {
namespace {

std::string_view subject_name(std::string_view topic) {
  if (topic.starts_with("queue.")) return "entry_id";
  if (topic.starts_with("payment.")) return "payment_id";
  return "claim_id";
}

bool has_amount(std::string_view topic) {
  return topic.starts_with("order.") || topic.starts_with("payment.");
}

} // namespace

std::string payload_of(const domain_event& told, const event_row& event) {
  boost::json::object payload{{"event_id", to_string(event.id)}};
  if (told.subject != event.id) payload[subject_name(told.topic)] = to_string(told.subject);
  if (!told.order.is_nil()) payload["order_id"] = to_string(told.order);
  if (!told.customer.is_nil()) payload["customer_id"] = to_string(told.customer);
  if (has_amount(told.topic)) {
    payload["amount"] = told.amount;
    payload["currency"] = event.currency;
  }
  if (is_set(told.until)) payload["session_expires_at"] = told.until.time_since_epoch().count();
  return boost::json::serialize(payload);
}

} // namespace fq
