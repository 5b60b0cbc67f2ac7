// SPDX-License-Identifier: Apache-2.0
#include "actors/notifier.hpp"

#include "domain/outbox.hpp"
#include "outbound/mail_templates.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace fq {
namespace {

std::string text_of(const boost::json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  const auto* text = v ? v->if_string() : nullptr;
  return text ? std::string{text->data(), text->size()} : std::string{};
}

/// To as many of those who have not got it as the port takes at once.
mail_answer send_some(const mail_message& message, mail_port& port) {
  auto some = message;
  std::size_t taken = 0;
  for (auto& r : some.to)
    if (!r.answered && ++taken > port.at_once()) r.answered = true;
  mail_answer answer;
  try {
    answer = port.send(some);
  } catch (const std::exception& e) { // no memory, say: the notifier must not end by it
    return {.result = mail_result::unavailable, .service_down = true, .why = e.what()};
  }
  for (std::size_t i = 0; i < some.to.size() && i < answer.recipients.size(); ++i) // those whose turn it was not
    if (some.to[i].answered && !message.to[i].answered) answer.recipients[i] = mail_result::unavailable;
  return answer;
}

} // namespace

std::variant<mail_message, std::string> mail_of(const outbox_row& row) {
  boost::system::error_code error;
  const auto parsed = boost::json::parse(row.payload, error);
  const auto* o = error ? nullptr : parsed.if_object();
  const auto* to = o && o->contains("to") ? o->at("to").if_array() : nullptr;
  const auto* data = o && o->contains("data") ? o->at("data").if_object() : nullptr;
  if (!to || !data) return "the payload is no mail";
  const auto template_key = text_of(*o, "template");
  auto content = render(template_key, text_of(*o, "language"), *data);
  if (const auto* problem = std::get_if<template_problem>(&content)) return problem->what;
  auto& words = std::get<mail_content>(content);
  mail_message m{.id = to_string(row.id), .to = {}, .subject = std::move(words.subject), .text = std::move(words.text)};
  m.html = std::move(words.html);
  m.template_key = template_key;
  for (const auto& one : *to) {
    const auto* recipient = one.if_object();
    if (!recipient) return "a recipient is malformed";
    m.to.push_back({text_of(*recipient, "address")});
  }
  return m;
}

consumer_handle::behavior_type notifier(consumer_handle::stateful_pointer<notifier_state> self, const notifier_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

consumer_handle::behavior_type notifier_state::behavior() {
  return {[this](const consume_outbox& x) { on_batch(x); }};
}

void notifier_state::on_batch(const consume_outbox& x) {
  const auto turn = std::make_shared<outbox_turn>(self_, services_->region);
  const auto end = services_->env->steady_now() + services_->turn;
  for (const auto& item : *x.items) {
    if (services_->env->steady_now() >= end) break; // the rest comes again
    if (!turn->is_held_up(item)) deliver(*turn, item, end);
  }
  turn->end();
}

void notifier_state::deliver(outbox_turn& turn, const outbox_item& item, milliseconds end) {
  std::string why;
  const bool is_mail = item.row.topic == topic::mail_send;
  const auto result = is_mail ? send(item, end, why) : mail_result::accepted;
  if (is_mail) count(result);
  switch (result) {
    case mail_result::accepted:
      if (services_->log) services_->log(item);
      return turn.done(item);
    case mail_result::rejected:
      warn("undelivered: " + why);
      return turn.bury(item, why);
    case mail_result::unavailable: return turn.hold_up(item);
  }
}

void notifier_state::count(mail_result result) {
  if (services_->counts == nullptr) return;
  switch (result) {
    case mail_result::accepted: return services_->counts->accepted.add();
    case mail_result::rejected: return services_->counts->rejected.add();
    case mail_result::unavailable: return services_->counts->put_off.add();
  }
}

/// One message to all who have not got it yet, a few at a time where the port takes them one by one, until the turn is over.
mail_result notifier_state::send(const outbox_item& item, milliseconds end, std::string& why) {
  auto& env = *services_->env;
  if (sent_.contains(item.row.id)) return mail_result::accepted;
  if (env.steady_now() < down_until_) return mail_result::unavailable;
  auto known = in_progress_.find(item.row.id);
  if (known == in_progress_.end()) {
    auto made = mail_of(item.row);
    if (auto* wrong = std::get_if<std::string>(&made)) {
      why = std::move(*wrong);
      return mail_result::rejected;
    }
    if (in_progress_.size() >= mails_in_progress_max) in_progress_.clear();
    known = in_progress_.emplace(item.row.id, unfinished{std::move(std::get<mail_message>(made)), env.steady_now()}).first;
  }
  auto& mail = known->second;
  if (env.steady_now() < mail.again_at) return mail_result::unavailable;
  while (true) {
    const auto before = std::ranges::count(mail.message.to, false, &mail_recipient::answered);
    const auto answer = send_some(mail.message, *services_->port);
    mark_answered(mail.message, answer);
    if (!answer.why.empty()) warn(answer.why);
    const auto left = std::ranges::count(mail.message.to, false, &mail_recipient::answered);
    if (answer.result != mail_result::unavailable) {
      failures_ = 0;
      if (left > 0 && left < before && env.steady_now() < end) continue;
      if (left > 0) return mail_result::unavailable; // no failure: the rest in the next turn
      const auto result = mail.message.to.size() == 1 ? answer.result : mail_result::accepted;
      if (result == mail_result::rejected) why = answer.why;
      in_progress_.erase(known);
      if (result == mail_result::accepted) remember(item.row.id);
      return result;
    }
    ++failures_;
    const auto pause = std::max(retry_delay(services_->pauses, failures_, env.random_u64()), answer.retry_after.value_or(milliseconds{0}));
    if (answer.service_down) {
      down_until_ = env.steady_now() + std::min(pause, services_->pauses.cap);
      mail.since = env.steady_now(); // nobody's fault but the service's
      return mail_result::unavailable;
    }
    if (env.steady_now() - mail.since < services_->patience) {
      mail.again_at = env.steady_now() + services_->again_after;
      return mail_result::unavailable;
    }
    why = "put off for too long: " + answer.why;
    in_progress_.erase(known);
    return mail_result::rejected;
  }
}

void notifier_state::remember(const uuid& id) {
  if (!sent_.insert(id).second) return;
  sent_in_order_.push_back(id);
  if (sent_in_order_.size() <= mails_remembered_max) return;
  sent_.erase(sent_in_order_.front());
  sent_in_order_.pop_front();
}

} // namespace fq
