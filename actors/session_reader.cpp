// SPDX-License-Identifier: Apache-2.0
#include "actors/session_reader.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fq {

session_reader_handle::behavior_type session_reader(session_reader_handle::stateful_pointer<session_reader_state> self, cache* engine,
                                                    environment* env) {
  self->state.init(self, *engine, *env);
  return self->state.behavior();
}

void session_reader_state::init(pointer self, cache& engine, environment& env) {
  self_ = self;
  cache_ = &engine;
  env_ = &env;
}

session_reader_handle::behavior_type session_reader_state::behavior() {
  return {
    [this](const find_session& x) { return on_find(x); },
    [this](const timer_fired& t) { t.kind == timer_kind::flush ? flush() : look_again(); },
  };
}

caf::result<session_found> session_reader_state::on_find(const find_session& x) {
  if (waiting_.size() + missed_.size() >= questions_waiting_max) return session_found{};
  auto promise = self_->make_response_promise<session_found>();
  waiting_.push_back({x.entry, promise});
  if (!std::exchange(flush_is_due_, true)) self_->send(self_, timer_fired{timer_kind::flush, 0}); // behind what is in the mailbox already
  return promise;
}

void session_reader_state::flush() {
  flush_is_due_ = false;
  questions_by_owner all;
  for (auto& q : std::exchange(waiting_, {})) all[owner_of(q.entry)].push_back(std::move(q));
  try {
    refresh_mirrors(all);
    for (auto& [owner, questions] : all) answer(owner, questions);
  } catch (const cache_unavailable&) {
    mirrors_.clear();
    for (auto& [owner, questions] : all)
      for (auto& q : questions) q.promise.deliver(session_found{});
  }
}

/// Mirrors that were looked up too long ago, or never.
void session_reader_state::refresh_mirrors(const questions_by_owner& questions) {
  const auto now = env_->steady_now();
  std::erase_if(mirrors_, [&](const auto& known) { return now - known.second.asked_at >= mirror_trust; });
  std::vector<aggregate_id> unknown;
  for (const auto& [owner, list] : questions)
    if (!mirrors_.contains(owner)) unknown.push_back(owner);
  if (unknown.empty()) return;
  const auto found = cache_->find_mirrors(unknown);
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (found[i]) mirrors_[unknown[i]] = {*found[i], now};
}

/// Throws cache_unavailable before any of them is answered; those that are, leave the list.
void session_reader_state::answer(aggregate_id owner, std::vector<question>& questions) {
  const auto known = mirrors_.find(owner);
  std::vector<entry_id> entries;
  for (const auto& q : questions) entries.push_back(q.entry);
  auto found = known == mirrors_.end() ? sessions{} : cache_->find_sessions(known->second.mirror, entries);
  for (std::size_t i = 0; auto& q : std::exchange(questions, {})) {
    auto* session = found.empty() ? nullptr : found[i] ? &*found[i] : nullptr;
    ++i;
    if (known == mirrors_.end())
      q.promise.deliver(session_found{});
    else if (session != nullptr)
      q.promise.deliver(session_found{session_verdict::in_force, known->second.mirror.queue, known->second.mirror.tenant, session->admission_no,
                                      std::move(session->subject_name), session->expires_at});
    else if (q.is_second_look)
      q.promise.deliver(session_found{session_verdict::over});
    else
      miss(std::move(q));
  }
  if (!missed_.empty()) mirrors_.erase(owner); // the second look asks which mirror is in force
}

void session_reader_state::miss(question&& q) {
  q.is_second_look = true;
  q.look_at = env_->steady_now() + second_look_after;
  if (missed_.empty()) self_->delayed_send(self_, second_look_after, timer_fired{timer_kind::sweep, 0});
  missed_.push_back(std::move(q));
}

void session_reader_state::look_again() {
  const auto now = env_->steady_now();
  const auto not_yet = std::ranges::find_if(missed_, [&](const question& q) { return q.look_at > now; });
  std::move(missed_.begin(), not_yet, std::back_inserter(waiting_));
  missed_.erase(missed_.begin(), not_yet);
  if (!missed_.empty()) self_->delayed_send(self_, missed_.front().look_at - now, timer_fired{timer_kind::sweep, 0});
  flush();
}

} // namespace fq
