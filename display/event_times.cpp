// SPDX-License-Identifier: Apache-2.0
// The rules come from date, which reads the system's database: ICU's own copy is as old as its release.
#include "display/event_times.hpp"

#include "display/limits.hpp"

#define HAS_STRING_VIEW 1
#define ONLY_C_LOCALE 1
#define USE_OS_TZDB 1 // as the library was built
#include <date/tz.h>
#include <unicode/dtptngen.h>
#include <unicode/simpletz.h>
#include <unicode/smpdtfmt.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>

namespace fq {
namespace {

/// Null: unknown.
const date::time_zone* find_zone(std::string_view name) {
  const bool is_name =
    !name.empty() && name.size() <= time_zone_bytes_max && name[0] >= 'A' && name[0] <= 'Z';
  if (!is_name) return nullptr;
  try {
    const auto* zone = date::locate_zone(name);
    (void)zone->get_info(std::chrono::sys_seconds{}); // reads its file, which may be no time zone
    return zone;
  } catch (const std::exception&) { return nullptr; }
}

seconds offset_at(timestamp when, std::string_view zone) {
  const auto* found = find_zone(zone);
  return found ? found->get_info(std::chrono::floor<seconds>(when)).offset : seconds{0};
}

/// British English, because dates in pages and mails begin with the day.
icu::Locale locale_of(std::string_view language) {
  if (language == "en") return icu::Locale{"en_GB"};
  return icu::Locale::createFromName((std::string{language} + "@numbers=latn;calendar=gregorian").c_str());
}

void require(UErrorCode status) {
  if (U_FAILURE(status)) throw std::runtime_error{std::string{"ICU: "} + u_errorName(status)};
}

/// CLDR's form of a language for these fields, and `after`.
icu::SimpleDateFormat form_of(std::string_view language, const char* fields, const char* after) {
  UErrorCode status = U_ZERO_ERROR;
  const auto locale = locale_of(language);
  const std::unique_ptr<icu::DateTimePatternGenerator> patterns{
    icu::DateTimePatternGenerator::createInstance(locale, status)};
  require(status);
  auto pattern = patterns->getBestPattern(icu::UnicodeString{fields}, status);
  require(status);
  icu::SimpleDateFormat form{pattern + icu::UnicodeString{after}, locale, status};
  require(status);
  return form;
}

struct forms {
  icu::SimpleDateFormat time, clock;
};

/// Formatters belong to one thread; set the offset before each use.
forms& forms_of(std::string_view language) {
  thread_local std::map<std::string, forms, std::less<>> all;
  auto found = all.find(language);
  if (found == all.end())
    found = all
              .emplace(std::string{language},
                       forms{form_of(language, "yMMMMEEEEdHHmm", " O"), form_of(language, "HHmm", "")})
              .first;
  return found->second;
}

std::string formatted(icu::SimpleDateFormat& form, timestamp when, seconds offset) {
  const auto offset_ms = static_cast<std::int32_t>(std::chrono::milliseconds{offset}.count());
  form.setTimeZone(icu::SimpleTimeZone{offset_ms, icu::UnicodeString{"venue"}});
  icu::UnicodeString text;
  form.format(static_cast<UDate>(unix_ms(when)), text);
  std::string out;
  return text.toUTF8String(out);
}

} // namespace

bool is_time_zone(std::string_view name) { return find_zone(name) != nullptr; }

std::string time_text(timestamp when, std::string_view zone, std::string_view language) {
  return formatted(forms_of(language).time, when, offset_at(when, zone));
}

std::string clock_text(timestamp when, std::string_view zone, std::string_view language) {
  return formatted(forms_of(language).clock, when, offset_at(when, zone));
}

std::string local_rfc3339(timestamp when, std::string_view zone) {
  const auto offset = offset_at(when, zone);
  const auto local = std::chrono::floor<seconds>(when) + offset;
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{local - day};
  const auto east = std::abs(offset.count()) / 60; // minutes
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d%c%02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                offset.count() < 0 ? '-' : '+', static_cast<int>(east / 60), static_cast<int>(east % 60));
  return text.data();
}

seconds zone_offset(timestamp when, const std::string& zone) { return offset_at(when, zone); }

bool is_same_day(timestamp a, timestamp b, std::string_view zone) {
  const auto day_of = [zone](timestamp t) {
    return std::chrono::floor<std::chrono::days>(t + offset_at(t, zone));
  };
  return day_of(a) == day_of(b);
}

} // namespace fq
