// SPDX-License-Identifier: Apache-2.0
// Rows of check-in: lists, the devices that scan, and the scans. Each struct is followed by its description.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/description.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

enum class checkin_mode : std::uint8_t {
  entry, ///< a holder comes in once
  entry_and_exit, ///< may leave by a scan, and come in again
};

/// What a group of gates lets in. All lists of an event share the state of its tickets.
struct checkin_list_row {
  checkin_list_id id;
  std::string name; ///< for people
  std::uint64_t ticket_types = 0; ///< bit i: the type with ordinal i; 0: all
  std::string gates; ///< names, one a line; may be empty
  checkin_mode mode = checkin_mode::entry;
  timestamp created_at, updated_at;
  timestamp removed_at; ///< never: in use
  [[nodiscard]] bool admits(std::uint32_t ordinal) const {
    return ticket_types == 0 || (ordinal < 64 && (ticket_types >> ordinal & 1) != 0);
  }
  friend bool operator==(const checkin_list_row&, const checkin_list_row&) = default;
};
FQ_ROW(checkin_list_row, "checkin_list", aggregate, row_field("id", &row::id, key),
       row_field("name", &row::name), row_field("ticket_types", &row::ticket_types),
       row_field("gates", &row::gates), row_field("mode", &row::mode),
       row_field("created_at", &row::created_at), row_field("updated_at", &row::updated_at),
       row_field("removed_at", &row::removed_at))

/// A device that scans for one event.
struct checkin_device_row {
  checkin_device_id id;
  std::string label; ///< for people
  std::string gate; ///< where it stands; may be empty
  std::vector<uuid> lists; ///< that it may use; empty: all
  std::string secret_hash; ///< SHA-256 of the secret in its token (net/service/device_token.hpp), hex
  timestamp created_at;
  timestamp revoked_at; ///< never: still valid
  bool may_force = false; ///< may let in against the rules
  friend bool operator==(const checkin_device_row&, const checkin_device_row&) = default;
};
FQ_ROW(checkin_device_row, "checkin_device", aggregate, row_field("id", &row::id, key),
       row_field("label", &row::label), row_field("gate", &row::gate), row_field("lists", &row::lists),
       row_field("secret_hash", &row::secret_hash), row_field("created_at", &row::created_at),
       row_field("revoked_at", &row::revoked_at), row_field("may_force", &row::may_force))

enum class scan_type : std::uint8_t { entry, exit };

/// What the rules say against a scan, by precedence. The numbers are stored: only append.
enum class scan_objection : std::uint8_t {
  none,
  unreadable, ///< not the code of an event ticket
  other_event,
  unknown_ticket,
  wrong_key, ///< not signed with the event's present keys
  expired_code, ///< a rotating code of another time
  transferred, ///< the code of an earlier holder
  cancelled,
  refund_pending, ///< its money is on its way back
  wrong_list, ///< the list does not let its type in, or was removed
  no_exit, ///< the list has no exit
  already_in,
  not_in, ///< an exit of a ticket that is not in
};

/// A scan with such an objection names no ticket that could be let in.
[[nodiscard]] constexpr bool has_no_ticket(scan_objection o) {
  return o == scan_objection::unreadable || o == scan_objection::other_event
         || o == scan_objection::unknown_ticket;
}

/// A code was presented at a gate.
struct scan_row {
  scan_id id; ///< chosen by the scanner: the same id is the same scan
  checkin_list_id list;
  checkin_device_id device;
  event_ticket_id ticket; ///< as the code says; nil: unreadable
  scan_type type = scan_type::entry;
  bool is_admitted = false; ///< the holder passed
  bool is_forced = false; ///< the holder had passed before the server decided, or passed against the rules
  scan_objection objection = scan_objection::none; ///< of a forced scan: as decided when it arrived
  scan_id earlier = {}; ///< the scan that `already_in` means; nil: none
  timestamp at = {}; ///< at the gate
  timestamp received_at = {};
  friend bool operator==(const scan_row&, const scan_row&) = default;
};
FQ_ROW(scan_row, "checkin_scan", aggregate, row_field("id", &row::id, key),
       row_field("list", &row::list, once), row_field("device", &row::device, once),
       row_field("ticket", &row::ticket, once), row_field("type", &row::type, once),
       row_field("is_admitted", &row::is_admitted, once), row_field("is_forced", &row::is_forced, once),
       row_field("objection", &row::objection, once), row_field("earlier", &row::earlier, once),
       row_field("scanned_at", &row::at, once), row_field("received_at", &row::received_at, once))

/// The stable name on the wire, lower_snake_case; "" for none.
std::string_view name_of(scan_objection o);
std::string_view name_of(scan_type t);
std::string_view name_of(checkin_mode m);

} // namespace fq
