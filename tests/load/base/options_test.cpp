// SPDX-License-Identifier: Apache-2.0
// The command line and URLs.
#define CAF_SUITE load.options
#include "caf/test/unit_test.hpp"

#include "load/base/options.hpp"
#include "load/base/url.hpp"

#include <filesystem>
#include <fstream>
#include <vector>

#include <unistd.h>

using namespace fq::load;

namespace {

option_result read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "fairqueue-load");
  return read_options(static_cast<int>(arguments.size()), arguments.data());
}

} // namespace

CAF_TEST(defaults and given values) {
  const auto plain = read({});
  CAF_REQUIRE(plain.options.has_value());
  CAF_CHECK_EQUAL(plain.options->fans, 5000u);
  CAF_CHECK_EQUAL(plain.options->connections, 0u);
  CAF_CHECK(!plain.options->seed_given);
  const auto given =
    read({"--fans", "7", "--arrival", "poisson", "--no-show", "1.5", "--seed", "0", "--join-only"});
  CAF_REQUIRE(given.options.has_value());
  CAF_CHECK_EQUAL(given.options->fans, 7u);
  CAF_CHECK(given.options->arrival == arrival_shape::poisson);
  CAF_CHECK(given.options->seed_given);
  CAF_CHECK_EQUAL(given.options->connections, 256u);
}

CAF_TEST(mistakes are exit code 2) {
  for (const auto& arguments : std::vector<std::vector<const char*>>{
         {"--fans", "0"},
         {"--no-such-option"},
         {"--arrival", "slowly"},
         {"--no-show", "60", "--abandon", "50"},
         {"--event", "not-an-id"},
         {"--url", "ftp://127.0.0.1"},
         {"--url", "http://192.0.2.1:8080"},
         {"--url", "http://example.com"},
         {"--connection-per-fan", "--connections", "4"},
         {"--with-keys"},
         {"--buy-by", "wishing"},
         {"--promo-code", "HALF"},
         {"--no-queue"},
         {"--buy-by", "checkout", "--join-only"},
         {"--buy-by", "checkout", "--promo-code", "a\"b"},
       }) {
    const auto got = read(arguments);
    CAF_CHECK(!got.options.has_value());
    CAF_CHECK_EQUAL(got.exit_code, 2);
    CAF_CHECK(!got.message.empty());
  }
}

CAF_TEST(how fans buy) {
  const auto plain = read({});
  CAF_REQUIRE(plain.options.has_value());
  CAF_CHECK(plain.options->buy_by == buying_way::claims);
  const auto given =
    read({"--buy-by", "mixed", "--promo-code", "HALF", "--promo-code", "LESS", "--no-queue"});
  CAF_REQUIRE(given.options.has_value());
  CAF_CHECK(given.options->buy_by == buying_way::mixed);
  CAF_CHECK_EQUAL(given.options->promo_codes.size(), 2u);
  CAF_CHECK(given.options->no_queue);
}

CAF_TEST(seats are bought and not only joined for) {
  CAF_CHECK(read({"--seats"}).options->seats);
  CAF_CHECK(read({"--seats", "--buy-by", "checkout"}).options->seats);
  CAF_CHECK_EQUAL(read({"--seats", "--join-only"}).exit_code, 2);
}

CAF_TEST(help is no mistake) {
  const auto got = read({"--help"});
  CAF_CHECK(!got.options.has_value());
  CAF_CHECK_EQUAL(got.exit_code, 0);
}

CAF_TEST(another machine needs permission) {
  CAF_CHECK(read({"--url", "http://192.0.2.1:8080", "--allow-remote"}).options.has_value());
}

CAF_TEST(urls are taken apart) {
  const auto url = parse_http_url("http://[::1]:81/base/?x=1");
  CAF_REQUIRE(url.has_value());
  CAF_CHECK_EQUAL(url->host, "::1");
  CAF_CHECK_EQUAL(url->port, 81);
  CAF_CHECK_EQUAL(url->target, "/base/?x=1");
  CAF_CHECK_EQUAL(url->authority(), "[::1]:81");
  const auto bare = parse_http_url("http://localhost");
  CAF_REQUIRE(bare.has_value());
  CAF_CHECK_EQUAL(bare->target, "/");
  for (const auto* wrong :
       {"https://127.0.0.1", "http://", "http://u@h/", "http://h:0", "http://h:99999", "http://h:8x",
        "http://[::1", "http://h/a b", "127.0.0.1:8080", "http://::1", "http://[::1]x", "http://h/#f",
        "http:///x", "HTTP://h", "http://h:1,i:2", "http://127.0.0.1.example"})
    CAF_CHECK(!parse_http_url(wrong).has_value());
  CAF_CHECK_EQUAL(parse_http_url("http://h?x=1").value().target, "/?x=1");
  CAF_CHECK_EQUAL(parse_http_url("http://h:65535/a%20b").value().target, "/a%20b");
  CAF_CHECK_EQUAL(parse_http_url("http://a_b").value().authority(), "a_b");
}

CAF_TEST(the demo sale is found in the data folder) {
  const auto folder =
    std::filesystem::temp_directory_path() / ("fq-load-options-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  load_options options;
  options.data_dir = folder.string();
  CAF_CHECK(!complete_from_demo(options).empty());
  std::ofstream(folder / "demo.json")
    << R"({"event_id":"00000000-0000-0005-0000-000000000001","base_url":"http://127.0.0.1:1234"})";
  CAF_CHECK_EQUAL(complete_from_demo(options), "");
  CAF_CHECK_EQUAL(options.event, "00000000-0000-0005-0000-000000000001");
  CAF_CHECK_EQUAL(options.url, "http://127.0.0.1:1234");
  std::ofstream(folder / "demo.json")
    << R"({"event_id":"00000000-0000-0005-0000-000000000001","base_url":"http://192.0.2.1"})";
  options.event.clear();
  options.url.clear();
  CAF_CHECK(!complete_from_demo(options).empty());
  std::filesystem::remove_all(folder);
}
