// SPDX-License-Identifier: Apache-2.0
// One event actor over a real ledger worker, and its customers.
#pragma once
#include "tests/actors/base/fixture.hpp"

#include "actors/base/sale_board.hpp"

namespace fq::test {

inline constexpr money claim_price = 5'000 + 150 + 149 + 30; // one ticket and its fees

/// All messages to a subscriber, as short words in order of arrival.
struct subscriber_log {
  std::vector<std::string> lines;
};

struct event_fixture : fixture {
  owner_services services;
  sale_board board;
  event_row event;
  event_handle owner;
  std::shared_ptr<subscriber_log> log = std::make_shared<subscriber_log>();

  void start(std::int64_t total, queue_settings queue = {}) {
    event = put_event(total, queue);
    services.env = &env;
    services.sessions = &sessions;
    services.board = &board;
    services.ledgers = ledgers;
    own();
  }
  /// A new owner, which loads the event.
  void own() {
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    run();
  }
  ~event_fixture() {
    services.ledgers.clear();
    if (owner) kill(owner);
    owner = nullptr;
  }
  auto join_as(std::uint64_t n, std::uint64_t key = 0) {
    return ask<entry_reply>(owner, join{event.id, customer(n), key});
  }
  auto find_as(std::uint64_t n) { return ask<entry_reply>(owner, find_entry{event.id, customer(n)}); }
  std::string token_of(const entry_view& e) { return make_session_token(sessions, e.id, e.admission_no); }
  auto claim_as(std::uint64_t n, const std::string& token, idempotency_ref key = {}) {
    return ask<claim_reply>(owner, open_claim{event.id, customer(n), token, {}, key});
  }
  /// Joins, is admitted, and claims; all committed.
  claim_id admitted_claim(std::uint64_t n) {
    auto place = join_as(n);
    run();
    auto claim = claim_as(n, token_of(find_now(n)));
    run();
    CAF_REQUIRE(claim->ok && !claim->value.no);
    return claim->value.claim.claim.id;
  }
  entry_view find_now(std::uint64_t n) {
    auto place = find_as(n);
    run();
    CAF_REQUIRE(place->ok);
    return place->value.entry;
  }
  void add_subscriber() {
    auto words = log;
    auto subscriber = sys.spawn([words](subscriber_handle::pointer) -> subscriber_handle::behavior_type {
      return {[words](const entries_changed& x) {
                for (const auto& c : x.changes)
                  words->lines.push_back(std::to_string(value_of(c.number)) + " "
                                         + std::string{name_of(c.status)});
              },
              [](const owner_left&) {},
              [](const push_mark&) {},
              [](const pushes_lost&) {},
              [words](const orders_changed& x) {
                for (const auto& c : x.changes)
                  words->lines.push_back("order " + std::to_string(value_of(c.number)) + " "
                                         + std::string{name_of(c.status)});
              },
              [words](const event_noticed& x) {
                words->lines.push_back(x.what == socket_notice_kind::paused ? "paused" : "notice");
              }};
    });
    keep(subscriber);
    caf::actor_cast<caf::abstract_actor*>(owner)->eq_impl(
      caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(subscriber), nullptr, subscribe{true});
    run();
  }
};

inline queue_settings one_by_one() {
  queue_settings q;
  q.policy = admission_policy::capacity;
  q.concurrency = 1;
  return q;
}

} // namespace fq::test
