// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/mail_consumer.hpp"

#include "domain/base/planted.hpp"
#include "domain/delivery/outbox.hpp"
#include "outbound/mail_templates.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <iterator>

namespace fq {
namespace {

std::string string_of(const boost::json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  const auto* text = v ? v->if_string() : nullptr;
  return text ? std::string{text->data(), text->size()} : std::string{};
}

/// Older rows name none.
tenant_id tenant_of(const boost::json::object& o) {
  const auto* v = o.if_contains("tenant");
  return v && v->is_int64() ? tenant_id{static_cast<std::uint32_t>(v->get_int64())} : default_tenant;
}

/// The data of the mail, with the link to the tickets of a guest's order, and with the page of those that are
/// not attached: the rest if its PDF is, which has only the first ones.
boost::json::object data_with_links(const boost::json::object& payload, boost::json::object data,
                                    const std::function<std::string(const order_id&)>& link_of,
                                    const std::string& tickets_page, bool has_files) {
  const auto* tickets = payload.if_contains("event_tickets");
  const auto* o = tickets ? tickets->if_object() : nullptr;
  const auto* link = o ? o->if_contains("link") : nullptr;
  const auto order = parse_uuid(string_of(data, "order_id"));
  auto page = tickets_page;
  if (link_of && order && link && link->is_bool() && link->get_bool()) {
    page = link_of(*order);
    data["tickets_url"] = page;
  }
  if (tickets_page.empty()) return data;
  if (!has_files)
    data["tickets_page"] = page;
  else if (data.contains("attached"))
    data["rest_page"] = page;
  return data;
}

/// Sends to the recipients at `places` only.
mail_answer send_some(const mail_message& message, const std::vector<std::size_t>& places, mail_port& port) {
  auto some = message;
  for (auto& r : some.to) r.answered = true;
  for (const auto i : places) some.to[i].answered = false;
  mail_answer answer;
  try {
    answer = port.send(some);
  } catch (const std::exception& e) { // e.g. out of memory: the actor must survive it
    return {.result = mail_result::unavailable, .service_down = true, .why = e.what()};
  }
  for (std::size_t i = 0; i < some.to.size() && i < answer.recipients.size();
       ++i) // recipients not in `places`
    if (some.to[i].answered) answer.recipients[i] = mail_result::unavailable;
  return answer;
}

/// The payload reduced to the recipients at `places`. Counts the reductions in `rest`: letters are numbered
/// by recipient, and a reused number would be dropped as a duplicate.
std::string rest_of(const std::string& payload, const std::vector<std::size_t>& places) {
  auto whole = boost::json::parse(payload);
  auto& o = whole.as_object();
  const auto* cuts = o.if_contains("rest");
  const auto before = cuts && cuts->is_int64() ? cuts->get_int64() : 0;
  boost::json::array to;
  for (const auto i : places) to.push_back(o.at("to").as_array().at(i));
  o["to"] = std::move(to);
  o["rest"] = before + 1;
  return boost::json::serialize(whole);
}

std::string id_of(const outbox_row& row, const boost::json::object& payload) {
  const auto* cuts = payload.if_contains("rest");
  return cuts && cuts->is_int64() ? to_string(row.id) + "-rest" + std::to_string(cuts->get_int64())
                                  : to_string(row.id);
}

/// A few dead addresses among many recipients are normal. More than 10 % refused indicates a problem with the
/// mail or with the sender's reputation; providers suspend senders at about that bounce rate.
bool needs_dead_letter(std::size_t refused, std::size_t all) { return refused * 10 > all; }

std::pair<uuid, std::size_t> key_of(const outbox_row& row) {
  return {row.id, std::hash<std::string>{}(row.payload)};
}

} // namespace

timestamp end_of(const outbox_row& row) {
  boost::system::error_code error;
  const auto parsed = boost::json::parse(row.payload, error);
  const auto* o = error ? nullptr : parsed.if_object();
  const auto* end = o ? o->if_contains("expires_at") : nullptr;
  return end && end->is_int64() ? timestamp{milliseconds{end->get_int64()}} : timestamp{};
}

std::variant<mail_message, std::string> mail_of(const outbox_row& row,
                                                const std::function<mail_style(tenant_id)>& style_of,
                                                const std::function<std::string(const order_id&)>& link_of,
                                                const std::string& tickets_page, bool has_files) {
  boost::system::error_code error;
  const auto parsed = boost::json::parse(row.payload, error);
  const auto* o = error ? nullptr : parsed.if_object();
  const auto* to = o && o->contains("to") ? o->at("to").if_array() : nullptr;
  const auto* data = o && o->contains("data") ? o->at("data").if_object() : nullptr;
  if (!to || !data) return "the payload is no mail";
  const auto template_key = string_of(*o, "template");
  auto style = style_of ? style_of(tenant_of(*o)) : mail_style{};
  auto content = render(template_key, string_of(*o, "language"),
                        data_with_links(*o, *data, link_of, tickets_page, has_files), style);
  if (const auto* problem = std::get_if<template_problem>(&content)) return problem->what;
  auto& words = std::get<mail_content>(content);
  mail_message m{
    .id = id_of(row, *o), .to = {}, .subject = std::move(words.subject), .text = std::move(words.text)};
  m.html = std::move(words.html);
  m.template_key = template_key;
  m.from = std::move(style.from);
  for (const auto& one : *to) {
    const auto* recipient = one.if_object();
    if (!recipient) return "a recipient is malformed";
    m.to.push_back({string_of(*recipient, "address")});
  }
  return m;
}

consumer_handle::behavior_type mail_consumer(consumer_handle::stateful_pointer<mail_consumer_state> self,
                                             const mail_consumer_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

consumer_handle::behavior_type mail_consumer_state::behavior() {
  return {[this](const consume_outbox& x) { on_batch(x); }};
}

void mail_consumer_state::on_batch(const consume_outbox& x) {
  const auto turn = std::make_shared<outbox_turn>(self_, services_->region);
  const auto end = services_->env->steady_now() + services_->turn;
  held_back_.clear();
  is_rate_used_up_ = false;
  auto left = static_cast<milliseconds::rep>(x.items->size());
  for (const auto& item : *x.items) {
    const auto now = services_->env->steady_now();
    // The dispatcher sends the remaining rows again, starting with the first not considered.
    if (now >= end || is_rate_used_up_ || pace_.is_empty(now)) break;
    if (turn->may_go(item)) deliver(*turn, item, now + (end - now) / left); // leaves time for the later rows
    --left;
  }
  turn->end();
}

void mail_consumer_state::deliver(outbox_turn& turn, const outbox_item& item, milliseconds end) {
  std::string why;
  const bool is_mail = item.row.topic == topic::mail_send;
  const auto result = is_mail ? send(item, end, why) : mail_result::accepted;
  if (!result) {
    warn("not sent: what the mail is about has ended");
    return turn.done(item);
  }
  // Held back by the rate limit, not by a failure.
  const bool waits_its_turn = is_rate_used_up_ && *result == mail_result::unavailable;
  if (is_mail && !waits_its_turn) count(*result, item.row);
  switch (*result) {
    case mail_result::accepted:
      if (services_->log) services_->log(item);
      return turn.done(item);
    case mail_result::rejected: return make_dead_letter(turn, item, why);
    case mail_result::unavailable: return hold_back(turn, item);
  }
}

/// The row is sent again. Later rows to other recipients continue: one full mailbox must not delay them.
void mail_consumer_state::hold_back(outbox_turn& turn, const outbox_item& item) {
  const auto known = in_progress_.find(key_of(item.row));
  if (services_->env->steady_now() < down_until_ || known == in_progress_.end()) return turn.hold_up(item);
  if (planted(bug::mail_overtakes)) return;
  for (const auto& r : known->second.message.to)
    if (!r.answered) held_back_.insert(r.address);
}

/// Makes a dead letter for the undelivered recipients only: a manual retry sends no duplicates. The results
/// of the others are kept until the dead letter is committed.
void mail_consumer_state::make_dead_letter(outbox_turn& turn, const outbox_item& item,
                                           const std::string& why) {
  warn("undelivered: " + why);
  const auto key = key_of(item.row);
  const auto known = in_progress_.find(key);
  const bool is_rest =
    known != in_progress_.end() && known->second.undelivered.size() < known->second.message.to.size();
  auto left = item;
  if (is_rest) left.row.payload = rest_of(item.row.payload, known->second.undelivered);
  turn.make_dead_letter(left, why, [this, key, is_rest] {
    in_progress_.erase(key);
    if (is_rest) remember(key);
  });
}

void mail_consumer_state::count(mail_result result, const outbox_row& row) {
  if (services_->history != nullptr && result != mail_result::unavailable)
    services_->history->add({.ended_at = services_->env->wall_now(),
                             .name = "mail",
                             .result = result == mail_result::accepted ? "accepted" : "rejected",
                             .detail = {},
                             .duration = services_->env->wall_now() - row.created_at});
  if (services_->counts == nullptr) return;
  switch (result) {
    case mail_result::accepted: return services_->counts->accepted.add();
    case mail_result::rejected: return services_->counts->rejected.add();
    case mail_result::unavailable: return services_->counts->put_off.add();
  }
}

/// Sends one message to its unanswered recipients, in groups where the port sends one by one, until the turn
/// ends. A deferred recipient delays only later rows to the same recipients.
std::optional<mail_result> mail_consumer_state::send(const outbox_item& item, milliseconds end,
                                                     std::string& why) {
  auto& env = *services_->env;
  if (sent_.contains(key_of(item.row))) return mail_result::accepted;
  auto row = item.row;
  if (!in_progress_.contains(key_of(item.row))) {
    const auto found = address(row);
    if (found == addressed::later) return mail_result::unavailable;
    if (found == addressed::to_nobody) return {};
  }
  auto* mail = begin_or_continue(row, key_of(item.row), why);
  if (mail == nullptr) return mail_result::rejected;
  if (is_set(mail->until) && env.wall_now() >= mail->until) {
    in_progress_.erase(key_of(item.row));
    return {};
  }
  do {
    const auto now = env.steady_now();
    if (now < down_until_ || now < mail->again_at) break;
    auto places = due(*mail, now);
    const auto granted = pace_.take(places.size(), now);
    is_rate_used_up_ = granted < places.size();
    places.resize(granted);
    if (places.empty()) break;
    send_to(*mail, places);
  } while (env.steady_now() < end && !is_rate_used_up_);
  if (std::ranges::count(mail->message.to, false, &mail_recipient::answered) > 0)
    return mail_result::unavailable;
  if (needs_dead_letter(mail->refused.size(), mail->message.to.size()))
    std::ranges::copy(std::exchange(mail->refused, {}), std::back_inserter(mail->undelivered));
  if (!mail->undelivered.empty()) {
    why = mail->why;
    return mail_result::rejected;
  }
  in_progress_.erase(key_of(item.row));
  remember(key_of(item.row));
  return mail_result::accepted;
}

/// Such a mail has one recipient.
mail_consumer_state::addressed mail_consumer_state::address(outbox_row& row) const {
  boost::system::error_code error;
  auto payload = boost::json::parse(row.payload, error);
  auto* o = error ? nullptr : payload.if_object();
  const auto* to = o && o->contains("to") ? o->at("to").if_array() : nullptr;
  const auto* recipient = to && to->size() == 1 ? to->front().if_object() : nullptr;
  const auto customer = recipient ? parse_uuid(string_of(*recipient, "customer_id")) : std::nullopt;
  if (!customer) return addressed::yes;
  const auto found = services_->mailbox_of ? services_->mailbox_of(*customer) : mailbox{};
  if (!found) return addressed::later;
  if (found->address.empty()) return addressed::to_nobody;
  (*o)["to"] = boost::json::array{boost::json::object{{"address", found->address}}};
  (*o)["language"] = found->language;
  row.payload = boost::json::serialize(payload);
  return addressed::yes;
}

/// Null: the payload is no mail; the reason is in `why`.
mail_consumer_state::partly_sent* mail_consumer_state::begin_or_continue(const outbox_row& row,
                                                                         const mail_key& key,
                                                                         std::string& why) {
  if (const auto known = in_progress_.find(key); known != in_progress_.end()) return &known->second;
  auto [files, is_all] = files_of(row);
  auto made = mail_of(row, services_->style_of, services_->link_of, services_->tickets_page, is_all);
  if (auto* wrong = std::get_if<std::string>(&made)) {
    why = std::move(*wrong);
    return nullptr;
  }
  if (in_progress_.size() >= mails_in_progress_max) in_progress_.clear();
  partly_sent mail;
  mail.message = std::move(std::get<mail_message>(made));
  mail.message.attachments = std::move(files);
  mail.until = end_of(row);
  return &in_progress_.emplace(key, std::move(mail)).first->second;
}

/// As many whole files as fit, the small ones first. A mail without its files is better than none: its page
/// has them, too.
mail_consumer_state::fitting_files mail_consumer_state::files_of(const outbox_row& row) {
  fitting_files out;
  if (!services_->attach) return out;
  try {
    out.files = services_->attach(row.payload);
  } catch (const std::exception& e) {
    warn(std::string{"no attachments: "} + e.what());
    out.is_all = false;
  }
  const auto bytes_of = [](const mail_attachment& file) { return file.content.size(); };
  std::size_t bytes = 0;
  for (const auto& file : out.files) bytes += bytes_of(file);
  while (bytes > mail_attachments_bytes_max) {
    const auto largest = std::ranges::max_element(out.files, {}, bytes_of);
    bytes -= bytes_of(*largest);
    out.files.erase(largest);
    out.is_all = false;
  }
  return out;
}

/// Next recipients, up to the port's group size: first those without an attempt, then deferred ones, then
/// alone one that may stall the service.
std::vector<std::size_t> mail_consumer_state::due(const partly_sent& mail, milliseconds now) const {
  const auto most = services_->port->at_once();
  std::vector<std::size_t> fresh, again, stalled;
  for (std::size_t i = 0; i < mail.message.to.size() && fresh.size() < most; ++i) {
    if (mail.message.to[i].answered || held_back_.contains(mail.message.to[i].address)) continue;
    const auto w = mail.waiting.find(i);
    if (w == mail.waiting.end())
      fresh.push_back(i);
    else if (now >= w->second.again_at)
      (w->second.has_stalled ? stalled : again).push_back(i);
  }
  if (!fresh.empty()) return fresh;
  again.resize(std::min(again.size(), most));
  stalled.resize(std::min<std::size_t>(stalled.size(), 1));
  return again.empty() ? stalled : again;
}

void mail_consumer_state::send_to(partly_sent& mail, const std::vector<std::size_t>& places) {
  auto& env = *services_->env;
  if (planted(bug::mail_id_anew)) mail.message.id = std::to_string(env.random_u64());
  const auto answer = send_some(mail.message, places, *services_->port);
  mark_answered(mail.message, answer);
  if (!answer.why.empty()) warn(answer.why);
  const auto is_refused = [&](std::size_t i) {
    return (i < answer.recipients.size() ? answer.recipients[i] : answer.result) == mail_result::rejected;
  };
  std::ranges::copy_if(places, std::back_inserter(mail.refused), is_refused);
  if (answer.service_down) return wait_for_service(mail, places, answer);
  failures_ = 0;
  if (!answer.why.empty()) mail.why = answer.why;
  for (const auto i : places)
    if (!mail.message.to[i].answered) retry_or_give_up(mail, i, answer);
  const bool has_moved = std::ranges::any_of(places, [&](auto i) { return mail.message.to[i].answered; });
  mail.tries_without_progress = has_moved ? 0 : mail.tries_without_progress + 1;
  if (!has_moved)
    mail.again_at =
      env.steady_now()
      + retry_delay(services_->no_progress_retry, mail.tries_without_progress, env.random_u64());
}

void mail_consumer_state::retry_or_give_up(partly_sent& mail, std::size_t place, const mail_answer& answer) {
  auto& env = *services_->env;
  const auto now = env.steady_now();
  auto& w = mail.waiting.try_emplace(place, deferral{now}).first->second;
  const auto given_up_at = w.since + services_->patience;
  if (planted(bug::put_off_mail_done)) mail.message.to[place].answered = true;
  if (now >= given_up_at) {
    mail.message.to[place].answered = true;
    mail.undelivered.push_back(place);
    mail.why = "put off for too long: " + answer.why;
    return;
  }
  const retry_policy pauses{0, services_->again_after, 2 * services_->again_after};
  const auto asked_for = std::min(answer.retry_after.value_or(milliseconds{0}), pauses.cap);
  // The last attempt is at given_up_at.
  w.again_at =
    std::min(now + std::max(retry_delay(pauses, ++w.tries, env.random_u64()), asked_for), given_up_at);
}

/// The first unanswered recipient may have caused the outage: the others go first next time.
void mail_consumer_state::wait_for_service(partly_sent& mail, const std::vector<std::size_t>& places,
                                           const mail_answer& answer) {
  auto& env = *services_->env;
  const auto pause = std::max(retry_delay(services_->pauses, ++failures_, env.random_u64()),
                              answer.retry_after.value_or(milliseconds{0}));
  down_until_ = env.steady_now() + std::min(pause, services_->pauses.cap);
  const auto first = std::ranges::find_if(places, [&](auto i) { return !mail.message.to[i].answered; });
  if (first != places.end()) {
    auto& w = mail.waiting.try_emplace(*first, deferral{}).first->second;
    w.again_at = down_until_;
    w.has_stalled = true;
  }
  // An outage of the service does not count against recipients.
  for (auto& [place, w] : mail.waiting) w.since = env.steady_now();
}

void mail_consumer_state::remember(const mail_key& key) {
  if (!sent_.insert(key).second) return;
  sent_in_order_.push_back(key);
  if (sent_in_order_.size() <= mails_remembered_max) return;
  sent_.erase(sent_in_order_.front());
  sent_in_order_.pop_front();
}

} // namespace fq
