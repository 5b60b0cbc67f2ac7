// SPDX-License-Identifier: Apache-2.0
// Every state x every trigger of the life cycles, against tables written from the design, not
// from the code.
#define CAF_SUITE domain_states
#include "domain/model/states.hpp"

#include "caf/test/unit_test.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace states_test {

using namespace fq;

namespace {

template <class State, class Trigger>
using golden = std::map<std::pair<State, Trigger>, State>;

/// The table equals `expected` for all pairs. Terminal states and history steps follow from it.
template <class State, class Trigger, std::size_t N>
void check_all(const std::array<rule<State, Trigger>, N>& table, int states, int triggers,
               const golden<State, Trigger>& expected, const std::set<State>& terminal) {
  CAF_CHECK_EQUAL(N, expected.size());
  std::set<std::pair<State, State>> steps;
  for (const auto& [from_and_trigger, to] : expected) steps.emplace(from_and_trigger.first, to);
  std::set<std::string_view> names;
  for (int s = 0; s < states; ++s) {
    const auto from = static_cast<State>(s);
    names.insert(name_of(from));
    CAF_CHECK_EQUAL(is_terminal(table, from), terminal.contains(from));
    for (int t = 0; t < triggers; ++t) {
      const auto trigger = static_cast<Trigger>(t);
      const auto i = expected.find({from, trigger});
      const auto to = next(table, from, trigger);
      if (to.has_value() != (i != expected.end()) || (to && *to != i->second))
        CAF_ERROR(name_of(from) << " with trigger " << t << " leads to " << (to ? name_of(*to) : "nothing"));
    }
    for (int s2 = 0; s2 < states; ++s2)
      CAF_CHECK_EQUAL(is_step(table, from, static_cast<State>(s2)),
                      steps.contains({from, static_cast<State>(s2)}));
  }
  CAF_CHECK_EQUAL(names.size(), static_cast<std::size_t>(states));
  CAF_CHECK(name_of(static_cast<State>(states)).empty()); // `states` is the complete number
}

} // namespace

CAF_TEST(an event is drafted sells pauses ends and it may be cancelled until then and after) {
  using s = event_status;
  using t = event_trigger;
  check_all(
    event_rules, 5, 5,
    golden<s, t>{{{s::draft, t::activate}, s::active},
                 {{s::active, t::pause}, s::paused},
                 {{s::paused, t::resume}, s::active},
                 {{s::active, t::end}, s::ended},
                 {{s::paused, t::end}, s::ended},
                 {{s::draft, t::cancel}, s::cancelled},
                 {{s::active, t::cancel}, s::cancelled},
                 {{s::paused, t::cancel}, s::cancelled},
                 {{s::ended, t::cancel}, s::cancelled}}, // a cancelled show after the sale: still refunded
    {s::cancelled});
}

CAF_TEST(an entry waits may be away is admitted and ends once) {
  using s = entry_status;
  using t = entry_trigger;
  check_all(entry_rules, 8, 8,
            golden<s, t>{{{s::waiting, t::admit}, s::admitted},
                         {{s::waiting, t::go_away}, s::away},
                         {{s::away, t::come_back}, s::waiting},
                         {{s::waiting, t::expire}, s::expired},
                         {{s::away, t::expire}, s::expired},
                         {{s::waiting, t::leave}, s::cancelled},
                         {{s::away, t::leave}, s::cancelled},
                         {{s::admitted, t::complete}, s::completed},
                         {{s::admitted, t::end_session}, s::session_expired},
                         {{s::admitted, t::revoke}, s::revoked}},
            {s::expired, s::cancelled, s::completed, s::session_expired, s::revoked});
}

CAF_TEST(a claim is confirmed or released and refunded only once it was confirmed) {
  using s = claim_status;
  using t = claim_trigger;
  check_all(claim_rules, 5, 4,
            golden<s, t>{{{s::claimed, t::confirm}, s::confirmed},
                         {{s::claimed, t::release}, s::released},
                         {{s::claimed, t::deadline_with_payment}, s::expiring},
                         {{s::expiring, t::confirm}, s::confirmed},
                         {{s::expiring, t::release}, s::released},
                         {{s::confirmed, t::refund}, s::refunded}},
            {s::released, s::refunded});
}

CAF_TEST(a payment attempt never forgets captured money) {
  using s = payment_status;
  using t = payment_trigger;
  check_all(
    payment_rules, 10, 9,
    golden<s, t>{{{s::initializing, t::initialized}, s::pending},
                 {{s::initializing, t::fail}, s::failed},
                 {{s::initializing, t::confirm}, s::confirmed},
                 {{s::pending, t::confirm}, s::confirmed},
                 {{s::pending, t::fail}, s::failed},
                 // all unconfirmed states
                 {{s::initializing, t::quarantine}, s::quarantined},
                 {{s::pending, t::quarantine}, s::quarantined},
                 {{s::failed, t::quarantine}, s::quarantined},
                 {{s::quarantined, t::confirm}, s::confirmed},
                 {{s::quarantined, t::request_refund}, s::refund_pending},
                 {{s::pending, t::confirm_late}, s::confirmed_late},
                 {{s::failed, t::confirm_late}, s::confirmed_late},
                 // beyond the design's text: the webhook may arrive before the gateway's answer to initialize
                 {{s::initializing, t::confirm_late}, s::confirmed_late},
                 {{s::confirmed_late, t::confirm}, s::confirmed},
                 {{s::confirmed_late, t::request_refund}, s::refund_pending},
                 {{s::confirmed, t::request_refund}, s::refund_pending},
                 {{s::refund_pending, t::refund_done}, s::refunded},
                 {{s::refund_pending, t::refund_part_done}, s::partially_refunded},
                 {{s::refund_pending, t::refund_refused}, s::refund_failed},
                 {{s::refund_failed, t::request_refund}, s::refund_pending}, // retried by a person
                 {{s::refund_failed, t::refund_done}, s::refunded},
                 {{s::refund_failed, t::refund_part_done}, s::partially_refunded},
                 {{s::partially_refunded, t::request_refund}, s::refund_pending}}, // the remaining amount
    {s::refunded});
}

CAF_TEST(a refund is requested until it succeeds or is given up) {
  using s = refund_status;
  using t = refund_trigger;
  check_all(refund_rules, 3, 2,
            golden<s, t>{{{s::requested, t::succeed}, s::succeeded},
                         {{s::requested, t::give_up}, s::failed},
                         {{s::failed, t::succeed}, s::succeeded}},
            {s::succeeded});
}

CAF_TEST(an event ticket is transferred before the gate and cancelled at any time) {
  using s = event_ticket_status;
  using t = event_ticket_trigger;
  check_all(event_ticket_rules, 5, 4,
            golden<s, t>{{{s::issued, t::transfer}, s::transferred},
                         {{s::transferred, t::transfer}, s::transferred}, // to a third holder
                         {{s::issued, t::check_in}, s::checked_in},
                         {{s::transferred, t::check_in}, s::checked_in},
                         {{s::checked_in, t::check_out}, s::checked_out},
                         {{s::checked_out, t::check_in}, s::checked_in},
                         {{s::issued, t::cancel}, s::cancelled},
                         {{s::transferred, t::cancel}, s::cancelled},
                         {{s::checked_in, t::cancel}, s::cancelled},
                         {{s::checked_out, t::cancel}, s::cancelled}},
            {s::cancelled});
  for (int i = 0; i < 5; ++i) {
    const auto status = static_cast<s>(i);
    CAF_CHECK_EQUAL(is_valid(status), !is_terminal(event_ticket_rules, status));
  }
}

CAF_TEST(an offer of a ticket ends once) {
  using s = transfer_status;
  using t = transfer_trigger;
  check_all(transfer_rules, 5, 4,
            golden<s, t>{{{s::offered, t::accept}, s::accepted},
                         {{s::offered, t::decline}, s::declined},
                         {{s::offered, t::withdraw}, s::withdrawn},
                         {{s::offered, t::expire}, s::expired}},
            {s::accepted, s::declined, s::withdrawn, s::expired});
}

CAF_TEST(a table with two answers for one question is recognised) {
  using r = rule<refund_status, refund_trigger>;
  constexpr std::array twice{r{refund_status::requested, refund_trigger::succeed, refund_status::succeeded},
                             r{refund_status::requested, refund_trigger::succeed, refund_status::failed}};
  static_assert(!is_deterministic(twice));
  static_assert(is_deterministic(refund_rules));
}

CAF_TEST(what counts as live and open) {
  const std::set<entry_status> live{entry_status::waiting, entry_status::away, entry_status::admitted};
  for (int i = 0; i < 8; ++i) {
    const auto s = static_cast<entry_status>(i);
    CAF_CHECK_EQUAL(is_live(s), live.contains(s));
    CAF_CHECK_EQUAL(is_in_line(s), live.contains(s) && s != entry_status::admitted);
    CAF_CHECK_EQUAL(is_live(s), !is_terminal(entry_rules, s));
  }
  for (int i = 0; i < 5; ++i) {
    const auto s = static_cast<claim_status>(i);
    CAF_CHECK_EQUAL(is_live(s), s == claim_status::claimed || s == claim_status::expiring);
  }
  for (int i = 0; i < 10; ++i) {
    const auto s = static_cast<payment_status>(i);
    CAF_CHECK_EQUAL(is_open(s), s == payment_status::initializing || s == payment_status::pending);
  }
}

CAF_TEST(the numbers in the ledger stay what they are) {
  CAF_CHECK_EQUAL(static_cast<int>(event_status::cancelled), 4);
  CAF_CHECK_EQUAL(static_cast<int>(entry_status::admitted), 2);
  CAF_CHECK_EQUAL(static_cast<int>(entry_status::revoked), 7);
  CAF_CHECK_EQUAL(static_cast<int>(claim_status::confirmed), 2);
  CAF_CHECK_EQUAL(static_cast<int>(claim_status::refunded), 4);
  CAF_CHECK_EQUAL(static_cast<int>(payment_status::quarantined), 4);
  CAF_CHECK_EQUAL(static_cast<int>(payment_status::refund_failed), 9);
  CAF_CHECK_EQUAL(static_cast<int>(refund_status::failed), 2);
  CAF_CHECK_EQUAL(static_cast<int>(event_ticket_status::checked_in), 1);
  CAF_CHECK_EQUAL(static_cast<int>(event_ticket_status::cancelled), 4);
}

} // namespace states_test
