// SPDX-License-Identifier: Apache-2.0
// Check-in: net -> event actor. From organizers, and from the devices that scan.
#pragma once
#include "actors/protocol/shared_messages.hpp"

#include <string>
#include <vector>

namespace fq {

FQ_INSPECT(checkin_list_patch, x.id, x.name, x.ticket_types, x.gates, x.mode, x.remove)
FQ_INSPECT(checkin_device_patch, x.id, x.label, x.gate, x.lists, x.secret_hash, x.may_force, x.revoke)
FQ_INSPECT(scan_wish, x.id, x.list, x.ticket, x.generation, x.code, x.type, x.at, x.force, x.passed,
           x.refused, x.objection)
FQ_INSPECT(scan_place, x.scan, x.list, x.gate, x.device)
FQ_INSPECT(checkin_ticket, x.ticket, x.type, x.name, x.order, x.refund_pending, x.seat, x.place, x.last)
FQ_INSPECT(scan_view, x.no, x.is_replayed, x.scan, x.earlier, x.ticket)
FQ_INSPECT(checkin_conflict, x.ticket, x.scans)
FQ_INSPECT(checkin_type_count, x.ticket_type, x.name, x.valid, x.in, x.out)
FQ_INSPECT(scan_counts, x.entries, x.exits, x.refused)

// -- organizers

struct set_checkin_list {
  managed what;
  audit_note note;
  checkin_list_patch patch;
};
FQ_INSPECT(set_checkin_list, x.what, x.note, x.patch)

struct set_checkin_device {
  managed what;
  audit_note note;
  checkin_device_patch patch;
};
FQ_INSPECT(set_checkin_device, x.what, x.note, x.patch)

/// Lists, devices and numbers of an event.
struct find_checkin {
  managed what;
};
FQ_INSPECT(find_checkin, x.what)

struct checkin_reply {
  refusal no;
  uuid changed = {}; ///< the list or device that the request made or changed
  std::vector<checkin_list_row> lists = {}; ///< in use
  std::vector<scan_counts> scans = {}; ///< of `lists`, in the same order
  std::vector<checkin_device_row> devices = {}; ///< also revoked ones; without hashes
  std::vector<checkin_type_count> types = {}; ///< by ordinal
  std::uint64_t conflicts = 0;
};
FQ_INSPECT(checkin_reply, x.no, x.changed, x.lists, x.scans, x.devices, x.types, x.conflicts)

/// By ticket.
struct list_checkin_conflicts {
  managed what;
  event_ticket_id after = {}; ///< cursor; nil: from the first
  std::uint32_t limit = 50;
};
FQ_INSPECT(list_checkin_conflicts, x.what, x.after, x.limit)

struct checkin_conflicts_reply {
  refusal no;
  std::vector<checkin_conflict> conflicts = {}; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(checkin_conflicts_reply, x.no, x.conflicts, x.more)

// -- devices

/// What a device shows; device_unknown for others.
struct device_pass {
  checkin_device_id device;
  std::string secret_hash; ///< of the secret in its token
};
FQ_INSPECT(device_pass, x.device, x.secret_hash)

struct presented_scan {
  scan_wish wish;
  std::string code; ///< as read; empty: a person chose `wish.ticket`
};
FQ_INSPECT(presented_scan, x.wish, x.code)

/// Scans in the order of their times; one decision.
struct redeem_scans {
  device_pass by;
  std::vector<presented_scan> scans;
};
FQ_INSPECT(redeem_scans, x.by, x.scans)

struct scans_reply {
  refusal no;
  std::vector<scan_view> scans = {};
};
FQ_INSPECT(scans_reply, x.no, x.scans)

/// What the device is for, and how its list stands.
struct find_gate {
  device_pass by;
};
FQ_INSPECT(find_gate, x.by)

struct gate_reply {
  refusal no;
  event_id event = {};
  std::string event_name = {};
  tenant_id tenant{};
  std::string device = {}, gate = {};
  bool may_force = false;
  std::vector<checkin_list_row> lists = {}; ///< that the device may use
  std::vector<scan_counts> scans = {}; ///< of `lists`
  std::vector<checkin_type_count> types = {}; ///< by ordinal
  timestamp now = {};
};
FQ_INSPECT(gate_reply, x.no, x.event, x.event_name, x.tenant, x.device, x.gate, x.may_force, x.lists, x.scans,
           x.types, x.now)

/// How far a device knows the tickets of a list.
struct gate_version {
  std::uint32_t key_number = 0;
  bool rotating_codes = false;
  timestamp list_at; ///< checkin_list_row::updated_at; never: knows nothing
  timestamp at; ///< of the last ticket that it was given
  event_ticket_id ticket;
};
FQ_INSPECT(gate_version, x.key_number, x.rotating_codes, x.list_at, x.at, x.ticket)

/// The tickets of a list that changed since `since`.
struct find_gate_state {
  device_pass by;
  checkin_list_id list;
  gate_version since = {};
  std::uint32_t limit = 500;
};
FQ_INSPECT(find_gate_state, x.by, x.list, x.since, x.limit)

/// A ticket as an offline device needs it.
struct gate_ticket {
  event_ticket_id id;
  std::uint32_t ticket_type = 0; ///< ordinal
  event_ticket_status status{};
  std::uint32_t generation = 0;
  bool refund_pending = false;
  std::string secret = {}; ///< 32 bytes, of its rotating codes; empty: fixed codes
  timestamp last_at = {}; ///< of its latest admitted scan; never: none
  std::string last_place = {}; ///< gate, device or list of it
  std::string seat = {}; ///< name; empty: none
};
FQ_INSPECT(gate_ticket, x.id, x.ticket_type, x.status, x.generation, x.refund_pending, x.secret, x.last_at,
           x.last_place, x.seat)

struct gate_state_reply {
  refusal no;
  bool is_reset = false; ///< what the device knew is void: keys or list have changed
  gate_version version = {};
  std::string public_key = {}; ///< 32 bytes
  checkin_list_row list = {};
  std::vector<gate_ticket> tickets = {}; ///< at most `limit`
  bool more = false;
  timestamp now = {};
};
FQ_INSPECT(gate_state_reply, x.no, x.is_reset, x.version, x.public_key, x.list, x.tickets, x.more, x.now)

/// Tickets by name of the buyer, order or id; 100 for a group under one name.
struct search_gate {
  device_pass by;
  checkin_list_id list;
  std::string text;
  std::uint32_t limit = 100;
};
FQ_INSPECT(search_gate, x.by, x.list, x.text, x.limit)

struct gate_tickets_reply {
  refusal no;
  std::vector<checkin_ticket> tickets = {};
};
FQ_INSPECT(gate_tickets_reply, x.no, x.tickets)

} // namespace fq
