// SPDX-License-Identifier: Apache-2.0
#include "actors/sale/event_mirror.hpp"

#include "actors/base/errors.hpp"
#include "domain/base/planted.hpp"

#include <algorithm>
#include <utility>

namespace fq {

event_mirror::~event_mirror() {
  for (auto& p : verifying_) p.deliver(make_error(errc::unavailable));
}

// -- after the journal

void event_mirror::begun(const batch& b) {
  if (!begun_) return;
  auto delta = delta_of(b, *sale_);
  const auto after = planted(bug::mirror_before_commit) ? 0 : b.to_seq;
  if (!delta.empty())
    journal_->hold(after, [this, g = generation_, d = std::move(delta)]() mutable { send(g, std::move(d)); });
}

void event_mirror::send(std::uint64_t generation, mirror_delta delta) {
  if (generation != generation_) return; // of an older generation
  auto step = std::make_shared<mirror_step>();
  step->aggregate = aggregate_;
  step->queue = sale_->event().id;
  step->generation = generation;
  step->number = steps_++;
  step->now = port_.now();
  step->delta = std::move(delta);
  step->ranks = sale_->queue().ranks();
  port_.send_step(std::move(step));
}

/// Committed changes whose step is not sent yet were not revealed either, so vouching is safe.
void event_mirror::vouch() {
  if (!begun_ || cache_is_away_ || steps_ == 0) return;
  const auto& event = sale_->event();
  port_.send_vouch(std::make_shared<const vouched_mirror>(
    vouched_mirror{aggregate_, event.id, event.tenant, generation_, steps_}));
}

// -- generations

void event_mirror::rebuild() {
  journal_->at_next_batch(begin_work()); // when the new generation or a later batch is submitted
  if (!planted(bug::generation_kept)) raise();
}

void event_mirror::lost(std::uint64_t generation) {
  if (generation != generation_ || !begun_ || planted(bug::lost_mirror_kept)) return;
  cache_is_away_ = true;
  raise(); // immediately: other nodes read the old keys until the ledger has the new generation
}

void event_mirror::cache_is_back() {
  if (!std::exchange(cache_is_away_, false)) return;
  journal_->at_boundary(begin_work());
}

void event_mirror::raise() {
  begun_ = false;
  steps_ = 0;
  report(mirror_state::lost, {});
  port_.raise(generation_++);
}

journal::boundary_work event_mirror::begin_work() {
  return [this] {
    begun_ = true;
    auto all = image_of(*sale_);
    mirror_delta everything{std::move(all.waiting), {}, std::move(all.sessions), {}, std::move(all.stock)};
    return [this, g = generation_, d = std::move(everything)]() mutable {
      steps_ = 0;
      send(g, std::move(d));
    };
  };
}

// -- comparing

void event_mirror::check() {
  if (cache_is_away_) return;
  journal_->at_boundary([this] {
    auto expected =
      std::make_shared<const expected_mirror>(expected_of(sale_->queue(), mirrored_stock_of(*sale_)));
    return [this, g = generation_, expected = std::move(expected)] {
      if (g == generation_ && begun_)
        port_.send_check({aggregate_, sale_->event().id, g, steps_, port_.now(), milliseconds{0}, expected});
    };
  });
}

void event_mirror::checked(const mirror_checked& result) {
  if (result.generation != generation_ || !begun_) return;
  report(result.state, result.differences);
  if (planted(bug::lost_mirror_kept)) return;
  if (result.state == mirror_state::lost || result.state == mirror_state::different) rebuild();
}

void event_mirror::verify(bool rebuild_first, caf::typed_response_promise<mirror_report> promise) {
  if (cache_is_away_) {
    promise.deliver(report_of(mirror_state::unavailable, {}));
    return;
  }
  if (rebuild_first) rebuild();
  verifying_.push_back(std::move(promise));
  check();
}

mirror_report event_mirror::report_of(mirror_state result, std::vector<std::string> differences) const {
  return {sale_->event().id, generation_, result, std::move(differences)};
}

void event_mirror::report(mirror_state result, const std::vector<std::string>& differences) {
  for (auto& p : std::exchange(verifying_, {})) p.deliver(report_of(result, differences));
}

// -- expected content

mirror_delta delta_of(const batch& b, const sale& truth) {
  auto delta = mirror_of(b.content);
  if (planted(bug::session_end_not_mirrored)) delta.ended.clear();
  if (moves_stock(b.content)) delta.stock = mirrored_stock_of(truth);
  return delta;
}

std::vector<mirrored_stock> mirrored_stock_of(const sale& truth) {
  std::vector<mirrored_stock> all;
  for (const auto& t : truth.stock().types()) all.push_back({t.id, t.total, t.held, t.sold});
  std::ranges::sort(all, {}, &mirrored_stock::id);
  return all;
}

mirror_image image_of(const sale& truth) {
  mirror_image all;
  const auto& line = truth.queue();
  all.waiting.reserve(line.counts().waiting + line.counts().away);
  line.each([&](const queue_line::entry& e) {
    if (is_in_line(e.status)) all.waiting.push_back(e.number);
    if (e.status == entry_status::admitted) all.sessions.push_back(session_of(e.row()));
  });
  all.stock = mirrored_stock_of(truth);
  return all;
}

} // namespace fq
