// SPDX-License-Identifier: Apache-2.0
// Devices, webhook endpoints, deliveries, pictures, witnessed logs and tasks in SQL: what has no owner.
// Called by postgres_ledger.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"
#include "store/postgres/postgres_pictures.hpp"
#include "store/postgres/postgres_tasks.hpp"
#include "store/postgres/postgres_witness.hpp"

#include <span>
#include <vector>

namespace fq {

class postgres_notices {
public:
  explicit postgres_notices(postgres_connection& db);

  notice_audience audience(const audience_filter& filter);
  std::vector<device_row> crowd(const crowd_filter& filter);
  void store_deliveries(std::span<const delivery_row> rows);
  std::vector<due_delivery> take_deliveries(const due_filter& filter, timestamp now);
  void settle_deliveries(std::span<const delivery_row> rows);
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

  postgres_pictures pictures;
  postgres_witness witness;
  postgres_tasks tasks;

private:
  postgres_connection& db_;
};

} // namespace fq
