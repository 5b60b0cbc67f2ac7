// SPDX-License-Identifier: Apache-2.0
// Idempotency-Key: its syntax, the hashes that owners store, and the keys in use in this process. Called by
// the routes that create. Idempotency records are stored by the owner of the aggregate, not here.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "net/http/http.hpp"
#include "net/service/limits.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace fq::net {

/// The key without quotes: 1 to 255 visible ASCII characters, bare or as a quoted sf-string. Nothing if
/// malformed.
[[nodiscard]] std::optional<std::string> parse_idempotency_key(std::string_view field);

/// A request's key and its hashes. `ref.given` is false without the field; `no` is set if it is malformed
/// or repeated.
struct idempotency_header {
  idempotency_ref ref;
  std::optional<response> no;
};
[[nodiscard]] idempotency_header read_idempotency(const request& rq, const uuid& principal);

/// Same for the hidden key of our own forms; not given if malformed.
[[nodiscard]] idempotency_ref idempotency_of(const request& rq, const uuid& principal, std::string_view key);

/// For joins: the key as one number, because their row has room for no more; 0 without a key.
[[nodiscard]] std::uint64_t join_key_of(const idempotency_ref& ref);

/// The keys in use in this process. Thread-safe.
class keys_in_flight {
public:
  /// Releases its key in its destructor.
  class hold {
  public:
    hold() = default;
    hold(hold&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), key_(other.key_) {}
    hold& operator=(hold&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(key_, other.key_);
      return *this;
    }
    ~hold() {
      if (owner_) owner_->leave(key_);
    }

  private:
    friend class keys_in_flight;
    hold(keys_in_flight* owner, const uuid& key) : owner_(owner), key_(key) {}
    keys_in_flight* owner_ = nullptr;
    uuid key_;
  };

  /// Reserves the request's key in `taken`. Returns the problem to answer with if it is already in use.
  /// Does nothing without a key.
  [[nodiscard]] std::optional<response> enter(const idempotency_ref& ref, std::string_view request_id,
                                              hold& taken);

private:
  void leave(const uuid& key);
  std::mutex lock_;
  std::unordered_set<uuid> keys_;
};

} // namespace fq::net
