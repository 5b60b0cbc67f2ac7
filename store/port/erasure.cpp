// SPDX-License-Identifier: Apache-2.0
#include "store/port/erasure.hpp"

#include "domain/base/address_text.hpp"

#include <algorithm>

namespace fq {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Orders of older programs have no address of the account. Returns whether there is a new one.
bool add_orders(erasure& e, const std::vector<order_contact>& orders) {
  const auto known = e.names.size();
  for (const auto& order : orders) {
    const auto lines = lines_of(e.names);
    const auto id = to_string(order.order);
    if (order.mail_address != lines.front() && std::ranges::find(lines, id) == lines.end())
      e.names += '\n' + id;
  }
  return e.names.size() != known;
}

/// Looks at the next rows of the pass. False: this part has no more.
bool look(erasure_store& store, erasure& e, std::size_t limit) {
  const auto wanted = limit * looks_per_change;
  const auto rows = store.rows_to_look_at(e, wanted);
  const auto names = lines_of(e.names);
  const auto matches = e.part == erasure_part::outbox ? is_of : is_of_serialized;
  for (const auto& row : rows) {
    e.after = row.key;
    if (!std::ranges::any_of(names, [&](std::string_view name) { return matches(row.text, name); })) continue;
    if (row.is_delivered)
      store.erase_row_of(e.part, row.key);
    else
      e.waits = true; // a mail may have other recipients, so it is sent first
  }
  return rows.size() == wanted;
}

} // namespace

std::size_t erase_some(erasure_store& store, const prune_bounds& bounds, std::size_t limit) {
  if (limit == 0) return 0;
  auto gone = is_set(bounds.contacts_before) ? store.erase_old_contacts(bounds.contacts_before, limit) : 0;
  if (gone == limit) return limit;
  auto next = store.next_erasure();
  if (!next) return gone;
  auto& e = *next;
  const auto contacts = store.contacts_of(e.customer, limit);
  if (add_orders(e, contacts)) { // stored before the contacts leave them
    e.part = erasure_part::outbox; // what was looked at without them is looked at again
    e.after = {};
    store.store_erasure(e);
  }
  for (const auto& order : contacts) store.empty_contact(order);
  if (contacts.size() == limit || store.empty_transfers(e.customer, limit) == limit
      || store.erase_devices(e.customer, limit) == limit)
    return limit;
  if (look(store, e, limit)) {
    store.store_erasure(e);
    return limit;
  }
  e.after = {};
  if (e.part == erasure_part::outbox) {
    e.part = erasure_part::idempotency;
    store.store_erasure(e);
    return limit;
  }
  const auto names = lines_of(e.names);
  for (const auto name : names) store.empty_letters(name);
  store.erase_address(names.front());
  if (bounds.on_erased && !e.waits) bounds.on_erased(std::string{names.front()});
  if (!e.waits) {
    store.end_erasure(e.customer);
    return limit; // another customer may be next
  }
  e.part = erasure_part::outbox;
  e.waits = false;
  ++e.round;
  store.store_erasure(e);
  return gone;
}

} // namespace fq
