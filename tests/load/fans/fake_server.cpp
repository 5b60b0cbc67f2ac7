// SPDX-License-Identifier: Apache-2.0
// See fake_server.hpp. The customer is the bearer token itself; everything else follows the contract.
#include "tests/load/fans/fake_server.hpp"

#include "load/base/uuid.hpp"
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
  explicit work(fake_options options) :
      options_(options), holder_(context_), acceptor_(context_), tick_(context_) {
    bind(holder_, 0);
    port_ = holder_.local_endpoint().port();
    listen();
    sale_ = std::make_unique<fake_sale>(options_, event_id(), url());
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
  static void bind(tcp::acceptor& socket, std::uint16_t port) {
    const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
    socket.open(here.protocol());
    socket.set_option(tcp::acceptor::reuse_address(true));
    socket.bind(here);
  }

  void listen() {
    bind(acceptor_, port_);
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
    auto* mine = sale_->place_of(customer);
    if (mine == nullptr) {
      const auto text = encode(problem(404, "not_in_queue"));
      co_await asio::async_write(*socket, asio::buffer(text), as_result);
      co_return;
    }
    std::string text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: "
                       + websocket_accept(got.fields["sec-websocket-key"])
                       + "\r\nSec-WebSocket-Protocol: fairqueue.v1\r\n\r\n";
    text += frame(json::object{{"type", "state"}, {"entry", sale_->entry_json(*mine)}, {"sold_out", false}});
    text += std::string("\x89\x02hi", 4); // a ping: the client must answer it
    std::int64_t last_position = sale_->position_of(*mine);
    asio::steady_timer timer(context_);
    for (;;) {
      auto [failed, size] = co_await asio::async_write(*socket, asio::buffer(text), as_result);
      if (failed || mine->status != "WAITING") co_return;
      text.clear();
      timer.expires_after(std::chrono::milliseconds(10));
      co_await timer.async_wait(as_result);
      if (!socket->is_open()) co_return;
      if (mine->status == "ADMITTED") {
        auto event = sale_->entry_json(*mine);
        event["type"] = "admitted";
        text = frame(event);
      } else if (sale_->position_of(*mine) != last_position) {
        last_position = sale_->position_of(*mine);
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
        listen();
        asio::co_spawn(context_, accept_all(), asio::detached);
      }
      if (options_.shop.is_used)
        shop_->expire();
      else
        sale_->tick();
    }
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
    auto said = sale_->answer(got.method, got.target, customer, got.body);
    return {said.status, std::move(said.body), false};
  }

  fake_options options_;
  std::unique_ptr<fake_sale> sale_;
  std::unique_ptr<fake_shop> shop_;
  asio::io_context context_{1};
  tcp::acceptor holder_; // never listens; keeps the port during an outage
  tcp::acceptor acceptor_;
  asio::steady_timer tick_;
  std::uint16_t port_ = 0;
  std::set<std::shared_ptr<tcp::socket>> open_;
  std::map<std::string, response> answers_;
  int requests_ = 0;
  std::thread thread_;
};

fake_server::fake_server(fake_options options) : work_(std::make_unique<work>(options)) {}

fake_server::~fake_server() = default;

std::string fake_server::url() const { return work_->url(); }

std::string fake_server::event_id() { return to_string(uuid{5, 1}); }

} // namespace fq::load::test
