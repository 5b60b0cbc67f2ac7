// SPDX-License-Identifier: Apache-2.0
// Webhook endpoints and delivery logs, over a ledger worker with a memory ledger.
#define CAF_SUITE routes_notices
#include "caf/test/unit_test.hpp"

#include "actors/storage/ledger_worker.hpp"
#include "net/wire/delivery_page.hpp"
#include "store/memory/memory_ledger.hpp"
#include "tests/net/api/world.hpp"

#include <algorithm>
#include <atomic>
#include <map>

namespace notices_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

const tenant_id acme{2}, other{3};
const timestamp noon = from_unix_ms(1'800'000'000'000);

uuid id_of(std::uint64_t n) { return make_uuid(noon, accounts_aggregate, n); }

delivery_row delivery(std::uint64_t n, const uuid& target, delivery_state state = delivery_state::delivered,
                      channel way = channel::webhook) {
  return {.target = target,
          .notice = id_of(1'000 + n),
          .way = way,
          .tenant = acme,
          .holder = {},
          .topic = "order.completed",
          .payload = "{}",
          .created_at = noon,
          .expires_at = never,
          .state = state,
          .due_at = noon,
          .attempts = 1,
          .status = 200,
          .reason = {},
          .ended_at = noon};
}

/// Newest first.
using log = std::vector<delivery_row>;

log log_of(std::size_t count, const std::map<std::uint64_t, delivery_state>& special = {}) {
  log rows;
  for (std::uint64_t n = count; n > 0; --n)
    rows.push_back(delivery(n, id_of(1), special.contains(n) ? special.at(n) : delivery_state::delivered));
  return rows;
}

struct looked {
  std::vector<std::uint64_t> notices; ///< numbered by log_of
  std::string cursor;
  std::vector<std::size_t> pieces; ///< number of rows per read
};

/// A page as the route reads it, from a log in memory.
looked look(const log& all, delivery_query query) {
  looked seen;
  delivery_page page(std::move(query));
  while (const auto piece = page.next()) {
    log part;
    for (const auto& row : all)
      if (part.size() < piece->limit
          && (piece->before.is_nil()
              || std::pair{row.notice, row.target} < std::pair{piece->before, piece->before_target}))
        part.push_back(row);
    seen.pieces.push_back(part.size());
    page.look_at(std::move(part), piece->limit);
  }
  for (const auto& row : page.rows())
    for (std::uint64_t n = 1; n <= all.size(); ++n)
      if (row.notice == id_of(1'000 + n)) seen.notices.push_back(n);
  seen.cursor = page.cursor();
  return seen;
}

using numbers = std::vector<std::uint64_t>;

/// The reads of the log.
struct reads {
  std::atomic<std::size_t> parts = 0, rows = 0, most = 0;
  void clear() { parts = rows = most = 0; }
};

/// A proxy before the worker: counts reads of the log and may replace their answers.
notices_handle::behavior_type counter(notices_handle::pointer self, notices_handle worker,
                                      std::shared_ptr<reads> seen) {
  const auto pass = [self, worker](const auto& x) { return self->delegate(worker, x); };
  return {[pass](const store_deliveries& x) { return pass(x); },
          [pass, seen](const list_deliveries& x) {
            ++seen->parts;
            seen->rows += x.filter.limit;
            seen->most = std::max(seen->most.load(), std::size_t{x.filter.limit});
            return pass(x);
          },
          [pass](const replay_delivery& x) { return pass(x); },
          [pass](const register_device& x) { return pass(x); },
          [pass](const list_devices& x) { return pass(x); },
          [pass](const remove_device& x) { return pass(x); },
          [pass](const store_endpoint& x) { return pass(x); },
          [pass](const list_endpoints& x) { return pass(x); },
          [pass](const remove_endpoint& x) { return pass(x); },
          [pass](const store_picture& x) { return pass(x); },
          [pass](const find_picture& x) { return pass(x); },
          [pass](const find_witnessed& x) { return pass(x); },
          [pass](const read_log& x) { return pass(x); },
          [pass](const store_witnessed& x) { return pass(x); }};
}

struct notice_world : world {
  memory_ledger store{{.now = [this] { return clock.wall_now(); }}};
  std::shared_ptr<reads> seen = std::make_shared<reads>();
  ledger_worker_handle worker =
    system.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&clock),
                 ledger_worker_settings{.prune_interval = std::chrono::hours{24}});
  notices_handle notices = system.spawn(counter, notices_handle{worker}, seen);
  notice_world() { ctx.notices = notices; }
  ~notice_world() {
    ctx.notices = nullptr;
    caf::scoped_actor self{system};
    for (const auto& a : {caf::actor_cast<caf::actor>(notices), caf::actor_cast<caf::actor>(worker)}) {
      self->send_exit(a, caf::exit_reason::user_shutdown);
      self->wait_for(a);
    }
  }

  uuid endpoint(const text_fields& who) {
    const auto made =
      send(method::post, "/webhook-endpoints", R"({"url":"https://hooks.example.org/"})", who);
    CAF_REQUIRE_EQUAL(made.status, 201u);
    return parse_uuid(text_in(made, "id")).value();
  }
};

std::string next_of(const response& answer) {
  const auto body = body_of(answer);
  const auto& next = body.at("next_cursor");
  return next.is_null() ? std::string{} : std::string{next.get_string()};
}

std::size_t size_of(const response& answer) { return body_of(answer).at("deliveries").get_array().size(); }

} // namespace

// -- pages of a log ------------------------------------------------------------------------------------

CAF_TEST(a page of all rows is one piece and full until the log ends) {
  const auto all = log_of(5);
  const auto first = look(all, {.tenant = acme, .limit = 2});
  CAF_CHECK((first.notices == numbers{5, 4}));
  CAF_CHECK((first.pieces == std::vector<std::size_t>{3}));
  delivery_query query{.tenant = acme, .limit = 3};
  CAF_REQUIRE(read_log_cursor(first.cursor, query));
  const auto rest = look(all, query);
  CAF_CHECK((rest.notices == numbers{3, 2, 1}));
  CAF_CHECK_EQUAL(rest.cursor, ""); // full, and the last page
  CAF_CHECK((look({}, {.tenant = acme}).cursor.empty()));
}

CAF_TEST(a page of some rows of a short log is as full as it can be) {
  const auto all =
    log_of(400, {{350, delivery_state::failed}, {90, delivery_state::failed}, {1, delivery_state::failed}});
  const auto first = look(all, {.tenant = acme, .state = delivery_state::failed, .limit = 2});
  CAF_CHECK((first.notices == numbers{350, 90}));
  CAF_CHECK_EQUAL(first.cursor, to_string(id_of(1'090)) + "." + to_string(id_of(1)));
  delivery_query query{.tenant = acme, .state = delivery_state::failed, .limit = 2};
  CAF_REQUIRE(read_log_cursor(first.cursor, query));
  const auto rest = look(all, query);
  CAF_CHECK((rest.notices == numbers{1}));
  CAF_CHECK_EQUAL(rest.cursor, "");
  const auto both = look(all, {.tenant = acme, .state = delivery_state::failed, .limit = 3});
  CAF_CHECK((both.notices == numbers{350, 90, 1}));
  CAF_CHECK_EQUAL(both.cursor, ""); // no empty page follows
}

CAF_TEST(a page looks at so many rows and no more however few are wanted) {
  const auto all = log_of(3 * rows_looked_at_max + 500,
                          {{2, delivery_state::failed}, {rows_looked_at_max + 700, delivery_state::failed}});
  delivery_query query{.tenant = acme, .state = delivery_state::failed, .limit = 50};
  std::vector<std::size_t> sizes;
  numbers found;
  std::string cursor;
  do {
    const auto page = look(all, query);
    std::size_t rows = 0;
    for (const auto n : page.pieces) rows += n;
    CAF_CHECK(rows <= rows_looked_at_max);
    CAF_CHECK(*std::ranges::max_element(page.pieces) <= rows_per_look);
    sizes.push_back(page.notices.size());
    found.insert(found.end(), page.notices.begin(), page.notices.end());
    cursor = page.cursor;
    CAF_CHECK(cursor.empty() || read_log_cursor(cursor, query));
  } while (!cursor.empty() && sizes.size() < 9);
  CAF_CHECK((sizes == std::vector<std::size_t>{0, 1, 0, 1}));
  CAF_CHECK((found == numbers{rows_looked_at_max + 700, 2}));
}

CAF_TEST(whose log is read is the holders before the targets before the tenants) {
  const delivery_page own({.target = id_of(1), .holder = id_of(2)}),
    one({.tenant = acme, .target = id_of(1)}), all({.tenant = acme});
  CAF_CHECK(own.next()->holder == id_of(2) && own.next()->target.is_nil());
  CAF_CHECK(one.next()->target == id_of(1) && !one.next()->tenant);
  CAF_CHECK(all.next()->tenant == acme);
}

CAF_TEST(rows of another tenant are in no page and an endpoint of another tenant has none) {
  auto all = log_of(2 * rows_looked_at_max);
  for (auto& row : all) row.tenant = other;
  const auto foreign = look(all, {.tenant = acme, .target = id_of(1)});
  CAF_CHECK(foreign.notices.empty());
  CAF_CHECK_EQUAL(foreign.cursor, ""); // it would show another tenant's deliveries
  CAF_CHECK_EQUAL(foreign.pieces.size(), 1u);
  auto phone = log_of(4);
  for (auto& row : phone) row.way = channel::fcm;
  phone[1].tenant = other; // its customer also belongs to another tenant
  CAF_CHECK((look(phone, {.tenant = acme, .target = id_of(1)}).notices == numbers{4, 2, 1}));
}

CAF_TEST(channel target and holder are looked at in each row) {
  auto all = log_of(6);
  all[0].way = channel::fcm; // 6
  all[1].target = id_of(2); // 5
  all[2].holder = id_of(3); // 4
  CAF_CHECK((look(all, {.tenant = acme, .way = channel::fcm}).notices == numbers{6}));
  CAF_CHECK((look(all, {.tenant = acme, .target = id_of(2)}).notices == numbers{5}));
  CAF_CHECK((look(all, {.tenant = acme, .holder = id_of(3)}).notices == numbers{4}));
}

// -- routes --------------------------------------------------------------------------------------------

CAF_TEST(a log of which few rows are wanted is read in pages that look at a bounded number) {
  notice_world w;
  const auto hook = w.endpoint(w.as_operator());
  auto rows = log_of(2 * rows_looked_at_max + 10, {{3, delivery_state::failed}});
  for (auto& row : rows) row.target = hook;
  w.store.store_deliveries(rows);
  const std::string own = "/webhook-endpoints/" + to_string(hook) + "/deliveries";
  for (const auto& path : {std::string{"/deliveries?channel=webhook&state=failed"}, own + "?state=failed"}) {
    std::vector<std::size_t> sizes;
    std::string cursor;
    do {
      w.seen->clear();
      const auto page =
        w.send(method::get, path + (cursor.empty() ? "" : "&cursor=" + cursor), "", w.as_operator());
      CAF_REQUIRE_EQUAL(page.status, 200u);
      CAF_CHECK(w.seen->rows <= rows_looked_at_max);
      CAF_CHECK(w.seen->most <= rows_per_look);
      sizes.push_back(size_of(page));
      cursor = next_of(page);
    } while (!cursor.empty() && sizes.size() < 9);
    CAF_CHECK((sizes == std::vector<std::size_t>{0, 0, 1}));
  }
  w.seen->clear();
  const auto all = w.send(method::get, own + "?limit=20", "", w.as_operator());
  CAF_CHECK_EQUAL(size_of(all), 20u);
  CAF_CHECK(!next_of(all).empty());
  CAF_CHECK_EQUAL(w.seen->parts.load(), 1u);
  CAF_CHECK_EQUAL(w.seen->rows.load(), 21u);
  CAF_CHECK_EQUAL(shown(w.send(method::get, own + "?cursor=x", "", w.as_operator())),
                  "400 invalid_parameter");
}

CAF_TEST(an organizer has ten endpoints at most and is told whose bound it is) {
  notice_world w;
  const auto add = [&](const text_fields& who) {
    return w.send(method::post, "/webhook-endpoints", R"({"url":"https://hooks.example.org/"})", who);
  };
  const auto why = [](const response& answer) {
    return std::string{body_of(answer).at("errors").get_array().at(0).get_object().at("detail").get_string()};
  };
  for (std::size_t n = 0; n < endpoints_per_organizer_max; ++n)
    CAF_CHECK_EQUAL(add(w.as_organizer()).status, 201u);
  const auto more = add(w.as_organizer());
  CAF_CHECK_EQUAL(shown(more), "400 invalid_field");
  CAF_CHECK_EQUAL(why(more), "the organizer has 10 endpoints already; remove some");
  for (std::size_t n = 0; n < endpoints_per_tenant_max; ++n)
    CAF_CHECK_EQUAL(add(w.as_operator()).status, 201u);
  const auto too_many = add(w.as_operator());
  CAF_CHECK_EQUAL(shown(too_many), "400 invalid_field");
  CAF_CHECK_EQUAL(why(too_many), "the tenant has 50 endpoints already; remove some");
}

CAF_TEST(an operator of any tenant may hear of changed accounts and an organizer may not) {
  notice_world w;
  const auto add = [&](const text_fields& who) {
    return shown(w.send(method::post, "/webhook-endpoints",
                        R"({"url":"https://hooks.example.org/","topics":["user.updated"]})", who));
  };
  CAF_CHECK_EQUAL(add(w.as_operator()), "201 ");
  CAF_CHECK_EQUAL(add(w.as_organizer()), "400 invalid_field");
}

CAF_TEST(an endpoint has one test on its way at most) {
  notice_world w;
  const auto hook = w.endpoint(w.as_operator()), another = w.endpoint(w.as_operator());
  const auto test = [&](const uuid& id) {
    return w.send(method::post, "/webhook-endpoints/" + to_string(id) + "/test", "", w.as_operator());
  };
  CAF_CHECK_EQUAL(test(hook).status, 202u);
  CAF_CHECK_EQUAL(shown(test(hook)), "409 test_pending");
  CAF_CHECK_EQUAL(test(another).status, 202u);
  auto rows = w.store.list_deliveries({.target = hook});
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  rows[0].state = delivery_state::failed;
  rows[0].ended_at = w.clock.wall_now();
  w.store.settle_deliveries(rows);
  auto real = delivery(1, hook, delivery_state::pending);
  w.store.store_deliveries(std::vector{real}); // not a test delivery
  w.clock.now_ms += 1'000;
  CAF_CHECK_EQUAL(test(hook).status, 202u);
  CAF_CHECK_EQUAL(shown(test(hook)), "409 test_pending");
  w.clock.now_ms += test_pause.count(); // it is retried for days
  CAF_CHECK_EQUAL(test(hook).status, 202u);
}

CAF_TEST(an endpoint is in the audit log before it is there) {
  notice_world w;
  const auto hook = w.endpoint(w.as_operator());
  const auto path = "/webhook-endpoints/" + to_string(hook);
  CAF_REQUIRE_EQUAL(w.told->deeds.size(), 1u);
  CAF_CHECK_EQUAL(w.told->deeds[0].action, "endpoint.create");
  CAF_CHECK(w.told->deeds[0].note.detail.find("hooks.example.org") != std::string::npos);
  w.told->ack.no = reason::unavailable;
  CAF_CHECK_EQUAL(
    w.send(method::post, "/webhook-endpoints", R"({"url":"https://hooks.example.org/"})", w.as_operator())
      .status,
    503u);
  CAF_CHECK_EQUAL(w.send(method::patch, path, R"({"enabled":false})", w.as_operator()).status, 503u);
  CAF_CHECK_EQUAL(w.send(method::post, path + "/secret", "", w.as_operator()).status, 503u);
  CAF_CHECK_EQUAL(w.send(method::del, path, "", w.as_operator()).status, 503u);
  const auto all = w.store.list_endpoints(w.told->deeds[0].by.tenant);
  CAF_REQUIRE_EQUAL(all.size(), 1u);
  CAF_CHECK(all[0].is_enabled && all[0].secret_no == 1);
}

// -- lists of addresses --------------------------------------------------------------------------------

CAF_TEST(a thousand addresses fit where a thousand are taken) {
  world w;
  std::string emails;
  for (int n = 0; n < 1'000; ++n) {
    const auto name = std::to_string(100'000 + n);
    emails +=
      (n == 0 ? "" : ", ") + ("\"" + name + std::string(300 - name.size(), 'x') + "@mail.example.org...\"");
  }
  const std::string longest = R"({"emails": [)" + emails + R"(], "reason": "resold tickets"})";
  for (const auto& [verb, path] :
       std::vector<std::pair<method, std::string>>{{method::post, w.event_path("/invitations")},
                                                   {method::del, w.event_path("/invitations")},
                                                   {method::post, w.event_path("/vips")},
                                                   {method::del, w.event_path("/vips")},
                                                   {method::post, "/blocked-customers"}}) {
    const auto found = w.paths.match(verb, path);
    CAF_REQUIRE(found.found != nullptr);
    CAF_CHECK(found.found->body_limit >= longest.size());
  }
  std::string ordinary;
  for (int n = 0; n < 1'000; ++n)
    ordinary += (n == 0 ? "\"" : ",\"") + ("ada.lovelace." + std::to_string(n) + "@mail.example.org\"");
  const auto blocked = w.send(method::post, "/blocked-customers",
                              R"({"reason":"resold tickets","emails":[)" + ordinary + "]}", w.as_organizer());
  CAF_CHECK_EQUAL(blocked.status / 100, 2u);
  CAF_CHECK_EQUAL(w.told->asked_block.emails.size(), 1'000u);
}

} // namespace notices_test
