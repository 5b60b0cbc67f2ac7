// SPDX-License-Identifier: Apache-2.0
// Finds the recipients of domain events: the consumer of the lane of notices. Stores one delivery per device
// and endpoint; couriers send them. Storing is idempotent: a batch that fails half-way is repeated as a
// whole, a broadcast continues at its cursor.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/outbox/limits.hpp"
#include "actors/protocol/outbox_messages.hpp"
#include "actors/storage/ledger_workers.hpp"
#include "domain/delivery/delivery.hpp"
#include "domain/delivery/notice_routing.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace fq {

struct fan_out_services {
  ledger_workers ledgers;
  std::function<void(const outbox_item&)> log; ///< called per domain event stored; may be null
  /// The tenant's media per topic; null: all.
  std::function<std::shared_ptr<const notice_routing>(tenant_id)> routing_of;
  notice_counts* counts = nullptr; ///< may be null
};

/// The domain event of an outbox row, with its device holders: the customer and the entry named in the
/// payload.
[[nodiscard]] told told_of(const outbox_item& item);

class fan_out_state {
public:
  static inline const char* name = "fan_out";
  using pointer = consumer_handle::stateful_pointer<fan_out_state>;

  void init(pointer self, const fan_out_services& services) {
    self_ = self;
    services_ = &services;
  }
  consumer_handle::behavior_type behavior();

private:
  /// One batch of the dispatcher, without broadcasts.
  struct batch_work {
    dispatcher_handle asker;
    std::vector<outbox_item> items;
    std::vector<told> what; ///< parallel to `items`
    std::shared_ptr<std::vector<outbox_key>> done = std::make_shared<std::vector<outbox_key>>();
  };
  using batch = std::shared_ptr<batch_work>;
  /// Broadcast to all devices of an event. Runs beside the batches because it is long; its outbox row is
  /// acknowledged when the last page is stored.
  struct broadcast_work {
    outbox_item item;
    told what;
    std::string after{}; ///< cursor: token of the last stored device
    bool is_begun = false; ///< deliveries to endpoints are stored
    bool is_told = false;
    bool is_under_way = false; ///< false: continues when its row is sent again
  };
  using broadcast = std::shared_ptr<broadcast_work>;
  using continuation = std::function<void(bool is_stored)>;

  void on_batch(const consume_outbox& x);
  void on_audience(const batch& w, const notice_audience& audience);
  void finish(const batch& w, bool is_done);
  /// True: the row's broadcast is complete. One broadcast at a time; others wait in the outbox.
  bool is_broadcast_told(const outbox_item& item, told what);
  void go_on(const broadcast& c);
  void tell_page(const broadcast& c);
  void on_page(const broadcast& c, const std::vector<device_row>& devices);
  void store(std::vector<delivery_row> rows, continuation then);
  void store_some(const std::shared_ptr<std::vector<delivery_row>>& rows, continuation then);
  [[nodiscard]] bool goes(const told& what, medium m) const;
  [[nodiscard]] bool has_crowd(const told& what) const {
    return what.concerns_all && goes(what, medium::push);
  }
  [[nodiscard]] std::vector<delivery_row> deliveries_to(const told& what,
                                                        const notice_audience& audience) const;
  /// `failed`: no answer, or a refusal.
  template <class Reply, class Message, class Then, class Failed>
  void ask(Message message, Then then, Failed failed);

  pointer self_ = nullptr;
  const fan_out_services* services_ = nullptr;
  bool is_busy_ = false; ///< a batch is in flight
  broadcast broadcast_; ///< the latest; null: none
};

consumer_handle::behavior_type fan_out(consumer_handle::stateful_pointer<fan_out_state> self,
                                       const fan_out_services* services);

} // namespace fq
