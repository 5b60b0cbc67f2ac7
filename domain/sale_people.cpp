// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about single customers, as its organizer wishes: whom it does not serve, and who is invited to a quota (a hidden ticket
// type). A use of an invitation is what its customer holds or has bought of the type, so nothing has to be given back when a claim ends.
#include "domain/invalid_field.hpp"
#include "domain/sale.hpp"

#include <algorithm>
#include <utility>

namespace fq {
// -- blocks ------------------------------------------------------------------------------------------------------------

void sale::block(blocked_customers blocked) {
  if (!sells()) return; // subjects of queues are their tenants', who decide before they join
  const auto before = std::exchange(blocked_, std::move(blocked));
  if (!blocked_) return;
  std::ranges::copy_if(*blocked_, std::back_inserter(to_send_away_), [&](const customer_id& c) { return !before || !before->contains(c); });
}

/// Ends what `customer` has here; true if there was something. What cannot end now (a refund of some tickets is under way) is looked at again
/// when that has.
bool sale::send_away(const customer_id& customer, timestamp now, decision& out) {
  block_effect effect{.customer = customer};
  for (const auto& id : claims_.standing_of(customer)) {
    const auto& claim = *claims_.find(id);
    if (!is_live(claim.status)) {
      effect.refunds += give_back(claim, now, out) ? 1 : 0;
    } else if (claim.status == claim_status::claimed || payments_.open_of(id) == nullptr) { // others wait for their gateway already
      withdraw(claim, now, out, {order_trigger::cancel, {}});
      ++effect.claims;
    }
  }
  if (const auto* own = queue_.find(customer); own != nullptr && is_live(own->row.status)) {
    end_entry(own->row.number, own->row.status == entry_status::admitted ? entry_trigger::revoke : entry_trigger::leave, now, out);
    effect.had_place = true;
  }
  if (!effect.had_place && effect.claims == 0 && effect.refunds == 0) return false;
  out.blocked.push_back(effect);
  return true;
}

// -- invitations -------------------------------------------------------------------------------------------------------

std::uint32_t sale::remaining_of(const invitation_row& invitation) const {
  const auto used = claims_.units_of(invitation.customer, invitation.ticket_type);
  return used < invitation.quantity ? invitation.quantity - static_cast<std::uint32_t>(used) : 0;
}

const invitation_row* sale::invitation_of(const customer_id& customer, timestamp now) const {
  const auto found = invitations_.find(customer);
  if (found == invitations_.end() || (is_set(found->second.valid_until) && now >= found->second.valid_until)) return nullptr;
  return &found->second;
}

refusal sale::invite(const std::vector<customer_id>& customers, const invitation_wish& wish, timestamp now, decision& out,
                     std::vector<customer_id>& invited) {
  if (event_.status != event_status::active && event_.status != event_status::paused)
    return {reason::invalid_transition, std::string{name_of(event_.status)}};
  const auto* type = stock_.find(wish.ticket_type);
  if (type == nullptr || !type->hidden) return invalid_field("ticket_type_id", "must be a hidden ticket type of the event");
  if (wish.quantity < 1 || wish.quantity > type->max_per_order) return invalid_field("quantity", "must be 1 to max_per_order of the ticket type");
  if (is_set(wish.valid_until) && wish.valid_until <= now) return invalid_field("valid_until", "must be in the future");
  if (invitations_.size() + customers.size() > invitations_max) return invalid_field("emails", "the event has too many invitations");
  const std::set<customer_id> asked(customers.begin(), customers.end());
  std::int64_t promised = 0;
  for (const auto& [customer, row] : invitations_)
    if (row.ticket_type == type->ordinal && !asked.contains(customer) && invitation_of(customer, now) != nullptr) promised += remaining_of(row);
  const auto free = type->total - type->held - type->sold - promised;
  std::int64_t wanted = 0;
  for (const auto& customer : asked)
    if (!is_blocked(customer)) wanted += remaining_of({customer, type->ordinal, wish.quantity, never, never});
  if (wanted > free) {
    refusal no{reason::quota_exceeded};
    no.first = std::max<std::int64_t>(free, 0);
    return no;
  }
  for (const auto& customer : asked) {
    if (is_blocked(customer)) continue;
    const auto before = invitations_.find(customer);
    invitation_row row{customer, type->ordinal, wish.quantity, wish.valid_until, now};
    if (before != invitations_.end()) row.created_at = before->second.created_at;
    if (before != invitations_.end() && before->second == row) continue; // knows already
    row.created_at = now;
    invitations_[customer] = row;
    out.content.emplace_back(std::in_place_type<invitation_stored>, invitation_stored{row});
    invited.push_back(customer);
  }
  out.reveals = true;
  return {};
}

std::size_t sale::withdraw_invitations(const std::vector<customer_id>& customers, decision& out) {
  std::size_t withdrawn = 0;
  for (const auto& customer : customers) {
    if (invitations_.erase(customer) == 0) continue;
    out.content.emplace_back(std::in_place_type<invitation_removed>, invitation_removed{customer});
    ++withdrawn;
  }
  out.reveals = true;
  return withdrawn;
}

} // namespace fq
