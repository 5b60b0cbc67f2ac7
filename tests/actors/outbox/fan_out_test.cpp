// SPDX-License-Identifier: Apache-2.0
// The recipients of a domain event: each device and endpoint once, also for repeated batches; nothing is
// written while the ledger is unavailable.
#define CAF_SUITE fan_out
#include "actors/outbox/dispatcher.hpp"
#include "actors/outbox/fan_out.hpp"
#include "domain/delivery/outbox.hpp"
#include "tests/actors/base/fixture.hpp"

namespace fan_out_test {

using namespace fq;
using namespace fq::test;

namespace {

struct fan_out_fixture : fixture {
  fan_out_services services;
  notice_counts counts;
  event_row event = put_event(10);
  std::uint64_t next = 0;

  void start() {
    services.ledgers = ledgers;
    services.counts = &counts;
    auto consumer = keep(sys.spawn(fan_out, static_cast<const fan_out_services*>(&services)));
    keep(sys.spawn(dispatcher, ledgers, consumer, dispatcher_settings{lane::notices}));
    run();
  }
  ~fan_out_fixture() { services.ledgers.clear(); }

  uuid tell(std::string_view topic, std::string payload) {
    return tell(topic, std::move(payload), event.aggregate);
  }
  uuid tell(std::string_view topic, std::string payload, aggregate_id at) {
    const auto own = store.acquire_unleased(at, never);
    const auto id = env.make_id(env.wall_now(), at);
    const batch b{
      at,
      own->epoch,
      own->applied_seq,
      own->applied_seq + 1,
      env.wall_now(),
      {outbox_appended{{id, std::string{topic}, std::move(payload), env.wall_now(), bit_of(lane::notices)}}}};
    CAF_REQUIRE(store.commit(std::span{&b, 1}).at(0) == commit_outcome::committed);
    return id;
  }
  device_row device(const uuid& holder, channel way = channel::fcm, std::string token = {}) {
    ++next;
    device_row d{.id = make_uuid(env.wall_now(), accounts_aggregate, next),
                 .holder = holder,
                 .way = way,
                 .token = token.empty() ? "t" + std::to_string(next) : std::move(token),
                 .is_sandbox = false,
                 .registered_at = env.wall_now(),
                 .gone_at = never,
                 .gone_reason = {}};
    store.register_device(d);
    return d;
  }
  webhook_endpoint_row endpoint(std::string topics, organizer_id organizer = {},
                                tenant_id tenant = default_tenant) {
    ++next;
    webhook_endpoint_row e;
    e.id = make_uuid(env.wall_now(), accounts_aggregate, next);
    e.tenant = tenant;
    e.organizer = organizer;
    e.url = "https://hooks.example/";
    e.topics = std::move(topics);
    e.created_at = e.updated_at = env.wall_now();
    store.store_endpoint(e);
    return e;
  }
  [[nodiscard]] std::vector<delivery_row> all() {
    return store.list_deliveries({.tenant = default_tenant, .limit = 10'000});
  }
  std::string of(const uuid& id, std::string_view more = {}) {
    return R"({"event_id":"x","customer_id":")" + to_string(id) + "\"" + std::string{more} + "}";
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fan_out_tests, fan_out_fixture)

CAF_TEST(a customers devices and the endpoints that want the topic are told) {
  const auto phone = device(customer(1)), tablet = device(customer(1), channel::apns);
  device(customer(2));
  const auto all_topics = endpoint(""), orders = endpoint("order.completed order.failed"),
             mine = endpoint("", event.organizer);
  endpoint("queue.expired");
  endpoint("", customer(9)); // of another organizer
  endpoint("", {}, tenant_id{7});
  start();
  const auto id = tell(topic::order_completed, of(customer(1)));
  advance(outbox_poll);
  std::set<uuid> targets;
  for (const auto& d : all()) {
    CAF_CHECK(d.notice == id);
    CAF_CHECK(d.state == delivery_state::pending);
    targets.insert(d.target);
  }
  CAF_CHECK((targets == std::set{phone.id, tablet.id, all_topics.id, orders.id, mine.id}));
  CAF_CHECK_EQUAL(counts.stored.get(), 5u);
  const std::uint32_t partition[] = {number_of(event.aggregate) % outbox_partitions};
  CAF_CHECK(store.undelivered(lane::notices, partition, 9, {}).empty());
}

CAF_TEST(a turn is worth telling until its session ends and to the place as well) {
  const auto place = make_entry_id(env.wall_now(), event.aggregate, queue_number{3});
  const auto phone = device(place);
  start();
  const auto end = env.wall_now() + 300s, session_end = env.wall_now() + 1'200s;
  tell(topic::turn_granted, R"({"entry_id":")" + to_string(place) + R"(","claim_by":)"
                              + std::to_string(unix_ms(end)) + R"(,"session_expires_at":)"
                              + std::to_string(unix_ms(session_end)) + "}");
  advance(outbox_poll);
  CAF_REQUIRE_EQUAL(all().size(), 1u);
  CAF_CHECK(all()[0].target == phone.id);
  CAF_CHECK(all()[0].holder == place);
  CAF_CHECK(all()[0].expires_at == end);
}

CAF_TEST(what is nobodys business on a phone goes to endpoints only) {
  device(customer(1));
  const auto hook = endpoint("");
  start();
  tell(topic::order_placed, of(customer(1)));
  tell(topic::mail_send, "{}"); // an older version did not set lanes
  tell(topic::order_placed, "no json");
  advance(outbox_poll);
  CAF_CHECK_EQUAL(all().size(), 2u);
  for (const auto& d : all()) CAF_CHECK(d.target == hook.id);
}

CAF_TEST(a tenant hears of a customers account without the address and only if it knows the customer) {
  const auto put = [&](aggregate_id aggregate, changes content) {
    const auto own = store.acquire_unleased(aggregate, never);
    const batch b{aggregate,      own->epoch,        own->applied_seq, own->applied_seq + 1,
                  env.wall_now(), std::move(content)};
    CAF_REQUIRE(store.commit(std::span{&b, 1}).at(0) == commit_outcome::committed);
  };
  const tenant_id knows{7}, other{8};
  put(accounts_aggregate,
      {tenant_stored{{knows, "arena", "{}", "", {}}}, tenant_stored{{other, "hall", "{}", "", {}}}});
  const auto abroad = put_event(10, {}, aggregate_id{17}, knows);
  put_event(10, {}, aggregate_id{18}, other);
  claim_row claim;
  claim.id = env.make_id(env.wall_now(), abroad.aggregate);
  order_row order;
  order.id = env.make_id(env.wall_now(), abroad.aggregate);
  order.claim = claim.id;
  order.customer = claim.customer = customer(1);
  put(abroad.aggregate, {claim_opened{claim}, order_placed{order}});
  const std::string topic{topic::user_updated};
  const auto home = endpoint(topic), theirs = endpoint(topic, {}, knows);
  endpoint(topic, {}, other);
  endpoint("", {}, knows); // which asks for no addresses
  device(customer(1));
  start();
  const auto told = [](std::uint64_t n, std::string_view email) {
    return R"({"customer_id":")" + to_string(customer(n)) + R"(","email":)" + std::string{email}
           + R"(,"email_verified":true})";
  };
  tell(topic, told(1, R"("ada@example.org")"), accounts_aggregate);
  tell(topic, told(2, R"("ben@example.org")"), accounts_aggregate);
  advance(outbox_poll);
  CAF_CHECK_EQUAL(counts.stored.get(), 3u);
  const auto payloads = [&](const webhook_endpoint_row& e) {
    std::set<std::string> texts;
    for (const auto& d : store.list_deliveries({.target = e.id})) {
      CAF_CHECK(d.tenant == e.tenant);
      texts.insert(d.payload);
    }
    return texts;
  };
  CAF_CHECK((payloads(home) == std::set{told(1, R"("ada@example.org")"), told(2, R"("ben@example.org")")}));
  CAF_CHECK((payloads(theirs) == std::set{told(1, "null")}));
}

CAF_TEST(a cancelled event is told to everybody who has a place there a page at a time) {
  batch b{event.aggregate, 0, 0, 0, env.wall_now(), {}};
  const auto own = store.acquire_unleased(event.aggregate, never);
  b.epoch = own->epoch;
  b.from_seq = own->applied_seq;
  b.to_seq = b.from_seq + 1;
  const std::size_t fans = broadcast_page + 7;
  for (std::uint64_t n = 1; n <= fans; ++n) {
    entry_row e;
    e.number = queue_number{n};
    e.subject = customer(n);
    e.joined_at = env.wall_now();
    b.content.emplace_back(entry_joined{e});
    device(customer(n), channel::fcm, std::to_string(1'000'000 + n));
  }
  // The device that ends the first page is also registered for a ticket.
  device(make_entry_id(env.wall_now(), event.aggregate, queue_number{broadcast_page}), channel::fcm,
         std::to_string(1'000'000 + broadcast_page));
  CAF_REQUIRE(store.commit(std::span{&b, 1}).at(0) == commit_outcome::committed);
  device(customer(fans + 1)); // of another customer
  const auto hook = endpoint("");
  start();
  tell(topic::event_cancelled, "{}");
  const auto buyer = customer(fans + 1);
  tell(topic::order_completed, of(buyer)); // in the same batch
  const std::uint32_t partition[] = {number_of(event.aggregate) % outbox_partitions};
  advance(outbox_poll);
  const auto left = store.undelivered(lane::notices, partition, 9, {});
  CAF_REQUIRE_EQUAL(left.size(), 1u); // the broadcast delays no other row
  CAF_CHECK(left[0].row.topic == topic::event_cancelled);
  advance(outbox_poll);
  CAF_CHECK(store.undelivered(lane::notices, partition, 9, {}).empty());
  auto told = all();
  std::erase_if(told, [](const delivery_row& d) { return d.topic != topic::event_cancelled; });
  CAF_CHECK_EQUAL(told.size(), fans + 1);
  CAF_CHECK_EQUAL(store.list_deliveries({.target = hook.id}).size(), 2u); // the broadcast and the order
}

CAF_TEST(of two crowds each is told once the other is) {
  const auto other = put_event(10, {}, aggregate_id{17});
  const auto phone = device(make_entry_id(env.wall_now(), event.aggregate, queue_number{1}));
  const auto elsewhere = device(make_entry_id(env.wall_now(), other.aggregate, queue_number{1}));
  start();
  tell(topic::event_cancelled, "{}");
  tell(topic::event_cancelled, "{}", other.aggregate);
  for (int i = 0; i < 4; ++i) advance(outbox_poll);
  CAF_CHECK_EQUAL(store.list_deliveries({.target = phone.id}).size(), 1u);
  CAF_CHECK_EQUAL(store.list_deliveries({.target = elsewhere.id}).size(), 1u);
  for (const auto aggregate : {event.aggregate, other.aggregate}) {
    const std::uint32_t partition[] = {number_of(aggregate) % outbox_partitions};
    CAF_CHECK(store.undelivered(lane::notices, partition, 9, {}).empty());
  }
}

CAF_TEST(a batch that comes again while it is under way is not begun twice) {
  device(customer(1));
  services.ledgers = ledgers;
  services.counts = &counts;
  auto consumer = keep(sys.spawn(fan_out, static_cast<const fan_out_services*>(&services)));
  tell(topic::order_completed, of(customer(1)));
  const std::uint32_t partition[] = {number_of(event.aggregate) % outbox_partitions};
  const auto items =
    std::make_shared<const std::vector<outbox_item>>(store.undelivered(lane::notices, partition, 9, {}));
  for (int i = 0; i < 3; ++i) caf::anon_send(consumer, consume_outbox{items});
  run();
  CAF_CHECK_EQUAL(counts.stored.get(), 1u);
  caf::anon_send(consumer, consume_outbox{items}); // that broadcast is over
  run();
  CAF_CHECK_EQUAL(counts.stored.get(), 2u);
}

CAF_TEST(a batch that comes again tells nobody twice) {
  device(customer(1));
  endpoint("");
  services.ledgers = ledgers;
  auto consumer = keep(sys.spawn(fan_out, static_cast<const fan_out_services*>(&services)));
  tell(topic::order_completed, of(customer(1)));
  for (int i = 0; i < 2; ++i) { // the first acknowledgements are lost
    const std::uint32_t partition[] = {number_of(event.aggregate) % outbox_partitions};
    const auto items =
      std::make_shared<const std::vector<outbox_item>>(store.undelivered(lane::notices, partition, 9, {}));
    CAF_REQUIRE_EQUAL(items->size(), 1u);
    caf::anon_send(consumer, consume_outbox{items});
    run();
  }
  CAF_CHECK_EQUAL(all().size(), 2u);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace fan_out_test
