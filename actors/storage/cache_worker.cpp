// SPDX-License-Identifier: Apache-2.0
#include "actors/storage/cache_worker.hpp"

#include <algorithm>
#include <utility>

namespace fq {

cache_worker_handle::behavior_type cache_worker(
  cache_worker_handle::stateful_pointer<cache_worker_state> self, cache* engine, environment* env,
  cache_metrics* metrics) {
  self->state.init(self, *engine, *env, *metrics);
  return self->state.behavior();
}

void cache_worker_state::init(pointer self, cache& engine, environment& env, cache_metrics& metrics) {
  self_ = self;
  cache_ = &engine;
  env_ = &env;
  metrics_ = &metrics;
}

cache_worker_handle::behavior_type cache_worker_state::behavior() {
  return {
    [this](const take_mirror_step& x) { on_step(x); },
    [this](const vouch_for_mirror& x) { on_vouch(x); },
    [this](const check_mirror& x) { on_check(x); },
    [this](const timer_fired& t) { t.kind == timer_kind::flush ? flush() : ping(); },
  };
}

// -- steps

void cache_worker_state::on_step(const take_mirror_step& x) {
  waiting w{x.step, caf::actor_cast<owner>(self_->current_sender())};
  if (metrics_->is_away) return tell_lost(w);
  waiting_.push_back(std::move(w));
  if (waiting_.size() > steps_waiting_max) return open_circuit("it answers too slowly");
  flush_soon();
}

void cache_worker_state::flush_soon() {
  if (std::exchange(flush_is_due_, true)) return;
  // Flushes after the messages already in the mailbox, which join this pipeline.
  self_->send(self_, timer_fired{timer_kind::flush, 0});
}

void cache_worker_state::flush() {
  flush_is_due_ = false;
  while (!waiting_.empty()) flush_some();
  if (!vouching_.empty()) vouch_all();
}

void cache_worker_state::flush_some() {
  std::size_t count = 0, elements = 0;
  while (count < waiting_.size() && elements < elements_per_pipeline_max)
    elements += waiting_[count++].step->delta.size();
  std::vector<mirror_step> steps;
  steps.reserve(count);
  for (std::size_t i = 0; i < count; ++i) steps.push_back(*waiting_[i].step);
  try {
    const auto outcomes = cache_->apply(steps);
    metrics_->steps += count;
    metrics_->elements += elements;
    for (std::size_t i = 0; i < count; ++i) {
      if (outcomes[i] == step_outcome::applied) continue;
      tell_lost(waiting_[i]);
      self_->send(waiting_[i].from, cache_is_back{}); // the cache is available but has lost the mirror
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  } catch (const cache_unavailable& e) { open_circuit(e.what()); }
}

void cache_worker_state::tell_lost(const owner& from, std::uint64_t generation) {
  self_->send(from, mirror_lost{generation});
  ++metrics_->lost;
  if (metrics_->is_away) to_tell_[from.id()] = from;
}

// -- vouching

/// While the cache is unavailable there is nothing to vouch for. Owners that sent a step were notified.
void cache_worker_state::on_vouch(const vouch_for_mirror& x) {
  if (metrics_->is_away) return;
  vouching_.push_back({x.mirror, x.said_at, caf::actor_cast<owner>(self_->current_sender())});
  flush_soon();
}

/// Runs after the earlier steps. Detects within a second a mirror that the cache has lost.
void cache_worker_state::vouch_all() {
  auto all = std::exchange(vouching_, {});
  std::erase_if(
    all, [oldest = env_->steady_now() - vouch_delay_max](const vouching& v) { return v.said_at < oldest; });
  if (metrics_->is_away || all.empty()) return;
  std::vector<vouched_mirror> mirrors;
  for (const auto& v : all) mirrors.push_back(*v.mirror);
  try {
    const auto outcomes = cache_->vouch(mirrors);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (outcomes[i] == step_outcome::applied) continue;
      tell_lost(all[i].from, mirrors[i].generation);
      self_->send(all[i].from, cache_is_back{}); // the cache is available but has lost the mirror
    }
  } catch (const cache_unavailable& e) { open_circuit(e.what()); }
}

// -- circuit breaker

void cache_worker_state::open_circuit(const std::string& why) {
  ++metrics_->failures;
  if (!metrics_->is_away.exchange(true)) {
    metrics_->on_change(why);
    self_->delayed_send(self_, pause_, timer_fired{timer_kind::retry_load, 0});
  }
  for (const auto& w : std::exchange(waiting_, {})) tell_lost(w);
}

void cache_worker_state::ping() {
  try {
    cache_->ping();
  } catch (const cache_unavailable&) {
    ++metrics_->failures;
    pause_ = std::min(pause_ * 2, circuit_pause_max);
    return self_->delayed_send(self_, pause_, timer_fired{timer_kind::retry_load, 0});
  }
  pause_ = circuit_pause_min;
  metrics_->is_away = false;
  metrics_->on_change({});
  for (const auto& [id, from] : std::exchange(to_tell_, {})) self_->send(from, cache_is_back{});
}

// -- comparing

void cache_worker_state::on_check(const check_mirror& x) {
  flush(); // include the steps sent before it
  self_->send(caf::actor_cast<owner>(self_->current_sender()), compare(x));
}

mirror_checked cache_worker_state::compare(const check_mirror& x) {
  mirror_checked result{x.generation, mirror_state::unavailable, {}};
  if (metrics_->is_away) return result;
  try {
    const auto found = cache_->read(x.queue, x.generation, x.steps);
    if (found.found)
      result.differences = differences(*x.expected, found.image, x.now + (env_->steady_now() - x.sent_at));
    result.state = !found.found                 ? mirror_state::lost
                   : result.differences.empty() ? mirror_state::equal
                                                : mirror_state::different;
    if (found.found) ++(result.differences.empty() ? metrics_->equal : metrics_->different);
  } catch (const cache_unavailable& e) { open_circuit(e.what()); }
  return result;
}

} // namespace fq
