// SPDX-License-Identifier: Apache-2.0
// Domain events on their way to the mail port: in order per event, nothing lost while it is away, what it will never take becomes a dead letter
// before anything behind it goes.
#define CAF_SUITE notifier
#include "actors/notifier.hpp"
#include "domain/outbox.hpp"
#include "fixture.hpp"

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

struct notifier_fixture : fixture {
  scripted_mail port;
  notifier_services services;
  consumer_handle consumer;
  dispatcher_handle asker;
  std::shared_ptr<std::vector<std::vector<outbox_key>>> answers = std::make_shared<std::vector<std::vector<outbox_key>>>();
  std::shared_ptr<std::vector<report_undelivered>> buried = std::make_shared<std::vector<report_undelivered>>();
  std::shared_ptr<bool> owner_is_there = std::make_shared<bool>(true);
  std::uint64_t next_id = 0;

  notifier_fixture() {
    services.env = &env;
    services.port = &port;
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
    services.region = keep(sys.spawn([grave, there](region_handle::pointer) -> region_handle::behavior_type {
      return {[grave, there](const resolve_event&) -> caf::result<event_handle> {
                if (!*there) return make_error(errc::unavailable);
                return caf::actor_cast<event_handle>(grave);
              },
              [](const list_owned&) { return owned_aggregates{}; }, [](const move_event&) { return ack_reply{}; }, [](const cluster_changed&) {}, [](const handed_over&) {},
              [](const aggregates_to_wake&) {}, [](const timer_fired&) {}};
    }));
    consumer = keep(sys.spawn(notifier, static_cast<const notifier_services*>(&services)));
    auto heard = answers;
    asker = keep(sys.spawn([heard](dispatcher_handle::pointer) -> dispatcher_handle::behavior_type {
      return {[](const outbox_taken&) {}, [](const outbox_marked&) {}, [heard](const outbox_consumed& x) { heard->push_back(*x.keys); },
              [](const timer_fired&) {}};
    }));
    run();
  }
  ~notifier_fixture() {
    services.region = nullptr;
    kill(consumer);
    consumer = nullptr;
    asker = nullptr;
  }
  outbox_item mail(std::uint32_t aggregate, std::string payload = R"({"template":"otp","language":"en","to":[{"address":"ada@example.org"}],"data":{"code":"1","minutes":10}})") {
    ++next_id;
    return {{aggregate_id{aggregate}, next_id, 0}, default_tenant, {{1, next_id}, std::string{topic::mail_send}, std::move(payload), {}}};
  }
  outbox_item news(std::uint32_t aggregate) {
    ++next_id;
    return {{aggregate_id{aggregate}, next_id, 0}, default_tenant, {{1, next_id}, "order.completed", "{}", {}}};
  }
  /// The keys that are done.
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
