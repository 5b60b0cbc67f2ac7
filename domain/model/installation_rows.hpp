// SPDX-License-Identifier: Apache-2.0
// Rows of the installation (nodes, settings, tenants, accounts) and rows that batches append. Each struct is
// followed by its description.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/description.hpp"
#include "domain/model/language.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

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
  std::uint64_t incarnation = 0; ///< of its process: a later process of the node has a greater one
  friend bool operator==(const node_row&, const node_row&) = default;
};
FQ_ROW(node_row, "node", installation, row_field("id", &row::id, key), row_field("address", &row::address),
       row_field("wire_version", &row::wire_version), row_field("owners", &row::owners),
       row_field("is_settled", &row::is_settled), row_field("is_draining", &row::is_draining),
       row_field("seen_at", &row::seen_at, by_clock), row_field("serves", &row::serves),
       row_field("keys", &row::keys), row_field("incarnation", &row::incarnation))

/// A setting of the installation that can change at run time.
struct setting_row {
  std::string name; ///< as in the configuration, for example "checkout.async_percent"
  std::string value;
  timestamp updated_at;
  friend bool operator==(const setting_row&, const setting_row&) = default;
};
FQ_ROW(setting_row, "setting", installation, row_field("name", &row::name, key),
       row_field("value", &row::value), row_field("updated_at", &row::updated_at))

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
FQ_ROW(idempotency_row, "idempotency", batch, row_field("key", &row::key, once),
       row_field("body", &row::body, once), row_field("created_at", &row::created_at, once),
       row_field("answer", &row::answer, once))

/// An applied webhook; a repeated delivery has no effect.
struct receipt_row {
  std::string gateway;
  std::string gateway_event; ///< the gateway's id of the webhook
  timestamp received_at;
  friend bool operator==(const receipt_row&, const receipt_row&) = default;
};
FQ_ROW(receipt_row, "receipt", batch, row_field("gateway", &row::gateway, once),
       row_field("gateway_event", &row::gateway_event, once),
       row_field("received_at", &row::received_at, once))

/// A customer account of the installation. API keys contain its name.
struct tenant_row {
  tenant_id id{};
  std::string name; ///< 1 to 40 of a-z, 0-9 and hyphens; unique
  std::string subject_jwk; ///< public key (JWK) that verifies its subject tokens; empty: none
  std::string stripe_account; ///< connected account that Stripe forwards the money to; empty: it stays
  timestamp created_at;
  std::string paystack_subaccount{}; ///< subaccount that Paystack forwards the money to; empty: it stays
  std::string payment_metadata{}; ///< lines "key=value", sent with its payments to a gateway
  std::string mail_name{}, mail_sender{}; ///< From of its mails; empty: as configured
  std::string mail_colour{}; ///< "#2c1d6b"; empty: as configured
  std::string logo{}; ///< id of a picture; empty: as configured
  friend bool operator==(const tenant_row&, const tenant_row&) = default;
};
FQ_ROW(tenant_row, "tenant", installation, row_field("id", &row::id, key), row_field("name", &row::name),
       row_field("subject_jwk", &row::subject_jwk), row_field("stripe_account", &row::stripe_account),
       row_field("created_at", &row::created_at), row_field("paystack_subaccount", &row::paystack_subaccount),
       row_field("payment_metadata", &row::payment_metadata), row_field("mail_name", &row::mail_name),
       row_field("mail_sender", &row::mail_sender), row_field("mail_colour", &row::mail_colour),
       row_field("logo", &row::logo))

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
FQ_ROW(api_key_row, "api_key", installation, row_field("id", &row::id, key),
       row_field("tenant", &row::tenant), row_field("scope", &row::scope),
       row_field("secret_hash", &row::secret_hash), row_field("label", &row::label),
       row_field("created_at", &row::created_at), row_field("revoked_at", &row::revoked_at))

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
FQ_ROW(audit_row, "audit", batch, row_field("id", &row::id, once), row_field("tenant", &row::tenant, once),
       row_field("target", &row::target, once), row_field("actor", &row::actor, once),
       row_field("action", &row::action, once), row_field("detail", &row::detail, once),
       row_field("reason", &row::reason, once), row_field("at", &row::at, once))

struct organizer_row {
  organizer_id id;
  tenant_id tenant = default_tenant;
  std::string email; ///< lower case
  std::string password_hash;
  timestamp created_at;
  timestamp tokens_not_before = never; ///< older tokens are refused; `never`: none was
  friend bool operator==(const organizer_row&, const organizer_row&) = default;
};
FQ_ROW(organizer_row, "organizer", aggregate, row_field("id", &row::id, key),
       row_field("tenant", &row::tenant), row_field("email", &row::email),
       row_field("password_hash", &row::password_hash), row_field("created_at", &row::created_at),
       row_field("tokens_not_before", &row::tokens_not_before))

/// A sign-in of an organizer, by the id in its token.
struct organizer_session_row {
  uuid id;
  organizer_id organizer;
  std::string agent; ///< the client's User-Agent, shortened; for people
  timestamp created_at;
  timestamp expires_at;
  timestamp ended_at; ///< `never`: not ended before it expires
  friend bool operator==(const organizer_session_row&, const organizer_session_row&) = default;
};
FQ_ROW(organizer_session_row, "organizer_session", aggregate, row_field("id", &row::id, key),
       row_field("organizer", &row::organizer), row_field("agent", &row::agent),
       row_field("created_at", &row::created_at), row_field("expires_at", &row::expires_at),
       row_field("ended_at", &row::ended_at))

struct customer_row {
  customer_id id;
  tenant_id tenant = default_tenant;
  std::string email; ///< lower case; `erased_address` after an erasure
  timestamp created_at;
  /// Names that prune() still has to erase elsewhere (erasure::names); empty: nothing is left.
  std::string to_erase = {};
  fq::language language = fq::language::en; ///< of its mails: that of the last sign-in
  friend bool operator==(const customer_row&, const customer_row&) = default;
};
FQ_ROW(customer_row, "customer", aggregate, row_field("id", &row::id, key), row_field("tenant", &row::tenant),
       row_field("email", &row::email), row_field("created_at", &row::created_at),
       row_field("to_erase", &row::to_erase), row_field("language", &row::language))

/// What stands in place of an erased address: unique, and not an address, so that it signs in no one.
inline std::string erased_address(const customer_id& id) { return "erased:" + to_string(id); }

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
FQ_ROW(block_row, "blocked_customer", installation, row_field("tenant", &row::tenant, key),
       row_field("organizer", &row::organizer, key), row_field("customer", &row::customer, key),
       row_field("reason", &row::reason), row_field("includes_ended", &row::includes_ended),
       row_field("created_at", &row::created_at))

/// A pending one-time code. It belongs to the request whose handle the client keeps, so that others can
/// neither guess at it nor replace it.
struct otp_row {
  std::string handle_hash; ///< SHA-256, hex
  std::string email;
  uuid client; ///< keyed hash of the mail address and the network address that asked
  std::string code_hash; ///< keyed hash, hex
  timestamp expires_at;
  std::uint32_t failures = 0;
  friend bool operator==(const otp_row&, const otp_row&) = default;
};
FQ_ROW(otp_row, "code_request", aggregate, row_field("handle_hash", &row::handle_hash, key),
       row_field("email", &row::email), row_field("client", &row::client),
       row_field("code_hash", &row::code_hash), row_field("expires_at", &row::expires_at),
       row_field("failures", &row::failures))

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
FQ_ROW(outbox_row, "outbox", batch, row_field("id", &row::id, once), row_field("topic", &row::topic, once),
       row_field("payload", &row::payload, once), row_field("created_at", &row::created_at, once),
       row_field("lanes", &row::lanes, once))

} // namespace fq
