// SPDX-License-Identifier: Apache-2.0
// Stored answers: read by the same version of their reply only.
#define CAF_SUITE answers
#include "actors/base/answers.hpp"

#include "caf/test/unit_test.hpp"

namespace answers_test {

using namespace fq;

namespace {

const idempotency_ref key{true, {1, 2}, {3, 4}};

/// The answer to a repetition of what a program with `version` of this reply stored.
template <class Reply>
std::optional<Reply> repeated(char version) {
  idempotency_index answers;
  changes out;
  auto bytes = pack_answer(Reply{});
  bytes[0] = version;
  answers.store({key.key, key.body, from_unix_ms(7), bytes}, out);
  return find_answer<Reply>(answers, key, from_unix_ms(8));
}

template <class Reply>
void check(char version, bool is_older_readable = false) {
  const auto same = repeated<Reply>(version);
  CAF_CHECK(same && !same->no && same->replayed);
  for (const char other : {static_cast<char>(version - 1), static_cast<char>(version + 1)}) {
    if (is_older_readable && other < version) continue;
    const auto unreadable = repeated<Reply>(other);
    CAF_CHECK(unreadable && unreadable->no.why == reason::idempotency_key_reused);
  }
}

} // namespace

CAF_TEST(an answer of another version is refused and those of other replies stay readable) {
  check<order_reply>(5, true); // with event tickets
  check<event_reply>(5); // with facts
  check<payment_reply>(4);
  check<claim_reply>(4);
}

CAF_TEST(the order of an answer without event tickets is read) {
  order_reply stored;
  stored.order.order.id = {5, 6};
  stored.order.order.contact.email = "ada@example.org";
  std::vector<char> bytes{4};
  caf::binary_serializer sink{nullptr, bytes};
  sink.seek(1);
  auto& v = stored.order;
  CAF_REQUIRE(!sink(stored.no, stored.replayed));
  each_field<order_row>(
    [&](const auto&, auto& value) {
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(value)>, language>)
        CAF_REQUIRE(!sink(value)); // languages are younger
    },
    v.order);
  CAF_REQUIRE(!sink(v.claim, v.event_name, v.payment, v.payment_state, v.payment_url, v.refunded, v.can_retry,
                    v.typical_page_time, stored.async_percent));
  idempotency_index answers;
  changes out;
  answers.store({key.key, key.body, from_unix_ms(7), bytes}, out);
  const auto found = find_answer<order_reply>(answers, key, from_unix_ms(8));
  CAF_REQUIRE(found && !found->no && found->replayed);
  CAF_CHECK(found->order.order == stored.order.order);
}

} // namespace answers_test
