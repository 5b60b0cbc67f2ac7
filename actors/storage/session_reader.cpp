// SPDX-License-Identifier: Apache-2.0
#include "actors/storage/session_reader.hpp"

#include "domain/base/planted.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace fq {
namespace {

session_found over() {
  session_found answer;
  answer.verdict = session_verdict::over;
  return answer;
}

} // namespace

session_reader_handle::behavior_type session_reader(
  session_reader_handle::stateful_pointer<session_reader_state> self, cache* engine, environment* env) {
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
  if (over_.contains(x.entry)) return over();
  if (waiting_.size() + missed_.size() >= session_questions_max) return session_found{};
  auto promise = self_->make_response_promise<session_found>();
  waiting_.push_back({x.entry, promise, env_->steady_now()});
  // Flushes after the messages already in the mailbox, which join this pipeline.
  if (!std::exchange(flush_is_due_, true)) self_->send(self_, timer_fired{timer_kind::flush, 0});
  return promise;
}

void session_reader_state::flush() {
  flush_is_due_ = false;
  auto questions = std::exchange(waiting_, {});
  try {
    refresh_mirrors(questions);
    look(std::move(questions));
  } catch (const cache_unavailable&) {
    mirrors_.clear();
    for (auto& q : questions) q.promise.deliver(session_found{});
  }
}

/// Reads the mirrors that are not known.
void session_reader_state::refresh_mirrors(const std::vector<question>& questions) {
  const auto now = env_->steady_now();
  std::erase_if(mirrors_, [&](const auto& known) { return now - known.second.asked_at >= mirror_kept; });
  std::set<aggregate_id> wanted;
  for (const auto& q : questions)
    if (!mirrors_.contains(owner_of(q.entry))) wanted.insert(owner_of(q.entry));
  if (wanted.empty()) return;
  const std::vector<aggregate_id> owners(wanted.begin(), wanted.end());
  const auto found = cache_->find_mirrors(owners);
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (found[i])
      mirrors_[owners[i]] = {*found[i], now};
    else
      mirrors_.erase(owners[i]);
}

/// One round trip for all questions. If it throws cache_unavailable, none is answered and `questions` is
/// unchanged.
void session_reader_state::look(std::vector<question>&& questions) {
  std::vector<session_question> asked;
  for (const auto& q : questions)
    if (const auto known = mirrors_.find(owner_of(q.entry)); known != mirrors_.end())
      asked.push_back({known->second.mirror, q.entry});
  const auto read_at = env_->steady_now();
  const auto found = asked.empty() ? std::vector<session_reading>{} : cache_->find_sessions(asked);
  std::size_t next = 0;
  for (auto& q : std::exchange(questions, {})) {
    if (next == asked.size() || asked[next].entry != q.entry) {
      q.promise.deliver(session_found{}); // no vouched mirror
      continue;
    }
    const auto& mirror = asked[next].mirror;
    const auto& [word, session] = found[next++];
    if (word == 0) {
      mirrors_.erase(mirror.aggregate);
      look_later(std::move(q));
    } else if (session) {
      q.promise.deliver(session_found{session_verdict::in_force, mirror.queue, mirror.tenant,
                                      session->admission_no, session->subject_name, session->expires_at,
                                      read_at});
    } else {
      miss(std::move(q), word);
    }
  }
}

/// A session is over if it is absent from a mirror whose owner vouched after the question arrived. A vouch
/// takes at most 2 * vouch_delay_max to reach the cache, so one that arrives later than that was made after
/// the question.
void session_reader_state::miss(question&& q, std::uint64_t word) {
  if ((q.word_before != 0 && word > q.word_before) || planted(bug::absence_believed)) {
    if (over_.size() >= ended_sessions_max) over_.clear();
    over_.insert(q.entry);
    q.promise.deliver(over());
    return;
  }
  if (q.word_before == 0 && env_->steady_now() >= q.asked_at + 2 * vouch_delay_max) q.word_before = word;
  look_later(std::move(q));
}

void session_reader_state::look_later(question&& q) {
  if (env_->steady_now() >= q.asked_at + session_answer_max) {
    q.promise.deliver(session_found{});
    return;
  }
  if (missed_.empty()) self_->delayed_send(self_, session_retry_interval, timer_fired{timer_kind::sweep, 0});
  missed_.push_back(std::move(q));
}

void session_reader_state::look_again() {
  std::ranges::move(std::exchange(missed_, {}), std::back_inserter(waiting_));
  flush();
}

} // namespace fq
