// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE domain_description
#include "domain/model/log_rows.hpp"
#include "domain/model/rows.hpp"

#include "caf/test/unit_test.hpp"

#include <set>
#include <string>

using namespace fq;

CAF_TEST(the fields of a part are fields of its row) {
  std::string names;
  each_field<promo_code_row>([&](const auto& field) { names += std::string{field.name} + ' '; });
  CAF_CHECK_EQUAL(names, "ordinal id code kind value ticket_types valid_from valid_until uses_max "
                         "uses_per_customer uses is_active created_at updated_at ");
}

CAF_TEST(an update leaves what is written once) {
  payment_row stored, moved;
  stored.reference = "first";
  moved.reference = "second";
  moved.status = payment_status::confirmed;
  moved.captured = 7;
  copy_updated(stored, moved);
  CAF_CHECK_EQUAL(stored.reference, "first");
  CAF_CHECK(stored.status == payment_status::confirmed);
  CAF_CHECK_EQUAL(stored.captured, 7);
}

CAF_TEST(a transfer changes holder and generation and not what was bought) {
  event_ticket_row stored, moved;
  stored.claim = {1, 1};
  moved.claim = {2, 2};
  moved.ticket_type = 7;
  moved.holder = {3, 3};
  moved.status = event_ticket_status::transferred;
  moved.generation = 2;
  copy_updated(stored, moved);
  CAF_CHECK(stored.claim == uuid{1, 1} && stored.ticket_type == 0);
  CAF_CHECK(stored.holder == uuid{3, 3});
  CAF_CHECK(stored.status == event_ticket_status::transferred && stored.generation == 2);
}

CAF_TEST(a patch changes the settings that it names) {
  patch_of<event_row> patch;
  patch.set(&queue_settings::concurrency, 5u);
  patch.set(&event_row::message, "Doors open late.");
  CAF_CHECK(patch.find(&event_row::message) && !patch.find(&event_row::name));
  event_row event;
  event.name = "Concert";
  patch.apply_to(event);
  CAF_CHECK_EQUAL(event.name, "Concert");
  CAF_CHECK_EQUAL(event.message, "Doors open late.");
  CAF_CHECK_EQUAL(event.queue.concurrency, 5u);
}

CAF_TEST(a patch cannot change what is no setting) {
  patch_of<event_row> patch;
  patch.values.organizer = {1, 2};
  patch.values.status = event_status::ended;
  patch.given = ~0ull;
  event_row event;
  patch.apply_to(event);
  CAF_CHECK(event.organizer.is_nil());
  CAF_CHECK(event.status == event_status::draft);
}

CAF_TEST(settings have distinct names) {
  std::set<std::string> events, queues;
  each_field<event_row>([&](const auto& field) {
    const auto& s = field.setting;
    if (s.name) CAF_CHECK(events.insert(std::string{s.group} + '.' + s.name).second);
    if (s.queue_name) CAF_CHECK(queues.insert(s.queue_name).second);
  });
  CAF_CHECK_EQUAL(events.size(), 50u);
  CAF_CHECK_EQUAL(queues.size(), 20u);
}

CAF_TEST(a log that replaces another one has a higher number and one of its minute) {
  const auto at = [](std::int64_t minutes) { return from_unix_ms(minutes * 60'000 + 59'999); };
  CAF_CHECK_EQUAL(next_log_number(0, at(30'000'000)), 1u);
  CAF_CHECK_EQUAL(next_log_number(1, at(30'000'000)), 30'000'000u);
  CAF_CHECK_EQUAL(next_log_number(2, at(30'000'000)), 30'000'000u); // as older versions counted
  CAF_CHECK_EQUAL(next_log_number(30'000'000, at(30'000'000)), 30'000'001u);
  CAF_CHECK_EQUAL(next_log_number(30'000'001, at(29'999'000)), 30'000'002u); // the clock went back
  CAF_CHECK_EQUAL(next_log_number(7, from_unix_ms(-1'000'000)), 8u);
}
