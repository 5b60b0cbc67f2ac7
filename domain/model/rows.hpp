// SPDX-License-Identifier: Apache-2.0
// The durable facts of an aggregate as plain rows: what the ledger stores and an owner loads. No behaviour.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/states.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Money in minor units (kobo, cents) of the event's currency. Never a floating-point number.
using money = std::int64_t;

enum class admission_policy : std::uint8_t { batch, capacity, rate, open, operated };

/// Admission settings and timeouts of a queue. All can change while the sale runs.
struct queue_settings {
  admission_policy policy = admission_policy::batch;
  std::uint32_t concurrency = 0; ///< max active sessions; 0: unlimited
  std::uint32_t rate_per_minute = 0; ///< 0: no rate limit
  std::uint32_t batch_size = 50; ///< admissions per admission_interval with policy batch
  milliseconds admission_interval{5000};
  std::uint32_t over_admission_percent = 100; ///< people admitted per free unit, in percent; at least 100
  milliseconds session_ttl{20 * 60 * 1000};
  milliseconds claim_window{5 * 60 * 1000}; ///< from admission; the session ends without a claim by then
  milliseconds ticket_ttl{0}; ///< of a waiting entry, from joining or opening; 0: until the sale ends
  std::uint32_t capacity = 0; ///< max entries in line, including AWAY; 0: unlimited
  milliseconds presence_timeout{0}; ///< time without poll or connection until AWAY; 0: never AWAY
  milliseconds away_grace{5 * 60 * 1000}; ///< time from AWAY to EXPIRED
  friend bool operator==(const queue_settings&, const queue_settings&) = default;
};

/// Kind of an aggregate with a queue. A standalone queue is an event that sells nothing and never ends
/// automatically. Its line, sessions and decisions are the same; an origin serves the admitted.
enum class event_kind : std::uint8_t { sale, queue };

/// event_row::async_percent of an event that uses the installation's setting.
inline constexpr std::int32_t async_inherited = -1;

struct event_row {
  event_id id;
  aggregate_id aggregate{};
  event_kind kind = event_kind::sale;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< nil: created by an operator, belongs to the tenant
  std::string external_id; ///< queues: the tenant's own name for it, unique per tenant; may be empty
  std::string message; ///< the operator's, shown to waiters; may be empty
  std::string name;
  std::string currency; ///< ISO 4217, upper case
  event_status status = event_status::draft;
  timestamp queue_opens_at, sale_start, sale_end; ///< queues: the last two are `never`
  queue_settings queue;
  milliseconds claim_ttl{10 * 60 * 1000};
  std::uint32_t claims_per_customer = 1;
  std::int32_t async_percent = async_inherited; ///< percentage of customers with asynchronous checkout
  timestamp created_at, updated_at;
  friend bool operator==(const event_row&, const event_row&) = default;
};

struct ticket_type_row {
  std::uint32_t ordinal = 0; ///< position in its event, from 0; the key inside the aggregate
  ticket_type_id id;
  std::string name;
  money price = 0;
  std::int64_t total = 0;
  std::int64_t held = 0; ///< units in live claims
  std::int64_t sold = 0; ///< units in confirmed claims, without refunded units
  std::uint32_t max_per_order = 1;
  bool on_sale = true;
  bool hidden = false; ///< listed and sold only with a promo code that names it, or an invitation
  timestamp sale_from = {}, sale_until = {}; ///< its own window inside the event's; never: the event's
  friend bool operator==(const ticket_type_row&, const ticket_type_row&) = default;
};

enum class discount_kind : std::uint8_t {
  none, ///< the code only opens hidden types
  percent, ///< basis points of the price, 1 to 10,000
  amount, ///< minor units, at most the price
};

/// Price reduction for each ticket of the covered types.
struct discount {
  discount_kind kind = discount_kind::none;
  std::int64_t value = 0;
  std::uint64_t ticket_types = 0; ///< bit i: the type with ordinal i; 0: all
  [[nodiscard]] bool covers(std::uint32_t ordinal) const {
    return ticket_types == 0 || (ordinal < 64 && (ticket_types >> ordinal & 1) != 0);
  }
  friend bool operator==(const discount&, const discount&) = default;
};

/// A code that reduces the price of orders of its event, or opens hidden ticket types.
struct promo_code_row {
  std::uint32_t ordinal = 0; ///< position in its event, from 0; the key inside the aggregate
  promo_code_id id;
  std::string code; ///< upper case, unique in its event
  discount reduction;
  timestamp valid_from, valid_until; ///< never: unbounded
  std::uint32_t uses_max = 0; ///< max orders that hold or have bought with it; 0: unlimited
  std::uint32_t uses_per_customer = 0; ///< 0: unlimited
  std::uint32_t uses = 0; ///< current count
  bool is_active = true;
  timestamp created_at, updated_at;
  friend bool operator==(const promo_code_row&, const promo_code_row&) = default;
};

struct entry_row {
  queue_number number{};
  subject_key subject;
  std::string subject_name; ///< set by a standalone queue's tenant; at most subject_name_max bytes
  std::uint64_t join_key = 0; ///< hash of the Idempotency-Key of the join; 0: none given
  timestamp joined_at, admitted_at, session_expires_at, ended_at;
  timestamp claim_by; ///< end of the session unless it has claimed; fixed at admission
  std::uint32_t admission_no = 0; ///< raised to revoke the session token
  std::uint32_t admission_batch = 0; ///< from 1 in each queue
  std::uint8_t priority_class = 0; ///< lower is served first
  entry_status status = entry_status::waiting;
  bool has_claimed = false; ///< the claim window no longer applies
  friend bool operator==(const entry_row&, const entry_row&) = default;
};

struct claim_item {
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 0;
  money unit_price = 0;
  std::uint32_t refunded = 0; ///< refunded units
  money donation = 0; ///< voluntary extra amount per ticket
  money unit_discount = 0; ///< off the price of each ticket
  friend bool operator==(const claim_item&, const claim_item&) = default;
};

struct claim_row {
  claim_id id;
  customer_id customer;
  queue_number entry{};
  claim_status status = claim_status::claimed;
  std::uint8_t live_slot =
    0; ///< 0 .. claims_per_customer-1; unique per (event, customer) while live or confirmed
  std::vector<claim_item> items;
  money amount = 0; ///< amount to charge, fees included
  timestamp created_at, expires_at, ended_at;
  std::uint32_t promo = 0; ///< ordinal + 1 of the promo code used; 0: none
  friend bool operator==(const claim_row&, const claim_row&) = default;
};

struct payment_row {
  payment_id id;
  claim_id claim;
  customer_id customer;
  payment_status status = payment_status::initializing;
  std::string gateway; ///< "sandbox", "free"
  std::string reference; ///< chosen by this server before the gateway is called
  std::string authorization_url;
  std::string gateway_id; ///< the gateway's own name for it; may be empty
  std::string destination; ///< account at the gateway that receives the money; empty: it stays
  money amount = 0; ///< quoted
  money captured = 0; ///< captured by the gateway, tax included
  money tax = 0; ///< the part of `captured` that the gateway added to the quoted amount
  money refunded = 0; ///< sum of succeeded refunds
  timestamp created_at, updated_at;
  friend bool operator==(const payment_row&, const payment_row&) = default;
};

/// Recipient of an order, as the customer wrote it. Personal data: in no log, and in no domain event except
/// mails.
struct contact {
  std::string first_name, last_name, email, phone; ///< the phone may be empty
  friend bool operator==(const contact&, const contact&) = default;
};

/// A purchase as the customer sees it: one claim and the amounts charged for it. The items are the claim's.
struct order_row {
  order_id id;
  claim_id claim;
  customer_id customer;
  order_status status = order_status::pending;
  fq::contact contact;
  std::string promo_code; ///< as it was at that time; empty: none
  money subtotal = 0, discount = 0, donations = 0, platform_fee = 0, processing_fee = 0, total = 0;
  std::string success_url, cancel_url; ///< redirect targets for the customer; may be empty
  std::string failure; ///< a stable code: why it FAILED; else empty
  timestamp payment_link_at; ///< due time of the mail with the payment page; never: not wanted, or sent
  timestamp created_at, updated_at;
  friend bool operator==(const order_row&, const order_row&) = default;
};

/// Tickets returned by a refund.
struct refund_item {
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 0;
  friend bool operator==(const refund_item&, const refund_item&) = default;
};

struct refund_row {
  refund_id id;
  payment_id payment;
  refund_status status = refund_status::requested;
  money amount = 0;
  std::vector<refund_item> items; ///< empty: all tickets that are not refunded yet
  std::uint32_t attempts = 0;
  timestamp next_attempt_at, created_at, updated_at;
  friend bool operator==(const refund_row&, const refund_row&) = default;
};

enum class dead_letter_kind : std::uint8_t {
  refund_refused, ///< subject: the refund
  payment_quarantined, ///< subject: the payment
  undelivered, ///< subject: the domain event's id; payload: its topic, a line feed and its payload
};
enum class dead_letter_status : std::uint8_t { open, retried, dismissed };

/// A failure after all retries that needs a person.
struct dead_letter_row {
  uuid id;
  dead_letter_kind kind{};
  uuid subject;
  dead_letter_status status = dead_letter_status::open;
  std::string detail; ///< reason, for people; no secret, no personal data
  std::string payload; ///< what a retry needs; may be empty
  timestamp created_at, updated_at;
  friend bool operator==(const dead_letter_row&, const dead_letter_row&) = default;
};

/// A customer with another priority than the rest of the event.
struct priority_row {
  customer_id customer;
  std::uint8_t priority_class = 0; ///< as in entry_row
  timestamp created_at;
  friend bool operator==(const priority_row&, const priority_row&) = default;
};

/// A customer's right to buy tickets of a hidden type (its quota) without a promo code.
struct invitation_row {
  customer_id customer; ///< unique per event
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 1; ///< total tickets, including those held or bought
  timestamp valid_until; ///< exclusive end; never: as long as the type is on sale
  timestamp told_at; ///< last notification of the customer
  friend bool operator==(const invitation_row&, const invitation_row&) = default;
};

/// A server process of an installation.
struct node_row {
  std::string id;
  std::string address; ///< host:port for other nodes; empty: not reachable
  std::uint32_t wire_version = 0; ///< of its messages: nodes with different versions do not connect
  std::uint32_t owners = 0; ///< aggregates it owns: its load
  bool is_settled =
    false; ///< connected to every other node; until then some nodes could not reach what it owned
  bool is_draining = false; ///< hands over its aggregates and takes none
  timestamp seen_at; ///< last heartbeat, by the ledger's clock
  bool serves = false; ///< serves or is about to; false: waits until nodes of another kind have left
                       ///< (domain/cluster/placement)
  std::string keys = {}; ///< fingerprint of its secrets; nodes with other secrets refuse its tokens
  friend bool operator==(const node_row&, const node_row&) = default;
};

/// A setting of the installation that can change at run time.
struct setting_row {
  std::string name; ///< as in the configuration, for example "checkout.async_percent"
  std::string value;
  timestamp updated_at;
  friend bool operator==(const setting_row&, const setting_row&) = default;
};

/// 128-bit hash of (principal, route, key) or of a body.
using digest128 = std::array<std::uint64_t, 2>;

/// The stored answer to an idempotent request, written in the transaction of its effect.
struct idempotency_row {
  digest128 key{}; ///< of (principal, route, Idempotency-Key)
  digest128 body{}; ///< of the request body
  timestamp created_at;
  std::vector<char> answer; ///< the typed reply, serialized by the owner; first byte: its schema version
  friend bool operator==(const idempotency_row&, const idempotency_row&) = default;
};

/// An applied webhook; a repeated delivery has no effect.
struct receipt_row {
  std::string gateway;
  std::string gateway_event; ///< the gateway's id of the webhook
  timestamp received_at;
  friend bool operator==(const receipt_row&, const receipt_row&) = default;
};

/// Longest name of a subject, in bytes.
inline constexpr std::size_t subject_name_max = 128;

/// A customer account of the installation. API keys contain its name.
struct tenant_row {
  tenant_id id{};
  std::string name; ///< 1 to 40 of a-z, 0-9 and hyphens; unique
  std::string subject_jwk; ///< public key (JWK) that verifies its subject tokens; empty: none
  std::string stripe_account; ///< connected account that Stripe forwards the money to; empty: it stays
  timestamp created_at;
  friend bool operator==(const tenant_row&, const tenant_row&) = default;
};

enum class api_key_scope : std::uint8_t {
  join, ///< publishable: joins, within limits
  server, ///< secret: joins for named subjects, checks access without the limits of an address
  operate, ///< secret: exchanged for an operator's token
};

struct api_key_row {
  uuid id;
  tenant_id tenant = default_tenant;
  api_key_scope scope{};
  std::string secret_hash; ///< SHA-256 of the 256-bit random secret, hex
  std::string label; ///< for people
  timestamp created_at;
  timestamp revoked_at; ///< `never`: still valid
  friend bool operator==(const api_key_row&, const api_key_row&) = default;
};

/// Actor, action and reason of a change, written with the change itself.
struct audit_row {
  uuid id; ///< time-ordered
  tenant_id tenant = default_tenant;
  uuid target; ///< the event or queue
  std::string actor; ///< "organizer:<id>", "operator:<key id>"
  std::string action; ///< for example "queue.advance"
  std::string detail; ///< a JSON object
  std::string reason; ///< as given; may be empty
  timestamp at;
  friend bool operator==(const audit_row&, const audit_row&) = default;
};

struct organizer_row {
  organizer_id id;
  tenant_id tenant = default_tenant;
  std::string email; ///< lower case
  std::string password_hash;
  timestamp created_at;
  friend bool operator==(const organizer_row&, const organizer_row&) = default;
};

struct customer_row {
  customer_id id;
  tenant_id tenant = default_tenant;
  std::string email; ///< lower case
  timestamp created_at;
  friend bool operator==(const customer_row&, const customer_row&) = default;
};

/// A blocked customer: cannot join or buy, and its purchases are refunded.
struct block_row {
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< blocks at its events only; nil: at all events of the tenant
  customer_id customer;
  std::string reason; ///< as given, for people; may be empty
  bool includes_ended = false; ///< purchases from ended sales are refunded too
  timestamp created_at;
  friend bool operator==(const block_row&, const block_row&) = default;
};

/// A pending one-time password; one per e-mail address, replaced by the next.
struct otp_row {
  std::string email;
  std::string code_hash; ///< keyed hash, hex
  timestamp expires_at;
  std::uint32_t failures = 0;
  friend bool operator==(const otp_row&, const otp_row&) = default;
};

/// Paths through the outbox, each with its own dispatcher and pace: an unavailable sink delays only its own
/// lane. Stored as bits of outbox_row::lanes.
enum class lane : std::uint8_t {
  mail = 1, ///< mail.send
  bus = 2, ///< the event bus
  notices = 4, ///< devices and webhook endpoints
};
inline constexpr std::array all_lanes{lane::mail, lane::bus, lane::notices};
constexpr std::string_view name_of(lane l) {
  return l == lane::mail ? "mail" : l == lane::bus ? "bus" : "notices";
}
constexpr std::uint8_t bit_of(lane l) { return static_cast<std::uint8_t>(l); }
inline constexpr std::uint8_t every_lane = bit_of(lane::mail) | bit_of(lane::bus) | bit_of(lane::notices);

/// A domain event to publish (I16): at least once in each of its lanes, in order per aggregate within a
/// lane.
struct outbox_row {
  uuid id; ///< stable: the same in every delivery
  std::string topic; ///< for example "queue.turn_granted"
  std::string payload; ///< a JSON object
  timestamp created_at;
  std::uint8_t lanes =
    every_lane; ///< lanes that the row passes; a lane without use for the topic still acknowledges it
  friend bool operator==(const outbox_row&, const outbox_row&) = default;
};

} // namespace fq
