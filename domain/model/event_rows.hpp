// SPDX-License-Identifier: Apache-2.0
// Rows of an event: its settings, ticket types, promo codes, priorities and invitations. Each struct is
// followed by its description.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/description.hpp"
#include "domain/model/questions.hpp"
#include "domain/model/states.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Money in minor units (kobo, cents) of the event's currency. Never a floating-point number.
using money = std::int64_t;

enum class admission_policy : std::uint8_t { batch, capacity, rate, open, operated };
/// As the API and the public log spell it.
[[nodiscard]] std::string_view name_of(admission_policy policy);

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
  /// From the end of the session's last claim without a purchase; the session ends without another claim by
  /// then. 0: the session ends at once.
  milliseconds reclaim_window{60 * 1000};
  std::uint32_t reclaims_max = 3; ///< reclaim windows per session; then the session ends
  milliseconds ticket_ttl{0}; ///< of a waiting entry, from joining or opening; 0: until the sale ends
  std::uint32_t capacity = 0; ///< max entries in line, including AWAY; 0: unlimited
  milliseconds presence_timeout{0}; ///< time without poll or connection until AWAY; 0: never AWAY
  milliseconds away_grace{5 * 60 * 1000}; ///< time from AWAY to EXPIRED
  std::uint32_t locks_per_session = 0; ///< names that a session may lock (session_lock_row); 0: none
  friend bool operator==(const queue_settings&, const queue_settings&) = default;
};

/// A setting in the object `queue`.
constexpr setting_rule in_queue(const char* name, std::int64_t low, std::int64_t high,
                                json_form form = json_form::plain, const char* queue_name = nullptr) {
  return {name, low, high, form, "queue", queue_name};
}
FQ_ROW(queue_settings, "queue_settings", part,
       row_field("policy", &row::policy, always, in_queue("policy", 0, 0, plain, "mode")),
       row_field("concurrency", &row::concurrency, always,
                 in_queue("concurrency", 1, 10'000'000, null_is_zero, "concurrency")),
       row_field("rate_per_minute", &row::rate_per_minute, always,
                 in_queue("rate_per_minute", 1, 10'000'000, null_is_zero, "rate_per_minute")),
       row_field("batch_size", &row::batch_size, always, in_queue("batch_size", 1, 10'000)),
       row_field("admission_interval_ms", &row::admission_interval, always,
                 in_queue("admission_interval_ms", 50, 3'600'000, in_milliseconds)),
       row_field("over_admission_percent", &row::over_admission_percent, always,
                 in_queue("over_admission_factor", 100, 1'000, hundredths)),
       row_field("session_ttl_ms", &row::session_ttl, always,
                 in_queue("session_ttl_seconds", 1, 86'400, in_seconds, "session_ttl_seconds")),
       row_field("claim_window_ms", &row::claim_window, always,
                 in_queue("claim_window_seconds", 1, 86'400, in_seconds)),
       row_field("reclaim_window_ms", &row::reclaim_window, always,
                 in_queue("reclaim_window_seconds", 0, 86'400, in_seconds)),
       row_field("reclaims_max", &row::reclaims_max, always, in_queue("reclaims_max", 0, 100)),
       row_field("ticket_ttl_ms", &row::ticket_ttl, always,
                 in_queue("ticket_ttl_seconds", 0, 604'800, in_seconds, "ticket_ttl_seconds")),
       row_field("capacity", &row::capacity, always,
                 in_queue("capacity", 1, 10'000'000, null_is_zero, "capacity")),
       row_field("presence_timeout_ms", &row::presence_timeout, always,
                 in_queue("presence_timeout_seconds", 0, 86'400, in_seconds, "presence_timeout_seconds")),
       row_field("away_grace_ms", &row::away_grace, always,
                 in_queue("away_grace_seconds", 1, 86'400, in_seconds, "away_grace_seconds")),
       row_field("locks_per_session", &row::locks_per_session, always,
                 in_queue(nullptr, 0, 20, plain, "locks_per_session")))

/// The order of those who come before the opening. Stored in logs: never renumber, only append.
enum class draw_kind : std::uint8_t { none, at_opening };
/// The public randomness of a draw. Stored in logs, as above.
enum class beacon_kind : std::uint8_t { none, drand, announced };

/// Who comes before the opening. Fixed once the lobby is open.
struct lobby_settings {
  timestamp opens_at; ///< before event_row::queue_opens_at; never: no lobby
  draw_kind draw = draw_kind::none;
  std::uint32_t party_max = 6; ///< people who draw one lot; 1: no parties
  beacon_kind beacon = beacon_kind::none;
  std::string chain_hash = {}; ///< drand: of the chain, 64 lower-case hex digits
  std::uint64_t round = 0; ///< drand: due some minutes after the opening
  std::string announced = {}; ///< announced: what the value will be, for people
  friend bool operator==(const lobby_settings&, const lobby_settings&) = default;
};
FQ_ROW(lobby_settings, "lobby_settings", part,
       row_field("lobby_opens_at", &row::opens_at, always,
                 setting("lobby_opens_at", 0, 0, null_is_never, "", "lobby_opens_at")),
       row_field("draw", &row::draw, always, setting("draw", 0, 0, plain, "", "draw")),
       row_field("party_max", &row::party_max, always, setting("party_max", 1, 20, plain, "", "party_max")),
       row_field("beacon", &row::beacon, always, setting("kind", 0, 0, plain, "beacon", "beacon")),
       row_field("beacon_chain_hash", &row::chain_hash, always,
                 setting("chain_hash", 0, 64, null_is_empty, "beacon", "beacon_chain_hash")),
       row_field("beacon_round", &row::round, always,
                 setting("round", 1, 1'000'000'000'000, null_is_zero, "beacon", "beacon_round")),
       row_field("beacon_announced", &row::announced, always,
                 setting("announced", 0, 500, null_is_empty, "beacon", "beacon_announced")))

/// Kind of an aggregate with a queue. A standalone queue is an event that sells nothing and never ends
/// automatically. Its line, sessions and decisions are the same; an origin serves the admitted.
enum class event_kind : std::uint8_t { sale, queue };

/// What people want to know of an event. No rule of the sale depends on it.
struct event_facts {
  timestamp starts_at, ends_at, doors_at; ///< never: not given
  std::string time_zone; ///< IANA name, of the venue; empty: UTC
  std::string venue_name, venue_address;
  std::int32_t latitude = no_coordinate, longitude = no_coordinate; ///< millionths of a degree
  std::string description; ///< CommonMark
  std::string picture = {}; ///< id of a stored picture (store/port/picture_store.hpp); empty: none
  std::string ticket_terms = {}; ///< printed on PDFs of tickets
  friend bool operator==(const event_facts&, const event_facts&) = default;
};
FQ_ROW(event_facts, "event_facts", part,
       row_field("starts_at", &row::starts_at, always, setting("starts_at", 0, 0, null_is_never)),
       row_field("ends_at", &row::ends_at, always, setting("ends_at", 0, 0, null_is_never)),
       row_field("doors_at", &row::doors_at, always, setting("doors_at", 0, 0, null_is_never)),
       row_field("time_zone", &row::time_zone, always, setting("time_zone", 0, 64, null_is_empty)),
       row_field("venue_name", &row::venue_name, always, setting("name", 0, 200, null_is_empty, "venue")),
       row_field("venue_address", &row::venue_address, always,
                 setting("address", 0, 500, null_is_empty, "venue")),
       row_field("latitude", &row::latitude, always, setting("latitude", -90, 90, degrees, "venue")),
       row_field("longitude", &row::longitude, always, setting("longitude", -180, 180, degrees, "venue")),
       row_field("description", &row::description, always, setting("description", 0, 10'000, lines)),
       row_field("picture", &row::picture, always, setting("picture", 0, 64, shown)),
       row_field("ticket_terms", &row::ticket_terms, always, setting("ticket_terms", 0, 1'000, lines)))

/// What an event's tickets are like. All can change after the sale, too.
struct event_ticket_settings {
  bool rotating_codes = false; ///< codes are valid for 30 s, so no PDF has one
  std::uint32_t transfers_max = 1; ///< how often a ticket may get another holder; 0: never
  std::uint32_t key_number =
    0; ///< of its codes' keys (crypto/event_ticket_code): a higher one voids all codes
  friend bool operator==(const event_ticket_settings&, const event_ticket_settings&) = default;
};
FQ_ROW(event_ticket_settings, "event_ticket_settings", part,
       row_field("rotating_codes", &row::rotating_codes, always, setting("rotating_codes")),
       row_field("transfers_max", &row::transfers_max, always, setting("transfers_max", 0, 100)),
       row_field("key_number", &row::key_number))

/// What a new entry must solve before it joins.
enum class challenge_kind : std::uint8_t { none, proof_of_work, turnstile, hcaptcha };

/// The list after the event is sold out: units that come back go to the first of the line.
struct waiting_list_settings {
  bool enabled = false;
  milliseconds claim_window{30 * 60 * 1000}; ///< instead of queue_settings::claim_window
  std::int32_t quiet_from = -1, quiet_until = -1; ///< minutes of the day at the venue; see quiet_hours
  timestamp began_at = never; ///< never: it has not begun, or the line is empty and units are free
  friend bool operator==(const waiting_list_settings&, const waiting_list_settings&) = default;
};
FQ_ROW(waiting_list_settings, "waiting_list_settings", part,
       row_field("waiting_list", &row::enabled, always, setting("enabled", 0, 0, plain, "waiting_list")),
       row_field("waiting_list_claim_window_ms", &row::claim_window, always,
                 setting("claim_window_seconds", 1, 604'800, in_seconds, "waiting_list")),
       row_field("waiting_list_quiet_from", &row::quiet_from, always,
                 setting("quiet_from_minute", 0, 1'439, null_is_minus_one, "waiting_list")),
       row_field("waiting_list_quiet_until", &row::quiet_until, always,
                 setting("quiet_until_minute", 0, 1'439, null_is_minus_one, "waiting_list")),
       row_field("waiting_list_began_at", &row::began_at, always,
                 setting("began_at", 0, 0, shown, "waiting_list")))

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
  bool guests = false; ///< people may buy without a sign-in
  std::int32_t async_percent = async_inherited; ///< percentage of customers with asynchronous checkout
  event_facts facts;
  event_ticket_settings event_tickets;
  waiting_list_settings waiting_list = {};
  std::vector<question> questions = {}; ///< as they are asked
  std::uint32_t questions_numbered = 0; ///< the highest id that one of them ever had: none comes again
  challenge_kind challenge = challenge_kind::none; ///< of a new entry
  lobby_settings lobby = {};
  timestamp created_at, updated_at;
  friend bool operator==(const event_row&, const event_row&) = default;
};
FQ_ROW(
  event_row, "event", installation, row_field("id", &row::id, key),
  row_field("aggregate", &row::aggregate, key), row_field("kind", &row::kind),
  row_field("tenant", &row::tenant), row_field("organizer", &row::organizer),
  row_field("external_id", &row::external_id),
  row_field("message", &row::message, always, setting("message", 0, 500, plain, "", "message")),
  row_field("name", &row::name, always, setting("name", 1, 200, plain, "", "name")),
  row_field("currency", &row::currency), row_field("status", &row::status),
  row_field("queue_opens_at", &row::queue_opens_at, always,
            setting("queue_opens_at", 0, 0, plain, "", "opens_at")),
  row_field("sale_start", &row::sale_start, always, setting("sale_start")),
  row_field("sale_end", &row::sale_end, always, setting("sale_end")), row_part(&row::queue),
  row_field("claim_ttl_ms", &row::claim_ttl, always, setting("claim_ttl_seconds", 1, 86'400, in_seconds)),
  row_field("claims_per_customer", &row::claims_per_customer, always, setting("claims_per_customer", 1, 8)),
  row_field("guests", &row::guests, always, setting("guests")),
  row_field("async_percent", &row::async_percent, always,
            setting("async_percent", 0, 100, null_is_minus_one, "checkout")),
  row_part(&row::facts), row_part(&row::event_tickets), row_part(&row::waiting_list),
  row_field("questions", &row::questions, always, setting("questions", 0, 0, shown_alone)),
  row_field("questions_numbered", &row::questions_numbered),
  row_field("challenge", &row::challenge, always, setting("challenge", 0, 0, plain, "", "challenge")),
  row_part(&row::lobby), row_field("created_at", &row::created_at), row_field("updated_at", &row::updated_at))

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
  std::string description = {}; ///< for people
  friend bool operator==(const ticket_type_row&, const ticket_type_row&) = default;
};
FQ_ROW(ticket_type_row, "ticket_type", aggregate, row_field("ordinal", &row::ordinal, key),
       row_field("id", &row::id, once), row_field("name", &row::name, always, setting("name", 1, 200)),
       row_field("price", &row::price, always, setting("price", 0, 1'000'000'000'000)),
       row_field("total", &row::total, always, setting("total", 1, 10'000'000)),
       row_field("held", &row::held, counted), row_field("sold", &row::sold, counted),
       row_field("max_per_order", &row::max_per_order, always, setting("max_per_order", 1, 100)),
       row_field("on_sale", &row::on_sale, always, setting("on_sale")),
       row_field("hidden", &row::hidden, always, setting("hidden")),
       row_field("sale_from", &row::sale_from, always, setting("sale_from", 0, 0, null_is_never)),
       row_field("sale_until", &row::sale_until, always, setting("sale_until", 0, 0, null_is_never)),
       row_field("description", &row::description, always, setting("description", 0, 500, null_is_empty)))

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
FQ_ROW(discount, "discount", part, row_field("kind", &row::kind), row_field("value", &row::value),
       row_field("ticket_types", &row::ticket_types))

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
FQ_ROW(promo_code_row, "promo_code", aggregate, row_field("ordinal", &row::ordinal, key),
       row_field("id", &row::id, once), row_field("code", &row::code), row_part(&row::reduction),
       row_field("valid_from", &row::valid_from), row_field("valid_until", &row::valid_until),
       row_field("uses_max", &row::uses_max), row_field("uses_per_customer", &row::uses_per_customer),
       row_field("uses", &row::uses, counted), row_field("is_active", &row::is_active),
       row_field("created_at", &row::created_at, once), row_field("updated_at", &row::updated_at))

/// A customer with another priority than the rest of the event.
struct priority_row {
  customer_id customer;
  std::uint8_t priority_class = 0; ///< as in entry_row
  timestamp created_at;
  friend bool operator==(const priority_row&, const priority_row&) = default;
};
FQ_ROW(priority_row, "event_priority", aggregate, row_field("customer", &row::customer, key),
       row_field("priority_class", &row::priority_class), row_field("created_at", &row::created_at))

/// A customer's right to buy tickets of a hidden type (its quota) without a promo code.
struct invitation_row {
  customer_id customer; ///< unique per event
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 1; ///< total tickets, including those held or bought
  timestamp valid_until; ///< exclusive end; never: as long as the type is on sale
  timestamp told_at; ///< last notification of the customer
  friend bool operator==(const invitation_row&, const invitation_row&) = default;
};
FQ_ROW(invitation_row, "event_invitation", aggregate, row_field("customer", &row::customer, key),
       row_field("ticket_type", &row::ticket_type), row_field("quantity", &row::quantity),
       row_field("valid_until", &row::valid_until), row_field("told_at", &row::told_at))

/// A promo code that a customer gave when joining, to buy the hidden types that it opens.
struct entry_access_row {
  queue_number number{};
  std::uint32_t promo_code = 0; ///< ordinal
  friend bool operator==(const entry_access_row&, const entry_access_row&) = default;
};
FQ_ROW(entry_access_row, "entry_access", aggregate, row_field("queue_number", &row::number, key),
       row_field("promo_code", &row::promo_code, key))

/// A name that a session of a standalone queue has locked, for origins that keep their own seats. It lives as
/// long as the session.
struct session_lock_row {
  std::string name; ///< 1 to 64 of A-Z, a-z, 0-9, '-', '_', '.' and '~'
  queue_number number{}; ///< of the session's entry
  timestamp locked_at;
  friend bool operator==(const session_lock_row&, const session_lock_row&) = default;
};
FQ_ROW(session_lock_row, "session_lock", aggregate, row_field("name", &row::name, key),
       row_field("queue_number", &row::number, once), row_field("locked_at", &row::locked_at, once))

/// The lobby of an event from its opening on. A draw's order follows from seed, root, beacon and the entries.
struct lobby_row {
  timestamp opened_at, closed_at, drawn_at; ///< never: not yet
  std::string seed; ///< 64 hex digits; secret before the draw
  std::string seed_commitment; ///< its SHA-256, as hex digits
  queue_number last{}; ///< at the closing: entrants have this or a lower number
  std::uint64_t entrants = 0; ///< at the closing: entries in line
  std::string root; ///< of the entrants, 64 hex digits; empty: not known yet, or nothing is drawn
  beacon_kind beacon = beacon_kind::none; ///< of the draw; none also if an operator ended the wait
  std::string value = {}; ///< of the beacon: drand's signature as hex digits, or the announced text
  friend bool operator==(const lobby_row&, const lobby_row&) = default;
};
FQ_ROW(lobby_row, "lobby_draw", aggregate, row_field("opened_at", &row::opened_at),
       row_field("closed_at", &row::closed_at), row_field("drawn_at", &row::drawn_at),
       row_field("seed", &row::seed), row_field("seed_commitment", &row::seed_commitment),
       row_field("last_number", &row::last), row_field("entrants", &row::entrants),
       row_field("root", &row::root), row_field("beacon", &row::beacon),
       row_field("beacon_value", &row::value))

} // namespace fq
