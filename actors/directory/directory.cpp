// SPDX-License-Identifier: Apache-2.0
#include "actors/directory/directory.hpp"

#include "actors/base/errors.hpp"

#include <algorithm>
#include <utility>

namespace fq {

directory_handle::behavior_type directory(directory_handle::stateful_pointer<directory_state> self,
                                          ledger_workers ledgers,
                                          std::function<void(directory_ptr)> publish) {
  self->state.init(self, std::move(ledgers), std::move(publish));
  return self->state.behavior();
}

directory_state::~directory_state() {
  for (auto* asked : {&next_, &waiting_})
    for (auto& p : *asked) p.deliver(make_error(errc::unavailable));
}

void directory_state::init(pointer self, ledger_workers ledgers, std::function<void(directory_ptr)> publish) {
  self_ = self;
  ledgers_ = std::move(ledgers);
  publish_ = std::move(publish);
  self_->send(self_, timer_fired{timer_kind::sweep, 0});
}

directory_handle::behavior_type directory_state::behavior() {
  return {
    [this](const refresh_directory&) { return on_refresh(); },
    [this](const directory_read& x) { on_read(x); },
    [this](const blocks_read& x) { on_blocks(x); },
    [this](const timer_fired&) {
      self_->delayed_send(self_, current_ ? directory_interval : first_reading_retry,
                          timer_fired{timer_kind::sweep, 0});
      if (!is_reading_) read();
    },
  };
}

/// A read in flight may have missed the change: this request waits for the next one.
caf::result<ack_reply> directory_state::on_refresh() {
  auto promise = self_->make_response_promise<ack_reply>();
  next_.push_back(promise);
  if (!is_reading_) read();
  return promise;
}

void directory_state::read() {
  is_reading_ = true;
  waiting_ = std::exchange(next_, {});
  self_->send(ledgers_.reader(), read_directory{});
}

/// Block lists can be long: read only if their version has changed.
void directory_state::on_read(const directory_read& answer) {
  if (!answer.content) return finish(false);
  const auto version =
    std::ranges::find(answer.content->settings, blocks_version_setting, &setting_row::name);
  const auto wanted = version == answer.content->settings.end() ? std::string{} : version->value;
  if (blocks_ && wanted == blocks_version_) return publish(*answer.content);
  without_blocks_ = *answer.content;
  blocks_version_ = wanted;
  self_->send(ledgers_.reader(), read_blocks{});
}

void directory_state::on_blocks(const blocks_read& answer) {
  blocks_ = answer.content; // null: retried with the next read
  answer.content ? publish(std::move(without_blocks_)) : finish(false);
}

void directory_state::publish(access_directory content) {
  content.blocks = blocks_;
  if (!current_ || content != *current_) {
    current_ = std::make_shared<const access_directory>(std::move(content));
    publish_(current_);
  }
  finish(true);
}

void directory_state::finish(bool is_read) {
  is_reading_ = false;
  for (auto& p : std::exchange(waiting_, {}))
    is_read ? p.deliver(ack_reply{}) : p.deliver(ack_reply{reason::unavailable});
  if (!next_.empty()) read();
}

} // namespace fq
