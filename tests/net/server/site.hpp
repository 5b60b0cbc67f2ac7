// SPDX-License-Identifier: Apache-2.0
// Small handlers for the transport's tests and its micro server, and a clock that stands still.
#pragma once
#include "tests/net/server/client.hpp"
#include "tests/net/server/fakes.hpp"

#include <atomic>
#include <charconv>
#include <string>
#include <thread>

namespace fq::net::fake {

inline std::uint64_t number_in(std::string_view text) {
  std::uint64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

inline awaitable<response> get_constant(context&, const request&, const path_parameters&) {
  response r;
  r.body = R"({"entry_id":"0193471c-0000-7000-8000-001000000001","status":"WAITING","queue_number":1,)"
           R"("position":1,"ahead":0})";
  co_return r;
}

inline awaitable<response> post_echo(context&, const request& req, const path_parameters&) {
  response r;
  r.content_type = "text/plain";
  r.body = std::string{req.body};
  co_return r;
}

inline response of_entry(const answer<entry_reply>& found) {
  response r;
  if (found.error) {
    r.status = is(found.error, errc::absent) ? 404 : 503;
    return r;
  }
  if (found.reply.no) {
    r.status = 404;
    return r;
  }
  r.body = R"({"entry_id":"0193471c-0000-7000-8000-001000000001","status":"WAITING","queue_number":)"
           + std::to_string(value_of(found.reply.entry.number)) + R"(,"position":)"
           + std::to_string(found.reply.entry.position) + "}";
  return r;
}

/// /events/{aggregate}/entries/{customer}
inline awaitable<response> get_entry(context& ctx, const request&, const path_parameters& p) {
  const auto aggregate = static_cast<std::uint32_t>(number_in(p.values[0]));
  const customer_id who{0x1234, number_in(p.values[1])};
  auto found = co_await ask_event(ctx, aggregate_id{aggregate}, find_entry{event_of(aggregate), who});
  co_return of_entry(found);
}

inline awaitable<response> get_exception(context&, const request&, const path_parameters&) {
  throw std::runtime_error("a handler's mistake");
  co_return response{};
}

/// Throws after a wait.
inline awaitable<response> get_late_exception(context& ctx, const request&, const path_parameters&) {
  auto found = co_await ask_event(ctx, aggregate_id{good_event},
                                  find_entry{event_of(good_event), customer(behaves::well)});
  if (!found.error) throw std::runtime_error("a handler's mistake");
  co_return response{};
}

inline awaitable<response> get_large(context&, const request&, const path_parameters& p) {
  response r;
  r.body.assign(number_in(p.values[0]), 'x');
  co_return r;
}

/// "part 1\n", "part 2\n" ..., each after a request to an actor; fails before part 13.
class counted_parts final : public body_source {
public:
  counted_parts(context& ctx, std::uint64_t count, std::size_t padding) :
      ctx_(ctx), left_(count), padding_(padding) {}
  awaitable<std::string> next() override {
    if (left_ == 0) co_return std::string{};
    auto found = co_await ask_event(ctx_, aggregate_id{good_event},
                                    find_entry{event_of(good_event), customer(behaves::well)});
    if (found.error || ++made_ == 13) throw std::runtime_error("nothing more comes");
    --left_;
    co_return "part " + std::to_string(made_) + "\n" + std::string(padding_, 'x');
  }

private:
  context& ctx_;
  std::uint64_t left_, made_ = 0;
  std::size_t padding_;
};

/// /parts/{count}/{padding}
inline awaitable<response> get_parts(context& ctx, const request&, const path_parameters& p) {
  response r;
  r.content_type = "text/plain";
  r.source = std::make_shared<counted_parts>(ctx, number_in(p.values[0]), number_in(p.values[1]));
  co_return r;
}

/// The io thread's time.
inline awaitable<response> get_now(context& ctx, const request&, const path_parameters&) {
  response r;
  r.content_type = "text/plain";
  r.body = std::to_string(ctx.now.count());
  co_return r;
}

inline std::atomic<bool> is_blocked{false}, may_go_on{false};

/// Blocks the io thread until the test lets it go on, which no real handler may do.
inline awaitable<response> get_blocked(context&, const request&, const path_parameters&) {
  is_blocked = true;
  while (!may_go_on) std::this_thread::sleep_for(milliseconds{1});
  co_return response{};
}

/// /ws/{customer}: follows that place of the good event; `X-Seconds: n` limits the time.
inline awaitable<response> get_socket(context& ctx, const request& req, const path_parameters& p) {
  const customer_id who{0x1234, number_in(p.values[0])};
  auto found = co_await ask_event(ctx, aggregate_id{good_event}, find_entry{event_of(good_event), who});
  response r = of_entry(found);
  if (r.status != 200) co_return r;
  const auto protocol = req.field("sec-websocket-protocol");
  r.upgrade = ws_upgrade{.holder = who,
                         .event = event_of(good_event),
                         .number = found.reply.entry.number,
                         .protocol = protocol.starts_with("fairqueue.v1") ? "fairqueue.v1" : ""};
  if (const auto version = req.field("x-seats"); !version.empty())
    r.upgrade->seats_version = number_in(version);
  if (const auto lifetime = req.field("x-seconds"); !lifetime.empty())
    r.upgrade->authorized_until = ctx.environment.wall_now() + seconds{number_in(lifetime)};
  co_return r;
}

inline constexpr route routes[] = {
  {method::get, "/constant", get_constant},
  {method::post, "/echo", post_echo},
  {method::post, "/small", {post_echo}, 16},
  {method::post, "/big", {post_echo}, 256 * 1024},
  {method::get, "/events/{aggregate}/entries/{customer}", get_entry},
  {method::get, "/exception", get_exception},
  {method::get, "/late-exception", get_late_exception},
  {method::get, "/large/{size}", get_large},
  {method::get, "/parts/{count}/{padding}", get_parts},
  {method::get, "/now", get_now},
  {method::get, "/blocked", get_blocked},
  {method::get, "/ws/{customer}", get_socket},
};

inline response refuse(context&, const request& req, http_refusal why, std::string_view detail,
                       std::string_view allow) {
  response r;
  r.content_type = "application/problem+json";
  r.body = "{\"status\":" + std::to_string(status_of(why)) + ",\"detail\":\"" + std::string{detail}
           + "\",\"request_id\":\"" + req.request_id + "\"}";
  if (!allow.empty()) r.fields.emplace_back("Allow", std::string{allow});
  return r;
}

inline site test_site() { return {.routes = routes, .refuse = refuse}; }

/// Holds the clock of a world with one io thread, which it asks for /now on a connection of its own.
class held_clock {
public:
  explicit held_clock(world& w) : world_(w), asking_(w.server.public_port()) {
    w.clock.hold();
    settle();
  }

  /// Advances by less than http.idle_timeout, and settles.
  bool pass(milliseconds by) {
    world_.clock.advance(by);
    return settle();
  }

  /// True once the io thread has that time: what is due is done, what accepted clients had sent is read.
  bool settle() {
    const auto now = std::to_string(world_.clock.steady_now().count());
    return eventually([&] { return asking_.get("/now").body == now; });
  }

private:
  world& world_;
  client asking_;
};

} // namespace fq::net::fake
