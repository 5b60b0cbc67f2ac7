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
void check(char version, char oldest) {
  const auto same = repeated<Reply>(version);
  CAF_CHECK(same && !same->no && same->replayed);
  for (const char other : {static_cast<char>(oldest - 1), static_cast<char>(version + 1)}) {
    const auto unreadable = repeated<Reply>(other);
    CAF_CHECK(unreadable && unreadable->no.why == reason::idempotency_key_reused);
  }
}

/// What a program with `version` of a reply stored.
class older_bytes {
public:
  explicit older_bytes(char version) : bytes_{version}, sink_(nullptr, bytes_) { sink_.seek(1); }
  template <class... Values>
  void put(Values&... values) {
    CAF_REQUIRE(!sink_(values...));
  }
  /// All fields but those that `is_younger`.
  template <class Row, class Younger>
  void put_row(Row& row, Younger is_younger) {
    each_field<Row>(
      [&](const auto& field, auto& value) {
        if (!is_younger(std::string_view{field.name})) put(value);
      },
      row);
  }
  template <class Reply>
  [[nodiscard]] std::optional<Reply> repeated() const {
    idempotency_index answers;
    changes out;
    answers.store({key.key, key.body, from_unix_ms(7), bytes_}, out);
    return find_answer<Reply>(answers, key, from_unix_ms(8));
  }

private:
  std::vector<char> bytes_;
  caf::binary_serializer sink_;
};

order_reply sample_order() {
  order_reply r;
  r.order.order.id = {5, 6};
  r.order.order.contact.email = "ada@example.org";
  r.order.order.contact.account_email = "ada@example.com";
  r.order.order.total = 700;
  r.order.event_name = "Concert";
  return r;
}

void put_order(older_bytes& old, order_reply& r) {
  auto& v = r.order;
  old.put(r.no, r.replayed);
  old.put_row(v.order, [](std::string_view name) {
    return name == "language" || name == "answers" || name == "guest";
  });
  old.put(v.claim.claim, v.claim.event, v.claim.currency, v.claim.item_ids);
  old.put(v.event_name, v.payment, v.payment_state, v.payment_url, v.refunded, v.can_retry,
          v.typical_page_time);
}

void check_order(const older_bytes& old, const order_reply& stored) {
  const auto found = old.repeated<order_reply>();
  CAF_REQUIRE(found && !found->no && found->replayed);
  CAF_CHECK(found->order.order == stored.order.order);
}

} // namespace

CAF_TEST(an answer of another version is refused and those of other replies stay readable) {
  check<order_reply>(5, 4);
  check<event_reply>(6, 5);
  check<payment_reply>(4, 4);
  check<claim_reply>(5, 4);
}

CAF_TEST(the order of an answer of the last release is read) {
  auto stored = sample_order();
  older_bytes old{4};
  put_order(old, stored);
  old.put(stored.async_percent);
  check_order(old, stored);
}

CAF_TEST(the claim of an answer of the last release is read) {
  claim_reply stored;
  auto& v = stored.claim;
  v.claim.id = {1, 2};
  v.claim.amount = 700;
  v.claim.items.emplace_back().quantity = 3;
  v.event = {3, 4};
  v.currency = "NGN";
  v.item_ids = {{5, 6}};
  older_bytes old{4};
  old.put(stored.no, stored.replayed, v.claim, v.event, v.currency, v.item_ids);
  const auto found = old.repeated<claim_reply>();
  CAF_REQUIRE(found && !found->no && found->replayed);
  CAF_CHECK(found->claim.claim == v.claim && found->claim.event == v.event);
  CAF_CHECK(found->claim.currency == v.currency && found->claim.item_ids == v.item_ids);
  CAF_CHECK(found->claim.seats.empty());
}

CAF_TEST(the event of an answer of the last release is read whole) {
  event_reply stored;
  auto& v = stored.event;
  v.event.id = {1, 2};
  v.event.name = "Concert";
  v.event.queue.away_grace = seconds{7};
  v.event.claims_per_customer = 3;
  v.event.facts.venue_name = "Hall";
  v.ticket_types.emplace_back().name = "Standing";
  v.takes_access_codes = true;
  older_bytes old{5};
  old.put(stored.no, stored.replayed);
  old.put_row(v.event, [](std::string_view name) {
    return std::ranges::find(later_event_fields, name) != std::end(later_event_fields);
  });
  old.put(v.ticket_types, v.sold_out, v.takes_access_codes);
  const auto found = old.repeated<event_reply>();
  CAF_REQUIRE(found && !found->no && found->replayed);
  CAF_CHECK(found->event.event == v.event && found->event.ticket_types == v.ticket_types);
  CAF_CHECK(found->event.takes_access_codes && !found->event.sold_out);
}

} // namespace answers_test
