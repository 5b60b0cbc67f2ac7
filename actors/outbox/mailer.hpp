// SPDX-License-Identifier: Apache-2.0
// Sends mail that has no ledger row: a bounded queue in which clients take turns, retries, and workers with a
// blocking port each. One instance for one-time codes and one for notices, so that notices do not delay
// codes. Workers are detached in production.
#pragma once
#include "actors/outbox/limits.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/retry.hpp"
#include "outbound/mail.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace fq {

struct mailer_services {
  environment* env = nullptr;
  std::vector<mail_worker_handle> workers; ///< at least one
  /// Failures of sending; called on the actor's thread; may be null.
  std::function<void(const std::string&)> warn;
  milliseconds keep_for{10 * 60 * 1000}; ///< max time in the queue; a code is useless afterwards
  milliseconds late_after{30'000}; ///< mail that would wait longer is refused: a person waits for a code
  std::string template_key = "otp"; ///< kind of the mail
  retry_policy pauses{0, milliseconds{2'000}, milliseconds{30'000}}; ///< between attempts; unlimited retries
};

/// INTERNAL: the retry timer.
using mailer_queue_handle = mailer_handle::extend<caf::reacts_to<timer_fired>>;

/// Waiting mail is lost with the process: a customer can request another code, and a notice's content is also
/// visible elsewhere.
class mailer_state {
public:
  static inline const char* name = "mailer";
  using pointer = mailer_queue_handle::stateful_pointer<mailer_state>;

  void init(pointer self, const mailer_services& services);
  mailer_queue_handle::behavior_type behavior();

private:
  struct job {
    std::string key;
    uuid client;
    std::shared_ptr<mail_message> message;
    milliseconds give_up_at{0}; ///< steady time
    std::uint32_t attempts = 0;
    std::uint64_t number = 0; ///< tells it from a later job with its key
  };
  struct place {
    std::uint64_t number = 0;
    uuid client;
    std::uint64_t timer = 0; ///< 0: in the queue or in flight
  };

  mail_sent on_mail(const send_mail& x);
  void on_forget(const std::string& key);
  void on_timer(std::uint64_t generation);
  void on_letter(std::size_t worker, job sent, milliseconds begin, const mail_answer& answer);
  /// Time until a mail of `client` would be sent that is queued now.
  [[nodiscard]] milliseconds delay_of(const uuid& client) const;
  [[nodiscard]] std::size_t waiting_of(const uuid& client) const;
  void queue(job j, bool is_first);
  [[nodiscard]] std::optional<job> next();
  void dispatch();
  void send(std::size_t worker, job j);
  void retry_later(job j, milliseconds pause);
  void set_timer(milliseconds pause, std::uint64_t generation);
  void warn(const std::string& what) const;

  pointer self_ = nullptr;
  const mailer_services* services_ = nullptr;
  std::map<uuid, std::deque<job>> waiting_; ///< by client, without empty ones
  std::deque<uuid> turns_; ///< the clients with waiting mail, in turn
  std::unordered_map<std::uint64_t, job> retries_; ///< by generation of their timers
  std::unordered_map<std::string, place> places_; ///< by key: all jobs, also those in flight
  std::vector<std::size_t> idle_; ///< workers; the last was used last, so that few connections are open
  std::size_t in_flight_ = 0, waiting_count_ = 0;
  std::uint64_t numbers_ = 0; ///< of jobs and timers
  std::uint64_t wake_up_ = 0; ///< generation of the timer for the end of an outage
  milliseconds attempt_{first_mail_attempt}; ///< moving average
  milliseconds down_until_{0}; ///< steady time: no attempts before; the service is down
  bool is_refusing_ = false; ///< the last mail was refused
  bool is_down_ = false; ///< the last attempt found it down: one attempt at a time
};

mailer_queue_handle::behavior_type mailer(mailer_queue_handle::stateful_pointer<mailer_state> self,
                                          const mailer_services* services);

/// `port` is used by this worker only, and outlives it.
mail_worker_handle::behavior_type mail_worker(mail_worker_handle::pointer self, mail_port* port);

} // namespace fq
