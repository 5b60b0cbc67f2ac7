// SPDX-License-Identifier: Apache-2.0
// Check-in over HTTP: lists and devices for organizers, scans and state for devices, who may do what.
#define CAF_SUITE routes_checkin
#include "caf/test/unit_test.hpp"

#include "net/service/device_token.hpp"
#include "net/wire/checkin_codec.hpp"
#include "tests/net/api/world.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace checkin_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct gate : world {
  explicit gate(config::options o = world_options()) : world(std::move(o)) {
    auto& reply = told->checkin;
    reply.changed = list_id;
    checkin_list_row list;
    list.id = list_id;
    list.name = "Main";
    list.ticket_types = 2;
    list.gates = "West\nEast";
    reply.lists = {list};
    reply.scans = {{3, 2, 1}};
    reply.types = {{{7, 7}, "Standing", 10, 3, 1}, {{7, 8}, "Seat", 5, 0, 0}};
    told->scans.scans = {view(1, true)};
  }

  static scan_view view(std::uint64_t n, bool is_admitted) {
    scan_view v;
    v.scan.id = {1, n};
    v.scan.is_admitted = is_admitted;
    v.scan.at = from_unix_ms(1'800'000'000'000);
    if (!is_admitted) v.scan.objection = scan_objection::already_in;
    return v;
  }
  text_fields as_device() const { return bearer_of(device_token(device_id, secret)); }
  static text_fields bearer_of(const std::string& token) {
    return {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}};
  }
  std::string scan_body(std::string more = {}) const {
    return R"({"nonce":"0197f0c2-6d1a-4000-8000-000400000003","list_id":")" + to_string(list_id) + '"'
           + (more.empty() ? R"(,"code":"ABC")" : more) + "}";
  }
  std::string batch_body(int count) const {
    std::string body = R"({"scans":[)";
    for (int i = 0; i < count; ++i) body += (i > 0 ? "," : "") + scan_body();
    return body + "]}";
  }
  response redeem(const std::string& body) {
    return send(method::post, "/checkin/redeem", body, as_device());
  }

  const uuid list_id = make_uuid(from_unix_ms(1'800'000'000'000), first_event_aggregate, 3);
  const uuid device_id = make_uuid(from_unix_ms(1'800'000'000'000), first_event_aggregate, 4);
  const std::string secret = std::string(43, 's');
};

boost::json::object json_of(const response& r) { return boost::json::parse(r.body).as_object(); }

} // namespace

CAF_TEST(an organizer makes changes and removes a list) {
  gate g;
  const auto path = g.event_path("/checkin/lists");
  const auto made = g.send(method::post, path,
                           R"({"name":"Main","mode":"entry_and_exit","gates":["West"],)"
                           R"("ticket_type_ids":["0197f0c2-6d1a-7000-8000-000400000003"]})",
                           g.as_organizer());
  CAF_CHECK_EQUAL(made.status, 201u);
  CAF_CHECK_EQUAL(field_of(made, "Location"), path + "/" + to_string(g.list_id));
  const auto& asked = g.told->asked_checkin_list.patch;
  CAF_CHECK(asked.name.value == "Main" && asked.mode.value == checkin_mode::entry_and_exit);
  CAF_CHECK(asked.gates.value == std::vector<std::string>{"West"} && asked.ticket_types.value.size() == 1);
  const auto shown_list = json_of(made);
  CAF_CHECK(shown_list.at("ticket_type_ids").as_array().size() == 1);
  CAF_CHECK(shown_list.at("gates").as_array().size() == 2 && shown_list.at("mode").as_string() == "entry");
  const auto one = path + "/" + to_string(g.list_id);
  CAF_CHECK_EQUAL(g.send(method::patch, one, R"({"name":"Door"})", g.as_organizer()).status, 200u);
  CAF_CHECK(g.told->asked_checkin_list.patch.id == g.list_id && !asked.gates.given && !asked.mode.given);
  CAF_CHECK_EQUAL(g.send(method::del, one, "", g.as_organizer()).status, 204u);
  CAF_CHECK(g.told->asked_checkin_list.patch.remove);
  for (const auto* wrong :
       {"{}", R"({"name":""})", R"({"name":"x","mode":"both"})", R"({"name":"x","gates":"W"})"})
    CAF_CHECK_EQUAL(shown(g.send(method::post, path, wrong, g.as_organizer())), "400 invalid_field");
  CAF_CHECK_EQUAL(shown(g.send(method::post, path, R"({"name":"x"})", g.as_customer())), "403 forbidden");
  const auto all = json_of(g.send(method::get, g.event_path("/checkin"), "", g.as_organizer()));
  const auto& listed = all.at("lists").as_array().at(0).as_object();
  CAF_CHECK(listed.at("entries").to_number<int>() == 3 && listed.at("refused").to_number<int>() == 1);
  CAF_CHECK(all.at("ticket_types").as_array().at(0).at("in").to_number<int>() == 3);
}

CAF_TEST(the token of a new device is shown once and only its hash is stored) {
  gate g;
  checkin_device_row row;
  row.id = g.device_id;
  row.label = "Phone";
  g.told->checkin.devices = {row};
  g.told->checkin.changed = g.device_id;
  const auto made = g.send(method::post, g.event_path("/checkin/devices"),
                           R"({"label":"Phone","gate":"West"})", g.as_organizer());
  CAF_CHECK_EQUAL(made.status, 201u);
  CAF_CHECK(!g.told->asked_checkin_device.patch.may_force && !json_of(made).at("may_force").as_bool());
  const auto body = json_of(made);
  const std::string token{body.at("token").as_string()};
  const auto pass = parse_device_token(token);
  CAF_REQUIRE(pass);
  CAF_CHECK(pass->device == g.device_id);
  CAF_CHECK_EQUAL(pass->secret_hash, g.told->asked_checkin_device.patch.secret_hash);
  CAF_CHECK(body.at("scan_url").as_string().ends_with("/scan#" + token));
  CAF_CHECK(!body.at("qr").at("path").as_string().empty());
  CAF_CHECK(g.told->asked_checkin_device.note.detail.find(token) == std::string::npos);
  g.send(method::post, g.event_path("/checkin/devices"), R"({"label":"Chief","may_force":true})",
         g.as_organizer());
  CAF_CHECK(g.told->asked_checkin_device.patch.may_force);
  const auto one = g.event_path("/checkin/devices/") + to_string(g.device_id);
  CAF_CHECK_EQUAL(g.send(method::del, one, "", g.as_organizer()).status, 204u);
  CAF_CHECK(g.told->asked_checkin_device.patch.revoke);
}

CAF_TEST(a token that is not exactly one is refused before the event is asked) {
  gate g;
  const auto good = device_token(g.device_id, g.secret);
  for (const auto& wrong : {std::string{"garbage"}, good + "s", good.substr(1), "wr_" + good.substr(5),
                            "gate_" + std::string(32, '0') + "_" + g.secret})
    CAF_CHECK_EQUAL(shown(g.send(method::get, "/checkin", "", gate::bearer_of(wrong))),
                    "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(g.send(method::get, "/checkin")), "401 unauthenticated");
  CAF_CHECK_EQUAL(shown(g.send(method::get, "/checkin", "", g.as_organizer())), "401 unauthenticated");
  CAF_CHECK_EQUAL(g.told->questions, 0);
  CAF_CHECK_EQUAL(g.send(method::get, "/checkin", "", g.as_device()).status, 200u);
  CAF_CHECK(g.told->asked_gate.by.device == g.device_id);
  CAF_CHECK_EQUAL(g.told->asked_gate.by.secret_hash, to_hex(sha256(g.secret)));
}

CAF_TEST(unknown devices use up their address and known ones do not) {
  auto o = world_options();
  o.rate_limits.access_failures_per_ip_per_minute = 3;
  gate g{std::move(o)};
  for (int i = 0; i < 10; ++i)
    CAF_CHECK_EQUAL(g.send(method::get, "/checkin", "", g.as_device()).status, 200u);
  g.told->gate.no = reason::device_unknown;
  for (int i = 0; i < 3; ++i)
    CAF_CHECK_EQUAL(shown(g.send(method::get, "/checkin", "", g.as_device())), "401 device_unknown");
  const auto before = g.told->questions;
  CAF_CHECK_EQUAL(g.send(method::get, "/checkin", "", g.as_device()).status, 429u);
  CAF_CHECK_EQUAL(g.told->questions, before);
}

CAF_TEST(a stranger behind the address of a gate takes nothing from its devices) {
  auto o = world_options();
  o.rate_limits.access_failures_per_ip_per_minute = 3;
  o.rate_limits.device_requests_per_minute = 20;
  gate g{std::move(o)};
  const auto ours =
    gate::bearer_of(device_token(g.device_id, g.shared.gate_secrets.issue(first_event_aggregate, g.clock)));
  g.told->gate.no = reason::device_unknown;
  while (g.send(method::get, "/checkin", "", g.as_device()).status != 429) continue;
  g.told->gate.no = reason::none;
  for (int i = 0; i < 20; ++i) CAF_CHECK_EQUAL(g.send(method::get, "/checkin", "", ours).status, 200u);
  CAF_CHECK_EQUAL(g.send(method::get, "/checkin", "", ours).status, 429u);
  // What a device does gives the stranger nothing back.
  CAF_CHECK_EQUAL(g.send(method::get, "/checkin", "", g.as_device()).status, 429u);
}

CAF_TEST(a secret of another event or with another character is not ours) {
  gate g;
  const auto& secrets = g.shared.gate_secrets;
  const auto owner = first_event_aggregate;
  const auto secret = secrets.issue(owner, g.clock);
  CAF_CHECK(secrets.is_ours(owner, secret) && secret != secrets.issue(owner, g.clock));
  CAF_CHECK(!secrets.is_ours(aggregate_id{number_of(owner) + 1}, secret)); // another organizer's event
  for (std::size_t i = 0; i < secret.size(); ++i) {
    auto changed = secret;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    CAF_CHECK(!secrets.is_ours(owner, changed));
  }
  CAF_CHECK(!secrets.is_ours(owner, "") && !secrets.is_ours(owner, secret + "A"));
}

CAF_TEST(each device has a limit of its own) {
  auto o = world_options();
  o.rate_limits.device_requests_per_minute = 2;
  gate g{std::move(o)};
  for (int i = 0; i < 2; ++i) CAF_CHECK_EQUAL(g.redeem(g.scan_body()).status, 200u);
  CAF_CHECK_EQUAL(g.redeem(g.scan_body()).status, 429u);
  const auto other = gate::bearer_of(device_token(g.device_id, std::string(43, 't')));
  CAF_CHECK_EQUAL(g.send(method::post, "/checkin/redeem", g.scan_body(), other).status, 200u);
}

CAF_TEST(a device pays for each scan of a batch) {
  auto o = world_options();
  o.rate_limits.device_requests_per_minute = 300;
  gate g{std::move(o)};
  for (int i = 0; i < 3; ++i) CAF_CHECK_EQUAL(g.redeem(g.batch_body(100)).status, 200u);
  const auto before = g.told->questions;
  const auto late = g.redeem(g.batch_body(1));
  CAF_CHECK_EQUAL(late.status, 429u);
  CAF_CHECK(!field_of(late, "Retry-After").empty());
  CAF_CHECK_EQUAL(g.told->questions, before);
  g.clock.now_ms += 20'000;
  CAF_CHECK_EQUAL(g.redeem(g.batch_body(100)).status, 200u);
}

CAF_TEST(a phone sends its hundred scans under a low limit too) {
  auto o = world_options();
  o.rate_limits.device_requests_per_minute = 20;
  gate g{std::move(o)};
  CAF_CHECK_EQUAL(g.send(method::get, "/checkin", "", g.as_device()).status, 200u);
  CAF_CHECK_EQUAL(g.redeem(g.batch_body(100)).status, 200u);
  CAF_CHECK_EQUAL(g.redeem(g.batch_body(100)).status, 429u);
}

CAF_TEST(one scan is read whole and answered) {
  gate g;
  const auto answer = json_of(
    g.redeem(g.scan_body(R"(,"code":"ABC","at":"2027-01-15T08:00:00.250Z","type":"exit","force":true)")));
  CAF_CHECK(answer.at("result").as_string() == "admitted" && answer.at("reason").is_null());
  CAF_REQUIRE_EQUAL(g.told->asked_scans.scans.size(), 1u);
  const auto& asked = g.told->asked_scans.scans[0];
  CAF_CHECK(asked.code == "ABC" && asked.wish.list == g.list_id && asked.wish.type == scan_type::exit);
  CAF_CHECK(asked.wish.force && !asked.wish.passed && !asked.wish.refused
            && unix_ms(asked.wish.at) == 1'800'000'000'250);
  g.told->scans.scans = {gate::view(1, false)};
  auto& earlier = g.told->scans.scans[0].earlier;
  earlier.scan.id = {1, 9};
  earlier.list = "Main";
  earlier.gate = "West";
  const auto refused = json_of(g.redeem(
    g.scan_body(R"(,"event_ticket_id":"0197f0c2-6d1a-7000-8000-000400000003","refused":"already_in")")));
  CAF_CHECK(refused.at("result").as_string() == "refused"
            && refused.at("reason").as_string() == "already_in");
  CAF_CHECK(refused.at("earlier").at("gate").as_string() == "West");
  CAF_CHECK(g.told->asked_scans.scans[0].wish.refused);
  CAF_CHECK_EQUAL(g.redeem(g.scan_body(R"(,"code":"A","passed":true)")).status, 200u);
  CAF_CHECK(g.told->asked_scans.scans[0].wish.passed);
  g.told->scans.scans[0].no = reason::scan_id_reused;
  CAF_CHECK_EQUAL(shown(g.redeem(g.scan_body())), "409 scan_id_reused");
  const auto both = R"(,"code":"A","event_ticket_id":"0197f0c2-6d1a-7000-8000-000400000003")";
  for (const auto* wrong : {both, R"(,"type":"exit")", R"(,"code":"A","type":"out")",
                            R"(,"code":"A","at":"now")", R"(,"code":"A","refused":"ugly")",
                            R"(,"code":"A","force":1)", R"(,"code":"A","passed":true,"refused":"cancelled")"})
    CAF_CHECK_EQUAL(shown(g.redeem(g.scan_body(wrong))), "400 invalid_field");
}

CAF_TEST(a batch has up to a hundred scans and a result for each) {
  gate g;
  const auto batch = [&](int count) { return g.redeem(g.batch_body(count)); };
  g.told->scans.scans = {gate::view(1, true), gate::view(2, false)};
  g.told->scans.scans[1].no = reason::too_many;
  const auto results = json_of(batch(2)).at("results").as_array();
  CAF_REQUIRE_EQUAL(results.size(), 2u);
  CAF_CHECK(results[1].at("result").as_string() == "not_recorded");
  CAF_CHECK(results[1].at("reason").as_string() == "too_many");
  CAF_CHECK_EQUAL(batch(100).status, 200u);
  CAF_CHECK_EQUAL(g.told->asked_scans.scans.size(), 100u);
  CAF_CHECK_EQUAL(batch(101).status, 400u);
  CAF_CHECK_EQUAL(batch(0).status, 400u);
}

CAF_TEST(the state of a list comes in pages from a version on) {
  gate g;
  auto& state = g.told->gate_state;
  state.version = {3, true, from_unix_ms(1'000), from_unix_ms(2'000), g.device_id};
  state.public_key = std::string(32, 'k');
  gate_ticket ticket;
  ticket.id = g.claim_id;
  ticket.status = event_ticket_status::checked_in;
  ticket.generation = 2;
  ticket.secret = std::string(32, 's');
  ticket.last_at = from_unix_ms(1'500);
  ticket.last_place = "West";
  auto with_seat = ticket;
  with_seat.secret.clear();
  with_seat.seat = "P-A-3";
  state.tickets = {ticket, with_seat};
  const auto path = "/checkin/" + to_string(g.list_id) + "/state";
  const auto answer = json_of(g.send(method::get, path, "", g.as_device()));
  CAF_CHECK(!is_set(g.told->asked_gate_state.since.list_at));
  const auto& row = answer.at("tickets").as_array().at(0).as_array();
  CAF_CHECK(row.at(0).as_string() == to_string(ticket.id) && row.at(2).to_number<int>() == 1);
  CAF_CHECK(row.at(5).to_number<int>() == 1'500 && row.at(6).as_string() == "West" && row.size() == 8);
  const auto& seated = answer.at("tickets").as_array().at(1).as_array();
  CAF_CHECK(seated.size() == 9 && seated.at(7).is_null() && seated.at(8).as_string() == "P-A-3");
  const std::string version{answer.at("version").as_string()};
  CAF_CHECK_EQUAL(g.send(method::get, path + "?since=" + version, "", g.as_device()).status, 200u);
  const auto& since = g.told->asked_gate_state.since;
  CAF_CHECK(since.key_number == 3 && since.rotating_codes && since.list_at == from_unix_ms(1'000));
  CAF_CHECK(since.at == from_unix_ms(2'000) && since.ticket == g.device_id);
  CAF_CHECK_EQUAL(version_text(*parse_version(version)), version);
  for (const auto* wrong : {"", "3", "3r", "3r.", "3r.1.2.",
                            "3x.1.2."
                            "0197f0c2-6d1a-7000-8000-000400000003",
                            "3r.-1.2.0197f0c2-6d1a-7000-8000-000400000003", "3r.1.2.0197f0c2"})
    CAF_CHECK(!parse_version(wrong));
  CAF_CHECK_EQUAL(shown(g.send(method::get, path + "?since=3r", "", g.as_device())), "400 invalid_cursor");
}

CAF_TEST(searches of a device are limited because each looks at many orders) {
  gate g;
  const auto search = [&](const text_fields& by) {
    return g.send(method::post, "/checkin/search",
                  R"({"list_id":")" + to_string(g.list_id) + R"(","text":"ada"})", by);
  };
  for (std::uint32_t n = 0; n < gate_searches_per_device; ++n)
    CAF_CHECK_EQUAL(search(g.as_device()).status, 200u);
  const auto before = g.told->questions;
  CAF_CHECK_EQUAL(search(g.as_device()).status, 429u);
  CAF_CHECK_EQUAL(g.told->questions, before);
  CAF_CHECK_EQUAL(search(gate::bearer_of(device_token(g.device_id, std::string(43, 't')))).status, 200u);
  CAF_CHECK_EQUAL(g.redeem(g.scan_body()).status, 200u);
}

CAF_TEST(a gate searches by a body and organizers see conflicts) {
  gate g;
  checkin_ticket ticket;
  ticket.ticket.id = g.claim_id;
  ticket.name = "Ada Obi";
  ticket.seat = "P-A-3";
  ticket.place = {"Stalls", "A", "3"};
  g.told->gate_tickets.tickets = {ticket};
  const auto found =
    json_of(g.send(method::post, "/checkin/search",
                   R"({"list_id":")" + to_string(g.list_id) + R"(","text":"ada"})", g.as_device()));
  CAF_CHECK(found.at("items").as_array().at(0).at("name").as_string() == "Ada Obi");
  CAF_CHECK(found.at("items").as_array().at(0).at("seat").as_string() == "P-A-3");
  CAF_CHECK_EQUAL(boost::json::serialize(found.at("items").as_array().at(0).at("seat_place")),
                  R"({"section":"Stalls","row":"A","seat":"3"})");
  CAF_CHECK_EQUAL(g.told->asked_gate_search.text, "ada");
  CAF_CHECK_EQUAL(shown(g.send(method::post, "/checkin/search", R"({"text":"a"})", g.as_device())),
                  "400 invalid_field");
  checkin_conflict conflict{ticket};
  scan_place place;
  place.scan.id = {1, 1};
  conflict.scans = {place, place};
  g.told->conflicts = {{}, {conflict}, true};
  const auto all =
    json_of(g.send(method::get, g.event_path("/checkin/conflicts?limit=1"), "", g.as_organizer()));
  CAF_CHECK(all.at("items").as_array().at(0).at("scans").as_array().size() == 2);
  CAF_CHECK(all.at("next_cursor").as_string() == to_string(g.claim_id));
  CAF_CHECK_EQUAL(g.told->asked_conflicts.limit, 1u);
}

} // namespace checkin_test
