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
  /// `waiting_max`: sum of the costs of the jobs that wait.
  explicit blocking_lane(std::size_t threads = 1, std::size_t waiting_max = blocking_jobs_max);
  /// Finishes the running jobs and drops the others: their coroutines are never resumed.
  ~blocking_lane();
  blocking_lane(const blocking_lane&) = delete;
  blocking_lane& operator=(const blocking_lane&) = delete;

  /// False: too much waits. A job that costs more than the rest of the bound is taken once the lane is empty.
  [[nodiscard]] bool run(std::function<void()> job, std::size_t cost = 1);

private:
  struct waiting_job {
    std::function<void()> run;
    std::size_t cost;
  };
  void work();

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<waiting_job> jobs_;
  std::size_t waiting_ = 0; ///< cost of `jobs_`
  bool stopping_ = false;
  std::size_t waiting_max_;
  std::vector<std::thread> threads_;
};

/// `auto result = co_await offload(ctx.io, lane, [copies] { return blocking(); });` Returns nothing if the
/// lane is full or the call threw. The call must own all its data, because the waiting coroutine may be
/// destroyed meanwhile.
template <class Call>
class [[nodiscard]] offload_operation {
public:
  using result_type = decltype(std::declval<Call&>()());

  offload_operation(boost::asio::io_context& io, blocking_lane& lane, Call call, std::size_t cost) :
      io_(io), lane_(lane), call_(std::move(call)), cost_(cost), shared_(std::make_shared<state>()) {}
  offload_operation(const offload_operation&) = delete;
  offload_operation& operator=(const offload_operation&) = delete;
  ~offload_operation() {
    const std::lock_guard guard{shared_->lock};
    shared_->waiter = {};
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    shared_->waiter = waiter;
    auto job = [&io = io_, shared = shared_, call = std::move(call_)]() mutable {
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
    };
    const auto accepted = lane_.run(std::move(job), cost_);
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
  std::size_t cost_;
  std::shared_ptr<state> shared_;
};

template <class Call>
offload_operation<Call> offload(boost::asio::io_context& io, blocking_lane& lane, Call call,
                                std::size_t cost = 1) {
  return {io, lane, std::move(call), cost};
}

} // namespace fq::net
