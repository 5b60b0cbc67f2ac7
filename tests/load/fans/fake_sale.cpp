// SPDX-License-Identifier: Apache-2.0
// See fake_sale.hpp.
#include "tests/load/fans/fake_sale.hpp"

#include "load/wire/wire.hpp"

#include <boost/json/array.hpp>

#include <algorithm>

namespace fq::load::test {

namespace json = boost::json;

namespace {

fake_sale::reply problem(int status, const std::string& code) {
  return {status, json::object{{"type", "about:blank"}, {"status", status}, {"code", code}}};
}

} // namespace

fake_sale::fake_sale(const sale_options& options, std::string event, std::string url) :
    options_(options), event_(std::move(event)), url_(std::move(url)) {}

fake_sale::reply fake_sale::answer(const std::string& method, const std::string& target,
                                   const std::string& customer, const std::string& body) {
  const auto event_path = "/events/" + event_;
  if (target == event_path) return event();
  if (target == event_path + "/queue" && method == "POST") return join(customer);
  if (target == event_path + "/queue/position") return position(customer);
  if (target == event_path + "/claims") return claim(customer, body);
  if (target.starts_with("/claims/")) return on_claim(customer, method, target.substr(8));
  if (target.starts_with("/payments/")) return payment(target.substr(10));
  if (target.starts_with("/sandbox/pay/")) return gateway(target.substr(13), body);
  return problem(404, "not_found");
}

void fake_sale::tick() {
  expire();
  admit();
}

void fake_sale::expire() {
  const auto now = clock::now();
  for (auto& each : claims_)
    if (each->status == "CLAIMED" && each->until < now && each->payment_status != "PENDING")
      each->status = "RELEASED";
  for (auto& each : places_)
    if (each->status == "ADMITTED" && each->session_until < now && live_claim(each->customer) == nullptr)
      each->status = "SESSION_EXPIRED";
}

std::int64_t fake_sale::units_in(std::initializer_list<std::string_view> states) const {
  std::int64_t out = 0;
  for (const auto& each : claims_)
    out += std::find(states.begin(), states.end(), each->status) != states.end();
  return out;
}

std::int64_t fake_sale::available() const {
  const auto used = units_in({"CLAIMED", "CONFIRMED"});
  return std::max<std::int64_t>(0, options_.stock - used);
}

void fake_sale::admit() {
  if (options_.never_admit || places_.size() < 4) return;
  std::int64_t room = available() + (options_.oversell ? 1 : 0);
  for (const auto& each : places_)
    room -= each->status == "ADMITTED" && live_claim(each->customer) == nullptr;
  std::vector<place*> line;
  for (auto& each : places_)
    if (each->status == "WAITING") line.push_back(each.get());
  const bool long_enough = static_cast<std::int64_t>(line.size()) > 2 * options_.batch_size;
  const bool misbehaves = (options_.overtake || options_.big_batch) && !misbehaved_;
  if (misbehaves && !long_enough) return; // the planted fault needs a line
  room = std::min(room, options_.batch_size * (misbehaves && options_.big_batch ? 2 : 1));
  if (line.empty() || room <= 0) return;
  misbehaved_ |= misbehaves;
  if (misbehaves && options_.overtake) std::reverse(line.begin(), line.end());
  for (auto* each : line) {
    if (room-- <= 0) break;
    each->status = "ADMITTED";
    each->batch = next_batch_;
    each->session_until = clock::now() + std::chrono::milliseconds(options_.session_ms);
  }
  ++next_batch_;
}

fake_sale::place* fake_sale::place_of(const std::string& customer) {
  const auto at = latest_.find(customer);
  return at == latest_.end() ? nullptr : at->second;
}

fake_sale::held_claim* fake_sale::live_claim(const std::string& customer) {
  for (auto& each : claims_)
    if (each->customer == customer && (each->status == "CLAIMED" || each->status == "CONFIRMED"))
      return each.get();
  return nullptr;
}

std::int64_t fake_sale::position_of(const place& mine) const {
  std::int64_t ahead = 0;
  for (const auto& each : places_) ahead += each->status == "WAITING" && each->number < mine.number;
  return ahead + 1;
}

json::object fake_sale::entry_json(const place& mine) const {
  json::object out{{"entry_id", to_string(mine.id)}, {"event_id", event_},        {"status", mine.status},
                   {"queue_number", mine.number},    {"position", nullptr},       {"poll_after_ms", 30},
                   {"admission_token", nullptr},     {"admission_batch", nullptr}};
  if (mine.status == "WAITING") out["position"] = position_of(mine);
  if (mine.batch > 0) out["admission_batch"] = mine.batch;
  if (mine.status == "ADMITTED") out["admission_token"] = to_string(mine.id) + ".secret";
  return out;
}

json::object fake_sale::claim_json(const held_claim& claim) const {
  const json::array items{
    json::object{{"ticket_type_id", to_string(type_)}, {"quantity", 1}, {"unit_price", options_.price}}};
  return {{"claim_id", to_string(claim.id)}, {"event_id", event_}, {"status", claim.status}, {"items", items},
          {"amount", options_.price},        {"currency", "NGN"}};
}

json::object fake_sale::payment_json(const held_claim& claim) const {
  const auto reference = to_string(claim.payment);
  return {{"payment_id", reference},
          {"claim_id", to_string(claim.id)},
          {"status", claim.payment_status},
          {"authorization_url", url_ + "/sandbox/pay/" + reference},
          {"amount", options_.price + (options_.wrong_amount ? 1 : 0)},
          {"refunded_amount", 0},
          {"currency", "NGN"}};
}

fake_sale::reply fake_sale::event() const {
  const auto free = available();
  const auto held = units_in({"CLAIMED"});
  const auto confirmed = units_in({"CONFIRMED"});
  const json::array types{json::object{{"id", to_string(type_)},
                                       {"name", "Standard"},
                                       {"price", options_.price},
                                       {"total", options_.stock},
                                       {"available", free}}};
  const json::object shown{
    {"id", event_},
    {"name", "Fake <sale>"},
    {"status", "ACTIVE"},
    {"currency", "NGN"},
    {"ticket_types", types},
    {"available", free},
    {"sold_out", free == 0 && held == 0 && (!options_.oversell || confirmed > options_.stock)},
    {"queue",
     {{"policy", "batch"}, {"batch_size", options_.batch_size}, {"admission_interval_ms", options_.tick_ms}}},
    {"claims_per_customer", 1}};
  return {200, shown};
}

fake_sale::reply fake_sale::join(const std::string& customer) {
  auto* mine = place_of(customer);
  if (mine != nullptr && (mine->status == "WAITING" || mine->status == "ADMITTED"))
    return {200, entry_json(*mine)};
  auto fresh = std::make_unique<place>();
  fresh->customer = customer;
  fresh->number = next_number_++;
  fresh->id = uuid{1, static_cast<std::uint64_t>(fresh->number)};
  mine = fresh.get();
  latest_[customer] = mine;
  places_.push_back(std::move(fresh));
  return {201, entry_json(*mine)};
}

fake_sale::reply fake_sale::position(const std::string& customer) {
  auto* mine = place_of(customer);
  if (mine == nullptr) return problem(404, "not_in_queue");
  if (options_.forget_place && !forgot_ && mine->status == "WAITING") {
    forgot_ = true;
    return problem(404, "not_in_queue");
  }
  return {200, entry_json(*mine)};
}

fake_sale::reply fake_sale::claim(const std::string& customer, const std::string& body) {
  auto* mine = place_of(customer);
  const auto token = text_member(parse_object(body), "admission_token");
  if (mine == nullptr || mine->status != "ADMITTED" || token != to_string(mine->id) + ".secret")
    return problem(403, "not_admitted");
  if (auto* live = live_claim(customer)) {
    auto refused = problem(409, "already_claimed");
    refused.body.as_object()["claim_id"] = to_string(live->id);
    return refused;
  }
  const bool one_too_many = options_.oversell && units_in({"CONFIRMED"}) == options_.stock;
  if (available() == 0 && !one_too_many)
    return units_in({"CLAIMED"}) > 0 ? problem(409, "none_free") : problem(410, "event_sold_out");
  auto fresh = std::make_unique<held_claim>();
  fresh->id = uuid{2, claims_.size() + 1};
  fresh->payment = uuid{3, claims_.size() + 1};
  fresh->customer = customer;
  fresh->until = clock::now() + std::chrono::milliseconds(options_.claim_ms);
  claims_.push_back(std::move(fresh));
  return {201, claim_json(*claims_.back())};
}

fake_sale::reply fake_sale::on_claim(const std::string& customer, const std::string& method,
                                     const std::string& rest) {
  for (auto& each : claims_) {
    if (!rest.starts_with(to_string(each->id)) || each->customer != customer) continue;
    if (rest.ends_with("/payments")) {
      if (each->status != "CLAIMED") return problem(409, "claim_not_payable");
      each->payment_status = "PENDING";
      return {201, payment_json(*each)};
    }
    if (method == "DELETE") {
      each->status = "RELEASED";
      return {204, nullptr};
    }
    return {200, claim_json(*each)};
  }
  return problem(404, "not_found");
}

fake_sale::reply fake_sale::payment(const std::string& id) const {
  for (auto& each : claims_)
    if (to_string(each->payment) == id) return {200, payment_json(*each)};
  return problem(404, "not_found");
}

fake_sale::reply fake_sale::gateway(const std::string& id, const std::string& body) {
  const bool pays = text_member(parse_object(body), "action") == "pay";
  for (auto& each : claims_) {
    if (to_string(each->payment) != id) continue;
    if (each->payment_status == "PENDING") {
      each->payment_status = pays ? "CONFIRMED" : "FAILED";
      const bool kept = pays && options_.keep_money && !misbehaved_ && units_in({"CONFIRMED"}) == 3;
      misbehaved_ |= kept;
      if (kept)
        each->status = "RELEASED";
      else if (pays)
        confirm(*each);
    }
    return {200, json::object{{"reference", id}, {"status", pays ? "paid" : "declined"}}};
  }
  return problem(404, "not_found");
}

void fake_sale::confirm(held_claim& claim) {
  claim.status = "CONFIRMED";
  if (auto* mine = place_of(claim.customer)) mine->status = "COMPLETED";
}

} // namespace fq::load::test
