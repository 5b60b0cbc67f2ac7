// SPDX-License-Identifier: Apache-2.0
// Writes JSON: entries, events and WebSocket frames. Called by the routes and the hub. Independent of HTTP.
// Hand-written for speed, because every join, poll and GET /access answers with one of these
// (bench/README.md, "An entry as JSON"). Cold answers are in net/wire/view_codec and order_codec.
#pragma once
#include "crypto/session_token.hpp"
#include "domain/sale/views.hpp"
#include "net/http/json_text.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

[[nodiscard]] std::optional<admission_policy> parse_policy(std::string_view text);
[[nodiscard]] std::string_view name_of(draw_kind kind);
[[nodiscard]] std::string_view name_of(beacon_kind kind);

// -- views

/// `ticket_token` is set only in the answer to a join. Adds the admission token while the entry is
/// ADMITTED.
void append_entry(std::string& out, const entry_view& entry, const session_keys& keys,
                  std::string_view ticket_token = {});
/// The entry in the waiting-room API's words; `pass` empty: none.
void append_ticket(std::string& out, const entry_view& entry, const session_keys& keys,
                   std::string_view pass = {}, std::string_view ticket_token = {});
/// The entry for managers of its queue, without any token.
void append_place(std::string& out, const entry_view& entry);
void append_queue(std::string& out, const event_view& queue, bool is_listed = false);
/// A name that a session has locked.
void append_lock(std::string& out, const lock_view& lock);
void append_access(std::string& out, const entry_id& ticket, const uuid& queue, std::string_view subject,
                   timestamp expires_at);
void append_event(std::string& out, const event_view& event);
/// Makes the cursor of the page behind an event.
using cursor_behind = std::function<std::string(const event_view&)>;
/// A page, which ends at page_bytes_max. `more`: there are events behind the last one.
void append_event_list(std::string& out, const std::vector<event_view>& events, bool more,
                       const cursor_behind& cursor);
void append_queue_list(std::string& out, const std::vector<event_view>& queues, bool more,
                       const cursor_behind& cursor);

// -- WebSocket frames from server to client, one JSON object each

/// Uses the words of the event API or of the waiting-room API, by the entry's kind.
[[nodiscard]] std::string state_frame(const entry_view& entry, event_status status, bool sold_out,
                                      timestamp server_time, const session_keys& keys);
/// The ETA is position times seconds per place; negative: unknown.
[[nodiscard]] std::string position_frame(std::uint64_t position, double seconds_per_place_low,
                                         double seconds_per_place_high, const outlook& odds = {});
[[nodiscard]] std::string admitted_frame(const entry_change& change, event_kind kind,
                                         const session_keys& keys);
/// expired, session_expired, cancelled, completed or revoked; `status` must be terminal.
[[nodiscard]] std::string terminal_frame(entry_status status, event_kind kind, const entry_id& entry);
/// paused, resumed, sold_out and waiting_list (true or false), ended, message.
[[nodiscard]] std::string notice_frame(socket_notice_kind what, std::string_view message = {});
[[nodiscard]] std::string draining_frame(milliseconds reconnect_after);

} // namespace fq::net
