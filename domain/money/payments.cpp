// SPDX-License-Identifier: Apache-2.0
#include "domain/money/payments.hpp"

namespace fq {
namespace {
constexpr std::string_view reference_prefix = "fq-";

std::string receipt_key(std::string_view gateway, std::string_view event) {
  std::string key{gateway};
  key += ' ';
  key += event;
  return key;
}

/// Captured money that is kept until it is refunded.
constexpr bool counts_as_captured(payment_status s) {
  switch (s) {
    case payment_status::confirmed:
    case payment_status::confirmed_late:
    case payment_status::refund_pending:
    case payment_status::refunded:
    case payment_status::partially_refunded:
    case payment_status::refund_failed: return true;
    case payment_status::initializing:
    case payment_status::pending:
    case payment_status::failed:
    case payment_status::quarantined: return false;
  }
  return false;
}
} // namespace

std::string make_reference(const payment_id& id) { return std::string{reference_prefix} + to_string(id); }

std::optional<payment_id> parse_reference(std::string_view reference) {
  if (!reference.starts_with(reference_prefix)) return std::nullopt;
  return parse_uuid(reference.substr(reference_prefix.size()));
}

// -- ask_times

void ask_times::set(const payment_id& id, timestamp at) {
  erase(id);
  at_.emplace(id, at);
  order_.emplace(at, id);
}

void ask_times::erase(const payment_id& id) {
  const auto i = at_.find(id);
  if (i == at_.end()) return;
  order_.erase({i->second, id});
  at_.erase(i);
}

std::vector<payment_id> ask_times::due(timestamp t, std::size_t limit) const {
  std::vector<payment_id> ids;
  for (auto i = order_.begin(); i != order_.end() && i->first <= t && ids.size() < limit; ++i)
    ids.push_back(i->second);
  return ids;
}

// -- payments_book

void payments_book::index(const payment_row& row) {
  if (is_open(row.status)) asks_.set(row.id, row.updated_at + stale_after_);
  if (row.status == payment_status::failed && is_set(row.recheck_at)) rechecks_.set(row.id, row.recheck_at);
  if (is_refundable(row.status)) refundable_.insert(row.id);
  if (!row.other_currency.empty()) return;
  if (counts_as_captured(row.status)) captured_ += row.captured;
  refunded_ += row.refunded;
}

void payments_book::unindex(const payment_row& row) {
  asks_.erase(row.id);
  rechecks_.erase(row.id);
  refundable_.erase(row.id);
  if (!row.other_currency.empty()) return;
  if (counts_as_captured(row.status)) captured_ -= row.captured;
  refunded_ -= row.refunded;
}

void payments_book::rehome(const payment_row& row, const claim_id& before) {
  std::erase(by_claim_.at(before), row.id);
  by_claim_[row.claim].push_back(row.id);
}

void payments_book::load(const payment_row& row) {
  by_claim_[row.claim].push_back(row.id);
  index(rows_.emplace(row.id, row).first->second);
}

void payments_book::load(const refund_row& row) {
  refunds_.emplace(row.id, row);
  refunds_by_payment_[row.payment].push_back(row.id);
  if (row.status == refund_status::requested) refunds_wanted_.emplace(row.next_attempt_at, row.id);
}

void payments_book::load(const receipt_row& row) {
  receipts_.insert(receipt_key(row.gateway, row.gateway_event));
}

const payment_row* payments_book::find(const payment_id& id) const {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second;
}

const refund_row* payments_book::find_refund(const refund_id& id) const {
  const auto i = refunds_.find(id);
  return i == refunds_.end() ? nullptr : &i->second;
}

std::vector<payment_id> payments_book::of_claim(const claim_id& claim) const {
  const auto i = by_claim_.find(claim);
  return i == by_claim_.end() ? std::vector<payment_id>{} : i->second;
}

const payment_row* payments_book::open_of(const claim_id& claim) const {
  const auto i = by_claim_.find(claim);
  if (i == by_claim_.end()) return nullptr;
  for (const auto& id : i->second)
    if (const auto* p = find(id); is_open(p->status)) return p;
  return nullptr;
}

bool payments_book::has_receipt(std::string_view gateway, std::string_view gateway_event) const {
  return receipts_.contains(receipt_key(gateway, gateway_event));
}

std::vector<refund_id> payments_book::refunds_due(timestamp now, std::size_t limit) const {
  std::vector<refund_id> ids;
  for (auto i = refunds_wanted_.begin(); i != refunds_wanted_.end() && i->first <= now && ids.size() < limit;
       ++i)
    ids.push_back(i->second);
  return ids;
}

std::vector<refund_id> payments_book::requested_of(const payment_id& payment) const {
  auto ids = refunds_of(payment);
  std::erase_if(ids,
                [this](const refund_id& id) { return refunds_.at(id).status != refund_status::requested; });
  return ids;
}

std::vector<refund_id> payments_book::refunds_of(const payment_id& payment) const {
  const auto i = refunds_by_payment_.find(payment);
  return i == refunds_by_payment_.end() ? std::vector<refund_id>{} : i->second;
}

bool payments_book::owes_recheck(timestamp now) const {
  return std::ranges::any_of(rechecks_.ids(),
                             [&](const payment_id& id) { return find(id)->recheck_at <= now; });
}

timestamp payments_book::next_refund_attempt() const {
  return refunds_wanted_.empty() ? never : refunds_wanted_.begin()->first;
}

std::vector<payment_id> payments_book::refundable(std::size_t limit) const {
  std::vector<payment_id> ids;
  for (auto i = refundable_.begin(); i != refundable_.end() && ids.size() < limit; ++i) ids.push_back(*i);
  return ids;
}

const payment_row& payments_book::open(payment_row row, changes& out) {
  load(row);
  out.emplace_back(std::in_place_type<payment_opened>, payment_opened{row});
  return rows_.at(row.id);
}

void payments_book::move_attempts(const claim_id& from, const claim_id& to, changes& out) {
  for (const auto& id : of_claim(from)) {
    auto& row = rows_.at(id);
    row.claim = to;
    rehome(row, from);
    out.emplace_back(std::in_place_type<payment_moved>, payment_moved{row.status, row});
  }
}

const refund_row& payments_book::open(refund_row row, changes& out) {
  load(row);
  unanswered_.insert(row.id);
  out.emplace_back(std::in_place_type<refund_opened>, refund_opened{row});
  return refunds_.at(row.id);
}

bool payments_book::move(const refund_id& id, refund_trigger trigger, timestamp now, changes& out) {
  auto& row = refunds_.at(id);
  const auto from = row.status;
  const auto to = next(refund_rules, from, trigger);
  if (!to) return false;
  unanswered_.erase(id);
  refunds_wanted_.erase({row.next_attempt_at, id});
  row.status = *to;
  row.updated_at = now;
  if (row.status == refund_status::requested) refunds_wanted_.emplace(row.next_attempt_at, id);
  out.emplace_back(std::in_place_type<refund_moved>, refund_moved{from, row});
  return true;
}

void payments_book::tried(const refund_id& id, bool refused, timestamp next_attempt_at, timestamp now,
                          changes& out) {
  unanswered_.erase(id);
  auto& row = refunds_.at(id);
  refunds_wanted_.erase({row.next_attempt_at, id});
  if (refused) ++row.attempts;
  row.next_attempt_at = next_attempt_at;
  row.updated_at = now;
  refunds_wanted_.emplace(row.next_attempt_at, id);
  out.emplace_back(std::in_place_type<refund_moved>, refund_moved{row.status, row});
}

void payments_book::ask_again(const payment_id& id, timestamp at) {
  if (asks_.contains(id)) asks_.set(id, at);
}

void payments_book::recheck(const payment_id& id, timestamp at, changes& out) {
  auto& row = rows_.at(id);
  unindex(row);
  row.recheck_at = at;
  index(row);
  out.emplace_back(std::in_place_type<payment_moved>, payment_moved{row.status, row});
}

void payments_book::receive(receipt_row row, changes& out) {
  receipts_.insert(receipt_key(row.gateway, row.gateway_event));
  out.emplace_back(std::in_place_type<receipt_stored>, receipt_stored{std::move(row)});
}

} // namespace fq
