// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/letters.hpp"

#include "domain/delivery/outbox.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>

namespace fq::sim {
namespace {

/// Maximum delay of a mail without faults: back-offs end, and the mails before it go first.
constexpr milliseconds delivered_within{8'000};
constexpr std::size_t id_size = 36; ///< of a mail's id that other parts may follow

} // namespace

letter_fate draw_fate(world& w) {
  const auto& m = w.options.mail;
  if (!w.chaos) return letter_fate::arrives;
  if (strikes(w.rng, m.down)) return letter_fate::service_down;
  if (strikes(w.rng, m.put_off)) return letter_fate::put_off;
  if (strikes(w.rng, m.refused)) return letter_fate::refused;
  return strikes(w.rng, m.answer_lost) ? letter_fate::arrives_without_answer : letter_fate::arrives;
}

mail_answer answer_of(letter_fate f) {
  if (f == letter_fate::arrives) return {.result = mail_result::accepted};
  if (f == letter_fate::refused) return {.result = mail_result::rejected, .why = "550 no such mailbox"};
  return {.result = mail_result::unavailable, .service_down = f == letter_fate::service_down, .why = "451"};
}

void letter_watch::see(const outbox_row& row, aggregate_id aggregate) {
  const auto [at, is_new] = mails_.try_emplace(row.id);
  if (!is_new) return; // an organizer retries a dead letter
  auto& mail = at->second;
  mail.aggregate = aggregate;
  mail.place = mails_.size();
  mail.at = world_.env->steady_now();
  const auto payload = boost::json::parse(row.payload).as_object();
  if (const auto* end = payload.if_contains("expires_at")) mail.ends = from_unix_ms(end->as_int64());
  for (const auto& to : payload.at("to").as_array()) {
    const auto* customer = to.as_object().if_contains("customer_id");
    const auto address = customer != nullptr ? std::string{customer->as_string()} + "@fans.example"
                                             : std::string{to.at("address").as_string()};
    mail.received.emplace(address, std::string{});
  }
}

void letter_watch::applied(const batch& b) {
  for (const auto& c : b.content) {
    const auto* told = std::get_if<outbox_appended>(&c);
    if (told != nullptr && told->row.topic == topic::mail_send) see(told->row, b.aggregate);
    const auto* letter = std::get_if<dead_letter_stored>(&c);
    if (letter == nullptr || letter->row.kind != dead_letter_kind::undelivered) continue;
    world_.check->reached(rare::mail_given_up);
    if (const auto known = mails_.find(letter->row.subject); known != mails_.end())
      known->second.is_given_up = true;
  }
}

mail_answer letter_watch::deliver(const mail_letter& letter) {
  const auto id = parse_uuid(std::string_view{letter.id}.substr(0, id_size));
  const auto known = id ? mails_.find(*id) : mails_.end();
  if (known == mails_.end()) {
    world_.check->fail("I16", "a mail is sent that is not committed, or under another id: " + letter.id);
    return answer_of(letter_fate::arrives);
  }
  const auto fate = draw_fate(world_);
  if (fate == letter_fate::put_off) world_.check->reached(rare::mail_put_off);
  if (fate == letter_fate::arrives || fate == letter_fate::arrives_without_answer)
    received(known->second, letter);
  return answer_of(fate);
}

void letter_watch::received(committed& mail, const mail_letter& letter) {
  const auto to = mail.received.find(letter.to);
  if (to == mail.received.end())
    return world_.check->fail("I16", "a mail went to somebody else: " + letter.id);
  const auto content = letter.subject + '\n' + letter.text;
  if (!to->second.empty()) {
    world_.check->reached(rare::mail_received_again);
    if (to->second != content) world_.check->fail("I16", "a mail changed between two attempts");
    return;
  }
  to->second = content;
  auto& latest = latest_[{mail.aggregate, letter.to}];
  if (mail.place < latest && !mail.is_given_up)
    world_.check->fail("I16", "a mail was overtaken by a later one to the same recipient");
  latest = std::max(latest, mail.place);
}

void letter_watch::check_end() const {
  const auto now = world_.env->steady_now();
  const bool is_right = !world_.has_clock_errors();
  for (const auto& [id, mail] : mails_) {
    const bool may_be_over = is_set(mail.ends) && (mail.ends <= world_.env->wall_now() || !is_right);
    if (mail.is_given_up || may_be_over || mail.at + delivered_within > now) continue;
    for (const auto& [address, content] : mail.received)
      if (content.empty()) return world_.check->fail("I16", "mail " + to_string(id) + " was never delivered");
  }
}

} // namespace fq::sim
