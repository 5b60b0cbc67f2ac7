// SPDX-License-Identifier: Apache-2.0
// The event actor's requests about individual customers: priorities and invitations.
#include "actors/sale/event_actor.hpp"

#include "actors/sale/mails.hpp"
#include "domain/delivery/outbox.hpp"

#include <algorithm>

namespace fq {

caf::result<count_reply> event_state::on_set_priorities(const set_priorities& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return count_reply{std::move(no)};
  const auto t = now();
  const auto priority_class = x.priority_class.given ? std::optional{x.priority_class.value} : std::nullopt;
  decision d;
  count_reply reply;
  if (auto no = sale_->set_priorities(x.customers, priority_class, t, d))
    return reveal(count_reply{std::move(no)});
  reply.count = x.customers.size();
  record(d, x.what, x.note, "priority", t);
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<customers_reply> event_state::on_find_priorities(const find_priorities& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return customers_reply{std::move(no)};
  customers_reply reply;
  for (const auto& [customer, row] : sale_->priorities()) reply.customers.push_back(customer);
  return reveal(std::move(reply));
}

caf::result<count_reply> event_state::on_invite(const invite_customers& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return count_reply{std::move(no)};
  const auto t = now();
  decision d;
  if (auto no = sale_->invite(x.customers, x.wish, t, d)) return reveal(count_reply{std::move(no)});
  std::vector<invited_mailbox> invited;
  for (std::size_t i = 0; i < std::min(x.customers.size(), x.emails.size()); ++i)
    if (std::ranges::find(d.invited, x.customers[i], &invitation_row::customer) != d.invited.end())
      invited.push_back({x.emails[i], i < x.languages.size() ? x.languages[i] : language::en});
  if (!d.invited.empty())
    for (auto& mail : invitation_mails(invited, d.invited.front(), *sale_))
      add_mail(topic::quota_invitation, std::move(mail), t, d.content);
  record(d, x.what, x.note, "invite", t);
  count_reply reply;
  reply.count = d.invited.size();
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<count_reply> event_state::on_withdraw_invitations(const withdraw_invitations& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return count_reply{std::move(no)};
  const auto t = now();
  decision d;
  count_reply reply;
  reply.count = sale_->withdraw_invitations(x.customers, t, d);
  record(d, x.what, x.note, "withdraw_invitation", t);
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<invitations_reply> event_state::on_find_invitations(const find_invitations& x) {
  if (refuses()) return refused(x);
  const bool is_own = !x.viewer.is_nil() && !is_no_sale(x.what.event);
  if (auto no = refused_to(x.what); no && !is_own) return invitations_reply{std::move(no)};
  invitations_reply reply;
  reply.currency = sale_->event().currency;
  const auto add = [&](const invitation_row& row) {
    reply.invitations.push_back(row);
    reply.left.push_back(sale_->remaining_of(row));
    reply.ticket_types.push_back(sale_->stock().types()[row.ticket_type]);
  };
  if (is_own) {
    const auto* own = sale_->invitation_of(x.viewer, now());
    if (own == nullptr) return reveal(invitations_reply{reason::not_found});
    add(*own);
    return reveal(std::move(reply));
  }
  const auto& all = sale_->invitations();
  for (auto i = all.upper_bound(x.after); i != all.end() && !reply.more; ++i) {
    reply.more = reply.invitations.size() == x.limit;
    if (!reply.more) add(i->second);
  }
  return reveal(std::move(reply));
}

} // namespace fq
