// SPDX-License-Identifier: Apache-2.0
// Accounts: people, block lists, settings, tenants and API keys; and its two blocking helpers, the password
// worker and the mailer.
#pragma once
#include "actors/protocol/shared_messages.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>
#include <string>
#include <vector>

namespace fq {

struct mail_answer; ///< outbound/mail.hpp
struct mail_message; ///< outbound/mail.hpp

/// To accounts: the ids of these addresses, in the same order. An address without an account has the id that
/// its first sign-in will get.
struct find_customers {
  tenant_id tenant = default_tenant;
  std::vector<std::string> emails; ///< lower case, validated
};
FQ_INSPECT(find_customers, x.tenant, x.emails)

/// To accounts: adds to the block list of an organizer, or for an operator of the whole tenant. Ids as in
/// find_customers, so a block applies from the first sign-in on.
struct block_customers {
  principal by;
  audit_note note;
  std::vector<std::string> emails; ///< lower case, validated
  bool includes_ended = false; ///< also refunds their orders at sales that have ended
};
FQ_INSPECT(block_customers, x.by, x.note, x.emails, x.includes_ended)

struct unblock_customer {
  principal by;
  audit_note note;
  customer_id customer;
};
FQ_INSPECT(unblock_customer, x.by, x.note, x.customer)

/// Ordered by customer.
struct find_blocks {
  principal by;
  customer_id after; ///< cursor; nil: from the first
  std::uint32_t limit = 50;
};
FQ_INSPECT(find_blocks, x.by, x.after, x.limit)

struct blocks_reply {
  refusal no;
  std::vector<block_row> blocks = {}; ///< at most `limit`
  bool more = false;
};
FQ_INSPECT(blocks_reply, x.no, x.blocks, x.more)

/// To accounts: changes a setting of the installation; audited.
struct change_setting {
  principal by;
  setting_row setting;
  audit_note note;
};
FQ_INSPECT(change_setting, x.by, x.setting, x.note)

/// To accounts: writes an audit row for an action on an object without an owner. Answered after commit; the
/// caller acts afterwards.
struct record_deed {
  principal by;
  std::string action;
  uuid target;
  audit_note note;
};
FQ_INSPECT(record_deed, x.by, x.action, x.target, x.note)

/// From the control socket. If the tenant exists, `replace` sets those of the following that are not empty;
/// "none" empties one of the last three.
struct add_tenant {
  std::string name;
  std::string subject_jwk;
  bool replace = false;
  std::string stripe_account = {};
  std::string paystack_subaccount = {};
  std::string payment_metadata = {}; ///< lines "key=value"
  std::string mail_name = {}, mail_sender = {}, mail_colour = {};
};
FQ_INSPECT(add_tenant, x.name, x.subject_jwk, x.replace, x.stripe_account, x.paystack_subaccount,
           x.payment_metadata, x.mail_name, x.mail_sender, x.mail_colour)

/// A manager sets the logo of its tenant; empty: none.
struct set_tenant_logo {
  principal by;
  audit_note note;
  std::string picture; ///< id of a stored picture
};
FQ_INSPECT(set_tenant_logo, x.by, x.note, x.picture)

struct list_tenants {};
FQ_INSPECT_EMPTY(list_tenants)

struct tenants_reply {
  refusal no;
  std::vector<tenant_row> tenants;
  std::vector<api_key_row> api_keys; ///< without hashes
};
FQ_INSPECT(tenants_reply, x.no, x.tenants, x.api_keys)

struct issue_api_key {
  std::string tenant; ///< tenant name
  api_key_scope scope{};
  std::string label;
};
FQ_INSPECT(issue_api_key, x.tenant, x.scope, x.label)

/// The only copy of the key itself: the ledger stores a hash.
struct api_key_reply {
  refusal no;
  uuid id{};
  std::string key{};
};
FQ_INSPECT(api_key_reply, x.no, x.id, x.key)

struct revoke_api_key {
  uuid id;
};
FQ_INSPECT(revoke_api_key, x.id)

struct log_in {
  std::string email; ///< lower case
  std::string password;
  uuid client = {}; ///< its network, for reserved capacity
  std::string agent = {}; ///< its User-Agent
  milliseconds lifetime{24 * 60 * 60 * 1000}; ///< of the token that it gets
};
FQ_INSPECT(log_in, x.email, x.password, x.client, x.agent, x.lifetime)

/// Mails a code. The caller chose the handle and gives it to the client only. rate_limited (`first`: seconds)
/// for an address or client with too many requests or wrong guesses; unavailable (`first`: seconds) if the
/// mail would be late.
struct request_otp {
  std::string email; ///< lower case, validated
  uuid client = {}; ///< its network; nil: none is known
  std::string handle; ///< unpredictable
  std::string replaces = {}; ///< handle of an earlier request of this client, which ends; empty: none
  uuid mark = {}; ///< id of the client's browser mark for this address (net/service/browser_mark); nil: none
  fq::language language = fq::language::en; ///< of the mail
  solved_challenge solved = {};
  bool may_work = true; ///< false: a page without a script, which gets a few codes without a challenge
};
FQ_INSPECT(request_otp, x.email, x.client, x.handle, x.replaces, x.mark, x.language, x.solved, x.may_work)

/// To accounts: requests the challenge of a request for a code.
struct open_code_challenge {
  uuid client; ///< key of its address
  challenge_way way = challenge_way::work;
};
FQ_INSPECT(open_code_challenge, x.client, x.way)

/// To accounts: mails the link to a page where this challenge counts as solved.
struct mail_challenge {
  std::string email; ///< lower case, validated
  uuid client; ///< key of its address
  std::string link, event; ///< the latter is a name
  fq::language language = fq::language::en;
};
FQ_INSPECT(mail_challenge, x.email, x.client, x.link, x.event, x.language)

struct verify_otp {
  std::string email;
  std::string code;
  std::string handle; ///< of the request
  maybe<fq::language> language = {}; ///< of the customer from now on; none: as before
};
FQ_INSPECT(verify_otp, x.email, x.code, x.handle, x.language)

/// To accounts: the sign-ins of an organizer that have not ended, oldest first.
struct list_organizer_sessions {
  organizer_id organizer;
};
FQ_INSPECT(list_organizer_sessions, x.organizer)

struct organizer_sessions_reply {
  refusal no;
  std::vector<organizer_session_row> sessions = {};
};
FQ_INSPECT(organizer_sessions_reply, x.no, x.sessions)

struct end_organizer_session {
  organizer_id organizer;
  uuid session;
};
FQ_INSPECT(end_organizer_session, x.organizer, x.session)

/// From the control socket: ends all sign-ins of an organizer, and with `remove` the account.
struct sign_organizer_out {
  std::string email; ///< lower case
  bool remove = false;
};
FQ_INSPECT(sign_organizer_out, x.email, x.remove)

/// To accounts: a customer by id or, if that is nil, by address.
struct find_customer {
  customer_id customer;
  std::string email = {}; ///< lower case
};
FQ_INSPECT(find_customer, x.customer, x.email)

struct customer_reply {
  refusal no;
  customer_id customer{}; ///< not_found: nil, or a customer that was erased
  std::string email{};
  timestamp created_at{};
  fq::language language = fq::language::en;
};
FQ_INSPECT(customer_reply, x.no, x.customer, x.email, x.created_at, x.language)

/// To accounts: the customer's tokens and the address end at once; prune() of the ledger works off the rest.
/// claim_live or payment_open while a purchase is open. Done before: no error.
struct erase_customer {
  customer_id customer;
  audit_note note = {}; ///< without personal data
  milliseconds lifetime{24 * 60 * 60 * 1000}; ///< of the customer's tokens
  bool by_operator = false;
  std::string email =
    {}; ///< an operator's: of a customer who may never have signed in, only bought as a guest
};
FQ_INSPECT(erase_customer, x.customer, x.note, x.lifetime, x.by_operator, x.email)

/// From the control socket or the demo set-up. If the address exists, `replace` sets the new password.
struct add_organizer {
  std::string email;
  std::string password;
  bool replace = false;
  std::string tenant = "default"; ///< tenant name
};
FQ_INSPECT(add_organizer, x.email, x.password, x.replace, x.tenant)

/// The person that logged in, was verified or was added.
struct person_reply {
  refusal no;
  uuid person{};
  uuid session{}; ///< of an organizer's sign-in
  timestamp not_before{}; ///< of an organizer: the token must not be issued earlier
  bool had_mark = false; ///< of a customer: the code was asked for with a browser mark
};
FQ_INSPECT(person_reply, x.no, x.person, x.session, x.not_before, x.had_mark)

/// From accounts to the password worker (argon2id takes about 0.1 s of CPU). Empty `stored`: unknown address;
/// takes the same time and answers false.
struct check_password {
  std::string stored;
  std::string password;
};
FQ_INSPECT(check_password, x.stored, x.password)

struct password_checked {
  bool matches = false;
};
FQ_INSPECT(password_checked, x.matches)

struct hash_new_password {
  std::string password;
};
FQ_INSPECT(hash_new_password, x.password)

struct password_hashed {
  std::string stored; ///< empty: hashing failed
};
FQ_INSPECT(password_hashed, x.stored)

struct send_mail {
  std::string to, subject, body;
  std::string html = {};
  std::string key = {}; ///< for forget_mail, and a later mail with it replaces this one; empty: none
  uuid client = {}; ///< who caused it: clients take turns, and each has a share; nil: no share
  std::string from_address = {}, from_name = {}; ///< empty: as configured
};
FQ_INSPECT(send_mail, x.to, x.subject, x.body, x.html, x.key, x.client, x.from_address, x.from_name)

/// To the mailer: a mail that has become useless is not sent, if it still waits.
struct forget_mail {
  std::string key;
};
FQ_INSPECT(forget_mail, x.key)

/// An erased customer's: deletes the messages to it that were written to the folder of mail.
struct erase_mail {
  std::string address;
};
FQ_INSPECT(erase_mail, x.address)

/// The mailer's answer, before the mail is sent.
struct mail_sent {
  bool accepted = false; ///< false: it would be late, or too much waits
  milliseconds retry_after{0}; ///< if it is not accepted
};
FQ_INSPECT(mail_sent, x.accepted, x.retry_after)

/// From the mailer to one of its workers.
struct send_letter {
  std::shared_ptr<const mail_message> message;
};

struct letter_sent {
  std::shared_ptr<const mail_answer> answer;
};

/// Organizers, customers, one-time passwords.
using accounts_handle =
  caf::typed_actor<caf::replies_to<log_in>::with<person_reply>,
                   caf::replies_to<request_otp>::with<ack_reply>, ///< after commit; the mail may still wait
                   caf::replies_to<open_code_challenge>::with<challenge_reply>,
                   caf::replies_to<mail_challenge>::with<ack_reply>, ///< the mail may still wait
                   caf::replies_to<verify_otp>::with<person_reply>, ///< after commit
                   caf::replies_to<add_organizer>::with<person_reply>, ///< after commit
                   caf::replies_to<add_tenant>::with<ack_reply>, ///< after commit
                   caf::replies_to<list_tenants>::with<tenants_reply>,
                   caf::replies_to<issue_api_key>::with<api_key_reply>, ///< after commit
                   caf::replies_to<revoke_api_key>::with<ack_reply>, ///< after commit
                   caf::replies_to<find_customers>::with<customers_reply>,
                   caf::replies_to<change_setting>::with<ack_reply>, ///< after commit
                   caf::replies_to<record_deed>::with<ack_reply>, ///< after commit
                   caf::replies_to<set_tenant_logo>::with<ack_reply>, ///< after commit
                   caf::replies_to<block_customers>::with<customers_reply>, ///< after commit; directories
                                                                            ///< poll the list
                   caf::replies_to<unblock_customer>::with<ack_reply>, ///< after commit
                   caf::replies_to<find_blocks>::with<blocks_reply>,
                   caf::replies_to<list_organizer_sessions>::with<organizer_sessions_reply>,
                   caf::replies_to<end_organizer_session>::with<ack_reply>, ///< after commit
                   caf::replies_to<sign_organizer_out>::with<ack_reply>, ///< after commit
                   caf::replies_to<find_customer>::with<customer_reply>,
                   caf::replies_to<erase_customer>::with<ack_reply>, ///< after commit
                   caf::reacts_to<cluster_changed>, ///< from the cluster
                   caf::reacts_to<batch_settled>, ///< INTERNAL
                   caf::reacts_to<aggregate_acquired>, ///< INTERNAL
                   caf::reacts_to<lease_lost>, ///< INTERNAL
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Hashes and checks passwords on its own thread, one at a time: a flood of logins uses at most one core.
using password_worker_handle = caf::typed_actor<caf::replies_to<check_password>::with<password_checked>,
                                                caf::replies_to<hash_new_password>::with<password_hashed>>;

/// Queues mail and spreads it over its workers.
using mailer_handle =
  caf::typed_actor<caf::replies_to<send_mail>::with<mail_sent>, caf::reacts_to<forget_mail>>;

/// Sends one mail at a time by a port of its own, on its own thread.
using mail_worker_handle = caf::typed_actor<caf::replies_to<send_letter>::with<letter_sent>>;

/// Deletes files of mail on its own thread.
using mail_eraser_handle = caf::typed_actor<caf::reacts_to<erase_mail>>;

} // namespace fq

// These never leave the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::send_letter)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::letter_sent)
