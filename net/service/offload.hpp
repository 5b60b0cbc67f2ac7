// SPDX-License-Identifier: Apache-2.0
// Threads for blocking calls (the sandbox gateway's file, printing) and an awaitable for their results, so
// that no io thread waits for them.
#pragma once
#include "net/service/limits.hpp"
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace fq::net {

class blocking_lane {
public:
  explicit blocking_lane(std::size_t threads = 1, std::size_t jobs_max = blocking_jobs_max);
  /// Finishes the running jobs and drops the others: their coroutines are never resumed.
  ~blocking_lane();
  blocking_lane(const blocking_lane&) = delete;
  blocking_lane& operator=(const blocking_lane&) = delete;

  [[nodiscard]] bool run(std::function<void()> job);

private:
  void work();

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::size_t jobs_max_;
  std::vector<std::thread> threads_;
};

/// `auto result = co_await offload(ctx.io, lane, [copies] { return blocking(); });` Returns nothing if the
/// lane is full or the call threw. The call must own all its data, because the waiting coroutine may be
/// destroyed meanwhile.
template <class Call>
class [[nodiscard]] offload_operation {
public:
  using result_type = decltype(std::declval<Call&>()());

  offload_operation(boost::asio::io_context& io, blocking_lane& lane, Call call) :
      io_(io), lane_(lane), call_(std::move(call)), shared_(std::make_shared<state>()) {}
  offload_operation(const offload_operation&) = delete;
  offload_operation& operator=(const offload_operation&) = delete;
  ~offload_operation() {
    const std::lock_guard guard{shared_->lock};
    shared_->waiter = {};
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    shared_->waiter = waiter;
    const auto accepted = lane_.run([&io = io_, shared = shared_, call = std::move(call_)]() mutable {
      std::optional<result_type> result;
      try {
        result.emplace(call());
      } catch (...) {
        result.reset(); // the caller answers 503; the gateway reports a lost file only by throwing
      }
      const std::lock_guard guard{shared->lock};
      if (!shared->waiter)
        return; // cancelled; the io_context may be gone too, which only a waiter keeps alive
      boost::asio::post(
        io, [shared, result = std::move(result)]() mutable { resume(*shared, std::move(result)); });
    });
    if (!accepted) shared_->waiter = {};
    return accepted;
  }
  std::optional<result_type> await_resume() { return std::move(shared_->result); }

private:
  struct state {
    std::mutex lock; ///< guards `waiter`
    std::coroutine_handle<> waiter;
    std::optional<result_type> result; ///< io thread only
  };

  static void resume(state& s, std::optional<result_type> result) {
    std::coroutine_handle<> waiter;
    {
      const std::lock_guard guard{s.lock};
      waiter = std::exchange(s.waiter, {});
    }
    s.result = std::move(result);
    if (waiter) waiter.resume();
  }

  boost::asio::io_context& io_;
  blocking_lane& lane_;
  Call call_;
  std::shared_ptr<state> shared_;
};

template <class Call>
offload_operation<Call> offload(boost::asio::io_context& io, blocking_lane& lane, Call call) {
  return {io, lane, std::move(call)};
}

} // namespace fq::net
