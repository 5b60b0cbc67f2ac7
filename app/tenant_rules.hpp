// SPDX-License-Identifier: Apache-2.0
// Rules of tenants and organizers for all their events: block lists and notice routing. Written by the
// directory actor, read by event owners and the fan-out.
#pragma once
#include "domain/delivery/notice_routing.hpp"
#include "domain/sale/sale.hpp"
#include "store/port/ledger.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace fq {

class tenant_rules {
public:
  /// Returns true if the block lists or the erased customers have changed.
  bool publish(const access_directory& content);
  /// The block lists for an event of this tenant and organizer (nil: none).
  [[nodiscard]] blocked_customers blocked_at(tenant_id tenant, const organizer_id& organizer) const;
  [[nodiscard]] std::shared_ptr<const notice_routing> routing_of(tenant_id tenant) const; ///< never null
  /// Customers that were erased while their tokens are valid, among ended sign-ins. Sorted, never null.
  [[nodiscard]] std::shared_ptr<const std::vector<uuid>> erased() const;

private:
  using owner = std::pair<tenant_id, organizer_id>;
  using lists_of_owners = std::map<owner, std::shared_ptr<const blocked_customers::list>>;
  static lists_of_owners lists_of(const std::vector<block_row>* blocks);

  mutable std::mutex mutex_; // publish and the getters run on different threads
  std::shared_ptr<const std::vector<block_row>> blocks_;
  lists_of_owners lists_;
  std::shared_ptr<const std::vector<uuid>> erased_ = std::make_shared<const std::vector<uuid>>();
  std::map<tenant_id, std::shared_ptr<const notice_routing>> routings_;
  std::shared_ptr<const notice_routing> everything_ = std::make_shared<const notice_routing>();
};

} // namespace fq
