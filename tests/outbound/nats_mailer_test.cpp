// SPDX-License-Identifier: Apache-2.0
// Mail by NATS against a real server with JetStream: the envelope, duplicates, and a server that is away,
// killed or without the stream.
#define CAF_SUITE nats_mailer
#include "caf/test/unit_test.hpp"

#include "outbound/nats_mailer.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/helpers.hpp"
#include "tests/outbound/private_nats.hpp"

#include <boost/json/parse.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>

namespace nats_mailer_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr auto accepted = mail_result::accepted, rejected = mail_result::rejected,
               unavailable = mail_result::unavailable;

/// A server whose settings scripts/services does not have.
struct port_file_server {
  port_file_server(const temp_folder& folder, const std::string& more) :
      process({"/usr/sbin/nats-server", "--config", write(folder, more)}) {
    for (int i = 0; i < 200 && port.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
      for (const auto& entry : std::filesystem::directory_iterator{folder.path()})
        if (entry.path().extension() == ".ports") port = port_in(read_file(entry.path()));
    }
    if (port.empty()) throw std::runtime_error{"nats-server does not start: " + read_file(folder / "log")};
  }

  std::string port;

private:
  static std::string write(const temp_folder& folder, const std::string& more) {
    std::ofstream{folder / "nats.conf"}
      << "host: \"127.0.0.1\"\nport: -1\nports_file_dir: \"" << folder.path().string() << "\"\nlog_file: \""
      << (folder / "log").string() << "\"\njetstream { store_dir: \"" << (folder / "store").string()
      << "\" }\n"
      << more << "\n";
    return (folder / "nats.conf").string();
  }
  static std::string port_in(const std::string& text) {
    const auto at = text.find("127.0.0.1:");
    return at == std::string::npos ? "" : text.substr(at + 10, text.find('"', at) - at - 10);
  }

  child_process process;
};

nats_mail_settings settings_for(const std::string& url) {
  return {.servers = {.url = url, .timeout = milliseconds{10'000}},
          .stream = {"mail", "mail.>"},
          .subject = "mail.send"};
}

mail_message message(std::string id) {
  return {.id = std::move(id),
          .to = {{"fan@example.com", {{"name", "Ana <3"}}}},
          .subject = "Fête",
          .text = "Hi %recipient.name%\n",
          .html = "<p>Hi %recipient.name%</p>",
          .template_key = "otp"};
}

struct fixture {
  fixed_environment env;
  const mail_sender us{"no-reply@tickets.example", "Box office"};

  /// Tries until it is accepted: libnats reconnects by itself, when it likes.
  static bool accepted_in_time(nats_mailer& mailer, const mail_message& m) {
    for (int i = 0; i < 100; ++i) {
      if (mailer.send(m).result == accepted) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    return false;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(nats_mailer_tests, fixture)

CAF_TEST(a message becomes an envelope in a stream that is made for it) {
  const private_nats server;
  nats_mailer mailer{settings_for(server.url()), us, env};
  const auto answer = mailer.send(message("order_confirmation:01HZ"));
  CAF_CHECK_EQUAL(answer.why, "");
  CAF_CHECK(answer.result == accepted);
  observer eyes{server.url()};
  const auto stored = eyes.messages();
  CAF_REQUIRE_EQUAL(stored.size(), 1u);
  CAF_CHECK_EQUAL(stored[0].subject, "mail.send");
  CAF_CHECK_EQUAL(stored[0].id, "order_confirmation:01HZ");
  const auto expected =
    boost::json::parse(R"({"event":"mail.send","version":1,"occurred_at":"2027-01-15T08:00:00.123Z","data":{
    "to":["fan@example.com"],"subject":"Fête","html":"<p>Hi %recipient.name_html%</p>",)"
                       R"("text":"Hi %recipient.name%\n",
    "from_email":"no-reply@tickets.example","from_name":"Box office","attachments":null,
    "recipient_variables":{"fan@example.com":{"name":"Ana <3","name_html":"Ana &lt;3"}},
    "metadata":{"source":"fairqueue","template_key":"otp","correlation_id":"order_confirmation:01HZ"}}})");
  CAF_CHECK(boost::json::parse(stored[0].data) == expected);
  eyes.with_stream("mail", [](const jsStreamInfo& info) {
    CAF_CHECK_EQUAL(info.Config->MaxAge, std::int64_t{72} * 3600 * 1'000'000'000);
    CAF_CHECK_EQUAL(info.Config->Duplicates, std::int64_t{3600} * 1'000'000'000);
    CAF_CHECK(info.Config->Storage == js_FileStorage);
    CAF_CHECK(std::strcmp(info.Config->Subjects[0], "mail.>") == 0);
  });
}

CAF_TEST(files are in the envelope in base64) {
  auto m = message("m-1");
  m.attachments = {{"tickets.pdf", "application/pdf", std::string{"%PDF\0\xff", 6}}};
  const auto envelope = envelope_of(m, "m-1", {0}, us, env.wall_now());
  CAF_CHECK(
    envelope.find(
      R"("attachments":[{"filename":"tickets.pdf","content_type":"application/pdf","content":"JVBERgD/"}])")
    != std::string::npos);
}

CAF_TEST(a repeat is accepted and stored once) {
  const private_nats server;
  for (int i = 0; i < 3; ++i) {
    nats_mailer mailer{settings_for(server.url()), us, env};
    CAF_CHECK(mailer.send(message("m1")).result == accepted);
    CAF_CHECK(mailer.send(message("m1")).result == accepted);
  }
  nats_mailer mailer{settings_for(server.url()), us, env};
  CAF_CHECK(mailer.send(message("m2")).result == accepted);
  CAF_CHECK_EQUAL(observer{server.url()}.messages().size(), 2u);
}

CAF_TEST(a stream that is there is left as it is) {
  const private_nats server;
  observer eyes{server.url()};
  eyes.add_stream("hns_events", "mail.*");
  auto s = settings_for(server.url());
  s.stream.stream = "hns_events";
  nats_mailer own{s, us, env};
  CAF_CHECK(own.send(message("m1")).result == accepted);
  nats_mailer other{settings_for(server.url()), us,
                    env}; // its own stream would overlap: the one that is there takes the mail
  CAF_CHECK(other.send(message("m2")).result == accepted);
  CAF_CHECK_EQUAL(eyes.messages("hns_events").size(), 2u);
  eyes.with_stream("hns_events", [](const jsStreamInfo& info) {
    CAF_CHECK_EQUAL(info.Config->MaxAge, 0);
    CAF_CHECK(std::strcmp(info.Config->Subjects[0], "mail.*") == 0);
  });
}

CAF_TEST(many recipients go in chunks and a repeat is the same chunks) {
  const private_nats server;
  nats_mailer mailer{settings_for(server.url()), us, env};
  auto m = message("bulk");
  m.to.clear();
  for (int i = 0; i < 2500; ++i)
    m.to.push_back({"fan" + std::to_string(i) + "@example.com", {{"n", std::to_string(i)}}});
  m.to[7].address = "not an address";
  const auto answer = mailer.send(m);
  CAF_CHECK(answer.result == accepted);
  CAF_CHECK(answer.recipients[7] == rejected);
  CAF_CHECK(mailer.send(m).result == accepted);
  const auto stored = observer{server.url()}.messages();
  CAF_REQUIRE_EQUAL(stored.size(), 3u);
  const std::size_t sizes[] = {999, 1000, 500};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto id = "bulk#" + std::to_string(i + 1);
    CAF_CHECK_EQUAL(stored[i].id, id);
    const auto data = boost::json::parse(stored[i].data).at("data");
    CAF_CHECK_EQUAL(data.at("to").as_array().size(), sizes[i]);
    CAF_CHECK_EQUAL(data.at("recipient_variables").as_object().size(), sizes[i]);
    CAF_CHECK_EQUAL(text_at(data.at("metadata"), "correlation_id"),
                    id); // else a mailer that drops repeats would drop the second
  }
}

CAF_TEST(chunks are cut by recipients and by size whoever is answered) {
  mail_message m{.id = "m", .to = {}, .subject = "s", .text = "t"};
  for (int i = 0; i < 300; ++i)
    m.to.push_back({"a" + std::to_string(i) + "@x.example", {{"v", std::string(2000, 'x')}}});
  const auto whole = chunks_of(m);
  CAF_CHECK(whole.size() > 2);
  std::size_t at = 0;
  for (const auto& c : whole) {
    CAF_CHECK_EQUAL(c.begin, at);
    CAF_CHECK(c.end > c.begin);
    at = c.end;
  }
  CAF_CHECK_EQUAL(at, m.to.size());
  m.to[0].answered = m.to[100].answered = true;
  const auto rest = chunks_of(m);
  CAF_REQUIRE_EQUAL(rest.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    CAF_CHECK(rest[i].id == whole[i].id && rest[i].begin == whole[i].begin && rest[i].end == whole[i].end);
  m.to.resize(1);
  const auto alone = chunks_of(m);
  CAF_CHECK_EQUAL(alone.at(0).id, "m");
}

CAF_TEST(a server that is away loses nothing and sends nothing late) {
  private_nats server;
  nats_mailer mailer{settings_for(server.url()), us, env};
  CAF_CHECK(mailer.send(message("before")).result == accepted);
  server.tell("kill");
  for (int i = 0; i < 50; ++i) {
    const auto answer = mailer.send(message("away-" + std::to_string(i)));
    CAF_CHECK(answer.result == unavailable);
    CAF_CHECK(answer.service_down);
  }
  server.tell("up");
  CAF_CHECK(accepted_in_time(mailer, message("after")));
  const auto stored = observer{server.url()}.messages();
  CAF_REQUIRE_EQUAL(stored.size(), 2u); // mails reported as not sent were not sent
  CAF_CHECK_EQUAL(stored[0].id, "before");
  CAF_CHECK_EQUAL(stored[1].id, "after");
}

CAF_TEST(a mailer that starts before its server waits for it) {
  private_nats server;
  server.tell("kill");
  nats_mailer mailer{settings_for(server.url()), us, env};
  CAF_CHECK(mailer.send(message("m1")).result == unavailable);
  server.tell("up");
  CAF_CHECK(accepted_in_time(mailer, message("m1")));
  CAF_CHECK_EQUAL(observer{server.url()}.messages().size(), 1u);
}

CAF_TEST(every message that was acknowledged is there after kills and none twice) {
  private_nats server;
  nats_mailer mailer{settings_for(server.url()), us, env};
  CAF_CHECK(mailer.send(message("first")).result == accepted);
  std::atomic<bool> is_killing{true};
  std::thread killer{[&] {
    for (int i = 0; i < 4; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{300});
      server.tell("kill");
      std::this_thread::sleep_for(std::chrono::milliseconds{200});
      server.tell("up");
    }
    is_killing = false;
  }};
  std::size_t count = 0;
  int repeats = 0;
  for (; count < 400 || is_killing; ++count) {
    const auto m = message("m" + std::to_string(count));
    bool sent = false;
    for (int attempt = 0; attempt < 600 && !sent; ++attempt) {
      sent = mailer.send(m).result == accepted;
      if (sent) break;
      ++repeats;
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    CAF_REQUIRE(sent);
    std::this_thread::sleep_for(std::chrono::milliseconds{4});
  }
  killer.join();
  CAF_MESSAGE("repeats: " << repeats);
  CAF_CHECK(repeats > 0);
  std::map<std::string, int> seen;
  for (const auto& s : observer{server.url()}.messages()) ++seen[s.id];
  CAF_CHECK_EQUAL(seen.size(), count + 1);
  for (const auto& [id, times] : seen) CAF_CHECK_EQUAL(times, 1);
}

CAF_TEST(a stream that goes away is made again) {
  const private_nats server;
  nats_mailer mailer{settings_for(server.url()), us, env};
  CAF_CHECK(mailer.send(message("m1")).result == accepted);
  observer eyes{server.url()};
  eyes.remove_stream("mail");
  const auto answer = mailer.send(message("m2"));
  CAF_CHECK(answer.result == unavailable); // no consumer took it
  CAF_CHECK(mailer.send(message("m2")).result == accepted);
  CAF_CHECK_EQUAL(eyes.messages().size(), 1u);
}

CAF_TEST(a silent server costs no more than the timeout) {
  private_nats server;
  auto s = settings_for(server.url());
  s.servers.timeout = milliseconds{500};
  nats_mailer mailer{s, us, env};
  CAF_CHECK(accepted_in_time(mailer, message("m1")));
  server.tell("pause");
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = mailer.send(message("m2"));
  CAF_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
  server.tell("resume");
  CAF_CHECK(answer.result == unavailable);
  CAF_CHECK(accepted_in_time(mailer, message("m2")));
  CAF_CHECK_EQUAL(observer{server.url()}.messages().size(),
                  2u); // the first m2 may have arrived: once all the same
}

CAF_TEST(what no server will ever take is rejected) {
  const private_nats server;
  observer eyes{server.url()};
  eyes.add_stream("mail", "mail.>", 2000);
  nats_mailer mailer{settings_for(server.url()), us, env};
  auto m = message("large");
  m.text = std::string(3000, 'x');
  CAF_CHECK(mailer.send(m).result == rejected);
  m.text = std::string(700'000, '\n'); // twice that in JSON: more than a server takes at all
  CAF_CHECK(mailer.send(m).result == rejected);
  m = message("bad");
  m.to[0].address = "nobody";
  CAF_CHECK(mailer.send(m).result == rejected);
  CAF_CHECK(mailer.send(message("m1")).result == accepted);
}

CAF_TEST(a login that is refused is unavailable and settings that are none are said at once) {
  const private_nats server;
  auto s = settings_for(server.url());
  s.servers.url.replace(s.servers.url.find("fairqueue:") + 10, 8, "wrongpwd");
  nats_mailer mailer{s, us, env};
  for (int i = 0; i < 3; ++i) {
    const auto answer = mailer.send(message("m1"));
    CAF_CHECK(answer.result == unavailable);
    CAF_CHECK(answer.why.find("uthorization") != std::string::npos);
    CAF_CHECK(answer.why.find("wrongpwd") == std::string::npos);
  }
  s.servers.ca_file = "/no/such/file";
  bool refused = false;
  try {
    const nats_mailer impossible{s, us, env};
  } catch (const std::runtime_error&) { refused = true; }
  CAF_CHECK(refused);
}

CAF_TEST(a password may have any characters) {
  const temp_folder folder;
  const port_file_server server{folder, "authorization { user: us, password: \"p@ss:w/d%41\" }"};
  nats_mailer mailer{settings_for("nats://us:p%40ss%3Aw%2Fd%2541@127.0.0.1:" + server.port), us, env};
  CAF_CHECK(accepted_in_time(mailer, message("m1")));
  const temp_folder other;
  const port_file_server by_token{other, "authorization { token: \"t0/ken\" }"};
  nats_mailer second{settings_for("nats://t0%2Fken@127.0.0.1:" + by_token.port), us, env};
  CAF_CHECK(accepted_in_time(second, message("m1")));
}

CAF_TEST(servers with different logins are refused) {
  bool refused = false;
  try {
    const nats_mailer impossible{settings_for("nats://a:b@127.0.0.1:1,nats://a:c@127.0.0.1:2"), us, env};
  } catch (const std::runtime_error&) { refused = true; }
  CAF_CHECK(refused);
}

CAF_TEST(the first of several servers may be away) {
  const private_nats server;
  nats_mailer mailer{settings_for("nats://127.0.0.1:1," + server.url()), us, env};
  CAF_CHECK(accepted_in_time(mailer, message("m1")));
}

CAF_TEST(tls is checked by the file of certificates) {
  const temp_folder folder;
  make_certificate(folder.path());
  const port_file_server server{folder, "tls { cert_file: \"" + (folder / "certificate.pem").string()
                                          + "\", key_file: \"" + (folder / "key.pem").string() + "\" }"};
  auto s = settings_for("tls://127.0.0.1:" + server.port);
  {
    nats_mailer unchecked{s, us, env}; // the system's certificates do not have it
    CAF_CHECK(unchecked.send(message("m1")).result == unavailable);
  }
  s.servers.ca_file = (folder / "certificate.pem").string();
  nats_mailer mailer{s, us, env};
  CAF_CHECK(accepted_in_time(mailer, message("m1")));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace nats_mailer_test
