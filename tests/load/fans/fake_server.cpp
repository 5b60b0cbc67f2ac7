// SPDX-License-Identifier: Apache-2.0
// See fake_server.hpp. The customer is the bearer token itself; everything else follows the contract.
#include "tests/load/fans/fake_server.hpp"

#include "load/base/uuid.hpp"
#include "load/wire/wire.hpp"
#include "load/wire/ws_frames.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace fq::load::test {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::ip::tcp;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
using clock = std::chrono::steady_clock;

namespace {

struct place {
  std::string customer;
  uuid id;
  std::int64_t number = 0;
  std::string status = "WAITING";
  std::int64_t batch = 0;
  clock::time_point session_until;
};

struct held_claim {
  uuid id;
  std::string customer;
  std::string status = "CLAIMED";
  clock::time_point until;
  uuid payment;
  std::string payment_status;
};

struct request {
  std::string method;
  std::string target;
  std::map<std::string, std::string> fields;
  std::string body;
};

struct response {
  int status = 200;
  json::value body;
  bool replayed = false;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool parse_request(std::string& inbox, request& out) {
  const auto end = inbox.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  out = request{};
  const auto line_end = inbox.find("\r\n");
  const auto first = inbox.substr(0, line_end);
  const auto space = first.find(' ');
  out.method = first.substr(0, space);
  out.target = first.substr(space + 1, first.rfind(' ') - space - 1);
  for (auto at = line_end + 2; at < end;) {
    const auto stop = inbox.find("\r\n", at);
    const auto line = inbox.substr(at, stop - at);
    const auto colon = line.find(": ");
    out.fields[lower(line.substr(0, colon))] = line.substr(colon + 2);
    at = stop + 2;
  }
  const auto length = out.fields.count("content-length") ? std::stoul(out.fields["content-length"]) : 0;
  if (inbox.size() < end + 4 + length) return false;
  out.body = inbox.substr(end + 4, length);
  inbox.erase(0, end + 4 + length);
  return true;
}

response problem(int status, const std::string& code) {
  return {status, json::object{{"type", "about:blank"}, {"status", status}, {"code", code}}, false};
}

} // namespace

class fake_server::work {
public:
  explicit work(fake_options options) : options_(options), acceptor_(context_), tick_(context_) {
    listen(0);
    port_ = acceptor_.local_endpoint().port();
    shop_ = std::make_unique<fake_shop>(options_.shop, event_id(), url());
    asio::co_spawn(context_, accept_all(), asio::detached);
    asio::co_spawn(context_, tick_all(), asio::detached);
    thread_ = std::thread([this] { context_.run(); });
  }

  ~work() {
    context_.stop();
    thread_.join();
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

private:
  void listen(std::uint16_t port) {
    const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
    acceptor_.open(here.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(here);
    acceptor_.listen();
  }

  asio::awaitable<void> accept_all() {
    while (acceptor_.is_open()) {
      auto [failed, socket] = co_await acceptor_.async_accept(as_result);
      if (failed) co_return;
      auto shared = std::make_shared<tcp::socket>(std::move(socket));
      open_.insert(shared);
      asio::co_spawn(context_, serve(shared), asio::detached);
    }
  }

  asio::awaitable<void> serve(std::shared_ptr<tcp::socket> socket) {
    std::string inbox;
    std::vector<char> buffer(4096);
    for (;;) {
      request got;
      while (!parse_request(inbox, got)) {
        auto [failed, size] = co_await socket->async_read_some(asio::buffer(buffer), as_result);
        if (failed) {
          open_.erase(socket);
          co_return;
        }
        inbox.append(buffer.data(), size);
      }
      if (got.fields.count("upgrade") != 0) {
        co_await push(socket, got);
        break;
      }
      ++requests_;
      const bool busy = options_.busy_every > 0 && requests_ % options_.busy_every == 0;
      const auto reply = busy ? problem(503, "overloaded") : idempotent(got);
      // applied, but the answer is lost
      if (!busy && options_.drop_every > 0 && requests_ % options_.drop_every == 0) break;
      const auto text = encode(reply);
      auto [failed, size] = co_await asio::async_write(*socket, asio::buffer(text), as_result);
      if (failed) break;
    }
    boost::system::error_code ignored;
    socket->close(ignored);
    open_.erase(socket);
  }

  static std::string encode(const response& reply) {
    const auto body = reply.status == 204 ? std::string() : json::serialize(reply.body);
    std::string text = "HTTP/1.1 " + std::to_string(reply.status)
                       + " Said\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    if (reply.status == 503) text += "Retry-After: 0\r\n";
    if (reply.replayed) text += "Idempotency-Replayed: true\r\n";
    return text + "\r\n" + body;
  }

  // One socket: sends the state, then changes, until the place is no longer waiting.
  asio::awaitable<void> push(std::shared_ptr<tcp::socket> socket, request got) {
    const auto& protocols = got.fields["sec-websocket-protocol"];
    const auto customer = protocols.substr(protocols.find(", ") + 2);
    auto* mine = place_of(customer);
    if (mine == nullptr) {
      const auto text = encode(problem(404, "not_in_queue"));
      co_await asio::async_write(*socket, asio::buffer(text), as_result);
      co_return;
    }
    std::string text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: "
                       + websocket_accept(got.fields["sec-websocket-key"])
                       + "\r\nSec-WebSocket-Protocol: fairqueue.v1\r\n\r\n";
    text += frame(json::object{{"type", "state"}, {"entry", entry_json(*mine)}, {"sold_out", false}});
    text += std::string("\x89\x02hi", 4); // a ping: the client must answer it
    std::int64_t last_position = position_of(*mine);
    asio::steady_timer timer(context_);
    for (;;) {
      auto [failed, size] = co_await asio::async_write(*socket, asio::buffer(text), as_result);
      if (failed || mine->status != "WAITING") co_return;
      text.clear();
      timer.expires_after(std::chrono::milliseconds(10));
      co_await timer.async_wait(as_result);
      if (!socket->is_open()) co_return;
      if (mine->status == "ADMITTED") {
        auto event = entry_json(*mine);
        event["type"] = "admitted";
        text = frame(event);
      } else if (position_of(*mine) != last_position) {
        last_position = position_of(*mine);
        text = frame(json::object{{"type", "position_changed"}, {"position", last_position}});
      }
    }
  }

  static std::string frame(const json::object& event) {
    const auto payload = json::serialize(event);
    std::string out("\x81");
    if (payload.size() < 126) {
      out += static_cast<char>(payload.size());
    } else {
      out += static_cast<char>(126);
      out += static_cast<char>(payload.size() >> 8);
      out += static_cast<char>(payload.size() & 0xFF);
    }
    return out + payload;
  }

  // ---- the sale -----------------------------------------------------------------------------------------

  asio::awaitable<void> tick_all() {
    const auto began = clock::now();
    bool outage_done = options_.outage_after_ms == 0;
    for (;;) {
      tick_.expires_after(std::chrono::milliseconds(options_.tick_ms));
      co_await tick_.async_wait(as_result);
      if (!outage_done && clock::now() > began + std::chrono::milliseconds(options_.outage_after_ms)) {
        outage_done = true;
        acceptor_.close();
        for (const auto& each : open_) each->close();
        tick_.expires_after(std::chrono::milliseconds(options_.outage_ms));
        co_await tick_.async_wait(as_result);
        listen(port_);
        asio::co_spawn(context_, accept_all(), asio::detached);
      }
      if (options_.shop.is_used) {
        shop_->expire();
        continue;
      }
      expire();
      admit();
    }
  }

  void expire() {
    const auto now = clock::now();
    for (auto& each : claims_)
      if (each->status == "CLAIMED" && each->until < now && each->payment_status != "PENDING")
        each->status = "RELEASED";
    for (auto& each : places_)
      if (each->status == "ADMITTED" && each->session_until < now && live_claim(each->customer) == nullptr)
        each->status = "SESSION_EXPIRED";
  }

  [[nodiscard]] std::int64_t units_in(std::initializer_list<std::string_view> states) const {
    std::int64_t out = 0;
    for (const auto& each : claims_)
      out += std::find(states.begin(), states.end(), each->status) != states.end();
    return out;
  }

  [[nodiscard]] std::int64_t available() const {
    const auto used = units_in({"CLAIMED", "CONFIRMED"});
    return std::max<std::int64_t>(0, options_.stock - used);
  }

  void admit() {
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

  place* place_of(const std::string& customer) {
    const auto at = latest_.find(customer);
    return at == latest_.end() ? nullptr : at->second;
  }

  held_claim* live_claim(const std::string& customer) {
    for (auto& each : claims_)
      if (each->customer == customer && (each->status == "CLAIMED" || each->status == "CONFIRMED"))
        return each.get();
    return nullptr;
  }

  std::int64_t position_of(const place& mine) {
    std::int64_t ahead = 0;
    for (const auto& each : places_) ahead += each->status == "WAITING" && each->number < mine.number;
    return ahead + 1;
  }

  json::object entry_json(const place& mine) {
    json::object out{{"entry_id", to_string(mine.id)}, {"event_id", event_id()},    {"status", mine.status},
                     {"queue_number", mine.number},    {"position", nullptr},       {"poll_after_ms", 30},
                     {"admission_token", nullptr},     {"admission_batch", nullptr}};
    if (mine.status == "WAITING") out["position"] = position_of(mine);
    if (mine.batch > 0) out["admission_batch"] = mine.batch;
    if (mine.status == "ADMITTED") out["admission_token"] = to_string(mine.id) + ".secret";
    return out;
  }

  json::object claim_json(const held_claim& claim) {
    const json::array items{
      json::object{{"ticket_type_id", to_string(type_)}, {"quantity", 1}, {"unit_price", options_.price}}};
    return {{"claim_id", to_string(claim.id)}, {"event_id", event_id()},
            {"status", claim.status},          {"items", items},
            {"amount", options_.price},        {"currency", "NGN"}};
  }

  json::object payment_json(const held_claim& claim) {
    const auto reference = to_string(claim.payment);
    return {{"payment_id", reference},
            {"claim_id", to_string(claim.id)},
            {"status", claim.payment_status},
            {"authorization_url", url() + "/sandbox/pay/" + reference},
            {"amount", options_.price + (options_.wrong_amount ? 1 : 0)},
            {"refunded_amount", 0},
            {"currency", "NGN"}};
  }

  response idempotent(const request& got) {
    const auto key = got.fields.find("idempotency-key");
    if (key == got.fields.end()) return answer(got);
    const auto scope = got.fields.at("authorization") + got.target + key->second;
    if (const auto at = answers_.find(scope); at != answers_.end()) {
      auto again = at->second;
      again.replayed = true;
      return again;
    }
    return answers_[scope] = answer(got);
  }

  response answer(const request& got) {
    const auto bearer = got.fields.find("authorization");
    const auto customer = bearer == got.fields.end() ? std::string() : bearer->second.substr(7);
    if (options_.shop.is_used) {
      auto said = shop_->answer(got.method, got.target, customer, got.body);
      if (said) return {said->status, std::move(said->body), false};
    }
    const auto event = "/events/" + event_id();
    if (got.target == event) return {200, event_json(), false};
    if (got.target == event + "/queue" && got.method == "POST") return join(customer);
    if (got.target == event + "/queue/position") return position(customer);
    if (got.target == event + "/claims") return claim(customer, got);
    if (got.target.starts_with("/claims/")) return on_claim(customer, got);
    if (got.target.starts_with("/payments/")) return payment(got.target.substr(10));
    if (got.target.starts_with("/sandbox/pay/")) return gateway(got.target.substr(13), got.body);
    return problem(404, "not_found");
  }

  json::object event_json() {
    const auto free = available();
    const auto held = units_in({"CLAIMED"});
    const auto confirmed = units_in({"CONFIRMED"});
    const json::array types{json::object{{"id", to_string(type_)},
                                         {"name", "Standard"},
                                         {"price", options_.price},
                                         {"total", options_.stock},
                                         {"available", free}}};
    return {{"id", event_id()},
            {"name", "Fake <sale>"},
            {"status", "ACTIVE"},
            {"currency", "NGN"},
            {"ticket_types", types},
            {"available", free},
            {"sold_out", free == 0 && held == 0 && (!options_.oversell || confirmed > options_.stock)},
            {"queue",
             {{"policy", "batch"},
              {"batch_size", options_.batch_size},
              {"admission_interval_ms", options_.tick_ms}}},
            {"claims_per_customer", 1}};
  }

  response join(const std::string& customer) {
    auto* mine = place_of(customer);
    if (mine != nullptr && (mine->status == "WAITING" || mine->status == "ADMITTED"))
      return {200, entry_json(*mine), false};
    auto fresh = std::make_unique<place>();
    fresh->customer = customer;
    fresh->number = next_number_++;
    fresh->id = uuid{1, static_cast<std::uint64_t>(fresh->number)};
    mine = fresh.get();
    latest_[customer] = mine;
    places_.push_back(std::move(fresh));
    return {201, entry_json(*mine), false};
  }

  response position(const std::string& customer) {
    auto* mine = place_of(customer);
    if (mine == nullptr) return problem(404, "not_in_queue");
    if (options_.forget_place && !forgot_ && mine->status == "WAITING") {
      forgot_ = true;
      return problem(404, "not_in_queue");
    }
    return {200, entry_json(*mine), false};
  }

  response claim(const std::string& customer, const request& got) {
    auto* mine = place_of(customer);
    const auto token = text_member(parse_object(got.body), "admission_token");
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
    return {201, claim_json(*claims_.back()), false};
  }

  response on_claim(const std::string& customer, const request& got) {
    const auto rest = got.target.substr(8);
    for (auto& each : claims_) {
      if (!rest.starts_with(to_string(each->id)) || each->customer != customer) continue;
      if (rest.ends_with("/payments")) {
        if (each->status != "CLAIMED") return problem(409, "claim_not_payable");
        each->payment_status = "PENDING";
        return {201, payment_json(*each), false};
      }
      if (got.method == "DELETE") {
        each->status = "RELEASED";
        return {204, nullptr, false};
      }
      return {200, claim_json(*each), false};
    }
    return problem(404, "not_found");
  }

  response payment(const std::string& id) {
    for (auto& each : claims_)
      if (to_string(each->payment) == id) return {200, payment_json(*each), false};
    return problem(404, "not_found");
  }

  response gateway(const std::string& id, const std::string& body) {
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
      return {200, json::object{{"reference", id}, {"status", pays ? "paid" : "declined"}}, false};
    }
    return problem(404, "not_found");
  }

  void confirm(held_claim& claim) {
    claim.status = "CONFIRMED";
    if (auto* mine = place_of(claim.customer)) mine->status = "COMPLETED";
  }

  fake_options options_;
  std::unique_ptr<fake_shop> shop_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer tick_;
  std::uint16_t port_ = 0;
  std::set<std::shared_ptr<tcp::socket>> open_;
  std::vector<std::unique_ptr<place>> places_;
  std::map<std::string, place*> latest_;
  std::vector<std::unique_ptr<held_claim>> claims_;
  std::map<std::string, response> answers_;
  uuid type_{4, 1};
  std::int64_t next_number_ = 1;
  std::int64_t next_batch_ = 1;
  int requests_ = 0;
  bool forgot_ = false;
  bool misbehaved_ = false;
  std::thread thread_;
};

fake_server::fake_server(fake_options options) : work_(std::make_unique<work>(options)) {}

fake_server::~fake_server() = default;

std::string fake_server::url() const { return work_->url(); }

std::string fake_server::event_id() { return to_string(uuid{5, 1}); }

} // namespace fq::load::test
