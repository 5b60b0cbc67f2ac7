// SPDX-License-Identifier: Apache-2.0
// The channels for notices and their couriers, one courier per channel. Part of the composition.
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

/// Owns what the couriers use while they run.
class couriers {
public:
  /// Reads key files. Throws std::runtime_error with a message for the operator. All arguments must outlive
  /// this.
  couriers(const config::options& options, environment& env, const key_store& keys, notice_counts& counts);

  /// Starts a courier for every channel, also for one that is off: it ends the deliveries of that channel.
  /// `mailer` sends mail to the contacts of disabled endpoints; it sends no one-time codes.
  void spawn(caf::actor_system& system, root_children& children, const ledger_workers& ledgers,
             const mailer_handle& mailer, std::function<bool()> may_take);
  /// Releases the actor handles, before the actor system ends. The ports stay until all actors have ended.
  void clear();

private:
  const config::options& options_;
  environment& env_;
  secret_key webhook_key_;
  notice_counts& counts_;
  push_channels push_;
  std::unique_ptr<channel_port> webhooks_;
  contact_limit contacts_; ///< used only by the courier of webhooks
  std::map<channel, courier_services> services_;
};

} // namespace fq
