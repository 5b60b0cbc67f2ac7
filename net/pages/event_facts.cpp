// SPDX-License-Identifier: Apache-2.0
#include "net/pages/event_facts.hpp"

#include "display/calendar_file.hpp"
#include "display/description_html.hpp"
#include "display/event_times.hpp"
#include "domain/money/money_text.hpp"
#include "domain/sale/inventory.hpp"
#include "net/http/json_text.hpp"
#include "net/pages/limits.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <cstdio>

namespace fq::net {
namespace {

namespace json = boost::json;

bool has_position(const event_facts& f) { return f.latitude != no_coordinate; }

double degrees_of(std::int32_t millionths) { return millionths / 1e6; }

/// Time only on the event's day; date and time otherwise.
std::string short_text(language in, const event_facts& f, timestamp when) {
  return is_same_day(when, f.starts_at, f.time_zone) ? clock_text(when, f.time_zone, tag_of(in))
                                                     : time_text(when, f.time_zone, tag_of(in));
}

std::string map_url(const event_facts& f) {
  std::array<char, 100> text{};
  std::snprintf(text.data(), text.size(), "https://www.openstreetmap.org/?mlat=%.6f&mlon=%.6f",
                degrees_of(f.latitude), degrees_of(f.longitude));
  return text.data();
}

void set_times(page_data& data, language in, const event_facts& f) {
  if (!is_set(f.starts_at)) return;
  const auto set_moment = [&](const char* name, const char* exact, timestamp when, const std::string& shown) {
    data.set(exact, rfc3339(when));
    data.set_optional(name, shown);
  };
  set_moment("STARTS", "STARTS_EXACT", f.starts_at, start_text(in, f));
  if (is_set(f.ends_at)) set_moment("ENDS", "ENDS_EXACT", f.ends_at, short_text(in, f, f.ends_at));
  if (is_set(f.doors_at)) set_moment("DOORS", "DOORS_EXACT", f.doors_at, short_text(in, f, f.doors_at));
}

json::object place_of(const event_facts& f) {
  json::object place{{"@type", "Place"}, {"name", venue_text(f)}};
  if (!f.venue_address.empty()) place["address"] = f.venue_address;
  if (has_position(f))
    place["geo"] = json::object{{"@type", "GeoCoordinates"},
                                {"latitude", degrees_of(f.latitude)},
                                {"longitude", degrees_of(f.longitude)}};
  return place;
}

const char* availability_of(const ticket_type_row& t, timestamp opens, timestamp now) {
  if (inventory::free_units(t) <= 0 || !t.on_sale) return "https://schema.org/SoldOut";
  if (now < opens) return "https://schema.org/PreOrder";
  return inventory::is_open(t, now) ? "https://schema.org/InStock" : "https://schema.org/SoldOut";
}

json::array offers_of(const event_view& view, timestamp now, const std::string& url) {
  json::array offers;
  for (const auto& t : view.ticket_types) {
    const auto price = money_text(t.price, view.event.currency);
    const auto opens = std::max(t.sale_from, view.event.sale_start);
    offers.push_back(json::object{{"@type", "Offer"},
                                  {"name", t.name},
                                  {"price", price.substr(0, price.find(' '))},
                                  {"priceCurrency", view.event.currency},
                                  {"availability", availability_of(t, opens, now)},
                                  {"validFrom", rfc3339(opens)},
                                  {"url", url}});
    const auto until = is_set(t.sale_until) ? t.sale_until : view.event.sale_end;
    if (is_set(until)) offers.back().as_object()["availabilityEnds"] = rfc3339(until);
  }
  return offers;
}

} // namespace

std::string start_text(language in, const event_facts& f) {
  return is_set(f.starts_at) ? time_text(f.starts_at, f.time_zone, tag_of(in)) : std::string{};
}

const std::string& venue_text(const event_facts& f) {
  return f.venue_name.empty() ? f.venue_address : f.venue_name;
}

void set_facts(page_data& data, language in, const event_row& event) {
  const auto& f = event.facts;
  set_times(data, in, f);
  data.set_optional("PICTURE", f.picture);
  data.set_optional("VENUE", venue_text(f));
  if (!f.venue_name.empty()) data.set_optional("ADDRESS", f.venue_address);
  if (has_position(f)) data.set_optional("MAP_URL", map_url(f));
  data.show("FACTS", is_set(f.starts_at) || !venue_text(f).empty() || has_position(f));
}

void set_about(page_data& data, const event_row& event) {
  data.set_optional("EVENT_ABOUT", description_html(event.facts.description));
}

std::string preview_text(language in, const event_facts& f) {
  std::string out = start_text(in, f);
  for (const auto& part : {venue_text(f), description_text(f.description, preview_bytes_max)}) {
    if (!out.empty() && !part.empty()) out += " · ";
    out += part;
  }
  return out;
}

std::string picture_url(const event_facts& f, const std::string& public_url) {
  return f.picture.empty() ? std::string{} : public_url + "/pictures/" + f.picture + "-large";
}

std::string event_linked_data(const event_view& view, timestamp now, const std::string& url,
                              const std::string& picture) {
  const auto& f = view.event.facts;
  if (!is_set(f.starts_at)) return {};
  const bool is_cancelled = view.event.status == event_status::cancelled;
  json::object data{
    {"@context", "https://schema.org"},
    {"@type", "Event"},
    {"name", view.event.name},
    {"url", url},
    {"startDate", local_rfc3339(f.starts_at, f.time_zone)},
    {"eventStatus", is_cancelled ? "https://schema.org/EventCancelled" : "https://schema.org/EventScheduled"},
  };
  if (is_set(f.ends_at)) data["endDate"] = local_rfc3339(f.ends_at, f.time_zone);
  if (is_set(f.doors_at)) data["doorTime"] = local_rfc3339(f.doors_at, f.time_zone);
  if (!venue_text(f).empty()) {
    data["eventAttendanceMode"] = "https://schema.org/OfflineEventAttendanceMode";
    data["location"] = place_of(f);
  }
  if (!picture.empty()) data["image"] = json::array{picture};
  if (!f.description.empty()) data["description"] = description_text(f.description, preview_bytes_max);
  if (view.event.status == event_status::active || view.event.status == event_status::paused)
    data["offers"] = offers_of(view, now, url);
  return json::serialize(data);
}

std::string event_calendar(const event_row& event, const std::string& url) {
  const auto& f = event.facts;
  if (!is_set(f.starts_at)) return {};
  calendar_event file;
  file.id = to_string(event.id) + "@fairqueue";
  file.name = event.name;
  file.place = f.venue_name;
  if (!f.venue_address.empty()) file.place += (file.place.empty() ? "" : ", ") + f.venue_address;
  file.description = description_text(f.description, preview_bytes_max);
  file.url = url;
  file.starts_at = f.starts_at;
  file.ends_at = f.ends_at;
  file.changed_at = event.updated_at;
  file.is_cancelled = event.status == event_status::cancelled;
  if (has_position(f)) file.at = calendar_event::position{degrees_of(f.latitude), degrees_of(f.longitude)};
  return calendar_text(file);
}

} // namespace fq::net
