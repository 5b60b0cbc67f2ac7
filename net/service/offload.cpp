// SPDX-License-Identifier: Apache-2.0
#include "net/service/offload.hpp"

namespace fq::net {

blocking_lane::blocking_lane(std::size_t threads, std::size_t jobs_max) : jobs_max_(jobs_max) {
  while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
}

blocking_lane::~blocking_lane() {
  {
    const std::lock_guard guard{lock_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool blocking_lane::run(std::function<void()> job) {
  {
    const std::lock_guard guard{lock_};
    if (stopping_ || jobs_.size() >= jobs_max_) return false;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void blocking_lane::work() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock guard{lock_};
      wake_.wait(guard, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

} // namespace fq::net
