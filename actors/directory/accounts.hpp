// SPDX-License-Identifier: Apache-2.0
// Organizers, customers, one-time codes, tenants and their API keys. Argon2id and mail run in separate
// workers. Codes are stored as keyed hashes and never logged.
#pragma once
#include "actors/base/customer_book.hpp"
#include "actors/directory/limits.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/storage/owner.hpp"
#include "crypto/challenge_desk.hpp"
#include "crypto/customer_id.hpp"
#include "domain/base/guesses.hpp"
#include "domain/base/recent_map.hpp"
#include "outbound/mail.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace fq {

/// The limits of accounts; tests make them small.
struct accounts_bounds {
  std::size_t codes = otps_max;
  std::size_t keys_per_tenant = api_keys_per_tenant_max;
  std::size_t blocks_per_owner = blocks_per_owner_max;
  std::uint32_t password_calls = password_calls_max;
  std::size_t codes_per_address = otps_per_address_max;
  std::size_t sessions = organizer_sessions_max; ///< per organizer, and as many ended ones
  std::size_t erased = erased_customers_max;
};

struct accounts_services {
  environment* env = nullptr;
  ledger_workers ledgers;
  password_worker_handle passwords;
  mailer_handle mailer;
  secret_key otp_key; ///< key of the codes' hashes
  milliseconds otp_life{10 * 60 * 1000};
  std::uint32_t otp_failures_max = 5;
  bool has_cluster = false;
  challenge_kind code_challenge = challenge_kind::none; ///< of a request for a code
  accounts_bounds bounds = {};
  /// How mails of the default tenant look, to which the customers belong; null: as configured. Called on the
  /// actor's thread.
  std::function<mail_style()> style = nullptr;
  /// Written by accounts.
  std::shared_ptr<customer_book> customers = std::make_shared<customer_book>();
};

class accounts_state {
public:
  static inline const char* name = "accounts";
  using pointer = accounts_handle::stateful_pointer<accounts_state>;

  void init(pointer self, const accounts_services& services);
  accounts_handle::behavior_type behavior();

private:
  void on_acquired(const aggregate_acquired& answer);
  caf::result<person_reply> on_log_in(const log_in& x);
  caf::result<ack_reply> on_request_otp(const request_otp& x);
  caf::result<challenge_reply> on_open_challenge(const open_code_challenge& x);
  caf::result<ack_reply> on_mail_challenge(const mail_challenge& x);
  challenge_desk& challenges();
  [[nodiscard]] bool may_request_code(const request_otp& x, const uuid& client);
  caf::result<person_reply> on_verify_otp(const verify_otp& x);
  caf::result<person_reply> on_add_organizer(const add_organizer& x);
  caf::result<ack_reply> on_add_tenant(const add_tenant& x);
  caf::result<ack_reply> on_set_logo(const set_tenant_logo& x);
  caf::result<tenants_reply> on_list_tenants();
  caf::result<api_key_reply> on_issue_key(const issue_api_key& x);
  caf::result<ack_reply> on_revoke_key(const revoke_api_key& x);
  caf::result<customers_reply> on_find_customers(const find_customers& x);
  caf::result<customer_reply> on_find_customer(const find_customer& x);
  caf::result<ack_reply> on_erase_customer(const erase_customer& x);
  void erase(const erase_customer& x, caf::response_promise promise);
  caf::result<ack_reply> on_change_setting(const change_setting& x);
  caf::result<ack_reply> on_record_deed(const record_deed& x);
  caf::result<customers_reply> on_block(const block_customers& x);
  caf::result<ack_reply> on_unblock(const unblock_customer& x);
  [[nodiscard]] std::size_t blocks_of(tenant_id tenant, const organizer_id& first,
                                      const organizer_id& last) const;
  void note_blocks(changes& out);
  caf::result<blocks_reply> on_find_blocks(const find_blocks& x);
  void record(const principal& by, std::string_view action, const audit_note& note, uuid target,
              changes& out);

  // -- organizers' sign-ins (accounts_sign_in.cpp)
  caf::result<organizer_sessions_reply> on_list_sessions(const list_organizer_sessions& x);
  caf::result<ack_reply> on_end_session(const end_organizer_session& x);
  caf::result<ack_reply> on_sign_out(const sign_organizer_out& x);
  [[nodiscard]] bool has_room_for_password(bool is_known) const;
  void logged_in(caf::response_promise promise, const log_in& x);
  /// Ids of an organizer's sessions that have ended or not, oldest first.
  [[nodiscard]] std::vector<uuid> sessions_of(const organizer_id& organizer, bool has_ended) const;
  void drop_session(const uuid& id, changes& out);
  void drop_expired_sessions(const organizer_id& of, changes& out);
  void end_session(const uuid& id, changes& out);
  void end_all_sessions(organizer_row& row, changes& out);

  // -- one-time codes (accounts_sign_in.cpp)
  [[nodiscard]] std::string hash_of(const std::string& email, const std::string& handle,
                                    const std::string& code) const;
  /// Key of a client at an address; `client` nil: of all clients without a mark there.
  [[nodiscard]] uuid client_key(const std::string& email, const uuid& client) const;
  /// Key of the client that asks for a code; tells whether it has a mark (has_mark).
  [[nodiscard]] uuid client_of(const request_otp& x) const;
  [[nodiscard]] uuid turn_of(const request_otp& x, bool is_known) const;
  /// Time until this client may ask for another code; 0: now, and the request counts.
  [[nodiscard]] milliseconds pause_of(const uuid& client, const uuid& strangers);
  void make_room(const std::string& email, changes& out);
  void remember(const otp_row& row);
  void keep(otp_row row, changes& out);
  void drop(const std::string& handle_hash, changes& out);
  void note_wrong_guess(const otp_row& row);
  /// The customer's id, or the id that the first sign-in with this address will give: a keyed hash of it.
  [[nodiscard]] customer_id id_of(const std::string& email) const;
  /// Creates the customer if unknown. Only a sign-in calls it.
  customer_id customer_of(const std::string& email, const maybe<language>& in, changes& out);
  void tell_of(const customer_row& row, changes& out);

  pointer self_ = nullptr;
  const accounts_services* services_ = nullptr;
  global_owner<pointer> core_;
  [[nodiscard]] customer_book& customers() const { return *services_->customers; }
  std::unordered_map<std::string, organizer_row> organizers_; ///< by e-mail address
  std::map<uuid, organizer_session_row> sessions_; ///< ids are ordered by time
  std::unordered_map<std::string, otp_row> otps_; ///< by hash of the handle
  std::multimap<timestamp, std::string> otp_ends_; ///< the same hashes
  std::unordered_map<std::string, std::vector<std::string>>
    otps_of_; ///< by address: its hashes, oldest first
  // In memory only: a restart forgets them. By client_key.
  recent_map<uuid, guess_count> guesses_{clients_in_memory_max};
  recent_map<uuid, timestamp> mails_{clients_in_memory_max}; ///< to addresses, for strangers: see next_mail
  recent_map<uuid, bool> known_desks_{known_desks_max}; ///< organizers' clients that have signed in
  std::map<std::string, tenant_row> tenants_; ///< by name
  std::map<uuid, api_key_row> api_keys_;
  std::map<std::tuple<tenant_id, organizer_id, customer_id>, block_row> blocks_;
  std::uint32_t password_calls_ = 0; ///< in flight
  std::optional<challenge_desk> challenges_; ///< of requests for codes; none: not needed yet
};

accounts_handle::behavior_type accounts(accounts_handle::stateful_pointer<accounts_state> self,
                                        const accounts_services* services);

} // namespace fq
