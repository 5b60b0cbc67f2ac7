// SPDX-License-Identifier: Apache-2.0
// The part of accounts that shows a customer what is known of it, and erases it.
#include "actors/directory/accounts.hpp"

#include <utility>

namespace fq {

caf::result<customer_reply> accounts_state::on_find_customer(const find_customer& x) {
  if (core_.refuses()) return core_.refusal();
  const auto* row = x.customer.is_nil() ? customers().find(x.email) : customers().find(x.customer);
  if (row == nullptr) return customer_reply{reason::not_found};
  if (row->email == erased_address(row->id)) return customer_reply{reason::not_found, row->id};
  return core_.commit({}, customer_reply{{}, row->id, row->email, row->created_at, row->language});
}

/// Asks the ledger for open purchases first. An order that is placed meanwhile goes on: the ledger's work
/// finds its contact.
caf::result<ack_reply> accounts_state::on_erase_customer(const erase_customer& x) {
  if (core_.refuses()) return core_.refusal();
  if (customers().find(x.customer) == nullptr && (x.email.empty() || id_of(x.email) != x.customer))
    return ack_reply{reason::not_found};
  auto promise = self_->make_response_promise();
  self_->request(core_.reader(), open_purchase_timeout, find_open_purchase{x.customer})
    .then(
      [this, x, promise](const purchase_found& found) mutable {
        if (core_.refuses() || !found.was_read) return promise.deliver(core_.refusal());
        switch (found.what) {
          case open_purchase::none: return erase(x, std::move(promise));
          case open_purchase::claim:
            return promise.deliver(
              ack_reply{{reason::claim_live, "Release the claim, or wait until it expires."}});
          case open_purchase::payment:
            return promise.deliver(ack_reply{
              {reason::payment_open, "A purchase or a refund is open: pay or cancel it, or wait."}});
        }
      },
      [this, promise](const caf::error&) mutable { promise.deliver(core_.refusal()); });
  return caf::delegated<ack_reply>{};
}

/// The tokens end like a sign-in of an organizer: by a row that has ended, with the customer's id.
void accounts_state::erase(const erase_customer& x, caf::response_promise promise) {
  if (customers().find(x.customer) == nullptr && !x.email.empty())
    customers().add({x.customer, default_tenant, x.email, core_.now()});
  const auto* known = customers().find(x.customer);
  if (known == nullptr) return promise.deliver(ack_reply{reason::not_found});
  auto row = *known;
  changes content;
  const auto answer = [&](ack_reply reply) {
    core_.hold(std::move(promise), std::move(content), std::move(reply));
  };
  if (row.email == erased_address(row.id)) return answer({});
  for (const auto& id : sessions_of({}, true))
    if (sessions_.at(id).expires_at <= core_.now()) drop_session(id, content);
  const auto most = services_->bounds.erased;
  if (sessions_of({}, true).size() >= (x.by_operator ? most : most - most / erased_reserve_part)) {
    refusal no{reason::unavailable, "Too many customers were erased lately."};
    no.first = std::chrono::ceil<seconds>(sessions_full_pause).count();
    return answer({std::move(no)});
  }
  const organizer_session_row ended{row.id, {}, {}, core_.now(), core_.now() + x.lifetime, core_.now()};
  sessions_[ended.id] = ended;
  content.emplace_back(organizer_session_stored{ended});
  const auto address = row.email;
  while (otps_of_.contains(address)) drop(std::string{otps_of_.at(address).front()}, content);
  record({}, "customer.erase", x.note, row.id, content);
  row = customers().erase(row.id);
  row.to_erase = address; // the ledger's work from here on
  tell_of(row, content);
  answer({});
}

} // namespace fq
