// SPDX-License-Identifier: Apache-2.0
// What the fans saw: the only evidence for the checker. Filled by the crowd, read by the checker. A request
// without an answer is only counted: its outcome is unknown until a later answer shows it. Each sighting
// holds the time of its request and of its answer.
#pragma once

#include "load/base/order_history.hpp"
#include "load/base/uuid.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load {

// `absent`: 404 not_in_queue; `left`: the fan's acknowledged DELETE; `over`: any other terminal entry status.
enum class place_kind : std::uint8_t { waiting, away, admitted, over, absent, left };

struct place_sight {
  run_time_us sent_us = 0; // the state was true at some moment between sent_us and at_us
  run_time_us at_us = 0;
  place_kind kind = place_kind::waiting;
  uuid entry;
  std::uint64_t number = 0;
  std::uint32_t position = 0; // 0: not in the answer
  std::uint64_t batch = 0; // 0: not in the answer
};

enum class claim_status : std::uint8_t { claimed, expiring, confirmed, released, refunded, absent };

struct claim_item {
  uuid ticket_type;
  std::int64_t quantity = 0;
  std::int64_t unit_price = 0;
};

struct claim_sight {
  run_time_us first_sent_us = 0; // of the first attempt under this idempotency key
  run_time_us sent_us = 0;
  run_time_us at_us = 0;
  uuid claim;
  claim_status status = claim_status::claimed;
  std::vector<claim_item> items;
  std::int64_t fees = 0; // on top of the items
  std::int64_t amount = 0;
  std::string currency;
  std::vector<std::string> seats = {}; // names
};

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

struct payment_sight {
  run_time_us sent_us = 0;
  run_time_us at_us = 0;
  uuid payment;
  uuid claim;
  payment_status status = payment_status::initializing;
  std::int64_t amount = 0;
  std::int64_t refunded_amount = 0;
  std::string currency;
};

// The gateway's own answer to the fan.
struct gateway_sight {
  run_time_us at_us = 0;
  uuid payment;
  bool paid = false;
};

enum class behaviour : std::uint8_t { buy, no_show, abandon, decline };

// How a fan ended. `timed_out`: the run stopped before the fan was done.
enum class outcome : std::uint8_t {
  running,
  bought,
  no_show,
  abandoned,
  declined,
  sold_out,
  missed,
  ended,
  refused,
  failed,
  timed_out
};

struct fan_history {
  behaviour plan = behaviour::buy;
  bool websocket = false;
  outcome end = outcome::running;
  run_time_us joined_us = -1; // when the first place was acknowledged
  std::vector<place_sight> places;
  std::vector<claim_sight> claims;
  std::vector<payment_sight> payments;
  std::vector<gateway_sight> gateway;
  std::vector<run_time_us> told_sold_out; // arrival times of 410 event_sold_out
  std::vector<order_sight> orders;
  std::vector<order_wish> wishes; // one for each placed order
  std::uint32_t unknown_checkouts = 0; // POST checkout requests without an answer
  std::uint32_t unknown_checkout_units = 0; // tickets requested by them
  std::uint32_t unknown_claims = 0; // POST claims requests without an answer
  std::uint32_t unknown_gateway = 0; // gateway actions without an answer
  bool leave_requested = false; // a DELETE of the place was sent, with any answer or none
};

struct ticket_type_terms {
  uuid id;
  std::string name;
  std::int64_t price = 0;
  std::int64_t total = 0;
  std::int64_t available_at_start = 0;
  std::int64_t max_per_order = 1;
};

// A required question of the event, with an answer that it takes.
struct question_terms {
  std::int64_t id = 0;
  bool to_attendee = false; // else to the buyer
  std::string answer;
};

// The event's settings during the sale, from GET /events/{id} before the first fan arrived.
struct sale_terms {
  uuid event;
  std::string name;
  std::string status;
  std::string currency;
  std::string policy;
  uuid organizer; // nil: not in the answer
  std::int64_t batch_size = 0; // 0: not a batch queue, no limit to check
  std::int64_t admission_interval_ms = 0;
  std::int64_t claims_per_customer = 1;
  std::int64_t claim_window_s = 0;
  std::int64_t claim_ttl_s = 0;
  std::int64_t session_ttl_s = 0;
  double over_admission_factor = 1.0;
  std::vector<ticket_type_terms> types;
  std::vector<question_terms> questions = {}; // those that are required

  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] std::int64_t available_at_start() const;
};

// The map of a fan that followed it on a WebSocket, brought to the version of the last whole map.
struct fan_map {
  std::size_t fan = 0;
  std::string states; // see seat_states
};

// The event's seat map, from its public API; only with --seats.
struct seat_books {
  bool is_followed = false;
  bool read = false; // `followed` and `last` are of one version
  std::vector<std::string> names; // by number
  std::string followed; // states by the changes since the first map, see seat_states
  std::string last; // states of the whole map at the end
  std::uint64_t answers = 0; // with changes
  std::uint64_t unusable = 0; // answers that could not be applied
  std::uint64_t refused = 0; // wishes for seats that others had, or that the rules refuse
  std::vector<fan_map> maps = {};
  std::uint64_t maps_by_changes = 0; // of them: the last answer was no whole map
};

struct sale_history {
  sale_terms terms;
  bool terms_changed = false; // stock or limits differed between the first and the last GET of the event
  bool sold_out_seen = false; // two consecutive GET /events/{id} reported it at the end
  run_time_us sold_out_at_us = 0;
  std::vector<fan_history> fans;
  sale_books before; // read only when fans place orders
  sale_books after;
  seat_books seats;
};

inline std::int64_t sale_terms::total() const {
  std::int64_t sum = 0;
  for (const auto& type : types) sum += type.total;
  return sum;
}

inline std::int64_t sale_terms::available_at_start() const {
  std::int64_t sum = 0;
  for (const auto& type : types) sum += type.available_at_start;
  return sum;
}

inline std::string_view name_of(behaviour plan) {
  switch (plan) {
    case behaviour::buy: return "buy";
    case behaviour::no_show: return "no_show";
    case behaviour::abandon: return "abandon";
    case behaviour::decline: return "decline";
  }
  return "?";
}

inline std::string_view name_of(outcome end) {
  switch (end) {
    case outcome::running: return "running";
    case outcome::bought: return "bought";
    case outcome::no_show: return "no_show";
    case outcome::abandoned: return "abandoned";
    case outcome::declined: return "declined";
    case outcome::sold_out: return "sold_out";
    case outcome::missed: return "missed";
    case outcome::ended: return "ended";
    case outcome::refused: return "refused";
    case outcome::failed: return "failed";
    case outcome::timed_out: return "timed_out";
  }
  return "?";
}

} // namespace fq::load
