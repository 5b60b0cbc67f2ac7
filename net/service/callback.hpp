// SPDX-License-Identifier: Apache-2.0
// An awaitable for a call that answers by a callback on another thread: `auto verdict = co_await
// callback<captcha_verdict>(ctx.io, [&](auto done) { port.verify(…, done); });`
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace fq::net {

/// The call must end by itself and own its data, because the waiting coroutine may be destroyed meanwhile.
template <class Result, class Start>
class [[nodiscard]] callback_operation {
public:
  callback_operation(boost::asio::io_context& io, Start start) :
      io_(io), start_(std::move(start)), shared_(std::make_shared<state>()) {}
  callback_operation(const callback_operation&) = delete;
  callback_operation& operator=(const callback_operation&) = delete;
  ~callback_operation() {
    const std::lock_guard guard{shared_->lock};
    shared_->waiter = {};
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    shared_->waiter = waiter;
    start_([&io = io_, shared = shared_](Result result) {
      const std::lock_guard guard{shared->lock};
      if (!shared->waiter) return; // cancelled; the io_context may be gone too
      boost::asio::post(
        io, [shared, result = std::move(result)]() mutable { resume(*shared, std::move(result)); });
    });
  }
  Result await_resume() { return *std::move(shared_->result); }

private:
  struct state {
    std::mutex lock; ///< guards `waiter`
    std::coroutine_handle<> waiter;
    std::optional<Result> result; ///< io thread only
  };

  static void resume(state& s, Result result) {
    std::coroutine_handle<> waiter;
    {
      const std::lock_guard guard{s.lock};
      waiter = std::exchange(s.waiter, {});
    }
    s.result = std::move(result);
    if (waiter) waiter.resume();
  }

  boost::asio::io_context& io_;
  Start start_;
  std::shared_ptr<state> shared_;
};

template <class Result, class Start>
callback_operation<Result, Start> callback(boost::asio::io_context& io, Start start) {
  return {io, std::move(start)};
}

} // namespace fq::net
