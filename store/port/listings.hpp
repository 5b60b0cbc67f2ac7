// SPDX-License-Identifier: Apache-2.0
// Reads of the ledger that need no owner: what is asked for, and the rows of the answers.
#pragma once
#include "domain/model/rows.hpp"
#include "store/port/limits.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

struct event_listing {
  event_row event; ///< without description, ticket_terms and questions, which may be long
  std::vector<ticket_type_row> ticket_types;
};

/// Events: of one organizer, of one tenant, or all ACTIVE and PAUSED events. Queues: of one tenant.
struct event_filter {
  std::optional<organizer_id> organizer;
  std::optional<tenant_id> tenant; ///< without an organizer
  event_kind kind = event_kind::sale; ///< with a tenant
  std::string external_id; ///< with a tenant; empty: any
  aggregate_id after{}; ///< cursor: aggregates with a greater number
  std::uint32_t limit = 50;
};

/// The setting that accounts change with every change of a block list.
inline constexpr std::string_view blocks_version_setting = "blocks.version";

/// What the check of an organizer's token needs.
struct organizer_access {
  organizer_id id;
  tenant_id tenant = default_tenant;
  timestamp tokens_not_before = never; ///< see organizer_row
  friend bool operator==(const organizer_access&, const organizer_access&) = default;
};

/// Tenants, keys, organizers and settings for the check of API keys. Small, so it is read as a whole.
struct access_directory {
  std::vector<tenant_row> tenants; ///< by id
  std::vector<api_key_row> api_keys; ///< by id, without revoked keys
  std::vector<organizer_access> organizers; ///< by id
  std::vector<uuid> ended_sessions; ///< of organizers, ended before they expire; by id
  std::vector<setting_row> settings; ///< by name
  /// By tenant, organizer and customer. Same pointer while unchanged. A ledger leaves it null; the directory
  /// fills it in.
  std::shared_ptr<const std::vector<block_row>> blocks = {};
  friend bool operator==(const access_directory&, const access_directory&) = default;
};

struct audit_filter {
  tenant_id tenant = default_tenant;
  uuid target = {}; ///< nil: all
  std::string actor = {}; ///< set: only actions by this actor, by the server ("system"), and on queues
  uuid before = {}; ///< cursor: older rows only; nil: from the newest
  std::uint32_t limit = 50;
};

/// A customer's orders of all tenants.
struct order_filter {
  customer_id customer = {};
  order_id before = {}; ///< cursor: only older orders; nil: from the newest
  std::uint32_t limit = 50;
};

struct order_listing {
  event_id event;
  std::string event_name;
  std::string currency;
  order_row order;
  friend bool operator==(const order_listing&, const order_listing&) = default;
};

/// A holder's valid event tickets at all events of all tenants.
struct event_ticket_filter {
  customer_id holder = {};
  event_ticket_id before = {}; ///< cursor: only older ones; nil: from the newest
  std::uint32_t limit = 50;
};

struct event_ticket_listing {
  event_id event;
  std::string event_name;
  ticket_type_id ticket_type;
  std::string ticket_type_name;
  event_ticket_row ticket;
  event_ticket_settings settings = {}; ///< of the event
  timestamp starts_at = never; ///< of the event
  std::string time_zone = {}, venue_name = {}; ///< see event_facts
  event_status event_state = event_status::active;
  friend bool operator==(const event_ticket_listing&, const event_ticket_listing&) = default;
};

/// Seat plans of a tenant, by id.
struct seat_plan_filter {
  tenant_id tenant = default_tenant;
  std::optional<organizer_id> organizer = {}; ///< only its own and those that belong to the tenant
  uuid id = {}; ///< set: only this one, with its content; lists have none
  uuid after = {}; ///< cursor: greater ids
  std::uint32_t limit = 50;
};

/// An ended or cancelled event that was looked at.
struct event_looked_at {
  aggregate_id aggregate{};
  bool is_due = false; ///< its event tickets must be made or cancelled
};

struct events_to_settle {
  std::vector<aggregate_id> found; ///< at most events_settled_at_once
  aggregate_id next{}; ///< go on behind it; 0: all were looked at
  friend bool operator==(const events_to_settle&, const events_to_settle&) = default;
};

/// `rows`: by aggregate, at most events_looked_at.
inline events_to_settle first_due_of(const std::vector<event_looked_at>& rows) {
  events_to_settle result;
  for (const auto& row : rows) {
    if (row.is_due) result.found.push_back(row.aggregate);
    if (result.found.size() == events_settled_at_once) result.next = row.aggregate;
    if (result.next != aggregate_id{}) return result;
  }
  if (rows.size() == events_looked_at) result.next = rows.back().aggregate;
  return result;
}

/// A customer's open offers of event tickets, given and received, of all tenants.
struct transfer_filter {
  customer_id customer = {};
  std::uint32_t limit = 50; ///< the newest
};

struct transfer_listing {
  event_id event;
  std::string event_name;
  std::string ticket_type_name;
  transfer_row transfer;
  friend bool operator==(const transfer_listing&, const transfer_listing&) = default;
};

struct dead_letter_filter {
  tenant_id tenant = default_tenant;
  std::optional<organizer_id> organizer = {}; ///< set: only its events
  bool is_open = true; ///< only open letters
  uuid before = {}; ///< cursor: only older letters; nil: from the newest
  std::uint32_t limit = 50;
};

struct dead_letter_listing {
  event_id event;
  dead_letter_row letter;
  friend bool operator==(const dead_letter_listing&, const dead_letter_listing&) = default;
};

/// The rows of one event in [from, to). Reads all of them: the caller bounds the span.
struct statistics_filter {
  aggregate_id aggregate{};
  timestamp from, to;
  milliseconds step{60'000}; ///< above 0; steps begin at multiples of it
};

} // namespace fq
