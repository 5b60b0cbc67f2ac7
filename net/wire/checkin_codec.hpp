// SPDX-License-Identifier: Apache-2.0
// Writes check-in lists, devices, scans and the state of a gate as JSON. Called by the routes; independent of
// HTTP.
#pragma once
#include "actors/protocol/checkin_messages.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Lists, devices and numbers of an event.
[[nodiscard]] std::string checkin_text(const checkin_reply& reply);
/// The changed list of `reply`.
[[nodiscard]] std::string checkin_list_text(const checkin_reply& reply);
/// The changed device of `reply`.
[[nodiscard]] boost::json::object checkin_device_object(const checkin_reply& reply);
[[nodiscard]] std::string checkin_conflicts_text(const checkin_conflicts_reply& reply);
[[nodiscard]] std::string gate_text(const gate_reply& reply);
[[nodiscard]] std::string gate_state_text(const gate_state_reply& reply);
[[nodiscard]] std::string gate_tickets_text(const gate_tickets_reply& reply);
/// The only scan, as an object.
[[nodiscard]] std::string scan_text(const scans_reply& reply);
/// {"results": [...]}
[[nodiscard]] std::string scans_text(const scans_reply& reply);

/// The text of `version` in `since`, and back; nothing for any other text.
[[nodiscard]] std::string version_text(const gate_version& version);
[[nodiscard]] std::optional<gate_version> parse_version(std::string_view text);

/// Nothing if unknown.
[[nodiscard]] std::optional<scan_objection> parse_scan_objection(std::string_view text);
[[nodiscard]] std::optional<scan_type> parse_scan_type(std::string_view text);
[[nodiscard]] std::optional<checkin_mode> parse_checkin_mode(std::string_view text);

} // namespace fq::net
