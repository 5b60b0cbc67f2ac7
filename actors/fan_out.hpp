// SPDX-License-Identifier: Apache-2.0
// Who is told of a domain event: the consumer of the outbox's lane of notices. Writes one delivery for each device and endpoint that is told;
// couriers bring them. Writing them again does no harm, so a batch that fails half-way comes again as a whole.
#pragma once
#include "actors/ledger_workers.hpp"
#include "actors/measures.hpp"
#include "domain/delivery.hpp"
#include "domain/notice_routing.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace fq {

struct fan_out_services {
  ledger_workers ledgers;
  std::function<void(const outbox_item&)> log; ///< of every domain event that was told; may be null
  std::function<std::shared_ptr<const notice_routing>(tenant_id)> routing_of; ///< by which channels the tenant's notices go; null: by all
  notice_counts* counts = nullptr; ///< null: nobody asks
};

/// The ledger's answer; well below outbox_answer_timeout.
inline constexpr milliseconds fan_out_timeout{5'000};
/// Devices of a crowd that are read and told at a time.
inline constexpr std::uint32_t crowd_page = 5'000;

/// What a row of the outbox tells, to the devices of whom: those of the customer and of the place that its payload names.
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
  /// One batch of the dispatcher.
  struct batch_work {
    dispatcher_handle asker;
    std::shared_ptr<const std::vector<outbox_item>> items;
    std::vector<told> what;
    std::vector<webhook_endpoint_row> endpoints;
    std::size_t next_crowd = 0; ///< of `what`: who concerns everybody is looked for from here on
    std::string after; ///< cursor in its crowd
    std::vector<delivery_row> rows; ///< to be stored, the first last
  };
  using work = std::shared_ptr<batch_work>;

  void on_batch(const consume_outbox& x);
  void on_audience(const work& w, const audience_found& found);
  void tell_crowds(const work& w);
  void on_crowd(const work& w, const devices_reply& found);
  void on_stored(const work& w, const ack_reply&) { store_some(w); }
  /// Then goes on with the crowds.
  void store(const work& w, std::vector<delivery_row> rows);
  void store_some(const work& w);
  void finish(const work& w, bool is_done);
  [[nodiscard]] bool goes(const told& what, medium m) const;
  template <class Reply, class Message>
  void ask(const work& w, Message message, void (fan_out_state::*then)(const work&, const Reply&));

  pointer self_ = nullptr;
  const fan_out_services* services_ = nullptr;
};

consumer_handle::behavior_type fan_out(consumer_handle::stateful_pointer<fan_out_state> self, const fan_out_services* services);

} // namespace fq
