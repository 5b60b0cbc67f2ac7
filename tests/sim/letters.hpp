// SPDX-License-Identifier: Apache-2.0
// The mail service of the simulated sale, which loses letters and answers, and the check of I16 for mail: the
// real mail consumer delivers each committed mail to each recipient at least once, unchanged, under one id,
// and after the earlier mails of its event to the same recipient.
#pragma once
#include "tests/sim/world.hpp"

#include "outbound/mail.hpp"

#include <map>
#include <string>
#include <utility>

namespace fq::sim {

class letter_watch {
public:
  explicit letter_watch(world& w) : world_(w) {}
  void applied(const batch& b);
  /// The service takes a letter, or not.
  mail_answer deliver(const mail_letter& letter);
  /// For the end of the quiet phase.
  void check_end() const;

private:
  struct committed {
    aggregate_id aggregate{};
    std::size_t place = 0; ///< in the order of commits
    timestamp ends; ///< of its subject; unset: never
    milliseconds at{0}; ///< steady time of the commit
    bool is_given_up = false; ///< became a dead letter
    std::map<std::string, std::string> received = {}; ///< by address: what; empty: nothing yet
  };
  void see(const outbox_row& row, aggregate_id aggregate);
  void received(committed& mail, const mail_letter& letter);

  world& world_;
  std::map<uuid, committed> mails_;
  std::map<std::pair<aggregate_id, std::string>, std::size_t> latest_; ///< place of the mail received last
};

/// The way from one process to the mail service.
class sim_mail_port final : public letter_port {
public:
  explicit sim_mail_port(world& w) : world_(w) {}

protected:
  [[nodiscard]] mail_answer deliver(const mail_letter& letter) override {
    return world_.letters->deliver(letter);
  }

private:
  world& world_;
};

/// The fate of a letter, as drawn; in the quiet phase each arrives.
enum class letter_fate : std::uint8_t { arrives, arrives_without_answer, put_off, refused, service_down };
letter_fate draw_fate(world& w);
mail_answer answer_of(letter_fate f);

} // namespace fq::sim
