// SPDX-License-Identifier: Apache-2.0
// The ways out for notices and who brings them: one courier a channel. Part of the composition.
#pragma once
#include "actors/outbox/courier.hpp"
#include "actors/outbox/mailer.hpp"
#include "app/push_channels.hpp"
#include "app/root.hpp"
#include "config/options.hpp"
#include "crypto/keys.hpp"
#include "outbound/channel.hpp"

#include <caf/actor_system.hpp>

#include <functional>
#include <map>
#include <memory>

namespace fq {

/// What couriers need for as long as they run.
class couriers {
public:
  /// Reads key files. Throws std::runtime_error with a message for the operator. All must outlive it.
  couriers(const config::options& options, environment& env, const key_store& keys, notice_counts& counts);

  /// A channel that is off has one too: it ends what was meant for it. `mailer` tells contacts of endpoints
  /// that were turned off, and sends no one-time codes.
  void spawn(caf::actor_system& system, root_children& children, const ledger_workers& ledgers,
             const mailer_handle& mailer, std::function<bool()> may_take);
  /// Lets go of handles, before the system ends. The ports stay until everybody is gone.
  void clear();

private:
  const config::options& options_;
  environment& env_;
  secret_key webhook_key_;
  notice_counts& counts_;
  push_channels push_;
  std::unique_ptr<channel_port> webhooks_;
  contact_limit contacts_; ///< used by the courier of webhooks only
  std::map<channel, courier_services> services_;
};

} // namespace fq
