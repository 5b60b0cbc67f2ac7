// SPDX-License-Identifier: Apache-2.0
// See fake_shop.hpp.
#include "tests/load/fans/fake_shop.hpp"

#include "load/wire/wire.hpp"

#include <boost/json/array.hpp>

#include <algorithm>

namespace fq::load::test {

namespace json = boost::json;

namespace {

constexpr std::size_t types_count = 3;
constexpr std::int64_t platform_fee = 150;

uuid type_id(std::size_t type) { return {4, type + 1}; }

fake_shop::reply problem(int status, const std::string& code) {
  return {status, json::object{{"type", "about:blank"}, {"status", status}, {"code", code}}};
}

bool holds(const std::string& status) {
  return status == "pending" || status == "awaiting_payment" || status == "success";
}

} // namespace

fake_shop::fake_shop(shop_options options, std::string event, std::string url) :
    options_(options), event_(std::move(event)), url_(std::move(url)) {}

bool fake_shop::misbehaves(shop_fault fault) {
  if (options_.fault != fault || misbehaved_) return false;
  misbehaved_ = true;
  return true;
}

std::int64_t fake_shop::price(std::size_t type) const { return 1000 * static_cast<std::int64_t>(type + 1); }

std::int64_t fake_shop::free(std::size_t type) const {
  std::int64_t out = options_.stock;
  for (const auto& each : orders_)
    if (holds(each.status))
      for (const auto& item : each.items) out -= item.type == type ? item.quantity : 0;
  return out;
}

std::int64_t fake_shop::uses() const {
  return std::count_if(orders_.begin(), orders_.end(),
                       [](const order& each) { return !each.promo.empty() && holds(each.status); });
}

std::int64_t fake_shop::units(bool sold) const {
  std::int64_t out = 0;
  for (const auto& each : orders_)
    if (holds(each.status) && (each.status == "success") == sold)
      for (const auto& item : each.items) out += item.quantity;
  return out;
}

void fake_shop::expire() {
  for (auto& each : orders_)
    if ((each.status == "pending" || each.status == "awaiting_payment") && each.until < clock::now()) {
      each.status = "failed";
      each.payment_status = "FAILED";
    }
}

void fake_shop::refresh(order& which) const {
  if (which.status == "pending" && which.page_at < clock::now()) which.status = "awaiting_payment";
}

std::optional<fake_shop::reply> fake_shop::answer(const std::string& method, const std::string& target,
                                                  const std::string& customer, const std::string& body) {
  const auto of_event = "/events/" + event_;
  if (target == of_event) return event();
  if (target.starts_with(of_event + "/")) return books(target.substr(of_event.size() + 1));
  if (target == "/checkout") return check_out(customer, body);
  for (auto& each : orders_) {
    refresh(each);
    const auto of_order = "/orders/" + to_string(each.id);
    if (target.starts_with(of_order) && each.customer == customer)
      return on_order(each, method, target.substr(of_order.size()));
    if (target == "/payments/" + to_string(each.payment)) return reply{200, payment_json(each)};
    if (target == "/claims/" + to_string(each.claim) + "/payments") {
      if (each.payment_status != "FAILED" || each.status != "awaiting_payment")
        return problem(409, "claim_not_payable");
      each.payment = {3, each.payment.low + 1000};
      each.payment_status = "PENDING";
      return reply{201, payment_json(each)};
    }
  }
  if (target.starts_with("/sandbox/pay/")) return pay(target.substr(13), body);
  return problem(404, "not_found");
}

fake_shop::reply fake_shop::event() const {
  json::array types;
  std::int64_t available = 0;
  for (std::size_t type = 0; type < types_count; ++type) {
    const auto left = std::max<std::int64_t>(0, free(type));
    available += left;
    types.push_back(json::object{{"id", to_string(type_id(type))},
                                 {"name", "Type " + std::to_string(type)},
                                 {"price", price(type)},
                                 {"total", options_.stock},
                                 {"max_per_order", 2},
                                 {"available", left}});
  }
  const bool sold_out = available == 0 && units(false) == 0;
  return {200, json::object{{"id", event_},
                            {"name", "Fake shop"},
                            {"status", "ACTIVE"},
                            {"currency", "EUR"},
                            {"ticket_types", types},
                            {"available", available},
                            {"sold_out", sold_out},
                            {"queue", {{"policy", "open"}}},
                            {"claims_per_customer", 1}}};
}

fake_shop::reply fake_shop::check_out(const std::string& customer, const std::string& body) {
  const auto wish = parse_object(body);
  order fresh;
  fresh.promo = text_member(wish, "promo_code");
  if (!fresh.promo.empty() && uses() >= options_.promo_uses && options_.fault != shop_fault::overuses_code)
    return problem(409, "promo_code_exhausted");
  for (const auto& each : wish.at("items").as_array()) {
    item wanted;
    for (std::size_t type = 0; type < types_count; ++type)
      if (text_member(each, "ticket_type_id") == to_string(type_id(type))) wanted.type = type;
    wanted.quantity = whole_member(each, "quantity", 1);
    wanted.donation = whole_member(each, "donation", 0);
    wanted.unit_discount = fresh.promo.empty() ? 0 : 100;
    const auto missing = wanted.quantity - free(wanted.type);
    if (missing > 1 || (missing == 1 && options_.fault != shop_fault::oversells))
      return units(false) == 0 && free(0) <= 0 && free(1) <= 0 && free(2) <= 0
               ? problem(410, "event_sold_out")
               : problem(409, "none_free");
    fresh.items.push_back(wanted);
  }
  if (free(fresh.items.front().type) > fresh.items.front().quantity && misbehaves(shop_fault::other_tickets))
    ++fresh.items.front().quantity;
  const auto number = static_cast<std::uint64_t>(orders_.size() + 1);
  fresh.id = {6, number};
  fresh.claim = {2, number};
  fresh.payment = {3, number};
  fresh.customer = customer;
  fresh.email = text_member(wish.at("contact"), "email");
  fresh.page_at = clock::now() + std::chrono::milliseconds(20);
  fresh.until = clock::now() + std::chrono::milliseconds(options_.order_ms);
  orders_.push_back(std::move(fresh));
  auto told = status_json(orders_.back());
  told["status"] = "processing";
  return {202, told};
}

fake_shop::reply fake_shop::on_order(order& which, const std::string& method, const std::string& rest) {
  if (options_.fault == shop_fault::forgets && which.status == "success" && which.id.low % 2 == 0)
    return problem(404, "not_found");
  if (method == "DELETE") {
    if (which.status == "pending" || which.status == "awaiting_payment") {
      which.status = "cancelled";
      which.payment_status = "FAILED";
    } else if (which.status != "cancelled") {
      return problem(409, "invalid_transition");
    }
    return {200, status_json(which)};
  }
  return {200, rest == "/status" ? status_json(which) : order_json(which)};
}

fake_shop::reply fake_shop::pay(const std::string& payment, const std::string& body) {
  for (auto& each : orders_) {
    if (to_string(each.payment) != payment) continue;
    const bool pays = text_member(parse_object(body), "action") == "pay";
    if (each.payment_status == (pays ? "CONFIRMED" : "FAILED") && each.status != "cancelled")
      return {200, json::object{{"reference", payment},
                                {"status", pays ? "paid" : "declined"}}}; // a repeat gets the same answer
    if (each.payment_status != "PENDING") return problem(409, "sandbox_settled");
    each.payment_status = pays ? "CONFIRMED" : "FAILED";
    if (pays && misbehaves(shop_fault::keeps_money))
      each.status = "failed";
    else if (pays || misbehaves(shop_fault::gives_away))
      each.status = "success";
    return {200, json::object{{"reference", payment}, {"status", pays ? "paid" : "declined"}}};
  }
  return problem(404, "not_found");
}

fake_shop::reply fake_shop::books(const std::string& what) {
  if (what == "stats") return {200, json::object{{"sold", units(true)}, {"held", units(false)}}};
  if (what == "promo-codes") {
    const auto missing = options_.fault == shop_fault::forgets_a_use ? 1 : 0;
    const json::array codes{
      json::object{{"code", "HALF"}, {"uses_max", options_.promo_uses}, {"uses", uses() - missing}}};
    return {200, json::object{{"items", codes}, {"next_cursor", nullptr}}};
  }
  // Pages of 20 rows, so that several are read.
  const auto cursor = what.find("&cursor=");
  const auto from = cursor == std::string::npos ? std::size_t{0} : std::stoul(what.substr(cursor + 8));
  json::array rows;
  for (auto i = from; i < std::min(orders_.size(), from + 20); ++i) {
    if (options_.fault == shop_fault::forgets && orders_[i].status == "success" && orders_[i].id.low % 2 == 0)
      continue;
    rows.push_back(order_json(orders_[i]));
    if (options_.fault == shop_fault::takes_back && orders_[i].status == "success"
        && orders_[i].id.low % 2 == 0)
      rows.back().as_object()["status"] = "failed";
  }
  if (options_.fault == shop_fault::invents && from == 0 && !orders_.empty()) {
    rows.push_back(order_json(orders_.front()));
    rows.back().as_object()["order_id"] = to_string(uuid{6, 999});
    rows.back().as_object()["claim_id"] = to_string(uuid{2, 999});
    rows.back().as_object()["status"] = "failed";
    rows.back().as_object()["payment_status"] = "FAILED";
  }
  const auto next =
    from + 20 < orders_.size() ? json::value(std::to_string(from + 20)) : json::value(nullptr);
  return {200, json::object{{"items", rows}, {"next_cursor", next}}};
}

json::object fake_shop::status_json(const order& which) const {
  json::object out{{"order_id", to_string(which.id)},
                   {"event_id", event_},
                   {"status", which.status},
                   {"payment_url", nullptr},
                   {"payments_url", nullptr},
                   {"can_retry", false},
                   {"poll_after_ms", 30}};
  if (which.status == "awaiting_payment") {
    out["payments_url"] = "/claims/" + to_string(which.claim) + "/payments";
    out["can_retry"] = which.payment_status == "FAILED";
    if (which.payment_status == "PENDING")
      out["payment_url"] = url_ + "/sandbox/pay/" + to_string(which.payment);
  }
  return out;
}

std::int64_t fake_shop::total(const order& which) const {
  std::int64_t out = platform_fee + 30;
  for (const auto& each : which.items)
    out += each.quantity * (price(each.type) - each.unit_discount + each.donation);
  return out;
}

json::object fake_shop::order_json(const order& which) const {
  json::array items;
  std::int64_t subtotal = 0, discount = 0, donations = 0;
  for (const auto& each : which.items) {
    const auto unit_price = price(each.type) + (options_.fault == shop_fault::other_price ? 1 : 0);
    subtotal += each.quantity * unit_price;
    discount += each.quantity * each.unit_discount;
    donations += each.quantity * each.donation;
    items.push_back(json::object{{"ticket_type_id", to_string(type_id(each.type))},
                                 {"quantity", each.quantity},
                                 {"unit_price", unit_price},
                                 {"unit_discount", each.unit_discount},
                                 {"donation", each.donation},
                                 {"refunded_quantity", 0}});
  }
  const auto parts = subtotal - discount + donations + platform_fee + 30;
  auto out = status_json(which);
  out["claim_id"] = to_string(which.claim);
  out["contact"] = {{"email", which.email}};
  out["items"] = std::move(items);
  out["subtotal"] = subtotal;
  out["discount"] = discount;
  out["donations"] = donations;
  out["platform_fee"] = platform_fee;
  out["processing_fee"] = 30;
  out["total"] = parts + (options_.fault == shop_fault::miscounts ? 1 : 0);
  out["currency"] = "EUR";
  out["promo_code"] = which.promo.empty() ? json::value(nullptr) : json::value(which.promo);
  out["refunded_amount"] = 0;
  out["payment_id"] = to_string(which.payment);
  out["payment_status"] = which.payment_status;
  return out;
}

json::object fake_shop::payment_json(const order& which) const {
  return {{"payment_id", to_string(which.payment)},
          {"claim_id", to_string(which.claim)},
          {"status", which.payment_status},
          {"authorization_url", url_ + "/sandbox/pay/" + to_string(which.payment)},
          {"amount", total(which)},
          {"refunded_amount", 0},
          {"currency", "EUR"}};
}

} // namespace fq::load::test
