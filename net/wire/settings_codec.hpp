// SPDX-License-Identifier: Apache-2.0
// Settings of events, queues and ticket types in JSON: names, forms and limits are those of the rows'
// descriptions (domain/model/event_rows.hpp). Called by the routes and the codec.
#pragma once
#include "domain/sale/views.hpp"
#include "net/wire/json_in.hpp"

#include <string>

namespace fq::net {

/// The API of standalone queues has fewer settings, some with other names, and no inner objects.
enum class settings_api : std::uint8_t { events, queues };

/// Reads the settings that POST and PATCH share, without ticket types.
void read_settings(object_reader& body, event_patch& patch, settings_api api);
void read_settings(object_reader& type, ticket_type_patch& patch);

/// Appends `,"name":value` for each setting; those with many lines not in a list.
void append_settings(std::string& out, const event_row& event, settings_api api, bool is_listed = false);
void append_settings(std::string& out, const ticket_type_row& type);

} // namespace fq::net
