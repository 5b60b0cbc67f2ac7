// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_erasure.hpp"

#include "domain/base/address_text.hpp"

#include <utility>

namespace fq {
namespace {

const std::string empty_contacts = "UPDATE orders SET first_name = '', last_name = '', email = '', phone = "
                                   "'', account_email = '', language = 0, answers = ''";

} // namespace

sqlite_erasure::statements::statements(sqlite_db& db) :
    next(db, "SELECT id, to_erase, erase_round, erase_part, erase_waits, erase_aggregate, erase_seq,"
             " erase_ordinal FROM customer INDEXED BY customer_to_erase WHERE to_erase <> '' ORDER BY"
             " erase_round, id LIMIT 1"),
    store(db, "UPDATE customer SET to_erase = ?2, erase_round = ?3, erase_part = ?4, erase_waits = ?5,"
              " erase_aggregate = ?6, erase_seq = ?7, erase_ordinal = ?8 WHERE aggregate = 1 AND id = ?1"),
    end(db, "UPDATE customer SET to_erase = '', erase_round = 0, erase_part = 0, erase_waits = 0,"
            " erase_aggregate = 0, erase_seq = 0, erase_ordinal = 0 WHERE aggregate = 1 AND id = ?"),
    contacts(db, "SELECT aggregate, id, coalesce(nullif(account_email, ''), email) FROM orders INDEXED BY"
                 " order_of_customer WHERE customer = ? AND email <> '' LIMIT ?"),
    empty_contact(db, empty_contacts + " WHERE aggregate = ? AND id = ?"),
    given(db, "UPDATE event_ticket_transfer SET giver_email = '' WHERE (aggregate, id) IN (SELECT aggregate,"
              " id FROM event_ticket_transfer WHERE giver = ? AND giver_email <> '' LIMIT ?)"),
    received(db, "UPDATE event_ticket_transfer SET receiver_email = '' WHERE (aggregate, id) IN (SELECT"
                 " aggregate, id FROM event_ticket_transfer WHERE receiver = ? AND receiver_email <> '' LIMIT"
                 " ?)"),
    deliveries(db, "DELETE FROM delivery WHERE (target, notice) IN (SELECT target, notice FROM delivery WHERE"
                   " holder = ? LIMIT ?)"),
    devices(db, "DELETE FROM device WHERE id IN (SELECT id FROM device WHERE holder = ? LIMIT ?)"),
    outbox(db, "SELECT aggregate, seq, ordinal, payload, delivered_at <> 0 OR (lanes & 1) = 0 FROM outbox "
               "WHERE (aggregate, seq,"
               " ordinal) > (?, ?, ?) ORDER BY aggregate, seq, ordinal LIMIT ?"),
    answers(db, "SELECT aggregate, seq, ordinal, answer, 1 FROM idempotency WHERE (aggregate, seq, ordinal) >"
                " (?, ?, ?) ORDER BY aggregate, seq, ordinal LIMIT ?"),
    drop_outbox(db, "DELETE FROM outbox WHERE aggregate = ? AND seq = ? AND ordinal = ?"),
    drop_answer(db, "DELETE FROM idempotency WHERE aggregate = ? AND seq = ? AND ordinal = ?"),
    codes(db, "DELETE FROM code_request WHERE email = ?"),
    old_codes(db, "DELETE FROM otp WHERE email = ?"),
    account_deliveries(db, "SELECT target, notice, payload FROM delivery INDEXED BY delivery_of_accounts"
                           " WHERE topic = 'user.updated' AND instr(payload, ?) > 0"),
    letters(db, "SELECT aggregate, id, payload FROM dead_letter WHERE kind = 2 AND instr(payload, ?) > 0"),
    drop_delivery(db, "DELETE FROM delivery WHERE target = ? AND notice = ?"),
    empty_letter(db, "UPDATE dead_letter SET payload = '', status = 2 WHERE aggregate = ? AND id = ?"),
    old_contacts(db,
                 empty_contacts
                   + " WHERE (aggregate, id) IN (SELECT o.aggregate, o.id FROM event AS e CROSS JOIN"
                     " orders AS o INDEXED BY order_contact ON o.aggregate = e.aggregate AND o.email <> ''"
                     " WHERE e.status IN (3, 4) AND e.sale_end < ? AND o.status > 1 LIMIT ?)"),
    old_scans(db, "SELECT s.aggregate, s.id FROM event AS e CROSS JOIN checkin_scan AS s"
                  " INDEXED BY checkin_scan_by_ticket ON s.aggregate = e.aggregate"
                  " WHERE e.status IN (3, 4) AND max(e.sale_end, e.starts_at, e.ends_at) < ?1"
                  " AND s.received_at < ?1 AND (s.ticket = zeroblob(16) OR s.objection BETWEEN 1 AND 3"
                  " OR NOT EXISTS (SELECT 1 FROM"
                  " checkin_scan AS n INDEXED BY checkin_scan_by_ticket WHERE n.aggregate = s.aggregate"
                  " AND n.ticket = s.ticket AND n.received_at >= ?1))"
                  " ORDER BY e.aggregate, s.ticket, s.received_at, s.id LIMIT ?2"),
    drop_scan(db, "DELETE FROM checkin_scan WHERE aggregate = ? AND id = ?") {}

std::optional<erasure> sqlite_erasure::next_erasure() {
  auto& s = sql_.next.bind();
  if (!s.step()) return std::nullopt;
  erasure e{s.id(0),
            s.text(1),
            s.number<std::uint64_t>(2),
            s.number<erasure_part>(3),
            s.boolean(4),
            {s.number<aggregate_id>(5), s.number<std::uint64_t>(6), s.number<std::uint32_t>(7)}};
  s.reset();
  return e;
}

void sqlite_erasure::store_erasure(const erasure& e) {
  sql_.store.run(e.customer, e.names, e.round, e.part, e.waits, e.after.aggregate, e.after.seq,
                 e.after.ordinal);
}

void sqlite_erasure::end_erasure(const customer_id& customer) { sql_.end.run(customer); }

std::vector<order_contact> sqlite_erasure::contacts_of(const customer_id& customer, std::size_t limit) {
  std::vector<order_contact> orders;
  auto& s = sql_.contacts.bind(customer, limit);
  while (s.step()) orders.push_back({s.number<aggregate_id>(0), s.id(1), s.text(2)});
  return orders;
}

void sqlite_erasure::empty_contact(const order_contact& order) {
  sql_.empty_contact.run(order.aggregate, order.order);
}

std::size_t sqlite_erasure::empty_transfers(const customer_id& customer, std::size_t limit) {
  const auto given = static_cast<std::size_t>(sql_.given.run(customer, limit));
  return given + static_cast<std::size_t>(sql_.received.run(customer, limit - given));
}

std::size_t sqlite_erasure::erase_devices(const customer_id& customer, std::size_t limit) {
  const auto deliveries = static_cast<std::size_t>(sql_.deliveries.run(customer, limit));
  return deliveries + static_cast<std::size_t>(sql_.devices.run(customer, limit - deliveries));
}

std::vector<erasable_row> sqlite_erasure::rows_to_look_at(const erasure& e, std::size_t limit) {
  std::vector<erasable_row> rows;
  const bool is_outbox = e.part == erasure_part::outbox;
  auto& s =
    (is_outbox ? sql_.outbox : sql_.answers).bind(e.after.aggregate, e.after.seq, e.after.ordinal, limit);
  while (s.step()) {
    const outbox_key key{s.number<aggregate_id>(0), s.number<std::uint64_t>(1), s.number<std::uint32_t>(2)};
    if (is_outbox) {
      rows.push_back({key, s.text(3), s.boolean(4)});
    } else {
      const auto answer = s.blob(3);
      rows.push_back({key, {answer.begin(), answer.end()}, true});
    }
  }
  return rows;
}

void sqlite_erasure::erase_row_of(erasure_part part, const outbox_key& key) {
  (part == erasure_part::outbox ? sql_.drop_outbox : sql_.drop_answer)
    .run(key.aggregate, key.seq, key.ordinal);
}

void sqlite_erasure::erase_address(std::string_view address) {
  sql_.codes.run(address);
  sql_.old_codes.run(address);
  std::vector<std::pair<uuid, uuid>> deliveries; // deleted after the cursor has ended
  auto& d = sql_.account_deliveries.bind(address);
  while (d.step())
    if (names_address(d.text(2), address)) deliveries.emplace_back(d.id(0), d.id(1));
  for (const auto& [target, notice] : deliveries) sql_.drop_delivery.run(target, notice);
}

void sqlite_erasure::empty_letters(std::string_view name) {
  std::vector<std::pair<aggregate_id, uuid>> letters; // emptied after the cursor has ended
  auto& l = sql_.letters.bind(name);
  while (l.step())
    if (is_of(l.text(2), name)) letters.emplace_back(l.number<aggregate_id>(0), l.id(1));
  for (const auto& [aggregate, id] : letters) sql_.empty_letter.run(aggregate, id);
}

std::size_t sqlite_erasure::erase_old_contacts(timestamp before, std::size_t limit) {
  const auto contacts = static_cast<std::size_t>(sql_.old_contacts.run(before, limit));
  std::vector<std::pair<aggregate_id, uuid>> scans; // deleted after the cursor has ended
  auto& old = sql_.old_scans.bind(before, limit - contacts);
  while (old.step()) scans.emplace_back(old.number<aggregate_id>(0), old.id(1));
  for (const auto& [aggregate, id] : scans) sql_.drop_scan.run(aggregate, id);
  return contacts + scans.size();
}

} // namespace fq
