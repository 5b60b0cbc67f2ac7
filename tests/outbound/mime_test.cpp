// SPDX-License-Identifier: Apache-2.0
// A third-party parser reads the written message back.
#define CAF_SUITE mime
#include "caf/test/unit_test.hpp"

#include "outbound/mime.hpp"
#include "tests/outbound/helpers.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <iterator>
#include <random>
#include <stdexcept>
#include <thread>

namespace mime_test {

using namespace fq;
using namespace fq::test;

namespace {

const mail_sender us{"no-reply@tickets.example", "Box office"};
const timestamp when = from_unix_ms(1'800'000'000'123);

mail_letter letter(std::string subject, std::string text, std::string html = {}) {
  return {"order:1#2", "fan@example.com", std::move(subject), std::move(text), std::move(html)};
}

/// As a reader has it: lines end with LF, and the last line ends.
std::string as_read(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

/// A part may have got an end to its last line.
bool same_text(const std::string& read, const std::string& written) {
  const auto found = as_read(read), expected = as_read(written);
  return found == expected || found == expected + "\n";
}

void check_all(const std::vector<mail_letter>& letters, const mail_sender& sender) {
  std::vector<std::string> messages;
  for (const auto& l : letters) messages.push_back(to_mime(l, sender, when));
  const auto mails = parse_mails(messages);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto& mail = mails[i];
    std::string wrong;
    const auto need = [&](const char* name, bool ok) {
      ok ? wrong
         : wrong.append(name).append(" of \"" + letters[i].subject + "\": " + boost::json::serialize(mail));
    };
    const auto is = [&](const char* name, const std::string& expected) {
      need(name, text_at(mail, name) == expected);
    };
    is("subject", letters[i].subject);
    is("from", sender.address);
    is("from_name", sender.name);
    is("date", "2027-01-15T08:00:00+00:00");
    is("message_id", "<order=3A1#2@tickets.example>");
    is("type", letters[i].html.empty() ? "text/plain" : "multipart/alternative");
    need("to", mail.at("to") == boost::json::array{"fan@example.com"});
    need("text", same_text(text_at(mail, "text"), letters[i].text));
    need("html", same_text(text_at(mail, "html"), letters[i].html.empty() ? "(null)" : letters[i].html));
    need("defects", mail.at("defects").as_array().empty());
    need("ascii", mail.at("ascii").as_bool());
    need("line ends", mail.at("bare_line_ends").as_int64() == 0);
    need("lines", mail.at("longest_line").as_int64() <= 998);
    CAF_CHECK_EQUAL(wrong, "");
  }
}

bool is_refused(const mail_letter& l, const mail_sender& sender) {
  try {
    return to_mime(l, sender, when).empty();
  } catch (const std::invalid_argument&) { return true; }
}

} // namespace

CAF_TEST(messages of all kinds are read as they were written) {
  const std::string wide(5000, 'x');
  std::string long_title;
  for (int i = 0; i < 40; ++i) long_title += "ąćę ";
  long_title.pop_back();
  check_all(
    {
      letter("Your code", "Your code is 123456.\r\n"),
      letter("Your code", "Your code is 123456.\r\n", "<p>Your code is <b>123456</b></p>\r\n"),
      letter("Fête – Vaše ulaznice", "čćžšđ\nzweite Zeile: äöü\n", "<p>čćžšđ</p>"),
      letter("東京スタジアム", "東京スタジアムのチケット\n", "<p>東京</p>"),
      letter("🎟 two 👩‍👩‍👧 three", "🎟\n"),
      letter("مباراة", "مباراة كبيرة\n"),
      letter(long_title, wide + "\n", "<p>" + wide + "</p>"),
      letter(std::string(200, 'a'), "one long word above\n"),
      letter("dots", ".\n..\n.leading\nFrom the start\n>From\n", "<p>.</p>\n.\n"),
      letter("spaces", "trailing   \n\ttab\n\n\nempty lines\n = signs =3D =\n"),
      letter("line ends", "dos\r\nunix\nmac\rend"),
      letter("boundary", "--=_0123\n--\n", "--=_0123--\n"),
      letter("nothing", ""),
      letter("quotes \"'` (comment) <a@b> a;b:c,d", "x\n"),
    },
    us);
}

CAF_TEST(names of the sender come through) {
  for (const auto* name : {"", "Box office", "HNS Ulaznice, Zagreb", "Ticketverkauf Köln", "東京",
                           "a \"quoted\" <x@y> name", "back\\slash", "(c) 2026"})
    check_all({letter("s", "t\n")}, {us.address, name});
}

CAF_TEST(an encoded word in a title is text and not decoded) {
  const auto mail =
    parse_mails({to_mime(letter("Sale =?utf-8?q?=0D=0ABcc:_x@y?= now", "t\n"), us, when)}).at(0);
  CAF_CHECK_EQUAL(text_at(mail, "subject"), std::string{"Sale = ?utf-8?q?=0D=0ABcc:_x@y?= now"});
  CAF_CHECK_EQUAL(mail.at("headers").as_array().size(), 9u); // and none more than we write
}

CAF_TEST(the same letter at the same time is the same bytes) {
  const auto l = letter("Fête", "čć\n", "<p>čć</p>");
  CAF_CHECK_EQUAL(to_mime(l, us, when), to_mime(l, us, when));
  auto other = l;
  other.to = "other@example.com";
  CAF_CHECK_NOT_EQUAL(to_mime(l, us, when), to_mime(other, us, when));
}

CAF_TEST(files follow the words and come through whole) {
  auto l = letter("Tickets", "text", "<p>html</p>");
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) bytes += static_cast<char>(i % 256);
  l.attachments = {{"tickets.pdf", "application/pdf", bytes}, {"event.ics", "text/calendar", "BEGIN\r\n"}};
  const auto message = to_mime(l, us, when);
  CAF_CHECK_EQUAL(message, to_mime(l, us, when));
  CAF_CHECK(message.find("Content-Type: multipart/mixed") != std::string::npos);
  CAF_CHECK(message.find("Content-Type: multipart/alternative") != std::string::npos);
  CAF_CHECK(message.find("filename=tickets.pdf") != std::string::npos
            || message.find("filename=\"tickets.pdf\"") != std::string::npos);
  CAF_CHECK(message.find("AAECAwQFBgcICQ") != std::string::npos); // the file in base64
  const auto read = from_mime(message);
  CAF_REQUIRE(read.has_value());
  CAF_CHECK(same_text(read->text, "text"));
}

CAF_TEST(no header takes a control character or an address that is none) {
  for (const auto* subject : {"a\r\nBcc: x@y.example", "a\nb", "a\rb", "tab\t", "\x7f", "\xff"})
    CAF_CHECK(is_refused(letter(subject, "t"), us));
  auto l = letter("s", "t");
  for (const auto* to :
       {"", "fan", "@x", "fan@", "a@b.example\r\nBcc: x@y", "a@b.example\n", "a b@c", "<a@b>", "a@b,c@d"}) {
    l.to = to;
    CAF_CHECK(is_refused(l, us));
  }
  CAF_CHECK(is_refused(letter("s", "t"), {"a@b", "x\r\nBcc: y@z"}));
  CAF_CHECK(is_refused(letter("s", "t"), {"a@b\n", ""}));
  l = letter("s", "t");
  l.id = "a\r\nb";
  CAF_CHECK(is_refused(l, us));
}

CAF_TEST(a message id is a dot atom and different for different ids) {
  const auto id = [](std::string text) { return message_id_of({std::move(text), "", "", "", ""}, us); };
  CAF_CHECK_EQUAL(id("otp-12ab"), "otp-12ab@tickets.example");
  CAF_CHECK_EQUAL(id("a.b#2"), "a.b#2@tickets.example");
  CAF_CHECK_EQUAL(id("order_confirmation:01HZ"), "order_confirmation=3A01HZ@tickets.example");
  CAF_CHECK_EQUAL(id(".a..b."), "=2Ea.=2Eb=2E@tickets.example");
  CAF_CHECK_EQUAL(id("a=3Ab"), "a=3D3Ab@tickets.example");
  CAF_CHECK_EQUAL(id("<x>@\""), "=3Cx=3E=40=22@tickets.example");
}

CAF_TEST(random text comes through whole) {
  std::mt19937 dice{20261122};
  const char* pieces[] = {"a", "Z",  " ",  "=",  ".", "\n", "é", "č", "東",    "🎟",
                          "-", "--", "=_", "\t", "?", "_",  "&", "<", "From ", "0123456789"};
  const auto some = [&](std::size_t n, bool one_line) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) {
      const std::string piece = pieces[dice() % std::size(pieces)];
      out += one_line && (piece == "\n" || piece == "\t" || piece == " " || piece == "?") ? "x" : piece;
    }
    return out;
  };
  std::vector<mail_letter> letters;
  for (int i = 0; i < 150; ++i)
    letters.push_back(letter(some(1 + dice() % 30, true) + "x", some(dice() % 400, false) + "x\n",
                             i % 2 == 0 ? "" : some(200, false) + "x\n"));
  check_all(letters, us);
}

CAF_TEST(threads write messages of their own at once) {
  const auto l = letter("Fête – 東京", "čć\n", "<p>東京</p>");
  const auto expected = to_mime(l, us, when);
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (auto& count : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) count += to_mime(l, us, when) == expected ? 0 : 1;
    });
  for (auto& t : threads) t.join();
  for (const auto count : wrong) CAF_CHECK_EQUAL(count, 0);
}

} // namespace mime_test
