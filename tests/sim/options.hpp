// SPDX-License-Identifier: Apache-2.0
// Everything about one simulated sale that is drawn from its seed. Swarm testing: each seed enables a random
// subset of the faults, because a run with all of them hides what only a few together show.
#pragma once
#include "domain/model/rows.hpp"
#include "domain/sale/sale.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace fq::sim {

using generator = std::mt19937_64;

/// True with a probability of `per_mille` in a thousand.
inline bool chance(generator& rng, std::uint32_t per_mille) { return rng() % 1000 < per_mille; }
inline std::int64_t between(generator& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(high - low + 1));
}
inline milliseconds between(generator& rng, milliseconds low, milliseconds high) {
  return milliseconds{between(rng, low.count(), high.count())};
}

/// The same, but draws nothing where the rate is 0: sales that know no such fault stay as they were.
inline bool strikes(generator& rng, std::uint32_t per_mille) {
  return per_mille != 0 && chance(rng, per_mille);
}

/// Probabilities are per mille: of commits, of messages, of calls, or of steps divided by a further hundred
/// ("per 100,000 steps").
struct fault_rates {
  std::uint32_t commit_unavailable = 0, commit_applied_unknown = 0, commit_lost_unknown = 0, commit_late = 0,
                commit_delayed = 0, commit_busy = 0;
  std::uint32_t acquire_unavailable = 0;
  std::uint32_t call_unavailable = 0,
                call_unanswered = 0; ///< the ledger's other calls; unanswered: done all the same
  milliseconds store_delay{0}; ///< at most, each way
  std::uint32_t kill_owner = 0, kill_supervisor = 0, crash_process = 0,
                rival_owner = 0; ///< per 100,000 steps
  std::uint32_t kill_payments = 0; ///< per 100,000 steps; takes the process with it, a little later
  std::uint32_t gateway_unavailable = 0, gateway_effect_but_unavailable = 0, gateway_answer_lost = 0;
  std::uint32_t gateway_outage = 0; ///< per 100,000 steps: its API answers nothing for a while
  milliseconds gateway_delay{0};
  std::uint32_t webhook_lost = 0, webhook_twice = 0, wrong_amount = 0, refund_pending = 0;
  milliseconds webhook_delay{0};
  std::uint32_t answer_lost = 0; ///< a fan's connection breaks after the request was sent
  std::uint32_t cache_unavailable = 0, cache_unanswered = 0, cache_torn = 0, cache_flushed = 0,
                cache_rolled_back = 0;
  std::uint32_t cache_saved = 0, cache_away = 0; ///< per 100,000 steps: a dump; no answer for a while
  std::uint32_t freeze =
    0; ///< per 100,000 steps: a process stands still, perhaps beyond its leases (SIGSTOP)
  std::uint32_t consumer_refuses = 0, consumer_stops_early = 0, consumer_answer_lost = 0;
  milliseconds consumer_delay{0};
  bool wall_clock_jumps = false;
  // of checkouts only
  std::uint32_t rejected = 0; ///< the gateway will never take this charge
  std::uint32_t taxed = 0; ///< it adds tax to what it captures
  std::uint32_t refund_refused = 0; ///< for good, under this refund's id
  std::uint32_t declined_after_paid = 0; ///< it tells of a failure after the success
  std::uint32_t report_forged = 0; ///< per courier round: a stranger reports a payment that never was
  bool references_once = false; ///< a reference that comes again is refused as a duplicate
  bool gateway_stays_away = false; ///< well into the quiet phase: orders must not wait for it
};

/// What a sale with checkouts draws; every `checkout_every`th seed is one.
struct checkout_options {
  bool on = false;
  std::uint32_t by_order = 0; ///< fans who buy with place_order; the others open claims
  std::uint32_t two_types = 0, donates = 0, uses_promo = 0, cancels = 0, releases = 0, pays_all_the_same = 0;
  std::uint32_t late_fans = 0; ///< how many come when the faults are over
  bool webhooks_are_reports = false; ///< their word is checked with the gateway
};

inline constexpr std::uint64_t checkout_every = 4;

/// What a sale on meshed nodes draws. Rates are per 100,000 steps, those of single messages per mille.
struct mesh_options {
  bool on = false;
  milliseconds link_delay{0}; ///< at most
  milliseconds connection_timeout{0}; ///< silence for so long ends a connection
  milliseconds beat_interval{0}, alive_for{0};
  std::uint32_t bystanders = 0; ///< other sales, so that nodes have a share
  std::uint32_t reset = 0, stall = 0, cut = 0; ///< of links
  std::uint32_t ledger_cut = 0; ///< a node does not reach the ledger for a while
  std::uint32_t silent_death = 0; ///< per mille of crashes: the machine is gone, nobody is told
  std::uint32_t move = 0, drain = 0; ///< by the operator, per mille of his rounds
  bool opens_early = false; ///< long before: nodes may share out
  std::uint32_t lost = 0, twice = 0, late = 0; ///< single requests and answers, while the connection survives
  milliseconds late_by{0};
};

/// Sales on meshed nodes have seeds of their own, from here on: all others are what they were before there
/// was a mesh.
inline constexpr std::uint64_t first_meshed = 1'000'000'000;
/// How many others are run for one of them.
inline constexpr std::uint64_t meshed_every = 8;

struct sale_options {
  std::uint64_t seed = 0;
  std::uint32_t fans = 0;
  queue_settings queue;
  milliseconds claim_ttl{0};
  std::uint32_t claims_per_customer = 1;
  std::int64_t total = 0;
  std::uint32_t ticket_types = 1;
  money price = 0;
  milliseconds arrival_span{0};
  milliseconds sale_length{0};
  sale_rules rules;
  std::uint32_t restarts_in_budget = 5;
  milliseconds idle_after{0};
  std::uint32_t nodes = 1; ///< processes of the server beside each other
  milliseconds lease_term{0}; ///< 0: without leases, one process
  milliseconds takeover_interval{0};
  bool has_cache = false;
  milliseconds reconciliation_interval{0};
  std::size_t cache_chunk_max = 0; ///< small: short steps can be torn as well
  bool has_dispatcher = false;
  milliseconds patience{0}; ///< of a fan; then the connection is given up and the request repeated
  bool organizer_acts = false;
  bool organizer_may_end = false, organizer_may_cancel = false;
  std::uint32_t steps_per_timer = 64; ///< how long jobs may wait while time goes on
  milliseconds chaos{0}; ///< virtual time with faults
  // what fans do, per mille
  std::uint32_t no_show = 0, leaves = 0, abandons = 0, releases = 0, declines = 0, pays_after_declining = 0,
                pays_late = 0;
  bool fans_vanish = false; ///< when the faults stop, nobody asks any more: deadlines must run all the same
  fault_rates faults;
  checkout_options checkout;
  mesh_options mesh;
};

sale_options options_of(std::uint64_t seed);
std::string describe(const sale_options& o);

} // namespace fq::sim
