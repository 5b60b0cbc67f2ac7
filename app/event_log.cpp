// SPDX-License-Identifier: Apache-2.0
#include "app/event_log.hpp"

#include "app/log.hpp"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

namespace fq {
namespace {

/// Names for the log, such as "checkout.started", that a shop's operators watch.
std::string_view checkout_name(std::string_view topic) {
  if (topic == topic::order_placed) return "checkout.started";
  if (topic == topic::order_completed) return "checkout.completed";
  if (topic == topic::order_failed || topic == topic::order_cancelled) return "checkout.failed";
  return {};
}

std::string text_in(const boost::json::object& data, std::string_view name) {
  const auto* value = data.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

/// A claim without an order has the claim's id alone. `duration`: seconds since the order or claim was made.
void log_checkout(std::string_view name, const outbox_item& item) {
  boost::json::monotonic_resource memory; // of all parts, freed at once
  boost::system::error_code error;
  const auto parsed = boost::json::parse(item.row.payload, error, &memory);
  if (error || !parsed.is_object()) return;
  const auto& data = parsed.get_object();
  const auto order = text_in(data, "order_id"), claim = text_in(data, "claim_id");
  const auto made = parse_uuid(order.empty() ? claim : order);
  const double duration =
    made ? static_cast<double>((item.row.created_at - time_of(*made)).count()) / 1'000 : 0;
  const bool is_cancelled = item.row.topic == topic::order_cancelled;
  const auto why = is_cancelled ? std::string{"cancelled"} : text_in(data, "failure");
  if (item.row.topic == topic::order_failed || is_cancelled)
    log::warn(name, {{"order_id", order}, {"claim_id", claim}, {"duration", duration}, {"error", why}});
  else
    log::info(name, {{"order_id", order}, {"claim_id", claim}, {"duration", duration}});
}

} // namespace

void log_event(const outbox_item& item) {
  if (const auto name = checkout_name(item.row.topic); !name.empty()) log_checkout(name, item);
  log::debug("domain event", {{"id", to_string(item.row.id)},
                              {"topic", item.row.topic},
                              {"aggregate", std::to_string(number_of(item.key.aggregate))},
                              {"seq", std::to_string(item.key.seq)}});
}

void log_bus(const outbox_item& item, bus_outcome outcome, const std::string& why) {
  const auto id = to_string(item.row.id), aggregate = std::to_string(number_of(item.key.aggregate));
  switch (outcome) {
    case bus_outcome::published:
      return log::info("PUBLISHED", {{"id", id}, {"topic", item.row.topic}, {"aggregate", aggregate}});
    case bus_outcome::publish_failed:
      return log::warn("PUBLISH_FAILED",
                       {{"id", id}, {"topic", item.row.topic}, {"aggregate", aggregate}, {"why", why}});
    case bus_outcome::given_up:
      return log::error("PUBLISH_FAILED for good",
                        {{"id", id}, {"topic", item.row.topic}, {"aggregate", aggregate}, {"why", why}});
  }
}

void log_cache(const std::string& why) {
  if (why.empty()) return log::info("the cache is in use again");
  log::warn("the cache is away; the sale continues without it", {{"why", why}});
}

} // namespace fq
