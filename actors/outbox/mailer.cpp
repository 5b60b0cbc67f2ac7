// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/mailer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <utility>

namespace fq {
namespace {

std::string fresh_id(const std::string& template_key, environment& env) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "-%016llx%016llx",
                static_cast<unsigned long long>(env.random_u64()),
                static_cast<unsigned long long>(env.random_u64()));
  return template_key + text.data();
}

} // namespace

mail_worker_handle::behavior_type mail_worker(mail_worker_handle::pointer, mail_port* port) {
  return {[port](const send_letter& x) {
    try {
      return letter_sent{std::make_shared<const mail_answer>(port->send(*x.message))};
    } catch (const std::exception& e) { // e.g. out of memory: the actor must survive it
      return letter_sent{std::make_shared<const mail_answer>(
        mail_answer{.result = mail_result::unavailable, .service_down = true, .why = e.what()})};
    }
  }};
}

mailer_queue_handle::behavior_type mailer(mailer_queue_handle::stateful_pointer<mailer_state> self,
                                          const mailer_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void mailer_state::init(pointer self, const mailer_services& services) {
  self_ = self;
  services_ = &services;
  for (auto i = services.workers.size(); i > 0; --i) idle_.push_back(i - 1);
}

mailer_queue_handle::behavior_type mailer_state::behavior() {
  return {
    [this](const send_mail& x) { return on_mail(x); },
    [this](const forget_mail& x) { on_forget(x.key); },
    [this](const timer_fired& x) { on_timer(x.generation); },
  };
}

// -- the queue

std::size_t mailer_state::waiting_of(const uuid& client) const {
  const auto own = waiting_.find(client);
  return own == waiting_.end() ? 0 : own->second.size();
}

milliseconds mailer_state::delay_of(const uuid& client) const {
  const auto down = std::max(milliseconds{0}, down_until_ - services_->env->steady_now());
  const auto in_queue = waiting_count_ - retries_.size();
  const auto before = std::min(in_queue, (waiting_of(client) + 1) * turns_.size());
  return down
         + attempt_ * static_cast<std::int64_t>(before + in_flight_)
             / static_cast<std::int64_t>(services_->workers.size());
}

mail_sent mailer_state::on_mail(const send_mail& x) {
  auto& env = *services_->env;
  auto id = fresh_id(services_->template_key, env);
  if (!x.key.empty()) on_forget(x.key);
  const auto delay = delay_of(x.client);
  const bool has_its_share = !x.client.is_nil() && waiting_of(x.client) >= waiting_mail_of_client_max;
  if (delay > services_->late_after || has_its_share || waiting_count_ >= waiting_mail_max) {
    if (!std::exchange(is_refusing_, true)) warn("too much mail is waiting; some is refused");
    return {false, std::clamp(delay - services_->late_after, milliseconds{1'000}, services_->late_after)};
  }
  is_refusing_ = false;
  job j{x.key.empty() ? id : x.key, x.client, {}, env.steady_now() + services_->keep_for, 0, ++numbers_};
  j.message = std::make_shared<mail_message>(mail_message{.id = std::move(id),
                                                          .to = {{x.to}},
                                                          .subject = x.subject,
                                                          .text = x.body,
                                                          .html = x.html,
                                                          .template_key = services_->template_key,
                                                          .from = {x.from_address, x.from_name}});
  places_.insert_or_assign(j.key, place{j.number, j.client, 0});
  queue(std::move(j), false);
  dispatch();
  return {true, milliseconds{0}};
}

/// A mail in flight is sent, but not again.
void mailer_state::on_forget(const std::string& key) {
  const auto known = places_.find(key);
  if (known == places_.end()) return;
  const auto at = known->second;
  places_.erase(known);
  if (at.timer != 0) {
    waiting_count_ -= retries_.erase(at.timer);
    return;
  }
  const auto own = waiting_.find(at.client);
  if (own == waiting_.end()) return;
  waiting_count_ -= std::erase_if(own->second, [&](const job& j) { return j.number == at.number; });
  if (!own->second.empty()) return;
  waiting_.erase(own);
  std::erase(turns_, at.client);
}

void mailer_state::queue(job j, bool is_first) {
  ++waiting_count_;
  auto& own = waiting_[j.client];
  if (own.empty()) is_first ? turns_.push_front(j.client) : turns_.push_back(j.client);
  is_first ? own.push_front(std::move(j)) : own.push_back(std::move(j));
}

std::optional<mailer_state::job> mailer_state::next() {
  const auto now = services_->env->steady_now();
  while (!turns_.empty()) {
    const auto client = turns_.front();
    turns_.pop_front();
    const auto own = waiting_.find(client);
    auto j = std::move(own->second.front());
    own->second.pop_front();
    --waiting_count_;
    if (own->second.empty())
      waiting_.erase(own);
    else
      turns_.push_back(client);
    if (now < j.give_up_at) return j;
    places_.erase(j.key);
    warn(services_->template_key + " is given up: it could not be sent in time");
  }
  return std::nullopt;
}

// -- attempts

/// While the service is down, one attempt after each pause finds out whether it is back.
void mailer_state::dispatch() {
  const auto now = services_->env->steady_now();
  while (!idle_.empty() && !turns_.empty() && down_until_ <= now && (!is_down_ || in_flight_ == 0)) {
    auto j = next();
    if (!j) return;
    const auto worker = idle_.back();
    idle_.pop_back();
    send(worker, std::move(*j));
  }
}

void mailer_state::send(std::size_t worker, job j) {
  ++in_flight_;
  ++j.attempts;
  const auto begin = services_->env->steady_now();
  self_->request(services_->workers[worker], letter_timeout, send_letter{j.message})
    .then([this, worker, begin, j](const letter_sent& done) { on_letter(worker, j, begin, *done.answer); },
          [this, worker, begin, j](caf::error&) {
            on_letter(worker, j, begin,
                      {.result = mail_result::unavailable, .service_down = true, .why = "no answer"});
          });
}

/// The pause after a failure lasts at least as long as the attempt: a hanging server uses at most half of the
/// time.
void mailer_state::on_letter(std::size_t worker, job sent, milliseconds begin, const mail_answer& answer) {
  auto& env = *services_->env;
  const auto end = env.steady_now();
  --in_flight_;
  idle_.push_back(worker);
  const auto known = places_.find(sent.key);
  const bool is_wanted = known != places_.end() && known->second.number == sent.number;
  if (answer.result != mail_result::accepted)
    warn((answer.result == mail_result::rejected ? "rejected: " : "unavailable: ") + answer.why);
  if (answer.result != mail_result::unavailable) {
    attempt_ += (end - begin - attempt_) / 8;
    is_down_ = false;
    down_until_ = milliseconds{0};
    if (is_wanted) places_.erase(known);
    return dispatch();
  }
  const auto pause = std::clamp(std::max({retry_delay(services_->pauses, sent.attempts, env.random_u64()),
                                          end - begin, answer.retry_after.value_or(milliseconds{0})}),
                                milliseconds{0}, services_->keep_for);
  if (answer.service_down) {
    is_down_ = true;
    down_until_ = std::max(down_until_, end + pause);
    set_timer(down_until_ - end, wake_up_ = ++numbers_);
    if (is_wanted) queue(std::move(sent), true);
  } else {
    is_down_ = false;
    if (is_wanted) retry_later(std::move(sent), pause);
  }
  dispatch();
}

void mailer_state::retry_later(job j, milliseconds pause) {
  const auto timer = ++numbers_;
  places_[j.key].timer = timer;
  ++waiting_count_;
  retries_.emplace(timer, std::move(j));
  set_timer(pause, timer);
}

void mailer_state::set_timer(milliseconds pause, std::uint64_t generation) {
  self_->delayed_send(self_, pause, timer_fired{timer_kind::restart, generation});
}

void mailer_state::on_timer(std::uint64_t generation) {
  if (const auto due = retries_.find(generation); due != retries_.end()) {
    auto j = std::move(due->second);
    retries_.erase(due);
    --waiting_count_;
    places_[j.key].timer = 0;
    queue(std::move(j), true);
  } else if (generation != wake_up_) {
    return; // forgotten meanwhile
  }
  dispatch();
}

void mailer_state::warn(const std::string& what) const {
  if (services_->warn) services_->warn(what);
}

} // namespace fq
