// SPDX-License-Identifier: Apache-2.0
// A batch of the dispatcher while a consumer has it: behind the first row of an aggregate that is not done
// nothing of the same aggregate goes, and the dispatcher is answered when no dead letter of the batch is on
// its way any more. What the consumers of the outbox share.
#pragma once
#include "actors/protocol/protocol.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fq {

class outbox_turn : public std::enable_shared_from_this<outbox_turn> {
public:
  /// Of the batch that `self` is being given now.
  outbox_turn(consumer_handle::pointer self, region_handle region);

  /// Looks at the next row. False: one of its aggregate before it was not done.
  [[nodiscard]] bool may_go(const outbox_item& item) {
    last_ = item.key.aggregate;
    return !held_up_.contains(last_);
  }
  void done(const outbox_item& item) { done_->push_back(item.key); }
  /// It comes again, with what is behind it.
  void hold_up(const outbox_item& item) { held_up_.insert(item.key.aggregate); }
  /// Makes it a dead letter of its event; only when that is kept the row is done, and the next of the event
  /// may go. `kept`, if any, is called then, by the actor.
  void bury(const outbox_item& item, std::string why, std::function<void()> kept = {});
  /// No more rows are looked at; those that nothing was said of come again.
  void end();

private:
  void answer_if_over();

  consumer_handle::pointer self_;
  region_handle region_;
  dispatcher_handle asker_; ///< null: is answered
  std::shared_ptr<std::vector<outbox_key>> done_ = std::make_shared<std::vector<outbox_key>>();
  std::set<aggregate_id> held_up_;
  aggregate_id last_{}; ///< of the row that was looked at last
  std::size_t in_the_air_ = 1; ///< dead letters, and whoever looks at the rows
};

} // namespace fq
