// SPDX-License-Identifier: Apache-2.0
// Reading the server's JSON.
#define CAF_SUITE load.wire
#include "caf/test/unit_test.hpp"

#include "load/wire/wire.hpp"

using namespace fq::load;

namespace {

constexpr auto id_text = "0192f1c0-0000-7000-8000-0000000000ab";

std::string entry_text(const std::string& status, const std::string& rest) {
  return std::string(R"({"entry_id":")") + id_text + R"(","status":")" + status + R"(","queue_number":7)"
         + rest + "}";
}

} // namespace

CAF_TEST(ids are read and written alike) {
  const auto id = parse_uuid(id_text);
  CAF_REQUIRE(id.has_value());
  CAF_CHECK_EQUAL(to_string(*id), id_text);
  for (const auto* wrong :
       {"", "0192f1c0", "0192f1c0-0000-7000-8000-0000000000ag", "0192f1c000000-7000-8000-0000000000ab"})
    CAF_CHECK(!parse_uuid(wrong).has_value());
}

CAF_TEST(a waiting entry is read) {
  const std::string rest =
    R"(,"position":12,"poll_after_ms":900,"admission_batch":null,"admission_token":null)";
  const auto entry = read_entry(parse_object(entry_text("WAITING", rest)));
  CAF_REQUIRE(entry.has_value());
  CAF_CHECK(entry->kind == place_kind::waiting);
  CAF_CHECK_EQUAL(entry->number, 7u);
  CAF_CHECK_EQUAL(entry->position, 12u);
  CAF_CHECK_EQUAL(entry->poll_after_ms, 900);
  CAF_CHECK_EQUAL(entry->batch, 0u);
}

CAF_TEST(an admitted entry must carry its token) {
  const std::string rest = R"(,"position":null,"admission_batch":3)";
  CAF_CHECK(!read_entry(parse_object(entry_text("ADMITTED", rest))).has_value());
  const auto entry = read_entry(parse_object(entry_text("ADMITTED", rest + R"(,"admission_token":"t")")));
  CAF_REQUIRE(entry.has_value());
  CAF_CHECK_EQUAL(entry->batch, 3u);
}

CAF_TEST(every ending is over and an unknown status is nothing) {
  for (const auto* status : {"EXPIRED", "CANCELLED", "COMPLETED", "SESSION_EXPIRED", "REVOKED"})
    CAF_CHECK(read_entry(parse_object(entry_text(status, ""))).value().kind == place_kind::over);
  CAF_CHECK(!read_entry(parse_object(entry_text("SLEEPING", ""))).has_value());
  CAF_CHECK(!read_entry(parse_object("[1]")).has_value());
  CAF_CHECK(!read_entry(parse_object("{")).has_value());
}

CAF_TEST(a claim and a payment are read) {
  const auto claim = read_claim(parse_object(
    std::string(R"({"claim_id":")") + id_text + R"(","status":"CONFIRMED","items":[{"ticket_type_id":")"
    + id_text + R"(","quantity":2,"unit_price":50}],"fees":0,"amount":100,"currency":"NGN"})"));
  CAF_REQUIRE(claim.has_value());
  CAF_CHECK(claim->status == claim_status::confirmed);
  CAF_CHECK_EQUAL(claim->items.at(0).quantity, 2);
  const auto payment = read_payment(
    parse_object(std::string(R"({"payment_id":")") + id_text + R"(","claim_id":")" + id_text
                 + R"(","status":"REFUND_PENDING","authorization_url":null,"amount":100,"refunded_amount":0,)"
                   R"("currency":"NGN"})"));
  CAF_REQUIRE(payment.has_value());
  CAF_CHECK(payment->observation.status == payment_status::refund_pending);
  CAF_CHECK_EQUAL(payment->authorization_url, "");
}

CAF_TEST(an event is read and only a batch queue has a batch size) {
  const std::string text = std::string(R"({"id":")") + id_text
                           + R"(","name":"n","status":"ACTIVE","currency":"NGN","sold_out":true,)"
                             R"("available":0,"ticket_types":[{"id":")"
                           + id_text
                           + R"(","name":"Standard","price":5,"total":9,"available":0}],)"
                             R"("queue":{"policy":"batch","batch_size":50,"over_admission_factor":1.1}})";
  const auto event = read_event(parse_object(text));
  CAF_REQUIRE(event.has_value());
  CAF_CHECK(event->sold_out);
  CAF_CHECK_EQUAL(event->terms.total(), 9);
  CAF_CHECK_EQUAL(event->terms.batch_size, 50);
  auto rate = text;
  rate.replace(rate.find("\"batch\""), 7, "\"rate\"");
  const auto other = read_event(parse_object(rate));
  CAF_REQUIRE(other.has_value());
  CAF_CHECK_EQUAL(other->terms.batch_size, 0);
}

CAF_TEST(the required questions of an event come with answers that they take) {
  const auto event = read_event(parse_object(std::string(R"({"id":")") + id_text
                                             + R"(","ticket_types":[],"queue":{"policy":"open"},"questions":[
    {"id":1,"label":"Size","kind":"choice","to":"attendee","required":true,"choices":["M","L"]},
    {"id":2,"label":"News","kind":"text","to":"buyer","required":false,"choices":[]},
    {"id":3,"label":"Rules","kind":"consent","to":"buyer","required":true,"choices":[]},
    {"id":4,"label":"Name","kind":"text","to":"buyer","required":true,"choices":[]}]})"));
  CAF_REQUIRE(event && event->terms.questions.size() == 3);
  const auto& asked = event->terms.questions;
  CAF_CHECK(asked[0].id == 1 && asked[0].to_attendee && asked[0].answer == "M");
  CAF_CHECK(asked[1].id == 3 && !asked[1].to_attendee && asked[1].answer == "yes");
  CAF_CHECK(asked[2].id == 4 && !asked[2].answer.empty());
}
