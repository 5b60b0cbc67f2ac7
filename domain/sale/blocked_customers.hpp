// SPDX-License-Identifier: Apache-2.0
// The customers that an event's organizer or tenant has blocked.
#pragma once
#include "domain/base/ids.hpp"

#include <map>
#include <memory>

namespace fq {

/// The block lists that apply to an event: its organizer's and its tenant's, both shared by many events.
/// Null: empty list.
struct blocked_customers {
  using list = std::map<customer_id, bool>; ///< value: refund purchases from ended sales too
  std::shared_ptr<const list> own, of_tenant;

  [[nodiscard]] bool contains(const customer_id& c) const {
    return (own && own->contains(c)) || (of_tenant && of_tenant->contains(c));
  }
  /// Whether purchases from ended sales are refunded too.
  [[nodiscard]] bool includes_ended(const customer_id& c) const { return says(own, c) || says(of_tenant, c); }
  /// Compares pointers: true for the same list objects, not for equal contents.
  friend bool operator==(const blocked_customers&, const blocked_customers&) = default;

private:
  static bool says(const std::shared_ptr<const list>& l, const customer_id& c) {
    const auto found = l ? l->find(c) : list::const_iterator{};
    return l && found != l->end() && found->second;
  }
};

} // namespace fq
