// SPDX-License-Identifier: Apache-2.0
// Domain events on their way to the mail port: in order per event, nothing lost while it is away, what it will never take becomes a dead letter
// before anything behind it goes.
#define CAF_SUITE notifier
#include "actors/notifier.hpp"
#include "domain/outbox.hpp"
#include "consumer_fixture.hpp"

using namespace fq;
using namespace fq::test;

namespace {

class scripted_mail final : public mail_port {
public:
  std::function<mail_answer(const mail_message&)> answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  std::vector<mail_message> tries;
  mail_answer send(const mail_message& message) override {
    tries.push_back(message);
    auto told = answer(message);
    told.recipients.resize(message.to.size(), told.result);
    return told;
  }
};

struct notifier_fixture : consumer_fixture {
  scripted_mail port;
  notifier_services services;

  notifier_fixture() {
    services.env = &env;
    services.port = &port;
    services.region = owners;
    consumer = keep(sys.spawn(notifier, static_cast<const notifier_services*>(&services)));
    run();
  }
  ~notifier_fixture() {
    services.region = nullptr;
    kill(consumer);
    consumer = nullptr;
  }
  outbox_item mail(std::uint32_t aggregate, std::string payload = R"({"template":"otp","language":"en","to":[{"address":"ada@example.org"}],"data":{"code":"1","minutes":10}})") {
    ++next_id;
    return {{aggregate_id{aggregate}, next_id, 0}, default_tenant, {}, {{1, next_id}, std::string{topic::mail_send}, std::move(payload), {}}};
  }
  outbox_item news(std::uint32_t aggregate) {
    ++next_id;
    return {{aggregate_id{aggregate}, next_id, 0}, default_tenant, {}, {{1, next_id}, "order.completed", "{}", {}}};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(notifier_tests, notifier_fixture)

CAF_TEST(a mail is rendered and sent under the id of its row) {
  const auto item = mail(20);
  CAF_CHECK(give({item, news(20)}).size() == 2);
  CAF_REQUIRE_EQUAL(port.tries.size(), 1u);
  CAF_CHECK_EQUAL(port.tries[0].id, to_string(item.row.id));
  CAF_CHECK_EQUAL(port.tries[0].to.at(0).address, "ada@example.org");
  CAF_CHECK(!port.tries[0].html.empty());
}

CAF_TEST(while the service is away nothing of that event passes and others do and the service is left alone for a while) {
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::unavailable, .service_down = true}; };
  const auto one = mail(20), behind = news(20), other = news(21), third = mail(22);
  const auto done = give({one, behind, other, third});
  CAF_REQUIRE_EQUAL(done.size(), 1u);
  CAF_CHECK(done[0] == other.key);
  CAF_CHECK_EQUAL(port.tries.size(), 1u); // the third was not even tried
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  advance(31s);
  CAF_CHECK_EQUAL(give({one, behind, third}).size(), 3u);
}

CAF_TEST(a mail that is sent already is not sent again when its batch comes twice) {
  const auto item = mail(20);
  give({item});
  CAF_CHECK_EQUAL(give({item}).size(), 1u);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
}

CAF_TEST(what nobody will take is a dead letter before anything behind it goes) {
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::rejected, .why = "550"}; };
  const auto item = mail(20), behind = news(20);
  const auto done = give({item, behind});
  CAF_REQUIRE_EQUAL(done.size(), 1u);
  CAF_CHECK(done[0] == item.key); // what is behind it comes with the next batch
  CAF_REQUIRE_EQUAL(buried->size(), 1u);
  CAF_CHECK(buried->at(0).row == item.row);
  CAF_CHECK_EQUAL(buried->at(0).detail, "550");
}

CAF_TEST(a dead letter that cannot be stored now holds its event up) {
  *owner_is_there = false;
  const auto item = mail(20, R"({"template":"nonsense","to":[],"data":{}})");
  CAF_CHECK(give({item}).empty());
  *owner_is_there = true;
  CAF_CHECK_EQUAL(give({item}).size(), 1u);
  CAF_CHECK_EQUAL(buried->size(), 1u);
}

CAF_TEST(of many recipients those who have it are not sent it again) {
  const auto item = mail(20, R"({"template":"otp","language":"en","to":[{"address":"a@x.org"},{"address":"b@x.org"}],"data":{"code":"1","minutes":10}})");
  port.answer = [](const mail_message& m) {
    auto answer = open_answer(m);
    note(answer, 0, mail_result::accepted, {});
    return closed(answer);
  };
  CAF_CHECK(give({item}).empty());
  port.answer = [](const mail_message& m) { return all_of(m, mail_result::accepted, {}); };
  CAF_CHECK(give({item}).empty()); // not at once
  advance(services.again_after);
  CAF_CHECK_EQUAL(give({item}).size(), 1u);
  CAF_REQUIRE_EQUAL(port.tries.size(), 2u);
  CAF_CHECK(port.tries[1].to[0].answered);
  CAF_CHECK(!port.tries[1].to[1].answered);
}

CAF_TEST_FIXTURE_SCOPE_END()
