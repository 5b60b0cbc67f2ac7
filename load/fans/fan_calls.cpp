// SPDX-License-Identifier: Apache-2.0
// A fan's requests: builds their text, sends them over its connection, repeats them until an answer arrives.
#include "load/fans/fan_parts.hpp"

#include <algorithm>

namespace fq::load {

std::string fan::next_key(std::string_view what) {
  return around_.run_name() + "-" + std::to_string(index_) + "-" + std::string(what) + "-"
         + std::to_string(++keys_made_);
}

std::string fan::request_text(const request_plan& plan) const {
  std::string out;
  out.reserve(512 + plan.body.size());
  out += plan.method;
  out += ' ';
  out += plan.target;
  out += " HTTP/1.1\r\nHost: ";
  out += plan.elsewhere != nullptr ? plan.elsewhere->authority() : around_.server().authority();
  if (plan.elsewhere == nullptr) { // the gateway is another server: it must not see the token
    out += "\r\nAuthorization: Bearer ";
    out += token_;
  }
  if (!plan.key.empty()) {
    out += "\r\nIdempotency-Key: ";
    out += plan.key;
  }
  if (plan.json_accept) out += "\r\nAccept: application/json";
  if (plan.wait_s > 0) {
    out += "\r\nPrefer: wait=";
    out += std::to_string(plan.wait_s);
  }
  if (!plan.body.empty()) out += "\r\nContent-Type: application/json";
  if (plan.method == "POST") {
    out += "\r\nContent-Length: ";
    out += std::to_string(plan.body.size());
  }
  out += "\r\n\r\n";
  out += plan.body;
  return out;
}

asio::awaitable<transfer> fan::send(const request_plan& plan, const std::string& text, http_reply& reply) {
  const auto deadline = around_.request_deadline();
  if (plan.elsewhere != nullptr && gateway_link_) {
    const auto result = co_await gateway_link_->exchange(text, reply, deadline);
    co_return result;
  }
  if (around_.pool() != nullptr) {
    const auto result = co_await around_.pool()->exchange(text, reply, deadline);
    co_return result;
  }
  const auto result = co_await link_.exchange(text, reply, deadline);
  co_return result;
}

// Repeats until a conclusive answer. The idempotency key stays the same, so a repeated command has one
// effect.
asio::awaitable<fan::answer> fan::call(request_plan plan) {
  answer out;
  const auto text = request_text(plan);
  auto& counted = around_.steps().of(plan.which);
  out.first_sent_us = around_.now_us();
  for (int attempt = 0; !around_.time_is_over(); ++attempt) {
    http_reply reply;
    out.sent_us = around_.now_us();
    const auto result = co_await send(plan, text, reply);
    int retry_after_s = -1;
    if (result == transfer::answered) {
      out.at_us = around_.now_us();
      out.status = reply.status;
      out.body = parse_object(reply.body);
      out.code = text_member(out.body, "code");
      const bool in_progress = reply.status == 409 && out.code == "idempotency_in_progress";
      const bool server_error = reply.status >= 500 && reply.status != 503;
      if (server_error) {
        counted.add_error();
        around_.complain(index_, plan.target + ": " + std::to_string(reply.status) + " " + out.code);
      }
      const bool again = in_progress || reply.status == 429 || reply.status == 503
                         || (server_error && ++server_errors_ < server_errors_max);
      if (!again) {
        if (reply.replayed) around_.count_replay();
        // A replayed answer shows the state at the first attempt.
        if (!plan.key.empty() && (reply.replayed || attempt > 0)) out.sent_us = out.first_sent_us;
        if (reply.status >= 400 && reply.status != 409 && reply.status != 410 && !server_error)
          counted.add_error();
        out.answered = true;
        co_return out;
      }
      retry_after_s = reply.retry_after_s;
    } else if (result == transfer::malformed) {
      counted.add_error();
      around_.complain(index_, plan.target + ": malformed reply");
    }
    counted.add_retry();
    co_await back_off(attempt, retry_after_s);
  }
  out.status = 0;
  out.code.clear();
  out.body = nullptr;
  co_return out;
}

// Exponential back-off with full jitter, at least Retry-After.
asio::awaitable<void> fan::back_off(int attempt, int retry_after_s) {
  const auto limit_us = std::min(retry_base_us << std::min(attempt, 5), retry_cap_us);
  auto pause_us = static_cast<run_time_us>(around_.random().under(static_cast<std::uint64_t>(limit_us)));
  if (retry_after_s > 0) pause_us += std::min<run_time_us>(retry_after_s, 30) * second_us;
  co_await nap(pause_us);
}

asio::awaitable<void> fan::think() {
  const auto most_us = static_cast<std::uint64_t>(around_.options().think_ms * 1000);
  if (most_us > 0) co_await nap(static_cast<run_time_us>(around_.random().under(most_us)));
}

asio::awaitable<void> fan::nap(run_time_us how_long_us) {
  if (around_.time_is_over()) co_return;
  timer_.expires_after(std::chrono::microseconds(how_long_us));
  co_await timer_.async_wait(as_result);
}

} // namespace fq::load
