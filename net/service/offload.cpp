// SPDX-License-Identifier: Apache-2.0
#include "net/service/offload.hpp"

namespace fq::net {

blocking_lane::blocking_lane(std::size_t threads, std::size_t waiting_max) : waiting_max_(waiting_max) {
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

bool blocking_lane::run(std::function<void()> job, std::size_t cost) {
  {
    const std::lock_guard guard{lock_};
    const bool is_full = !jobs_.empty() && waiting_ + cost > waiting_max_;
    if (stopping_ || is_full) return false;
    jobs_.push_back({std::move(job), cost});
    waiting_ += cost;
  }
  wake_.notify_one();
  return true;
}

void blocking_lane::work() {
  for (;;) {
    waiting_job job;
    {
      std::unique_lock guard{lock_};
      wake_.wait(guard, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      waiting_ -= job.cost;
    }
    job.run();
  }
}

} // namespace fq::net
