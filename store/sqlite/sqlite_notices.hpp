// SPDX-License-Identifier: Apache-2.0
// Devices, webhook endpoints, deliveries, pictures, witnessed logs and tasks in SQL: what has no owner.
// Called by sqlite_ledger, inside its transactions.
#pragma once
#include "store/port/ledger.hpp"
#include "store/sqlite/sqlite.hpp"
#include "store/sqlite/sqlite_pictures.hpp"
#include "store/sqlite/sqlite_tasks.hpp"
#include "store/sqlite/sqlite_witness.hpp"

#include <span>
#include <vector>

namespace fq {

class sqlite_notices {
public:
  explicit sqlite_notices(sqlite_db& db);

  notice_audience audience(const audience_filter& filter);
  std::vector<device_row> crowd(const crowd_filter& filter);
  void store_delivery(const delivery_row& row);
  std::vector<due_delivery> take_deliveries(const due_filter& filter, timestamp now);
  void settle_delivery(const delivery_row& row);
  std::vector<delivery_row> list_deliveries(const delivery_filter& filter);
  bool replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice, timestamp now);
  uuid register_device(const device_row& device);
  std::vector<device_row> list_devices(const uuid& holder);
  bool remove_device(const uuid& holder, const uuid& device);
  void end_device(const uuid& device, timestamp since, const std::string& reason, timestamp at);
  bool store_endpoint(const webhook_endpoint_row& endpoint);
  std::vector<webhook_endpoint_row> list_endpoints(tenant_id tenant);
  bool disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since, timestamp at);
  bool remove_endpoint(tenant_id tenant, const uuid& endpoint);
  std::size_t prune(const prune_bounds& bounds, std::size_t limit);

  sqlite_pictures pictures;
  sqlite_witness witness;
  sqlite_tasks tasks;

private:
  std::vector<due_delivery> due_of_all(const due_filter& filter, timestamp now);
  std::vector<due_delivery> due_of_each(const due_filter& filter, timestamp now);

  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement devices_of, endpoints_on, tenants_of, crowd, store_delivery, due, next_target,
      due_of_target, hold, settle, list_target, list_holder, list_tenant, replay, register_device,
      forget_devices, remove_device, end_device, add_endpoint, change_endpoint, endpoints_of,
      disable_endpoint, disable_endpoint_at_once, remove_endpoint, prune_deliveries, prune_devices;
  };
  statements sql_;
};

} // namespace fq
