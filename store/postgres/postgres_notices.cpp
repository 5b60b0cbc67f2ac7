// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/postgres_notices.hpp"

#include "store/port/ledger_rows.hpp"
#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/postgres_unsynced.hpp"

#include <array>

namespace fq {
namespace {

static_assert(devices_per_holder_max == 10 && endpoints_per_tenant_max == 50
                && endpoints_per_organizer_max == 10,
              "two statements say so");

const std::string device_names = column_names<device_row>("d.");

const postgres_statement devices_of{
  "notice_devices", "SELECT " + device_names
                      + " FROM device AS d WHERE d.holder = ANY($1::uuid[]) AND d.gone_at = 0 ORDER BY d.id"};
const postgres_statement endpoints_on{
  "notice_endpoints",
  "SELECT " + column_names<webhook_endpoint_row>("e.")
    + " FROM webhook_endpoint AS e WHERE e.tenant = ANY($1::bigint[]) AND e.is_enabled ORDER BY e.id"};
const postgres_statement tenants_of{
  "notice_tenants",
  "SELECT DISTINCT k.customer, e.tenant FROM (SELECT holder AS customer, aggregate FROM event_ticket"
  " WHERE holder = ANY($1::uuid[])"
  " UNION SELECT customer, aggregate FROM orders WHERE customer = ANY($1::uuid[])"
  " AND guest = '00000000-0000-0000-0000-000000000000'::uuid"
  " UNION SELECT giver, aggregate FROM event_ticket_transfer WHERE giver = ANY($1::uuid[])"
  " UNION SELECT receiver, aggregate FROM event_ticket_transfer WHERE receiver = ANY($1::uuid[])"
  " AND status = 1) AS k JOIN event AS e ON e.aggregate = k.aggregate"};
/// From the holders to their devices, by an index on the holder.
const postgres_statement read_crowd{
  "notice_crowd", "SELECT " + device_names
                    + " FROM (SELECT id FROM device WHERE aggregate = $1::bigint AND gone_at = 0"
                      " UNION SELECT m.id FROM queue_entry AS q JOIN device AS m ON m.holder = q.subject AND "
                      "m.gone_at = 0 WHERE q.aggregate = $1::bigint AND q.status NOT IN (3, 7)"
                      " UNION SELECT m.id FROM orders AS o JOIN device AS m ON m.holder = o.customer AND "
                      "m.gone_at = 0 WHERE o.aggregate = $1::bigint"
                      " UNION SELECT m.id FROM event_ticket_transfer AS x JOIN event_ticket AS t ON "
                      "t.aggregate = x.aggregate AND t.id = x.ticket AND t.holder = x.receiver AND "
                      "(t.status <> 4 OR t.updated_at >= $4::bigint)"
                      " JOIN device AS m ON m.holder = x.receiver AND m.gone_at = 0 WHERE x.aggregate = "
                      "$1::bigint AND x.status = 1) AS c"
                      " JOIN device AS d ON d.id = c.id WHERE d.token COLLATE \"C\" > $2::text ORDER BY "
                      "d.token COLLATE \"C\", d.id LIMIT $3::bigint"};
std::string store_delivery_sql() {
  const auto t = table_of<delivery_row>();
  return "INSERT INTO delivery (" + names_of(t.inserted) + ") SELECT * FROM " + postgres_given(t.inserted)
         + " ON CONFLICT DO NOTHING";
}
const postgres_statement store_delivery{"store_delivery", store_delivery_sql()};
/// Concurrent nodes do not wait for each other. `due`: query for the rows to take, locked.
std::string take_sql(const std::string& due) {
  return "WITH RECURSIVE " + due
         + ", before AS (SELECT v.* FROM delivery AS v JOIN due USING (target, notice)),"
           " held AS (UPDATE delivery AS h SET due_at = $2::bigint + $4::bigint FROM due WHERE h.target = "
           "due.target AND h.notice = due.notice RETURNING h.target)"
           " SELECT "
         + column_names<delivery_row>("v.") + ", " + device_names + ", "
         + column_names<webhook_endpoint_row>("e.")
         + " FROM before AS v LEFT JOIN device AS d ON d.id = v.target"
           " LEFT JOIN webhook_endpoint AS e ON e.id = v.target ORDER BY v.due_at, v.target, v.notice";
}
const postgres_statement take_due{"take_deliveries",
                                  take_sql("due AS (SELECT target, notice FROM delivery WHERE state = 0 AND "
                                           "channel = $1::bigint AND due_at <= $2::bigint"
                                           " AND tenant <> ALL($5::bigint[]) ORDER BY due_at, target, notice "
                                           "LIMIT $3::bigint FOR UPDATE SKIP LOCKED)")};
/// Skips from one target to the next in the index, independent of their row counts.
const postgres_statement take_due_of_each{
  "take_deliveries_of_each",
  take_sql("targets (target) AS (SELECT (SELECT target FROM delivery WHERE state = 0 AND channel = "
           "$1::bigint ORDER BY target LIMIT 1) UNION ALL"
           " SELECT (SELECT n.target FROM delivery AS n WHERE n.state = 0 AND n.channel = $1::bigint AND "
           "n.target > t.target ORDER BY n.target LIMIT 1)"
           " FROM targets AS t WHERE t.target IS NOT NULL),"
           " wanted AS (SELECT w.target, w.notice FROM targets AS t CROSS JOIN LATERAL (SELECT o.target, "
           "o.notice, o.due_at, o.tenant FROM delivery AS o"
           " WHERE o.state = 0 AND o.channel = $1::bigint AND o.target = t.target AND o.due_at <= $2::bigint "
           "ORDER BY o.due_at, o.notice"
           " LIMIT CASE WHEN t.target = ANY($6::uuid[]) THEN $7::bigint ELSE $9::bigint END) AS w WHERE "
           "t.target <> ALL($8::uuid[])"
           " AND w.tenant <> ALL($5::bigint[]) ORDER BY w.due_at, w.target, w.notice LIMIT $3::bigint),"
           " due AS (SELECT l.target, l.notice FROM wanted JOIN delivery AS l USING (target, notice) WHERE "
           "l.state = 0 AND l.due_at <= $2::bigint"
           " FOR UPDATE OF l SKIP LOCKED)")};
std::string settle_sql() {
  const auto t = table_of<delivery_row>();
  return "UPDATE delivery AS v SET "
         + join_columns(t.changed, ", ",
                        [](const sql_column& c) { return std::string{c.name} + " = given." + c.name; })
         + " FROM " + postgres_given(t.keys + t.changed)
         + " WHERE v.target = given.target AND v.notice = given.notice AND v.state = 0";
}
const postgres_statement settle{"settle_deliveries", settle_sql()};
/// Filters by one indexed column only: every row read is a row returned.
std::string list_sql(const std::string& whose) {
  return "SELECT " + column_names<delivery_row>("v.") + " FROM delivery AS v WHERE v." + whose
         + " AND (v.notice, v.target) < ($2::uuid, $3::uuid)"
           " ORDER BY v.notice DESC, v.target DESC LIMIT $4::bigint";
}
const postgres_statement list_target{"list_deliveries_target", list_sql("target = $1::uuid")};
const postgres_statement list_holder{"list_deliveries_holder", list_sql("holder = $1::uuid")};
const postgres_statement list_tenant{"list_deliveries_tenant", list_sql("tenant = $1::bigint")};
const postgres_statement replay{
  "replay_delivery",
  "UPDATE delivery SET state = 0, due_at = $4::bigint, expires_at = $5::bigint, attempts = 0, ended_at = 0"
  " WHERE target = $2::uuid AND notice = $3::uuid AND tenant = $1::bigint AND state <> 0"};
std::string store_device_sql() {
  const auto t = table_of<device_row>();
  const auto given = sql_columns{{"aggregate", "bigint"}} + t.inserted;
  return "INSERT INTO device (" + names_of(given) + ") SELECT * FROM " + postgres_given(given)
         + " ON CONFLICT (holder, channel, token) DO UPDATE SET " + replacements_of(t.changed)
         + " RETURNING id";
}
const postgres_statement store_device{"register_device", store_device_sql()};
const postgres_statement forget_devices{
  "forget_devices", "DELETE FROM device WHERE id IN (SELECT id FROM device WHERE holder = $1::uuid AND "
                    "gone_at = 0 ORDER BY registered_at DESC, id DESC OFFSET 10)"};
const postgres_statement devices_newest_first{"list_devices",
                                              "SELECT " + device_names
                                                + " FROM device AS d WHERE d.holder = $1::uuid AND d.gone_at "
                                                  "= 0 ORDER BY d.registered_at DESC, d.id DESC"};
const postgres_statement drop_device{"remove_device",
                                     "DELETE FROM device WHERE holder = $1::uuid AND id = $2::uuid"};
const postgres_statement end{"end_device",
                             "UPDATE device SET gone_at = $4::bigint, gone_reason = $3::text WHERE (token, "
                             "channel) = (SELECT token, channel FROM device WHERE id = $1::uuid)"
                             " AND gone_at = 0 AND registered_at <= $2::bigint"};
/// A repeated call changes nothing.
std::string add_endpoint_sql() {
  const auto t = table_of<webhook_endpoint_row>();
  return "INSERT INTO webhook_endpoint (" + names_of(t.inserted) + ") SELECT * FROM "
         + postgres_given(t.inserted)
         + " WHERE EXISTS (SELECT 1 FROM webhook_endpoint AS w WHERE w.id = given.id)"
           " OR ((SELECT count(*) FROM webhook_endpoint AS w WHERE w.tenant = given.tenant) < 50"
           " AND (given.organizer = '00000000-0000-0000-0000-000000000000'::uuid"
           " OR (SELECT count(*) FROM webhook_endpoint AS w"
           " WHERE w.tenant = given.tenant AND w.organizer = given.organizer) < 10))"
           " ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at"
           " WHERE webhook_endpoint.updated_at = excluded.updated_at";
}
const postgres_statement add_endpoint{"add_endpoint", add_endpoint_sql()};
std::string change_endpoint_sql() {
  const auto t = table_of<webhook_endpoint_row>();
  return "UPDATE webhook_endpoint AS w SET "
         + join_columns(t.changed, ", ",
                        [](const sql_column& c) { return std::string{c.name} + " = given." + c.name; })
         + " FROM " + postgres_given(t.keys + t.changed + sql_columns{{"replaces", "bigint"}})
         + " WHERE w.id = given.id AND w.tenant = given.tenant AND w.updated_at = given.replaces";
}
const postgres_statement change_endpoint{"change_endpoint", change_endpoint_sql()};
const postgres_statement all_endpoints{
  "list_endpoints", "SELECT " + column_names<webhook_endpoint_row>("e.")
                      + " FROM webhook_endpoint AS e WHERE e.tenant = $1::bigint ORDER BY e.id"};
/// `took`: a query that finds a delivery that the endpoint accepted since $3. It scans the endpoint's
/// deliveries from the newest back or, for a recent $3, all deliveries by end time. CASE skips it for a
/// disabled endpoint, which AND does not guarantee.
std::string disable_sql(const std::string& took) {
  return "UPDATE webhook_endpoint SET is_enabled = false, off_reason = $2::text, updated_at = "
         "greatest($4::bigint, updated_at + 1)"
         " WHERE id = $1::uuid AND CASE WHEN is_enabled AND updated_at <= $3::bigint THEN ("
         + took + ") IS NULL ELSE false END";
}
const postgres_statement turn_off{"disable_endpoint",
                                  disable_sql("SELECT 1 FROM delivery WHERE target = $1::uuid AND state = 1 "
                                              "AND ended_at > $3::bigint ORDER BY notice DESC LIMIT 1")};
const postgres_statement turn_off_at_once{
  "disable_endpoint_at_once", disable_sql("SELECT 1 FROM (SELECT target, state FROM delivery WHERE state <> "
                                          "0 AND ended_at > $3::bigint ORDER BY ended_at DESC OFFSET 0) AS v"
                                          " WHERE v.target = $1::uuid AND v.state = 1 LIMIT 1")};
const postgres_statement drop_endpoint{
  "remove_endpoint", "DELETE FROM webhook_endpoint WHERE tenant = $1::bigint AND id = $2::uuid"};
const postgres_statement prune_deliveries{
  "prune_deliveries", "DELETE FROM delivery WHERE (target, notice) IN (SELECT target, notice FROM delivery "
                      "WHERE state <> 0 AND ended_at < $1::bigint LIMIT $2::bigint)"};
const postgres_statement prune_devices{
  "prune_devices",
  "DELETE FROM device WHERE id IN (SELECT id FROM device WHERE registered_at < $1::bigint LIMIT $2::bigint)"};

postgres_result run_unsynced(postgres_connection& db, const postgres_statement& statement,
                             const postgres_parameters& parameters) {
  postgres_unsynced transaction(db);
  transaction.send(statement, parameters);
  return transaction.run();
}

template <class Of>
auto rows_of(const postgres_result& result, Of of) {
  std::vector<decltype(of(result[0]))> rows;
  for (int i = 0; i < result.size(); ++i) rows.push_back(of(result[i]));
  return rows;
}

constexpr auto device_of = row_from<device_row>;
constexpr auto endpoint_of = row_from<webhook_endpoint_row>;
constexpr auto delivery_of = row_from<delivery_row>;

known_customer known_customer_of(const postgres_row& r) { return {r.id(0), r.number<tenant_id>(1)}; }

} // namespace

postgres_notices::postgres_notices(postgres_connection& db) : pictures(db), witness(db), tasks(db), db_(db) {
  db.prepare(std::array{devices_of,
                        endpoints_on,
                        tenants_of,
                        read_crowd,
                        store_delivery,
                        take_due,
                        take_due_of_each,
                        settle,
                        list_target,
                        list_holder,
                        list_tenant,
                        replay,
                        store_device,
                        forget_devices,
                        devices_newest_first,
                        drop_device,
                        end,
                        add_endpoint,
                        change_endpoint,
                        all_endpoints,
                        turn_off,
                        turn_off_at_once,
                        drop_endpoint,
                        prune_deliveries,
                        prune_devices});
}

notice_audience postgres_notices::audience(const audience_filter& filter) {
  notice_audience all;
  auto tenants = filter.tenants;
  const auto ids = [](const auto& values) {
    return postgres_parameters::of(postgres_array::of(std::span{values}));
  };
  if (!filter.customers.empty())
    all.known = rows_of(db_.run(tenants_of, ids(filter.customers)), known_customer_of);
  std::ranges::sort(all.known);
  for (const auto& k : all.known) tenants.push_back(k.tenant);
  postgres_pipeline pipeline(db_);
  pipeline.send(devices_of, ids(filter.holders));
  pipeline.send(endpoints_on, ids(tenants));
  pipeline.flush();
  all.devices = rows_of(pipeline.receive(), device_of);
  all.endpoints = rows_of(pipeline.receive(), endpoint_of);
  return all;
}

std::vector<device_row> postgres_notices::crowd(const crowd_filter& f) {
  return rows_of(db_.run(read_crowd, postgres_parameters::of(f.aggregate, f.after, f.limit, f.cancelled_at)),
                 device_of);
}

void postgres_notices::store_deliveries(std::span<const delivery_row> rows) {
  if (rows.empty()) return;
  postgres_columns columns;
  for (const auto& r : rows) add_inserted(columns, r, {});
  run_unsynced(db_, store_delivery, std::move(columns).parameters());
}

std::vector<due_delivery> postgres_notices::take_deliveries(const due_filter& filter, timestamp now) {
  auto p = postgres_parameters::of(filter.way, now, filter.limit, filter.hold,
                                   postgres_array::of(std::span{filter.busy_tenants}));
  if (filter.per_target == 0) return rows_of(run_unsynced(db_, take_due, p), due_delivery_of);
  p.add(postgres_array::of(std::span{filter.trusted}));
  p.add(filter.per_target);
  p.add(postgres_array::of(std::span{filter.busy}));
  p.add(filter.per_other);
  return rows_of(run_unsynced(db_, take_due_of_each, p), due_delivery_of);
}

void postgres_notices::settle_deliveries(std::span<const delivery_row> rows) {
  if (rows.empty()) return;
  postgres_columns columns;
  for (const auto& r : rows) add_updated(columns, r, {});
  run_unsynced(db_, settle, std::move(columns).parameters());
}

std::vector<delivery_row> postgres_notices::list_deliveries(const delivery_filter& f) {
  const auto part = [&](const postgres_statement& s, const auto& whose) {
    return rows_of(
      db_.run(s, postgres_parameters::of(whose, cursor_of(f.before),
                                         f.before.is_nil() ? cursor_of({}) : f.before_target, f.limit)),
      delivery_of);
  };
  if (!f.target.is_nil()) return part(list_target, f.target);
  if (!f.holder.is_nil()) return part(list_holder, f.holder);
  if (f.tenant) return part(list_tenant, *f.tenant);
  return {};
}

bool postgres_notices::replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice,
                                       timestamp now) {
  return db_
           .run(replay,
                postgres_parameters::of(tenant, target, notice, now, now + rules_of(channel::webhook).life))
           .affected()
         == 1;
}

uuid postgres_notices::register_device(const device_row& d) {
  postgres_pipeline pipeline(db_);
  postgres_columns row;
  row.push(owner_of(d.holder));
  each_cell(d, is_inserted, [&](const auto& cell) { row.push(cell); });
  pipeline.send(store_device, std::move(row).parameters());
  pipeline.send(forget_devices, postgres_parameters::of(d.holder));
  pipeline.flush();
  const auto id = pipeline.receive()[0].id(0);
  pipeline.receive();
  return id;
}

std::vector<device_row> postgres_notices::list_devices(const uuid& holder) {
  return rows_of(db_.run(devices_newest_first, postgres_parameters::of(holder)), device_of);
}

bool postgres_notices::remove_device(const uuid& holder, const uuid& device) {
  return db_.run(drop_device, postgres_parameters::of(holder, device)).affected() == 1;
}

void postgres_notices::end_device(const uuid& device, timestamp since, const std::string& reason,
                                  timestamp at) {
  db_.run(end, postgres_parameters::of(device, since, reason, at));
}

bool postgres_notices::store_endpoint(const webhook_endpoint_row& e) {
  postgres_columns row;
  if (is_set(e.replaces)) {
    add_updated(row, e, {});
    row.push(e.replaces);
  } else {
    add_inserted(row, e, {});
  }
  return db_.run(is_set(e.replaces) ? change_endpoint : add_endpoint, std::move(row).parameters()).affected()
         == 1;
}

std::vector<webhook_endpoint_row> postgres_notices::list_endpoints(tenant_id tenant) {
  return rows_of(db_.run(all_endpoints, postgres_parameters::of(tenant)), endpoint_of);
}

bool postgres_notices::disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                                        timestamp at) {
  return db_
           .run(at < since + a_moment ? turn_off_at_once : turn_off,
                postgres_parameters::of(endpoint, reason, since, at))
           .affected()
         == 1;
}

bool postgres_notices::remove_endpoint(tenant_id tenant, const uuid& endpoint) {
  return db_.run(drop_endpoint, postgres_parameters::of(tenant, endpoint)).affected() == 1;
}

std::size_t postgres_notices::prune(const prune_bounds& bounds, std::size_t limit) {
  auto gone = db_.run(prune_deliveries, postgres_parameters::of(bounds.deliveries_before, limit)).affected();
  gone += db_.run(prune_devices, postgres_parameters::of(bounds.devices_before, limit - gone)).affected();
  return gone + pictures.prune(bounds.pictures_before, limit - gone);
}

} // namespace fq
