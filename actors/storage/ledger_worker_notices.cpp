// SPDX-License-Identifier: Apache-2.0
// The ledger worker's requests about notices (devices, endpoints, deliveries) and pictures.
#include "actors/storage/ledger_worker.hpp"

#include <algorithm>

namespace fq {

/// Runs `work`; answers unavailable if the ledger is.
ack_reply ledger_worker_state::done(const std::function<void()>& work) {
  return reached(work) ? ack_reply{} : ack_reply{reason::unavailable};
}

/// As done(); not_found if `work` returns false.
ack_reply ledger_worker_state::found(const std::function<bool()>& work) {
  bool is_there = false;
  if (!reached([&] { is_there = work(); })) return {reason::unavailable};
  return is_there ? ack_reply{} : ack_reply{reason::not_found};
}

audience_found ledger_worker_state::find(const find_audience& x) {
  auto content = std::make_shared<notice_audience>();
  if (!reached([&] { *content = ledger_->audience(x.filter); })) return {reason::unavailable, nullptr};
  return {{}, std::move(content)};
}

devices_reply ledger_worker_state::find(const find_crowd& x) {
  auto devices = std::make_shared<std::vector<device_row>>();
  if (!reached([&] { *devices = ledger_->crowd(x.filter); })) return {reason::unavailable, nullptr};
  return {{}, std::move(devices)};
}

deliveries_taken ledger_worker_state::take(const fq::take_deliveries& x) {
  auto due = std::make_shared<std::vector<due_delivery>>();
  if (!reached([&] { *due = ledger_->take_deliveries(x.filter, clock_->now()); }))
    return {reason::unavailable, nullptr};
  return {{}, std::move(due)};
}

count_reply ledger_worker_state::disable(const fq::disable_endpoint& x) {
  count_reply reply;
  bool did = false;
  if (!reached([&] { did = ledger_->disable_endpoint(x.endpoint, x.why, x.since, clock_->now()); }))
    reply.no = reason::unavailable;
  reply.count = did ? 1 : 0;
  return reply;
}

deliveries_reply ledger_worker_state::list(const fq::list_deliveries& x) {
  deliveries_reply reply;
  if (!reached([&] { reply.rows = ledger_->list_deliveries(x.filter); })) reply.no = reason::unavailable;
  return reply;
}

device_reply ledger_worker_state::add(const fq::register_device& x) {
  device_reply reply;
  if (!reached([&] { reply.id = ledger_->register_device(x.device); })) reply.no = reason::unavailable;
  return reply;
}

devices_reply ledger_worker_state::list(const fq::list_devices& x) {
  auto devices = std::make_shared<std::vector<device_row>>();
  if (!reached([&] { *devices = ledger_->list_devices(x.holder); })) return {reason::unavailable, nullptr};
  return {{}, std::move(devices)};
}

/// The holder's newest delivery is found by an index, whatever the log's size. No other write happens between
/// the read and the store.
ack_reply ledger_worker_state::store(const fq::store_deliveries& x) {
  bool is_pending = false;
  const bool did = reached([&] {
    if (x.alone && !x.rows->empty()) {
      const auto newest = ledger_->list_deliveries({.holder = x.rows->front().holder, .limit = 1});
      is_pending = !newest.empty() && newest.front().state == delivery_state::pending
                   && x.rows->front().created_at < newest.front().created_at + test_pause;
    }
    if (!is_pending) ledger_->store_deliveries(*x.rows);
  });
  if (!did) return {reason::unavailable};
  return is_pending ? ack_reply{{reason::invalid_transition, std::string{to_string(delivery_state::pending)}}}
                    : ack_reply{};
}

ack_reply ledger_worker_state::store(const fq::store_endpoint& x) {
  bool fits = false;
  if (!reached([&] { fits = ledger_->store_endpoint(x.endpoint); })) return {reason::unavailable};
  return fits
           ? ack_reply{}
           : ack_reply{
             {reason::invalid_field,
              "url: " + std::string{has_its_share(x.endpoint) ? "the organizer has 10" : "the tenant has 50"}
                + " endpoints already; remove some"}};
}

/// True: the organizer's limit is reached, else the tenant's. Only for the text of a refusal.
bool ledger_worker_state::has_its_share(const webhook_endpoint_row& mine) {
  std::vector<webhook_endpoint_row> all;
  if (mine.organizer.is_nil() || !reached([&] { all = ledger_->list_endpoints(mine.tenant); })) return false;
  return static_cast<std::size_t>(std::ranges::count(all, mine.organizer, &webhook_endpoint_row::organizer))
         >= endpoints_per_organizer_max;
}

endpoints_reply ledger_worker_state::list(const fq::list_endpoints& x) {
  endpoints_reply reply;
  if (!reached([&] { reply.endpoints = ledger_->list_endpoints(x.tenant); })) reply.no = reason::unavailable;
  return reply;
}

ack_reply ledger_worker_state::store(const fq::store_picture& x) {
  bool fits = false;
  if (!reached([&] { fits = ledger_->store_picture(*x.picture); })) return {reason::unavailable};
  return fits ? ack_reply{} : ack_reply{reason::picture_limit};
}

log_read ledger_worker_state::find(const fq::read_log& x) {
  auto rows = std::make_shared<log_rows>();
  if (!reached([&] { *rows = ledger_->read_log(x.aggregate, x.wish); }))
    return {reason::unavailable, nullptr};
  if (!rows->state) return {reason::not_found, nullptr};
  return {{}, std::move(rows)};
}

picture_found ledger_worker_state::find(const fq::find_picture& x) {
  std::vector<char> bytes;
  if (!reached([&] { bytes = ledger_->find_picture(x.id, x.size); })) return {reason::unavailable, nullptr};
  if (bytes.empty()) return {reason::not_found, nullptr};
  return {{}, std::make_shared<const std::string>(bytes.begin(), bytes.end())};
}

witnessed_found ledger_worker_state::find(const fq::find_witnessed& x) {
  std::optional<witnessed_row> row;
  if (!reached([&] { row = ledger_->find_witnessed(x.id); })) return {reason::unavailable, nullptr};
  if (!row) return {reason::not_found, nullptr};
  return {{}, std::make_shared<const witnessed_row>(std::move(*row))};
}

witnessed_stored ledger_worker_state::store(const fq::store_witnessed& x) {
  bool is_stored = false;
  if (!reached([&] { is_stored = ledger_->store_witnessed(*x.next, x.before); }))
    return {reason::unavailable};
  return {{}, is_stored};
}

} // namespace fq
