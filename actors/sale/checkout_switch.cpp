// SPDX-License-Identifier: Apache-2.0
#include "actors/sale/checkout_switch.hpp"

#include "actors/sale/limits.hpp"
#include <utility>

namespace fq {

checkout_switch_handle::behavior_type checkout_switch(
  checkout_switch_handle::stateful_pointer<checkout_switch_state> self,
  const checkout_switch_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void checkout_switch_state::init(pointer self, const checkout_switch_services& services) {
  self_ = self;
  services_ = &services;
  watch_.emplace(services.rules);
  self_->delayed_send(self_, services_->interval, timer_fired{timer_kind::sweep, 0});
}

checkout_switch_handle::behavior_type checkout_switch_state::behavior() {
  return {[this](const timer_fired&) { on_tick(); }};
}

void checkout_switch_state::on_tick() {
  self_->delayed_send(self_, services_->interval, timer_fired{timer_kind::sweep, 0});
  const auto due = watch_->look(look());
  if (due && !is_asking_) roll_back(*due);
}

checkout_look checkout_switch_state::look() const {
  const auto& numbers = *services_->numbers;
  const auto gateway = numbers.gateways.find(services_->gateway);
  checkout_look seen;
  seen.at = services_->env->steady_now();
  seen.succeeded = numbers.sales.orders_served.get();
  seen.failed = numbers.sales.orders_failed.get();
  seen.workers =
    gateway == numbers.gateways.end() ? 0 : static_cast<std::uint64_t>(gateway->second.workers.get());
  seen.queue = numbers.sales.pending().count;
  seen.is_async = numbers.async_percent.get() > 0;
  return seen;
}

/// If storing fails, the watch triggers again at the next check.
void checkout_switch_state::roll_back(rollback_trigger why) {
  is_asking_ = true;
  const std::string trigger{name_of(why)};
  change_setting wish;
  wish.setting.name = async_percent_setting;
  wish.setting.value = "0";
  wish.note.detail = R"({"checkout":{"async_percent":0},"trigger":")" + trigger + "\"}";
  wish.note.reason = "automatic rollback to synchronous checkout: " + trigger;
  self_->request(services_->accounts, switch_store_timeout, std::move(wish))
    .then([this, why](const ack_reply& reply) { rolled_back(why, !reply.no); },
          [this, why](const caf::error&) { rolled_back(why, false); });
}

void checkout_switch_state::rolled_back(rollback_trigger why, bool is_stored) {
  is_asking_ = false;
  auto& counts = services_->numbers->rollback;
  if (!is_stored) return counts.failed.add();
  counts.switched[why].add();
  services_->numbers->async_percent.set(0); // until the directory publishes the new setting
  if (services_->note) services_->note(std::string{name_of(why)});
  if (services_->directory)
    self_->request(services_->directory, switch_store_timeout, refresh_directory{})
      .then([](const ack_reply&) {}, [](const caf::error&) {});
}

} // namespace fq
