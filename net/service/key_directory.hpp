// SPDX-License-Identifier: Apache-2.0
// Tenants and API keys for requests: written by the directory actor, read by every io thread. Independent
// of HTTP.
#pragma once
#include "crypto/digest.hpp"
#include "domain/model/rows.hpp"
#include "store/port/ledger.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// A valid API key.
struct api_key {
  uuid id;
  tenant_id tenant = default_tenant;
  api_key_scope scope{};
};

/// One indexed snapshot of the directory. Immutable.
class key_index {
public:
  explicit key_index(const access_directory& content);

  /// The valid key with this text (`wr_<tenant>_<secret>`), compared in constant time with every key of its
  /// tenant.
  [[nodiscard]] std::optional<api_key> find(std::string_view text) const;
  [[nodiscard]] std::optional<api_key> find(const uuid& id) const;
  /// Nothing if there is no such organizer.
  [[nodiscard]] std::optional<tenant_id> tenant_of(const organizer_id& organizer) const;
  /// Whether an organizer's token was ended before it expires: a reset password, a sign-out, an ended
  /// session.
  [[nodiscard]] bool has_ended(const organizer_id& organizer, timestamp issued_at, const uuid& session) const;
  /// Whether the customer was erased while its tokens are valid.
  [[nodiscard]] bool was_erased(const customer_id& customer) const {
    return ended_sessions_.contains(customer);
  }
  /// Empty: the tenant signs no subject tokens.
  [[nodiscard]] std::string subject_jwk_of(tenant_id tenant) const;
  /// Empty: no such tenant.
  [[nodiscard]] std::string name_of(tenant_id tenant) const;
  /// Id of a picture; empty: the tenant has set none.
  [[nodiscard]] std::string logo_of(tenant_id tenant) const;
  /// A setting of the installation; nothing if it was never changed.
  [[nodiscard]] std::optional<std::string> setting(std::string_view name) const;

private:
  struct stored_key {
    api_key key;
    std::string secret_hash; ///< SHA-256, hex
  };
  std::map<std::string, std::vector<stored_key>, std::less<>> by_tenant_name_;
  std::map<uuid, api_key> by_id_;
  std::map<organizer_id, organizer_access> organizers_;
  std::set<uuid> ended_sessions_;
  std::map<tenant_id, std::string> names_;
  std::map<tenant_id, std::string> subject_jwks_, logos_;
  std::map<std::string, std::string, std::less<>> settings_;
};

/// The current snapshot. Thread-safe.
class key_directory {
public:
  void publish(const access_directory& content);
  /// Null before the first read.
  [[nodiscard]] std::shared_ptr<const key_index> get() const;
  /// Of every request of a customer: without the lock unless there is any.
  [[nodiscard]] bool was_erased(const customer_id& customer) const {
    return any_ended_.load(std::memory_order_relaxed) && get()->was_erased(customer);
  }

private:
  std::atomic<bool> any_ended_{false}; ///< of index_
  mutable std::mutex lock_;
  std::shared_ptr<const key_index> index_;
};

} // namespace fq::net
