// SPDX-License-Identifier: Apache-2.0
// Mail by SMTP against a real server (tests/support/smtp_sink.py): what arrives, and what each refusal means.
#define CAF_SUITE smtp_mailer
#include "caf/test/unit_test.hpp"

#include "outbound/smtp_mailer.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/helpers.hpp"

#include <boost/json/parse.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <sstream>
#include <thread>

namespace smtp_mailer_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr auto accepted = mail_result::accepted, rejected = mail_result::rejected,
               unavailable = mail_result::unavailable;

/// One certificate for all.
const temp_folder& keys() {
  static const temp_folder folder;
  static const bool made = (make_certificate(folder.path()), true);
  static_cast<void>(made);
  return folder;
}

class sink {
public:
  enum class security { starttls, smtps, none };

  explicit sink(security how = security::starttls, std::vector<std::string> more = {}) : how_(how) {
    std::vector<std::string> command{FQ_TEST_SUPPORT "/smtp_sink.py", (folder_ / "mailbox").string()};
    if (how != security::none) {
      command.insert(command.end(), {"--certificate", (keys() / "certificate.pem").string(), "--key",
                                     (keys() / "key.pem").string()});
      if (how == security::smtps) command.emplace_back("--smtps");
    }
    command.insert(command.end(), more.begin(), more.end());
    child_ = std::make_unique<child_process>(command);
    port_ = child_->line();
  }

  [[nodiscard]] smtp_settings settings() const {
    smtp_settings s;
    s.url = (how_ == security::smtps ? "smtps://127.0.0.1:" : "smtp://127.0.0.1:") + port_;
    s.ca_file = (keys() / "certificate.pem").string();
    s.timeout = milliseconds{8'000};
    return s;
  }
  [[nodiscard]] std::vector<boost::json::value> mails() const {
    std::vector<boost::json::value> out;
    std::istringstream lines{read_file(folder_ / "mailbox")};
    for (std::string line; std::getline(lines, line);) out.push_back(boost::json::parse(line));
    return out;
  }
  void signal(int number) { child_->signal(number); }

private:
  security how_;
  temp_folder folder_;
  std::unique_ptr<child_process> child_;
  std::string port_;
};

struct fixture {
  fixed_environment env;
  const mail_sender us{"no-reply@tickets.example", "Box office"};

  mail_answer send(smtp_mailer& mailer, std::string to, std::string id = "m1") {
    return mailer.send({.id = std::move(id),
                        .to = {{std::move(to)}},
                        .subject = "Fête",
                        .text = "one\n.\n..two\nčć\n",
                        .html = "<p>čć</p>"});
  }
  mail_answer send_once(const smtp_settings& s, std::string to) {
    smtp_mailer mailer{s, us, env};
    return send(mailer, std::move(to));
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(smtp_mailer_tests, fixture)

CAF_TEST(a message arrives whole and encrypted over a connection that is kept) {
  const sink server;
  smtp_mailer mailer{server.settings(), us, env};
  for (const auto* id : {"m1", "m2", "m3"}) {
    const auto answer = send(mailer, "fan@example.com", id);
    CAF_CHECK_EQUAL(answer.why, "");
    CAF_CHECK(answer.result == accepted);
  }
  const auto mails = server.mails();
  CAF_REQUIRE_EQUAL(mails.size(), 3u);
  for (const auto& m : mails) {
    CAF_CHECK(m.at("tls").as_bool());
    CAF_CHECK(m.at("connection") == mails[0].at("connection"));
    CAF_CHECK_EQUAL(text_at(m, "from"), std::string{"no-reply@tickets.example"});
    CAF_CHECK(m.at("to").at(0) == "fan@example.com");
    CAF_CHECK_EQUAL(text_at(m.at("mail"), "subject"), std::string{"Fête"});
    CAF_CHECK_EQUAL(text_at(m.at("mail"), "from_name"), std::string{"Box office"});
    CAF_CHECK(text_at(m.at("mail"), "text").starts_with("one\n.\n..two\nčć\n"));
    CAF_CHECK(m.at("mail").at("defects").as_array().empty());
  }
  CAF_CHECK_EQUAL(text_at(mails[1].at("mail"), "message_id"), std::string{"<m2@tickets.example>"});
}

CAF_TEST(smtps and a login work as well) {
  const sink implicit{sink::security::smtps, {"--login", "us:pass word"}};
  auto s = implicit.settings();
  s.user = "us";
  s.password = "pass word";
  CAF_CHECK_EQUAL(send_once(s, "fan@example.com").why, "");
  const sink explicit_tls{sink::security::starttls, {"--login", "us:hunter2"}};
  s = explicit_tls.settings();
  s.user = "us";
  s.password = "hunter2";
  CAF_CHECK(send_once(s, "fan@example.com").result == accepted);
  for (const auto* server : {&implicit, &explicit_tls}) {
    CAF_REQUIRE_EQUAL(server->mails().size(), 1u);
    CAF_CHECK(server->mails()[0].at("tls").as_bool());
    CAF_CHECK_EQUAL(text_at(server->mails()[0], "user"), std::string{"us"});
  }
}

CAF_TEST(a login that fails is for the operator to mend and no mail is lost by it) {
  const sink server{sink::security::starttls, {"--login", "us:hunter2"}};
  auto s = server.settings();
  s.user = "us";
  s.password = "wrong-secret";
  auto answer = send_once(s, "fan@example.com");
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK(answer.service_down);
  CAF_CHECK(contains(answer.why, "535"));
  CAF_CHECK(!contains(answer.why, "wrong-secret"));
  s.user.clear();
  answer = send_once(s, "fan@example.com"); // the server says 530: log in first
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK(answer.service_down);
  CAF_CHECK(contains(answer.why, "530"));
  CAF_CHECK(server.mails().empty());
}

CAF_TEST(nothing leaves without encryption unless told so) {
  const sink server{sink::security::none};
  auto s = server.settings();
  auto answer = send_once(s, "fan@example.com");
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK(answer.service_down);
  CAF_CHECK(server.mails().empty());
  s.insecure = true;
  CAF_CHECK(send_once(s, "fan@example.com").result == accepted);
  CAF_REQUIRE_EQUAL(server.mails().size(), 1u);
  CAF_CHECK(!server.mails()[0].at("tls").as_bool());
}

CAF_TEST(a certificate that we cannot check gets no mail) {
  const sink server;
  auto s = server.settings();
  s.ca_file.clear(); // the system's, which do not have it
  CAF_CHECK(send_once(s, "fan@example.com").result == unavailable);
  const temp_folder other;
  make_certificate(other.path());
  s.ca_file = (other / "certificate.pem").string();
  CAF_CHECK(send_once(s, "fan@example.com").result == unavailable);
  CAF_CHECK(server.mails().empty());
}

CAF_TEST(what a refusal means depends on what was refused) {
  struct row {
    const char* from;
    const char* to;
    mail_result result;
    bool service_down;
    const char* why;
  };
  const sink server;
  for (const auto& [from, to, result, down, why] : {
         row{"us@t.example", "rcpt-550@x.example", rejected, false, "RCPT TO: 550 5.1.1 <...>: refused"},
         row{"us@t.example", "rcpt-553@x.example", rejected, false, "RCPT TO: 553"},
         row{"us@t.example", "rcpt-450@x.example", unavailable, false, "RCPT TO: 450"},
         row{"us@t.example", "rcpt-421@x.example", unavailable, true, "RCPT TO: 421"},
         row{"us@t.example", "rcpt-530@x.example", unavailable, true, "RCPT TO: 530"},
         row{"us@t.example", "data-451@x.example", unavailable, false, "DATA: 451"},
         row{"us@t.example", "data-452@x.example", unavailable, false, "DATA: 452"},
         row{"us@t.example", "data-550@x.example", rejected, false, "DATA: 550"},
         row{"us@t.example", "data-554@x.example", rejected, false, "DATA: 554"},
         row{"mail-550@t.example", "fan@x.example", unavailable, true, "MAIL FROM: 550"},
         row{"mail-451@t.example", "fan@x.example", unavailable, true, "MAIL FROM: 451"},
         row{"mail-552@t.example", "fan@x.example", rejected, false, "MAIL FROM: 552"},
       }) {
    CAF_MESSAGE(std::string{from} + " " + to);
    smtp_mailer mailer{server.settings(), {from}, env};
    const auto answer = send(mailer, to);
    CAF_CHECK(answer.result == result);
    CAF_CHECK_EQUAL(answer.service_down, down);
    CAF_CHECK_EQUAL(answer.why.substr(0, std::string_view{why}.size()), why);
    CAF_CHECK(!contains(answer.why, to)); // no address in a log
    CAF_CHECK(send(mailer, "fan@x.example").result
              == (std::string_view{from} == "us@t.example" ? accepted : result)); // no harm to the next
  }
}

CAF_TEST(a server that does not want us at all loses no mail) {
  for (const auto* greeting : {"554 5.7.1 no service for you", "421 later", "not smtp at all"}) {
    const sink server{sink::security::none, {"--greeting", greeting}};
    auto s = server.settings();
    s.timeout = milliseconds{1'000};
    const auto answer = send_once(s, "fan@x.example");
    CAF_CHECK(answer.result == unavailable);
    CAF_CHECK(answer.service_down);
  }
}

CAF_TEST(silence after the message is an unknown outcome and the repeat has the same id) {
  const sink server;
  auto s = server.settings();
  s.timeout = milliseconds{3'000};
  smtp_mailer mailer{s, us, env};
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = send(mailer, "data-lost@x.example"); // the server has it, and we do not hear so
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK(answer.service_down);
  CAF_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{15}); // the default is 30 s
  const auto again = send(mailer, "data-lost@x.example");
  CAF_CHECK_EQUAL(again.why, answer.why);
  CAF_CHECK(again.result == unavailable);
  for (int i = 0; i < 500 && server.mails().size() < 2; ++i) // we may give up before it is kept
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  const auto mails = server.mails();
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  CAF_CHECK_EQUAL(text_at(mails[0].at("mail"), "message_id"), std::string{"<m1@tickets.example>"});
  CAF_CHECK_EQUAL(text_at(mails[1].at("mail"), "message_id"), std::string{"<m1@tickets.example>"});
  CAF_CHECK(send(mailer, "fan@x.example").result == accepted);
}

CAF_TEST(a mailer ends at once whatever its server does) {
  sink server;
  auto s = server.settings();
  s.timeout = milliseconds{1'000};
  auto begin = std::chrono::steady_clock::now();
  CAF_CHECK(send_once(s, "data-hang@x.example").result == unavailable);
  CAF_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{10}); // not the minutes of a QUIT
  auto mailer = std::make_unique<smtp_mailer>(server.settings(), us, env);
  CAF_CHECK(send(*mailer, "fan@x.example").result == accepted);
  server.signal(SIGSTOP); // the server does not answer the goodbye
  begin = std::chrono::steady_clock::now();
  mailer.reset();
  CAF_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
}

CAF_TEST(a connection that breaks is made anew) {
  const sink server;
  smtp_mailer mailer{server.settings(), us, env};
  CAF_CHECK(send(mailer, "fan@x.example").result == accepted);
  const auto answer = send(mailer, "data-drop@x.example");
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK(send(mailer, "fan@x.example", "m2").result == accepted);
  CAF_CHECK_EQUAL(server.mails().size(), 2u);
}

CAF_TEST(nobody listening and a server that went away are unavailable) {
  smtp_settings s;
  std::unique_ptr<smtp_mailer> mailer;
  {
    const sink server;
    s = server.settings();
    mailer = std::make_unique<smtp_mailer>(s, us, env);
    CAF_CHECK(send(*mailer, "fan@x.example").result == accepted);
  }
  // The kernel may deliver the server's FIN only after the mailer has sent MAIL on the kept connection.
  const auto kept = send(*mailer, "fan@x.example"), anew = send_once(s, "fan@x.example");
  for (const auto& answer : {kept, anew}) {
    CAF_CHECK(answer.result == unavailable);
    CAF_CHECK(answer.service_down);
  }
  CAF_CHECK(contains(kept.why, "connecting") || contains(kept.why, "MAIL FROM"));
  CAF_CHECK(contains(anew.why, "connecting"));
}

CAF_TEST(a server that is stopped costs no more than the timeout) {
  sink server;
  auto s = server.settings();
  s.connect_timeout = s.timeout = milliseconds{1'000};
  smtp_mailer mailer{s, us, env};
  server.signal(SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  CAF_CHECK(send(mailer, "fan@x.example").result == unavailable);
  CAF_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{15}); // the default is 30 s
  server.signal(SIGCONT);
}

CAF_TEST(each of many recipients gets a message of his own) {
  const sink server;
  smtp_mailer mailer{server.settings(), us, env};
  mail_message m{.id = "bulk",
                 .to = {{"a@x.example", {{"name", "Ana"}}},
                        {"rcpt-550@x.example"},
                        {"rcpt-450@x.example"},
                        {"b@x.example", {{"name", "Boris"}}}},
                 .subject = "Hello %recipient.name%",
                 .text = "t\n"};
  const auto answer = mailer.send(m);
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK((answer.recipients == std::vector{accepted, rejected, unavailable, accepted}));
  mark_answered(m, answer);
  CAF_CHECK((mailer.send(m).recipients == std::vector{accepted, accepted, unavailable, accepted}));
  const auto mails = server.mails();
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  CAF_CHECK_EQUAL(text_at(mails[0].at("mail"), "subject"), std::string{"Hello Ana"});
  CAF_CHECK_EQUAL(text_at(mails[1].at("mail"), "message_id"), std::string{"<bulk#4@tickets.example>"});
}

CAF_TEST(an address cannot smuggle a command) {
  const sink server;
  for (const auto* to : {"fan@x.example>\r\nRCPT TO:<other@x.example", "fan@x.example\nDATA",
                         "<fan@x.example>", "fan@x.example> SIZE=1"})
    CAF_CHECK(send_once(server.settings(), to).result == rejected);
  CAF_CHECK(server.mails().empty());
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace smtp_mailer_test
