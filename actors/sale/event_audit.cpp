// SPDX-License-Identifier: Apache-2.0
#include "actors/sale/event_audit.hpp"

#include "actors/base/errors.hpp"
#include "actors/sale/event_mirror.hpp"
#include "domain/sale/audit.hpp"

#include <utility>

namespace fq {

event_audit::~event_audit() {
  for (auto& p : asking_) p.deliver(make_error(errc::unavailable));
}

void event_audit::begin(caf::typed_response_promise<ledger_report> promise) {
  asking_.push_back(std::move(promise));
  if (asking_.size() > 1) return;
  journal_->at_boundary([this] {
    reading_ = reading{journal_->last_seq(), image_of(*sale_), {}};
    return [this, n = ++readings_] { ask_ledger_(n); }; // after the commit, so that the ledger includes it
  });
}

void event_audit::begun(const batch& b) {
  if (!reading_ || b.to_seq <= reading_->seq) return;
  if (reading_->later.size() == batches_per_audit_max) return report({false, {}});
  auto delta = delta_of(b, *sale_);
  if (!delta.empty()) reading_->later.push_back({b.to_seq, std::move(delta)});
}

void event_audit::peeked(const aggregate_peeked& answer) {
  if (!reading_ || answer.reading != readings_) return; // of an abandoned reading
  const bool is_ours = answer.found && answer.found->head.epoch == journal_->epoch();
  report(is_ours ? ledger_report{true, compare(*answer.found)} : ledger_report{});
}

std::vector<std::string> event_audit::compare(const aggregate_snapshot& found) const {
  if (found.head.applied_seq < reading_->seq || !found.image.event)
    return {"the ledger has lost commits that it had acknowledged"};
  auto memory = reading_->memory;
  std::vector<mirror_delta> deltas;
  for (const auto& l : reading_->later)
    if (l.to_seq <= found.head.applied_seq) deltas.push_back(l.delta);
  apply_deltas(deltas, memory);
  const auto& rows = found.image;
  auto lines = contradictions({*rows.event, rows.ticket_types, rows.entries, rows.claims, rows.payments,
                               rows.refunds, rows.orders, rows.promo_codes});
  for (const auto& line : differences(mirror_of(rows.entries, rows.ticket_types), memory, timestamp{}))
    lines.push_back("memory: " + line);
  return lines;
}

void event_audit::report(const ledger_report& result) {
  reading_.reset();
  for (auto& p : std::exchange(asking_, {})) p.deliver(result);
}

} // namespace fq
