// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/postgres_erasure.hpp"

#include "domain/base/address_text.hpp"

#include <array>

namespace fq {
namespace {

const std::string empty_contacts = "UPDATE orders SET first_name = '', last_name = '', email = '', phone = "
                                   "'', account_email = '', language = 0, answers = ''";

const postgres_statement next_to_erase{
  "next_to_erase", "SELECT id, to_erase, erase_round, erase_part, erase_waits, erase_aggregate, erase_seq,"
                   " erase_ordinal FROM customer WHERE to_erase <> '' ORDER BY erase_round, id LIMIT 1"};
const postgres_statement store_progress{
  "store_progress",
  "UPDATE customer SET to_erase = $2, erase_round = $3::bigint, erase_part = $4::bigint, erase_waits ="
  " $5::bigint, erase_aggregate = $6::bigint, erase_seq = $7::bigint, erase_ordinal = $8::bigint WHERE"
  " aggregate = 1 AND id = $1"};
const postgres_statement end_of_erasure{
  "end_of_erasure", "UPDATE customer SET to_erase = '', erase_round = 0, erase_part = 0, erase_waits = 0,"
                    " erase_aggregate = 0, erase_seq = 0, erase_ordinal = 0 WHERE aggregate = 1 AND id = $1"};
const postgres_statement own_contacts{
  "own_contacts",
  "SELECT aggregate, id, coalesce(nullif(account_email, ''), email) FROM orders WHERE customer = $1"
  " AND email <> '' LIMIT $2::bigint"};
const postgres_statement drop_contact{"drop_contact",
                                      empty_contacts + " WHERE aggregate = $1::bigint AND id = $2"};
const postgres_statement own_given{
  "own_given", "UPDATE event_ticket_transfer SET giver_email = '' WHERE (aggregate, id) IN (SELECT aggregate,"
               " id FROM event_ticket_transfer WHERE giver = $1 AND giver_email <> '' LIMIT $2::bigint)"};
const postgres_statement own_received{
  "own_received",
  "UPDATE event_ticket_transfer SET receiver_email = '' WHERE (aggregate, id) IN (SELECT aggregate, id FROM"
  " event_ticket_transfer WHERE receiver = $1 AND receiver_email <> '' LIMIT $2::bigint)"};
const postgres_statement own_deliveries{
  "own_deliveries",
  "DELETE FROM delivery WHERE (target, notice) IN (SELECT target, notice FROM delivery WHERE"
  " holder = $1 LIMIT $2::bigint)"};
const postgres_statement own_devices{
  "own_devices", "DELETE FROM device WHERE id IN (SELECT id FROM device WHERE holder = $1 LIMIT $2::bigint)"};
const postgres_statement look_at_outbox{
  "look_at_outbox", "SELECT aggregate, seq, ordinal, payload, delivered_at <> 0 OR (lanes & 1) = 0 FROM "
                    "outbox WHERE (aggregate,"
                    " seq, ordinal) > ($1::bigint, $2::bigint, $3::bigint) ORDER BY aggregate, seq, ordinal"
                    " LIMIT $4::bigint"};
const postgres_statement look_at_answers{
  "look_at_answers",
  "SELECT aggregate, seq, ordinal, answer FROM idempotency WHERE (aggregate, seq, ordinal) >"
  " ($1::bigint, $2::bigint, $3::bigint) ORDER BY aggregate, seq, ordinal LIMIT $4::bigint"};
const postgres_statement drop_outbox{
  "drop_outbox",
  "DELETE FROM outbox WHERE aggregate = $1::bigint AND seq = $2::bigint AND ordinal = $3::bigint"};
const postgres_statement drop_answer{
  "drop_answer",
  "DELETE FROM idempotency WHERE aggregate = $1::bigint AND seq = $2::bigint AND ordinal = $3::bigint"};
const postgres_statement drop_codes{"drop_codes", "DELETE FROM code_request WHERE email = $1"};
const postgres_statement drop_old_codes{"drop_old_codes", "DELETE FROM otp WHERE email = $1"};
const postgres_statement account_deliveries{
  "account_deliveries",
  "SELECT target, notice, payload FROM delivery WHERE topic = 'user.updated' AND strpos(payload, $1) > 0"};
const postgres_statement naming_letters{
  "naming_letters",
  "SELECT aggregate, id, payload FROM dead_letter WHERE kind = 2 AND strpos(payload, $1) > 0"};
const postgres_statement drop_delivery{"drop_delivery",
                                       "DELETE FROM delivery WHERE target = $1 AND notice = $2"};
const postgres_statement empty_letter{
  "empty_letter", "UPDATE dead_letter SET payload = '', status = 2 WHERE aggregate = $1::bigint AND id = $2"};
const postgres_statement old_contacts{
  "old_contacts",
  empty_contacts
    + " WHERE (aggregate, id) IN (SELECT o.aggregate, o.id FROM event AS e JOIN orders AS o ON o.aggregate ="
      " e.aggregate AND o.email <> '' WHERE e.status IN (3, 4) AND e.sale_end < $1::bigint AND o.status > 1"
      " LIMIT $2::bigint)"};
/// The inner limit lets the index of one event give its rows in order. The newest scan of a ticket is one
/// seek; NOT EXISTS would be a hash table of all new scans.
const postgres_statement old_scans{
  "old_scans",
  "DELETE FROM checkin_scan WHERE (aggregate, id) IN (SELECT e.aggregate, due.id FROM event AS e CROSS JOIN"
  " LATERAL (SELECT s.ticket, s.received_at, s.id FROM checkin_scan AS s WHERE s.aggregate = e.aggregate AND"
  " s.received_at < $1::bigint AND (s.ticket = '00000000-0000-0000-0000-000000000000' OR s.objection BETWEEN"
  " 1 AND 3 OR (SELECT n.received_at FROM checkin_scan AS n WHERE n.aggregate = s.aggregate AND n.ticket ="
  " s.ticket ORDER BY n.aggregate DESC, n.ticket DESC, n.received_at DESC LIMIT 1) < $1::bigint)"
  " ORDER BY s.aggregate, s.ticket, s.received_at, s.id LIMIT $2::bigint) AS due WHERE e.status IN (3, 4) AND"
  " greatest(e.sale_end, e.starts_at, e.ends_at) < $1::bigint ORDER BY e.aggregate, due.ticket,"
  " due.received_at, due.id LIMIT $2::bigint)"};

} // namespace

postgres_erasure::postgres_erasure(postgres_connection& db) : db_(db) {
  db.prepare(std::array{next_to_erase,      store_progress, end_of_erasure, own_contacts, drop_contact,
                        own_given,          own_received,   own_deliveries, own_devices,  look_at_outbox,
                        look_at_answers,    drop_outbox,    drop_answer,    drop_codes,   drop_old_codes,
                        account_deliveries, naming_letters, drop_delivery,  empty_letter, old_contacts,
                        old_scans});
}

std::optional<erasure> postgres_erasure::next_erasure() {
  const auto found = db_.run(next_to_erase, {});
  if (found.size() == 0) return std::nullopt;
  const auto r = found[0];
  return erasure{r.id(0),
                 r.text(1),
                 r.number<std::uint64_t>(2),
                 r.number<erasure_part>(3),
                 r.integer(4) != 0,
                 {r.number<aggregate_id>(5), r.number<std::uint64_t>(6), r.number<std::uint32_t>(7)}};
}

void postgres_erasure::store_erasure(const erasure& e) {
  const std::int64_t waits = e.waits ? 1 : 0;
  db_.run(store_progress, postgres_parameters::of(e.customer, e.names, e.round, e.part, waits,
                                                  e.after.aggregate, e.after.seq, e.after.ordinal));
}

void postgres_erasure::end_erasure(const customer_id& customer) {
  db_.run(end_of_erasure, postgres_parameters::of(customer));
}

std::vector<order_contact> postgres_erasure::contacts_of(const customer_id& customer, std::size_t limit) {
  std::vector<order_contact> orders;
  const auto found = db_.run(own_contacts, postgres_parameters::of(customer, limit));
  for (int i = 0; i < found.size(); ++i)
    orders.push_back({found[i].number<aggregate_id>(0), found[i].id(1), found[i].text(2)});
  return orders;
}

void postgres_erasure::empty_contact(const order_contact& order) {
  db_.run(drop_contact, postgres_parameters::of(order.aggregate, order.order));
}

std::size_t postgres_erasure::empty_transfers(const customer_id& customer, std::size_t limit) {
  const auto given = db_.run(own_given, postgres_parameters::of(customer, limit)).affected();
  return given + db_.run(own_received, postgres_parameters::of(customer, limit - given)).affected();
}

std::size_t postgres_erasure::erase_devices(const customer_id& customer, std::size_t limit) {
  const auto deliveries = db_.run(own_deliveries, postgres_parameters::of(customer, limit)).affected();
  return deliveries + db_.run(own_devices, postgres_parameters::of(customer, limit - deliveries)).affected();
}

std::vector<erasable_row> postgres_erasure::rows_to_look_at(const erasure& e, std::size_t limit) {
  const bool is_outbox = e.part == erasure_part::outbox;
  const auto found = db_.run(is_outbox ? look_at_outbox : look_at_answers,
                             postgres_parameters::of(e.after.aggregate, e.after.seq, e.after.ordinal, limit));
  std::vector<erasable_row> rows;
  for (int i = 0; i < found.size(); ++i) {
    const auto r = found[i];
    const outbox_key key{r.number<aggregate_id>(0), r.number<std::uint64_t>(1), r.number<std::uint32_t>(2)};
    if (is_outbox) {
      rows.push_back({key, r.text(3), r.boolean(4)});
    } else {
      const auto answer = r.blob(3);
      rows.push_back({key, {answer.begin(), answer.end()}, true});
    }
  }
  return rows;
}

void postgres_erasure::erase_row_of(erasure_part part, const outbox_key& key) {
  db_.run(part == erasure_part::outbox ? drop_outbox : drop_answer,
          postgres_parameters::of(key.aggregate, key.seq, key.ordinal));
}

void postgres_erasure::erase_address(std::string_view address) {
  for (const auto* statement : {&drop_codes, &drop_old_codes})
    db_.run(*statement, postgres_parameters::of(address));
  const auto deliveries = db_.run(account_deliveries, postgres_parameters::of(address));
  for (int i = 0; i < deliveries.size(); ++i)
    if (const auto d = deliveries[i]; names_address(d.text(2), address))
      db_.run(drop_delivery, postgres_parameters::of(d.id(0), d.id(1)));
}

void postgres_erasure::empty_letters(std::string_view name) {
  const auto letters = db_.run(naming_letters, postgres_parameters::of(name));
  for (int i = 0; i < letters.size(); ++i)
    if (const auto l = letters[i]; is_of(l.text(2), name))
      db_.run(empty_letter, postgres_parameters::of(l.number<aggregate_id>(0), l.id(1)));
}

std::size_t postgres_erasure::erase_old_contacts(timestamp before, std::size_t limit) {
  const auto contacts = db_.run(old_contacts, postgres_parameters::of(before, limit)).affected();
  return contacts + db_.run(old_scans, postgres_parameters::of(before, limit - contacts)).affected();
}

} // namespace fq
