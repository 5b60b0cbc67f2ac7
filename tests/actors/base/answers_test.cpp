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
void check(char version) {
  const auto same = repeated<Reply>(version);
  CAF_CHECK(same && !same->no && same->replayed);
  for (const char other : {static_cast<char>(version - 1), static_cast<char>(version + 1)}) {
    const auto unreadable = repeated<Reply>(other);
    CAF_CHECK(unreadable && unreadable->no.why == reason::idempotency_key_reused);
  }
}

} // namespace

CAF_TEST(an answer of another version is refused and those of other replies stay readable) {
  check<order_reply>(5); // with event tickets
  check<event_reply>(5); // with facts
  check<payment_reply>(4);
  check<claim_reply>(4);
}

} // namespace answers_test
