// SPDX-License-Identifier: Apache-2.0
// One event actor with an open sale over a real ledger worker; the test answers for the gateway.
#pragma once
#include "domain/delivery/outbox.hpp"
#include "tests/actors/base/fixture.hpp"
#include "tests/kept_spans.hpp"

#include "actors/base/sale_board.hpp"

namespace fq::test {

/// Stand-in for the payments actor: records calls, answers when the test decides.
struct gateway_log {
  std::vector<call_gateway> calls;
};

struct checkout_fixture : fixture {
  owner_services services;
  sale_board board;
  kept_spans spans;
  event_row event;
  event_handle owner;
  std::shared_ptr<gateway_log> gateway = std::make_shared<gateway_log>();
  std::vector<answer_row> answers; ///< of the next orders

  checkout_fixture() {
    queue_settings queue;
    queue.policy = admission_policy::open;
    event = put_event(10, queue);
    auto log = gateway;
    services.payments = keep(sys.spawn([log](payments_handle::pointer) -> payments_handle::behavior_type {
      return {[log](const call_gateway& x) { log->calls.push_back(x); }, [](const gateway_answered&) {},
              [](const timer_fired&) {}};
    }));
    services.env = &env;
    services.sessions = &sessions;
    services.ledgers = ledgers;
    services.board = &board;
    services.spans = &spans;
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    run();
  }
  ~checkout_fixture() {
    services.ledgers.clear();
    services.payments = nullptr;
    kill(owner);
    owner = nullptr;
  }
  auto check_out(std::uint64_t n, idempotency_ref key = {}, const trace_context& trace = {}) {
    place_order wish;
    wish.event = event.id;
    wish.customer = customer(n);
    wish.wish.contact = {"Ada", "Obi", "ada@example.org", ""};
    wish.wish.contact.answers = answers;
    wish.wish.gateway = "sandbox";
    wish.idempotency = key;
    wish.trace = trace;
    return ask<order_reply>(owner, wish);
  }
  /// The next commit is refused: the owner reloads.
  void seize_and_reload(std::uint64_t n) {
    store.acquire_unleased(event.aggregate, never);
    check_out(n);
    run();
  }
  order_view ordered(std::uint64_t n) {
    auto placed = check_out(n);
    run();
    CAF_REQUIRE(placed->ok && !placed->value.no);
    return placed->value.order;
  }
  order_view look(const order_view& order) {
    find_order wish{order.order.id, order.order.customer};
    wish.with_tickets = true;
    auto found = ask<order_reply>(owner, wish);
    run();
    CAF_REQUIRE(found->ok);
    return found->value.order;
  }
  void page(const order_view& order) {
    tell({.kind = gateway_call_kind::initialize,
          .result = gateway_result::initialized,
          .gateway = "sandbox",
          .payment = order.payment,
          .reference = make_reference(order.payment),
          .authorization_url = "https://pay"});
  }
  void tell(gateway_answered answer) {
    caf::anon_send(owner, std::move(answer));
    run();
  }
  gateway_fact paid(const order_view& order, std::string id = "evt_1") {
    return {.gateway = "sandbox",
            .gateway_event = std::move(id),
            .what = verdict::paid,
            .reference = make_reference(order.payment),
            .amount = order.order.total,
            .currency = "NGN"};
  }
  std::vector<outbox_row> outbox(std::string_view topic) {
    std::vector<outbox_row> rows;
    const std::vector<std::uint32_t> all{static_cast<std::uint32_t>(event.aggregate) % outbox_partitions};
    for (const auto& item :
         store.undelivered(topic == topic::mail_send ? lane::mail : lane::notices, all, 1'000, {}))
      if (item.row.topic == topic) rows.push_back(item.row);
    return rows;
  }
};

} // namespace fq::test
