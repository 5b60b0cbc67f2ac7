// SPDX-License-Identifier: Apache-2.0
// Valid cache URLs; a refusal never repeats the URL.
#define CAF_SUITE cache_redis_url
#include "store/redis/redis.hpp"

#include "caf/test/unit_test.hpp"

#include <stdexcept>

using namespace fq;

namespace {

std::string refusal(std::string_view url) {
  try {
    parse_redis_url(url);
  } catch (const std::invalid_argument& e) { return e.what(); }
  return {};
}

} // namespace

CAF_TEST(urls lead to addresses) {
  struct row {
    std::string_view url;
    redis_address address;
  };
  for (const auto& [url, address] : {
         row{"redis://cache", {"cache", 6379, "", "", 0}},
         row{"redis://cache/", {"cache", 6379, "", "", 0}},
         row{"redis://cache:/", {"cache", 6379, "", "", 0}},
         row{"redis://127.0.0.1:7000/3", {"127.0.0.1", 7000, "", "", 3}},
         row{"redis://[::1]:7000", {"::1", 7000, "", "", 0}},
         row{"redis://:secret@cache", {"cache", 6379, "", "secret", 0}},
         row{"redis://fan:se%3Acret%40%2F%25@cache:6380/15", {"cache", 6380, "fan", "se:cret@/%", 15}},
         row{"rediss://cache", {"cache", 6379, "", "", 0, true}},
         row{"redis-sentinel://a/m", {"", 26379, "", "", 0, false, {{"a", 26379}}, "m"}},
         row{"redis-sentinel://:secret@a,b:7/m-1.x_Y/3",
             {"", 7, "", "secret", 3, false, {{"a", 26379}, {"b", 7}}, "m-1.x_Y"}},
         row{"rediss-sentinel://fan:s%40@[::1],[::2]:7/m",
             {"", 7, "fan", "s@", 0, true, {{"::1", 26379}, {"::2", 7}}, "m"}},
       }) {
    CAF_MESSAGE(url);
    CAF_CHECK(parse_redis_url(url) == address);
  }
}

CAF_TEST(what is no redis url is refused) {
  for (const std::string_view url : {"",
                                     "redis",
                                     "redis:",
                                     "redis://",
                                     "redis://:secret@",
                                     "cache:6379",
                                     "http://cache",
                                     "redis://cache/a",
                                     "redis://cache/1/2",
                                     "redis://cache/-1",
                                     "redis://cache/99999999999",
                                     "redis://cache:0",
                                     "redis://cache:65536",
                                     "redis://cache:secret",
                                     "redis://fan@cache",
                                     "redis://cache?db=1",
                                     "redis://cache#1",
                                     "redis://fan:se/cret@cache",
                                     "redis://fan:secret%@cache",
                                     "redis://a b",
                                     "rediss:",
                                     "rediss://:secret@",
                                     "redis-sentinel://",
                                     "redis-sentinel://a",
                                     "redis-sentinel://a/",
                                     "redis-sentinel:///m",
                                     "redis-sentinel://:secret@/m",
                                     "redis-sentinel://a,/m",
                                     "redis-sentinel://,a/m",
                                     "redis-sentinel://a:0/m",
                                     "redis-sentinel://a/m/x",
                                     "redis-sentinel://a/m?db=1",
                                     "redis-sentinel://a/m n",
                                     "redis-sentinel://a,b,c,d,e,f,g,h,i/m",
                                     "rediss-sentinel://fan@a/m"}) {
    CAF_MESSAGE(url);
    CAF_CHECK(!refusal(url).empty());
    CAF_CHECK_EQUAL(refusal(url).find("secret"), std::string::npos);
  }
}
