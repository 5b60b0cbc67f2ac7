// SPDX-License-Identifier: Apache-2.0
// JSON output, byte for byte; parsing and printing of times.
#define CAF_SUITE routes_codec
#include "caf/test/unit_test.hpp"

#include "crypto/keys.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/view_codec.hpp"
#include "tests/crypto/temp_folder.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace codec_test {

using namespace fq;
using namespace fq::net;

namespace {

constexpr auto second = 1'800'000'000'000; // 2027-01-15T08:00:00Z
const aggregate_id owner{16};

session_keys test_keys() {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(7);
  return session_keys{secret_key{std::span<const std::uint8_t, secret_key::size>{bytes}}};
}

entry_view waiting_entry() {
  entry_view e;
  e.id = make_entry_id(from_unix_ms(second), owner, queue_number{42});
  e.event = make_uuid(from_unix_ms(second), owner, 1);
  e.number = queue_number{42};
  e.position = 7;
  e.eta_low_seconds = 10;
  e.eta_high_seconds = 20;
  e.poll_after_ms = 1500;
  e.joined_at = from_unix_ms(second + 5);
  return e;
}

entry_view admitted_entry() {
  auto e = waiting_entry();
  e.status = entry_status::admitted;
  e.position = 0;
  e.eta_low_seconds = e.eta_high_seconds = -1;
  e.admission_no = 1;
  e.admission_batch = 3;
  e.admitted_at = from_unix_ms(second + 1000);
  e.session_expires_at = from_unix_ms(second + 61'000);
  e.claim_by = from_unix_ms(second + 31'000);
  return e;
}

std::string entry_text(const entry_view& e, std::string_view ticket = {}) {
  std::string out;
  append_entry(out, e, test_keys(), ticket);
  return out;
}

template <class Append, class View>
std::string text_of(Append append, const View& view) {
  std::string out;
  append(out, view);
  CAF_CHECK_EQUAL(boost::json::serialize(boost::json::parse(out)).size() > 0, true); // well formed
  return out;
}

} // namespace

CAF_TEST(a waiting entry) {
  CAF_CHECK_EQUAL(entry_text(waiting_entry(), "t.o.k"),
                  R"({"entry_id":"01a3185c-5000-7000-8000-00040000002a",)"
                  R"("event_id":"01a3185c-5000-7000-8000-000400000001","status":"WAITING",)"
                  R"("queue_number":42,"position":7,"ahead":6,"joined_at":"2027-01-15T08:00:00.005Z",)"
                  R"("eta":{"low_seconds":10,"high_seconds":20},"poll_after_ms":1500,"message":null,)"
                  R"("ticket_token":"t.o.k","admission_token":null,)"
                  R"("admission_batch":null,"admitted_at":null,"session_expires_at":null,"claim_by":null})");
}

CAF_TEST(an admitted entry has its token) {
  const auto e = admitted_entry();
  const auto body = boost::json::parse(entry_text(e)).get_object();
  CAF_CHECK(body.at("position").is_null() && body.at("ahead").is_null() && body.at("eta").is_null());
  CAF_CHECK(!body.contains("ticket_token"));
  const std::string token{body.at("admission_token").get_string()};
  CAF_CHECK(session_token_matches(test_keys(), token, e.id, 1));
  CAF_CHECK_EQUAL(body.at("admission_batch").get_int64(), 3);
  CAF_CHECK_EQUAL(body.at("claim_by").get_string(), "2027-01-15T08:00:31.000Z");
}

CAF_TEST(no token leaves with an entry that is over) {
  for (const auto status : {entry_status::completed, entry_status::session_expired, entry_status::revoked,
                            entry_status::expired, entry_status::cancelled}) {
    auto e = admitted_entry();
    e.status = status;
    const auto body = boost::json::parse(entry_text(e)).get_object();
    CAF_CHECK(body.at("admission_token").is_null());
    CAF_CHECK_EQUAL(body.at("status").get_string(), name_of(status));
  }
}

CAF_TEST(a claim) {
  claim_view v;
  v.claim.id = make_uuid(from_unix_ms(second), owner, 2);
  v.event = make_uuid(from_unix_ms(second), owner, 1);
  v.currency = "NGN";
  v.claim.items = {{0, 2, 500'000, 0}};
  v.item_ids = {make_uuid(from_unix_ms(second), owner, 3)};
  v.claim.amount = 1'029'339;
  v.claim.created_at = from_unix_ms(second);
  v.claim.expires_at = from_unix_ms(second + 600'000);
  CAF_CHECK_EQUAL(
    claim_text(v),
    R"({"claim_id":"01a3185c-5000-7000-8000-000400000002",)"
    R"("event_id":"01a3185c-5000-7000-8000-000400000001","status":"CLAIMED",)"
    R"("items":[{"ticket_type_id":"01a3185c-5000-7000-8000-000400000003","quantity":2,)"
    R"("unit_price":500000}],"fees":29339,"amount":1029339,)"
    R"("currency":"NGN","created_at":"2027-01-15T08:00:00.000Z","expires_at":"2027-01-15T08:10:00.000Z"})");
}

CAF_TEST(a payment without an address to pay at) {
  payment_view v;
  v.payment.id = make_uuid(from_unix_ms(second), owner, 4);
  v.payment.claim = make_uuid(from_unix_ms(second), owner, 2);
  v.event = make_uuid(from_unix_ms(second), owner, 1);
  v.payment.gateway = "sandbox";
  v.payment.reference = "fq-1";
  v.payment.amount = 1'000'000;
  v.currency = "NGN";
  v.payment.created_at = v.payment.updated_at = from_unix_ms(second);
  CAF_CHECK_EQUAL(
    payment_text(v),
    R"({"payment_id":"01a3185c-5000-7000-8000-000400000004",)"
    R"("claim_id":"01a3185c-5000-7000-8000-000400000002",)"
    R"("event_id":"01a3185c-5000-7000-8000-000400000001","status":"INITIALIZING","gateway":"sandbox",)"
    R"("reference":"fq-1",)"
    R"("authorization_url":null,"amount":1000000,"currency":"NGN","refunded_amount":0,)"
    R"("created_at":"2027-01-15T08:00:00.000Z",)"
    R"("updated_at":"2027-01-15T08:00:00.000Z"})");
}

event_view sample_event() {
  event_view v;
  v.event.id = make_uuid(from_unix_ms(second), owner, 1);
  v.event.name = "Tab\there, \"quotes\" and \xe2\x82\xa6";
  v.event.currency = "NGN";
  v.event.status = event_status::active;
  v.event.sale_start = v.event.queue_opens_at = from_unix_ms(second);
  v.event.sale_end = from_unix_ms(second + 1000);
  v.event.queue.over_admission_percent = 110;
  v.event.facts.starts_at = from_unix_ms(second);
  v.event.facts.time_zone = "Africa/Lagos";
  v.event.facts.venue_name = "Tafawa Balewa Square";
  v.event.facts.latitude = 6'446'100;
  v.event.facts.longitude = -400'100;
  v.event.facts.description = "One\n*two*";
  v.event.facts.ticket_terms = "No glass.\nNo dogs.";
  v.event.questions = {{2, question_kind::choice, true, true, "Meal?", {"Rice", "Yam"}}};
  ticket_type_row type;
  type.id = make_uuid(from_unix_ms(second), owner, 3);
  type.name = "Standard";
  type.price = 500'000;
  type.total = 10;
  type.held = 3;
  type.sold = 4;
  v.ticket_types = {type};
  return v;
}

CAF_TEST(an event) {
  const auto v = sample_event();
  CAF_CHECK_EQUAL(
    text_of(append_event, v),
    "{\"id\":\"01a3185c-5000-7000-8000-000400000001\",\"status\":\"ACTIVE\",\"currency\":\"NGN\","
    "\"organizer_id\":\"00000000-0000-0000-0000-000000000000\","
    "\"message\":\"\",\"name\":\"Tab\\u0009here, \\\"quotes\\\" and \xe2\x82\xa6\","
    "\"queue_opens_at\":\"2027-01-15T08:00:00.000Z\",\"sale_start\":\"2027-01-15T08:00:00.000Z\","
    "\"sale_end\":\"2027-01-15T08:00:01.000Z\",\"claim_ttl_seconds\":600,\"claims_per_customer\":1,"
    "\"guests\":false,"
    "\"starts_at\":\"2027-01-15T08:00:00.000Z\",\"ends_at\":null,\"doors_at\":null,"
    "\"time_zone\":\"Africa/Lagos\",\"description\":\"One\\u000a*two*\","
    "\"picture\":null,\"ticket_terms\":\"No glass.\\u000aNo dogs.\",\"rotating_codes\":false,"
    "\"transfers_max\":1,"
    "\"questions\":[{\"id\":2,\"label\":\"Meal?\",\"kind\":\"choice\",\"to\":\"attendee\",\"required\":true,"
    "\"choices\":[\"Rice\",\"Yam\"]}],\"challenge\":\"none\",\"lobby_opens_at\":null,\"draw\":\"none\","
    "\"party_max\":6,"
    "\"queue\":{\"policy\":\"batch\",\"concurrency\":null,\"rate_per_minute\":null,\"batch_size\":50,"
    "\"admission_interval_ms\":5000,\"over_admission_factor\":1.1,\"session_ttl_seconds\":1200,"
    "\"claim_window_seconds\":300,\"reclaim_window_seconds\":60,\"reclaims_max\":3,\"ticket_ttl_seconds\":0,"
    "\"capacity\":null,"
    "\"presence_timeout_seconds\":0,\"away_grace_seconds\":300},\"checkout\":{\"async_percent\":null},"
    "\"venue\":{\"name\":\"Tafawa Balewa Square\",\"address\":null,\"latitude\":6.446100,"
    "\"longitude\":-0.400100},"
    "\"waiting_list\":{\"enabled\":false,\"claim_window_seconds\":1800,\"quiet_from_minute\":null,"
    "\"quiet_until_minute\":null,\"began_at\":null},"
    "\"beacon\":{\"kind\":\"none\",\"chain_hash\":null,\"round\":null,\"announced\":null},"
    "\"ticket_types\":[{\"id\":\"01a3185c-5000-7000-8000-000400000003\",\"name\":\"Standard\","
    "\"price\":500000,\"total\":10,\"max_per_order\":1,\"on_sale\":true,\"hidden\":false,"
    "\"sale_from\":null,\"sale_until\":null,\"description\":null,\"available\":3}],"
    "\"total_inventory\":10,\"available\":3,"
    "\"sold_out\":false,\"lobby\":null,\"created_at\":null,\"updated_at\":null}");
  std::string list;
  append_event_list(list, {v, v}, true, [](const event_view&) { return "abc"; });
  const auto parsed = boost::json::parse(list).get_object();
  CAF_CHECK_EQUAL(parsed.at("items").get_array().size(), 2u);
  for (const auto* long_one : {"description", "ticket_terms", "questions"})
    CAF_CHECK(!parsed.at("items").get_array()[0].get_object().contains(long_one));
  CAF_CHECK_EQUAL(parsed.at("next_cursor").get_string(), "abc");
}

CAF_TEST(statistics) {
  event_stats s;
  s.waiting = 5;
  s.admission_rate_per_minute = 12;
  s.revenue = -3;
  const auto body = boost::json::parse(stats_text(s)).get_object();
  CAF_CHECK_EQUAL(body.size(), 21u);
  CAF_CHECK_EQUAL(body.at("waiting").get_int64(), 5);
  CAF_CHECK_EQUAL(body.at("revenue").get_int64(), -3);
  CAF_CHECK_EQUAL(body.at("admission_rate_per_minute").get_int64(), 12);
}

CAF_TEST(frames) {
  CAF_CHECK_EQUAL(
    position_frame(3, 1.5, 2.5),
    R"({"type":"position_changed","position":3,"ahead":2,"eta":{"low_seconds":5,"high_seconds":8}})");
  CAF_CHECK_EQUAL(position_frame(3, -1, -1),
                  R"({"type":"position_changed","position":3,"ahead":2,"eta":null})");
  const sale_evidence seen{.sells = true, .free = 4, .held = 1, .most = 2};
  CAF_CHECK_EQUAL(
    position_frame(3, -1, -1, outlook_of(seen, 3)),
    R"({"type":"position_changed","position":3,"ahead":2,"eta":null,"outlook":{"tickets_free":4,)"
    R"("tickets_held":1,"people_ahead":2,"buying_percent":null,"buyers_ahead":null,"tickets_ahead":null,)"
    R"("chance_percent":null,"chance":"unknown","waiting_list":false}})");
  const sale_evidence much{.sells = true,
                           .free = 40,
                           .decided = 50,
                           .claimed = 50,
                           .buyers = 25,
                           .bought = 25,
                           .squares = 25,
                           .joined = 90,
                           .waiting = 40,
                           .admitted = 50};
  CAF_CHECK(
    position_frame(3, -1, -1, outlook_of(much, 11))
      .ends_with(
        R"("buying_percent":{"low":37,"high":63},"buyers_ahead":5,"tickets_ahead":5,)"
        R"("chance_percent":{"low":95,"high":100},"chance":"almost_certain","waiting_list":false}})"));
  CAF_CHECK_EQUAL(notice_frame(socket_notice_kind::waiting_list),
                  R"({"type":"waiting_list","waiting_list":true})");
  CAF_CHECK_EQUAL(draining_frame(milliseconds{1234}), R"({"type":"draining","reconnect_after_ms":1234})");
  CAF_CHECK_EQUAL(notice_frame(socket_notice_kind::back_on_sale), R"({"type":"sold_out","sold_out":false})");
  const auto id = waiting_entry().id;
  CAF_CHECK_EQUAL(terminal_frame(entry_status::session_expired, event_kind::sale, id),
                  R"({"type":"session_expired","entry_id":")" + to_string(id) + "\"}");
  entry_change c;
  c.id = id;
  c.number = queue_number{42};
  c.status = entry_status::admitted;
  c.admission_no = 2;
  const auto admitted = boost::json::parse(admitted_frame(c, event_kind::sale, test_keys())).get_object();
  CAF_CHECK(
    session_token_matches(test_keys(), std::string{admitted.at("admission_token").get_string()}, id, 2));
  const auto state = boost::json::parse(state_frame(waiting_entry(), event_status::paused, true,
                                                    from_unix_ms(second), test_keys()))
                       .get_object();
  CAF_CHECK_EQUAL(state.at("event_status").get_string(), "PAUSED");
  CAF_CHECK(!state.at("entry").get_object().contains("ticket_token"));
}

CAF_TEST(hundredths) {
  const auto text = [](std::uint64_t n) {
    std::string out;
    append_hundredths(out, n);
    return out;
  };
  CAF_CHECK_EQUAL(text(100), "1");
  CAF_CHECK_EQUAL(text(110), "1.1");
  CAF_CHECK_EQUAL(text(105), "1.05");
  CAF_CHECK_EQUAL(text(0), "0");
}

CAF_TEST(times survive the way out and in) {
  for (std::int64_t ms = -62'135'596'800'000; ms < 253'402'300'799'999; ms += 86'399'998'999)
    CAF_CHECK_EQUAL(unix_ms(*parse_rfc3339(rfc3339(from_unix_ms(ms)))), ms);
}

CAF_TEST(times with offsets fractions and mistakes) {
  CAF_CHECK_EQUAL(rfc3339(*parse_rfc3339("2026-11-21T02:43:18Z")), "2026-11-21T02:43:18.000Z");
  CAF_CHECK_EQUAL(rfc3339(*parse_rfc3339("2026-11-21T02:43:18.1239+01:30")), "2026-11-21T01:13:18.123Z");
  CAF_CHECK_EQUAL(rfc3339(*parse_rfc3339("2024-02-29t00:00:00.5z")), "2024-02-29T00:00:00.500Z");
  for (const auto* wrong :
       {"", "2026-11-21", "2026-11-21T02:43:18", "2026-11-21 02:43:18Z", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T02:60:18Z", "2026-11-21T02:43:60Z",
        "2026-11-21T02:43:18.Z", "2026-11-21T02:43:18.1234567890Z", "2026-11-21T02:43:18+1:00",
        "2026-11-21T02:43:18+0100", "2026-11-21T02:43:18+24:00", "2026-11-21T02:43:18Zx",
        " 2026-11-21T02:43:18Z", "0000-01-01T00:00:00Z", "2026-1-21T02:43:18.00Z"})
    CAF_CHECK(!parse_rfc3339(wrong));
}

} // namespace codec_test
