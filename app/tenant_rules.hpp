// SPDX-License-Identifier: Apache-2.0
// What tenants and organizers have decided for all their events: whom they do not serve, and by which
// channels their notices go. Written by the directory actor, read by owners of events and by the fan-out.
#pragma once
#include "domain/delivery/notice_routing.hpp"
#include "domain/sale/sale.hpp"
#include "store/port/ledger.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace fq {

class tenant_rules {
public:
  /// True if somebody else is blocked now than before.
  bool publish(const access_directory& content);
  /// At an event of this tenant and organizer (nil: none).
  [[nodiscard]] blocked_customers blocked_at(tenant_id tenant, const organizer_id& organizer) const;
  [[nodiscard]] std::shared_ptr<const notice_routing> routing_of(tenant_id tenant) const; ///< never null

private:
  using owner = std::pair<tenant_id, organizer_id>;
  using lists_of_owners = std::map<owner, std::shared_ptr<const blocked_customers::list>>;
  static lists_of_owners lists_of(const std::vector<block_row>* blocks);

  mutable std::mutex mutex_; // two actors' threads meet here
  std::shared_ptr<const std::vector<block_row>> blocks_;
  lists_of_owners lists_;
  std::map<tenant_id, std::shared_ptr<const notice_routing>> routings_;
  std::shared_ptr<const notice_routing> everything_ = std::make_shared<const notice_routing>();
};

} // namespace fq
