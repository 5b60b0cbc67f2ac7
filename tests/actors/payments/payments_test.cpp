// SPDX-License-Identifier: Apache-2.0
// The payments actor: retries with jitter, circuit breaker, one call per key, workers that never answer.
#define CAF_SUITE payments
#include "tests/actors/base/fixture.hpp"
#include "tests/kept_spans.hpp"

namespace payments_test {

using namespace fq;
using namespace fq::test;

namespace {

struct payments_fixture : fixture {
  struct script {
    std::vector<call_gateway> calls; ///< that reached the gateway
    bool answers = true;
    gateway_result result = gateway_result::unpaid;
    milliseconds retry_after{0};
    std::vector<gateway_answered> told; ///< answers to the owner
  };
  std::shared_ptr<script> gw = std::make_shared<script>();
  payments_services services;
  std::map<std::string, gateway_counts> counts;
  task_history history;
  payments_handle actor;
  caf::actor owner;

  payments_fixture() {
    auto s = gw;
    auto gateway =
      keep(sys.spawn([s](gateway_worker_handle::pointer self) -> gateway_worker_handle::behavior_type {
        return {[s, self](const call_gateway& x) {
          s->calls.push_back(x);
          if (s->answers)
            caf::anon_send(caf::actor_cast<caf::actor>(self->current_sender()),
                           gateway_answered{.kind = x.kind,
                                            .result = s->result,
                                            .gateway = x.gateway,
                                            .payment = x.payment,
                                            .reference = x.charge.reference,
                                            .refund = x.refund,
                                            .retry_after = s->retry_after});
        }};
      }));
    services.env = &env;
    services.gateways.emplace("sandbox", gateway);
    counts["sandbox"];
    services.counts = &counts;
    services.history = &history;
    services.retry = {3, 500ms, 5s};
    services.failures_to_open = 4;
    services.open_for = 5s;
    services.answer_timeout = 35s;
    actor = keep(sys.spawn(payments, static_cast<const payments_services*>(&services)));
    owner = keep(sys.spawn([s](caf::event_based_actor*) -> caf::behavior {
      return {[s](const gateway_answered& x) { s->told.push_back(x); }};
    }));
    run();
  }
  ~payments_fixture() {
    services.gateways.clear();
    actor = nullptr;
    owner = nullptr;
  }
  void call(std::uint64_t payment, gateway_call_kind kind = gateway_call_kind::verify,
            std::string gateway = "sandbox", std::uint8_t priority_class = 1,
            const trace_context& trace = {}) {
    call_gateway x;
    x.kind = kind;
    x.gateway = std::move(gateway);
    x.payment = uuid{1, payment};
    x.charge.reference = make_reference(x.payment);
    x.charge.trace = trace;
    x.priority_class = priority_class;
    caf::actor_cast<caf::abstract_actor*>(actor)->eq_impl(
      caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(owner), nullptr, x);
    run();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(payments_tests, payments_fixture)

CAF_TEST(an answer goes to the owner that asked) {
  call(1);
  CAF_CHECK_EQUAL(gw->calls.size(), 1u);
  CAF_REQUIRE_EQUAL(gw->told.size(), 1u);
  CAF_CHECK(gw->told[0].result == gateway_result::unpaid);
}

CAF_TEST(every attempt is counted with its end and its time) {
  auto& shown = counts.at("sandbox");
  const auto attempts = [&](gateway_call_kind kind, call_outcome o) {
    return shown.attempts[static_cast<std::size_t>(kind)][o].get();
  };
  CAF_CHECK_EQUAL(shown.workers.get(), static_cast<std::int64_t>(services.calls_per_gateway));
  call(1);
  CAF_CHECK_EQUAL(attempts(gateway_call_kind::verify, call_outcome::answered), 1u);
  gw->result = gateway_result::rejected;
  call(2, gateway_call_kind::initialize);
  CAF_CHECK_EQUAL(attempts(gateway_call_kind::initialize, call_outcome::refused), 1u);
  gw->answers = false;
  call(3);
  CAF_CHECK_EQUAL(shown.under_way.get(), 1);
  advance(services.answer_timeout);
  CAF_CHECK_EQUAL(attempts(gateway_call_kind::verify, call_outcome::unavailable), 1u);
  CAF_CHECK(shown.durations.seconds() >= 35);
  CAF_CHECK_EQUAL(shown.pausing.get(), 1);
  CAF_CHECK_EQUAL(shown.under_way.get(), 0);
  gw->answers = true;
  gw->result = gateway_result::paid;
  advance(1s);
  CAF_CHECK_EQUAL(shown.pausing.get(), 0);
  CAF_CHECK_EQUAL(shown.retries.get(), 1u);
  CAF_CHECK_EQUAL(attempts(gateway_call_kind::verify, call_outcome::answered), 2u);
}

CAF_TEST(an ended call is in the history with its attempts and its whole time) {
  gw->answers = false;
  call(3, gateway_call_kind::refund);
  CAF_CHECK(history.all().empty());
  gw->answers = true;
  gw->result = gateway_result::refunded;
  advance(services.answer_timeout);
  advance(1s);
  const auto ended = history.all();
  CAF_REQUIRE_EQUAL(ended.size(), 1u);
  CAF_CHECK_EQUAL(ended[0].name, "sandbox refund");
  CAF_CHECK_EQUAL(ended[0].result, "refunded");
  CAF_CHECK_EQUAL(ended[0].attempts, 2u);
  CAF_CHECK(ended[0].duration >= services.answer_timeout);
}

CAF_TEST(a gateway has no workers from the opening of its circuit until something succeeds) {
  auto& shown = counts.at("sandbox");
  services.retry.attempts = 1;
  gw->result = gateway_result::unavailable;
  for (std::uint64_t i = 1; i <= services.failures_to_open; ++i) call(i);
  CAF_CHECK_EQUAL(shown.workers.get(), 0);
  advance(services.open_for);
  call(50); // tried, and failed
  CAF_CHECK_EQUAL(shown.workers.get(), 0);
  advance(services.open_for);
  gw->result = gateway_result::paid;
  call(51);
  CAF_CHECK_EQUAL(shown.workers.get(), static_cast<std::int64_t>(services.calls_per_gateway));
  CAF_CHECK_EQUAL(shown.waiting.get(), 0);
}

CAF_TEST(an unavailable gateway is tried again within the bounds of full jitter and then given up) {
  gw->result = gateway_result::unavailable;
  call(1);
  CAF_CHECK_EQUAL(gw->calls.size(), 1u);
  advance(500ms);
  CAF_CHECK_EQUAL(gw->calls.size(), 2u);
  CAF_CHECK(gw->told.empty());
  advance(1'000ms);
  CAF_CHECK_EQUAL(gw->calls.size(), 3u);
  CAF_REQUIRE_EQUAL(gw->told.size(), 1u);
  CAF_CHECK(gw->told[0].result == gateway_result::unavailable);
  advance(60s);
  CAF_CHECK_EQUAL(gw->calls.size(), 3u);
}

CAF_TEST(each attempt is a span of its own below the one of the request) {
  kept_spans kept;
  services.spans = &kept;
  gw->result = gateway_result::unavailable;
  call(1, gateway_call_kind::initialize, "sandbox", 1, sample_trace);
  gw->result = gateway_result::initialized;
  advance(500ms);
  CAF_REQUIRE_EQUAL(gw->calls.size(), 2u);
  CAF_REQUIRE_EQUAL(kept.all.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    CAF_CHECK_EQUAL(kept.all[i].name, "sandbox initialize");
    CAF_CHECK(kept.all[i].kind == span_kind::client);
    CAF_CHECK_EQUAL(kept.all[i].parent, sample_trace.span);
    CAF_CHECK(gw->calls[i].charge.trace == kept.all[i].context); // trace context passed to the gateway
  }
  CAF_CHECK(kept.all[0].has_failed);
  CAF_CHECK(!kept.all[1].has_failed);
  CAF_CHECK(kept.all[0].context.span != kept.all[1].context.span);
}

CAF_TEST(a retry that succeeds is told once) {
  gw->result = gateway_result::unavailable;
  call(1);
  gw->result = gateway_result::paid;
  advance(500ms);
  CAF_REQUIRE_EQUAL(gw->told.size(), 1u);
  CAF_CHECK(gw->told[0].result == gateway_result::paid);
}

CAF_TEST(the circuit opens after failures in a row and closes after its time) {
  services.retry.attempts = 1;
  gw->result = gateway_result::unavailable;
  for (std::uint64_t i = 1; i <= 4; ++i) call(i);
  CAF_CHECK_EQUAL(gw->calls.size(), 4u);
  call(5);
  CAF_CHECK_EQUAL(gw->calls.size(), 4u); // not called
  CAF_REQUIRE_EQUAL(gw->told.size(), 5u);
  CAF_CHECK(gw->told[4].result == gateway_result::unavailable);
  advance(5s);
  gw->result = gateway_result::unpaid;
  call(6);
  CAF_CHECK_EQUAL(gw->calls.size(), 5u);
  CAF_CHECK(gw->told.back().result == gateway_result::unpaid);
}

CAF_TEST(one success forgets the failures) {
  services.retry.attempts = 1;
  for (std::uint64_t i = 1; i <= 12; ++i) {
    gw->result = i % 4 == 0 ? gateway_result::unpaid : gateway_result::unavailable;
    call(i);
  }
  CAF_CHECK_EQUAL(gw->calls.size(), 12u);
}

CAF_TEST(one call of a kind about a payment at a time) {
  gw->answers = false;
  call(1);
  call(1);
  call(1, gateway_call_kind::expire);
  call(2);
  CAF_CHECK_EQUAL(gw->calls.size(), 3u);
}

CAF_TEST(a call whose worker never answered is tried again and then unavailable) {
  gw->answers = false;
  call(1);
  for (int i = 0; i < 3; ++i) {
    advance(services.answer_timeout);
    advance(1'000ms);
  }
  CAF_CHECK_EQUAL(gw->calls.size(), 3u);
  CAF_REQUIRE_EQUAL(gw->told.size(), 1u);
  CAF_CHECK(gw->told[0].result == gateway_result::unavailable);
}

CAF_TEST(a late timer ends no call whose answer waits behind it) {
  gw->answers = false;
  call(1);
  advance(1s);
  call(2);
  sched.advance_time(36s); // beyond both deadlines: the timer of the first is in the mailbox
  caf::anon_send(caf::actor_cast<caf::actor>(actor), gateway_answered{.kind = gateway_call_kind::verify,
                                                                      .result = gateway_result::unpaid,
                                                                      .gateway = "sandbox",
                                                                      .payment = uuid{1, 2},
                                                                      .reference = {}});
  run();
  CAF_REQUIRE_EQUAL(gw->told.size(), 1u);
  CAF_CHECK_EQUAL(gw->told[0].payment.lo, 2u);
  CAF_CHECK(gw->told[0].result == gateway_result::unpaid);
}

CAF_TEST(deadlines of two gateways are kept by one timer) {
  services.gateways.emplace("other", services.gateways.at("sandbox"));
  services.retry.attempts = 1;
  gw->result = gateway_result::unavailable;
  gw->retry_after = 20s;
  call(1); // given up; the gateway is left alone
  gw->answers = false;
  call(2, gateway_call_kind::verify, "other");
  call(3);
  CAF_CHECK_EQUAL(gw->calls.size(), 2u);
  advance(20s);
  CAF_REQUIRE_EQUAL(gw->calls.size(), 3u); // the end of the quiet time
  advance(15s);
  CAF_REQUIRE_EQUAL(gw->told.size(), 2u); // no answer from the other one for 35 s
  CAF_CHECK_EQUAL(gw->told[1].payment.lo, 2u);
  advance(20s);
  CAF_REQUIRE_EQUAL(gw->told.size(), 3u);
  CAF_CHECK_EQUAL(gw->told[2].payment.lo, 3u);
}

CAF_TEST(a bounded number is under way and the others go by class and then by age) {
  services.calls_per_gateway = 2;
  gw->answers = false;
  for (std::uint64_t i = 1; i <= 5; ++i) call(i);
  call(6, gateway_call_kind::verify, "sandbox", 0);
  CAF_CHECK_EQUAL(gw->calls.size(), 2u);
  gw->answers = true;
  services.retry.attempts = 1;
  advance(services.answer_timeout); // the two time out, the others proceed
  CAF_REQUIRE_EQUAL(gw->calls.size(), 6u);
  std::vector<std::uint64_t> order;
  for (const auto& c : gw->calls) order.push_back(c.payment.lo);
  CAF_CHECK((order == std::vector<std::uint64_t>{1, 2, 6, 3, 4, 5}));
}

CAF_TEST(a gateway that asks to be left alone is) {
  gw->result = gateway_result::unavailable;
  gw->retry_after = 20s;
  call(1);
  advance(19s);
  CAF_CHECK_EQUAL(gw->calls.size(), 1u);
  advance(1s);
  CAF_CHECK_EQUAL(gw->calls.size(), 2u);
}

CAF_TEST(after an open circuit one call tries at a time) {
  services.retry.attempts = 1;
  gw->result = gateway_result::unavailable;
  for (std::uint64_t i = 1; i <= 4; ++i) call(i);
  advance(5s);
  gw->answers = false;
  call(5);
  call(6);
  CAF_CHECK_EQUAL(gw->calls.size(), 5u); // the first is the trial
  gw->answers = true;
  gw->result = gateway_result::unpaid;
  advance(services.answer_timeout); // it fails: open again, no other call passes
  CAF_CHECK_EQUAL(gw->calls.size(), 5u);
  CAF_CHECK(gw->told.back().result == gateway_result::unavailable);
  advance(5s);
  call(7);
  call(8);
  CAF_CHECK_EQUAL(gw->calls.size(), 7u);
}

CAF_TEST(a call whose worker never answered is made anew when somebody asks again) {
  services.retry.attempts = 1;
  gw->answers = false;
  call(1);
  advance(services.answer_timeout);
  gw->answers = true;
  gw->result = gateway_result::paid;
  const auto before = gw->calls.size();
  call(1);
  CAF_CHECK_EQUAL(gw->calls.size(), before + 1);
  CAF_CHECK(gw->told.back().result == gateway_result::paid);
}

CAF_TEST(an unknown gateway is unavailable) {
  call(1, gateway_call_kind::verify, "nobody");
  CAF_REQUIRE_EQUAL(gw->told.size(), 1u);
  CAF_CHECK(gw->told[0].result == gateway_result::unavailable);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace payments_test
