// SPDX-License-Identifier: Apache-2.0
#include "actors/sale/event_audit.hpp"

#include "actors/base/errors.hpp"
#include "actors/sale/event_mirror.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fq {
namespace {

std::map<std::uint32_t, claim_id> taken_seats(const sale& truth) {
  std::map<std::uint32_t, claim_id> taken;
  if (const auto* seats = truth.seats())
    for (const auto& [claim, list] : seats->map().claims())
      for (const auto n : list) taken[n] = claim;
  return taken;
}

std::map<std::string, queue_number> locks_of(const sale& truth) {
  std::map<std::string, queue_number> locks;
  for (const auto& [name, row] : truth.locks().all()) locks[name] = row.number;
  return locks;
}

std::map<std::uint32_t, seat_setting_row> changed_seats(const sale& truth) {
  std::map<std::uint32_t, seat_setting_row> changed;
  const auto* seats = truth.seats();
  if (seats == nullptr) return changed;
  const auto& map = seats->map();
  for (seat_number n = 0; n < map.size(); ++n) {
    const seat_setting_row row{n, map.type(n), map.state(n) == seat_state::blocked};
    if (row.is_blocked || row.ticket_type != map.type_in_plan(n)) changed.emplace(n, row);
  }
  return changed;
}

} // namespace

event_audit::~event_audit() {
  for (auto& p : asking_) p.deliver(make_error(errc::unavailable));
}

void event_audit::begin(caf::typed_response_promise<ledger_report> promise) {
  asking_.push_back(std::move(promise));
  if (asking_.size() > 1) return;
  journal_->at_boundary([this] {
    reading_ = reading{
      journal_->last_seq(),
      image_of(*sale_),
      {sale_->event(), sale_->stock().types(), taken_seats(*sale_), locks_of(*sale_), changed_seats(*sale_)},
      sale_->has_settled_tickets(),
      {}};
    return [this, n = ++readings_] { ask_ledger_(n); }; // after the commit, so that the ledger includes it
  });
}

void event_audit::begun(const batch& b) {
  if (!reading_ || b.to_seq <= reading_->seq) return;
  if (reading_->later.size() == batches_per_audit_max) return report({false, {}});
  later_batch later{b.to_seq, delta_of(b, *sale_), {}};
  std::ranges::copy_if(b.content, std::back_inserter(later.settings), is_audited);
  if (!later.delta.empty() || !later.settings.empty()) reading_->later.push_back(std::move(later));
}

void event_audit::peeked(const aggregate_peeked& answer) {
  if (!reading_ || answer.reading != readings_) return; // of an abandoned reading
  const bool is_ours = answer.found && answer.found->head.epoch == journal_->epoch();
  if (!is_ours) return report({});
  auto lines = compare(*answer.found);
  lines.insert(lines.end(), answer.of_log.begin(), answer.of_log.end());
  report({true, std::move(lines)});
}

std::vector<std::string> event_audit::compare(const aggregate_snapshot& found) const {
  if (found.head.applied_seq < reading_->seq || !found.image.event)
    return {"the ledger has lost commits that it had acknowledged"};
  auto memory = reading_->memory;
  auto settings = reading_->settings;
  std::vector<mirror_delta> deltas;
  for (const auto& l : reading_->later) {
    if (l.to_seq > found.head.applied_seq) continue;
    deltas.push_back(l.delta);
    settings.apply(l.settings);
  }
  apply_deltas(deltas, memory);
  const auto& image = found.image;
  const audited_rows rows{*image.event,        image.ticket_types,
                          image.entries,       image.claims,
                          image.payments,      image.refunds,
                          image.orders,        image.promo_codes,
                          image.event_tickets, reading_->has_settled_tickets,
                          image.scans,         image.plan ? &*image.plan : nullptr,
                          image.seat_settings, image.claim_seats,
                          image.locks,         sale_->seats()};
  auto lines = contradictions(rows);
  for (const auto& line : differences(mirror_of(image.entries, image.ticket_types), memory, timestamp{}))
    lines.push_back("memory: " + line);
  for (const auto& line : differences(settings, rows)) lines.push_back("memory: " + line);
  return lines;
}

void event_audit::report(const ledger_report& result) {
  reading_.reset();
  for (auto& p : std::exchange(asking_, {})) p.deliver(result);
}

} // namespace fq
