// SPDX-License-Identifier: Apache-2.0
#include "actors/storage/journal.hpp"

#include "actors/base/errors.hpp"

#include <algorithm>
#include <utility>

namespace fq {

void journal::start(aggregate_id aggregate, const acquired& image) {
  fail();
  aggregate_ = aggregate;
  epoch_ = image.epoch;
  committed_ = decided_ = last_reveal_ = image.applied_seq;
  last_at_ = image.committed_at;
  retry_ = journal_retry_min;
}

std::uint64_t journal::append(changes&& content, timestamp at, bool reveals) {
  if (content.empty()) return decided_;
  if (next_.empty()) {
    next_ = std::move(content);
  } else {
    next_.reserve(in_flight_ ? in_flight_->content.size() : 0); // batches are similar
    std::move(content.begin(), content.end(), std::back_inserter(next_));
  }
  ++decided_;
  last_at_ = std::max(last_at_, at);
  if (reveals) last_reveal_ = decided_;
  if (in_flight_ == nullptr) submit_next();
  return decided_;
}

void journal::keep(std::uint64_t seq, held h) {
  if (seq <= committed_ || planted(bug::answer_before_commit)) {
    std::vector<held> now;
    now.push_back(std::move(h));
    return release(now);
  }
  const bool soon = in_flight_ != nullptr && seq <= in_flight_->to_seq;
  (soon ? in_flight_held_ : next_held_).push_back(std::move(h));
}

void journal::hold(std::uint64_t seq, caf::response_promise promise, caf::message answer) {
  keep(seq, {std::move(promise), std::move(answer), {}});
}

void journal::hold(std::uint64_t seq, std::function<void()> effect) {
  keep(seq, {{}, {}, std::move(effect)});
}

void journal::submit_next() {
  auto b = std::make_shared<batch>();
  b->aggregate = aggregate_;
  b->epoch = epoch_;
  b->from_seq = committed_;
  b->to_seq = decided_;
  b->at = last_at_;
  b->content = std::move(next_);
  next_.clear();
  in_flight_ = b;
  if (port_.begun) port_.begun(*b);
  for (auto& work : std::exchange(at_next_boundary_, {})) hold(in_flight_->to_seq, work());
  submit();
}

void journal::at_boundary(boundary_work work) {
  if (is_idle()) return work()();
  at_next_batch(std::move(work));
}

void journal::submit() {
  wait(journal_answer_timeout);
  port_.submit(in_flight_);
}

void journal::wait(milliseconds span) {
  due_ = port_.steady_now() + span;
  set_timer();
}

void journal::set_timer() { timer_.set(due_, port_.steady_now(), port_.set_timer); }

void journal::timer_fired(std::uint64_t number) {
  const auto set_for = timer_.fired(number);
  if (!set_for || in_flight_ == nullptr) return;
  if (due_ > *set_for) return set_timer(); // of a later batch
  stalled_ = true;
  submit();
}

bool journal::settled(const batch_settled& answer) {
  // Ignores answers to earlier submissions.
  if (in_flight_ == nullptr || answer.epoch != epoch_ || answer.to_seq != in_flight_->to_seq) return true;
  if (answer.unavailable && !planted(bug::trust_unknown_commit)) {
    stalled_ = true;
    wait(retry_);
    retry_ = std::min(retry_ * 2, journal_retry_max);
    return true;
  }
  retry_ = journal_retry_min;
  stalled_ = false;
  const bool applied = answer.unavailable || answer.outcome == commit_outcome::committed
                       || answer.outcome == commit_outcome::already_applied
                       || (planted(bug::fenced_taken_for_commit) && answer.outcome == commit_outcome::fenced);
  if (!applied) return false;
  committed_ = in_flight_->to_seq;
  in_flight_ = nullptr;
  auto done = std::move(in_flight_held_);
  in_flight_held_ = std::move(next_held_);
  next_held_.clear();
  if (!next_.empty()) submit_next(); // before the replies: the ledger works while replies are delivered
  release(done);
  if (is_idle())
    for (auto& work : std::exchange(at_next_boundary_, {})) work()();
  return true;
}

void journal::release(std::vector<held>& items) {
  for (auto& h : items) {
    if (h.effect)
      h.effect();
    else
      h.promise.deliver(std::move(h.answer));
  }
}

void journal::fail() {
  auto lost = std::move(in_flight_held_);
  std::move(next_held_.begin(), next_held_.end(), std::back_inserter(lost));
  in_flight_held_.clear();
  next_held_.clear();
  at_next_boundary_.clear();
  next_.clear();
  in_flight_ = nullptr;
  stalled_ = false;
  for (auto& h : lost)
    if (!h.effect) h.promise.deliver(make_error(errc::unavailable));
}

} // namespace fq
