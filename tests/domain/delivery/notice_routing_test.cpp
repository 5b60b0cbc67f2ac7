// SPDX-License-Identifier: Apache-2.0
// The media of a tenant's notices: the tenant's choice, the defaults, and the resulting outbox lanes.
#define CAF_SUITE domain_notice_routing
#include "domain/delivery/notice_routing.hpp"

#include "domain/delivery/outbox.hpp"
#include "domain/model/rows.hpp"

#include "caf/test/unit_test.hpp"

namespace notice_routing_test {

using namespace fq;

CAF_TEST(what nobody chose for goes by everything) {
  const notice_routing none;
  for (const auto topic : told_topics)
    for (const auto m : all_media) CAF_CHECK(none.goes(topic, m));
  CAF_CHECK_EQUAL(none.text(), "");
}

CAF_TEST(a choice is kept as text) {
  notice_routing r;
  r.start("order.completed");
  r.add("order.completed", medium::webhook);
  r.add("order.completed", medium::mail);
  r.start("queue.expired");
  CAF_CHECK_EQUAL(r.text(), "order.completed=mail,webhook queue.expired=");
  const auto read = notice_routing::parse(r.text());
  CAF_CHECK(read == r);
  CAF_CHECK(read.goes("order.completed", medium::mail));
  CAF_CHECK(!read.goes("order.completed", medium::push));
  CAF_CHECK(!read.goes("queue.expired", medium::bus));
  CAF_CHECK(read.goes("order.failed", medium::push));
}

CAF_TEST(what another release knew is left out) {
  const auto r = notice_routing::parse("order.completed=mail,pigeon star.fell=mail  =mail order.failed=,");
  CAF_CHECK_EQUAL(r.text(), "order.completed=mail order.failed=");
  CAF_CHECK(notice_routing::parse("nonsense").chosen().empty());
}

CAF_TEST(lanes follow what is chosen) {
  const auto lanes = [](std::string_view text, bool has_bus) {
    return lanes_of("order.completed", notice_routing::parse(text), has_bus);
  };
  const auto bus = bit_of(lane::bus), notices = bit_of(lane::notices);
  CAF_CHECK_EQUAL(lanes("", true), bus | notices);
  CAF_CHECK_EQUAL(lanes("", false), notices);
  CAF_CHECK_EQUAL(lanes("order.completed=push", true), notices);
  CAF_CHECK_EQUAL(lanes("order.completed=webhook,bus", true), bus | notices);
  CAF_CHECK_EQUAL(lanes("order.completed=mail,bus", true), bus);
  CAF_CHECK_EQUAL(lanes("order.completed=mail", true), 0);
  CAF_CHECK_EQUAL(lanes("order.failed=mail", true), bus | notices);
}

} // namespace notice_routing_test
