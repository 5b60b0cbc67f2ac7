// SPDX-License-Identifier: Apache-2.0
// Steps, reads and faults of the cache in memory.
#include "store/memory/memory_cache.hpp"

#include <limits>
#include <utility>

namespace fq {
namespace {

using fault_kind = cache_fault::kind;

/// Throws if the fault loses the answer of a call that was applied.
void answer(const cache_fault& fault) {
  if (fault.what == fault_kind::unanswered || fault.what == fault_kind::torn)
    throw cache_unavailable("the connection to the cache was lost");
}

} // namespace

memory_cache::memory_cache(environment& env, memory_cache_options options) :
    env_(env), options_(std::move(options)) {}

cache_fault memory_cache::next_fault(cache_call call, std::span<const mirror_step> steps) {
  const auto fault = options_.on_call ? options_.on_call(call, steps) : cache_fault{};
  switch (fault.what) {
    case fault_kind::unavailable: throw cache_unavailable("the cache is away");
    case fault_kind::flush: flush(); break;
    case fault_kind::rollback: restore(); break;
    case fault_kind::none:
    case fault_kind::unanswered:
    case fault_kind::torn: break;
  }
  return fault;
}

// -- steps

std::vector<step_outcome> memory_cache::apply(std::span<const mirror_step> steps) {
  const auto fault = next_fault(cache_call::apply, steps);
  auto chunks_left = fault.what == fault_kind::torn ? fault.chunks : std::numeric_limits<std::size_t>::max();
  std::vector<step_outcome> outcomes;
  outcomes.reserve(steps.size());
  for (const auto& step : steps) outcomes.push_back(apply(step, chunks_left));
  answer(fault);
  return outcomes;
}

step_outcome memory_cache::apply(const mirror_step& step, std::size_t& chunks_left) {
  for (const auto& chunk : chunks_of(step.delta, options_.chunk_size_max)) {
    if (chunks_left == 0) return step_outcome::lost; // not visible to the caller: the call throws
    --chunks_left;
    auto* m = continued_by(step, chunk);
    if (m == nullptr) return step_outcome::lost;
    apply(chunk, step, *m);
  }
  return step_outcome::applied;
}

/// The mirror whose head this chunk continues; null: none.
memory_cache::mirror* memory_cache::continued_by(const mirror_step& step, const mirror_chunk& chunk) {
  if (step.number == 0 && chunk.part == 0) {
    vouched_.erase(step.aggregate);
    auto& m = queues_[step.queue] = {};
    m.generation = step.generation;
    return &m;
  }
  const auto i = queues_.find(step.queue);
  if (i == queues_.end()) return nullptr;
  auto& m = i->second;
  return m.generation == step.generation && m.steps == step.number && m.part == chunk.part ? &m : nullptr;
}

void memory_cache::apply(const mirror_chunk& chunk, const mirror_step& step, mirror& m) const {
  for (const auto number : chunk.joined) m.waiting.emplace(step.ranks.rank_of(number), number);
  for (const auto number : chunk.left) m.waiting.erase(step.ranks.rank_of(number));
  for (const auto& session : chunk.sessions) keep(session, step, m);
  for (const auto& session : chunk.ended) m.sessions.erase(session.number);
  for (const auto& stock : chunk.stock) m.stock[stock.id] = stock;
  m.steps = step.number + (chunk.last ? 1 : 0);
  m.part = chunk.last ? 0 : chunk.part + 1;
  m.ready = chunk.last && step.ready;
}

void memory_cache::keep(const mirrored_session& session, const mirror_step& step, mirror& m) const {
  m.waiting.erase(step.ranks.rank_of(session.number));
  if (session.expires_at > step.now)
    m.sessions[session.number] = {session, env_.steady_now() + (session.expires_at - step.now)};
  else
    m.sessions.erase(session.number);
}

// -- reads

cache::reading memory_cache::read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) {
  answer(next_fault(cache_call::read));
  const auto* m = complete(queue, generation, steps_taken);
  if (m == nullptr) return {};
  reading result{true, {}};
  for (const auto& [rank, number] : m->waiting) result.image.waiting.push_back(number);
  for (const auto& [number, kept] : m->sessions)
    if (kept.ends > env_.steady_now()) result.image.sessions.push_back(kept.session);
  for (const auto& [id, stock] : m->stock) result.image.stock.push_back(stock);
  return result;
}

const memory_cache::mirror* memory_cache::complete(const uuid& queue, std::uint64_t generation,
                                                   std::uint64_t steps_taken) const {
  const auto i = queues_.find(queue);
  if (i == queues_.end()) return nullptr;
  const auto& m = i->second;
  return m.generation == generation && m.steps == steps_taken && m.part == 0 && m.ready ? &m : nullptr;
}

// -- for other nodes

std::vector<step_outcome> memory_cache::vouch(std::span<const vouched_mirror> mirrors) {
  const auto fault = next_fault(cache_call::vouch);
  std::vector<step_outcome> outcomes;
  for (auto mirror : mirrors) {
    const auto i = queues_.find(mirror.queue);
    const auto* m = i == queues_.end() ? nullptr : &i->second;
    const bool is_there =
      m && m->generation == mirror.generation && m->steps >= mirror.steps_taken && m->part == 0 && m->ready;
    outcomes.push_back(is_there ? step_outcome::applied : step_outcome::lost);
    mirror.steps_taken = 0;
    mirror.word = ++words_;
    if (is_there) vouched_[mirror.aggregate] = {mirror, env_.steady_now() + vouch_life};
  }
  answer(fault);
  return outcomes;
}

std::vector<std::optional<vouched_mirror>> memory_cache::find_mirrors(
  std::span<const aggregate_id> aggregates) {
  answer(next_fault(cache_call::find));
  std::vector<std::optional<vouched_mirror>> found;
  for (const auto aggregate : aggregates) found.push_back(vouch_of(aggregate));
  return found;
}

std::optional<vouched_mirror> memory_cache::vouch_of(aggregate_id aggregate) const {
  const auto i = vouched_.find(aggregate);
  const bool holds = i != vouched_.end() && i->second.ends > env_.steady_now();
  return holds ? std::optional{i->second.mirror} : std::nullopt;
}

std::vector<session_reading> memory_cache::find_sessions(std::span<const session_question> questions) {
  answer(next_fault(cache_call::find));
  std::vector<session_reading> found(questions.size());
  for (std::size_t n = 0; n < questions.size(); ++n) {
    const auto& mirror = questions[n].mirror;
    if (const auto now = vouch_of(mirror.aggregate); now && now->is_same_mirror(mirror))
      found[n].word = now->word;
    const auto i = queues_.find(mirror.queue);
    if (i == queues_.end() || i->second.generation != mirror.generation) continue;
    const auto kept = i->second.sessions.find(queue_number_of(questions[n].entry));
    if (kept != i->second.sessions.end() && kept->second.ends > env_.steady_now())
      found[n].session = kept->second.session;
  }
  return found;
}

void memory_cache::ping() { answer(next_fault(cache_call::ping)); }

std::optional<milliseconds> memory_cache::session_life(const uuid& queue, queue_number number) const {
  const auto i = queues_.find(queue);
  if (i == queues_.end()) return std::nullopt;
  const auto kept = i->second.sessions.find(number);
  if (kept == i->second.sessions.end() || kept->second.ends <= env_.steady_now()) return std::nullopt;
  return kept->second.ends - env_.steady_now();
}

} // namespace fq
