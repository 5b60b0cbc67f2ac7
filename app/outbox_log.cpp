// SPDX-License-Identifier: Apache-2.0
#include "app/outbox_log.hpp"

#include "app/log.hpp"

namespace fq {

consumer_handle::behavior_type outbox_log(consumer_handle::pointer self) {
  return {
    [self](const consume_outbox& x) {
      auto done = std::make_shared<std::vector<outbox_key>>();
      done->reserve(x.items->size());
      for (const auto& item : *x.items) {
        log::debug("domain event", {{"id", to_string(item.row.id)},
                                    {"topic", item.row.topic},
                                    {"aggregate", std::to_string(number_of(item.key.aggregate))},
                                    {"seq", std::to_string(item.key.seq)}});
        done->push_back(item.key);
      }
      self->send(caf::actor_cast<dispatcher_handle>(self->current_sender()), outbox_consumed{std::move(done)});
    },
  };
}

} // namespace fq
