// SPDX-License-Identifier: Apache-2.0
#include "load/report/report_orders.hpp"

namespace fq::load {

namespace json = boost::json;

std::string checkouts_text(const crowd_result& result, const judgement& judged) {
  if (result.checkouts.empty()) return {};
  std::string out = "checkouts  ";
  for (const auto& [answer, count] : result.checkouts) out += answer + " " + std::to_string(count) + "  ";
  out += "\norders     ";
  for (std::size_t i = 0; i < order_status_count; ++i)
    if (judged.orders.by_status[i] > 0)
      out += std::string(name_of(static_cast<order_status>(i))) + " "
             + std::to_string(judged.orders.by_status[i]) + "  ";
  return out + "\n";
}

json::object checkouts_json(const crowd_result& result) {
  json::object out;
  for (const auto& [answer, count] : result.checkouts) out[answer] = count;
  return out;
}

json::object orders_json(const judgement& judged) {
  json::object out;
  for (std::size_t i = 0; i < order_status_count; ++i)
    out[name_of(static_cast<order_status>(i))] = judged.orders.by_status[i];
  out["bought_units"] = judged.orders.bought_units;
  out["gateway_paid"] = judged.orders.gateway_paid;
  out["bought_value"] = judged.orders.bought_value;
  out["refunds"] = judged.orders.refunds;
  out["in_flight"] = judged.orders.in_flight;
  return out;
}

} // namespace fq::load
