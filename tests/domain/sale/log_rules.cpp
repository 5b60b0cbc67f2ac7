// SPDX-License-Identifier: Apache-2.0
#include "tests/domain/sale/log_rules.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

namespace fq::test {
namespace {

std::string text(queue_number n) { return "number " + std::to_string(value_of(n)); }

} // namespace

void log_rules::take(const log_record& record, const std::function<const entry_row*(queue_number)>& row) {
  ++size_;
  if (std::holds_alternative<begin_record>(record) != (size_ == 1)) fail("begin is first, and only there");
  if (const auto* j = std::get_if<joined_record>(&record)) return join(*j, row(j->number));
  std::visit([this](const auto& r) { one(r); }, record);
}

void log_rules::join(const joined_record& r, const entry_row* row) {
  const auto n = r.number;
  if (row == nullptr) return fail(text(n) + " joined and has no row");
  const auto number = value_of(n);
  const bool is_older = number > highest_ && number <= joined_before_;
  if (!is_older && number != std::max(highest_, joined_before_) + 1) fail(text(n) + " joined out of order");
  highest_ = number;
  entries_[n] = {{n, r.priority_class.value_or(row->priority_class), 0, {}}, state::waiting};
}

void log_rules::one(const begin_record& r) {
  std::istringstream lines(r.settings);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("joined_before=")) joined_before_ = std::stoull(line.substr(14));
    if (line.starts_with("policy=")) is_operated_ = line == "policy=operator";
  }
}

log_rules::entry* log_rules::find(queue_number n, const std::set<state>& in) {
  const auto found = entries_.find(n);
  if (found != entries_.end() && in.contains(found->second.is)) return &found->second;
  fail(text(n) + (found == entries_.end() ? " never joined" : " is in another state"));
  return nullptr;
}

void log_rules::use_hand(queue_number n) {
  if (is_cancelled_) return;
  const auto hand = removals_.find(n);
  if (hand == removals_.end()) return fail(text(n) + " was removed without a hand");
  removals_.erase(hand);
}

void log_rules::one(const changed_record& r) {
  auto* e = find(r.now.number, {state::waiting, state::away});
  if (e == nullptr) return;
  if (e->where.priority_class != r.now.priority_class) fail(text(r.now.number) + " changed its class");
  if (r.by == changed_by::hand && accessed_-- == 0) fail(text(r.now.number) + " was changed without a hand");
  e->where.opens = r.now.opens;
  e->where.party = r.now.party;
}

void log_rules::one(const left_record& r) {
  auto* e = find(r.number, {state::waiting, state::away});
  if (r.why == left_why::hand) use_hand(r.number);
  if (e != nullptr) e->is = state::over;
}

void log_rules::one(const away_record& r) {
  if (auto* e = find(r.number, {state::waiting})) e->is = state::away;
}

void log_rules::one(const back_record& r) {
  if (auto* e = find(r.number, {state::away})) e->is = state::waiting;
}

void log_rules::one(const admitted_record& r) {
  if (is_paused_) fail("admits while paused");
  auto units = r.public_units;
  auto pools = r.hidden_units;
  const auto pool_of = [&](hidden_types opens) {
    return std::ranges::find_if(pools, [&](const auto& p) { return p.units > 0 && (opens >> p.type & 1); });
  };
  const auto serves = [&](const entry& e) { return units > 0 || pool_of(e.where.opens) != pools.end(); };
  const auto spot = [&](const entry& e) {
    return std::tuple{e.where.priority_class, rank_of ? rank_of(e.where.number) : value_of(e.where.number)};
  };
  for (const auto n : r.numbers) {
    auto* e = find(n, {state::waiting});
    if (e == nullptr) continue;
    if (!serves(*e)) fail(text(n) + " was admitted without a unit");
    for (const auto& [other, o] : entries_)
      if (o.is == state::waiting && serves(o) && spot(o) < spot(*e))
        fail(text(n) + " overtook " + text(other));
    if (const auto pool = pool_of(e->where.opens); pool != pools.end())
      --pool->units;
    else if (units > 0)
      --units;
    e->is = state::admitted;
    ++admissions_;
  }
  if (!is_operated_) return;
  if (r.numbers.size() > called_) fail("admits more than were called");
  called_ -= std::min<std::uint64_t>(called_, r.numbers.size());
}

void log_rules::one(const session_ended_record& r) {
  if (r.why == session_end::revoked) use_hand(r.number);
  if (value_of(r.number) <= joined_before_ && !entries_.contains(r.number)) return;
  if (auto* e = find(r.number, {state::admitted})) e->is = state::over;
}

/// Members of a party get the lowest of their classes.
void log_rules::one(const closed_record&) {
  std::map<queue_number, std::uint8_t> lowest;
  const auto is_in_party = [](const entry& e) {
    return e.where.party != queue_number{} && (e.is == state::waiting || e.is == state::away);
  };
  for (const auto& [n, e] : entries_)
    if (is_in_party(e)) lowest[e.where.party] = std::max(lowest[e.where.party], e.where.priority_class);
  for (auto& [n, e] : entries_)
    if (is_in_party(e)) e.where.priority_class = lowest[e.where.party];
}

void log_rules::one(const hand_record& r) {
  switch (r.action) {
    case hand_action::revoke:
    case hand_action::block: removals_.insert(r.number); return;
    case hand_action::advance: called_ += r.count; return;
    case hand_action::pause: is_paused_ = true; return;
    case hand_action::resume: is_paused_ = false; return;
    case hand_action::cancel: is_cancelled_ = true; return;
    case hand_action::settings:
    case hand_action::waiting_list:
      if (const auto at = r.change.find("policy="); at != std::string::npos)
        is_operated_ = r.change.substr(at, 15) == "policy=operator";
      return;
    case hand_action::access: accessed_ = r.count; return;
    case hand_action::priority:
    case hand_action::end_wait:
    case hand_action::end: return;
  }
}

std::string log_rules::differs(const std::map<queue_number, entry_row>& rows) const {
  for (const auto& [n, row] : rows) {
    if (value_of(n) <= joined_before_ && !entries_.contains(n)) continue;
    const auto is = row.status == entry_status::waiting    ? state::waiting
                    : row.status == entry_status::away     ? state::away
                    : row.status == entry_status::admitted ? state::admitted
                                                           : state::over;
    const auto found = entries_.find(n);
    if (found == entries_.end()) return text(n) + " is in the ledger, and its join is not in the log";
    if (found->second.is != is) return text(n) + " has another state in the ledger than in the log";
  }
  return {};
}

} // namespace fq::test
