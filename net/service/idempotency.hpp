// SPDX-License-Identifier: Apache-2.0
// Idempotency-Key: its syntax, the hashes that owners store, and which keys are being worked on in this
// process. Called by the routes that create. What was answered lives with the owner of the aggregate, never
// here.
#pragma once
#include "actors/protocol/messages.hpp"
#include "net/http/http.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace fq::net {

inline constexpr std::size_t idempotency_key_max = 255;
/// Keyed requests at work at once; beyond it the answer is 503.
inline constexpr std::size_t keys_in_flight_max = 32 * 1024;

/// The key without quotes: 1 to 255 visible ASCII characters, bare or as a quoted sf-string. Nothing if
/// malformed.
[[nodiscard]] std::optional<std::string> parse_idempotency_key(std::string_view field);

/// The key of a request and its hashes. `given` false without the field; `no` is set when it is malformed or
/// repeated.
struct idempotency_header {
  idempotency_ref ref;
  std::optional<response> no;
};
[[nodiscard]] idempotency_header read_idempotency(const request& rq, const uuid& principal);

/// The same for the hidden key of a form of ours; not given if it is malformed.
[[nodiscard]] idempotency_ref idempotency_of(const request& rq, const uuid& principal, std::string_view key);

/// For joins: only the key, as the one number their row has room for; 0 without.
[[nodiscard]] std::uint64_t join_key_of(const idempotency_ref& ref);

/// The keys at work in this process. Shared by threads.
class keys_in_flight {
public:
  /// Releases its key at its end.
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

  /// Takes the key for this request into `taken`; the problem to answer with if it is taken already. Does
  /// nothing without a key.
  [[nodiscard]] std::optional<response> enter(const idempotency_ref& ref, std::string_view request_id,
                                              hold& taken);

private:
  void leave(const uuid& key);
  std::mutex lock_;
  std::unordered_set<uuid> keys_;
};

} // namespace fq::net
