// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/watched_cache.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

mirror_image image_of(const aggregate_image& rows) {
  mirror_image all;
  for (const auto& e : rows.entries) {
    if (is_in_line(e.status)) all.waiting.push_back(e.number);
    if (e.status == entry_status::admitted)
      all.sessions.push_back({e.number, e.admission_no, e.subject, e.joined_at,
                              e.has_claimed ? e.session_expires_at : e.claim_by, e.subject_name.text()});
  }
  for (const auto& t : rows.ticket_types) all.stock.push_back({t.id, t.total, t.held, t.sold});
  std::ranges::sort(all.stock, {}, &mirrored_stock::id);
  return all;
}

} // namespace

watched_cache::watched_cache(world& w) :
    world_(w),
    inner_(*w.env, {[this](cache_call, std::span<const mirror_step>) { return next_fault(); },
                    w.options.cache_chunk_max}) {}

// -- faults -----------------------------------------------------------------------------------------------

cache_fault watched_cache::next_fault() {
  using kind = cache_fault::kind;
  if (!world_.chaos) return {};
  auto& rng = world_.rng;
  const auto& f = world_.options.faults;
  if (world_.env->steady_now() < away_until_ || chance(rng, f.cache_unavailable))
    return {kind::unavailable, 0};
  if (chance(rng, f.cache_unanswered)) return {kind::unanswered, 0};
  if (chance(rng, f.cache_torn)) return {kind::torn, rng() % 4};
  if (chance(rng, f.cache_flushed)) return {kind::flush, 0};
  if (!chance(rng, f.cache_rolled_back)) return {};
  was_rolled_back_ = true;
  return {kind::rollback, 0};
}

void watched_cache::strike() {
  const auto& f = world_.options.faults;
  if (world_.rng() % 100'000 < f.cache_saved) inner_.save();
  if (world_.rng() % 100'000 < f.cache_away)
    away_until_ = world_.env->steady_now() + between(world_.rng, milliseconds{500}, milliseconds{8'000});
}

// -- the port ---------------------------------------------------------------------------------------------

std::vector<step_outcome> watched_cache::apply(std::span<const mirror_step> steps) {
  for (const auto& step : steps) check_step(step);
  auto outcomes = inner_.apply(steps);
  const bool lost = std::ranges::find(outcomes, step_outcome::lost) != outcomes.end();
  if (lost && was_rolled_back_) world_.check->reached(rare::old_dump_noticed);
  return outcomes;
}

cache::reading watched_cache::read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) {
  return inner_.read(queue, generation, steps_taken);
}

// -- the watch --------------------------------------------------------------------------------------------

void watched_cache::applied(const batch& b) {
  if (b.aggregate != world_.aggregate) return;
  for (const auto& c : b.content) {
    if (!std::holds_alternative<cache_generation_raised>(c)) continue;
    if (raised_under_ == b.epoch) world_.check->reached(rare::mirror_rebuilt);
    raised_under_ = b.epoch;
  }
}

/// A step may reach the cache only after its commit.
void watched_cache::check_step(const mirror_step& step) {
  if (step.aggregate != world_.aggregate) return;
  if (step.generation > world_.store->head(step.aggregate)->cache_generation)
    world_.check->fail("I11", "a step of a generation that the ledger does not name yet");
  check_line(step.delta);
  check_sessions(step.delta);
  auto& sent = steps_[step.generation];
  sent = std::max(sent, step.number + 1);
}

void watched_cache::check_line(const mirror_delta& delta) const {
  for (const auto number : delta.joined)
    if (world_.store->find_entry(world_.aggregate, number) == nullptr)
      world_.check->fail("I11", "the cache was told of a place that is not committed");
  for (const auto number : delta.left) {
    const auto* row = world_.store->find_entry(world_.aggregate, number);
    if (row == nullptr || is_in_line(row->status))
      world_.check->fail("I11", "the cache was told that somebody left the line who is still in it");
  }
}

void watched_cache::check_sessions(const mirror_delta& delta) const {
  for (const auto& session : delta.sessions) {
    const auto* row = world_.store->find_entry(world_.aggregate, session.number);
    if (row == nullptr || row->admission_no < session.admission_no)
      world_.check->fail("I11", "the cache was told of an admission that is not committed");
  }
  for (const auto& session : delta.ended) {
    const auto* row = world_.store->find_entry(world_.aggregate, session.number);
    if (row == nullptr || row->status == entry_status::admitted)
      world_.check->fail("I11", "the cache was told that a session is over which is not");
  }
}

void watched_cache::check_equal(timestamp now) {
  const auto* head = world_.store->head(world_.aggregate);
  if (raised_under_ != world_.check->owner_epoch())
    return world_.check->fail("I11", "the mirror in force was begun by an earlier owner");
  auto found = inner_.read(world_.event, head->cache_generation, steps_[head->cache_generation]);
  if (!found.found)
    return world_.check->fail("I11", "the cache has lost the mirror, and nobody built it anew");
  // The cache has the line by rank, the rows are by number.
  const auto rank = [this](queue_number n) { return world_.check->rank_of(n); };
  if (!std::ranges::is_sorted(found.image.waiting, {}, rank))
    world_.check->fail("I11", "the line of the cache is not in the order of the draw");
  std::ranges::sort(found.image.waiting);
  const auto wrong = differences(image_of(*world_.store->committed(world_.aggregate)), found.image, now);
  if (!wrong.empty()) world_.check->fail("I11", "the cache is not what the ledger holds: " + wrong.front());
}

} // namespace fq::sim
