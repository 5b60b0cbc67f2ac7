// SPDX-License-Identifier: Apache-2.0
// The ledger of an installation: a Postgres database that nodes share, one connection per object. Opened by
// app/ and called by one detached worker, a writer or a reader; members must not be called concurrently. The
// server may be unavailable at any time: calls then throw ledger_unavailable at once, and a later call
// reconnects.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fq {

struct postgres_ledger_options {
  std::string url; ///< postgres://…, passed to libpq unchanged
  postgres_patience patience{};
  std::string node = {}; ///< whose process this is; empty: a tool
  std::function<milliseconds()> steady_now; ///< monotonic clock for the pauses between connection attempts
};

class postgres_ledger final : public ledger {
public:
  /// Does not connect. Throws std::invalid_argument for an invalid URL.
  explicit postgres_ledger(const postgres_ledger_options& options);
  ~postgres_ledger() override;

  /// Connects and migrates now instead of at the first call. Throws ledger_unavailable, or schema_refused
  /// for a database that this program cannot use. The other calls report both as ledger_unavailable.
  void connect();

  FQ_LEDGER_OVERRIDES;

  /// Reason of the last `conflict` in Postgres' words, for logs: names constraints, never values.
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }

private:
  struct session;
  /// Back-off between connection attempts; grows with each failure.
  struct pause {
    milliseconds until{0};
    milliseconds length{0};
    std::string reason;
  };

  session& connected();
  template <class Work>
  auto in_session(Work work);

  postgres_url url_;
  postgres_patience patience_;
  std::function<milliseconds()> steady_now_;
  std::unique_ptr<session> session_;
  pause pause_;
  std::string last_refusal_;
};

} // namespace fq
