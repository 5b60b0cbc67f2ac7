// SPDX-License-Identifier: Apache-2.0
// Login, users and database numbers; passwords never appear in messages.
#define CAF_SUITE cache_redis_login
#include "tests/store/redis/engines.hpp"

using namespace fq;
using namespace fq::test;

namespace {

/// The error of a ping through this address; empty if it succeeds.
std::string complaint(const redis_address& address) {
  skipping_environment env;
  redis_cache store{{.address = address}, env, "test"};
  return unavailable([&] { store.ping(); });
}

struct world {
  private_redis server;
  redis_address address = parse_redis_url(server.url());
  redis_operator eye{server.url()};
};

} // namespace

CAF_TEST(the password of the url opens the server) {
  world w;
  CAF_REQUIRE(!w.address.password.empty());
  CAF_CHECK_EQUAL(complaint(w.address), "");

  auto wrong = w.address;
  wrong.password = "open-sesame";
  CAF_CHECK(complaint(wrong).find("WRONGPASS") != std::string::npos);
  CAF_CHECK_EQUAL(complaint(wrong).find("sesame"), std::string::npos);

  auto none = w.address;
  none.password.clear();
  CAF_CHECK_EQUAL(complaint(none), "redis refused: NOAUTH Authentication required.");
}

CAF_TEST(a user of the url logs in with a percent encoded password) {
  world w;
  w.eye.run({"ACL", "SETUSER", "fan", "on", ">p@ss:w/rd%", "~fairqueue:*", "+@all"});
  const auto host = w.address.host + ":" + std::to_string(w.address.port);
  CAF_CHECK_EQUAL(complaint(parse_redis_url("redis://fan:p%40ss%3Aw%2Frd%25@" + host)), "");
  CAF_CHECK(complaint(parse_redis_url("redis://fan:other@" + host)).find("WRONGPASS") != std::string::npos);

  // All keys begin with fairqueue: a user needs no other rights.
  skipping_environment env;
  redis_cache store{{.address = parse_redis_url("redis://fan:p%40ss%3Aw%2Frd%25@" + host)}, env, "test"};
  owner o{store};
  FQ_APPLIED(o.begin(delta{}.join(numbers(1, 2)).admit({sample_session(3)}).count({sample_stock(1, 1)})));
  CAF_CHECK(o.read().found);
  // A user without write permission is refused.
  w.eye.run({"ACL", "SETUSER", "fan", "-@write"});
  CAF_CHECK(unavailable([&] { store.ping(); }).find("NOPERM") != std::string::npos);
}

CAF_TEST(the number at the end of the url is the database) {
  world w;
  auto third = w.address;
  third.database = 3;
  skipping_environment env;
  redis_cache store{{.address = third}, env, "test"};
  owner o{store};
  FQ_APPLIED(o.begin(delta{}.join(numbers(1, 1))));
  CAF_CHECK_EQUAL(w.eye.keys_of(o.queue()).size(), 0u);
  w.eye.run({"SELECT", "3"});
  CAF_CHECK_EQUAL(w.eye.keys_of(o.queue()).size(), 2u);

  third.database = 4'000;
  CAF_CHECK(!complaint(third).empty());
}
