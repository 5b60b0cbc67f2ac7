// SPDX-License-Identifier: Apache-2.0
// Payment events from the bus: verified like webhooks, settled after the owner's commit, postponed while the
// owner is unavailable, dropped if the signature is wrong.
#define CAF_SUITE bus_inbox
#include "actors/outbox/bus_inbox.hpp"
#include "crypto/digest.hpp"
#include "domain/money/payments.hpp"
#include "outbound/stripe_gateway.hpp"
#include "tests/actors/base/fixture.hpp"

namespace bus_inbox_test {

using namespace fq;
using namespace fq::test;

namespace {

class scripted_inbox final : public inbox_port {
public:
  struct settled {
    std::uint64_t ticket;
    inbox_verdict verdict;
    milliseconds delay;
  };
  std::deque<batch> next;
  std::vector<settled> verdicts;
  std::size_t looks = 0;
  batch take(std::size_t, milliseconds) override {
    ++looks;
    if (next.empty()) return {};
    auto one = std::move(next.front());
    next.pop_front();
    return one;
  }
  void settle(std::uint64_t ticket, inbox_verdict verdict, milliseconds delay) override {
    verdicts.push_back({ticket, verdict, delay});
  }
};

constexpr auto secret = "whsec_test";

struct inbox_fixture : fixture {
  scripted_inbox port;
  stripe_gateway gateway{
    {.secret_key = "sk_test_1", .webhook_secrets = {secret}, .success_url = {}, .cancel_url = {}, .http = {}},
    env};
  bus_inbox_counts counts;
  std::vector<std::string> warnings;
  bus_inbox_services services;
  bus_inbox_handle actor;
  struct owner_script {
    std::vector<apply_fact> applied;
    bool is_there = true, is_known = true, answers = true;
    refusal no;
    std::vector<caf::response_promise> waiting;
  };
  std::shared_ptr<owner_script> owner = std::make_shared<owner_script>();
  std::function<void()> owner_commits; ///< the owner answers its open requests
  std::uint64_t last_ticket = 0;

  inbox_fixture() {
    services.env = &env;
    services.port = &port;
    services.gateway = &gateway;
    services.counts = &counts;
    services.warn = [this](const std::string& what) { warnings.push_back(what); };
    auto s = owner;
    auto sale = keep(sys.spawn([s](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::drop);
      return {[s, self](const apply_fact& x) -> caf::result<ack_reply> {
                s->applied.push_back(x);
                if (s->answers) return ack_reply{s->no};
                s->waiting.push_back(self->make_response_promise());
                return caf::delegated<ack_reply>{};
              },
              [s](const timer_fired&) {
                for (auto& promise : std::exchange(s->waiting, {})) promise.deliver(ack_reply{});
              }};
    }));
    owner_commits = [sale] { caf::anon_send(sale, timer_fired{}); };
    services.region = keep(sys.spawn([sale, s](region_handle::pointer) -> region_handle::behavior_type {
      return {[sale, s](const resolve_event&) -> caf::result<event_handle> {
                if (!s->is_known) return make_error(errc::absent);
                if (!s->is_there) return make_error(errc::unavailable);
                return caf::actor_cast<event_handle>(sale);
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
  }
  ~inbox_fixture() {
    services.region = nullptr;
    owner_commits();
    run();
    owner_commits = nullptr;
    if (actor) kill(actor);
    actor = nullptr;
  }
  std::string reference(aggregate_id aggregate = first_event_aggregate) {
    return make_reference(env.make_id(env.wall_now(), aggregate));
  }
  static std::string body_about(const std::string& reference) {
    return R"({"id":"evt_1","object":"event","type":"checkout.session.completed",)"
           R"("data":{"object":{"id":"cs_1","object":"checkout.session",)"
           R"("status":"complete","payment_status":"paid","amount_total":5000,"currency":"eur",)"
           R"("metadata":{"fairqueue_reference":")"
           + reference + R"("}}}})";
  }
  static std::string signature_of(const std::string& body, timestamp at) {
    const auto seconds = std::to_string(unix_ms(at) / 1000);
    const auto payload = seconds + "." + body;
    const std::string_view key{secret};
    return "t=" + seconds + ",v1="
           + to_hex(
             hmac_sha256(byte_view{reinterpret_cast<const std::uint8_t*>(key.data()), key.size()}, payload));
  }
  inbox_message message(std::string body) {
    inbox_message m{
      .ticket = ++last_ticket, .body = std::move(body), .signature = {}, .arrived_at = env.wall_now()};
    m.signature = signature_of(m.body, m.arrived_at);
    return m;
  }
  void come(std::vector<inbox_message> messages) { port.next.push_back({std::move(messages), {}}); }
  /// Starts the actor, or lets it continue.
  void look() {
    if (!actor) actor = keep(sys.spawn(bus_inbox, static_cast<const bus_inbox_services*>(&services)));
    run();
    advance(5ms);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(bus_inbox_tests, inbox_fixture)

CAF_TEST(a genuine event is applied as a fact and taken) {
  const auto about = reference();
  come({message(body_about(about))});
  look();
  CAF_REQUIRE_EQUAL(owner->applied.size(), 1u);
  const auto& fact = owner->applied[0].fact;
  CAF_CHECK_EQUAL(fact.gateway, "stripe");
  CAF_CHECK_EQUAL(fact.gateway_event, "evt_1");
  CAF_CHECK_EQUAL(fact.reference, about);
  CAF_CHECK_EQUAL(fact.amount, 5000);
  CAF_CHECK_EQUAL(fact.currency, "EUR");
  CAF_CHECK(fact.what == verdict::paid);
  CAF_REQUIRE_EQUAL(port.verdicts.size(), 1u);
  CAF_CHECK(port.verdicts[0].verdict == inbox_verdict::taken);
  CAF_CHECK_EQUAL(counts.taken.get(), 1u);
}

CAF_TEST(it is not taken before the owner has committed and the next look waits for it) {
  owner->answers = false;
  come({message(body_about(reference()))});
  look();
  CAF_CHECK_EQUAL(owner->applied.size(), 1u);
  CAF_CHECK(port.verdicts.empty());
  const auto looks = port.looks;
  advance(1s);
  CAF_CHECK_EQUAL(port.looks, looks);
  owner_commits();
  run();
  CAF_REQUIRE_EQUAL(port.verdicts.size(), 1u);
  advance(5ms);
  CAF_CHECK(port.looks > looks);
}

CAF_TEST(an owner that never answers puts it off) {
  owner->answers = false;
  come({message(body_about(reference()))});
  look();
  advance(inbox_apply_timeout + 1s);
  CAF_REQUIRE_EQUAL(port.verdicts.size(), 1u);
  CAF_CHECK(port.verdicts[0].verdict == inbox_verdict::later);
}

CAF_TEST(while nothing can be decided it is put off with a pause) {
  owner->is_there = false;
  come({message(body_about(reference()))});
  look();
  owner->is_there = true;
  owner->no = reason::unavailable;
  come({message(body_about(reference()))});
  look();
  CAF_REQUIRE_EQUAL(port.verdicts.size(), 2u);
  for (const auto& v : port.verdicts) {
    CAF_CHECK(v.verdict == inbox_verdict::later);
    CAF_CHECK(v.delay >= services.pauses.base && v.delay <= services.pauses.base + services.pauses.cap);
  }
  CAF_CHECK_EQUAL(counts.put_off.get(), 2u);
}

CAF_TEST(a wrong signature or none is thrown away and nobody is asked) {
  auto forged = message(body_about(reference()));
  forged.body += ' ';
  auto unsigned_one = message("{}");
  unsigned_one.signature.clear();
  auto nonsense = message("no json");
  nonsense.signature = "t=x,v1=y";
  come({forged, unsigned_one, nonsense});
  look();
  CAF_CHECK(owner->applied.empty());
  CAF_REQUIRE_EQUAL(port.verdicts.size(), 3u);
  for (const auto& v : port.verdicts) CAF_CHECK(v.verdict == inbox_verdict::never);
  CAF_CHECK_EQUAL(counts.refused.get(), 3u);
  for (const auto& w : warnings) CAF_CHECK(w.find(secret) == std::string::npos);
}

CAF_TEST(what waited in the stream for hours is as genuine as it was) {
  auto m = message(body_about(reference()));
  advance(6h);
  come({m});
  look();
  CAF_CHECK_EQUAL(owner->applied.size(), 1u);
  auto stale = message(body_about(reference())); // signed long before it arrived
  stale.signature = signature_of(stale.body, stale.arrived_at - 6h);
  auto ahead = message(body_about(reference())); // a wrong stream clock does not make a signature valid
  ahead.arrived_at = env.wall_now() + 6h;
  ahead.signature = signature_of(ahead.body, ahead.arrived_at);
  come({stale, ahead});
  look();
  CAF_CHECK_EQUAL(owner->applied.size(), 1u);
  CAF_CHECK_EQUAL(counts.refused.get(), 2u);
}

CAF_TEST(what is genuine and not ours is taken and nobody is asked) {
  come({message(body_about("somebody-elses")), message(body_about(reference(accounts_aggregate))),
        message(R"({"id":"evt_2","object":"event","type":"customer.created","data":{"object":{}}})"),
        message("no json")});
  look();
  CAF_CHECK(owner->applied.empty());
  CAF_REQUIRE_EQUAL(port.verdicts.size(), 4u);
  for (const auto& v : port.verdicts) CAF_CHECK(v.verdict == inbox_verdict::taken);
}

CAF_TEST(a payment that no owner knows is taken) {
  owner->is_known = false;
  come({message(body_about(reference()))});
  look();
  owner->is_known = true;
  owner->no = reason::not_found;
  come({message(body_about(reference()))});
  look();
  CAF_REQUIRE_EQUAL(port.verdicts.size(), 2u);
  for (const auto& v : port.verdicts) CAF_CHECK(v.verdict == inbox_verdict::taken);
}

CAF_TEST(a bus that is away is looked at again after a pause) {
  port.next.push_back({{}, "not connected"});
  look();
  CAF_CHECK_EQUAL(warnings.size(), 1u);
  come({message(body_about(reference()))});
  advance(services.pauses.cap);
  CAF_CHECK_EQUAL(owner->applied.size(), 1u);
}

CAF_TEST(while nodes of another kind serve nothing is taken) {
  bool serves = false;
  services.may_take = [&serves] { return serves; };
  come({message(body_about(reference()))});
  look();
  advance(1s);
  CAF_CHECK_EQUAL(port.looks, 0u);
  serves = true;
  advance(1s);
  CAF_CHECK_EQUAL(owner->applied.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace bus_inbox_test
