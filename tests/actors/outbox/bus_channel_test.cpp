// SPDX-License-Identifier: Apache-2.0
// Delivery of domain events to the bus: ordered per event, complete after an outage. An event that the bus
// refuses permanently becomes a dead letter before later events are sent.
#define CAF_SUITE bus_channel
#include "actors/outbox/bus_channel.hpp"
#include "domain/delivery/outbox.hpp"
#include "tests/actors/outbox/consumer_fixture.hpp"

namespace bus_channel_test {

using namespace fq;
using namespace fq::test;

namespace {

class scripted_bus final : public bus_port {
public:
  std::function<bus_answer(const bus_message&)> answer = [](const auto&) {
    return bus_answer{bus_result::accepted};
  };
  std::vector<bus_message> tries;
  bus_answer publish(const bus_message& message) override {
    tries.push_back(message);
    return answer(message);
  }
};

struct bus_fixture : consumer_fixture {
  scripted_bus port;
  bus_counts counts;
  std::vector<std::pair<uuid, bus_outcome>> noted;
  bus_services services;

  bus_fixture() {
    services.env = &env;
    services.port = &port;
    services.counts = &counts;
    services.note = [this](const outbox_item& item, bus_outcome outcome, const std::string&) {
      noted.emplace_back(item.row.id, outcome);
    };
    services.region = owners;
    consumer = keep(sys.spawn(bus_channel, static_cast<const bus_services*>(&services)));
    run();
  }
  ~bus_fixture() {
    services.region = nullptr;
    kill(consumer);
    consumer = nullptr;
  }
  outbox_item row(std::uint32_t aggregate, std::string_view topic = topic::order_completed) {
    ++next_id;
    return {{aggregate_id{aggregate}, next_id, 1},
            tenant_id{3},
            {},
            {{1, next_id}, std::string{topic}, "{}", env.wall_now()}};
  }
  void bus_is_away() {
    port.answer = [](const auto&) { return bus_answer{bus_result::unavailable, "not connected"}; };
  }
  void bus_is_back() {
    port.answer = [](const auto&) { return bus_answer{bus_result::accepted}; };
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(bus_channel_tests, bus_fixture)

CAF_TEST(a row is published with all that says who and when it is) {
  const auto item = row(20);
  CAF_CHECK_EQUAL(give({item, row(21), row(20)}).size(), 3u);
  CAF_REQUIRE_EQUAL(port.tries.size(), 3u);
  const auto& sent = port.tries[0];
  CAF_CHECK(sent.what.id == item.row.id);
  CAF_CHECK_EQUAL(sent.what.topic, item.row.topic);
  CAF_CHECK_EQUAL(sent.what.payload, item.row.payload);
  CAF_CHECK(sent.what.tenant == item.tenant);
  CAF_CHECK(sent.what.created_at == item.row.created_at);
  CAF_CHECK(sent.aggregate == item.key.aggregate && sent.seq == item.key.seq
            && sent.ordinal == item.key.ordinal);
  CAF_REQUIRE_EQUAL(noted.size(), 3u);
  CAF_CHECK(noted[0] == std::pair(item.row.id, bus_outcome::published));
  CAF_CHECK_EQUAL(counts.published.get(), 3u);
}

CAF_TEST(mail is not for the bus) {
  CAF_CHECK_EQUAL(give({row(20, topic::mail_send)}).size(), 1u);
  CAF_CHECK(port.tries.empty());
}

CAF_TEST(behind the first that fails nothing of the same event goes and it comes first when the bus is back) {
  const auto first = row(20), second = row(20), other = row(21);
  port.answer = [&](const bus_message& m) {
    return m.what.id == first.row.id ? bus_answer{bus_result::unavailable, "timeout"}
                                     : bus_answer{bus_result::accepted};
  };
  for (const auto& key : give({first, second, other})) CAF_CHECK(key.aggregate != first.key.aggregate);
  CAF_CHECK(std::ranges::none_of(port.tries, [&](const auto& m) { return m.what.id == second.row.id; }));
  CAF_CHECK_EQUAL(counts.failed.get(), 1u);
  bus_is_back();
  advance(services.pauses.cap);
  port.tries.clear();
  CAF_CHECK_EQUAL(give({first, second}).size(), 2u);
  CAF_CHECK(port.tries.at(0).what.id == first.row.id && port.tries.at(1).what.id == second.row.id);
}

CAF_TEST(a bus that is away is left alone for a while) {
  bus_is_away();
  services.pauses = {0, 1h, 1h};
  for (std::uint32_t n = 20; n < 60; ++n) CAF_CHECK(give({row(n)}).empty());
  CAF_CHECK(port.tries.size() < 5); // full jitter may draw no pause once, but not five times
  bus_is_back();
  advance(services.pauses.cap);
  CAF_CHECK_EQUAL(give({row(20)}).size(), 1u);
}

CAF_TEST(what no bus will take is a dead letter before anything behind it goes) {
  const auto item = row(20), behind = row(20);
  port.answer = [&](const bus_message& m) {
    return m.what.id == item.row.id ? bus_answer{bus_result::rejected, "too large"}
                                    : bus_answer{bus_result::accepted};
  };
  const auto done = give({item, behind});
  CAF_REQUIRE_EQUAL(done.size(), 1u);
  CAF_CHECK(done[0] == item.key);
  CAF_REQUIRE_EQUAL(buried->size(), 1u);
  CAF_CHECK(buried->at(0).row == item.row);
  CAF_CHECK_EQUAL(buried->at(0).detail, "bus: too large");
  CAF_CHECK(noted.back() == std::pair(item.row.id, bus_outcome::given_up));
  CAF_CHECK_EQUAL(give({behind}).size(), 1u);
}

CAF_TEST(a dead letter that cannot be stored now holds its event up) {
  *owner_is_there = false;
  port.answer = [](const auto&) { return bus_answer{bus_result::rejected, "too large"}; };
  const auto item = row(20);
  CAF_CHECK(give({item}).empty());
  *owner_is_there = true;
  CAF_CHECK_EQUAL(give({item}).size(), 1u);
  CAF_CHECK_EQUAL(buried->size(), 1u);
}

CAF_TEST(what the accounts tell has no dead letter and does not stop what is behind it) {
  const auto item = row(1, topic::user_updated), behind = row(1, topic::user_updated);
  port.answer = [&](const bus_message& m) {
    return m.what.id == item.row.id ? bus_answer{bus_result::rejected, "too large"}
                                    : bus_answer{bus_result::accepted};
  };
  CAF_CHECK_EQUAL(give({item, behind}).size(), 2u);
  CAF_CHECK(buried->empty());
  CAF_CHECK_EQUAL(counts.given_up.get(), 1u);
}

CAF_TEST(a port that throws is a bus that is away) {
  port.answer = [](const auto&) -> bus_answer { throw std::runtime_error{"no memory"}; };
  CAF_CHECK(give({row(20)}).empty());
  bus_is_back();
  advance(services.pauses.cap);
  CAF_CHECK_EQUAL(give({row(20)}).size(), 1u);
}

CAF_TEST(a batch that takes too long is answered with what is done) {
  port.answer = [this](const auto&) {
    sched.clock().current_time += 4s; // a slow acknowledgement
    return bus_answer{bus_result::accepted};
  };
  CAF_CHECK_EQUAL(give({row(20), row(21), row(22), row(23), row(24)}).size(), 3u);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace bus_channel_test
