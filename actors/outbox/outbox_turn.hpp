// SPDX-License-Identifier: Apache-2.0
// One batch of the dispatcher at a consumer. An unfinished row blocks the later rows of its aggregate.
// Answers the dispatcher when the batch's last dead letter is committed or refused. Shared by the outbox
// consumers.
#pragma once
#include "actors/protocol/outbox_messages.hpp"
#include "actors/protocol/region_messages.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fq {

class outbox_turn : public std::enable_shared_from_this<outbox_turn> {
public:
  /// For the batch that `self` is processing now.
  outbox_turn(consumer_handle::pointer self, region_handle region);

  /// Advances to the row. False: an earlier row of its aggregate is unfinished.
  [[nodiscard]] bool may_go(const outbox_item& item) {
    last_ = item.key.aggregate;
    return !held_up_.contains(last_);
  }
  void done(const outbox_item& item) { done_->push_back(item.key); }
  /// The row and the later rows of its aggregate are sent again.
  void hold_up(const outbox_item& item) { held_up_.insert(item.key.aggregate); }
  /// Makes the row a dead letter of its event. The row is done after that commit; until then the aggregate is
  /// blocked. `kept`, if set, runs in the actor after the commit.
  void make_dead_letter(const outbox_item& item, std::string why, std::function<void()> kept = {});
  /// Ends the batch; rows without a result are sent again.
  void end();

private:
  void answer_if_over();

  consumer_handle::pointer self_;
  region_handle region_;
  dispatcher_handle asker_; ///< null: already answered
  std::shared_ptr<std::vector<outbox_key>> done_ = std::make_shared<std::vector<outbox_key>>();
  std::set<aggregate_id> held_up_;
  aggregate_id last_{}; ///< of the last row considered
  std::size_t in_the_air_ = 1; ///< pending dead letters, plus one while the consumer processes rows
};

} // namespace fq
