// SPDX-License-Identifier: Apache-2.0
// Threads for blocking calls (the sandbox gateway's file, printing) and an awaitable for their results, so
// that no io thread waits for them.
#pragma once
#include "net/service/callback.hpp"
#include "net/service/limits.hpp"
#include <boost/asio/io_context.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
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
auto offload(boost::asio::io_context& io, blocking_lane& lane, Call call, std::size_t cost = 1) {
  using result = std::optional<decltype(call())>;
  return callback<result>(io, [&lane, call = std::move(call), cost](auto done) mutable {
    auto job = [call = std::move(call), done]() mutable {
      result got;
      try {
        got.emplace(call());
      } catch (...) {
        got.reset(); // the caller answers 503; the gateway reports a lost file only by throwing
      }
      done(std::move(got));
    };
    if (!lane.run(std::move(job), cost)) done(std::nullopt);
  });
}

} // namespace fq::net
