// SPDX-License-Identifier: Apache-2.0
#include "actors/catalog.hpp"

#include "domain/sale.hpp"

namespace fq {

catalog_handle::behavior_type catalog(catalog_handle::stateful_pointer<catalog_state> self, environment* env,
                                      ledger_workers ledgers) {
  self->state.init(self, *env, std::move(ledgers));
  return self->state.behavior();
}

void catalog_state::init(pointer self, environment& env, ledger_workers ledgers) {
  self_ = self;
  core_.init(self, catalog_aggregate, env, std::move(ledgers));
}

catalog_handle::behavior_type catalog_state::behavior() {
  return {
    [this](const create_event& x) { return on_create(x); },
    [this](const list_events& x) { return self_->delegate(core_.reader(), x); },
    [this](const batch_settled& x) { core_.on_settled(x); },
    [this](const aggregate_acquired& x) { on_acquired(x); },
    [this](const lease_lost&) { core_.on_lease_lost(); },
    [this](const last_aggregate_found& x) { on_last_aggregate(x); },
    [this](const timer_fired& x) { core_.on_timer(x); },
  };
}

void catalog_state::on_acquired(const aggregate_acquired& answer) {
  const auto* image = core_.on_acquired(answer);
  if (image == nullptr) return;
  answers_ = {};
  for (const auto& row : image->image.idempotency) answers_.load(row);
  self_->send(core_.reader(), find_last_aggregate{});
}

void catalog_state::on_last_aggregate(const last_aggregate_found& found) {
  if (found.unavailable) return self_->delayed_send(self_, owner_load_retry, timer_fired{timer_kind::retry_load, 0});
  last_ = std::max(number_of(found.last), number_of(first_event_aggregate) - 1);
  core_.serve();
}

caf::result<event_reply> catalog_state::on_create(const create_event& x) {
  if (core_.refuses()) return core_.refusal();
  const auto t = core_.now();
  if (auto before = find_answer<event_reply>(answers_, x.idempotency, t))
    return core_.commit({}, std::move(*before)); // waits for the commit of the first, if that is still under way
  if (auto no = validate(x.event, x.ticket_types)) return event_reply{std::move(no)};
  const aggregate_id number{++last_};
  auto event = x.event;
  event.aggregate = number;
  event.id = core_.env().make_id(t, number);
  event.status = event_status::draft;
  event.created_at = event.updated_at = t;
  auto types = x.ticket_types;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    types[i].ordinal = i;
    types[i].id = core_.env().make_id(t, number);
    types[i].held = types[i].sold = 0;
  }
  event_reply reply;
  reply.event = {event, types, false};
  changes content;
  content.emplace_back(event_created{std::move(event), std::move(types)});
  store_answer(answers_, x.idempotency, reply, t, content);
  return core_.commit(std::move(content), std::move(reply));
}

} // namespace fq
