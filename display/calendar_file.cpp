// SPDX-License-Identifier: Apache-2.0
#include "display/calendar_file.hpp"

#include <libical/ical.h>

#include <ctime>
#include <memory>

namespace fq {
namespace {

struct free_ical {
  void operator()(icalcomponent* component) const { icalcomponent_free(component); }
  void operator()(char* text) const { icalmemory_free_buffer(text); }
};

icaltimetype utc(timestamp when) {
  const auto seconds_since_1970 = std::chrono::floor<seconds>(when).time_since_epoch().count();
  return icaltime_from_timet_with_zone(static_cast<std::time_t>(seconds_since_1970), 0,
                                       icaltimezone_get_utc_timezone());
}

} // namespace

std::string calendar_text(const calendar_event& event) {
  const std::unique_ptr<icalcomponent, free_ical> file{icalcomponent_new(ICAL_VCALENDAR_COMPONENT)};
  const auto put = [](icalcomponent* into, icalproperty* property) {
    icalcomponent_add_property(into, property);
  };
  put(file.get(), icalproperty_new_version("2.0"));
  put(file.get(), icalproperty_new_prodid("-//FairQueue//FairQueue//EN"));
  put(file.get(), icalproperty_new_method(ICAL_METHOD_PUBLISH));
  auto* inner = icalcomponent_new(ICAL_VEVENT_COMPONENT);
  icalcomponent_add_component(file.get(), inner); // owns it
  put(inner, icalproperty_new_uid(event.id.c_str()));
  put(inner, icalproperty_new_dtstamp(utc(event.changed_at)));
  put(inner, icalproperty_new_dtstart(utc(event.starts_at)));
  if (is_set(event.ends_at)) put(inner, icalproperty_new_dtend(utc(event.ends_at)));
  put(inner, icalproperty_new_summary(event.name.c_str()));
  if (!event.place.empty()) put(inner, icalproperty_new_location(event.place.c_str()));
  if (!event.description.empty()) put(inner, icalproperty_new_description(event.description.c_str()));
  if (!event.url.empty()) put(inner, icalproperty_new_url(event.url.c_str()));
  if (event.at) put(inner, icalproperty_new_geo({event.at->latitude, event.at->longitude}));
  put(inner, icalproperty_new_status(event.is_cancelled ? ICAL_STATUS_CANCELLED : ICAL_STATUS_CONFIRMED));
  const std::unique_ptr<char, free_ical> text{icalcomponent_as_ical_string_r(file.get())};
  return text ? text.get() : std::string{};
}

} // namespace fq
