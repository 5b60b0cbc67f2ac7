// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_notices.hpp"

#include "store/port/ledger_rows.hpp"
#include "store/sqlite/sqlite_rows.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace fq {
namespace {

static_assert(devices_per_holder_max == 10 && endpoints_per_tenant_max == 50
                && endpoints_per_organizer_max == 10,
              "statements say so");

template <class Of>
auto collect(sqlite_statement& s, Of of) {
  std::vector<decltype(of(s))> rows;
  while (s.step()) rows.push_back(of(s));
  return rows;
}

/// Filters by one indexed column only: every row read is a row returned.
std::string list_sql(const std::string& whose) {
  return "SELECT " + column_names<delivery_row>("v.") + " FROM delivery AS v WHERE v." + whose
         + " = ?1 AND (v.notice, v.target) < (?2, ?3)"
           " ORDER BY v.notice DESC, v.target DESC LIMIT ?4";
}

/// `took`: a query that finds a delivery that the endpoint accepted since ?3. It scans the endpoint's
/// deliveries from the newest back or, for a recent ?3, all deliveries by end time. CASE skips it for a
/// disabled endpoint, which AND does not guarantee.
std::string disable_sql(const std::string& took) {
  return "UPDATE webhook_endpoint SET is_enabled = 0, off_reason = ?2, updated_at = max(?4, updated_at + 1) "
         "WHERE id = ?1"
         " AND CASE WHEN is_enabled AND updated_at <= ?3 THEN ("
         + took + ") IS NULL ELSE 0 END";
}

/// "?,?,…"
std::string unnumbered(std::size_t count) {
  std::string marks = "?";
  for (std::size_t i = 1; i < count; ++i) marks += ",?";
  return marks;
}

constexpr auto device_of = row_from<device_row>;
constexpr auto endpoint_of = row_from<webhook_endpoint_row>;
constexpr auto delivery_of = row_from<delivery_row>;

const std::string device_names = column_names<device_row>("d.");

/// INSERT of an endpoint within the limits, which a repeated call changes nothing of.
std::string add_endpoint_sql() {
  const auto t = table_of<webhook_endpoint_row>();
  return "INSERT INTO webhook_endpoint (" + names_of(t.inserted) + ") SELECT * FROM (SELECT "
         + join_columns(t.inserted, ", ", [](const sql_column& c) { return std::string{"? AS "} + c.name; })
         + ") AS given WHERE EXISTS (SELECT 1 FROM webhook_endpoint AS w WHERE w.id = given.id)"
           " OR ((SELECT count(*) FROM webhook_endpoint AS w WHERE w.tenant = given.tenant) < 50"
           " AND (given.organizer = zeroblob(16) OR (SELECT count(*) FROM webhook_endpoint AS w"
           " WHERE w.tenant = given.tenant AND w.organizer = given.organizer) < 10))"
           " ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at"
           " WHERE webhook_endpoint.updated_at = excluded.updated_at";
}

std::string register_device_sql() {
  const auto t = table_of<device_row>();
  return insert_sql(t.name, sql_columns{{"aggregate", "bigint"}} + t.inserted)
         + " ON CONFLICT (holder, channel, token) DO UPDATE SET " + replacements_of(t.changed)
         + " RETURNING id";
}

} // namespace

sqlite_notices::statements::statements(sqlite_db& db) :
    devices_of(
      db,
      "SELECT " + device_names
        + " FROM device AS d WHERE d.holder = ?1 AND d.gone_at = 0 ORDER BY d.registered_at DESC, d.id DESC"),
    endpoints_on(db, "SELECT " + column_names<webhook_endpoint_row>("e.")
                       + " FROM webhook_endpoint AS e WHERE e.tenant = ?1 AND e.is_enabled ORDER BY e.id"),
    tenants_of(db, "SELECT DISTINCT e.tenant FROM (SELECT aggregate FROM event_ticket WHERE holder = ?1"
                   " UNION SELECT aggregate FROM orders WHERE customer = ?1 AND guest = zeroblob(16)"
                   " UNION SELECT aggregate FROM event_ticket_transfer WHERE giver = ?1"
                   " UNION SELECT aggregate FROM event_ticket_transfer WHERE receiver = ?1 AND status = 1)"
                   " AS k CROSS JOIN event AS e ON e.aggregate = k.aggregate ORDER BY e.tenant"),
    crowd(db, "SELECT " + device_names
                + " FROM (SELECT id FROM device WHERE aggregate = ?1"
                  " UNION SELECT m.id FROM queue_entry AS q CROSS JOIN device AS m ON m.holder = q.subject "
                  "WHERE q.aggregate = ?1 AND q.status NOT IN (3, 7)"
                  " UNION SELECT m.id FROM orders AS o CROSS JOIN device AS m ON m.holder = o.customer WHERE "
                  "o.aggregate = ?1"
                  " UNION SELECT m.id FROM event_ticket_transfer AS x CROSS JOIN event_ticket AS t ON "
                  "t.aggregate = x.aggregate AND t.id = x.ticket AND t.holder = x.receiver AND (t.status <> "
                  "4 OR t.updated_at >= ?4)"
                  " CROSS JOIN device AS m ON m.holder = x.receiver WHERE x.aggregate = ?1 AND x.status = 1) "
                  "AS c"
                  " CROSS JOIN device AS d ON d.id = c.id WHERE d.token > ?2 AND d.gone_at = 0 ORDER BY "
                  "d.token, d.id LIMIT ?3"),
    store_delivery(db, insert_sql(table_of<delivery_row>()) + " ON CONFLICT DO NOTHING"),
    due(db, "SELECT " + due_delivery_names
              + " FROM delivery AS v INDEXED BY delivery_due"
                " LEFT JOIN device AS d ON d.id = v.target LEFT JOIN webhook_endpoint AS e ON e.id = v.target"
                " WHERE v.state = 0 AND v.channel = ?1 AND v.due_at <= ?2"
                " AND v.tenant NOT IN ("
              + unnumbered(busy_tenants_max) + ") ORDER BY v.due_at, v.target, v.notice LIMIT ?"),
    next_target(db, "SELECT target FROM delivery INDEXED BY delivery_of_target WHERE state = 0 AND channel = "
                    "?1 AND target > ?2 ORDER BY target LIMIT 1"),
    due_of_target(
      db, "SELECT " + due_delivery_names
            + " FROM delivery AS v INDEXED BY delivery_of_target"
              " LEFT JOIN device AS d ON d.id = v.target LEFT JOIN webhook_endpoint AS e ON e.id = v.target"
              " WHERE v.state = 0 AND v.channel = ?1 AND v.target = ?2 AND v.due_at <= ?3 ORDER BY v.due_at, "
              "v.notice LIMIT ?4"),
    hold(db, "UPDATE delivery SET due_at = ?3 WHERE target = ?1 AND notice = ?2"),
    settle(db, update_sql(table_of<delivery_row>()) + " AND state = 0"),
    list_target(db, list_sql("target")),
    list_holder(db, list_sql("holder")),
    list_tenant(db, list_sql("tenant")),
    replay(db, "UPDATE delivery SET state = 0, due_at = ?4, expires_at = ?5, attempts = 0, ended_at = 0"
               " WHERE target = ?2 AND notice = ?3 AND tenant = ?1 AND state <> 0"),
    register_device(db, register_device_sql()),
    forget_devices(db, "DELETE FROM device WHERE id IN (SELECT id FROM device WHERE holder = ?1 AND gone_at "
                       "= 0 ORDER BY registered_at DESC, id DESC LIMIT -1 OFFSET 10)"),
    remove_device(db, "DELETE FROM device WHERE holder = ? AND id = ?"),
    end_device(db, "UPDATE device SET gone_at = ?4, gone_reason = ?3 WHERE (token, channel) = (SELECT token, "
                   "channel FROM device WHERE id = ?1)"
                   " AND gone_at = 0 AND registered_at <= ?2"),
    add_endpoint(db, add_endpoint_sql()),
    change_endpoint(db, update_sql(table_of<webhook_endpoint_row>()) + " AND updated_at = ?"),
    endpoints_of(db, "SELECT " + column_names<webhook_endpoint_row>("e.")
                       + " FROM webhook_endpoint AS e WHERE e.tenant = ?1 ORDER BY e.id"),
    disable_endpoint(db, disable_sql("SELECT 1 FROM delivery WHERE target = ?1 AND state = 1 AND ended_at > "
                                     "?3 ORDER BY notice DESC LIMIT 1")),
    disable_endpoint_at_once(db, disable_sql("SELECT 1 FROM delivery INDEXED BY delivery_ended WHERE state "
                                             "<> 0 AND ended_at > ?3 AND target = ?1 AND state = 1 LIMIT 1")),
    remove_endpoint(db, "DELETE FROM webhook_endpoint WHERE tenant = ? AND id = ?"),
    prune_deliveries(db, "DELETE FROM delivery WHERE (target, notice) IN (SELECT target, notice FROM "
                         "delivery WHERE state <> 0 AND ended_at < ?1 LIMIT ?2)"),
    prune_devices(
      db, "DELETE FROM device WHERE id IN (SELECT id FROM device WHERE registered_at < ?1 LIMIT ?2)") {}

sqlite_notices::sqlite_notices(sqlite_db& db) : pictures(db), witness(db), tasks(db), sql_(db) {}

notice_audience sqlite_notices::audience(const audience_filter& filter) {
  notice_audience all;
  std::set<tenant_id> told(filter.tenants.begin(), filter.tenants.end());
  for (const auto& customer : filter.customers)
    for (auto& s = sql_.tenants_of.bind(customer); s.step();)
      all.known.push_back({customer, s.number<tenant_id>(0)});
  std::ranges::sort(all.known);
  for (const auto& k : all.known) told.insert(k.tenant);
  for (const auto& holder : filter.holders)
    for (auto& d : collect(sql_.devices_of.bind(holder), device_of)) all.devices.push_back(std::move(d));
  for (const auto tenant : told)
    for (auto& e : collect(sql_.endpoints_on.bind(tenant), endpoint_of))
      all.endpoints.push_back(std::move(e));
  std::ranges::sort(all.devices, {}, &device_row::id);
  std::ranges::sort(all.endpoints, {}, &webhook_endpoint_row::id);
  return all;
}

std::vector<device_row> sqlite_notices::crowd(const crowd_filter& filter) {
  return collect(sql_.crowd.bind(filter.aggregate, filter.after, filter.limit, filter.cancelled_at),
                 device_of);
}

void sqlite_notices::store_delivery(const delivery_row& r) { insert_row(sql_.store_delivery, r, {}); }

std::vector<due_delivery> sqlite_notices::due_of_all(const due_filter& filter, timestamp now) {
  auto& s = sql_.due.bind(filter.way, now);
  for (std::size_t i = 0; i < busy_tenants_max; ++i)
    s.bind_more(i < filter.busy_tenants.size() ? static_cast<std::int64_t>(filter.busy_tenants[i]) : -1);
  s.bind_more(filter.limit);
  return collect(s, due_delivery_of);
}

/// Skips from one target to the next in the index, independent of their row counts.
std::vector<due_delivery> sqlite_notices::due_of_each(const due_filter& filter, timestamp now) {
  const std::set<uuid> busy(filter.busy.begin(), filter.busy.end()),
    trusted(filter.trusted.begin(), filter.trusted.end());
  std::vector<uuid> targets;
  for (uuid at; sql_.next_target.bind(filter.way, at).step();) {
    at = sql_.next_target.id(0);
    sql_.next_target.reset();
    if (!busy.contains(at)) targets.push_back(at);
  }
  std::vector<due_delivery> due;
  for (const auto& target : targets) {
    const std::uint32_t most = trusted.contains(target) ? filter.per_target : filter.per_other;
    for (auto& d : collect(sql_.due_of_target.bind(filter.way, target, now, most), due_delivery_of))
      if (std::ranges::find(filter.busy_tenants, d.row.tenant) == filter.busy_tenants.end())
        due.push_back(std::move(d));
  }
  std::ranges::sort(due, {}, [](const due_delivery& d) {
    return std::tuple{d.row.due_at, d.row.target, d.row.notice};
  });
  if (due.size() > filter.limit) due.resize(filter.limit);
  return due;
}

std::vector<due_delivery> sqlite_notices::take_deliveries(const due_filter& filter, timestamp now) {
  auto due = filter.per_target > 0 ? due_of_each(filter, now) : due_of_all(filter, now);
  for (const auto& d : due) sql_.hold.run(d.row.target, d.row.notice, now + filter.hold);
  return due;
}

void sqlite_notices::settle_delivery(const delivery_row& r) { update_row(sql_.settle, r, {}); }

std::vector<delivery_row> sqlite_notices::list_deliveries(const delivery_filter& f) {
  const auto part = [&](sqlite_statement& s, const auto& whose) {
    return collect(
      s.bind(whose, cursor_of(f.before), f.before.is_nil() ? cursor_of({}) : f.before_target, f.limit),
      delivery_of);
  };
  if (!f.target.is_nil()) return part(sql_.list_target, f.target);
  if (!f.holder.is_nil()) return part(sql_.list_holder, f.holder);
  if (f.tenant) return part(sql_.list_tenant, *f.tenant);
  return {};
}

bool sqlite_notices::replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice,
                                     timestamp now) {
  return sql_.replay.run(tenant, target, notice, now, now + rules_of(channel::webhook).life) == 1;
}

uuid sqlite_notices::register_device(const device_row& d) {
  uuid id = d.id;
  auto& s = sql_.register_device;
  sqlite_row_binder binder(s);
  binder.value(owner_of(d.holder));
  binder.fields(d, is_inserted);
  while (s.step()) id = s.id(0);
  sql_.forget_devices.run(d.holder);
  return id;
}

std::vector<device_row> sqlite_notices::list_devices(const uuid& holder) {
  return collect(sql_.devices_of.bind(holder), device_of);
}

bool sqlite_notices::remove_device(const uuid& holder, const uuid& device) {
  return sql_.remove_device.run(holder, device) == 1;
}

void sqlite_notices::end_device(const uuid& device, timestamp since, const std::string& reason,
                                timestamp at) {
  sql_.end_device.run(device, since, reason, at);
}

bool sqlite_notices::store_endpoint(const webhook_endpoint_row& e) {
  sqlite_row_binder binder(is_set(e.replaces) ? sql_.change_endpoint : sql_.add_endpoint);
  if (is_set(e.replaces)) {
    binder.fields(e, is_updated);
    binder.fields(e, is_key);
    binder.value(e.replaces);
  } else {
    binder.fields(e, is_inserted);
  }
  return binder.run() == 1;
}

std::vector<webhook_endpoint_row> sqlite_notices::list_endpoints(tenant_id tenant) {
  return collect(sql_.endpoints_of.bind(tenant), endpoint_of);
}

bool sqlite_notices::disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                      timestamp at) {
  return (at < since + a_moment ? sql_.disable_endpoint_at_once : sql_.disable_endpoint)
           .run(endpoint, reason, since, at)
         == 1;
}

bool sqlite_notices::remove_endpoint(tenant_id tenant, const uuid& endpoint) {
  return sql_.remove_endpoint.run(tenant, endpoint) == 1;
}

std::size_t sqlite_notices::prune(const prune_bounds& bounds, std::size_t limit) {
  auto gone = static_cast<std::size_t>(sql_.prune_deliveries.run(bounds.deliveries_before, limit));
  gone += static_cast<std::size_t>(sql_.prune_devices.run(bounds.devices_before, limit - gone));
  return gone + pictures.prune(bounds.pictures_before, limit - gone);
}

} // namespace fq
