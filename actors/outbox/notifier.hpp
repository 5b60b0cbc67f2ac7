// SPDX-License-Identifier: Apache-2.0
// What becomes of domain events: mail is rendered and handed to the mail port, everything is told to the log.
// A consumer of the dispatcher, detached in production because the port blocks. A row is done when its mail
// was taken; what the port cannot take now stays in the outbox, with what is behind it to the same people,
// and while the service is away with everything of the same event; what it will never take becomes a dead
// letter of its event, for those who did not get it.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/outbox/outbox_turn.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/pace.hpp"
#include "domain/base/retry.hpp"
#include "outbound/mail.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace fq {

struct notifier_services {
  environment* env = nullptr;
  mail_port* port = nullptr; ///< its own: ports belong to one thread
  region_handle region;
  std::function<void(const outbox_item&)> log; ///< of every event that is done; may be null
  std::function<void(const std::string&)> warn; ///< why mail does not leave; may be null
  mail_counts* counts = nullptr; ///< null: nobody asks
  double per_second = 0; ///< mails to one recipient each; 0: no limit
  retry_policy pauses{0, milliseconds{1'000},
                      milliseconds{30'000}}; ///< while the mail service is away; their number is not limited
  milliseconds turn{10'000}; ///< for one batch; what is left comes again. Well below outbox_answer_timeout
  milliseconds patience{10 * 60 * 1000}; ///< with one recipient who is put off while others are taken; then
                                         ///< he waits for a person, not the event
  milliseconds again_after{15'000}; ///< such a recipient is tried once more, about: full jitter, up to this
                                    ///< at first and up to twice this later
  retry_policy in_vain{
    0, milliseconds{1'000},
    milliseconds{5'000}}; ///< before a mail that was just put off by everybody asked goes on with others
};

/// A message that was given up with this many tries to some of its recipients is not kept in memory any more:
/// it begins anew.
inline constexpr std::size_t mails_in_progress_max = 1'000;
inline constexpr std::size_t mails_remembered_max = 10'000;

class notifier_state {
public:
  static inline const char* name = "notifier";
  using pointer = consumer_handle::stateful_pointer<notifier_state>;

  void init(pointer self, const notifier_services& services) {
    self_ = self;
    services_ = &services;
    pace_ = token_bucket{services.per_second, services.env->steady_now()};
  }
  consumer_handle::behavior_type behavior();

private:
  void on_batch(const consume_outbox& x);
  /// A row that is told again for the rest of its recipients has the id of the whole, and says something
  /// else.
  using mail_key = std::pair<uuid, std::size_t>; ///< of the row, and a hash of its payload
  struct put_off {
    milliseconds since{0}; ///< steady time
    milliseconds again_at{0};
    std::uint32_t tries = 0;
    bool has_stalled =
      false; ///< the service went away at him: he is asked about alone, when nobody else is due
  };
  struct unfinished {
    mail_message message; ///< some of its recipients may have it
    timestamp until; ///< it is of no use afterwards; unset: for ever
    std::map<std::size_t, put_off>
      waiting; ///< by place in `message.to`: whoever was tried and put off; passed over if answered since
    std::vector<std::size_t> undelivered; ///< places of those who are left to a person
    std::string why; ///< of the last of them
    std::vector<std::size_t> refused; ///< places of those who will never be taken
    milliseconds again_at{0}; ///< steady time: nobody is tried before
    std::uint32_t in_vain = 0; ///< tries in a row that nobody got anything by
  };

  void deliver(outbox_turn& turn, const outbox_item& item, milliseconds end);
  void bury(outbox_turn& turn, const outbox_item& item, const std::string& why);
  /// Null: what it is about has ended, and it is not sent to who has not got it.
  std::optional<mail_result> send(const outbox_item& item, milliseconds end, std::string& why);
  unfinished* begin_or_go_on(const outbox_row& row, std::string& why);
  [[nodiscard]] std::vector<std::size_t> due(const unfinished& mail, milliseconds now) const;
  void send_to(unfinished& mail, const std::vector<std::size_t>& places);
  void put_off_or_give_up(unfinished& mail, std::size_t place, const mail_answer& answer);
  void wait_for_service(unfinished& mail, const std::vector<std::size_t>& places, const mail_answer& answer);
  void hold_back(outbox_turn& turn, const outbox_item& item);
  void count(mail_result result);
  void warn(const std::string& what) const {
    if (services_->warn) services_->warn(what);
  }

  pointer self_ = nullptr;
  const notifier_services* services_ = nullptr;
  void remember(const mail_key& key);

  std::set<mail_key> sent_; ///< lately: a batch that took too long comes again before it was marked
  std::deque<mail_key> sent_in_order_;
  std::set<std::string>
    held_back_; ///< addresses with a mail of this batch that waits: another to them would overtake it
  std::map<mail_key, unfinished>
    in_progress_; ///< until everybody is answered, and those who are left to a person are kept for him
  token_bucket pace_; ///< of recipients, in steady time
  bool is_rate_used_up_ = false; ///< in this batch
  std::uint32_t failures_ = 0; ///< in a row
  milliseconds down_until_{0}; ///< steady time: the mail service is not tried before
};

/// When what a payload of topic mail.send is about ends; unset: never.
[[nodiscard]] timestamp end_of(const outbox_row& row);

/// The mail that a payload of topic mail.send asks for, or why there is none.
[[nodiscard]] std::variant<mail_message, std::string> mail_of(const outbox_row& row);

consumer_handle::behavior_type notifier(consumer_handle::stateful_pointer<notifier_state> self,
                                        const notifier_services* services);

} // namespace fq
