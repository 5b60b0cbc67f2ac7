// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/outbox_turn.hpp"

#include "actors/base/ask_owner.hpp"
#include "actors/outbox/limits.hpp"
#include "actors/protocol/organizer_messages.hpp"

#include <utility>

namespace fq {

outbox_turn::outbox_turn(consumer_handle::pointer self, region_handle region) :
    self_{self},
    region_{std::move(region)},
    asker_{caf::actor_cast<dispatcher_handle>(self->current_sender())} {}

void outbox_turn::make_dead_letter(const outbox_item& item, std::string why, std::function<void()> kept) {
  ++in_the_air_;
  hold_up(item);
  const auto landed = [t = shared_from_this(), key = item.key, kept = std::move(kept)](bool is_kept) {
    if (is_kept) t->done_->push_back(key);
    if (is_kept && kept) kept();
    t->answer_if_over();
  };
  ask_owner(
    self_, region_, item.key.aggregate, report_undelivered{item.row, std::move(why)}, dead_letter_timeout,
    [landed](const ack_reply& reply) { landed(!reply.no); }, [landed](const caf::error&) { landed(false); });
}

void outbox_turn::end() { answer_if_over(); }

void outbox_turn::answer_if_over() {
  if (--in_the_air_ > 0 || !asker_) return;
  self_->send(std::exchange(asker_, nullptr), outbox_consumed{done_, last_});
}

} // namespace fq
