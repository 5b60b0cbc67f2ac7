// SPDX-License-Identifier: Apache-2.0
// The table is consistent with itself, with the typed options and with the example file.
#define CAF_SUITE option_table
#include "caf/test/unit_test.hpp"

#include "config/load.hpp"
#include "config/table.hpp"

#include <fstream>
#include <set>
#include <sstream>

using namespace fq::config;

CAF_TEST(every row has a description a name of its own and a default it accepts) {
  std::set<std::string> names;
  for (const auto& row : option_table()) {
    CAF_MESSAGE(std::string{row.name});
    CAF_CHECK(names.insert(std::string{row.name}).second);
    CAF_CHECK(names.insert(environment_name(row.name)).second);
    CAF_CHECK(row.description.ends_with('.'));
    CAF_CHECK(!range_text(row).empty());
    options values = default_options();
    if (!row.derived) CAF_CHECK_EQUAL(assign(row, row.default_text, values), "");
    CAF_CHECK(find_option(row.name) == &row);
  }
  CAF_CHECK(find_option("http") == nullptr);
}

CAF_TEST(a default is written in the form the program prints) {
  const auto values = default_options();
  for (const auto& row : option_table())
    if (!row.derived) CAF_CHECK_EQUAL(value_text(row, values), std::string{row.default_text});
}

CAF_TEST(values outside the range of a row are refused with the range) {
  for (const auto& row : option_table()) {
    if (row.type != value_type::count) continue;
    options values;
    CAF_CHECK_EQUAL(assign(row, std::to_string(row.low), values), "");
    CAF_CHECK_EQUAL(assign(row, std::to_string(row.high), values), "");
    CAF_CHECK(assign(row, std::to_string(row.low - 1), values).starts_with("must be "));
    CAF_CHECK(assign(row, std::to_string(row.high + 1), values).starts_with("must be "));
  }
}

CAF_TEST(a try of a webhook is over while its delivery is held) {
  options values;
  const auto& timeout = *find_option("webhooks.timeout");
  CAF_CHECK_EQUAL(assign(timeout, "25s", values), "");
  CAF_CHECK(assign(timeout, "25001ms", values).starts_with("must be "));
}

CAF_TEST(the sources of a draw are one to four addresses) {
  const auto problems = [](const std::string& sources) {
    return load({"", {{"draw.beacon_url", sources}}}, {}).problems;
  };
  const std::string one = "https://a.example", four = one + "," + one + "/drand, " + one + "," + one;
  CAF_CHECK(problems(one).empty() && problems(four).empty());
  for (const auto& bad : {std::string{"a.example"}, one + "/", one + ",b", std::string{","}, one + " " + one,
                          four + "," + one}) {
    const auto found = problems(bad);
    CAF_REQUIRE_EQUAL(found.size(), 1u);
    CAF_CHECK_EQUAL(found[0].option, "draw.beacon_url");
  }
}

CAF_TEST(numbers and units are read strictly) {
  options values;
  const auto& timeout = *find_option("http.header_timeout");
  for (const auto* text : {"", "10", "s", "10 s", "10S", "10sec", "1.5s", "-1s", "+1s",
                           "99999999999999999999s", "9999999999999d", "10s "})
    CAF_CHECK(!assign(timeout, text, values).empty());
  CAF_CHECK_EQUAL(assign(timeout, "1500ms", values), "");
  CAF_CHECK_EQUAL(values.http.header_timeout.count(), 1500);
  CAF_CHECK_EQUAL(value_text(timeout, values), "1500ms");
  const auto& limit = *find_option("http.body_limit");
  for (const auto* text : {"", "16 KiB", "16kb", "KiB", "0x10", "16KiB0"})
    CAF_CHECK(!assign(limit, text, values).empty());
  CAF_CHECK_EQUAL(assign(limit, "2048", values), "");
  CAF_CHECK_EQUAL(value_text(limit, values), "2KiB");
  CAF_CHECK_EQUAL(duration_text(fq::config::milliseconds{0}), "0s");
  CAF_CHECK_EQUAL(duration_text(std::chrono::hours{24}), "24h");
  CAF_CHECK_EQUAL(duration_text(std::chrono::hours{48}), "2d");
}

CAF_TEST(urls paths origins and ledgers are checked by form) {
  options values;
  const auto ok = [&](const char* option, const char* text) {
    return assign(*find_option(option), text, values).empty();
  };
  CAF_CHECK(ok("http.public_url", "https://tickets.example.com"));
  CAF_CHECK(ok("http.public_url", "http://127.0.0.1:8080/q"));
  for (const auto* text : {"", "tickets.example.com", "ftp://a", "https://", "https://a/", "https://a/b?c",
                           "https://a b", "https://u@a", "https:///x"})
    CAF_CHECK(!ok("http.public_url", text));
  for (const auto* text : {"https://a:8443/b/c", "http://[::1]:80", "https://10.0.0.1.example", "https://a_b",
                           "https://a/b%20c", "https://[2001:db8::1]/x"})
    CAF_CHECK(ok("http.public_url", text));
  for (const auto* text :
       {"https://a:0", "https://a:65536", "https://a:x", "https://a:", "https://::1", "https://[::1",
        "https://[::1]x", "https://a#b", "https://@a", "https://u:p@a", "HTTPS://a", "https://a,b",
        "https://a%41", "https://a/b?c", "https:a", "https://a:1,b:2"})
    CAF_CHECK(!ok("http.public_url", text));
  CAF_CHECK(ok("http.base_path", "/"));
  CAF_CHECK(ok("http.base_path", "/a/b"));
  for (const auto* text : {"", "a", "/a/", "//a", "/a//b", "/a?b", "/a b"})
    CAF_CHECK(!ok("http.base_path", text));
  CAF_CHECK(ok("http.allowed_origins", "https://a.example, http://localhost:3000"));
  for (const auto* text : {"*", "http://[::1]:3000", "https://10.0.0.1.example:8443"})
    CAF_CHECK(ok("http.allowed_origins", text));
  for (const auto* text : {"https://a.example/", "a.example", "https://A.example", "null", "https://a/b",
                           "https://u@a", "https://a:0", "https://[::1"})
    CAF_CHECK(!ok("http.allowed_origins", text));
  CAF_CHECK(ok("http.trusted_proxies", "10.0.0.0/8,::1"));
  CAF_CHECK(!ok("http.trusted_proxies", "10.0.0.1/8"));
  CAF_CHECK(ok("ledger.url", "sqlite:/var/lib/fq/ledger.db"));
  CAF_CHECK_EQUAL(values.ledger.sqlite_path().string(), "/var/lib/fq/ledger.db");
  CAF_CHECK(ok("ledger.url", "memory:"));
  for (const auto* text : {"", "sqlite:", "memory:x", "ledger.db"}) CAF_CHECK(!ok("ledger.url", text));
  CAF_CHECK(!values.ledger.is_postgres());
  CAF_CHECK(assign(*find_option("ledger.url"), "mysql://u:secret@h/d", values)
              .starts_with("unsupported scheme \"mysql\""));
}

CAF_TEST(postgres urls are what libpq takes with nothing in them that could be cut wrongly) {
  options values;
  const auto& row = *find_option("ledger.url");
  for (const auto* text :
       {"postgres://u:p@h/d", "postgresql://u@h:5432/d?sslmode=require",
        "postgresql:///d?host=/run/postgresql",
        "postgres://u:p%40ss@h1:5432,h2:5433/d?target_session_attrs=read-write", "postgres://h"}) {
    CAF_CHECK_EQUAL(assign(row, text, values), "");
    CAF_CHECK_EQUAL(values.ledger.url, text);
    CAF_CHECK(values.ledger.is_postgres());
    CAF_CHECK(values.ledger.sqlite_path().empty());
  }
  for (const auto* text :
       {"postgres:", "postgres:h/d", "postgres://u:p@ss@h/d", "postgres://u:p/w@h/d", "postgres://u:p?w@h/d",
        "postgres://u:p:w@h/d", "postgres://@h/d", "postgres://u@h/a b", "postgres://h/d?p%61ssword=x"})
    CAF_CHECK_NOT_EQUAL(assign(row, text, values), "");
}

CAF_TEST(a cache is one redis or behind sentinels or none) {
  options values;
  const auto& row = *find_option("cache.url");
  for (const auto* text :
       {"", "redis://h", "redis://127.0.0.1:6379", "redis://:pw@h:6379/15", "redis://u:pw@h/",
        "redis://[::1]:6379/0", "rediss://u:pw@h:1/2", "redis-sentinel://a/m",
        "rediss-sentinel://u:pw@a:1,[::1]:2,c/my-master.1/3", "redis-sentinel://a,b,c,d,e,f,g,h/m"})
    CAF_CHECK_EQUAL(assign(row, text, values), "");
  for (const auto* text : {"h:6379",
                           "redis:",
                           "redis://",
                           "redis://h:0",
                           "redis://h:65536",
                           "redis://h:x",
                           "redis://h/a",
                           "redis://h/1/2",
                           "redis://h,i",
                           "redis://::1",
                           "redis://h?db=1",
                           "redis://u:p@w@h",
                           "unix:///run/redis.sock",
                           "redis://u:p:w@h",
                           "redis://@h",
                           "redis://[::1",
                           "redis://h/12345",
                           "redis://h#0",
                           "redis://h%41",
                           "rediss://h?x=1",
                           "redis-sentinel://",
                           "redis-sentinel://a",
                           "redis-sentinel://a/",
                           "redis-sentinel:///m",
                           "redis-sentinel://a,/m",
                           "redis-sentinel://a b/m",
                           "redis-sentinel://a:0/m",
                           "redis-sentinel://a/m/x",
                           "redis-sentinel://a/m?x",
                           "redis-sentinel://u:p@w@a/m",
                           "redis-sentinel://a,b,c,d,e,f,g,h,i/m",
                           "redis-sentinel://a/m n"})
    CAF_CHECK(assign(row, text, values).starts_with("must "));
}

CAF_TEST(mail servers are named without a login and checked by form) {
  options values;
  const auto ok = [&](const char* option, const char* text) {
    return assign(*find_option(option), text, values).empty();
  };
  for (const auto* text : {"", "smtp://h", "smtp://mail.example.com:587", "smtps://mail.example.com:465",
                           "smtp://[::1]:25", "smtp://h/fairqueue.example.com"})
    CAF_CHECK(ok("mail.smtp_url", text));
  for (const auto* text : {"h", "smtp:", "smtp://", "http://h", "smtp://u:p@h", "smtp://h:0", "smtp://h:x",
                           "smtp://h/a/b", "smtp://h?x=1", "smtp://h i", "smtp://a,smtp://b", "smtp://h%41",
                           "smtp://[::1", "smtp://h#x", "smtp://h:"})
    CAF_CHECK(!ok("mail.smtp_url", text));
  for (const auto* text : {"a@b", "no-reply@example.com", "a+b@x.example"})
    CAF_CHECK(ok("mail.sender", text));
  for (const auto* text :
       {"", "a", "@b", "a@", "a@b@c", "A <a@b>", "a b@c", "a@b\r\nX: y", "a@.b", "a@b..c", "a@b,c@d"})
    CAF_CHECK(!ok("mail.sender", text));
  for (const auto* text : {"", "Box office", "Ulaznice č"}) CAF_CHECK(ok("mail.sender_name", text));
  CAF_CHECK(!ok("mail.sender_name", "a\nb"));
  for (const auto* text : {"mail", "mail.send", "a-b.c_d.E1"}) CAF_CHECK(ok("mail.nats_subject", text));
  for (const auto* text : {"", ".", "a.", ".a", "a..b", "mail.>", "mail.*", "a b"})
    CAF_CHECK(!ok("mail.nats_subject", text));
  CAF_CHECK(ok("mail.nats_stream", "hns_ticketing-events"));
  for (const auto* text : {"", "a.b", "a b", "*"}) CAF_CHECK(!ok("mail.nats_stream", text));
}

CAF_TEST(nats servers may be several and their logins are not printed) {
  options values;
  const auto& row = *find_option("nats.url");
  const auto printed = [&](const char* text) {
    CAF_CHECK_EQUAL(assign(row, text, values), "");
    return value_text(row, values);
  };
  CAF_CHECK_EQUAL(printed(""), "");
  CAF_CHECK_EQUAL(printed("nats://127.0.0.1:4222"), "nats://127.0.0.1:4222");
  CAF_CHECK_EQUAL(printed("nats://u:hunter2@a:4222,tls://hunter3@b"), "nats://u:***@a:4222,tls://***@b");
  for (const auto* text :
       {"a:4222", "http://a", "nats://", "nats://a/b", "nats://a:0", "nats://u:p@w@a", "nats://u:p,w@a",
        "nats://a,", "nats://a b", "nats://a?x", "nats://a,,nats://b", ",nats://a", "nats://a, nats://b",
        "nats://a:65536", "nats://::1", "nats://u:p#w@h"})
    CAF_CHECK_NOT_EQUAL(assign(row, text, values), "");
}

CAF_TEST(node names are short and plain) {
  options values;
  const auto& row = *find_option("node.id");
  for (const std::string& text : {std::string{}, std::string{"fq-1"}, std::string(64, 'a')})
    CAF_CHECK_EQUAL(assign(row, text, values), "");
  for (const std::string& text :
       {std::string{"Node"}, std::string{"a.b"}, std::string{"a\n"}, std::string(65, 'a')})
    CAF_CHECK(assign(row, text, values).starts_with("must "));
}

CAF_TEST(every password in a url is masked and nothing else) {
  CAF_CHECK_EQUAL(without_password("postgres://u:hunter2@h:5432/d?sslmode=require"),
                  "postgres://u:***@h:5432/d?sslmode=require");
  CAF_CHECK_EQUAL(without_password("postgresql:///d?host=/run&password=hunter2&sslpassword=hunter3&user=u"),
                  "postgresql:///d?host=/run&password=***&sslpassword=***&user=u");
  CAF_CHECK_EQUAL(without_password("redis://:hunter2@h/0"), "redis://:***@h/0");
  for (const auto* text : {"postgres://u@h:5432/d", "sqlite:/a:b@c.db", "memory:", ""})
    CAF_CHECK_EQUAL(without_password(text), text);
}

CAF_TEST(the example file in the repository is the one the table gives) {
  std::ifstream in{FAIRQUEUE_EXAMPLE_FILE};
  std::stringstream text;
  text << in.rdbuf();
  CAF_MESSAGE("after a change of the table run: ninja example_config");
  CAF_CHECK(text.str() == example_file());
}

CAF_TEST(the example file configures exactly the defaults) {
  flags f;
  f.config_file = FAIRQUEUE_EXAMPLE_FILE;
  const auto config = load(f, {});
  CAF_CHECK_EQUAL(describe(config.problems), "");
  const auto defaults = default_options();
  for (const auto& row : option_table()) {
    CAF_CHECK_EQUAL(value_text(row, config.values), value_text(row, defaults));
    CAF_CHECK_EQUAL(config.origins.at(std::string{row.name}) == "default", row.derived);
  }
}
