// SPDX-License-Identifier: Apache-2.0
// Delivery of domain events to the mail port: ordered per event, complete after an outage. An event that the
// port refuses permanently becomes a dead letter before later events are sent.
#define CAF_SUITE mail_consumer
#include "actors/outbox/mail_consumer.hpp"
#include "domain/delivery/outbox.hpp"
#include "tests/actors/outbox/consumer_fixture.hpp"

namespace mail_consumer_test {

using namespace fq;
using namespace fq::test;

namespace {

class scripted_mail final : public mail_port {
public:
  std::function<mail_answer(const mail_message&)> answer = [](const auto&) {
    return mail_answer{.result = mail_result::accepted};
  };
  std::vector<mail_message> tries;
  std::size_t most = 1'000;
  [[nodiscard]] std::size_t at_once() const override { return most; }
  mail_answer send(const mail_message& message) override {
    tries.push_back(message);
    auto told = answer(message);
    told.recipients.resize(message.to.size(), told.result);
    return told;
  }
};

struct mail_consumer_fixture : consumer_fixture {
  scripted_mail port;
  mail_consumer_services services;
  task_history history;

  mail_consumer_fixture() {
    services.history = &history;
    services.env = &env;
    services.port = &port;
    services.region = owners;
    consumer = keep(sys.spawn(mail_consumer, static_cast<const mail_consumer_services*>(&services)));
    run();
  }
  ~mail_consumer_fixture() {
    services.region = nullptr;
    kill(consumer);
    consumer = nullptr;
  }
  outbox_item mail(
    std::uint32_t aggregate,
    std::string payload =
      R"({"template":"otp","language":"en","to":[{"address":"ada@example.org"}],"data":{"code":"1",)"
      R"("minutes":10}})") {
    ++next_id;
    return {{aggregate_id{aggregate}, next_id, 0},
            default_tenant,
            {},
            {{1, next_id}, std::string{topic::mail_send}, std::move(payload), {}}};
  }
  /// A mail to 0@x.org, 1@x.org and so on.
  outbox_item mass_mail(std::uint32_t aggregate, std::size_t recipients) {
    std::string to;
    for (std::size_t i = 0; i < recipients; ++i)
      to += (i ? "," : "") + (R"({"address":")" + std::to_string(i)) + R"(@x.org"})";
    return mail(aggregate, R"({"template":"otp","language":"en","to":[)" + to
                             + R"(],"data":{"code":"1","minutes":10}})");
  }
  /// Simulates a port with single recipients, twenty per call; recipients before number `wall` are postponed.
  void defer_before(std::size_t wall) {
    port.most = 20;
    port.answer = [this, wall](const mail_message& m) {
      auto answer = open_answer(m);
      for (std::size_t i = 0; i < m.to.size(); ++i) {
        if (m.to[i].answered) continue;
        const bool is_put_off = std::stoul(m.to[i].address) < wall;
        if (!is_put_off) ++told[m.to[i].address];
        note(answer, i, is_put_off ? mail_result::unavailable : mail_result::accepted,
             is_put_off ? "RCPT TO: 450" : "");
      }
      return closed(std::move(answer));
    };
  }
  std::map<std::string, int> told; ///< deliveries by address
  /// Repeats the item like the dispatcher, until it is processed or `time` is over.
  bool give_for(const outbox_item& item, milliseconds time) {
    for (milliseconds t{0}; t <= time; t += 500ms) {
      if (give({item}).size() == 1) return true;
      advance(500ms);
    }
    return false;
  }
  bool has_told_once(std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i)
      if (told[std::to_string(i) + "@x.org"] != 1) return false;
    return true;
  }
  outbox_item news(std::uint32_t aggregate) {
    ++next_id;
    return {
      {aggregate_id{aggregate}, next_id, 0}, default_tenant, {}, {{1, next_id}, "order.completed", "{}", {}}};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mail_consumer_tests, mail_consumer_fixture)

CAF_TEST(a mail looks as its tenant wishes in the language of its payload) {
  const auto style_of = [](tenant_id tenant) {
    return tenant == tenant_id{7} ? mail_style{{"box@arena.example", "Arena"}, "Arena", "#2c1d6b"}
                                  : mail_style{};
  };
  const auto row_of = [](const std::string& start) {
    return outbox_row{{1, 1},
                      std::string{topic::mail_send},
                      start
                        + R"("template":"otp","to":[{"address":"a@x.org"}],)"
                          R"("data":{"code":"1","minutes":10}})",
                      {}};
  };
  const auto own = std::get<mail_message>(mail_of(row_of(R"({"tenant":7,"language":"hr",)"), style_of));
  CAF_CHECK_EQUAL(own.subject, "Vaš kôd za prijavu");
  CAF_CHECK_EQUAL(own.from.address, "box@arena.example");
  CAF_CHECK(own.html.find("#2c1d6b") != std::string::npos);
  const auto older = std::get<mail_message>(mail_of(row_of("{"), style_of));
  CAF_CHECK_EQUAL(older.subject, "Your sign-in code");
  CAF_CHECK_EQUAL(older.from.address, "");
}

CAF_TEST(the receipt of a guest has a link to the tickets and no other one has) {
  const auto link_of = [](const order_id& order) { return "https://t.example/my/" + to_string(order); };
  const auto text_of = [&](const std::string& tickets) {
    const outbox_row row{{1, 1},
                         std::string{topic::mail_send},
                         R"({"template":"order_receipt","to":[{"address":"a@x.org"}],)" + tickets
                           + R"("data":{"order_id":"00000000-0000-0005-0000-000000000006",)"
                             R"("event_name":"Concert","items":[],"total":0,"currency":"EUR"}})",
                         {}};
    const auto mail = std::get<mail_message>(mail_of(row, nullptr, link_of));
    return mail.text + mail.html;
  };
  const auto link = link_of({5, 6});
  CAF_CHECK(text_of(R"("event_tickets":{"link":true},)").find(link) != std::string::npos);
  CAF_CHECK(text_of(R"("event_tickets":{"link":false},)").find(link) == std::string::npos);
  CAF_CHECK(text_of("").find(link) == std::string::npos);
}

CAF_TEST(a mail is rendered and sent under the id of its row) {
  const auto item = mail(20);
  CAF_CHECK(give({item, news(20)}).size() == 2);
  CAF_REQUIRE_EQUAL(port.tries.size(), 1u);
  CAF_CHECK_EQUAL(port.tries[0].id, to_string(item.row.id));
  CAF_CHECK_EQUAL(port.tries[0].to.at(0).address, "ada@example.org");
  CAF_CHECK(!port.tries[0].html.empty());
  CAF_REQUIRE_EQUAL(history.all().size(), 1u);
  CAF_CHECK(history.all()[0].name == "mail" && history.all()[0].result == "accepted");
}

CAF_TEST(a mail to a customer goes to the address of that time in its language) {
  const customer_id ada{7, 8}, erased{7, 9};
  bool is_away = true;
  services.mailbox_of = [&](const customer_id& who) -> std::optional<mailbox> {
    if (is_away) return std::nullopt;
    return who == ada ? mailbox{"ada@example.org", "hr"} : mailbox{};
  };
  const auto to = [](const customer_id& who) {
    return R"({"template":"otp","language":"en","to":[{"customer_id":")" + to_string(who)
           + R"("}],"data":{"code":"1","minutes":10}})";
  };
  const auto item = mail(20, to(ada)), useless = mail(21, to(erased));
  CAF_CHECK(give({item, useless}).empty());
  CAF_CHECK(port.tries.empty());
  is_away = false;
  CAF_CHECK_EQUAL(give({item, useless}).size(), 2u);
  CAF_REQUIRE_EQUAL(port.tries.size(), 1u);
  CAF_CHECK_EQUAL(port.tries[0].to.at(0).address, "ada@example.org");
  CAF_CHECK_EQUAL(port.tries[0].subject, "Vaš kôd za prijavu");
}

CAF_TEST(while the service is away mails of that event wait and others pass and the service gets a pause) {
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::unavailable, .service_down = true};
  };
  const auto one = mail(20), behind = news(20), other = news(21), third = mail(22);
  const auto done = give({one, behind, other, third});
  CAF_REQUIRE_EQUAL(done.size(), 1u);
  CAF_CHECK(done[0] == other.key);
  CAF_CHECK_EQUAL(port.tries.size(), 1u); // the third was not tried
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
  CAF_CHECK(done[0] == item.key); // later rows come with the next batch
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
  const auto item =
    mail(20, R"({"template":"otp","language":"en","to":[{"address":"a@x.org"},{"address":"b@x.org"}],)"
             R"("data":{"code":"1","minutes":10}})");
  port.answer = [](const mail_message& m) {
    auto answer = open_answer(m);
    note(answer, 0, mail_result::accepted, {});
    return closed(answer);
  };
  CAF_CHECK(give({item}).empty());
  port.answer = [](const mail_message& m) { return all_of(m, mail_result::accepted, {}); };
  CAF_CHECK(give({item}).empty()); // not immediately
  advance(services.again_after);
  CAF_CHECK_EQUAL(give({item}).size(), 1u);
  CAF_REQUIRE_EQUAL(port.tries.size(), 2u);
  CAF_CHECK(port.tries[1].to[0].answered);
  CAF_CHECK(!port.tries[1].to[1].answered);
}

CAF_TEST(one recipient who is put off keeps it from nobody else and gets it when he is taken) {
  defer_before(1);
  const auto item = mass_mail(20, 100);
  CAF_CHECK(give({item}).empty());
  CAF_CHECK(has_told_once(1, 100)); // in one round
  defer_before(0);
  CAF_CHECK(give_for(item, services.again_after));
  CAF_CHECK(has_told_once(0, 100));
  CAF_CHECK(buried->empty());
}

CAF_TEST(as many as go at once are put off and all behind them are told within seconds) {
  defer_before(20);
  const auto item = mass_mail(20, 100);
  CAF_CHECK(!give_for(item, 2s));
  CAF_CHECK(has_told_once(20, 100));
  defer_before(0);
  CAF_CHECK(give_for(item, 2 * services.again_after));
  CAF_CHECK(has_told_once(0, 100));
}

CAF_TEST(those who are never taken are a dead letter of their own and its retry tells nobody twice) {
  defer_before(20);
  const auto item = mass_mail(20, 100), behind = news(20);
  CAF_CHECK(!give_for(item, services.patience - 1s));
  CAF_CHECK(buried->empty());
  CAF_CHECK(give_for(item, 1min));
  CAF_CHECK(has_told_once(20, 100));
  CAF_REQUIRE_EQUAL(buried->size(), 1u);
  const auto& letter = buried->at(0);
  CAF_CHECK(letter.row.id == item.row.id);
  CAF_CHECK_EQUAL(letter.detail, "put off for too long: RCPT TO: 450");
  const auto rest = std::get<mail_message>(mail_of(letter.row));
  CAF_REQUIRE_EQUAL(rest.to.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) CAF_CHECK(std::stoul(rest.to[i].address) < 20);
  CAF_CHECK(rest.id != to_string(item.row.id)); // the rest of a message has its own ids
  CAF_CHECK_EQUAL(give({item, behind}).size(), 2u); // its batch comes again, late
  defer_before(0);
  auto retried = news(20);
  retried.row = letter.row;
  CAF_CHECK(give_for(retried, 1s));
  CAF_CHECK(has_told_once(0, 100));
  CAF_CHECK_EQUAL(buried->size(), 1u);
}

CAF_TEST(a dead letter of some recipients that cannot be stored now does not tell the others again) {
  defer_before(1);
  *owner_is_there = false;
  const auto item = mass_mail(20, 3);
  CAF_CHECK(!give_for(item, services.patience + 1min));
  *owner_is_there = true;
  CAF_CHECK(give_for(item, 1min));
  CAF_CHECK_EQUAL(buried->size(), 1u);
  CAF_CHECK(has_told_once(1, 3));
}

CAF_TEST(a mail that everybody is put off with waits between tries and leaves the turn to others) {
  defer_before(100);
  const auto mass = mass_mail(20, 100);
  const auto other = news(21);
  CAF_CHECK_EQUAL(give({mass, other}).size(), 1u);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  CAF_CHECK(!give_for(mass, 1min));
  CAF_CHECK(port.tries.size() < 60); // of 120 rounds
  CAF_CHECK(give_for(mass, services.patience + 2min));
  CAF_REQUIRE_EQUAL(buried->size(), 1u);
  CAF_CHECK(buried->at(0).row == mass.row); // unchanged, with all recipients
}

CAF_TEST(the only recipient is tried with jitter and given up when patience ends) {
  port.answer = [](const mail_message& m) { return all_of(m, mail_result::unavailable, "RCPT TO: 450"); };
  const auto item = mail(20);
  CAF_CHECK(!give_for(item, services.patience - 1s));
  CAF_CHECK(port.tries.size() > 25 && port.tries.size() < 100);
  CAF_CHECK(give_for(item, 2s));
  CAF_REQUIRE_EQUAL(buried->size(), 1u);
  CAF_CHECK(buried->at(0).row == item.row);
}

CAF_TEST(what is about something that has ended is not sent any more and holds nothing up) {
  const auto end = (env.wall_now() + 1min).time_since_epoch().count();
  const auto until = [&](std::uint32_t aggregate) {
    return mail(
      aggregate,
      R"({"template":"otp","language":"en","to":[{"address":"ada@example.org"}],"data":{"code":"1",)"
      R"("minutes":10},"expires_at":)"
        + std::to_string(end) + "}");
  };
  const auto in_time = until(20), late = until(21), behind = news(21);
  CAF_CHECK_EQUAL(give({in_time}).size(), 1u);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::unavailable, .service_down = true};
  };
  CAF_CHECK(give({late, behind}).empty());
  advance(1min);
  CAF_CHECK_EQUAL(give({late, behind}).size(), 2u);
  CAF_CHECK_EQUAL(port.tries.size(), 2u);
  CAF_CHECK(buried->empty());
}

CAF_TEST(a mail that is put off holds back only what goes to the same people) {
  port.answer = [](const mail_message& m) {
    const auto result =
      !m.to[0].answered && m.to[0].address == "full@x.org" ? mail_result::unavailable : mail_result::accepted;
    return mail_answer{.result = result, .recipients = std::vector(m.to.size(), result)};
  };
  const auto to = [](const std::string& address) {
    return R"({"template":"otp","language":"en","to":[{"address":")" + address
           + R"("}],"data":{"code":"1","minutes":10}})";
  };
  const auto full = mail(20, to("full@x.org")), other = mail(20, to("other@x.org")),
             same = mail(20, to("full@x.org")), behind = news(20);
  const auto many = mail(20, to(R"(full@x.org"},{"address":"third@x.org)"));
  const auto done = give({full, other, same, many, behind});
  CAF_CHECK((done == std::vector{other.key, behind.key}));
  CAF_REQUIRE_EQUAL(port.tries.size(), 3u); // another mail to them would overtake the first
  const auto& some = port.tries.back().to; // some recipients of `many`; the others have received theirs
  CAF_CHECK(some[0].answered && !some[1].answered);
}

CAF_TEST(a mail that is refused for everybody waits for a person) {
  port.answer = [](const mail_message& m) {
    return mail_answer{.result = mail_result::rejected,
                       .why = "554",
                       .recipients = std::vector(m.to.size(), mail_result::rejected)};
  };
  const auto item =
    mail(20, R"({"template":"otp","language":"en","to":[{"address":"a@x.org"},{"address":"b@x.org"}],)"
             R"("data":{"code":"1","minutes":10}})");
  CAF_CHECK_EQUAL(give({item}).size(), 1u);
  CAF_REQUIRE_EQUAL(buried->size(), 1u);
  CAF_CHECK(buried->at(0).row == item.row);
}

CAF_TEST(of a mail to many those who are refused wait for a person when they are more than one in ten) {
  const auto refuse_before = [this](std::size_t wall) {
    port.answer = [this, wall](const mail_message& m) {
      auto answer = open_answer(m);
      for (std::size_t i = 0; i < m.to.size(); ++i) {
        const bool is_refused = i < wall;
        if (!is_refused) ++told[m.to[i].address];
        note(answer, i, is_refused ? mail_result::rejected : mail_result::accepted,
             is_refused ? "RCPT TO: 550" : "");
      }
      return closed(std::move(answer));
    };
  };
  refuse_before(4);
  CAF_CHECK_EQUAL(give({mass_mail(20, 40)}).size(), 1u);
  CAF_CHECK(buried->empty());
  CAF_CHECK(has_told_once(4, 40));
  refuse_before(5);
  CAF_CHECK_EQUAL(give({mass_mail(20, 40)}).size(), 1u);
  CAF_REQUIRE_EQUAL(buried->size(), 1u);
  const auto& letter = buried->at(0).row.payload;
  for (int i = 0; i < 5; ++i)
    CAF_CHECK(letter.find("\"" + std::to_string(i) + "@x.org") != std::string::npos);
  CAF_CHECK(letter.find("\"5@x.org") == std::string::npos);
}

CAF_TEST(a mail to many leaves time for what is behind it) {
  port.most = 20;
  port.answer = [this](const mail_message& m) {
    sched.advance_time(m.to.size() > 1 ? 400ms : 20ms);
    auto answer = open_answer(m);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < m.to.size(); ++i)
      if (!m.to[i].answered && ++taken <= 20) note(answer, i, mail_result::accepted, "");
    return closed(std::move(answer));
  };
  const auto many = mass_mail(20, 1'000), other = mail(21), third = mail(22);
  const auto done = give({many, other, third}); // all of it would take two rounds
  CAF_CHECK((done == std::vector{other.key, third.key}));
  CAF_CHECK(give_for(many, 10s));
}

CAF_TEST(mails leave at the rate that is set and what waits for it is not put off) {
  kill(consumer);
  services.per_second = 4;
  consumer = keep(sys.spawn(mail_consumer, static_cast<const mail_consumer_services*>(&services)));
  run();
  defer_before(0);
  const auto item = mass_mail(20, 40);
  CAF_CHECK(!give_for(item, 8s));
  std::size_t sent = told.size();
  CAF_CHECK(sent >= 30 && sent <= 36);
  CAF_CHECK(give_for(item, 3s));
  CAF_CHECK(has_told_once(0, 40));
  CAF_CHECK(buried->empty());
}

CAF_TEST(what waits for the rate is looked at in turns and counts as put off by nobody) {
  mail_counts counts;
  kill(consumer);
  services.per_second = 4;
  services.counts = &counts;
  consumer = keep(sys.spawn(mail_consumer, static_cast<const mail_consumer_services*>(&services)));
  run();
  defer_before(0);
  advance(500ms);
  const auto
    many = mass_mail(20, 40),
    other = mail(
      21,
      R"({"template":"otp","language":"en","to":[{"address":"99@x.org"}],"data":{"code":"1","minutes":10}})");
  CAF_CHECK(give({many, other}).empty()); // the mass mail uses the whole round
  CAF_CHECK(*looked_at == many.key.aggregate);
  CAF_CHECK_EQUAL(told.size(), 2u);
  advance(500ms);
  CAF_CHECK((give({other, many}) == std::vector{other.key})); // the dispatcher's order in the next round
  CAF_CHECK(give({other, many}).empty()); // the rate is used up
  CAF_CHECK(*looked_at == aggregate_id{}); // so no aggregate had its round
  CAF_CHECK_EQUAL(counts.put_off.get(), 0u);
  services.counts = nullptr;
}

CAF_TEST(a recipient at whom the service stalls is not the first the next time) {
  std::vector<std::string> asked;
  port.answer = [&](const mail_message& m) {
    mail_answer answer{.result = mail_result::unavailable,
                       .service_down = false,
                       .recipients = std::vector(m.to.size(), mail_result::unavailable)};
    for (std::size_t i = 0; i < m.to.size() && !answer.service_down; ++i) {
      if (m.to[i].answered) continue;
      asked.push_back(m.to[i].address);
      if (m.to[i].address == "stalls@x.org")
        answer.service_down = true;
      else
        answer.recipients[i] = mail_result::accepted;
    }
    return answer;
  };
  const auto item =
    mail(20, R"({"template":"otp","language":"en","to":[{"address":"stalls@x.org"},{"address":"b@x.org"}],)"
             R"("data":{"code":"1","minutes":10}})");
  CAF_CHECK(give({item}).empty());
  advance(31s);
  CAF_CHECK(give({item}).empty());
  CAF_CHECK((asked == std::vector<std::string>{"stalls@x.org", "b@x.org", "stalls@x.org"}));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace mail_consumer_test
