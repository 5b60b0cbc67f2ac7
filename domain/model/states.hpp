// SPDX-License-Identifier: Apache-2.0
// The life cycles of a sale (event, queue entry, claim, payment attempt, refund, order, event ticket), as
// rule tables. The numbers of the enumerators are stored in the ledger: never renumber, only append.
#pragma once
#include "domain/base/state_machine.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fq {

// -- event

enum class event_status : std::uint8_t { draft, active, paused, ended, cancelled };
enum class event_trigger : std::uint8_t { activate, pause, resume, end, cancel };

inline constexpr std::array event_rules{
  rule{event_status::draft, event_trigger::activate, event_status::active},
  rule{event_status::draft, event_trigger::cancel, event_status::cancelled},
  rule{event_status::active, event_trigger::pause, event_status::paused},
  rule{event_status::active, event_trigger::end, event_status::ended},
  rule{event_status::active, event_trigger::cancel, event_status::cancelled},
  rule{event_status::paused, event_trigger::resume, event_status::active},
  rule{event_status::paused, event_trigger::end, event_status::ended},
  rule{event_status::paused, event_trigger::cancel, event_status::cancelled},
  rule{event_status::ended, event_trigger::cancel, event_status::cancelled},
};
static_assert(is_deterministic(event_rules));

// -- queue entry

enum class entry_status : std::uint8_t {
  waiting,
  away,
  admitted,
  expired,
  cancelled,
  completed,
  session_expired,
  revoked
};
enum class entry_trigger : std::uint8_t {
  admit, ///< the policy has room and the entry is first in its class
  go_away, ///< neither polled nor connected for presence_timeout
  come_back, ///< seen again within the grace time
  expire, ///< ticket_ttl passed, or away too long
  leave, ///< the holder left, or the event ended
  complete, ///< its claim was confirmed, or the session was ended by the holder or the origin
  end_session, ///< session over, or no claim within the claim window
  revoke, ///< by organizer, operator or origin
};

inline constexpr std::array entry_rules{
  rule{entry_status::waiting, entry_trigger::admit, entry_status::admitted},
  rule{entry_status::waiting, entry_trigger::go_away, entry_status::away},
  rule{entry_status::waiting, entry_trigger::expire, entry_status::expired},
  rule{entry_status::waiting, entry_trigger::leave, entry_status::cancelled},
  rule{entry_status::away, entry_trigger::come_back, entry_status::waiting},
  rule{entry_status::away, entry_trigger::expire, entry_status::expired},
  rule{entry_status::away, entry_trigger::leave, entry_status::cancelled},
  rule{entry_status::admitted, entry_trigger::complete, entry_status::completed},
  rule{entry_status::admitted, entry_trigger::end_session, entry_status::session_expired},
  rule{entry_status::admitted, entry_trigger::revoke, entry_status::revoked},
};
static_assert(is_deterministic(entry_rules));

constexpr bool is_in_line(entry_status s) { return s == entry_status::waiting || s == entry_status::away; }
/// Whether an entry leaves the line by reaching this state.
constexpr bool ends_waiting(entry_status to) {
  return to == entry_status::admitted || to == entry_status::expired || to == entry_status::cancelled;
}
constexpr bool is_live(entry_status s) { return is_in_line(s) || s == entry_status::admitted; }

// -- claim

enum class claim_status : std::uint8_t { claimed, expiring, confirmed, released, refunded };
enum class claim_trigger : std::uint8_t {
  confirm, ///< its payment was captured in time
  release, ///< released by the holder, deadline passed without open payment, or no verdict in time
  deadline_with_payment, ///< the deadline passed while a payment attempt is open: stock stays held, the
                         ///< gateway is asked
  refund, ///< all its items were refunded
};

inline constexpr std::array claim_rules{
  rule{claim_status::claimed, claim_trigger::confirm, claim_status::confirmed},
  rule{claim_status::claimed, claim_trigger::release, claim_status::released},
  rule{claim_status::claimed, claim_trigger::deadline_with_payment, claim_status::expiring},
  rule{claim_status::expiring, claim_trigger::confirm, claim_status::confirmed},
  rule{claim_status::expiring, claim_trigger::release, claim_status::released},
  rule{claim_status::confirmed, claim_trigger::refund, claim_status::refunded},
};
static_assert(is_deterministic(claim_rules));

/// Live: holds stock that is not sold yet.
constexpr bool is_live(claim_status s) { return s == claim_status::claimed || s == claim_status::expiring; }

// -- payment attempt

enum class payment_status : std::uint8_t {
  initializing,
  pending,
  confirmed,
  failed,
  quarantined,
  confirmed_late,
  refund_pending,
  refunded,
  partially_refunded,
  refund_failed
};
enum class payment_trigger : std::uint8_t {
  initialized, ///< the gateway returned an authorization URL
  fail, ///< declined, abandoned, or unknown to the gateway
  confirm, ///< captured in time; or late and claimed again; or a person released the quarantine
  quarantine, ///< amount, currency or reference does not match
  confirm_late, ///< captured after its claim was released
  request_refund, ///< the money must be returned
  refund_done, ///< fully refunded
  refund_part_done, ///< partly refunded
  refund_refused, ///< refused by the gateway after all retries
};

inline constexpr std::array payment_rules{
  rule{payment_status::initializing, payment_trigger::initialized, payment_status::pending},
  rule{payment_status::initializing, payment_trigger::fail, payment_status::failed},
  rule{payment_status::initializing, payment_trigger::confirm, payment_status::confirmed},
  rule{payment_status::initializing, payment_trigger::confirm_late, payment_status::confirmed_late},
  rule{payment_status::initializing, payment_trigger::quarantine, payment_status::quarantined},
  rule{payment_status::pending, payment_trigger::confirm, payment_status::confirmed},
  rule{payment_status::pending, payment_trigger::fail, payment_status::failed},
  rule{payment_status::pending, payment_trigger::confirm_late, payment_status::confirmed_late},
  rule{payment_status::pending, payment_trigger::quarantine, payment_status::quarantined},
  rule{payment_status::failed, payment_trigger::confirm_late, payment_status::confirmed_late},
  rule{payment_status::failed, payment_trigger::quarantine, payment_status::quarantined},
  rule{payment_status::quarantined, payment_trigger::confirm, payment_status::confirmed},
  rule{payment_status::quarantined, payment_trigger::request_refund, payment_status::refund_pending},
  rule{payment_status::confirmed_late, payment_trigger::confirm, payment_status::confirmed},
  rule{payment_status::confirmed_late, payment_trigger::request_refund, payment_status::refund_pending},
  rule{payment_status::confirmed, payment_trigger::request_refund, payment_status::refund_pending},
  rule{payment_status::partially_refunded, payment_trigger::request_refund, payment_status::refund_pending},
  rule{payment_status::refund_pending, payment_trigger::refund_done, payment_status::refunded},
  rule{payment_status::refund_pending, payment_trigger::refund_part_done, payment_status::partially_refunded},
  rule{payment_status::refund_pending, payment_trigger::refund_refused, payment_status::refund_failed},
  rule{payment_status::refund_failed, payment_trigger::request_refund, payment_status::refund_pending},
  rule{payment_status::refund_failed, payment_trigger::refund_done,
       payment_status::refunded}, // the gateway refunded after the last retry
  rule{payment_status::refund_failed, payment_trigger::refund_part_done, payment_status::partially_refunded},
};
static_assert(is_deterministic(payment_rules));

/// Paid for tickets, and not fully refunded.
constexpr bool is_refundable(payment_status s) {
  return s == payment_status::confirmed || s == payment_status::partially_refunded;
}
/// Captured for tickets, and not fully refunded; an unfinished refund counts as kept.
constexpr bool is_kept(payment_status s) {
  return is_refundable(s) || s == payment_status::refund_pending || s == payment_status::refund_failed;
}
/// Open: the gateway may still capture it, and no other attempt of the claim may start.
constexpr bool is_open(payment_status s) {
  return s == payment_status::initializing || s == payment_status::pending;
}

// -- refund

enum class refund_status : std::uint8_t { requested, succeeded, failed };
enum class refund_trigger : std::uint8_t { succeed, give_up };

inline constexpr std::array refund_rules{
  rule{refund_status::requested, refund_trigger::succeed, refund_status::succeeded},
  rule{refund_status::requested, refund_trigger::give_up, refund_status::failed},
  rule{refund_status::failed, refund_trigger::succeed,
       refund_status::succeeded}, // the gateway refunded after all
};
static_assert(is_deterministic(refund_rules));

// -- order

enum class order_status : std::uint8_t {
  pending,
  awaiting_payment,
  success,
  failed,
  cancelled,
  partially_refunded,
  refunded
};
enum class order_trigger : std::uint8_t {
  await_payment, ///< the gateway returned the payment page
  succeed, ///< its claim was confirmed; after a failure: late money bought it again
  fail, ///< its claim was released by its deadline or by a failure
  cancel, ///< the customer cancelled it
  refund_part, ///< some of its money was refunded
  refund, ///< all of its money was refunded
};

inline constexpr std::array order_rules{
  rule{order_status::pending, order_trigger::await_payment, order_status::awaiting_payment},
  rule{order_status::pending, order_trigger::succeed, order_status::success},
  rule{order_status::pending, order_trigger::fail, order_status::failed},
  rule{order_status::pending, order_trigger::cancel, order_status::cancelled},
  rule{order_status::awaiting_payment, order_trigger::succeed, order_status::success},
  rule{order_status::awaiting_payment, order_trigger::fail, order_status::failed},
  rule{order_status::awaiting_payment, order_trigger::cancel, order_status::cancelled},
  rule{order_status::failed, order_trigger::succeed, order_status::success},
  rule{order_status::success, order_trigger::refund_part, order_status::partially_refunded},
  rule{order_status::success, order_trigger::refund, order_status::refunded},
  rule{order_status::partially_refunded, order_trigger::refund_part, order_status::partially_refunded},
  rule{order_status::partially_refunded, order_trigger::refund, order_status::refunded},
};
static_assert(is_deterministic(order_rules));

/// Not final: nothing is bought yet, but a purchase is still possible.
constexpr bool is_open(order_status s) {
  return s == order_status::pending || s == order_status::awaiting_payment;
}

// -- event ticket

/// One for each unit that is sold, for its whole life. A transfer keeps the row and raises its generation, so
/// that refund, seat and scans name one id, and an offline gate knows two holders' codes as one ticket.
enum class event_ticket_status : std::uint8_t { issued, checked_in, checked_out, transferred, cancelled };
inline constexpr std::size_t event_ticket_statuses = 5;
enum class event_ticket_trigger : std::uint8_t {
  check_in, ///< let in at a gate; not while its money goes back (sale::may_present)
  check_out, ///< left by a gate with exit; may come in again
  transfer, ///< a receiver accepted it; not while its money goes back, and not after a check-in, or a person
            ///< inside could pass it out
  cancel, ///< its money is back, also that of a cancelled event; also after a check-in
};

inline constexpr std::array event_ticket_rules{
  rule{event_ticket_status::issued, event_ticket_trigger::check_in, event_ticket_status::checked_in},
  rule{event_ticket_status::issued, event_ticket_trigger::transfer, event_ticket_status::transferred},
  rule{event_ticket_status::issued, event_ticket_trigger::cancel, event_ticket_status::cancelled},
  rule{event_ticket_status::transferred, event_ticket_trigger::check_in, event_ticket_status::checked_in},
  rule{event_ticket_status::transferred, event_ticket_trigger::transfer, event_ticket_status::transferred},
  rule{event_ticket_status::transferred, event_ticket_trigger::cancel, event_ticket_status::cancelled},
  rule{event_ticket_status::checked_in, event_ticket_trigger::check_out, event_ticket_status::checked_out},
  rule{event_ticket_status::checked_in, event_ticket_trigger::cancel, event_ticket_status::cancelled},
  rule{event_ticket_status::checked_out, event_ticket_trigger::check_in, event_ticket_status::checked_in},
  rule{event_ticket_status::checked_out, event_ticket_trigger::cancel, event_ticket_status::cancelled},
};
static_assert(is_deterministic(event_ticket_rules));

/// An offer of an event ticket to another person. The receiver ends it, or its giver, or time. The end of its
/// ticket, and the cancellation of its event, withdraw it.
enum class transfer_status : std::uint8_t { offered, accepted, declined, withdrawn, expired };
enum class transfer_trigger : std::uint8_t { accept, decline, withdraw, expire };

inline constexpr std::array transfer_rules{
  rule{transfer_status::offered, transfer_trigger::accept, transfer_status::accepted},
  rule{transfer_status::offered, transfer_trigger::decline, transfer_status::declined},
  rule{transfer_status::offered, transfer_trigger::withdraw, transfer_status::withdrawn},
  rule{transfer_status::offered, transfer_trigger::expire, transfer_status::expired},
};
static_assert(is_deterministic(transfer_rules));

/// Captured money stands for it (I3).
constexpr bool is_valid(event_ticket_status s) { return s != event_ticket_status::cancelled; }

// texts: upper case on the wire and in history

std::string_view name_of(event_status s);
std::string_view name_of(entry_status s);
std::string_view name_of(claim_status s);
std::string_view name_of(payment_status s);
std::string_view name_of(refund_status s);
std::string_view name_of(order_status s);
std::string_view name_of(event_ticket_status s);
std::string_view name_of(transfer_status s);

} // namespace fq
