// SPDX-License-Identifier: Apache-2.0
// What is kept about notices: devices, webhook endpoints, and each delivery with its outcome. A part of the
// ledger port that knows no owners and no epochs: nothing here decides about stock, places or money, so any
// node may write it; rows are taken by nodes for a while, not owned.
#pragma once
#include "domain/delivery/delivery.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fq {

/// Who might be told.
struct notice_audience {
  std::vector<device_row> devices; ///< that are not gone, by id
  std::vector<webhook_endpoint_row> endpoints; ///< enabled ones, by id
  friend bool operator==(const notice_audience&, const notice_audience&) = default;
};

/// A delivery with where it goes.
struct due_delivery {
  delivery_row row;
  std::optional<device_row> device; ///< none: it is gone, or the target is an endpoint
  std::optional<webhook_endpoint_row> endpoint; ///< none: it is gone, or the target is a device
  friend bool operator==(const due_delivery&, const due_delivery&) = default;
};

/// A part of one log: of the first that is named here. Nothing else of a row is looked at, for that is what
/// no index finds: the rows that are read are the rows that are answered, `limit` at most, however long the
/// log is. Who wants some of them only takes them out (net/wire/delivery_page).
struct delivery_filter {
  uuid target = {}; ///< nil: not by target
  uuid holder = {}; ///< nil: not by holder
  std::optional<tenant_id> tenant{};
  uuid before = {}; ///< cursor: older notices only; nil: from the newest
  uuid before_target = {}; ///< cursor: of that notice, targets below this
  std::uint32_t limit = 50;
};

/// What a courier asks for.
struct due_filter {
  channel way{};
  std::uint32_t limit = 0;
  milliseconds hold{0}; ///< nobody else gets them for so long
  std::vector<tenant_id> busy_tenants = {}; ///< none of these tenants', busy_tenants_max at most
  std::uint32_t per_target = 0; ///< at most so many of each of `trusted`, and `per_other` of any other
                                ///< target; 0: no such bound, for where targets are very many
  std::uint32_t per_other = 1; ///< only with per_target
  std::vector<uuid> trusted = {}; ///< only with per_target
  std::vector<uuid> busy = {}; ///< none of these targets'; only with per_target. However many rows they have,
                               ///< those are not looked at
};
inline constexpr std::size_t busy_tenants_max = 16;

/// Devices of everybody who has a place or an order at an event, a part at a time, by token: one phone may be
/// registered by several of them, and is in one part only.
struct crowd_filter {
  aggregate_id aggregate{};
  std::string after; ///< cursor: devices with a greater token
  std::uint32_t limit = 500;
};

/// Throws ledger_unavailable or commit_unknown like the rest of the ledger; every write may be repeated.
class notice_store {
public:
  virtual ~notice_store() = default;

  virtual notice_audience audience(std::span<const uuid> holders, std::span<const tenant_id> tenants) = 0;
  virtual std::vector<device_row> crowd(const crowd_filter& filter) = 0;

  /// Those that are known already stay as they are.
  virtual void store_deliveries(std::span<const delivery_row> rows) = 0;
  /// Pending ones that are due, longest due first.
  virtual std::vector<due_delivery> take_deliveries(const due_filter& filter, timestamp now) = 0;
  /// Writes state, due_at, attempts, status, reason and ended_at of those that are pending.
  virtual void settle_deliveries(std::span<const delivery_row> rows) = 0;
  /// Newest first, by notice and target; nothing of nobody's log.
  virtual std::vector<delivery_row> list_deliveries(const delivery_filter& filter) = 0;
  /// Pending again, with no attempts, for as long as its channel tries; false: the tenant has none such that
  /// has ended.
  virtual bool replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice, timestamp now) = 0;

  /// A token that its holder has registered before keeps its id, which is answered. The holder's oldest go
  /// beyond devices_per_holder_max.
  virtual uuid register_device(const device_row& device) = 0;
  /// Not gone, newest first.
  virtual std::vector<device_row> list_devices(const uuid& holder) = 0;
  virtual bool remove_device(const uuid& holder, const uuid& device) = 0;
  /// The token is no more, whoever registered it: all devices with it that were registered before `since` are
  /// gone.
  virtual void end_device(const uuid& device, timestamp since, const std::string& reason, timestamp at) = 0;

  /// A new one (`replaces` is `never`) is inserted; false: its tenant has endpoints_per_tenant_max already,
  /// or its organizer (if it is one's) endpoints_per_organizer_max. Any other takes the place of the version
  /// it was made from; false: that one was changed or removed meanwhile, and nothing is written.
  virtual bool store_endpoint(const webhook_endpoint_row& endpoint) = 0;
  /// By id; those that are off too.
  virtual std::vector<webhook_endpoint_row> list_endpoints(tenant_id tenant) = 0;
  /// Turns it off, unless it is off, or was changed or took something after `since`; whether it did.
  virtual bool disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                timestamp at) = 0;
  virtual bool remove_endpoint(tenant_id tenant, const uuid& endpoint) = 0;
};

} // namespace fq
