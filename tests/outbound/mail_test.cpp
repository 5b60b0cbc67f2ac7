// SPDX-License-Identifier: Apache-2.0
// Shared parts of all mail ports: variables, numbering, and the recipients to retry.
#define CAF_SUITE mail
#include "caf/test/unit_test.hpp"

#include "outbound/mail.hpp"

#include <map>

namespace mail_test {

using namespace fq;

namespace {

/// Gives each address its configured answer and records it.
class scripted_port final : public letter_port {
public:
  std::map<std::string, mail_answer> answers;
  std::vector<mail_letter> seen;

protected:
  mail_answer deliver(const mail_letter& letter) override {
    seen.push_back(letter);
    const auto known = answers.find(letter.to);
    return known == answers.end() ? mail_answer{.result = mail_result::accepted} : known->second;
  }
};

mail_message to_three() {
  return {.id = "m1", .to = {{"a@x.example"}, {"b@x.example"}, {"c@x.example"}}, .subject = "s", .text = "t"};
}

using results = std::vector<mail_result>;
constexpr auto accepted = mail_result::accepted, rejected = mail_result::rejected,
               unavailable = mail_result::unavailable;

} // namespace

CAF_TEST(variables are put in their places and escaped in html) {
  const mail_message m{.id = "m",
                       .to = {{"a@x.example", {{"name", "Ana <b>"}, {"n", "2"}}},
                              {"b@x.example", {{"name", "%recipient.n%"}, {"n", "3"}}}},
                       .subject = "For %recipient.name%",
                       .text = "%recipient.name% x %recipient.n% %recipient.other% 100%",
                       .html = "<i>%recipient.name%</i>"};
  const auto first = letter_for(m, 0), second = letter_for(m, 1);
  CAF_CHECK_EQUAL(first.subject, "For Ana <b>");
  CAF_CHECK_EQUAL(first.text, "Ana <b> x 2 %recipient.other% 100%");
  CAF_CHECK_EQUAL(first.html, "<i>Ana &lt;b&gt;</i>");
  CAF_CHECK_EQUAL(second.subject, "For %recipient.n%"); // inserted text is not expanded again
  CAF_CHECK_EQUAL(first.id, "m#1");
  CAF_CHECK_EQUAL(second.id, "m#2");
  const mail_message alone{
    .id = "m", .to = {{"a@x.example"}}, .subject = "s", .text = "%recipient. %recipient.%"};
  const auto one = letter_for(alone, 0);
  CAF_CHECK_EQUAL(one.id, "m");
  CAF_CHECK_EQUAL(one.text, "%recipient. %recipient.%");
}

CAF_TEST(only those without a final answer are sent again and under their first id) {
  scripted_port port;
  port.answers["a@x.example"] = {.result = rejected, .why = "no such user"};
  port.answers["b@x.example"] = {.result = unavailable, .retry_after = milliseconds{500}, .why = "busy"};
  auto m = to_three();
  auto answer = port.send(m);
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK((answer.recipients == results{rejected, unavailable, accepted}));
  CAF_CHECK(answer.retry_after == milliseconds{500});
  CAF_CHECK_EQUAL(answer.why, "no such user");
  mark_answered(m, answer);
  port.seen.clear();
  port.answers.clear();
  answer = port.send(m);
  CAF_CHECK(answer.result == accepted);
  CAF_REQUIRE_EQUAL(port.seen.size(), 1u);
  CAF_CHECK_EQUAL(port.seen[0].to, "b@x.example");
  CAF_CHECK_EQUAL(port.seen[0].id, "m1#2");
}

CAF_TEST(a service that is down is not asked for every recipient) {
  scripted_port port;
  port.answers["a@x.example"] = {.result = unavailable, .service_down = true, .why = "connecting"};
  const auto answer = port.send(to_three());
  CAF_CHECK(answer.service_down);
  CAF_CHECK_EQUAL(port.seen.size(), 1u);
  CAF_CHECK((answer.recipients == results{unavailable, unavailable, unavailable}));
}

CAF_TEST(unfit messages and recipients are rejected before anybody is asked) {
  scripted_port port;
  auto m = to_three();
  const auto whole = [&](auto change) {
    auto bad = to_three();
    change(bad);
    const auto answer = port.send(bad);
    return answer.result == rejected && !answer.why.empty() && port.seen.empty();
  };
  CAF_CHECK(whole([](auto& x) { x.id = ""; }));
  CAF_CHECK(whole([](auto& x) { x.id = "a b"; }));
  CAF_CHECK(whole([](auto& x) { x.id = std::string(201, 'x'); }));
  CAF_CHECK(whole([](auto& x) { x.to.clear(); }));
  CAF_CHECK(whole([](auto& x) { x.subject = "a\r\nBcc: x@y"; }));
  CAF_CHECK(whole([](auto& x) { x.subject = std::string(321, 'x'); }));
  CAF_CHECK(whole([](auto& x) { x.text = std::string{"a\0b", 3}; }));
  CAF_CHECK(whole([](auto& x) { x.html = "\xff"; }));
  CAF_CHECK(whole([](auto& x) { x.text = std::string(1024 * 1024 + 1, 'x'); }));
  m.to = {{"a@x.example"},
          {"a@x.example"},
          {"bad"},
          {"b@x.example", {{"n", "1\r\n2"}}},
          {"c@x.example", {{"n_html", "1"}}},
          {"d@x.example"}};
  const auto answer = port.send(m);
  CAF_CHECK(answer.result == accepted);
  CAF_CHECK((answer.recipients == results{accepted, rejected, rejected, rejected, rejected, accepted}));
  CAF_CHECK_EQUAL(port.seen.size(), 2u);
}

CAF_TEST(addresses are plain) {
  for (const auto* text :
       {"a@b", "a.b+c@example.com", "x_1-2@sub.example.com", "o'neil@example.com", "demo@localhost"})
    CAF_CHECK(is_mail_address(text));
  for (const auto* text : {"",
                           "a",
                           "@",
                           "@b",
                           "a@",
                           "a@b@c",
                           "a b@c",
                           "a@b c",
                           "<a@b>",
                           "a@b,c",
                           "a;b@c",
                           "a@[127.0.0.1]",
                           "\"a\"@b",
                           "a@b\r\nRCPT TO:<x@y>",
                           "a@b\n",
                           "a@b>",
                           "a@.b",
                           "a@b.",
                           "a@b..c",
                           "č@example.com",
                           "a@čb.example"})
    CAF_CHECK(!is_mail_address(text));
  CAF_CHECK(!is_mail_address(std::string(65, 'a') + "@b"));
}

} // namespace mail_test
