// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/mailer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>

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

mailer_worker_handle::behavior_type mailer(mailer_worker_handle::stateful_pointer<mailer_state> self,
                                           const mailer_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void mailer_state::init(pointer self, const mailer_services& services) {
  self_ = self;
  services_ = &services;
}

mailer_worker_handle::behavior_type mailer_state::behavior() {
  return {
    [this](const send_mail& x) { return on_mail(x); },
    [this](const timer_fired& x) { on_timer(x.generation); },
  };
}

mail_sent mailer_state::on_mail(const send_mail& x) {
  auto& env = *services_->env;
  auto id = fresh_id(services_->template_key, env);
  waiting w;
  w.key = services_->newest_only ? x.to : id;
  w.message = {.id = std::move(id),
               .to = {{x.to}},
               .subject = x.subject,
               .text = x.body,
               .html = x.html,
               .template_key = services_->template_key};
  w.give_up_at = env.steady_now() + services_->keep_for;
  waiting_.erase(w.key);
  const auto result = attempt(w);
  if (result != mail_result::unavailable) return {result == mail_result::accepted};
  if (waiting_.size() >= waiting_mail_max) {
    warn("too much mail is waiting; one is refused");
    return {false};
  }
  wait(std::move(w));
  return {true};
}

void mailer_state::on_timer(std::uint64_t generation) {
  const auto timer = timers_.find(generation);
  if (timer == timers_.end()) return;
  const auto found = waiting_.find(timer->second);
  timers_.erase(timer);
  if (found == waiting_.end() || found->second.generation != generation) return; // replaced by a newer code
  auto w = std::move(found->second);
  waiting_.erase(found);
  if (services_->env->steady_now() >= w.give_up_at)
    return warn(services_->template_key + " is given up: it could not be sent in time");
  if (attempt(w) == mail_result::unavailable) wait(std::move(w));
}

/// One attempt, unless the service is known to be down. An attempt can block for the port's timeout, so the
/// pause after a failure lasts at least as long as the attempt: a hanging server uses at most half of the
/// time.
mail_result mailer_state::attempt(waiting& w) {
  auto& env = *services_->env;
  const auto begin = env.steady_now();
  if (down_until_ > begin) return mail_result::unavailable;
  ++w.attempts;
  const auto answer = send(w.message);
  const auto end = env.steady_now();
  down_until_ = milliseconds{0};
  if (answer.result == mail_result::accepted) return answer.result;
  warn((answer.result == mail_result::rejected ? "rejected: " : "unavailable: ") + answer.why);
  pause_ = std::max({retry_delay(services_->pauses, w.attempts, env.random_u64()), end - begin,
                     answer.retry_after.value_or(milliseconds{0})});
  if (answer.service_down) down_until_ = end + pause_;
  return answer.result;
}

void mailer_state::wait(waiting w) {
  const auto now = services_->env->steady_now();
  // Mail without an attempt also waits for the service.
  const auto pause = std::clamp(std::max(pause_, down_until_ - now), milliseconds{0}, services_->keep_for);
  w.generation = ++generation_;
  timers_.emplace(w.generation, w.key);
  self_->delayed_send(self_, pause, timer_fired{timer_kind::restart, w.generation});
  auto key = w.key;
  waiting_.insert_or_assign(std::move(key), std::move(w));
}

mail_answer mailer_state::send(const mail_message& message) {
  try {
    return services_->port->send(message);
  } catch (const std::exception& e) { // e.g. out of memory: the actor must survive it
    return {.result = mail_result::unavailable, .service_down = true, .why = e.what()};
  }
}

void mailer_state::warn(const std::string& what) const {
  if (services_->warn) services_->warn(what);
}

} // namespace fq
