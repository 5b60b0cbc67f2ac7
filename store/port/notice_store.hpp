// SPDX-License-Identifier: Apache-2.0
// Devices, webhook endpoints, and deliveries with their outcomes. This part of the ledger port has no owners
// and no epochs: it decides nothing about stock, entries or money, so any node may write it. Nodes reserve
// rows for a visibility timeout.
#pragma once
#include "domain/delivery/delivery.hpp"
#include "store/port/limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fq {

/// A tenant that knows a customer: by an order of the customer's own, or by an event ticket that the customer
/// has or had. A place in line does not count: no index finds it, and it shows the tenant no address.
struct known_customer {
  customer_id customer;
  tenant_id tenant{};
  friend auto operator<=>(const known_customer&, const known_customer&) = default;
};

/// Asks for the devices of `holders`, and for the endpoints of `tenants` and of those that know `customers`.
struct audience_filter {
  std::vector<uuid> holders = {};
  std::vector<tenant_id> tenants = {};
  std::vector<customer_id> customers = {};
};

/// Possible targets of a notice.
struct notice_audience {
  std::vector<device_row> devices; ///< active devices, by id
  std::vector<webhook_endpoint_row> endpoints; ///< enabled endpoints, by id
  std::vector<known_customer> known = {}; ///< sorted
  friend bool operator==(const notice_audience&, const notice_audience&) = default;
};

/// A delivery with its target.
struct due_delivery {
  delivery_row row;
  std::optional<device_row> device; ///< none: no longer active, or the target is an endpoint
  std::optional<webhook_endpoint_row> endpoint; ///< none: removed, or the target is a device
  friend bool operator==(const due_delivery&, const due_delivery&) = default;
};

/// Selects a part of one log: of the first field that is set here. There is no other condition, because no
/// index supports one: the number of rows read equals the number returned, at most `limit`. Callers filter
/// the result (net/wire/delivery_page).
struct delivery_filter {
  uuid target = {}; ///< nil: not by target
  uuid holder = {}; ///< nil: not by holder
  std::optional<tenant_id> tenant{};
  uuid before = {}; ///< cursor: only older notices; nil: from the newest
  uuid before_target = {}; ///< cursor within that notice: only targets below this
  std::uint32_t limit = 50;
};

/// A courier's request for due deliveries.
struct due_filter {
  channel way{};
  std::uint32_t limit = 0;
  milliseconds hold{0}; ///< visibility timeout
  std::vector<tenant_id> busy_tenants = {}; ///< tenants to skip, at most busy_tenants_max
  std::uint32_t per_target = 0; ///< max rows of each target in `trusted`; other targets: `per_other`. 0: no
                                ///< bound, for channels with very many targets
  std::uint32_t per_other = 1; ///< only with per_target
  std::vector<uuid> trusted = {}; ///< only with per_target
  std::vector<uuid> busy = {}; ///< targets to skip, only with per_target; their rows are not read
};

/// Pages through the devices of all holders with an entry, an order or a valid ticket of others at an event,
/// by token. A phone that several holders registered is in one page only.
struct crowd_filter {
  aggregate_id aggregate{};
  std::string after; ///< cursor: devices with a greater token
  std::uint32_t limit = 500;
  timestamp cancelled_at = timestamp::max(); ///< of the event: its tickets that ended from then on count
};

/// Throws ledger_unavailable or commit_unknown like the rest of the ledger. Every write may be repeated.
class notice_store {
public:
  virtual ~notice_store() = default;

  virtual notice_audience audience(const audience_filter& filter) = 0;
  virtual std::vector<device_row> crowd(const crowd_filter& filter) = 0;

  /// Existing deliveries stay unchanged.
  virtual void store_deliveries(std::span<const delivery_row> rows) = 0;
  /// Reserves due deliveries, longest due first.
  virtual std::vector<due_delivery> take_deliveries(const due_filter& filter, timestamp now) = 0;
  /// Writes state, due_at, attempts, status, reason and ended_at of pending deliveries.
  virtual void settle_deliveries(std::span<const delivery_row> rows) = 0;
  /// Newest first, by notice and target; empty if the filter names no log.
  virtual std::vector<delivery_row> list_deliveries(const delivery_filter& filter) = 0;
  /// Makes an ended delivery pending again, with no attempts and the full life of its channel. False: the
  /// tenant has no such ended delivery.
  virtual bool replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice, timestamp now) = 0;

  /// Returns the device's id; a token that the holder registered before keeps its id. Removes the holder's
  /// oldest devices beyond devices_per_holder_max.
  virtual uuid register_device(const device_row& device) = 0;
  /// Active devices, newest first.
  virtual std::vector<device_row> list_devices(const uuid& holder) = 0;
  virtual bool remove_device(const uuid& holder, const uuid& device) = 0;
  /// The token has become invalid: ends all devices with it that were registered before `since`, of any
  /// holder.
  virtual void end_device(const uuid& device, timestamp since, const std::string& reason, timestamp at) = 0;

  /// Inserts a new endpoint (`replaces` is `never`); false if its tenant has endpoints_per_tenant_max, or
  /// its organizer endpoints_per_organizer_max. Otherwise replaces the version that it was made from; false,
  /// without a write, if that version was changed or removed meanwhile.
  virtual bool store_endpoint(const webhook_endpoint_row& endpoint) = 0;
  /// By id; includes disabled endpoints.
  virtual std::vector<webhook_endpoint_row> list_endpoints(tenant_id tenant) = 0;
  /// Disables it unless it is disabled, or was changed or accepted a delivery after `since`. Returns whether
  /// it did.
  virtual bool disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                timestamp at) = 0;
  virtual bool remove_endpoint(tenant_id tenant, const uuid& endpoint) = 0;
};

} // namespace fq
