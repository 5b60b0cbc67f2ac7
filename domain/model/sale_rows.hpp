// SPDX-License-Identifier: Apache-2.0
// Rows of a sale: entries, claims, payments, orders, event tickets, refunds and dead letters. Each struct is
// followed by its description.
#pragma once
#include "domain/model/event_rows.hpp"
#include "domain/model/language.hpp"
#include "domain/model/limits.hpp"
#include "domain/model/rare_text.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fq {

struct entry_row {
  queue_number number{};
  subject_key subject;
  rare_text subject_name; ///< set by a standalone queue's tenant; at most subject_name_max bytes
  std::uint64_t join_key = 0; ///< hash of the Idempotency-Key of the join, else random; 0: an older program
  timestamp joined_at, admitted_at, session_expires_at, ended_at;
  timestamp claim_by; ///< end of the session unless it has claimed; set at admission, and when its last claim
                      ///< ends without a purchase
  std::uint32_t admission_no = 0; ///< raised to revoke the session token
  std::uint32_t admission_batch = 0; ///< from 1 in each queue
  std::uint8_t priority_class = 0; ///< lower is served first
  entry_status status = entry_status::waiting;
  bool has_claimed = false; ///< has a live claim: claim_by does not apply
  std::uint8_t reclaims = 0; ///< times that its last claim ended without a purchase
  queue_number party{}; ///< of the entry that opened it, also its own; 0: none
  friend bool operator==(const entry_row&, const entry_row&) = default;
};
FQ_ROW(entry_row, "queue_entry", aggregate, row_field("queue_number", &row::number, key),
       row_field("subject", &row::subject, once), row_field("subject_name", &row::subject_name, once),
       row_field("join_key", &row::join_key, once), row_field("joined_at", &row::joined_at, once),
       row_field("admitted_at", &row::admitted_at, later),
       row_field("session_expires_at", &row::session_expires_at, later),
       row_field("ended_at", &row::ended_at, later), row_field("claim_by", &row::claim_by, later),
       row_field("admission_no", &row::admission_no, later),
       row_field("admission_batch", &row::admission_batch, later),
       row_field("priority_class", &row::priority_class), row_field("status", &row::status, later),
       row_field("has_claimed", &row::has_claimed, later), row_field("reclaims", &row::reclaims, later),
       row_field("party", &row::party))

/// What is known of all entries of a line, also of those that are not in memory or no longer in the ledger.
struct line_totals {
  queue_number last_number{}; ///< never given again
  queue_number first_kept{1}; ///< all lower numbers have ended, and no owner keeps them in memory
  std::uint64_t admitted = 0, completed = 0; ///< entries that ever were
  std::uint32_t last_batch = 0; ///< of admissions
  friend bool operator==(const line_totals&, const line_totals&) = default;
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
FQ_ROW(claim_item, "claim_item", claim, row_field("ticket_type", &row::ticket_type, once),
       row_field("quantity", &row::quantity, once), row_field("unit_price", &row::unit_price, once),
       row_field("refunded", &row::refunded), row_field("donation", &row::donation, once),
       row_field("unit_discount", &row::unit_discount, once))

struct claim_row {
  claim_id id;
  customer_id customer; ///< of a guest's: the guest until it is confirmed, then the order's customer
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
FQ_ROW(claim_row, "claim", aggregate, row_field("id", &row::id, key), row_field("customer", &row::customer),
       row_field("queue_number", &row::entry, once), row_field("status", &row::status),
       row_field("live_slot", &row::live_slot), row_field("item_count", &row::items, expected),
       row_field("amount", &row::amount, once), row_field("created_at", &row::created_at, once),
       row_field("expires_at", &row::expires_at), row_field("ended_at", &row::ended_at),
       row_field("promo", &row::promo, once))

struct payment_row {
  payment_id id;
  claim_id claim;
  customer_id customer; ///< of a guest's: the guest until money is captured, then the order's customer
  payment_status status = payment_status::initializing;
  std::string gateway; ///< "sandbox", "free"
  std::string reference; ///< chosen by this server before the gateway is called
  std::string authorization_url;
  std::string gateway_id; ///< the gateway's own name for it; may be empty
  std::string destination; ///< account at the gateway that receives the money; empty: it stays
  money amount = 0; ///< quoted
  money captured = 0; ///< captured by the gateway, tax included
  money tax = 0; ///< the part of `captured` that the gateway added to the quoted amount
  std::string other_currency; ///< ISO 4217 of `captured`, if it is not the event's; else empty
  money refunded = 0; ///< sum of succeeded refunds
  timestamp recheck_at; ///< FAILED: when the gateway is asked about it again; never: no more
  timestamp created_at, updated_at;
  friend bool operator==(const payment_row&, const payment_row&) = default;
};
FQ_ROW(payment_row, "payment", aggregate, row_field("id", &row::id, key), row_field("claim", &row::claim),
       row_field("customer", &row::customer), row_field("status", &row::status),
       row_field("gateway", &row::gateway, once), row_field("reference", &row::reference, once),
       row_field("authorization_url", &row::authorization_url), row_field("gateway_id", &row::gateway_id),
       row_field("destination", &row::destination, once), row_field("amount", &row::amount, once),
       row_field("captured", &row::captured), row_field("tax", &row::tax),
       row_field("other_currency", &row::other_currency), row_field("refunded", &row::refunded),
       row_field("recheck_at", &row::recheck_at), row_field("created_at", &row::created_at, once),
       row_field("updated_at", &row::updated_at))

/// Recipient of an order, as the customer wrote it, and the address that receives its mail. Personal data: in
/// no log, and in no domain event except mails.
struct contact {
  std::string first_name, last_name, email, phone; ///< the phone may be empty
  /// Address of the customer's account; empty if there is none, or in orders of older programs.
  std::string account_email = {};
  fq::language language = fq::language::en; ///< of the mails about the order
  std::vector<answer_row> answers = {}; ///< to the event's questions
  friend bool operator==(const contact&, const contact&) = default;

  /// Mail goes only to the address that the customer has confirmed by signing in.
  [[nodiscard]] const std::string& mail_address() const {
    return account_email.empty() ? email : account_email;
  }
};
FQ_ROW(contact, "contact", part, row_field("first_name", &row::first_name, once),
       row_field("last_name", &row::last_name, once), row_field("email", &row::email, once),
       row_field("phone", &row::phone, once), row_field("account_email", &row::account_email, once),
       row_field("language", &row::language, once), row_field("answers", &row::answers, once))

/// A purchase as the customer sees it: one claim and the amounts charged for it. The items are the claim's.
struct order_row {
  order_id id;
  claim_id claim;
  customer_id customer; ///< who gets the tickets
  customer_id guest = {}; ///< who placed it without a proof of that address; nil: the customer
  order_status status = order_status::pending;
  fq::contact contact;
  std::string promo_code; ///< as it was at that time; empty: none
  money subtotal = 0, discount = 0, donations = 0, platform_fee = 0, processing_fee = 0, total = 0;
  std::string success_url, cancel_url; ///< redirect targets for the customer; may be empty
  std::string failure; ///< a stable code: why it FAILED; else empty
  timestamp payment_link_at; ///< due time of the mail with the payment page; never: not wanted, or sent
  timestamp created_at, updated_at;
  friend bool operator==(const order_row&, const order_row&) = default;

  /// Whether `who` may see and cancel it.
  [[nodiscard]] bool is_of(const customer_id& who) const {
    return who == customer || (who == guest && !guest.is_nil());
  }
};
FQ_ROW(order_row, "orders", aggregate, row_field("id", &row::id, key), row_field("claim", &row::claim),
       row_field("customer", &row::customer, once), row_field("guest", &row::guest, once),
       row_field("status", &row::status), row_part(&row::contact),
       row_field("promo_code", &row::promo_code, once), row_field("subtotal", &row::subtotal, once),
       row_field("discount", &row::discount, once), row_field("donations", &row::donations, once),
       row_field("platform_fee", &row::platform_fee, once),
       row_field("processing_fee", &row::processing_fee, once), row_field("total", &row::total, once),
       row_field("success_url", &row::success_url, once), row_field("cancel_url", &row::cancel_url, once),
       row_field("failure", &row::failure), row_field("payment_link_at", &row::payment_link_at),
       row_field("created_at", &row::created_at, once), row_field("updated_at", &row::updated_at))

/// One unit of a confirmed claim: what lets its holder in.
struct event_ticket_row {
  event_ticket_id id;
  claim_id claim;
  std::uint32_t ticket_type = 0; ///< ordinal
  customer_id holder; ///< the claim's customer, until a transfer; a refund goes to the claim's customer
  event_ticket_status status = event_ticket_status::issued;
  std::uint32_t generation =
    1; ///< of its codes (crypto/event_ticket_code): a transfer raises it, and sale::tell_holders
  std::uint32_t seat = 0; ///< number in the event's plan + 1; 0: none
  timestamp created_at, updated_at;
  friend bool operator==(const event_ticket_row&, const event_ticket_row&) = default;
};
FQ_ROW(event_ticket_row, "event_ticket", aggregate, row_field("id", &row::id, key),
       row_field("claim", &row::claim, once), row_field("ticket_type", &row::ticket_type, once),
       row_field("holder", &row::holder), row_field("status", &row::status),
       row_field("generation", &row::generation), row_field("seat", &row::seat, once),
       row_field("created_at", &row::created_at, once), row_field("updated_at", &row::updated_at))

/// An offer of an event ticket to another person; once accepted, a part of the ticket's history.
struct transfer_row {
  transfer_id id;
  event_ticket_id ticket;
  customer_id giver, receiver;
  std::string giver_email, receiver_email; ///< for mails about it; both empty once it has ended
  language giver_language = language::en, receiver_language = language::en; ///< of the accounts, when offered
  transfer_status status = transfer_status::offered;
  timestamp created_at, expires_at, ended_at;
  friend bool operator==(const transfer_row&, const transfer_row&) = default;
};
FQ_ROW(transfer_row, "event_ticket_transfer", aggregate, row_field("id", &row::id, key),
       row_field("ticket", &row::ticket, once), row_field("giver", &row::giver, once),
       row_field("receiver", &row::receiver, once), row_field("giver_email", &row::giver_email),
       row_field("receiver_email", &row::receiver_email), row_field("status", &row::status),
       row_field("created_at", &row::created_at, once), row_field("expires_at", &row::expires_at, once),
       row_field("ended_at", &row::ended_at), row_field("giver_language", &row::giver_language, once),
       row_field("receiver_language", &row::receiver_language, once))

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
  std::vector<event_ticket_id> tickets; ///< of `items`; empty: all that are left, or chosen when it succeeds
  std::uint32_t attempts = 0;
  timestamp next_attempt_at, created_at, updated_at;
  friend bool operator==(const refund_row&, const refund_row&) = default;
};
FQ_ROW(refund_row, "refund", aggregate, row_field("id", &row::id, key),
       row_field("payment", &row::payment, once), row_field("status", &row::status),
       row_field("amount", &row::amount, once), row_field("items", &row::items, once),
       row_field("tickets", &row::tickets, once), row_field("attempts", &row::attempts),
       row_field("next_attempt_at", &row::next_attempt_at), row_field("created_at", &row::created_at, once),
       row_field("updated_at", &row::updated_at))

enum class dead_letter_kind : std::uint8_t {
  refund_refused, ///< subject: the refund
  payment_quarantined, ///< subject: the payment
  undelivered, ///< subject: the domain event's id; payload: its topic, a line feed and its payload
  payment_unknown, ///< subject: a payment whose row is lost; payload: text_of(unknown_payment)
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
FQ_ROW(dead_letter_row, "dead_letter", aggregate, row_field("id", &row::id, key),
       row_field("kind", &row::kind, once), row_field("subject", &row::subject, once),
       row_field("status", &row::status), row_field("detail", &row::detail, once),
       row_field("payload", &row::payload, once), row_field("created_at", &row::created_at, once),
       row_field("updated_at", &row::updated_at))

} // namespace fq
