// SPDX-License-Identifier: Apache-2.0
// The catalog: allocates aggregate numbers for new events and writes their first rows; lists events from
// committed state.
#pragma once
#include "actors/base/answers.hpp"
#include "actors/directory/limits.hpp"
#include "actors/protocol/catalog_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/storage/owner.hpp"
#include "domain/sale/idempotency.hpp"

#include <functional>
#include <map>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace fq {

class catalog_state {
public:
  static inline const char* name = "catalog";
  using pointer = catalog_handle::stateful_pointer<catalog_state>;

  void init(pointer self, environment& env, ledger_workers ledgers, bool has_cluster);
  catalog_handle::behavior_type behavior();

private:
  void on_acquired(const aggregate_acquired& answer);
  void on_last_aggregate(const last_aggregate_found& found);
  caf::result<event_reply> on_create(const create_event& x);
  caf::result<event_reply> create(const create_event& x, caf::response_promise promise);
  caf::result<tenant_plan_reply> on_store_plan(const store_tenant_plan& x);
  caf::result<tenant_plan_reply> store_plan(const store_tenant_plan& x,
                                            const std::vector<seat_plan_row>& found,
                                            caf::response_promise promise);
  void reserve(const create_event& x, std::function<void(std::optional<refusal>)> then);

  pointer self_ = nullptr;
  global_owner<pointer> core_;
  idempotency_index answers_;
  std::uint64_t epoch_ = 0; ///< of the latest load
  std::uint32_t last_ = 0;
  /// External ids allocated since the load or being checked, so that two concurrent requests cannot use the
  /// same one.
  std::map<std::pair<tenant_id, std::string>, event_id> external_ids_;
};

catalog_handle::behavior_type catalog(catalog_handle::stateful_pointer<catalog_state> self, environment* env,
                                      ledger_workers ledgers, bool has_cluster);

} // namespace fq
