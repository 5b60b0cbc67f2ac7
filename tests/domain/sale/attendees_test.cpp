// SPDX-License-Identifier: Apache-2.0
// Attendees of event tickets: from 1 in the order of items and units, the same for ever.
#define CAF_SUITE domain_attendees
#include "caf/test/unit_test.hpp"

#include "domain/sale/attendees.hpp"

namespace attendees_test {

using namespace fq;

namespace {

/// Two units of type 1, then three of type 0.
claim_row sample_claim() {
  claim_row claim;
  claim.items = {{1, 2}, {0, 3}};
  return claim;
}

struct tickets {
  event_ticket_id add(std::uint32_t type, std::uint64_t id, std::uint32_t seat = 0) {
    event_ticket_row row;
    row.id = {1, id};
    row.ticket_type = type;
    row.seat = seat;
    rows.push_back(row);
    return row.id;
  }
  attendee_numbers numbers() const {
    std::vector<const event_ticket_row*> all;
    for (const auto& row : rows) all.push_back(&row);
    return attendees_of(sample_claim(), all);
  }
  std::vector<event_ticket_row> rows;
};

} // namespace

CAF_TEST(attendees are numbered by items and then by ids) {
  tickets t;
  const auto d = t.add(0, 2), e = t.add(0, 7), c = t.add(0, 1);
  const auto b = t.add(1, 9), a = t.add(1, 5);
  CAF_CHECK(t.numbers() == (attendee_numbers{{a, 1}, {b, 2}, {c, 3}, {d, 4}, {e, 5}}));
}

CAF_TEST(seats come in the order of the plan) {
  tickets t;
  const auto back = t.add(1, 1, 40), front = t.add(1, 2, 39);
  CAF_CHECK(t.numbers() == (attendee_numbers{{front, 1}, {back, 2}}));
}

CAF_TEST(a cancelled ticket keeps its number and others theirs) {
  tickets t;
  const auto first = t.add(0, 1), second = t.add(0, 2);
  t.rows[0].status = event_ticket_status::cancelled;
  CAF_CHECK(t.numbers() == (attendee_numbers{{first, 3}, {second, 4}}));
}

CAF_TEST(a seat that is issued again keeps its attendee) {
  tickets t;
  const auto before = t.add(1, 1, 39), after = t.add(1, 3, 39), other = t.add(1, 2, 40);
  CAF_CHECK(t.numbers() == (attendee_numbers{{before, 1}, {after, 1}, {other, 2}}));
}

CAF_TEST(a ticket too many takes no number of another item) {
  tickets t;
  const auto first = t.add(1, 1), second = t.add(1, 2);
  t.add(1, 3);
  const auto next = t.add(0, 4);
  CAF_CHECK(t.numbers() == (attendee_numbers{{first, 1}, {second, 2}, {next, 3}}));
}

} // namespace attendees_test
