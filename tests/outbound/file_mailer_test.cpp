// SPDX-License-Identifier: Apache-2.0
// Mail as files: whole, private, in order of time, and without room for injected headers.
#define CAF_SUITE file_mailer
#include "caf/test/unit_test.hpp"

#include "outbound/file_mailer.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/fixed_environment.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

using namespace fq;

namespace {

struct fixture {
  fq::test::temp_folder folder;
  fq::test::fixed_environment env;
  file_mailer mailer{folder / "mail", "no-reply@fairqueue.local", env};

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator{folder / "mail"})
      out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }
  static std::string read(const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(file_mailer_tests, fixture)

CAF_TEST(a message becomes one private file with the headers of RFC 5322) {
  CAF_CHECK(mailer.send({"fan@example.com", "Your code", "123456\nValid for 10 minutes.\n"})
            == mail_result::accepted);
  const auto all = files();
  CAF_REQUIRE_EQUAL(all.size(), 1u);
  CAF_CHECK(all[0].filename().string().starts_with("20270115T080000.123Z-"));
  struct stat s {};
  ::stat(all[0].c_str(), &s);
  CAF_CHECK_EQUAL(s.st_mode & 07777, mode_t{0600});
  const auto text = read(all[0]);
  CAF_CHECK(
      text.starts_with("From: no-reply@fairqueue.local\r\nTo: fan@example.com\r\nSubject: Your code\r\n"));
  CAF_CHECK(contains(text, "\r\nDate: Fri, 15 Jan 2027 08:00:00 +0000\r\n"));
  CAF_CHECK(contains(text, "\r\nMessage-ID: <"));
  CAF_CHECK(text.ends_with("\r\n\r\n123456\r\nValid for 10 minutes.\r\n"));
}

CAF_TEST(names sort by time) {
  for (const auto* subject : {"first", "second", "third"}) {
    CAF_CHECK(mailer.send({"fan@example.com", subject, ""}) == mail_result::accepted);
    env.now_ms += 1000;
  }
  const auto all = files();
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  CAF_CHECK(contains(read(all[0]), "Subject: first\r\n"));
  CAF_CHECK(contains(read(all[2]), "Subject: third\r\n"));
}

CAF_TEST(a subject beyond ASCII travels as encoded words) {
  CAF_CHECK(mailer.send({"fan@example.com", "Fête", ""}) == mail_result::accepted);
  CAF_CHECK(contains(read(files()[0]), "Subject: =?UTF-8?B?RsOqdGU=?=\r\n"));
  env.now_ms += 1;
  std::string long_subject;
  for (int i = 0; i < 60; ++i) long_subject += "ä";
  CAF_CHECK(mailer.send({"fan@example.com", long_subject, ""}) == mail_result::accepted);
  std::stringstream text{read(files()[1])};
  for (std::string line; std::getline(text, line);) CAF_CHECK(line.size() <= 90);
}

CAF_TEST(nothing can be injected through addresses subject or body) {
  for (const auto* to :
       {"", "fan", "@x", "fan@", "a@b.example\r\nBcc: x@y", "a@b.example\n", "a b@c", "<a@b>", "a@b,c@d"})
    CAF_CHECK(mailer.send({to, "s", "b"}) == mail_result::invalid_message);
  for (const auto* subject : {"a\r\nBcc: x@y.example", "a\nb", "tab\t", "\x7f"})
    CAF_CHECK(mailer.send({"a@b.example", subject, "b"}) == mail_result::invalid_message);
  CAF_CHECK(mailer.send({"a@b.example", "s", std::string(999, 'x')}) == mail_result::invalid_message);
  CAF_CHECK(mailer.send({"a@b.example", "s", "a\rb"}) == mail_result::invalid_message);
  CAF_CHECK(files().empty());
}

CAF_TEST(a folder that went away is unavailable and leaves nothing behind) {
  std::filesystem::remove_all(folder / "mail");
  CAF_CHECK(mailer.send({"a@b.example", "s", "b"}) == mail_result::unavailable);
}

CAF_TEST_FIXTURE_SCOPE_END()
