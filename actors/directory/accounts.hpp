// SPDX-License-Identifier: Apache-2.0
// Organizers, customers, one-time codes, tenants and their API keys. Argon2id and mail run in separate
// workers. Codes are stored as keyed hashes and never logged.
#pragma once
#include "actors/directory/limits.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/storage/owner.hpp"
#include "crypto/digest.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <tuple>
#include <unordered_map>

namespace fq {

/// The limits of accounts; tests make them small.
struct accounts_bounds {
  std::size_t codes = otps_max;
  std::size_t keys_per_tenant = api_keys_per_tenant_max;
  std::size_t blocks_per_owner = blocks_per_owner_max;
  std::uint32_t password_calls = password_calls_max;
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
  accounts_bounds bounds = {};
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
  caf::result<person_reply> on_verify_otp(const verify_otp& x);
  caf::result<person_reply> on_add_organizer(const add_organizer& x);
  caf::result<ack_reply> on_add_tenant(const add_tenant& x);
  caf::result<tenants_reply> on_list_tenants();
  caf::result<api_key_reply> on_issue_key(const issue_api_key& x);
  caf::result<ack_reply> on_revoke_key(const revoke_api_key& x);
  caf::result<customers_reply> on_find_customers(const find_customers& x);
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
  [[nodiscard]] std::string hash_of(const std::string& email, const std::string& code) const;
  void keep(otp_row row, changes& out);
  void drop(const std::string& email, changes& out);
  /// Creates the customer if unknown; `is_verified` then tells whether the customer proved ownership of the
  /// address.
  customer_id customer_of(const std::string& email, bool is_verified, changes& out);

  pointer self_ = nullptr;
  const accounts_services* services_ = nullptr;
  global_owner<pointer> core_;
  std::unordered_map<std::string, organizer_row> organizers_; ///< by e-mail address, like the next two maps
  std::unordered_map<std::string, customer_row> customers_;
  std::unordered_map<std::string, otp_row> otps_;
  std::multimap<timestamp, std::string> otp_ends_;
  std::map<std::string, tenant_row> tenants_; ///< by name
  std::map<uuid, api_key_row> api_keys_;
  std::map<std::tuple<tenant_id, organizer_id, customer_id>, block_row> blocks_;
  std::uint32_t password_calls_ = 0; ///< in flight
};

accounts_handle::behavior_type accounts(accounts_handle::stateful_pointer<accounts_state> self,
                                        const accounts_services* services);

} // namespace fq
