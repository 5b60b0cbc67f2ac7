// SPDX-License-Identifier: Apache-2.0
#include "actors/directory/catalog.hpp"

#include "actors/protocol/cluster_messages.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>

namespace fq {
namespace {

/// Nil: the tenant, for its operators.
organizer_id plan_owner_of(const principal& by) {
  return by.kind == principal_kind::organizer ? by.id : organizer_id{};
}

/// Organizers change their own plans; all see those of the tenant.
refusal wrong_with(const store_tenant_plan& x, const std::vector<seat_plan_row>& found) {
  const auto owner = plan_owner_of(x.by);
  if (!x.id.is_nil()) {
    if (found.empty()) return reason::not_found;
    const bool may_change = x.by.kind == principal_kind::operate || found.front().organizer == owner;
    return may_change ? reason::none : reason::forbidden;
  }
  if (std::ranges::count(found, owner, &seat_plan_row::organizer)
      < static_cast<std::ptrdiff_t>(seat_plans_per_owner_max))
    return reason::none;
  refusal no{reason::too_many};
  no.first = seat_plans_per_owner_max;
  return no;
}

} // namespace

catalog_handle::behavior_type catalog(catalog_handle::stateful_pointer<catalog_state> self, environment* env,
                                      ledger_workers ledgers, bool has_cluster) {
  self->state.init(self, *env, std::move(ledgers), has_cluster);
  return self->state.behavior();
}

void catalog_state::init(pointer self, environment& env, ledger_workers ledgers, bool has_cluster) {
  self_ = self;
  core_.init(self, catalog_aggregate, env, std::move(ledgers), has_cluster);
}

catalog_handle::behavior_type catalog_state::behavior() {
  return {
    [this](const create_event& x) { return core_.here_or_there(x, [&] { return on_create(x); }); },
    [this](const list_events& x) { return self_->delegate(core_.reader(), x); },
    [this](const list_audit& x) { return self_->delegate(core_.reader(), x); },
    [this](const list_orders& x) { return self_->delegate(core_.reader(), x); },
    [this](const list_held_tickets& x) { return self_->delegate(core_.reader(), x); },
    [this](const fq::list_transfers& x) { return self_->delegate(core_.reader(), x); },
    [this](const list_dead_letters& x) { return self_->delegate(core_.reader(), x); },
    [this](const list_records& x) { return self_->delegate(core_.reader(), x); },
    [this](const list_statistics& x) { return self_->delegate(core_.reader(), x); },
    [this](const store_tenant_plan& x) { return core_.here_or_there(x, [&] { return on_store_plan(x); }); },
    [this](const list_tenant_plans& x) { return self_->delegate(core_.reader(), x); },
    [this](const cluster_changed& x) { core_.on_cluster(x, &node_peer::catalog); },
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
  external_ids_.clear();
  for (const auto& row : image->image.idempotency) answers_.load(row);
  epoch_ = image->epoch;
  self_->send(core_.reader(), find_last_aggregate{epoch_});
}

/// An answer from before the latest load lacks what another owner, or this one since, has created.
void catalog_state::on_last_aggregate(const last_aggregate_found& found) {
  if (found.epoch != epoch_) return;
  if (found.unavailable) return core_.load_later(owner_load_retry);
  const auto least = number_of(first_event_aggregate) - 1;
  last_ = planted(bug::event_number_again) ? least : std::max(number_of(found.last), least);
  core_.serve();
}

caf::result<event_reply> catalog_state::on_create(const create_event& x) {
  if (core_.refuses()) return core_.refusal();
  // A replay waits for the first request's commit if that is pending.
  if (auto before = find_answer<event_reply>(answers_, x.idempotency, core_.now()))
    return core_.commit({}, std::move(*before));
  if (auto no = validate(x.event, x.ticket_types)) return event_reply{std::move(no)};
  if (x.event.external_id.empty()) return create(x, self_->make_response_promise());
  auto promise = self_->make_response_promise();
  reserve(x, [this, x, promise](const std::optional<refusal>& no) mutable {
    if (no && *no) return promise.deliver(event_reply{*no});
    const std::pair key{x.by.tenant, x.event.external_id};
    const bool is_reserved = external_ids_.contains(key); // false after a reload
    if (!no || !is_reserved || core_.refuses()) {
      external_ids_.erase(key);
      return promise.deliver(core_.refusal());
    }
    create(x, std::move(promise));
  });
  return caf::delegated<event_reply>{};
}

/// Reserves the external id for the tenant. The argument of `then`: a refusal if it is taken; empty if the
/// ledger did not answer.
void catalog_state::reserve(const create_event& x, std::function<void(std::optional<refusal>)> then) {
  const std::pair key{x.by.tenant, x.event.external_id};
  const auto taken_by = [](const event_id& id) {
    refusal no{reason::external_id_taken};
    no.id = id;
    return no;
  };
  const auto [mine, fresh] = external_ids_.try_emplace(key);
  if (!fresh) return then(taken_by(mine->second));
  if (planted(bug::external_id_forgotten)) return then(refusal{});
  list_events question;
  question.by = {principal_kind::operate, x.by.tenant, {}};
  question.kind = event_kind::queue;
  question.external_id = x.event.external_id;
  question.limit = 1;
  self_->request(core_.reader(), external_id_timeout, std::move(question))
    .then(
      [this, key, then, taken_by](const event_list_reply& found) {
        if (found.no || !found.events.empty()) external_ids_.erase(key);
        if (found.no) return then(std::nullopt);
        then(found.events.empty() ? refusal{} : taken_by(found.events.front().event.id));
      },
      [this, key, then](const caf::error&) {
        external_ids_.erase(key);
        then(std::nullopt);
      });
}

caf::result<event_reply> catalog_state::create(const create_event& x, caf::response_promise promise) {
  const auto t = core_.now();
  const aggregate_id number{++last_};
  auto event = x.event;
  event.aggregate = number;
  event.id = core_.env().make_id(t, number);
  event.tenant = x.by.tenant;
  event.organizer = x.by.kind == principal_kind::organizer ? x.by.id : organizer_id{};
  event.status = event.kind == event_kind::sale ? event_status::draft : event_status::active;
  event.created_at = event.updated_at = t;
  if (event.kind == event_kind::queue && !is_set(event.queue_opens_at)) event.queue_opens_at = t;
  auto types = x.ticket_types;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    types[i].ordinal = i;
    types[i].id = core_.env().make_id(t, number);
    types[i].held = types[i].sold = 0;
  }
  if (!event.external_id.empty()) external_ids_[{event.tenant, event.external_id}] = event.id;
  event_reply reply;
  reply.event = {event, types, false};
  changes content;
  const auto* action = event.kind == event_kind::sale ? "event.create" : "queue.create";
  content.emplace_back(audit_recorded{
    {core_.make_id(), event.tenant, event.id, name_of(x.by), action, x.note.detail, x.note.reason, t}});
  content.emplace_back(event_created{std::move(event), std::move(types)});
  store_answer(answers_, x.idempotency, reply, t, content);
  return core_.hold(std::move(promise), std::move(content), std::move(reply));
}

/// The plan as it is, or the owner's others, to see whether it may be stored.
caf::result<tenant_plan_reply> catalog_state::on_store_plan(const store_tenant_plan& x) {
  if (core_.refuses()) return core_.refusal();
  auto promise = self_->make_response_promise();
  list_tenant_plans question{x.by, x.id, {}, 1};
  if (x.id.is_nil()) {
    question.by = {principal_kind::organizer, x.by.tenant, plan_owner_of(x.by)};
    question.limit = 3 * seat_plans_per_owner_max; // the tenant's are among them
  }
  self_->request(core_.reader(), external_id_timeout, std::move(question))
    .then(
      [this, x, promise](const tenant_plans_reply& found) mutable {
        if (found.no || core_.refuses()) return promise.deliver(core_.refusal());
        if (auto no = wrong_with(x, found.plans)) return promise.deliver(tenant_plan_reply{std::move(no)});
        store_plan(x, found.plans, std::move(promise));
      },
      [this, promise](const caf::error&) mutable { promise.deliver(core_.refusal()); });
  return caf::delegated<tenant_plan_reply>{};
}

caf::result<tenant_plan_reply> catalog_state::store_plan(const store_tenant_plan& x,
                                                         const std::vector<seat_plan_row>& found,
                                                         caf::response_promise promise) {
  const auto t = core_.now();
  const bool is_new = x.id.is_nil();
  seat_plan_row row;
  if (is_new)
    row = {core_.make_id(), x.by.tenant, plan_owner_of(x.by), {}, {}, t};
  else
    row = found.front();
  if (!x.name.empty()) row.name = x.name;
  tenant_plan_reply reply;
  reply.plan = row;
  reply.plan.content.clear();
  const auto* action = is_new ? "seat_plan.create" : x.plan.empty() ? "seat_plan.remove" : "seat_plan.change";
  changes content;
  content.emplace_back(audit_recorded{
    {core_.make_id(), row.tenant, row.id, name_of(x.by), action, x.note.detail, x.note.reason, t}});
  row.content = x.plan;
  if (x.plan.empty())
    content.emplace_back(seat_plan_removed{row.tenant, row.id});
  else
    content.emplace_back(seat_plan_stored{std::move(row)});
  return core_.hold(std::move(promise), std::move(content), std::move(reply));
}

} // namespace fq
