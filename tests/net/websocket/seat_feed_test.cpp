// SPDX-License-Identifier: Apache-2.0
// Which socket hears what of a seat map.
#define CAF_SUITE net_seat_feed
#include "caf/test/unit_test.hpp"

#include "net/websocket/limits.hpp"
#include "net/websocket/seat_feed.hpp"

namespace seat_feed_test {

using namespace fq;
using namespace fq::net;

CAF_TEST(a socket hears changes that begin at or before its version) {
  const seat_answer changes{5, 9, 100};
  CAF_CHECK(news_for(9, changes) == seat_news::none);
  CAF_CHECK(news_for(5, changes) == seat_news::changes);
  CAF_CHECK(news_for(8, changes) == seat_news::changes); // twice heard is no harm: seats are as they are now
  CAF_CHECK(news_for(4, changes) == seat_news::reload); // something is missing in between
  CAF_CHECK(news_for(10, changes) == seat_news::reload); // of no map of ours
}

CAF_TEST(after a whole map or too many changes sockets read again) {
  CAF_CHECK(news_for(5, {0, 9, 0}) == seat_news::reload);
  CAF_CHECK(news_for(9, {0, 9, 0}) == seat_news::none);
  CAF_CHECK(news_for(5, {5, 9, seats_frame_max}) == seat_news::changes);
  CAF_CHECK(news_for(5, {5, 9, seats_frame_max + 1}) == seat_news::reload);
}

CAF_TEST(more sockets hear less often and all within a second) {
  CAF_CHECK(seats_refresh_of(1, 1) == seats_refresh_min);
  CAF_CHECK(seats_refresh_of(2'000, 1) <= milliseconds{250});
  CAF_CHECK(seats_refresh_of(6'000, 1) == seats_refresh_of(3'000, 2));
  CAF_CHECK(seats_refresh_of(6'000, 1) > milliseconds{250});
  CAF_CHECK(seats_refresh_of(1'000'000, 8) == seats_refresh_max);
  CAF_CHECK(seats_refresh_max <= milliseconds{1'000});
}

CAF_TEST(frames have a type) {
  CAF_CHECK_EQUAL(seats_frame(R"({"from":5,"version":7,"held":"4"})"),
                  R"({"type":"seats","from":5,"version":7,"held":"4"})");
  CAF_CHECK_EQUAL(seats_reload_frame(7), R"({"type":"seats","version":7,"reload":true})");
}

} // namespace seat_feed_test
