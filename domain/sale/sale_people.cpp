// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about single customers: blocks, and invitations to a quota (a hidden ticket type). The
// use of an invitation is computed from the tickets that its customer holds or has bought, so a released
// claim needs no correction.
#include "domain/model/invalid_field.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>
#include <utility>

namespace fq {

// -- personal data

void sale::forget_contacts_of_sales_before(timestamp before) {
  const auto is_over = event_.status == event_status::ended || event_.status == event_status::cancelled;
  if (is_over && event_.sale_end < before) orders_.forget_old_contacts();
}

// -- blocks

void sale::block(const blocked_customers& blocked) {
  if (!sells() || blocked == blocked_) return; // a tenant checks the subjects of its queues before they join
  const auto before = std::exchange(blocked_, blocked);
  const auto is_new = [&](const auto& entry) {
    const auto& [customer, includes_ended] = entry;
    return !before.contains(customer) || (includes_ended && !before.includes_ended(customer));
  };
  for (const auto& list : {blocked_.own, blocked_.of_tenant})
    if (list)
      for (const auto& entry : *list)
        if (is_new(entry)) blocked_to_end_.push_back(entry.first);
}

/// Ends the customer's entry and claims here, then schedules the refunds.
void sale::end_customer(const customer_id& customer, timestamp now, decision& out) {
  block_effect effect{.customer = customer};
  const auto standing = claims_.standing_of(customer);
  if (!standing.empty()) blocked_to_refund_.push_back(customer);
  for (const auto& id : standing) {
    const auto& claim = *claims_.find(id);
    const bool waits_for_gateway = claim.status != claim_status::claimed && payments_.open_of(id) != nullptr;
    if (!is_live(claim.status) || waits_for_gateway) continue;
    withdraw(claim, now, out, {order_trigger::cancel, {}});
    ++effect.claims;
  }
  if (const auto* own = queue_.find(customer); own != nullptr && is_live(own->status)) {
    note(hand_record{hand_action::block, own->number, 0, {}, {}}, out);
    end_entry(own->number,
              own->status == entry_status::admitted ? entry_trigger::revoke : entry_trigger::leave, now, out,
              left_why::hand);
    effect.had_place = true;
  }
  if (effect.had_place || effect.claims > 0) out.blocked.push_back(effect);
}

// -- invitations

std::uint32_t sale::remaining_of(const invitation_row& invitation) const {
  const auto used = claims_.units_of(invitation.customer, invitation.ticket_type);
  return used < invitation.quantity ? invitation.quantity - static_cast<std::uint32_t>(used) : 0;
}

const invitation_row* sale::invitation_of(const customer_id& customer, timestamp now) const {
  const auto found = invitations_.find(customer);
  if (found == invitations_.end() || (is_set(found->second.valid_until) && now >= found->second.valid_until))
    return nullptr;
  return &found->second;
}

refusal sale::invite(const std::vector<customer_id>& customers, const invitation_wish& wish, timestamp now,
                     decision& out) {
  if (event_.status != event_status::active && event_.status != event_status::paused)
    return {reason::invalid_transition, std::string{name_of(event_.status)}};
  if (is_closing()) return reason::unavailable;
  const auto* type = stock_.find(wish.ticket_type);
  if (type == nullptr || !type->hidden)
    return invalid_field("ticket_type_id", "must be a hidden ticket type of the event");
  if (wish.quantity < 1 || wish.quantity > type->max_per_order)
    return invalid_field("quantity", "must be 1 to max_per_order of the ticket type");
  if (is_set(wish.valid_until) && wish.valid_until <= now)
    return invalid_field("valid_until", "must be in the future");
  if (invitations_.size() + customers.size() > rules_.bounds.invitations)
    return invalid_field("emails", "the event has too many invitations");
  const std::set<customer_id> asked(customers.begin(), customers.end());
  std::int64_t promised = 0, wanted = 0;
  for (const auto& [customer, row] : invitations_)
    if (row.ticket_type == type->ordinal && !asked.contains(customer) && !is_blocked(customer)
        && invitation_of(customer, now) != nullptr)
      promised += remaining_of(row);
  for (const auto& customer : asked)
    if (!is_blocked(customer)) wanted += remaining_of({customer, type->ordinal, wish.quantity, never, never});
  const auto free = type->total - type->held - type->sold - promised;
  if (wanted > free) {
    refusal no{reason::quota_exceeded};
    no.first = std::max<std::int64_t>(free, 0);
    return no;
  }
  const auto first = out.records.size();
  std::size_t stored = 0;
  for (const auto& customer : asked) {
    if (is_blocked(customer)) continue;
    const auto before = invitations_.find(customer);
    const bool is_news =
      before == invitations_.end() || now - before->second.told_at >= invitation_mail_pause;
    const invitation_row row{customer, type->ordinal, wish.quantity, wish.valid_until,
                             is_news ? now : before->second.told_at};
    if (!is_news && before->second == row) continue;
    store_invitation(row, now, out);
    ++stored;
    if (is_news) out.invited.push_back(row);
  }
  if (stored > 0) note_access(first, "invited=" + std::to_string(stored), out);
  return {};
}

std::size_t sale::withdraw_invitations(const std::vector<customer_id>& customers, timestamp now,
                                       decision& out) {
  const auto first = out.records.size();
  std::size_t withdrawn = 0;
  for (const auto& customer : customers) {
    const auto* valid = invitation_of(customer, now);
    if (valid == nullptr) continue;
    auto row = *valid;
    row.valid_until = now; // the row stays as a tombstone with the time of the last notification
    store_invitation(row, now, out);
    ++withdrawn;
  }
  if (withdrawn > 0) note_access(first, "uninvited=" + std::to_string(withdrawn), out);
  return withdrawn;
}

void sale::store_invitation(const invitation_row& row, timestamp now, decision& out) {
  invitations_[row.customer] = row;
  regroup(row.customer, now, out);
  out.content.emplace_back(std::in_place_type<invitation_stored>, invitation_stored{row});
  out.reveals = true;
}

} // namespace fq
