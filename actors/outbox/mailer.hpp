// SPDX-License-Identifier: Apache-2.0
// Sends mail that has no ledger row: one blocking port, and a queue of mail to retry. One instance for
// one-time codes and one for notices, so that notices do not delay codes. Detached in production.
#pragma once
#include "actors/outbox/limits.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/retry.hpp"
#include "outbound/mail.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <string>
#include <unordered_map>

namespace fq {

struct mailer_services {
  environment* env = nullptr;
  mail_port* port = nullptr;
  /// Failures of sending; called on the actor's thread; may be null.
  std::function<void(const std::string&)> warn;
  milliseconds keep_for{10 * 60 * 1000}; ///< max time in the queue; a code is useless afterwards
  std::string template_key = "otp"; ///< kind of the mail
  /// A newer mail to an address replaces the waiting one: right for codes, wrong for notices.
  bool newest_only = true;
  retry_policy pauses{0, milliseconds{2'000}, milliseconds{30'000}}; ///< between attempts; unlimited retries
};

/// INTERNAL: the retry timer.
using mailer_worker_handle = mailer_handle::extend<caf::reacts_to<timer_fired>>;

/// Answers `accepted` for mail sent and for mail that waits for a retry. Waiting mail is lost with the
/// process: a customer can request another code, and a notice's content is also visible elsewhere.
class mailer_state {
public:
  static inline const char* name = "mailer";
  using pointer = mailer_worker_handle::stateful_pointer<mailer_state>;

  void init(pointer self, const mailer_services& services);
  mailer_worker_handle::behavior_type behavior();

private:
  struct waiting {
    std::string key;
    mail_message message;
    milliseconds give_up_at{0}; ///< steady time
    std::uint32_t attempts = 0;
    std::uint64_t generation = 0; ///< of its timer
  };

  mail_sent on_mail(const send_mail& x);
  void on_timer(std::uint64_t generation);
  mail_result attempt(waiting& w);
  void wait(waiting w);
  [[nodiscard]] mail_answer send(const mail_message& message);
  void warn(const std::string& what) const;

  pointer self_ = nullptr;
  const mailer_services* services_ = nullptr;
  std::unordered_map<std::string, waiting> waiting_; ///< by address with newest_only, else by id
  std::unordered_map<std::uint64_t, std::string> timers_; ///< generation to key
  std::uint64_t generation_ = 0;
  milliseconds pause_{0}; ///< set by the last failure
  milliseconds down_until_{0}; ///< steady time: no attempts before; the service is down
};

mailer_worker_handle::behavior_type mailer(mailer_worker_handle::stateful_pointer<mailer_state> self,
                                           const mailer_services* services);

} // namespace fq
