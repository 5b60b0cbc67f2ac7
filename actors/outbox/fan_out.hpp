// SPDX-License-Identifier: Apache-2.0
// Who is told of a domain event: the consumer of the outbox's lane of notices. Writes one delivery for each
// device and endpoint that is told; couriers bring them. Writing them again does no harm, so a batch that
// fails half-way comes again as a whole; what concerns a crowd goes on from where it was.
#pragma once
#include "actors/base/measures.hpp"
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
  std::function<void(const outbox_item&)> log; ///< of every domain event that was told; may be null
  std::function<std::shared_ptr<const notice_routing>(tenant_id)>
    routing_of; ///< by which channels the tenant's notices go; null: by all
  notice_counts* counts = nullptr; ///< null: nobody asks
};

/// The ledger's answer; well below outbox_answer_timeout.
inline constexpr milliseconds fan_out_timeout{5'000};
/// Devices of a crowd that are read and told at a time.
inline constexpr std::uint32_t crowd_page = 5'000;

/// What a row of the outbox tells, to the devices of whom: those of the customer and of the place that its
/// payload names.
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
  /// One batch of the dispatcher; what concerns a crowd is no part of it.
  struct batch_work {
    dispatcher_handle asker;
    std::vector<outbox_item> items;
    std::vector<told> what; ///< of each of `items`
    std::shared_ptr<std::vector<outbox_key>> done = std::make_shared<std::vector<outbox_key>>();
  };
  using batch = std::shared_ptr<batch_work>;
  /// What concerns everybody at an event. It is told beside the batches, for it may take long; the row is
  /// done when all are told.
  struct crowd_work {
    outbox_item item;
    told what;
    std::string after{}; ///< cursor: the phone that was told last
    bool is_begun = false; ///< the endpoints are told
    bool is_told = false;
    bool is_under_way = false; ///< else it goes on when its row comes again
  };
  using crowd = std::shared_ptr<crowd_work>;
  using continuation = std::function<void(bool is_stored)>;

  void on_batch(const consume_outbox& x);
  void on_audience(const batch& w, const notice_audience& audience);
  void finish(const batch& w, bool is_done);
  /// Whether all of the row's crowd is told. One crowd at a time; others wait in the outbox.
  bool is_crowd_told(const outbox_item& item, told what);
  void go_on(const crowd& c);
  void tell_page(const crowd& c);
  void on_page(const crowd& c, const std::vector<device_row>& devices);
  void store(std::vector<delivery_row> rows, continuation then);
  void store_some(const std::shared_ptr<std::vector<delivery_row>>& rows, continuation then);
  [[nodiscard]] bool goes(const told& what, medium m) const;
  [[nodiscard]] bool has_crowd(const told& what) const {
    return what.concerns_all && goes(what, medium::push);
  }
  [[nodiscard]] std::vector<delivery_row> deliveries_to(const told& what,
                                                        const notice_audience& audience) const;
  /// `failed`: no answer, or one that says no.
  template <class Reply, class Message, class Then, class Failed>
  void ask(Message message, Then then, Failed failed);

  pointer self_ = nullptr;
  const fan_out_services* services_ = nullptr;
  bool is_busy_ = false; ///< a batch is under way
  crowd crowd_; ///< the newest; null: there was none
};

consumer_handle::behavior_type fan_out(consumer_handle::stateful_pointer<fan_out_state> self,
                                       const fan_out_services* services);

} // namespace fq
