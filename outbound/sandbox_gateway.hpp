// SPDX-License-Identifier: Apache-2.0
// A payment gateway for development and tests: simulates an external service inside this process, with its
// own durable file. Its append-only ledger is the oracle of invariants I3 and I4. The gateway's worker calls
// the port, the io thread of the hosted page calls view() and settle(), the webhook worker calls
// next_webhooks() and mark_*().
#pragma once

#include "crypto/digest.hpp"
#include "crypto/replaceable.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/retry.hpp"
#include "outbound/gateway.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

class sandbox_database;
struct sandbox_charge;

/// Content of the hosted page.
struct sandbox_page {
  std::string reference;
  gateway_money money;
  charge_status status = charge_status::unpaid;
  std::string callback_url;
};

enum class sandbox_action { pay, decline };

enum class settle_status {
  settled, ///< done now, or a repeat of the same action
  unknown_reference, ///< 404
  settled_otherwise, ///< 409 `sandbox_settled`: the other action was first, or the charge has expired
  unavailable, ///< the file cannot be written; nothing changed
};

struct settle_result {
  settle_status status{};
  charge_status charge{}; ///< its status after the call
};

/// A webhook without acknowledgement: POST `body` with header `x-fairqueue-sandbox-signature: signature`.
struct sandbox_webhook {
  std::int64_t number = 0; ///< for mark_delivered and mark_failed
  std::string body;
  std::string signature;
  std::uint32_t attempts = 0; ///< failed deliveries so far
};

/// One row of the append-only ledger, for tests and checkers.
struct sandbox_ledger_row {
  enum class kind_type { charge, refund } kind{};
  std::string reference;
  std::string refund_id;
  gateway_money money;
  timestamp at;
};

/// The file cannot be opened or is not a sandbox file. The message names the file and the reason.
struct sandbox_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Blocking but local: every call is one SQLite transaction behind a mutex (one connection, WAL,
/// synchronous=FULL). Thread-safe. Reads whose result type has no error throw sandbox_error if the file
/// cannot be read.
class sandbox_gateway final : public gateway_port {
public:
  static constexpr std::string_view signature_header = "x-fairqueue-sandbox-signature";

  struct settings {
    std::filesystem::path file; ///< <data>/sandbox.db, created 0600 if absent
    std::string public_url; ///< prefix of authorization urls, without a trailing slash
    secret_key webhook_secret; ///< until the first `renew`
    /// Pauses between deliveries of one webhook. Retries continue until the acknowledgement; `attempts` is
    /// ignored.
    retry_policy webhook_retry{0, milliseconds{500}, milliseconds{30'000}};
  };

  /// Throws sandbox_error. `env` must outlive the gateway.
  sandbox_gateway(settings options, environment& env);
  /// The first signs webhooks; all verify them.
  void renew(const std::vector<secret_key>& webhook_secrets);
  ~sandbox_gateway() override;

  // gateway_port. Every call answers before it returns.
  [[nodiscard]] std::string_view name() const noexcept override { return "sandbox"; }
  [[nodiscard]] std::string_view signature_field() const noexcept override { return signature_header; }
  void initialize(const gateway_charge& charge, gateway_done<initialize_result> done) override;
  void verify(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void expire(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void refund(const refund_request& order, gateway_done<refund_result> done) override;
  /// The signature contains no time, so `now` is ignored.
  [[nodiscard]] webhook_result parse_webhook(std::string_view raw_body, std::string_view signature,
                                             timestamp now) const override;

  // The hosted page.
  [[nodiscard]] std::optional<sandbox_page> view(const std::string& reference);
  [[nodiscard]] settle_result settle(const std::string& reference, sandbox_action action);

  // Webhooks are delivered at least once, oldest first, also after a restart, until acknowledged. If the file
  // cannot be written, marking does nothing and the webhook is delivered again.
  /// Unacknowledged webhooks that are due at `now`, at most `limit`.
  [[nodiscard]] std::vector<sandbox_webhook> next_webhooks(timestamp now, std::size_t limit);
  /// Due time of the next unacknowledged webhook, so that the worker need not poll; nothing: none left.
  [[nodiscard]] std::optional<timestamp> next_webhook_due();
  /// Acknowledged with 2xx: never delivered again. One transaction for all.
  void mark_delivered(const std::vector<std::int64_t>& numbers);
  /// Not acknowledged: due again after an exponential back-off from `now`.
  void mark_failed(const std::vector<std::int64_t>& numbers, timestamp now);

  /// The signature of a webhook body: lower-case hex of HMAC-SHA256.
  [[nodiscard]] std::string sign(std::string_view raw_body) const;

  /// The whole append-only ledger, oldest first. Unbounded: for tests and checkers.
  [[nodiscard]] std::vector<sandbox_ledger_row> ledger();

private:
  initialize_result initialize_locked(const gateway_charge& charge, timestamp now);
  verify_result find_state(const std::string& reference);
  refund_result refund_locked(const refund_request& order, timestamp now);
  settle_result settle_locked(const std::string& reference, sandbox_action action, timestamp now);
  verify_result expire_locked(const std::string& reference, timestamp now);
  void queue_webhook(std::string_view event, const sandbox_charge& charge, const refund_request* refund,
                     timestamp now);
  template <class Result, class Work>
  Result transaction(Result on_failure, Work&& work);

  settings settings_;
  environment& env_;
  replaceable<std::vector<hmac_sha256_key>> webhook_keys_;
  // guards db_, which the page's io thread, the gateway's worker and the webhook worker use
  std::mutex mutex_;
  std::unique_ptr<sandbox_database> db_;
};

} // namespace fq
