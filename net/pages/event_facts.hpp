// SPDX-License-Identifier: Apache-2.0
// The facts of an event on its pages, and for the programs that read pages. Pure: views in, values out.
#pragma once
#include "domain/sale/views.hpp"
#include "net/pages/page_templates.hpp"

#include <string>

namespace fq::net {

/// Values of _facts.html, and PICTURE: the id of the picture.
void set_facts(page_data& data, language in, const event_row& event);
/// Value of _about.html: the description, which may be long.
void set_about(page_data& data, const event_row& event);

/// "Friday, 27 November 2026 at 19:30 GMT+1"; empty: not given.
[[nodiscard]] std::string start_text(language in, const event_facts& facts);
/// Name of the venue, else its address; empty: not given.
[[nodiscard]] const std::string& venue_text(const event_facts& facts);

/// The words of a link to the event in other programs.
[[nodiscard]] std::string preview_text(language in, const event_facts& facts);

/// Public address of the event's picture, for other programs; empty: none.
[[nodiscard]] std::string picture_url(const event_facts& facts, const std::string& public_url);

/// schema.org's Event as JSON-LD, in which `url` is the event's page. Empty without a start, which readers
/// require.
[[nodiscard]] std::string event_linked_data(const event_view& view, timestamp now, const std::string& url,
                                            const std::string& picture);

/// The event for calendars; empty without a start.
[[nodiscard]] std::string event_calendar(const event_row& event, const std::string& url);

} // namespace fq::net
