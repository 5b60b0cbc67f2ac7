// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of consumers: a dispatcher that listens, the consumer, and an owner that receives dead
// letters.
#pragma once
#include "tests/actors/base/fixture.hpp"

namespace fq::test {

struct consumer_fixture : fixture {
  region_handle owners; ///< the region of an owner that records dead letters
  consumer_handle consumer; ///< set by the test's own fixture
  dispatcher_handle asker;
  std::shared_ptr<std::vector<std::vector<outbox_key>>> answers =
    std::make_shared<std::vector<std::vector<outbox_key>>>();
  std::shared_ptr<std::vector<report_undelivered>> buried =
    std::make_shared<std::vector<report_undelivered>>();
  std::shared_ptr<bool> owner_is_there = std::make_shared<bool>(true);
  /// outbox_consumed::last of the latest answer: the rows up to this aggregate were handled
  std::shared_ptr<aggregate_id> looked_at = std::make_shared<aggregate_id>();
  std::uint64_t next_id = 0;

  consumer_fixture() {
    auto letters = buried;
    auto there = owner_is_there;
    auto grave = sys.spawn([letters](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::drop);
      return {[letters](const report_undelivered& x) {
        letters->push_back(x);
        return ack_reply{};
      }};
    });
    keep(grave);
    owners = keep(sys.spawn([grave, there](region_handle::pointer) -> region_handle::behavior_type {
      return {[grave, there](const resolve_event&) -> caf::result<event_handle> {
                if (!*there) return make_error(errc::unavailable);
                return caf::actor_cast<event_handle>(grave);
              },
              [](const list_owned&) { return owned_aggregates{}; },
              [](const move_event&) { return ack_reply{}; },
              [](const cluster_changed&) {},
              [](const ledger_seen&) {},
              [](const handed_over&) {},
              [](const blocks_changed&) {},
              [](const aggregates_to_wake&) {},
              [](const timer_fired&) {}};
    }));
    auto heard = answers;
    auto last = looked_at;
    asker = keep(sys.spawn([heard, last](dispatcher_handle::pointer) -> dispatcher_handle::behavior_type {
      return {[](const outbox_taken&) {}, [](const outbox_marked&) {},
              [heard, last](const outbox_consumed& x) {
                heard->push_back(*x.keys);
                *last = x.last;
              },
              [](const timer_fired&) {}};
    }));
  }
  ~consumer_fixture() {
    owners = nullptr;
    consumer = nullptr;
    asker = nullptr;
  }
  /// Sends a batch; returns the keys of the processed rows.
  std::vector<outbox_key> give(std::vector<outbox_item> items) {
    caf::actor_cast<caf::abstract_actor*>(consumer)->eq_impl(
      caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(asker), nullptr,
      consume_outbox{std::make_shared<const std::vector<outbox_item>>(std::move(items))});
    const auto before = answers->size();
    run();
    CAF_REQUIRE_EQUAL(answers->size(), before + 1);
    return answers->back();
  }
};

} // namespace fq::test
