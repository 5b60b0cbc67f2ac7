// SPDX-License-Identifier: Apache-2.0
// Mail on its way out that no row keeps: one blocking port, and a list of what it could not take yet. One for
// one-time codes, and one for notices, which must neither take a code's place nor its time. Detached in
// production.
#pragma once
#include "actors/protocol/protocol.hpp"
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
  std::function<void(const std::string&)>
    warn; ///< why mail does not leave; called from the actor's thread; may be null
  milliseconds keep_for{10 * 60 * 1000}; ///< a code is of no use afterwards
  std::string template_key = "otp"; ///< what kind of mail it is
  bool newest_only =
    true; ///< of what is for one address: a newer code makes the older void. A notice does not
  retry_policy pauses{0, milliseconds{2'000},
                      milliseconds{30'000}}; ///< between tries; their number is not limited
};

/// Mail that waits for its next try at most (I14): beyond it the answer is that it was not accepted.
inline constexpr std::size_t waiting_mail_max = 1'000;

using mailer_worker_handle = mailer_handle::extend<caf::reacts_to<timer_fired>>; ///< INTERNAL: the timer

/// Answers `accepted` for what the port has taken and for what waits for its next try. What waits is lost
/// with the process: whoever misses a code asks for another, and what a notice says is seen elsewhere too.
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
  std::unordered_map<std::string, waiting>
    waiting_; ///< by address if the newest takes the place of others, else by id
  std::unordered_map<std::uint64_t, std::string> timers_; ///< generation to key
  std::uint64_t generation_ = 0;
  milliseconds pause_{0}; ///< asked for by the last failure
  milliseconds down_until_{0}; ///< steady time; until then nobody is tried, for nobody would be taken
};

mailer_worker_handle::behavior_type mailer(mailer_worker_handle::stateful_pointer<mailer_state> self,
                                           const mailer_services* services);

} // namespace fq
