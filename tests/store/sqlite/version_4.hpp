// SPDX-License-Identifier: Apache-2.0
// The content of a version 4 ledger, and its expected rows after the upgrade.
#pragma once
#include "tests/store/port/engines.hpp"

#include <sstream>

namespace fq::test {

/// Two events: 16 has version 4's defaults, 17 has explicit settings. Event 16 has a claim with its payment,
/// refund and order. `id`: formats an id for the engine's SQL.
inline std::string rows_of_version_4(const std::function<std::string(const uuid&)>& id) {
  std::ostringstream sql;
  const auto at = std::to_string(unix_ms(noon));
  sql << "INSERT INTO tenant (id, name, subject_jwk, created_at) VALUES (2, 'arena', '{}', " << at << ");";
  for (const auto aggregate : {sale, other_sale}) {
    const auto e = sample_event(aggregate);
    const auto n = number_of(aggregate);
    sql << "INSERT INTO aggregate (number, kind, epoch, applied_seq) VALUES (" << n << ", 2, 7, 40);"
        << "INSERT INTO event (aggregate, id, organizer, name, currency, status, queue_opens_at, sale_start, "
           "sale_end, policy,"
           " concurrency, rate_per_minute, batch_size, admission_interval_ms, over_admission_percent, "
           "session_ttl_ms, claim_window_ms,"
           " ticket_ttl_ms, claim_ttl_ms, claims_per_customer, created_at, updated_at) VALUES ("
        << n << ", " << id(e.id) << ", " << id(e.organizer) << ", '" << e.name << "', 'NGN', 0, " << at
        << ", " << unix_ms(e.sale_start) << ", " << unix_ms(e.sale_end)
        << ", 0, 200, 0, 50, 5000, 110, 1200000, 300000, 0, 600000, 1, " << at << ", " << at << ");";
  }
  sql << "UPDATE event SET async_percent = 37 WHERE aggregate = 17;";
  const auto claim = sample_claim(1, 1);
  const auto payment = sample_payment(1, claim);
  const auto refund = sample_refund(1, payment);
  const auto order = sample_order(1, claim);
  sql << "INSERT INTO claim (aggregate, id, customer, queue_number, status, live_slot, item_count, amount, "
         "created_at, expires_at,"
         " ended_at) VALUES (16, "
      << id(claim.id) << ", " << id(claim.customer) << ", 1, 0, 0, 0, 5000, " << at << ", "
      << unix_ms(claim.expires_at) << ", 0);"
      << "INSERT INTO payment (aggregate, id, claim, customer, status, gateway, reference, "
         "authorization_url, amount, captured,"
         " refunded, created_at, updated_at) VALUES (16, "
      << id(payment.id) << ", " << id(claim.id) << ", " << id(claim.customer)
      << ", 0, 'sandbox', 'fq-1', '', 5000, 5000, 100, " << at << ", " << at << ");"
      << "INSERT INTO refund (aggregate, id, payment, status, amount, attempts, next_attempt_at, created_at, "
         "updated_at) VALUES (16, "
      << id(refund.id) << ", " << id(payment.id) << ", 0, 5000, 0, " << at << ", " << at << ", " << at << ");"
      << "INSERT INTO orders (aggregate, id, claim, customer, status, first_name, last_name, email, phone, "
         "promo_code, subtotal,"
         " discount, donations, platform_fee, processing_fee, total, success_url, cancel_url, failure, "
         "created_at, updated_at)"
         " VALUES (16, "
      << id(order.id) << ", " << id(claim.id) << ", " << id(claim.customer)
      << ", 0, 'Zo\xc3\xab', 'O''Brien', 'zoe@example.org', '+234 1', '', 5000, 0, 0, 150, 179, 5329, '', "
         "'', '', "
      << at << ", " << at << ");";
  return sql.str();
}

/// Checks the same rows: new columns have their defaults, and the aggregates accept new batches.
inline void check_rows_of_version_4(ledger& store) {
  owner me(store);
  const auto image = me.take(sale).image;
  CAF_CHECK_EQUAL(me.epoch(sale), 8u);
  auto event = sample_event(); // inherits
  event.questions.clear();
  CAF_CHECK((image.event == event));
  const auto chosen = store.peek(other_sale).image.event;
  CAF_CHECK_EQUAL(chosen->async_percent, 37);
  auto claim = sample_claim(1, 1);
  claim.items.clear();
  CAF_CHECK((image.claims == std::vector{claim}));
  auto payment = sample_payment(1, claim);
  payment.captured = 5'000;
  payment.refunded = 100;
  CAF_CHECK((image.payments == std::vector{payment}));
  const auto refund = sample_refund(1, payment);
  CAF_CHECK((image.refunds == std::vector{refund}));
  auto order = sample_order(1, claim);
  order.contact.account_email.clear(); // was not stored
  order.contact.language = language::en; // the same
  order.contact.answers.clear();
  CAF_CHECK((image.orders == std::vector{order}));
  CAF_CHECK(image.dead_letters.empty() && image.priorities.empty());
  const auto directory = store.directory();
  CAF_CHECK((directory.tenants.back() == tenant_row{tenant_id{2}, "arena", "{}", "", noon}));
  CAF_CHECK(directory.settings.empty());
  CAF_CHECK((store.list_orders({.customer = claim.customer})
             == std::vector{order_listing{sample_event().id, sample_event().name, "NGN", order}}));
  event.async_percent = -2;
  FQ_CONFLICTS(me.put(sale, {event_changed{event.status, event}}));
  event.async_percent = 100; // now an explicit setting
  payment.tax = 200;
  payment.status = payment_status::pending;
  FQ_COMMITS(
    me.put(sale, {event_changed{event.status, event}, payment_moved{payment_status::initializing, payment}}));
  CAF_CHECK((store.peek(sale).image.event->async_percent == 100));
  CAF_CHECK((store.peek(sale).image.payments == std::vector{payment}));
}

} // namespace fq::test
