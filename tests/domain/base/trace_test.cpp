// SPDX-License-Identifier: Apache-2.0
// Trace context as in the W3C specification, and spans that end once.
#define CAF_SUITE trace
#include "domain/base/trace.hpp"

#include "tests/kept_spans.hpp"
#include "tests/outbound/fixed_environment.hpp"

#include <caf/test/unit_test.hpp>

namespace trace_test {

using namespace fq;
using fq::test::kept_spans;

namespace {

constexpr std::string_view example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

} // namespace

CAF_TEST(a traceparent is read and written as it was) {
  const auto c = parse_traceparent(example);
  CAF_REQUIRE(c);
  CAF_CHECK_EQUAL(trace_id_text(c->trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  CAF_CHECK_EQUAL(span_id_text(c->span), "00f067aa0ba902b7");
  CAF_CHECK(c->is_sampled);
  CAF_CHECK_EQUAL(traceparent_of(*c), example);
  CAF_CHECK(!parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")->is_sampled);
  CAF_CHECK_EQUAL(traceparent_of({}), "");
}

CAF_TEST(a later version is read as far as the first one goes) {
  CAF_CHECK(parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-what comes later"));
  CAF_CHECK(!parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03what"));
  CAF_CHECK(!parse_traceparent("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
}

CAF_TEST(what is malformed is no traceparent) {
  for (const auto* text : {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
                           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                           "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
                           "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}) {
    CAF_MESSAGE(text);
    CAF_CHECK(!parse_traceparent(text));
  }
}

CAF_TEST(a span is a child of its parent and ends once) {
  test::fixed_environment env;
  kept_spans kept;
  const auto parent = *parse_traceparent(example);
  open_span work{&kept, env, parent, span_kind::server, "GET /events"};
  CAF_CHECK(work.context().trace == parent.trace);
  CAF_CHECK(work.context().span != parent.span);
  env.now_ms += 25;
  work.end(true, 503);
  work.end(false);
  CAF_REQUIRE_EQUAL(kept.all.size(), 1u);
  const auto& s = kept.all.front();
  CAF_CHECK_EQUAL(s.parent, parent.span);
  CAF_CHECK_EQUAL(s.lasted.count(), 25);
  CAF_CHECK_EQUAL(s.http_status, 503);
  CAF_CHECK(s.has_failed);
}

CAF_TEST(what is not sampled is passed on and not kept) {
  test::fixed_environment env;
  kept_spans kept;
  auto parent = *parse_traceparent(example);
  parent.is_sampled = false;
  open_span unsampled{&kept, env, parent, span_kind::internal, "x"};
  CAF_CHECK(unsampled.context() == parent);
  unsampled.end(false);
  parent.is_sampled = true;
  open_span unkept{nullptr, env, parent, span_kind::internal, "x"};
  CAF_CHECK(unkept.context() == parent);
  unkept.end(false);
  open_span none{&kept, env, {}, span_kind::internal, "x"};
  none.end(false);
  CAF_CHECK(kept.all.empty());
}

} // namespace trace_test
