// SPDX-License-Identifier: Apache-2.0
// Times at the venue: across changes of the clocks, by rules younger than ICU, in every language.
#define CAF_SUITE event_times
#include "display/event_times.hpp"

#include "caf/test/unit_test.hpp"

namespace event_times_test {

using namespace fq;

namespace {

/// 2026-10-25T00:30:00Z, half an hour before the clocks of Europe go back.
const timestamp before_change = from_unix_ms(1'792'888'200'000);
const timestamp after_change = before_change + std::chrono::hours{1};

} // namespace

CAF_TEST(zones are those of the system) {
  for (const auto* name :
       {"Africa/Lagos", "Europe/Zagreb", "America/Argentina/Buenos_Aires", "UTC", "Asia/Kathmandu"})
    if (!is_time_zone(name)) CAF_ERROR(std::string{"unknown: "} + name);
  for (const auto* name : {"", "Nowhere/City", "Europe", "Europe/", "europe/zagreb", "localtime", "tzdata.zi",
                           "zone.tab", "../../../etc/passwd", "Europe/../../../../etc/passwd", "/etc/passwd"})
    if (is_time_zone(name)) CAF_ERROR(std::string{"known: "} + name);
  CAF_CHECK(!is_time_zone(std::string(100, 'A')));
}

CAF_TEST(the hour that comes twice has two offsets) {
  CAF_CHECK_EQUAL(time_text(before_change, "Europe/Zagreb", "en"), "Sunday, 25 October 2026 at 02:30 GMT+2");
  CAF_CHECK_EQUAL(time_text(after_change, "Europe/Zagreb", "en"), "Sunday, 25 October 2026 at 02:30 GMT+1");
  CAF_CHECK_EQUAL(local_rfc3339(before_change, "Europe/Zagreb"), "2026-10-25T02:30:00+02:00");
  CAF_CHECK_EQUAL(local_rfc3339(after_change, "Europe/Zagreb"), "2026-10-25T02:30:00+01:00");
  CAF_CHECK_EQUAL(clock_text(before_change, "Europe/Zagreb", "en"), "02:30");
}

CAF_TEST(offsets may be negative or parts of an hour) {
  CAF_CHECK_EQUAL(local_rfc3339(before_change, "America/St_Johns"), "2026-10-24T22:00:00-02:30");
  CAF_CHECK_EQUAL(local_rfc3339(before_change, "Asia/Kathmandu"), "2026-10-25T06:15:00+05:45");
  CAF_CHECK_EQUAL(time_text(before_change, "America/St_Johns", "en"),
                  "Saturday, 24 October 2026 at 22:00 GMT-2:30");
}

// Egypt has summer time again since 2023; the ICU of Debian 12 does not know.
CAF_TEST(rules are as new as the system) {
  CAF_CHECK_EQUAL(local_rfc3339(from_unix_ms(1'782'907'200'000), "Africa/Cairo"),
                  "2026-07-01T15:00:00+03:00");
}

CAF_TEST(without a zone times are in UTC) {
  CAF_CHECK_EQUAL(time_text(before_change, "", "en"), "Sunday, 25 October 2026 at 00:30 GMT");
  CAF_CHECK_EQUAL(local_rfc3339(before_change, "Nowhere/City"), "2026-10-25T00:30:00+00:00");
}

CAF_TEST(a day is that of the venue) {
  CAF_CHECK(is_same_day(before_change, after_change, "Europe/Zagreb"));
  const auto late = before_change - std::chrono::hours{2}; // 00:30 in Zagreb, the day before in London
  CAF_CHECK(is_same_day(late, before_change, "Europe/Zagreb"));
  CAF_CHECK(!is_same_day(late, before_change, "Europe/London"));
}

CAF_TEST(every language has its own form in Latin digits) {
  const auto shown = [](const char* language) { return time_text(before_change, "Africa/Lagos", language); };
  CAF_CHECK_EQUAL(shown("fr"), "dimanche 25 octobre 2026 à 01:30 UTC+1");
  CAF_CHECK_EQUAL(shown("es"), "domingo, 25 de octubre de 2026, 1:30 GMT+1");
  CAF_CHECK_EQUAL(shown("hr"), "nedjelja, 25. listopada 2026. u 01:30 GMT+1");
  CAF_CHECK_EQUAL(shown("ar"), "الأحد، 25 أكتوبر 2026 في 01:30 غرينتش+1");
}

} // namespace event_times_test
