// SPDX-License-Identifier: Apache-2.0
// Mail as files, and read again: whole, private, in order of time, once for each id, and without room for
// injected headers.
#define CAF_SUITE file_mailer
#include "caf/test/unit_test.hpp"

#include "outbound/file_mailer.hpp"
#include "outbound/mail_folder.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/helpers.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <vector>

namespace file_mailer_test {

using namespace fq;
using fq::test::read_file;

namespace {

struct fixture {
  fq::test::temp_folder folder;
  fq::test::fixed_environment env;
  const mail_sender us{"no-reply@fairqueue.local"};
  file_mailer mailer{folder / "mail", us, env};

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator{folder / "mail"})
      out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }
  mail_result send(std::string id, std::string to = "fan@example.com", std::string subject = "s",
                   std::string text = "t\n") {
    return mailer
      .send({.id = std::move(id),
             .to = {{std::move(to)}},
             .subject = std::move(subject),
             .text = std::move(text)})
      .result;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(file_mailer_tests, fixture)

CAF_TEST(the sender of a tenant stands in the place of the configured one) {
  const auto send_from = [this](std::string id, const mail_sender& from) {
    const mail_message m{
      .id = std::move(id), .to = {{"fan@example.com"}}, .subject = "s", .text = "t\n", .from = from};
    return mailer.send(m).result;
  };
  CAF_CHECK(send_from("a", {"box@arena.example", "Arena"}) == mail_result::accepted);
  CAF_CHECK(send_from("b", {{}, "Arena"}) == mail_result::accepted);
  CAF_CHECK(send_from("c", {"no address", {}}) == mail_result::rejected);
  CAF_CHECK(send_from("d", {{}, "Arena\r\nBcc: x@y.example"}) == mail_result::rejected);
  CAF_REQUIRE_EQUAL(files().size(), 2u);
  CAF_CHECK(contains(read_file(files()[0]), "From: Arena <box@arena.example>\r\n"));
  CAF_CHECK(contains(read_file(files()[1]), "From: Arena <no-reply@fairqueue.local>\r\n"));
}

CAF_TEST(a message becomes one private file with the headers of RFC 5322) {
  CAF_CHECK(send("otp-1", "fan@example.com", "Your code", "123456\nValid for 10 minutes.\n")
            == mail_result::accepted);
  const auto all = files();
  CAF_REQUIRE_EQUAL(all.size(), 1u);
  CAF_CHECK_EQUAL(all[0].filename().string(), "20270115T080000.123Z-otp-1.eml");
  struct stat s {};
  ::stat(all[0].c_str(), &s);
  CAF_CHECK_EQUAL(s.st_mode & 07777, mode_t{0600});
  const auto text = read_file(all[0]);
  CAF_CHECK(
    text.starts_with("From: no-reply@fairqueue.local\r\nTo: fan@example.com\r\nSubject: Your code\r\n"));
  CAF_CHECK(contains(text, "\r\nDate: Fri, 15 Jan 2027 08:00:00 +0000\r\n"));
  CAF_CHECK(contains(text, "\r\nMessage-Id: <otp-1@fairqueue.local>\r\n"));
  CAF_CHECK(text.ends_with("\r\n\r\n123456\r\nValid for 10 minutes.\r\n"));
}

CAF_TEST(mail to an address is erased and mail that only holds it as text stays) {
  CAF_CHECK(send("a") == mail_result::accepted);
  CAF_CHECK(send("b", "old.fan@example.com") == mail_result::accepted); // ends with the same
  CAF_CHECK(send("c", "bob@example.com", "s", "fan@example.com wrote\n") == mail_result::accepted);
  erase_mails(folder / "mail", "fan@example.com");
  const auto left = files();
  CAF_REQUIRE_EQUAL(left.size(), 2u);
  CAF_CHECK(left[0].string().ends_with("-b.eml") && left[1].string().ends_with("-c.eml"));
  erase_mails(folder / "nowhere", "fan@example.com");
}

CAF_TEST(names sort by time) {
  for (const auto* subject : {"first", "second", "third"}) {
    CAF_CHECK(send(std::string{"id-"} + subject, "fan@example.com", subject) == mail_result::accepted);
    env.now_ms += 1000;
  }
  const auto all = files();
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  CAF_CHECK(contains(read_file(all[0]), "Subject: first\r\n"));
  CAF_CHECK(contains(read_file(all[2]), "Subject: third\r\n"));
}

CAF_TEST(a repeat makes no second file while the first is there) {
  CAF_CHECK(send("m1") == mail_result::accepted);
  env.now_ms += 60'000;
  CAF_CHECK(send("m1") == mail_result::accepted);
  CAF_CHECK_EQUAL(files().size(), 1u);
  file_mailer after_restart{folder / "mail", us, env};
  CAF_CHECK(after_restart.send({.id = "m1", .to = {{"fan@example.com"}}, .subject = "s", .text = "t"}).result
            == mail_result::accepted);
  CAF_CHECK_EQUAL(files().size(), 1u);
  std::filesystem::remove(files()[0]); // a mailer took it
  CAF_CHECK(send("m1") == mail_result::accepted);
  CAF_CHECK_EQUAL(files().size(), 1u);
  CAF_CHECK(send("m2") == mail_result::accepted);
  CAF_CHECK_EQUAL(files().size(), 2u);
}

CAF_TEST(ids of any form make names of files in the folder) {
  const std::string ids[] = {"order:1", "../../etc/passwd", "a/b", "order:2", std::string(200, 'x'), ".",
                             "a%b"};
  for (const auto& id : ids) {
    CAF_CHECK(send(id) == mail_result::accepted);
    CAF_CHECK(send(id) == mail_result::accepted);
  }
  CAF_CHECK_EQUAL(files().size(), std::size(ids));
}

CAF_TEST(many recipients are many files) {
  mail_message m{.id = "bulk",
                 .to = {{"a@x.example", {{"n", "1"}}}, {"bad"}, {"b@x.example", {{"n", "2"}}}},
                 .subject = "Nr %recipient.n%",
                 .text = "t"};
  const auto answer = mailer.send(m);
  CAF_CHECK(
    (answer.recipients == std::vector{mail_result::accepted, mail_result::rejected, mail_result::accepted}));
  CAF_CHECK(mailer.send(m).result == mail_result::accepted);
  const auto all = files();
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK(contains(read_file(all[0]), "To: a@x.example\r\nSubject: Nr 1\r\n"));
  CAF_CHECK(contains(read_file(all[1]), "To: b@x.example\r\nSubject: Nr 2\r\n"));
  CAF_CHECK(contains(read_file(all[1]), "<bulk#3@fairqueue.local>"));
}

CAF_TEST(nothing can be injected through addresses or subject) {
  for (const auto* to :
       {"", "fan", "@x", "fan@", "a@b.example\r\nBcc: x@y", "a@b.example\n", "a b@c", "<a@b>", "a@b,c@d"})
    CAF_CHECK(send("m", to) == mail_result::rejected);
  for (const auto* subject : {"a\r\nBcc: x@y.example", "a\nb", "tab\t", "\x7f"})
    CAF_CHECK(send("m", "a@b.example", subject) == mail_result::rejected);
  CAF_CHECK(files().empty());
}

CAF_TEST(half a message of an earlier process is no obstacle and never gets a name) {
  std::ofstream{folder / "mail" / ".20270115T080000.123Z-m1.eml.new"} << "From: ha";
  CAF_CHECK(send("m1") == mail_result::accepted);
  CAF_REQUIRE_EQUAL(files().size(), 1u);
  CAF_CHECK(read_file(files()[0]).ends_with("t\r\n"));
}

CAF_TEST(a folder that went away is unavailable and leaves nothing behind) {
  std::filesystem::remove_all(folder / "mail");
  CAF_CHECK(send("m1") == mail_result::unavailable);
  std::filesystem::create_directories(folder / "mail");
  CAF_CHECK(send("m1") == mail_result::accepted);
  CAF_CHECK_EQUAL(files().size(), 1u);
}

CAF_TEST(the newest mails are read again as a reader sees them) {
  for (int i = 0; i < 5; ++i) {
    CAF_CHECK(mailer
                .send({.id = "m" + std::to_string(i),
                       .to = {{"fan@example.com"}},
                       .subject = "Fête 東京 " + std::to_string(i),
                       .text = "Code <b>12345" + std::to_string(i) + "</b> čć\n",
                       .html = "<p>html</p>"})
                .result
              == mail_result::accepted);
    env.now_ms += 1000;
  }
  const auto mails = newest_mails(folder / "mail", 3);
  CAF_REQUIRE_EQUAL(mails.size(), 3u);
  CAF_CHECK_EQUAL(mails[0].subject, "Fête 東京 4");
  CAF_CHECK_EQUAL(mails[2].subject, "Fête 東京 2");
  CAF_CHECK_EQUAL(mails[0].to, "fan@example.com");
  CAF_CHECK(mails[0].text.starts_with("Code <b>123454</b> čć"));
  CAF_CHECK(!contains(mails[0].text, "html"));
  CAF_CHECK(mails[0].sent == from_unix_ms(1'800'000'004'000));
  CAF_CHECK_EQUAL(newest_mails(folder / "mail", 50).size(), 5u);
  CAF_CHECK(newest_mails(folder / "nowhere", 50).empty());
}

CAF_TEST(what is no mail of ours is passed over and what is long is cut) {
  const auto mail = folder / "mail";
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream{mail / name, std::ios::binary} << text;
  };
  write("secret", "To: a@b\n\nsecret");
  std::filesystem::create_symlink(folder / "mail" / "secret", mail / "20270115T080001.123Z-link.eml");
  CAF_REQUIRE_EQUAL(::mkfifo((mail / "20270115T080002.123Z-pipe.eml").c_str(), 0600), 0);
  std::filesystem::create_directory(mail / "20270115T080003.123Z-folder.eml");
  write("20270115T080004.123Z-huge.eml", "To: a@b\n\n" + std::string(300 * 1024, 'x'));
  write(".20270115T080005.123Z-half.eml.new", "To: a@b\n\nhalf");
  write("20270115T080006.123Z-empty.eml", "");
  write("20270115T080007.123Z-junk.eml", std::string("\0\xff\xfe\r\r\n\0", 7));
  CAF_CHECK(newest_mails(mail, 50).empty());
  std::string umlauts;
  for (int i = 0; i < 20'000; ++i) umlauts += "ä";
  write("20270115T080008.123Z-long.eml",
        "To: a@b\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nx" + umlauts);
  write("20270115T080009.123Z-wrong.eml",
        "To: a@b\nContent-Type: text/plain; charset=utf-8\nSubject: \xff\n\na\xff\xfe z");
  const auto mails = newest_mails(mail, 50);
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  CAF_CHECK_EQUAL(mails[1].text.size(), 16u * 1024 - 1); // 16 KiB would end within a character
  for (const auto& text : {mails[0].text, mails[0].subject})
    CAF_CHECK(text.find('\xff') == std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace file_mailer_test
