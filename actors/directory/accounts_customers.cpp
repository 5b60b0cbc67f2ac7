// SPDX-License-Identifier: Apache-2.0
// The part of accounts that shows a customer what is known of it, and erases it.
#include "actors/directory/accounts.hpp"

#include <utility>

namespace fq {

caf::result<customer_reply> accounts_state::on_find_customer(const find_customer& x) {
  if (core_.refuses()) return core_.refusal();
  const customer_row* row = nullptr;
  if (x.customer.is_nil()) {
    if (const auto known = customers_.find(x.email); known != customers_.end()) row = &known->second;
  } else if (const auto known = customers_by_id_.find(x.customer); known != customers_by_id_.end()) {
    row = known->second;
  }
  if (row == nullptr || row->email == erased_address(row->id)) return customer_reply{reason::not_found};
  return core_.commit({}, customer_reply{{}, row->id, row->email, row->created_at});
}

/// The tokens end like a sign-in of an organizer: by a row that has ended, with the customer's id.
caf::result<ack_reply> accounts_state::on_erase_customer(const erase_customer& x) {
  if (core_.refuses()) return core_.refusal();
  const auto known = customers_by_id_.find(x.customer);
  if (known == customers_by_id_.end()) return ack_reply{reason::not_found};
  auto& row = *known->second;
  changes content;
  if (row.email == erased_address(row.id)) return core_.commit(std::move(content), ack_reply{});
  for (const auto& id : sessions_of({}, true))
    if (sessions_.at(id).expires_at <= core_.now()) drop_session(id, content);
  if (sessions_of({}, true).size() >= services_->bounds.erased) {
    core_.note(std::move(content));
    refusal no{reason::unavailable, "Too many customers were erased lately."};
    no.first = std::chrono::ceil<seconds>(sessions_full_pause).count();
    return ack_reply{std::move(no)};
  }
  const organizer_session_row ended{row.id, {}, {}, core_.now(), core_.now() + x.lifetime, core_.now()};
  sessions_[ended.id] = ended;
  content.emplace_back(organizer_session_stored{ended});
  const auto address = row.email;
  while (otps_of_.contains(address)) drop(std::string{otps_of_.at(address).front()}, content);
  record({}, "customer.erase", x.note, row.id, content);
  row.to_erase = address;
  row.email = erased_address(row.id);
  content.emplace_back(customer_stored{row});
  row.to_erase.clear(); // the ledger's work from here on
  auto node = customers_.extract(address);
  node.key() = erased_address(x.customer);
  customers_.insert(std::move(node));
  return core_.commit(std::move(content), ack_reply{});
}

} // namespace fq
