// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/ledger_connection.hpp"

#include "tests/sim/directory_watch.hpp"
#include "tests/sim/disk_ledger.hpp"
#include "tests/sim/loss_watch.hpp"
#include "tests/sim/mesh.hpp"

#include <algorithm>

namespace fq::sim {

// -- leases -----------------------------------------------------------------------------------------------

namespace {

/// Process names begin with the letter of their node.
bool are_of_one_node(const std::string& a, const std::string& b) { return a.front() == b.front(); }

} // namespace

void lease_watch::taken(const std::string& node, milliseconds term) {
  const auto now = world_.env->steady_now();
  if (is_earlier(node))
    world_.check->fail("I17", node + " took the sale although a later process has its name");
  const bool lasts = world_.ledger_now() < ledger_until_;
  if (!holder_.empty() && !are_of_one_node(holder_, node) && lasts)
    world_.check->fail("I17", node + " took the sale although the lease of " + holder_ + " lasts");
  if (!last_holder_.empty() && last_holder_ != node) world_.check->reached(rare::taken_over);
  if (!last_holder_.empty() && last_holder_ != node && world_.net != nullptr
      && world_.net->is_cut_off(last_holder_))
    world_.check->reached(rare::taken_over_while_cut);
  // The ledger's clock stepped, or the former owner's clock is slow: it learns of it within I15's bound.
  const auto knows_at = until_ + world_.drift_within(term);
  if (!holder_.empty() && !are_of_one_node(holder_, node) && now < knows_at)
    unaware_until_ = std::max(unaware_until_, std::min(knows_at, now + stale_max));
  holder_ = last_holder_ = node;
  ++takes_;
  is_held_until(term);
}

void lease_watch::is_held_until(milliseconds term) {
  until_ = world_.env->steady_now() + term;
  ledger_until_ = world_.ledger_now() + term;
}

void lease_watch::renewed(const std::string& node, milliseconds term) {
  if (holder_ != node || is_earlier(node))
    world_.check->fail("I17", node + " renewed a lease that it does not hold");
  is_held_until(term);
}

void lease_watch::released(const std::string& node) {
  if (holder_ == node && !is_earlier(node)) holder_.clear();
}

void lease_watch::has_twin(const std::string& node, const std::string& earlier) {
  earlier_ = earlier;
  later_begun_at_.reset();
  if (holder_ == node) holder_ = last_holder_ = earlier;
}

void lease_watch::begun(const std::string& node) {
  if (!earlier_.empty() && node != earlier_ && are_of_one_node(node, earlier_) && !later_begun_at_)
    later_begun_at_ = world_.env->steady_now();
}

void lease_watch::committed(const std::string& process) const {
  if (is_earlier(process))
    world_.check->fail("I17", process + " committed although a later process has its name");
}

void lease_watch::broken() {
  holder_.clear();
  unaware_until_ = until_;
}

void lease_watch::ended(const std::string& node) {
  if (holder_ != node) return;
  world_.check->reached(rare::lease_ended);
  holder_.clear();
  unaware_until_ = std::min(until_, world_.env->steady_now() + world_.options.mesh.beat_interval * 3 / 2);
}

lease_watch::asking lease_watch::asked(const std::string& node) const {
  const auto now = world_.env->steady_now();
  if (node == earlier_)
    return {takes_, false,
            later_begun_at_
              && now >= *later_begun_at_ + world_.options.lease_term
                          + world_.drift_within(world_.options.lease_term)};
  return {takes_, is_elsewhere(node) && now >= unaware_until_, false};
}

void lease_watch::answered(const asking& a, const std::string& node) const {
  if (a.is_over)
    world_.check->fail("I17", node + " answered a lease term after a later process of its name began");
  if (a.elsewhere && a.takes == takes_)
    world_.check->fail("I17", node + " answered what it was asked after " + holder_ + " took the sale");
}

void lease_watch::answered(const asking& a, const std::string& node, caf::actor_id owner) {
  answered(a, node);
  if (a.takes != takes_ || world_.env->steady_now() < unaware_until_) return;
  const auto [first, is_first] = answers_.emplace(takes_, owner);
  if (!is_first && first->second != owner)
    world_.check->fail("I17", "two owners answer at a time, the second at " + node);
}

// -- the connection ---------------------------------------------------------------------------------------

void ledger_connection::pass() const {
  if (is_cut_) throw ledger_unavailable("the process is dead");
  if (is_cut_off()) throw ledger_unavailable("the ledger is not reached");
}

void ledger_connection::go_out() const {
  pass();
  if (world_.chaos && chance(world_.rng, world_.options.faults.call_unavailable))
    throw ledger_unavailable("the request was lost");
}

void ledger_connection::come_back() const {
  if (world_.chaos && chance(world_.rng, world_.options.faults.call_unanswered))
    throw commit_unknown("the answer was lost");
}

std::vector<commit_outcome> ledger_connection::commit(std::span<const batch> batches) {
  pass();
  auto outcomes = ask_ledger(world_, [&](ledger& l) { return l.commit(batches); }); // injects its own faults
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const bool is_events = number_of(batches[i].aggregate) >= number_of(first_event_aggregate);
    if (!is_events && world_.directory != nullptr) world_.directory->settled(batches[i], outcomes[i]);
    if (batches[i].aggregate != world_.aggregate) continue;
    if (outcomes[i] == commit_outcome::committed) world_.leases->committed(process_);
    world_.check->settled(batches[i], outcomes[i]);
    if (outcomes[i] == commit_outcome::committed || outcomes[i] == commit_outcome::already_applied)
      world_.loss->saw({batches[i].epoch, batches[i].to_seq});
    if (outcomes[i] == commit_outcome::fenced && world_.leases->is_elsewhere(process_))
      world_.check->reached(rare::zombie_refused);
  }
  return outcomes;
}

/// Without twins it never fails, so that other seeds keep their sequence.
std::uint64_t ledger_connection::enlist(const std::string& node) {
  const bool has_faults = world_.options.faults.twin > 0;
  has_faults ? go_out() : pass();
  const auto incarnation = ask_ledger(world_, [&](ledger& l) { return l.enlist(node); });
  world_.leases->begun(process_);
  if (has_faults) come_back();
  has_begun_ = true;
  return incarnation;
}

bool ledger_connection::has_sale(std::span<const tenure> tenures) const {
  return std::ranges::find(tenures, world_.aggregate, &tenure::aggregate) != tenures.end();
}

acquire_result ledger_connection::acquire(aggregate_id aggregate, const lease_terms& lease,
                                          const std::optional<load_since>& since, const ledger_mark& seen) {
  go_out();
  const auto ask = [&] {
    try {
      return ask_ledger(world_, [&](ledger& l) { return l.acquire(aggregate, lease, since, seen); });
    } catch (const superseded&) {
      world_.check->reached(rare::earlier_refused);
      throw;
    }
  };
  auto result = ask();
  if (aggregate == world_.aggregate) note(result, lease);
  if (aggregate == world_.aggregate && std::holds_alternative<ledger_lost>(result)) world_.loss->noticed();
  come_back();
  if (const auto* got = std::get_if<acquired>(&result); got != nullptr && aggregate == world_.aggregate)
    world_.loss->saw({got->epoch, got->applied_seq});
  return result;
}

void ledger_connection::note(const acquire_result& result, const lease_terms& lease) const {
  if (std::holds_alternative<lease_held>(result)) world_.check->reached(rare::owned_elsewhere);
  const auto* got = std::get_if<acquired>(&result);
  if (got == nullptr) return;
  world_.check->owner_took(got->epoch);
  if (world_.options.lease_term.count() > 0) world_.leases->taken(process_, lease.term);
}

std::vector<lost_aggregate> ledger_connection::losses() { return world_.store->losses(); }

bool ledger_connection::accept_loss(aggregate_id aggregate, const audit_row& row) {
  return world_.store->accept_loss(aggregate, row);
}

lease_renewal ledger_connection::renew(const lease_terms& lease, std::span<const tenure> tenures) {
  go_out();
  auto renewal = ask_ledger(world_, [&](ledger& l) { return l.renew(lease, tenures); });
  const bool is_lost = std::ranges::find(renewal.lost, world_.aggregate) != renewal.lost.end();
  if (has_sale(tenures) && !is_lost) world_.leases->renewed(process_, lease.term);
  come_back();
  return renewal;
}

void ledger_connection::release(const std::string& owner, std::span<const tenure> tenures) {
  go_out();
  ask_ledger(world_, [&](ledger& l) { return l.release(owner, tenures); });
  if (has_sale(tenures)) world_.leases->released(process_);
  come_back();
}

std::vector<event_listing> ledger_connection::list_events(const event_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.list_events(filter); });
}

std::vector<aggregate_id> ledger_connection::aggregates_to_wake(const std::string& owner) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.aggregates_to_wake(owner); });
}

events_to_settle ledger_connection::find_events_to_settle(const std::string& owner, aggregate_id after) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.find_events_to_settle(owner, after); });
}

std::vector<block_row> ledger_connection::blocks() {
  return ask_ledger(world_, [&](ledger& l) { return l.blocks(); });
}

access_directory ledger_connection::directory() {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.directory(); });
}

std::vector<audit_row> ledger_connection::audit(const audit_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.audit(filter); });
}

std::vector<order_listing> ledger_connection::list_orders(const order_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.list_orders(filter); });
}

std::vector<transfer_listing> ledger_connection::list_transfers(const transfer_filter& filter) {
  return ask_ledger(world_, [&](ledger& l) { return l.list_transfers(filter); });
}

std::vector<statistics_row> ledger_connection::list_statistics(const statistics_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.list_statistics(filter); });
}

sale_figures ledger_connection::figures(aggregate_id aggregate) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.figures(aggregate); });
}

std::vector<event_ticket_listing> ledger_connection::list_event_tickets(const event_ticket_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.list_event_tickets(filter); });
}

std::vector<seat_plan_row> ledger_connection::list_seat_plans(const seat_plan_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.list_seat_plans(filter); });
}

std::vector<dead_letter_listing> ledger_connection::list_dead_letters(const dead_letter_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.list_dead_letters(filter); });
}

record_page ledger_connection::list_records(const record_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.list_records(filter); });
}

open_purchase ledger_connection::find_open_purchase(const customer_id& customer) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.find_open_purchase(customer); });
}

aggregate_id ledger_connection::last_aggregate() {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.last_aggregate(); });
}

std::vector<history_row> ledger_connection::history(aggregate_id aggregate) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.history(aggregate); });
}

aggregate_snapshot ledger_connection::peek(aggregate_id aggregate) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.peek(aggregate); });
}

aggregate_image ledger_connection::load(aggregate_id aggregate, const load_since& since) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.load(aggregate, since); });
}

std::optional<entry_row> ledger_connection::read_entry(aggregate_id aggregate, queue_number number) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.read_entry(aggregate, number); });
}

std::vector<node_row> ledger_connection::beat(const node_row& self, milliseconds alive_for) {
  go_out();
  auto nodes = ask_ledger(world_, [&](ledger& l) { return l.beat(self, alive_for); });
  come_back();
  return nodes;
}

void ledger_connection::leave(const std::string& node, std::uint64_t incarnation) {
  go_out();
  ask_ledger(world_, [&](ledger& l) { return l.leave(node, incarnation); });
  come_back();
}

std::size_t ledger_connection::end_leases(const node_row& last, bool is_silent, milliseconds term) {
  go_out();
  const auto ended = ask_ledger(world_, [&](ledger& l) { return l.end_leases(last, is_silent, term); });
  if (ended > 0) world_.leases->ended(last.id);
  come_back();
  return ended;
}

std::vector<std::uint32_t> ledger_connection::lease_outbox(const lease_terms& lease,
                                                           std::span<const std::uint32_t> wanted) {
  go_out();
  auto held = ask_ledger(world_, [&](ledger& l) { return l.lease_outbox(lease, wanted); });
  come_back();
  return held;
}

std::vector<outbox_item> ledger_connection::undelivered(lane which, std::span<const std::uint32_t> partitions,
                                                        std::size_t limit, aggregate_id after) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.undelivered(which, partitions, limit, after); });
}

notice_audience ledger_connection::audience(const audience_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.audience(filter); });
}

std::vector<device_row> ledger_connection::crowd(const crowd_filter& filter) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.crowd(filter); });
}

void ledger_connection::store_deliveries(std::span<const delivery_row> rows) {
  go_out();
  ask_ledger(world_, [&](ledger& l) { return l.store_deliveries(rows); });
  come_back();
}

std::vector<due_delivery> ledger_connection::take_deliveries(const due_filter& filter, timestamp now) {
  go_out();
  auto due = ask_ledger(world_, [&](ledger& l) { return l.take_deliveries(filter, now); });
  come_back();
  return due;
}

void ledger_connection::settle_deliveries(std::span<const delivery_row> rows) {
  go_out();
  ask_ledger(world_, [&](ledger& l) { return l.settle_deliveries(rows); });
  come_back();
}

std::vector<delivery_row> ledger_connection::list_deliveries(const delivery_filter& filter) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.list_deliveries(filter); });
}

bool ledger_connection::replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice,
                                        timestamp now) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.replay_delivery(tenant, target, notice, now); });
}

uuid ledger_connection::register_device(const device_row& device) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.register_device(device); });
}

std::vector<device_row> ledger_connection::list_devices(const uuid& holder) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.list_devices(holder); });
}

bool ledger_connection::remove_device(const uuid& holder, const uuid& device) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.remove_device(holder, device); });
}

void ledger_connection::end_device(const uuid& device, timestamp since, const std::string& reason,
                                   timestamp at) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.end_device(device, since, reason, at); });
}

bool ledger_connection::store_endpoint(const webhook_endpoint_row& endpoint) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.store_endpoint(endpoint); });
}

std::vector<webhook_endpoint_row> ledger_connection::list_endpoints(tenant_id tenant) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.list_endpoints(tenant); });
}

bool ledger_connection::disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                         timestamp at) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.disable_endpoint(endpoint, reason, since, at); });
}

bool ledger_connection::remove_endpoint(tenant_id tenant, const uuid& endpoint) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.remove_endpoint(tenant, endpoint); });
}

bool ledger_connection::store_picture(const picture_row& picture) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.store_picture(picture); });
}

std::vector<char> ledger_connection::find_picture(const std::string& id, picture_size size) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.find_picture(id, size); });
}

log_rows ledger_connection::read_log(aggregate_id aggregate, const log_wish& wish) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.read_log(aggregate, wish); });
}

std::optional<witnessed_row> ledger_connection::find_witnessed(const std::string& id) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.find_witnessed(id); });
}

std::vector<task_row> ledger_connection::keep_tasks(std::span<const task_row> finished, std::uint64_t after) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.keep_tasks(finished, after); });
}

bool ledger_connection::store_witnessed(const witnessed_row& next, const witnessed_before& before) {
  pass();
  return ask_ledger(world_, [&](ledger& l) { return l.store_witnessed(next, before); });
}

void ledger_connection::mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) {
  go_out();
  ask_ledger(world_, [&](ledger& l) { return l.mark_delivered(which, keys, at); });
  come_back();
}

std::size_t ledger_connection::prune(const prune_bounds& bounds) {
  go_out();
  return ask_ledger(world_, [&](ledger& l) { return l.prune(bounds); });
}

} // namespace fq::sim
