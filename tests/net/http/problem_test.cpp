// SPDX-License-Identifier: Apache-2.0
// Every reason and fault has its own status, title and code; extra members of some problems.
#define CAF_SUITE routes_problem
#include "caf/test/unit_test.hpp"

#include "net/http/problem.hpp"
#include "tests/net/api/requests.hpp"

#include <map>
#include <set>

namespace problem_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

template <class Enum>
std::vector<Enum> all(Enum first, Enum last) {
  std::vector<Enum> list;
  for (auto i = static_cast<int>(first); i <= static_cast<int>(last); ++i)
    list.push_back(static_cast<Enum>(i));
  return list;
}

const std::map<reason, unsigned> statuses{{reason::unavailable, 503},
                                          {reason::idempotency_key_reused, 422},
                                          {reason::idempotency_in_progress, 409},
                                          {reason::invalid_credentials, 401},
                                          {reason::invalid_otp, 401},
                                          {reason::rate_limited, 429},
                                          {reason::email_taken, 409},
                                          {reason::forbidden, 403},
                                          {reason::not_found, 404},
                                          {reason::customer_blocked, 403},
                                          {reason::sign_in_required, 409},
                                          {reason::not_in_queue, 404},
                                          {reason::ticket_deleted, 410},
                                          {reason::invalid_field, 400},
                                          {reason::invalid_transition, 409},
                                          {reason::total_below_committed, 409},
                                          {reason::event_ended, 410},
                                          {reason::queue_not_open, 409},
                                          {reason::lobby_fixed, 409},
                                          {reason::lobby_not_open, 409},
                                          {reason::lobby_not_closed, 409},
                                          {reason::already_drawn, 409},
                                          {reason::party_unknown, 409},
                                          {reason::party_full, 409},
                                          {reason::queue_full, 409},
                                          {reason::wrong_mode, 409},
                                          {reason::external_id_taken, 409},
                                          {reason::promo_code_taken, 409},
                                          {reason::sale_not_started, 409},
                                          {reason::already_claimed, 409},
                                          {reason::not_admitted, 403},
                                          {reason::promo_code_invalid, 409},
                                          {reason::access_code_invalid, 422},
                                          {reason::promo_code_expired, 409},
                                          {reason::promo_code_exhausted, 409},
                                          {reason::promo_code_limit, 409},
                                          {reason::not_on_sale, 409},
                                          {reason::limit_exceeded, 409},
                                          {reason::quota_exceeded, 409},
                                          {reason::no_gateway, 409},
                                          {reason::seat_taken, 409},
                                          {reason::seat_accessible_only, 409},
                                          {reason::seat_accessible_unclear, 409},
                                          {reason::seat_single, 409},
                                          {reason::no_best_seats, 409},
                                          {reason::event_sold_out, 410},
                                          {reason::none_free, 409},
                                          {reason::lock_held, 409},
                                          {reason::locks_exhausted, 409},
                                          {reason::claim_live, 409},
                                          {reason::payment_open, 409},
                                          {reason::claim_not_payable, 409},
                                          {reason::attempts_exhausted, 409},
                                          {reason::refund_open, 409},
                                          {reason::nothing_to_refund, 409},
                                          {reason::gateway_unavailable, 503},
                                          {reason::transfers_off, 409},
                                          {reason::transfer_limit, 409},
                                          {reason::transfer_open, 409},
                                          {reason::not_transferable, 409},
                                          {reason::device_unknown, 401},
                                          {reason::scan_id_reused, 409},
                                          {reason::too_many, 409},
                                          {reason::picture_limit, 409},
                                          {reason::challenge_required, 403}};

} // namespace

CAF_TEST(statuses of reasons are those of the contract) {
  const auto reasons = all(reason::unavailable, reason::challenge_required);
  CAF_CHECK_EQUAL(reasons.size(), statuses.size());
  for (const auto r : reasons) {
    const auto answer = problem(refusal{r}, "id-1");
    CAF_CHECK_EQUAL(answer.status, statuses.at(r));
    CAF_CHECK_EQUAL(made::code_of(answer), fq::code_of(r));
    CAF_CHECK(!title_of(r).empty());
  }
}

CAF_TEST(every fault answers with its own code in a well formed problem) {
  std::set<std::string> codes;
  for (const auto f : all(fault::bad_request, last_fault)) {
    const auto answer = problem(f, "id-1", "some \"detail\"");
    const auto body = body_of(answer);
    CAF_CHECK_EQUAL(answer.content_type, "application/problem+json");
    CAF_CHECK_EQUAL(body.at("type").get_string(), "about:blank");
    CAF_CHECK_EQUAL(body.at("status").get_int64(), answer.status);
    CAF_CHECK_EQUAL(body.at("detail").get_string(), "some \"detail\"");
    CAF_CHECK_EQUAL(body.at("request_id").get_string(), "id-1");
    CAF_CHECK(!body.at("title").get_string().empty());
    CAF_CHECK(codes.insert(made::code_of(answer)).second);
    CAF_CHECK_EQUAL(field_of(answer, "WWW-Authenticate"), answer.status == 401 ? "Bearer" : "");
    CAF_CHECK_EQUAL(!field_of(answer, "Retry-After").empty(), answer.status == 429 || answer.status == 503);
  }
}

CAF_TEST(members of their own) {
  refusal closed{reason::queue_not_open};
  closed.at = from_unix_ms(1'700'000'000'123);
  CAF_CHECK_EQUAL(text_in(problem(closed, "i"), "opens_at"), "2023-11-14T22:13:20.123Z");
  refusal early{reason::sale_not_started};
  early.at = from_unix_ms(1'700'000'000'000);
  CAF_CHECK_EQUAL(text_in(problem(early, "i"), "sale_start"), "2023-11-14T22:13:20.000Z");
  refusal twice{reason::already_claimed};
  twice.id = make_uuid(from_unix_ms(1), aggregate_id{16}, 5);
  CAF_CHECK_EQUAL(text_in(problem(twice, "i"), "claim_id"), to_string(twice.id));
  refusal below{reason::total_below_committed};
  below.first = 3;
  below.second = 4;
  CAF_CHECK_EQUAL(number_in(problem(below, "i"), "held"), 3);
  CAF_CHECK_EQUAL(number_in(problem(below, "i"), "sold"), 4);
}

CAF_TEST(the state of the thing does not collide with the HTTP status) {
  const auto body = body_of(problem(refusal{reason::invalid_transition, "ENDED"}, "i"));
  CAF_CHECK_EQUAL(body.at("status").get_int64(), 409);
  CAF_CHECK_EQUAL(body.at("current_status").get_string(), "ENDED");
}

CAF_TEST(a field in the detail becomes an entry of errors) {
  const auto body =
    body_of(problem(refusal{reason::invalid_field, "sale_end: must be after sale_start"}, "i"));
  const auto& e = body.at("errors").get_array().at(0).get_object();
  CAF_CHECK_EQUAL(e.at("field").get_string(), "sale_end");
  CAF_CHECK_EQUAL(e.at("detail").get_string(), "must be after sale_start");
}

CAF_TEST(a refusal without a reason is our bug and says so) {
  const auto answer = problem(refusal{}, "i");
  CAF_CHECK_EQUAL(answer.status, 500u);
  CAF_CHECK_EQUAL(made::code_of(answer), "internal_error");
}

} // namespace problem_test
