// SPDX-License-Identifier: Apache-2.0
// What becomes of domain events: mail is rendered and handed to the mail port, everything is told to the log. A consumer of the dispatcher,
// detached in production because the port blocks. A row is done when its mail was taken; what the port cannot take now stays in the outbox,
// with everything behind it of the same event; what it will never take becomes a dead letter of its event.
#pragma once
#include "actors/measures.hpp"
#include "actors/outbox_turn.hpp"
#include "domain/environment.hpp"
#include "domain/retry.hpp"
#include "outbound/mail.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <variant>

namespace fq {

struct notifier_services {
  environment* env = nullptr;
  mail_port* port = nullptr; ///< its own: ports belong to one thread
  region_handle region;
  std::function<void(const outbox_item&)> log; ///< of every event that is done; may be null
  std::function<void(const std::string&)> warn; ///< why mail does not leave; may be null
  mail_counts* counts = nullptr; ///< null: nobody asks
  retry_policy pauses{0, milliseconds{1'000}, milliseconds{30'000}}; ///< while the mail service is away; their number is not limited
  milliseconds turn{10'000}; ///< for one batch; what is left comes again. Well below outbox_answer_timeout
  milliseconds patience{10 * 60 * 1000}; ///< with one mail that is put off while others are taken; then it waits for a person, not its event
  milliseconds again_after{15'000}; ///< such a mail is tried once more
};

/// A message that was given up with this many tries to some of its recipients is not kept in memory any more: it begins anew.
inline constexpr std::size_t mails_in_progress_max = 1'000;
inline constexpr std::size_t mails_remembered_max = 10'000;

class notifier_state {
public:
  static inline const char* name = "notifier";
  using pointer = consumer_handle::stateful_pointer<notifier_state>;

  void init(pointer self, const notifier_services& services) {
    self_ = self;
    services_ = &services;
  }
  consumer_handle::behavior_type behavior();

private:
  void on_batch(const consume_outbox& x);
  void deliver(outbox_turn& turn, const outbox_item& item, milliseconds end);
  mail_result send(const outbox_item& item, milliseconds end, std::string& why);
  void count(mail_result result);
  void warn(const std::string& what) const {
    if (services_->warn) services_->warn(what);
  }

  pointer self_ = nullptr;
  const notifier_services* services_ = nullptr;
  void remember(const uuid& id);

  std::set<uuid> sent_; ///< lately: a batch that took too long comes again before it was marked
  std::deque<uuid> sent_in_order_;
  struct unfinished {
    mail_message message; ///< some of its recipients may have it
    milliseconds since{0}; ///< steady time
    milliseconds again_at{0};
  };
  std::map<uuid, unfinished> in_progress_;
  std::uint32_t failures_ = 0; ///< in a row
  milliseconds down_until_{0}; ///< steady time: the mail service is not tried before
};

/// The mail that a payload of topic mail.send asks for, or why there is none.
[[nodiscard]] std::variant<mail_message, std::string> mail_of(const outbox_row& row);

consumer_handle::behavior_type notifier(consumer_handle::stateful_pointer<notifier_state> self, const notifier_services* services);

} // namespace fq
