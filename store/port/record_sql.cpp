// SPDX-License-Identifier: Apache-2.0
#include "store/port/record_sql.hpp"

#include "domain/base/address_text.hpp"

#include <algorithm>

namespace fq {
namespace {

/// By record_kind, with the columns of seen_record_of. A parameter is @ and its letter. The first rows of a
/// table without an index are read as they come, and page_of() chooses.
constexpr std::array<std::string_view, record_kinds> statements{
  "SELECT q.aggregate, q.queue_number, NULL, NULL, q.status, NULL, NULL, q.priority_class, q.joined_at,"
  " q.admitted_at, q.ended_at, e.id, q.subject, NULL FROM (SELECT * FROM queue_entry"
  " WHERE (aggregate, queue_number) > (@a, @n) ORDER BY aggregate, queue_number LIMIT @l) AS q"
  " LEFT JOIN event AS e ON e.aggregate = q.aggregate ORDER BY q.aggregate, q.queue_number",

  "SELECT c.aggregate, NULL, NULL, c.id, c.status, NULL, c.amount, CAST((SELECT sum(quantity) FROM"
  " claim_item AS t WHERE t.aggregate = c.aggregate AND t.claim = c.id) AS bigint), c.created_at,"
  " c.expires_at, c.ended_at, e.id, c.customer, NULL FROM (SELECT * FROM claim"
  " WHERE (aggregate, id) > (@a, @i) ORDER BY aggregate, id LIMIT @l) AS c"
  " LEFT JOIN event AS e ON e.aggregate = c.aggregate ORDER BY c.aggregate, c.id",

  "SELECT p.aggregate, NULL, NULL, p.id, p.status, p.gateway, p.amount, p.refunded, p.created_at,"
  " p.updated_at, NULL, e.id, p.customer, NULL FROM (SELECT * FROM payment"
  " WHERE (aggregate, id) > (@a, @i) ORDER BY aggregate, id LIMIT @l) AS p"
  " LEFT JOIN event AS e ON e.aggregate = p.aggregate ORDER BY p.aggregate, p.id",

  "SELECT p.aggregate, NULL, NULL, NULL, NULL, NULL, NULL, p.priority_class, p.created_at, NULL, NULL, e.id,"
  " NULL, NULL FROM event_priority AS p LEFT JOIN event AS e ON e.aggregate = p.aggregate"
  " WHERE p.customer = @c AND p.aggregate > @a ORDER BY p.aggregate LIMIT @l",

  "SELECT i.aggregate, NULL, NULL, NULL, NULL, NULL, NULL, i.quantity, i.told_at, NULL, i.valid_until, e.id,"
  " NULL, NULL FROM event_invitation AS i LEFT JOIN event AS e ON e.aggregate = i.aggregate"
  " WHERE i.customer = @c AND i.aggregate > @a ORDER BY i.aggregate LIMIT @l",

  "SELECT NULL, NULL, NULL, t.id, t.status, y.name, NULL, NULL, t.created_at, t.updated_at, NULL, e.id,"
  " NULL, NULL FROM event_ticket AS t LEFT JOIN event AS e ON e.aggregate = t.aggregate"
  " LEFT JOIN ticket_type AS y ON y.aggregate = t.aggregate AND y.ordinal = t.ticket_type"
  " WHERE t.holder = @c AND t.id > @i ORDER BY t.id LIMIT @l",

  "SELECT NULL, NULL, NULL, o.id, o.status, CASE WHEN o.giver = @c THEN 'given' ELSE 'received' END, NULL,"
  " NULL, o.created_at, o.expires_at, o.ended_at, e.id, NULL, NULL FROM event_ticket_transfer AS o"
  " LEFT JOIN event AS e ON e.aggregate = o.aggregate"
  " WHERE (o.giver = @c OR o.receiver = @c) AND o.id > @i ORDER BY o.id LIMIT @l",

  "SELECT NULL, NULL, NULL, s.id, s.type, l.name, NULL, CAST(CASE WHEN s.is_admitted THEN 1"
  " ELSE 0 END AS bigint),"
  " s.scanned_at, NULL, NULL, e.id, NULL, NULL FROM checkin_scan AS s"
  " JOIN event_ticket AS t ON t.aggregate = s.aggregate AND t.id = s.ticket"
  " LEFT JOIN event AS e ON e.aggregate = s.aggregate"
  " LEFT JOIN checkin_list AS l ON l.aggregate = s.aggregate AND l.id = s.list"
  " WHERE t.holder = @c AND s.id > @i ORDER BY s.id LIMIT @l",

  "SELECT NULL, b.tenant, NULL, b.organizer, NULL, NULL, NULL, NULL, b.created_at, NULL, NULL, NULL, NULL, "
  "NULL"
  " FROM blocked_customer AS b WHERE b.customer = @c AND (b.tenant, b.organizer) > (@n, @i)"
  " ORDER BY b.tenant, b.organizer LIMIT @l",

  "SELECT NULL, NULL, NULL, d.id, d.channel, NULL, NULL, NULL, d.registered_at, NULL, d.gone_at, NULL, NULL,"
  " NULL FROM device AS d WHERE d.holder = @c AND d.id > @i ORDER BY d.id LIMIT @l",

  "SELECT NULL, NULL, NULL, v.notice, min(v.state), min(v.topic), NULL, count(*), min(v.created_at), NULL,"
  " max(v.ended_at), NULL, NULL, NULL FROM delivery AS v WHERE v.holder = @c AND v.notice > @i"
  " GROUP BY v.notice ORDER BY v.notice LIMIT @l",

  "SELECT o.aggregate, o.seq, o.ordinal, o.id, NULL, o.topic, NULL, NULL, o.created_at, NULL, o.delivered_at,"
  " e.id, NULL, o.payload FROM (SELECT * FROM outbox WHERE (aggregate, seq, ordinal) > (@a, @n, @o)"
  " ORDER BY aggregate, seq, ordinal LIMIT @l) AS o LEFT JOIN event AS e ON e.aggregate = o.aggregate"
  " ORDER BY o.aggregate, o.seq, o.ordinal",

  "SELECT l.aggregate, NULL, NULL, l.id, l.status, NULL, NULL, NULL, l.created_at, l.updated_at, NULL, e.id,"
  " NULL, CASE WHEN l.kind = 2 THEN l.payload END FROM (SELECT * FROM dead_letter"
  " WHERE (aggregate, id) > (@a, @i) ORDER BY aggregate, id LIMIT @l) AS l"
  " LEFT JOIN event AS e ON e.aggregate = l.aggregate ORDER BY l.aggregate, l.id",
};

/// A guest's open order does not count: its claim is not yet the customer's.
constexpr std::string_view open_purchases =
  "SELECT CASE WHEN EXISTS (SELECT 1 FROM orders AS o JOIN claim AS h ON h.aggregate = o.aggregate"
  " AND h.id = o.claim AND h.customer = o.customer WHERE o.customer = @c AND o.status IN (0, 1))"
  " OR EXISTS (SELECT 1 FROM payment WHERE customer = @c AND status IN (0, 1, 5, 6)) THEN 2"
  " WHEN EXISTS (SELECT 1 FROM claim WHERE customer = @c AND status IN (0, 1)) THEN 1 ELSE 0 END";

record_statement marked(std::string_view text, std::string (*mark)(char, std::size_t)) {
  record_statement result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '@') {
      result.sql += text[i];
      continue;
    }
    result.parameters += text[++i];
    result.sql += mark(text[i], result.parameters.size());
  }
  return result;
}

bool is_own(const record_filter& filter, const seen_record& seen) {
  const auto kind = seen.record.at.kind;
  if (!is_scanned(kind)) return true;
  if (kind < record_kind::mail) return seen.subject == filter.customer;
  return names_address(seen.naming, filter.address)
         || std::ranges::find(filter.orders, order_of_mail(seen.naming)) != filter.orders.end();
}

} // namespace

record_statement record_statement_of(record_kind kind, std::string (*mark)(char, std::size_t)) {
  return marked(statements.at(static_cast<std::size_t>(kind)), mark);
}

record_statement open_purchase_statement(std::string (*mark)(char, std::size_t)) {
  return marked(open_purchases, mark);
}

record_page page_of(const record_filter& filter, std::vector<seen_record> seen) {
  record_page page;
  const auto kind = filter.after.kind;
  const bool is_last_of_kind = seen.size() < filter.limit;
  page.more = !is_last_of_kind || kind != record_kind::letter;
  if (!is_last_of_kind)
    page.next = seen.empty() ? filter.after : seen.back().record.at;
  else if (page.more)
    page.next.kind = static_cast<record_kind>(static_cast<std::uint8_t>(kind) + 1);
  for (auto& s : seen)
    if (is_own(filter, s)) page.records.push_back(std::move(s.record));
  return page;
}

} // namespace fq
