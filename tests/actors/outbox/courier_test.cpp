// SPDX-License-Identifier: Apache-2.0
// Deliveries to devices and endpoints in virtual time: once on success, repeated after temporary errors,
// never after permanent ones; bounded in number and rate; targets that are gone get no more deliveries.
#define CAF_SUITE courier
#include "actors/outbox/courier.hpp"
#include "domain/delivery/outbox.hpp"
#include "tests/actors/base/fixture.hpp"

namespace courier_test {

using namespace fq;
using namespace fq::test;

/// Answers when the test decides, or at once.
class scripted_channel final : public channel_port {
public:
  struct attempt {
    notice what;
    delivery_target to;
    std::function<void(delivery_answer)> done;
  };
  std::function<std::optional<delivery_answer>(const attempt&)> answer = [](const auto&) {
    return delivery_answer{delivery_outcome::delivered, 200};
  };
  std::vector<attempt> tries;
  std::size_t open = 0, most_open = 0;

  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override {
    most_open = std::max(most_open, ++open);
    tries.push_back({what, to, [this, done = std::move(done)](delivery_answer a) {
                       --open;
                       done(std::move(a));
                     }});
    if (auto now = answer(tries.back())) tries.back().done(*now);
  }
};

struct courier_fixture : fixture {
  scripted_channel port;
  courier_services services;
  notice_counts counts;
  std::vector<std::string> warnings, disabled;
  std::uint64_t next = 0;

  void start(channel way = channel::fcm) {
    services.env = &env;
    services.ledgers = ledgers;
    services.way = way;
    services.port = &port;
    services.counts = &counts;
    services.warn = [this](const std::string& what) { warnings.push_back(what); };
    services.on_disabled = [this](const webhook_endpoint_row&, const std::string& why) {
      disabled.push_back(why);
    };
    services.secrets = [](const webhook_endpoint_row& e, timestamp) {
      return std::vector<std::string>{"secret of " + e.url};
    };
    keep(sys.spawn(courier, static_cast<const courier_services*>(&services)));
    run();
  }
  ~courier_fixture() { services.ledgers.clear(); }

  device_row device() {
    ++next;
    device_row d{.id = make_uuid(env.wall_now(), accounts_aggregate, next),
                 .holder = customer(next),
                 .way = channel::fcm,
                 .token = "t" + std::to_string(next),
                 .is_sandbox = true,
                 .registered_at = env.wall_now(),
                 .gone_at = never,
                 .gone_reason = {}};
    store.register_device(d);
    return d;
  }
  webhook_endpoint_row endpoint() {
    ++next;
    webhook_endpoint_row e;
    e.id = make_uuid(env.wall_now(), accounts_aggregate, next);
    e.url = "https://hooks.example/" + std::to_string(next);
    e.created_at = e.updated_at = env.wall_now();
    store.store_endpoint(e);
    return e;
  }
  delivery_row due(const uuid& target, channel way = channel::fcm, milliseconds worth = milliseconds{0},
                   tenant_id tenant = default_tenant) {
    ++next;
    delivery_row r{.target = target,
                   .notice = make_uuid(env.wall_now(), first_event_aggregate, next),
                   .way = way,
                   .tenant = tenant,
                   .holder = {},
                   .topic = std::string{topic::turn_granted},
                   .payload = "{}",
                   .created_at = env.wall_now(),
                   .expires_at = worth.count() > 0 ? env.wall_now() + worth : never,
                   .state = delivery_state::pending,
                   .due_at = env.wall_now(),
                   .attempts = 0,
                   .status = 0,
                   .reason = {},
                   .ended_at = never};
    store.store_deliveries(std::span{&r, 1});
    return r;
  }
  delivery_row now(const delivery_row& r) {
    for (auto& one : store.list_deliveries({.target = r.target, .limit = 1'000}))
      if (one.notice == r.notice) return one;
    return {};
  }
  void pass(milliseconds time, milliseconds step = 50ms) {
    for (milliseconds t{0}; t < time; t += step) advance(step);
  }
};

constexpr auto again = [](const auto&) {
  return delivery_answer{.outcome = delivery_outcome::again, .status = 503, .reason = "UNAVAILABLE"};
};

CAF_TEST_FIXTURE_SCOPE(courier_tests, courier_fixture)

CAF_TEST(what is due is brought once with its target and its outcome is kept) {
  const auto phone = device();
  const auto d = due(phone.id, channel::fcm, 60s);
  start();
  pass(2s);
  CAF_REQUIRE_EQUAL(port.tries.size(), 1u);
  CAF_CHECK(port.tries[0].what.id == d.notice);
  CAF_CHECK(port.tries[0].what.expires_at == d.expires_at);
  CAF_CHECK_EQUAL(port.tries[0].to.address, phone.token);
  CAF_CHECK(port.tries[0].to.is_sandbox);
  const auto after = now(d);
  CAF_CHECK(after.state == delivery_state::delivered);
  CAF_CHECK_EQUAL(after.attempts, 1u);
  CAF_CHECK_EQUAL(after.status, 200);
  CAF_CHECK(is_set(after.ended_at));
  CAF_CHECK_EQUAL(counts.delivered[channel::fcm].get(), 1u);
  pass(130s, 1s);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
}

CAF_TEST(what cannot be taken now is tried again with longer pauses until it is worth nothing) {
  port.answer = again;
  const auto d = due(device().id, channel::fcm, 60s);
  start();
  pass(90s);
  CAF_CHECK(port.tries.size() >= 4 && port.tries.size() <= 40);
  CAF_CHECK(now(d).state == delivery_state::expired);
  CAF_CHECK_EQUAL(now(d).reason, "UNAVAILABLE");
  const auto tried = port.tries.size();
  pass(60s, 1s);
  CAF_CHECK_EQUAL(port.tries.size(), tried);
}

CAF_TEST(the other side may ask for a pause) {
  port.answer = [](const auto&) {
    return delivery_answer{
      .outcome = delivery_outcome::again, .status = 429, .reason = "QUOTA_EXCEEDED", .retry_after = 20s};
  };
  due(device().id);
  start();
  pass(19s);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  pass(3s);
  CAF_CHECK_EQUAL(port.tries.size(), 2u);
}

CAF_TEST(a device that is gone gets nothing more unless it was registered again meanwhile) {
  const auto phone = device(), other = device();
  port.answer = [&](const scripted_channel::attempt& a) {
    return delivery_answer{a.to.id == phone.id ? delivery_outcome::gone : delivery_outcome::delivered, 404,
                           "UNREGISTERED"};
  };
  const auto d = due(phone.id);
  start();
  pass(2s);
  CAF_CHECK(now(d).state == delivery_state::dropped);
  CAF_CHECK(store.list_devices(phone.holder).empty());
  const auto later = due(phone.id);
  due(other.id);
  pass(2s);
  CAF_CHECK_EQUAL(port.tries.size(), 2u); // the other target's
  CAF_CHECK(now(later).state == delivery_state::dropped);
  CAF_CHECK_EQUAL(now(later).reason, "target_gone");
}

CAF_TEST(a device registered again after it was gone stays) {
  const auto phone = device();
  port.answer = [&](const auto&) {
    return delivery_answer{.outcome = delivery_outcome::gone,
                           .status = 410,
                           .reason = "Unregistered",
                           .gone_since = phone.registered_at - 1s};
  };
  due(phone.id);
  start();
  pass(2s);
  CAF_CHECK_EQUAL(store.list_devices(phone.holder).size(), 1u);
}

CAF_TEST(what is our fault is said and kept for a person) {
  port.answer = [](const auto&) {
    return delivery_answer{
      .outcome = delivery_outcome::refused, .status = 400, .reason = "BadTopic", .is_our_fault = true};
  };
  const auto d = due(device().id);
  start();
  pass(2s);
  CAF_CHECK(now(d).state == delivery_state::failed);
  CAF_CHECK_EQUAL(warnings.size(), 1u);
  port.answer = [](const auto&) { return delivery_answer{delivery_outcome::delivered, 200}; };
  CAF_CHECK(store.replay_delivery(default_tenant, d.target, d.notice, env.wall_now()));
  pass(2s);
  CAF_CHECK(now(d).state == delivery_state::delivered);
}

CAF_TEST(no more than so many are under way and no more than so many begin in a second) {
  port.answer = [](const auto&) { return std::nullopt; };
  services.max_in_flight = 4;
  services.per_second = 10;
  const auto phone = device();
  for (int i = 0; i < 100; ++i) due(phone.id);
  start();
  pass(3s);
  CAF_CHECK_EQUAL(port.tries.size(), 4u);
  port.answer = [](const auto&) { return delivery_answer{delivery_outcome::delivered, 200}; };
  for (std::size_t i = 0; i < 4; ++i) port.tries[i].done(delivery_answer{delivery_outcome::delivered, 200});
  run();
  const auto before = port.tries.size();
  pass(4s);
  CAF_CHECK(port.tries.size() - before >= 35 && port.tries.size() - before <= 51);
  CAF_CHECK_EQUAL(port.most_open, 4u);
}

CAF_TEST(a service that is away is left alone and nothing is lost) {
  port.answer = [](const auto&) {
    return delivery_answer{.outcome = delivery_outcome::again, .reason = "network", .is_channel_down = true};
  };
  services.max_in_flight = 1;
  const auto phone = device();
  std::vector<delivery_row> all;
  for (int i = 0; i < 20; ++i) all.push_back(due(phone.id));
  start();
  pass(4s);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  port.answer = [](const auto&) { return delivery_answer{delivery_outcome::delivered, 200}; };
  pass(100s);
  for (const auto& d : all) CAF_CHECK(now(d).state == delivery_state::delivered);
}

CAF_TEST(what a process had taken and did not bring comes again) {
  port.answer = [](const auto&) { return std::nullopt; };
  services.visibility_timeout = 30s;
  const auto d = due(device().id);
  start();
  pass(1s);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  kill(extra.back()); // while its delivery is in flight
  port.answer = [](const auto&) { return delivery_answer{delivery_outcome::delivered, 200}; };
  start();
  pass(20s);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  pass(15s);
  CAF_CHECK_EQUAL(port.tries.size(), 2u);
  CAF_CHECK(now(d).state == delivery_state::delivered);
}

CAF_TEST(an endpoint that took nothing for three days is turned off and says so once) {
  port.answer = again;
  const auto hook = endpoint();
  const auto one = due(hook.id, channel::webhook), two = due(hook.id, channel::webhook);
  start(channel::webhook);
  pass(73h, 30s);
  const auto first = now(one).state == delivery_state::failed ? one : two, second = first == one ? two : one;
  CAF_CHECK(now(first).state == delivery_state::failed);
  CAF_CHECK(now(second).state == delivery_state::dropped); // it was disabled before its last attempt
  CAF_CHECK_EQUAL(now(second).reason, "endpoint_off");
  CAF_CHECK((disabled == std::vector<std::string>{"failing"}));
  CAF_CHECK(port.tries.size() >= 24 && port.tries.size() <= 60); // paced, not a burst
  CAF_CHECK_EQUAL(port.tries[0].to.secrets.at(0), "secret of " + hook.url);
  const auto later = due(hook.id, channel::webhook);
  pass(2s);
  CAF_CHECK(now(later).state == delivery_state::dropped);
  CAF_CHECK_EQUAL(now(later).reason, "endpoint_off");
}

CAF_TEST(one that takes something between stays on) {
  const auto hook = endpoint();
  port.answer = again;
  const auto bad = due(hook.id, channel::webhook);
  start(channel::webhook);
  pass(24h, 30s);
  port.answer = [&](const scripted_channel::attempt& a) {
    return a.what.id == bad.notice ? again(a) : delivery_answer{delivery_outcome::delivered, 200};
  };
  due(hook.id, channel::webhook);
  pass(49h, 30s);
  CAF_CHECK(now(bad).state == delivery_state::failed);
  CAF_CHECK(disabled.empty());
}

CAF_TEST(an endpoint that hangs delays no other) {
  const auto slow = endpoint(), quick = endpoint();
  port.answer = [&](const scripted_channel::attempt& a) {
    return a.to.id == slow.id ? std::nullopt
                              : std::optional{delivery_answer{delivery_outcome::delivered, 200}};
  };
  services.max_in_flight = 8;
  services.per_target = 2;
  for (int i = 0; i < 300; ++i) due(slow.id, channel::webhook);
  std::vector<delivery_row> all;
  for (int i = 0; i < 20; ++i) all.push_back(due(quick.id, channel::webhook));
  start(channel::webhook);
  pass(3s);
  for (const auto& d : all) CAF_CHECK(now(d).state == delivery_state::delivered);
  CAF_CHECK_EQUAL(port.open, 1u); // no success yet
}

CAF_TEST(an endpoint has its whole share once it has taken something and until it does not) {
  const auto hook = endpoint();
  services.max_in_flight = 8;
  services.per_target = 4;
  for (int i = 0; i < 20; ++i) due(hook.id, channel::webhook);
  port.answer = [](const auto&) { return std::nullopt; };
  start(channel::webhook);
  pass(1s);
  CAF_REQUIRE_EQUAL(port.open, 1u);
  port.tries.back().done(delivery_answer{delivery_outcome::delivered, 200});
  pass(1s);
  CAF_REQUIRE_EQUAL(port.open, 4u);
  for (std::size_t i = 1; i <= 4; ++i)
    port.tries[i].done(delivery_answer{.outcome = delivery_outcome::again, .status = 0, .reason = "timeout"});
  pass(120s);
  CAF_CHECK_EQUAL(port.open, 1u);
}

CAF_TEST(many endpoints that hang at once do not delay those that answer) {
  services.max_in_flight = 32;
  services.per_target = 8;
  services.has_tenant_shares = true;
  const tenant_id other{7};
  const auto quick = endpoint(), elsewhere = endpoint();
  std::set<uuid> hanging;
  port.answer = [&](const scripted_channel::attempt& a) {
    return hanging.contains(a.to.id) ? std::nullopt
                                     : std::optional{delivery_answer{delivery_outcome::delivered, 200}};
  };
  due(quick.id, channel::webhook);
  due(elsewhere.id, channel::webhook, 0s, other);
  start(channel::webhook);
  pass(1s);
  for (int i = 0; i < 40; ++i) { // of one tenant
    const auto slow = endpoint();
    hanging.insert(slow.id);
    for (int n = 0; n < 20; ++n) due(slow.id, channel::webhook);
  }
  pass(3s);
  CAF_CHECK(port.open > 0 && port.open <= 12); // half of a tenant's share
  std::vector<delivery_row> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(due(quick.id, channel::webhook));
    all.push_back(due(elsewhere.id, channel::webhook, 0s, other));
  }
  pass(3s);
  for (const auto& d : all) CAF_CHECK(now(d).state == delivery_state::delivered);
}

CAF_TEST(an endpoint that refuses some notices gets all others at once) {
  services.per_target = 4;
  const auto hook = endpoint();
  std::set<uuid> unknown;
  std::vector<delivery_row> all;
  for (int i = 0; i < 200; ++i) {
    const auto d = due(hook.id, channel::webhook);
    i % 2 == 0 ? (void)unknown.insert(d.notice) : all.push_back(d);
  }
  port.answer = [&](const scripted_channel::attempt& a) {
    return unknown.contains(a.what.id)
             ? delivery_answer{.outcome = delivery_outcome::again, .status = 422, .reason = "rejected"}
             : delivery_answer{delivery_outcome::delivered, 200};
  };
  start(channel::webhook);
  pass(10s);
  for (const auto& d : all) CAF_CHECK(now(d).state == delivery_state::delivered);
  CAF_CHECK(port.tries.size() < 450); // refused deliveries have their own pauses
}

CAF_TEST(what this node cannot send is left to others while a configuration may be rolled out) {
  const auto d = due(device().id);
  start();
  services.port = nullptr;
  const auto before = port.tries.size();
  const auto second = due(device().id);
  pass(14min, 1s);
  CAF_CHECK(now(second).state == delivery_state::pending);
  pass(3min, 1s);
  CAF_CHECK(now(second).state == delivery_state::dropped);
  CAF_CHECK_EQUAL(now(second).reason, "channel_off");
  CAF_CHECK_EQUAL(port.tries.size(), before);
  CAF_CHECK(now(d).state == delivery_state::delivered);
}

CAF_TEST(an endpoint that asks for a pause has it from all that waits for it) {
  services.per_target = 4;
  const auto hook = endpoint();
  port.answer = [](const auto&) {
    return delivery_answer{
      .outcome = delivery_outcome::again, .status = 429, .reason = "rate_limited", .retry_after = 600s};
  };
  for (int i = 0; i < 10; ++i) due(hook.id, channel::webhook);
  start(channel::webhook);
  pass(590s, 250ms);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  pass(60s, 250ms);
  CAF_CHECK_EQUAL(port.tries.size(), 2u);
}

CAF_TEST(an endpoint with a long queue that takes nothing for three days is turned off like any other) {
  port.answer = again;
  services.per_target = 4;
  const auto hook = endpoint();
  for (int i = 0; i < 6'000; ++i) due(hook.id, channel::webhook); // more than it is tried in that time
  start(channel::webhook);
  pass(73h, 30s);
  CAF_CHECK((disabled == std::vector<std::string>{"failing"}));
}

CAF_TEST(a tenant whose tries all hang delays no other) {
  const tenant_id many{7}, few{8};
  port.answer = [&](const scripted_channel::attempt& a) {
    return a.what.tenant == many ? std::nullopt
                                 : std::optional{delivery_answer{delivery_outcome::delivered, 200}};
  };
  services.max_in_flight = 8;
  services.has_tenant_shares = true;
  for (int i = 0; i < 300; ++i) due(device().id, channel::fcm, 0s, many);
  std::vector<delivery_row> all;
  for (int i = 0; i < 20; ++i) all.push_back(due(device().id, channel::fcm, 0s, few));
  start();
  pass(3s);
  for (const auto& d : all) CAF_CHECK(now(d).state == delivery_state::delivered);
  CAF_CHECK_EQUAL(port.open, 6u);
}

CAF_TEST(a tenant that is alone gets all of its own out) {
  services.max_in_flight = 8;
  services.has_tenant_shares = true;
  std::vector<delivery_row> all;
  for (int i = 0; i < 500; ++i) all.push_back(due(device().id));
  start();
  pass(20s);
  for (const auto& d : all) CAF_CHECK(now(d).state == delivery_state::delivered);
  CAF_CHECK_EQUAL(port.tries.size(), all.size());
}

CAF_TEST(while an endpoint cannot be reached its other deliveries wait and all go when it is back) {
  port.answer = again;
  services.max_in_flight = 8;
  services.per_target = 2;
  const auto hook = endpoint();
  std::vector<delivery_row> all;
  for (int i = 0; i < 200; ++i) all.push_back(due(hook.id, channel::webhook));
  start(channel::webhook);
  pass(600s, 250ms);
  CAF_CHECK(port.tries.size() < 200); // not every delivery again and again
  port.answer = [](const auto&) { return delivery_answer{delivery_outcome::delivered, 200}; };
  pass(600s, 250ms);
  for (const auto& d : all) CAF_CHECK(now(d).state == delivery_state::delivered);
}

CAF_TEST(an endpoint that moved during a try stays on whatever its old address says) {
  port.answer = [](const auto&) { return std::nullopt; };
  auto hook = endpoint();
  due(hook.id, channel::webhook);
  start(channel::webhook);
  pass(2s);
  CAF_REQUIRE_EQUAL(port.tries.size(), 1u);
  hook.url = "https://moved.example/";
  mark_changed(hook, env.wall_now());
  CAF_CHECK(store.store_endpoint(hook));
  port.tries[0].done(delivery_answer{.outcome = delivery_outcome::gone, .status = 410, .reason = "gone"});
  pass(2s);
  CAF_CHECK(disabled.empty());
  CAF_CHECK(store.list_endpoints(default_tenant).at(0).is_enabled);
}

CAF_TEST(an endpoint that says that it is gone is turned off at once) {
  port.answer = [](const auto&) {
    return delivery_answer{.outcome = delivery_outcome::gone, .status = 410, .reason = "gone"};
  };
  due(endpoint().id, channel::webhook);
  start(channel::webhook);
  pass(2s);
  CAF_CHECK((disabled == std::vector<std::string>{"gone"}));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace courier_test
