// SPDX-License-Identifier: Apache-2.0
// Mail consumer: renders rows of the lane `mail` and sends them; logs every domain event. Detached in
// production because the port blocks.
// - all recipients accepted: the row is done
// - a recipient deferred: the row stays in the outbox, with later rows to the same recipients
// - mail service unavailable: the row stays, with all later rows of its event
// - rejected: the row becomes a dead letter of its event, for the undelivered recipients
#pragma once
#include "actors/base/measures.hpp"
#include "actors/outbox/limits.hpp"
#include "actors/outbox/outbox_turn.hpp"
#include "actors/protocol/outbox_messages.hpp"
#include "actors/protocol/region_messages.hpp"
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

/// Where a customer reads mail, and in which language.
struct mailbox {
  std::string address; ///< empty: nowhere, the customer was erased
  std::string language = "en"; ///< tag
};

struct mail_consumer_services {
  environment* env = nullptr;
  mail_port* port = nullptr; ///< not shared: a port belongs to one thread
  region_handle region;
  /// Files of the mail with this payload, made as late as possible; null: none. May block, and may throw.
  std::function<std::vector<mail_attachment>(const std::string& payload)> attach = nullptr;
  /// Finds the mailbox of a customer; none: not now. May block. Null: no customer has one.
  std::function<std::optional<mailbox>(const customer_id&)> mailbox_of = nullptr;
  std::function<void(const outbox_item&)> log; ///< called per completed domain event; may be null
  std::function<void(const std::string&)> warn; ///< failures of sending; may be null
  mail_counts* counts = nullptr; ///< may be null
  task_history* history = nullptr; ///< receives finished mails; may be null
  double per_second = 0; ///< recipients per second; 0: no limit
  retry_policy pauses{/// Back-off while the mail service is unavailable; unlimited retries.
                      0, milliseconds{1'000}, milliseconds{30'000}};
  /// Time per batch; the remaining rows are sent again. Well below outbox_answer_timeout.
  milliseconds turn{10'000};
  /// Max time for a deferred recipient while others are accepted; then a dead letter.
  milliseconds patience{10 * 60 * 1000};
  /// Retry delay of a deferred recipient: full jitter up to this at first, later up to twice this.
  milliseconds again_after{15'000};
  /// Pause of a mail after an attempt in which all recipients were deferred.
  retry_policy no_progress_retry{0, milliseconds{1'000}, milliseconds{5'000}};
  /// How the tenant's mails look; null: as configured for all.
  std::function<mail_style(tenant_id)> style_of = nullptr;
  /// Address that opens the tickets of a guest's order; null: no mail has one.
  std::function<std::string(const order_id&)> link_of = nullptr;
  std::string tickets_page = {}; ///< address of a customer's tickets, for mails without all of them
};

class mail_consumer_state {
public:
  static inline const char* name = "notifier";
  using pointer = consumer_handle::stateful_pointer<mail_consumer_state>;

  void init(pointer self, const mail_consumer_services& services) {
    self_ = self;
    services_ = &services;
    pace_ = token_bucket{services.per_second, services.env->steady_now()};
  }
  consumer_handle::behavior_type behavior();

private:
  void on_batch(const consume_outbox& x);
  /// A row reduced to its remaining recipients keeps the row's id but has another payload.
  using mail_key = std::pair<uuid, std::size_t>; ///< row id, and hash of its payload
  struct deferral {
    milliseconds since{0}; ///< steady time
    milliseconds again_at{0};
    std::uint32_t tries = 0;
    /// The service became unavailable during its attempt: retried alone, when no other recipient is due.
    bool has_stalled = false;
  };
  struct partly_sent {
    mail_message message; ///< partly sent
    timestamp until; ///< useless afterwards; unset: never
    /// Deferred recipients by place in `message.to`; ignored once answered.
    std::map<std::size_t, deferral> waiting;
    std::vector<std::size_t> undelivered; ///< places of recipients for the dead letter
    std::string why; ///< of the last undelivered recipient
    std::vector<std::size_t> refused; ///< places of rejected recipients
    milliseconds again_at{0}; ///< steady time: no attempts before
    std::uint32_t tries_without_progress = 0; ///< consecutive attempts without any progress
  };

  void deliver(outbox_turn& turn, const outbox_item& item, milliseconds end);
  void make_dead_letter(outbox_turn& turn, const outbox_item& item, const std::string& why);
  /// Null: the subject of the mail has ended; the remaining recipients get nothing.
  std::optional<mail_result> send(const outbox_item& item, milliseconds end, std::string& why);
  struct fitting_files {
    std::vector<mail_attachment> files;
    bool is_all = true;
  };
  fitting_files files_of(const outbox_row& row);
  /// Whether a mail can begin: it can be one to a customer whose address only accounts know.
  enum class addressed : std::uint8_t { yes, later, to_nobody };
  addressed address(outbox_row& row) const;
  partly_sent* begin_or_continue(const outbox_row& row, const mail_key& key, std::string& why);
  [[nodiscard]] std::vector<std::size_t> due(const partly_sent& mail, milliseconds now) const;
  void send_to(partly_sent& mail, const std::vector<std::size_t>& places);
  void retry_or_give_up(partly_sent& mail, std::size_t place, const mail_answer& answer);
  void wait_for_service(partly_sent& mail, const std::vector<std::size_t>& places, const mail_answer& answer);
  void hold_back(outbox_turn& turn, const outbox_item& item);
  void count(mail_result result, const outbox_row& row);
  void warn(const std::string& what) const {
    if (services_->warn) services_->warn(what);
  }

  pointer self_ = nullptr;
  const mail_consumer_services* services_ = nullptr;
  void remember(const mail_key& key);

  std::set<mail_key> sent_; ///< recently sent: a late batch is repeated before its rows were marked
  std::deque<mail_key> sent_in_order_;
  /// Addresses with a deferred mail in this batch; later mail to them must not overtake it.
  std::set<std::string> held_back_;
  /// Until all recipients are answered and the dead letter, if any, is committed.
  std::map<mail_key, partly_sent> in_progress_;
  token_bucket pace_; ///< of recipients, in steady time
  bool is_rate_used_up_ = false; ///< in this batch
  std::uint32_t failures_ = 0; ///< consecutive failures
  milliseconds down_until_{0}; ///< steady time: end of the mail service's back-off
};

/// End of the subject of a mail.send payload; unset: never.
[[nodiscard]] timestamp end_of(const outbox_row& row);

/// The mail of a mail.send payload, or the reason why it is malformed. `tickets_page`: where tickets are that
/// are not attached, unless they are at the link. `has_files`: all files that fit a mail are attached.
[[nodiscard]] std::variant<mail_message, std::string> mail_of(
  const outbox_row& row, const std::function<mail_style(tenant_id)>& style_of = nullptr,
  const std::function<std::string(const order_id&)>& link_of = nullptr, const std::string& tickets_page = {},
  bool has_files = true);

consumer_handle::behavior_type mail_consumer(consumer_handle::stateful_pointer<mail_consumer_state> self,
                                             const mail_consumer_services* services);

} // namespace fq
