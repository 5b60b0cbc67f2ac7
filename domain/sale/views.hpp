// SPDX-License-Identifier: Apache-2.0
// The answers of a sale to requests, ready to be rendered. Values only.
#pragma once
#include "domain/line/outlook.hpp"
#include "domain/line/ranks.hpp"
#include "domain/model/refusal.hpp"
#include "domain/model/rows.hpp"
#include "domain/money/pricing.hpp"
#include "domain/seats/seat_place.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace fq {

enum class lobby_phase : std::uint8_t {
  none, ///< no lobby, or it is over: entries have positions
  open,
  closed, ///< its entrants are fixed; the draw is being made
  waiting, ///< closed, and the draw waits for its beacon
};

/// What holds for all entries that have no position yet.
struct lobby_view {
  lobby_phase phase = lobby_phase::none;
  draw_kind draw = draw_kind::none;
  std::uint64_t people = 0; ///< in line
  timestamp opens_at; ///< the queue
  friend bool operator==(const lobby_view&, const lobby_view&) = default;
};

/// An entry as its holder sees it.
struct entry_view {
  entry_id id;
  event_id event;
  event_kind kind{}; ///< of the event
  customer_id customer;
  std::string subject_name;
  std::string message; ///< the operator's message to all in line
  queue_number number{};
  entry_status status = entry_status::waiting;
  std::uint64_t position = 0; ///< 1-based; 0 unless in line
  std::int32_t eta_low_seconds = -1; ///< -1: unknown
  std::int32_t eta_high_seconds = -1;
  std::uint32_t poll_after_ms = 0;
  std::uint32_t admission_no = 0; ///< with `id` sufficient to make the admission token
  std::uint32_t admission_batch = 0;
  timestamp joined_at, admitted_at, session_expires_at;
  timestamp claim_by; ///< if admitted: end of the session unless it has claimed
  line_spot spot; ///< not shown
  lobby_view lobby = {};
  queue_number party{}; ///< of the entry that opened it, before the draw; 0: none
  std::uint32_t party_size = 0;
  std::string party_code = {}; ///< lets others join it; set by the owner
  fq::outlook outlook = {}; ///< of a place in line, in answers that only read it
};

/// How fast a line moves: what a wait depends on besides the position.
struct line_pace {
  std::uint64_t admitted = 0; ///< within `span`
  milliseconds span{0};
  milliseconds claim_window{0};

  /// Seconds per place, as (low, high); negative: not measured yet.
  [[nodiscard]] std::pair<double, double> seconds_per_place() const;
};
/// Sets the position of an entry in line, and what follows from it.
void set_wait(entry_view& v, std::uint64_t position, const line_pace& pace);
/// The same for an entry without a position.
void set_wait(entry_view& v, const lobby_view& lobby, timestamp now);

struct claim_view {
  claim_row claim;
  event_id event;
  std::string currency;
  std::vector<ticket_type_id> item_ids; ///< parallel to claim.items
  std::vector<std::string> item_names = {}; ///< of these types; parallel to claim.items
  std::vector<std::string> seats = {}; ///< names of those that it holds or has bought
  std::vector<seat_place> places = {}; ///< parallel to `seats`
};

struct payment_view {
  payment_row payment;
  event_id event;
  std::string currency;
};

struct event_view {
  event_row event;
  std::vector<ticket_type_row> ticket_types;
  bool sold_out = false;
  bool takes_access_codes = false; ///< a hidden type is on sale
  bool has_seats = false; ///< a seat plan
  bool has_obstructed_seats = false; ///< some of its seats have a restricted view
  lobby_row lobby = {}; ///< with `opened_at` never: none. The seed is empty before the draw
};

struct event_stats {
  event_id event;
  event_status status{};
  std::uint64_t waiting = 0, away = 0, admitted = 0; ///< now
  std::uint64_t joined_total = 0, admitted_total = 0, completed_total = 0;
  std::int64_t total = 0, held = 0, sold = 0, available = 0;
  std::uint64_t claims_live = 0, claims_confirmed = 0, payments_open = 0;
  money revenue = 0; ///< confirmed minus refunded
  money refunded = 0;
  std::uint64_t admission_rate_per_minute = 0, arrival_rate_per_minute = 0;
  std::uint32_t last_admission_batch = 0;
  timestamp server_time;
};

/// A field of a PATCH; not given: unchanged.
template <class T>
struct maybe {
  bool given = false;
  T value{};
};

/// Settings of one ticket type. `values.id` nil: a new type, which requires name, price and total.
using ticket_type_patch = patch_of<ticket_type_row>;

/// Settings of an event or queue.
struct event_patch : patch_of<event_row> {
  std::vector<ticket_type_patch> ticket_types;
};

/// An item that a claim requests; `ticket_type` nil: the first type on sale.
struct item_wish {
  ticket_type_id ticket_type;
  std::uint32_t quantity = 1;
  money donation = 0; ///< voluntary extra amount per ticket
  std::vector<std::string> seats =
    {}; ///< names, as many as `quantity`; empty: the best ones, if it has seats
};

/// Adjacent seats that the sale chooses.
struct best_seats_wish {
  std::uint32_t count = 0; ///< 0: none
  std::string section = {}; ///< code; empty: any
  ticket_type_id ticket_type = {}; ///< nil: any that the customer may buy
  std::uint32_t accessible = 0; ///< of `count`
};

/// What a claim or checkout says about seats besides its items.
struct seat_wish {
  best_seats_wish best = {}; ///< instead of items
  /// Accessible seats that the named ones may have, or that the best ones of the only item with seats have.
  /// Best seats of several items are refused with it.
  std::uint32_t asks_accessible = 0;
};

/// The organizer's change of seats, of the rules of seat_rules, or of both; names.
struct seat_patch {
  std::vector<std::string> seats = {};
  maybe<bool> is_blocked = {};
  ticket_type_id ticket_type = {}; ///< nil: unchanged
  maybe<std::uint8_t> singles = {}; ///< single_rule
  maybe<bool> may_split = {};
  maybe<bool> accessible_for_all = {};
  [[nodiscard]] bool has_rules() const {
    return singles.given || may_split.given || accessible_for_all.given;
  }
};

/// Tickets to refund; none given: all that are left.
struct refund_wish {
  std::vector<item_wish> items;
  std::vector<event_ticket_id> event_tickets; ///< agree with `items`, if those are given
};

/// The contents of an invitation.
struct invitation_wish {
  ticket_type_id ticket_type;
  std::uint32_t quantity = 1;
  timestamp valid_until; ///< never: as long as the type is on sale
};

/// The input of a checkout.
struct order_wish {
  std::vector<item_wish> items; ///< empty: one ticket of the first type on sale
  seat_wish seats;
  std::string promo_code; ///< as typed; empty: none
  fq::contact contact;
  std::string success_url, cancel_url; ///< may be empty
  std::string gateway;
  customer_id buyer = {}; ///< of a guest: the customer of contact.account_email
};

/// A quote, or the price at which an order was placed.
struct quote_view {
  event_id event;
  std::string currency;
  price_quote price;
  std::vector<ticket_type_id> item_ids; ///< parallel to price.items
  std::string promo_code; ///< as stored; empty: none
};

/// An event ticket as its holder and the organizer see it.
struct event_ticket_view {
  event_ticket_row ticket;
  event_id event;
  ticket_type_id ticket_type;
  order_id order; ///< nil: claim made without an order
  bool refund_pending = false; ///< a refund that the gateway has not made yet takes it
  std::string seat = {}; ///< name; empty: none
  seat_place place = {};
  std::uint32_t attendee = 0; ///< whose answers belong to it (answer_row); 0: none
};

/// The seat of an event ticket.
struct ticket_seat {
  event_ticket_id ticket;
  std::string name;
  seat_place place;
};

/// Of a paper whose holder is not the buyer.
inline constexpr money price_hidden = -1;

/// What is printed of an event ticket.
struct ticket_paper {
  event_ticket_row ticket;
  order_id order; ///< nil: claim made without an order, or another one's
  std::string type_name;
  money price = 0; ///< paid for it, without fees
  std::uint32_t attendee = 0; ///< 0: the event asks attendees nothing, or another one holds it
  seat_place seat = {};
};

/// A holder's wish to give an event ticket away.
struct transfer_wish {
  event_ticket_id ticket;
  customer_id giver, receiver;
  std::string giver_email, receiver_email; ///< for mails
  language giver_language = language::en, receiver_language = language::en;
};

/// An order as its customer sees it.
struct order_view {
  order_row order;
  claim_view claim;
  std::string event_name;
  payment_id payment{}; ///< the open attempt, else the newest; nil: none
  payment_status payment_state{};
  std::string payment_url; ///< where to pay, while payment is possible; else empty
  money refunded = 0;
  bool can_retry = false; ///< another payment attempt or checkout may succeed
  milliseconds typical_page_time{0}; ///< recent average time until an order's payment page exists
  std::vector<event_ticket_view> event_tickets = {}; ///< by id; see sale::views_of
  std::vector<transfer_row> transfers = {}; ///< of these tickets; see sale::history_of; only for an organizer
};

/// A new promo code, or changes to an existing code.
struct promo_code_patch {
  promo_code_id id = {}; ///< nil: a new code, which requires `code`
  maybe<std::string> code = {};
  maybe<discount> reduction = {};
  maybe<timestamp> valid_from = {}, valid_until = {};
  maybe<std::uint32_t> uses_max = {}, uses_per_customer = {};
  maybe<bool> is_active = {};
};

/// A new check-in list, or changes to one.
struct checkin_list_patch {
  checkin_list_id id = {}; ///< nil: a new list, which requires `name`
  maybe<std::string> name = {};
  maybe<std::vector<ticket_type_id>> ticket_types = {}; ///< empty: all
  maybe<std::vector<std::string>> gates = {};
  maybe<checkin_mode> mode = {};
  bool remove = false; ///< it stays for the scans that name it
};

/// A new device that scans, or the end of one.
struct checkin_device_patch {
  checkin_device_id id = {}; ///< nil: a new device, which requires the rest
  std::string label = {}, gate = {};
  std::vector<checkin_list_id> lists = {}; ///< empty: all
  std::string secret_hash = {};
  bool may_force = false;
  bool revoke = false;
};

/// What a scanner presents.
struct scan_wish {
  scan_id id; ///< the nonce
  checkin_list_id list;
  event_ticket_id ticket; ///< of the code, or chosen by a person; nil: unreadable
  std::uint32_t generation = 0; ///< of the code; 0: chosen by a person
  scan_objection code = scan_objection::none; ///< what is wrong with the code itself
  scan_type type = scan_type::entry;
  timestamp at; ///< never: now
  bool force = false; ///< a person lets the holder in whatever the rules say; ignored unless the device may
  bool passed = false; ///< the gate had no network, and has let the holder pass
  bool refused = false; ///< the gate has sent the holder away: `objection` says why
  scan_objection objection = scan_objection::none;
};

/// Scans at one list.
struct scan_counts {
  std::uint64_t entries = 0, exits = 0, refused = 0;
};

/// A scan with the names of where it was.
struct scan_place {
  scan_row scan; ///< id nil: none
  std::string list = {}, gate = {}, device = {};
};

/// An event ticket as a gate sees it.
struct checkin_ticket {
  event_ticket_row ticket; ///< id nil: none
  std::string type = {}; ///< name
  std::string name = {}; ///< of the buyer, while the buyer holds it; may be empty
  order_id order = {}; ///< nil: none
  bool refund_pending = false;
  std::string seat = {}; ///< name; empty: none
  seat_place place = {};
  scan_place last = {}; ///< the latest admitted scan
};

/// The decision about a scan.
struct scan_view {
  reason no = reason::none; ///< not recorded
  bool is_replayed = false;
  scan_row scan;
  scan_place earlier = {}; ///< the scan that `already_in` means
  checkin_ticket ticket = {};
};

/// A ticket that gates let in twice or against the rules.
struct checkin_conflict {
  checkin_ticket ticket;
  std::vector<scan_place> scans = {}; ///< admitted ones, by time
};

/// Event tickets of one type.
struct checkin_type_count {
  ticket_type_id ticket_type;
  std::string name;
  std::uint64_t valid = 0, in = 0, out = 0;
};

/// A state change of an entry, as pushed to subscribers.
struct entry_change {
  entry_id id;
  queue_number number{};
  entry_status status{};
  std::uint32_t admission_no = 0;
  std::uint32_t admission_batch = 0;
  timestamp admitted_at, session_expires_at, claim_by;
  line_spot spot = {};
};

enum class socket_notice_kind : std::uint8_t {
  paused,
  resumed,
  sold_out,
  back_on_sale,
  ended,
  message,
  presence_watched,
  presence_unwatched,
  waiting_list, ///< it begins
  no_waiting_list ///< it ends
};

enum class principal_kind : std::uint8_t { nobody, organizer, operate };

/// Actor that manages events and queues: an organizer, or a backend with an operator's token.
struct principal {
  principal_kind kind = principal_kind::nobody;
  tenant_id tenant = default_tenant;
  uuid id; ///< id of the organizer or API key
  friend bool operator==(const principal&, const principal&) = default;
};

/// "organizer:<id>", "operator:<id>" or "".
std::string name_of(const principal& who);

/// The sessions that an operator or origin ends.
enum class revocation_scope : std::uint8_t { ticket, subject, all };

/// A gateway's statement about one of our references.
enum class verdict : std::uint8_t {
  paid,
  declined,
  refund_processed,
  refund_failed,
  nothing, ///< webhook without effect, stored so that it is processed once
};

enum class gateway_call_kind : std::uint8_t { initialize, verify, expire, refund };
constexpr std::string_view name_of(gateway_call_kind kind) {
  constexpr std::array<std::string_view, 4> names{"initialize", "verify", "expire", "refund"};
  return names[static_cast<std::size_t>(kind)];
}

struct gateway_fact {
  std::string gateway;
  std::string gateway_event; ///< id of the webhook, or "verify:<reference>" for an answer to our query
  verdict what = verdict::declined;
  std::string reference;
  money amount = 0; ///< without `tax`
  std::string currency;
  std::string refund = {}; ///< our refund id, for refund facts
  money tax = 0; ///< added by the gateway
  std::string gateway_id = {}; ///< the gateway's id of the charge, if given
};

/// A name that a session of a standalone queue has locked.
struct lock_view {
  session_lock_row row;
  entry_id ticket{}; ///< of its session
  timestamp until; ///< end of the session, unless it ends earlier
};

} // namespace fq
