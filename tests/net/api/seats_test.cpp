// SPDX-License-Identifier: Apache-2.0
// Reserved seats over HTTP: plans in and out, the map, the organizer's changes.
#define CAF_SUITE routes_seats
#include "caf/test/unit_test.hpp"

#include "domain/seats/plan_text.hpp"
#include "net/wire/seat_plan_codec.hpp"
#include "tests/domain/seats/sample_plan.hpp"
#include "tests/net/api/world.hpp"

namespace seats_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct hall : world {
  hall() {
    for (const auto* name : {"Balkon", "Parkett"})
      told->event.event.ticket_types.push_back(
        {.id = make_uuid(clock.wall_now(), first_event_aggregate, ++made), .name = name});
    told->event.event.event.organizer = organizer;
    told->seat_plan.plan = text_of(*plan);
    told->seat_plan.digest = "d1";
    state.release = "9.9";
    told->seats.text = R"({"version":7})";
  }
  std::string path(std::string_view what) const { return event_path(what); }
  text_fields csv() const {
    auto fields = as_organizer();
    fields.back().second = "text/csv; charset=utf-8"; // of Content-Type
    return fields;
  }
  std::uint64_t made = 0;
  std::shared_ptr<const seat_plan> plan = make_plan(fq::test::draft_of_rows({"ss|s", "SSS"})).plan;
};

} // namespace

CAF_TEST(a plan is stored as JSON or CSV with the events ticket types of these names) {
  hall h;
  const auto put = [&](std::string body, const text_fields& fields, std::string_view query = "") {
    return h.send(method::put, h.path("/seat-plan") + std::string{query}, std::move(body), fields);
  };
  CAF_CHECK_EQUAL(put(json_of(*h.plan), h.as_organizer(), "?singles=off&split=true").status, 204u);
  const auto& asked = h.told->asked_seat_plan;
  CAF_CHECK(asked.plan == text_of(*h.plan) && asked.singles == 2 && asked.may_split);
  CAF_CHECK(!asked.accessible_for_all);
  CAF_REQUIRE_EQUAL(asked.ticket_types.size(), 2u);
  CAF_CHECK(asked.ticket_types[0] == h.told->event.event.ticket_types[1].id); // "Parkett"
  CAF_CHECK_EQUAL(put(csv_of(*h.plan), h.csv()).status, 204u);
  CAF_CHECK(h.told->asked_seat_plan.plan == text_of(*h.plan) && h.told->asked_seat_plan.singles == 0);
  CAF_CHECK_EQUAL(shown(put(json_of(*h.plan), h.as_organizer(), "?singles=often")), "400 invalid_parameter");
  const auto wrong = put("row,seat,x,y,ticket_type\nA,1,x,0,Parkett\n", h.csv());
  CAF_CHECK_EQUAL(shown(wrong), "400 invalid_field");
  CAF_CHECK(wrong.body.find("line 2 x") != std::string::npos);
  const auto lines =
    put("{\r\n\"ticket_types\": [\"Parkett\"],\r\n\"sections\": 1,\r\n\"areas\": 2}", h.as_organizer());
  CAF_CHECK_EQUAL(shown(lines), "400 invalid_field");
  CAF_CHECK(lines.body.find("line 3 sections") != std::string::npos);
  CAF_CHECK(lines.body.find("line 4 areas") != std::string::npos);
  h.told->event.event.ticket_types.pop_back();
  const auto missing = put(json_of(*h.plan), h.as_organizer());
  CAF_CHECK(missing.status == 400 && missing.body.find("no ticket type Parkett") != std::string::npos);
  CAF_CHECK_EQUAL(put(json_of(*h.plan), h.as_customer()).status, 403u);
  h.told->event.event.event.organizer = h.customer; // another one's event
  CAF_CHECK_EQUAL(put("no plan", h.as_organizer()).status, 404u);
  CAF_CHECK_EQUAL(h.send(method::del, h.path("/seat-plan"), "", h.as_organizer()).status, 204u);
  CAF_CHECK(h.told->asked_seat_plan.plan.empty());
}

CAF_TEST(a plan is kept for other events as JSON or CSV or as a simple hall) {
  hall h;
  const auto named = [] {
    auto draft = fq::test::draft_of_rows({"ss|s", "SSS"});
    draft.name = "Great hall";
    return make_plan(draft).plan;
  }();
  h.told->tenant_plan.plan.id = {1, 2};
  h.told->tenant_plan.plan.name = "Great hall";
  const auto kept = h.send(method::post, "/seat-plans", json_of(*named), h.as_organizer());
  CAF_CHECK_EQUAL(kept.status, 201u);
  CAF_CHECK_EQUAL(field_of(kept, "Location"), "/seat-plans/" + to_string(uuid{1, 2}));
  CAF_CHECK(kept.body.find(R"("name":"Great hall")") != std::string::npos);
  const auto& asked = h.told->asked_tenant_plan;
  CAF_CHECK(asked.plan == text_of(*named) && asked.name == "Great hall" && asked.id.is_nil());
  CAF_CHECK(asked.by.id == h.organizer);
  const auto one = "/seat-plans/" + to_string(uuid{1, 2});
  CAF_CHECK_EQUAL(h.send(method::put, one, csv_of(*named), h.csv()).status, 200u);
  CAF_CHECK(asked.id == (uuid{1, 2}) && asked.plan == text_of(*named));
  const auto nameless = h.send(method::post, "/seat-plans", json_of(*h.plan), h.as_organizer());
  CAF_CHECK_EQUAL(shown(nameless), "400 invalid_field");
  const auto made =
    h.send(method::post, "/seat-plans/hall",
           R"({"name":"Arena","sections":[{"ticket_type":"Parkett","rows":2,"seats":6}]})", h.as_organizer());
  CAF_CHECK_EQUAL(made.status, 201u);
  CAF_CHECK(asked.name == "Arena" && asked.id.is_nil());
  CAF_CHECK_EQUAL(h.send(method::del, one, "", h.as_organizer()).status, 204u);
  CAF_CHECK(asked.id == (uuid{1, 2}) && asked.plan.empty());
  h.told->tenant_plan.no = reason::forbidden;
  CAF_CHECK_EQUAL(h.send(method::del, one, "", h.as_organizer()).status, 403u);
  CAF_CHECK_EQUAL(h.send(method::post, "/seat-plans", json_of(*named), h.as_customer()).status, 403u);
}

CAF_TEST(plans that are kept are listed and read in each form) {
  hall h;
  h.told->tenant_plans.plans = {{{1, 2}, default_tenant, h.organizer, "Great hall", text_of(*h.plan), {}}};
  h.told->tenant_plans.more = true;
  const auto list = h.send(method::get, "/seat-plans?limit=1", "", h.as_organizer());
  CAF_CHECK_EQUAL(list.status, 200u);
  CAF_CHECK(list.body.find(R"("next_cursor":")" + to_string(uuid{1, 2})) != std::string::npos);
  CAF_CHECK(h.told->asked_tenant_plans.limit == 1 && h.told->asked_tenant_plans.by.id == h.organizer);
  const auto one = "/seat-plans/" + to_string(uuid{1, 2});
  CAF_CHECK_EQUAL(h.send(method::get, one, "", h.as_organizer()).body, json_of(*h.plan));
  CAF_CHECK_EQUAL(h.send(method::get, one + "?form=csv", "", h.as_organizer()).body, csv_of(*h.plan));
  CAF_CHECK(h.send(method::get, one + "?form=svg", "", h.as_organizer()).body.starts_with("<svg"));
  CAF_CHECK(h.told->asked_tenant_plans.id == (uuid{1, 2}));
  h.told->tenant_plans.plans.clear();
  CAF_CHECK_EQUAL(h.send(method::get, one, "", h.as_organizer()).status, 404u);
}

CAF_TEST(a draft copies a plan that the tenant keeps) {
  hall h;
  h.told->tenant_plans.plans = {{{1, 2}, default_tenant, h.organizer, "Great hall", text_of(*h.plan), {}}};
  const auto copy = [&] {
    return h.send(method::put, h.path("/seat-plan/copy?singles=off"),
                  R"({"seat_plan_id":")" + to_string(uuid{1, 2}) + R"("})", h.as_organizer());
  };
  CAF_CHECK_EQUAL(copy().status, 204u);
  const auto& asked = h.told->asked_seat_plan;
  CAF_CHECK(asked.plan == text_of(*h.plan) && asked.singles == 2 && asked.ticket_types.size() == 2);
  CAF_CHECK(h.told->asked_tenant_plans.id == (uuid{1, 2}));
  h.told->event.event.ticket_types.pop_back();
  CAF_CHECK_EQUAL(shown(copy()), "400 invalid_field");
  h.told->tenant_plans.plans.clear();
  CAF_CHECK_EQUAL(copy().status, 404u);
}

CAF_TEST(a plan is read as JSON CSV and SVG) {
  hall h;
  const auto get = [&](std::string_view query) {
    return h.send(method::get, h.path("/seat-plan") + std::string{query});
  };
  CAF_CHECK_EQUAL(get("").body, json_of(*h.plan));
  CAF_CHECK_EQUAL(get("?form=csv").body, csv_of(*h.plan));
  CAF_CHECK(get("?form=csv").content_type == "text/csv");
  CAF_CHECK(get("?form=svg").body.starts_with("<svg") && get("?form=svg").content_type == "image/svg+xml");
  CAF_CHECK_EQUAL(shown(get("?form=pdf")), "400 invalid_parameter");
  h.told->seat_plan.no = reason::not_found;
  CAF_CHECK_EQUAL(get("").status, 404u);
}

CAF_TEST(a simple hall is generated) {
  hall h;
  const auto put = [&](std::string body) {
    return h.send(method::put, h.path("/seat-plan/hall?singles=off"), std::move(body), h.as_organizer());
  };
  const auto made = put(R"({"name":"Arena","aisles":1,"lettered_rows":true,"sections":[
    {"section":"P","name":"Stalls","ticket_type":"Parkett","rows":2,"seats":6,"accessible":1},
    {"section":"B","ticket_type":"Balkon","rows":1,"seats":4}]})");
  CAF_CHECK_EQUAL(made.status, 204u);
  const auto plan = plan_of_text(h.told->asked_seat_plan.plan);
  CAF_REQUIRE(plan != nullptr);
  CAF_CHECK(plan->seats().size() == 16 && plan->find("P-B-6") && plan->find("B-A-4"));
  CAF_CHECK(plan->seats()[*plan->find("P-A-4")].has(seat_plan::aisle));
  CAF_CHECK_EQUAL(h.told->asked_seat_plan.singles, 2u);
  CAF_CHECK_EQUAL(shown(put(R"({"sections":[]})")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(put(R"({"sections":[{"ticket_type":"Parkett","rows":501,"seats":1}]})")),
                  "400 invalid_field");
  CAF_CHECK_EQUAL(shown(put(R"({"sections":[{"ticket_type":"Loge","rows":1,"seats":1}]})")),
                  "400 invalid_field");
}

CAF_TEST(a plan of the most seats fits as CSV) {
  plan_draft draft;
  draft.ticket_types = {"Parkett"};
  for (int s = 0; s < 5; ++s) {
    draft.sections.push_back({.code = "BLOCK" + std::to_string(s)});
    for (int r = 0; r < 100; ++r)
      draft.sections.back().rows.push_back(
        fq::test::row_of("R" + std::to_string(r), std::string(100, 's'), 10'000 * s + 90 * r + 50'000));
  }
  const auto made = make_plan(draft);
  CAF_REQUIRE(made.plan != nullptr && made.plan->seats().size() == plan_seats_max);
  hall h;
  const auto body = csv_of(*made.plan);
  const auto found = h.paths.match(method::put, h.path("/seat-plan"));
  CAF_CHECK(found.found->body_limit >= body.size());
  CAF_CHECK_EQUAL(h.send(method::put, h.path("/seat-plan"), body, h.csv()).status, 204u);
}

CAF_TEST(a plan is made once for each form and not sent again to a client that has it) {
  hall h;
  const auto get = [&](std::string query, std::string tag = {}) {
    text_fields fields;
    if (!tag.empty()) fields.emplace_back("If-None-Match", std::move(tag));
    return h.send(method::get, h.path("/seat-plan") + query, "", std::move(fields));
  };
  const auto first = get("");
  CAF_CHECK(h.told->asked_plan.known.empty());
  CAF_CHECK_EQUAL(field_of(first, "ETag"), "\"d1-9.9\"");
  CAF_CHECK_EQUAL(field_of(first, "Cache-Control"), "no-cache");
  CAF_CHECK_EQUAL(get("").body, json_of(*h.plan)); // the owner sent no plan
  CAF_CHECK_EQUAL(h.told->asked_plan.known, "d1");
  CAF_CHECK_EQUAL(get("?form=csv", "\"d0\"").body, csv_of(*h.plan));
  const auto same = get("?form=svg", "W/\"d1-9.9\""); // of this form nothing is kept here
  CAF_CHECK(same.status == 304 && same.body.empty() && field_of(same, "ETag") == "\"d1-9.9\"");
  CAF_CHECK_EQUAL(get("?form=svg", "\"d1-9.8\"").status, 200u); // of an earlier version's drawing
  const auto other = make_plan(fq::test::draft_of_rows({"sss"})).plan;
  h.told->seat_plan = {{}, text_of(*other), "d2"};
  CAF_CHECK_EQUAL(get("", "\"d1-9.9\"").body, json_of(*other));
  h.told->seat_plan.no = reason::not_found; // it is asked each time
  CAF_CHECK_EQUAL(get("", "\"d2\"").status, 404u);
}

CAF_TEST(the map is read whole or since a version) {
  hall h;
  CAF_CHECK_EQUAL(h.send(method::get, h.path("/seats")).body, R"({"version":7})");
  CAF_CHECK(h.told->asked_map.since == 0 && h.told->asked_map.what.by.kind == principal_kind::nobody);
  h.send(method::get, h.path("/seats") + "?since=4294967303", "", h.as_organizer());
  CAF_CHECK(h.told->asked_map.since == 4'294'967'303
            && h.told->asked_map.what.by.kind == principal_kind::organizer);
  CAF_CHECK_EQUAL(shown(h.send(method::get, h.path("/seats") + "?since=-1")), "400 invalid_parameter");
}

CAF_TEST(the organizer blocks and moves seats) {
  hall h;
  const auto change = [&](std::string body) {
    return h.send(method::patch, h.path("/seats"), std::move(body), h.as_organizer());
  };
  CAF_CHECK_EQUAL(change(R"({"seats":["A-1","A-2"],"blocked":true,"reason":"camera"})").status, 204u);
  const auto& asked = h.told->asked_seats;
  CAF_CHECK(asked.patch.seats == (std::vector<std::string>{"A-1", "A-2"}) && asked.note.reason == "camera");
  CAF_CHECK(asked.patch.is_blocked.given && asked.patch.is_blocked.value && asked.patch.ticket_type.is_nil());
  CAF_CHECK(!asked.patch.has_rules());
  CAF_CHECK_EQUAL(change(R"({"singles":"off","split":false,"accessible_for_all":true})").status, 204u);
  CAF_CHECK(asked.patch.seats.empty() && asked.patch.singles.given && asked.patch.singles.value == 2);
  CAF_CHECK(asked.patch.may_split.given && !asked.patch.may_split.value
            && asked.patch.accessible_for_all.value);
  CAF_CHECK_EQUAL(shown(change(R"({"singles":"often"})")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(change(R"({"blocked":true})")), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(change(R"({"seats":[],"blocked":true})")), "400 invalid_field");
  CAF_CHECK_EQUAL(h.send(method::patch, h.path("/seats"), R"({"seats":["A-1"]})", h.as_customer()).status,
                  403u);
}

} // namespace seats_test
