// SPDX-License-Identifier: Apache-2.0
// Everything about one simulated sale that is drawn from its seed. Swarm testing: each seed enables a random
// subset of the faults, because a run with all of them hides bugs that only a few faults reveal together.
#pragma once
#include "actors/base/limits.hpp"
#include "actors/directory/accounts.hpp"
#include "domain/model/rows.hpp"
#include "domain/sale/sale.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace fq::sim {

using generator = std::mt19937_64;

/// True with a probability of `per_mille` / 1000.
inline bool chance(generator& rng, std::uint32_t per_mille) { return rng() % 1000 < per_mille; }
inline std::int64_t between(generator& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(high - low + 1));
}
inline milliseconds between(generator& rng, milliseconds low, milliseconds high) {
  return milliseconds{between(rng, low.count(), high.count())};
}

/// The same, but draws no number if the rate is 0: seeds without this fault keep their sequence.
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
                call_unanswered = 0; ///< the ledger's other calls; unanswered: executed, the answer is lost
  milliseconds store_delay{0}; ///< maximum, each way
  std::uint32_t kill_owner = 0, kill_supervisor = 0, crash_process = 0,
                rival_owner = 0; ///< per 100,000 steps
  std::uint32_t kill_payments = 0; ///< per 100,000 steps; the process ends a little later
  std::uint32_t gateway_unavailable = 0, gateway_effect_but_unavailable = 0, gateway_answer_lost = 0;
  std::uint32_t gateway_outage = 0; ///< per 100,000 steps: its API does not answer for a while
  milliseconds gateway_delay{0};
  std::uint32_t webhook_gone = 0; ///< never delivered
  std::uint32_t webhook_lost = 0, webhook_twice = 0, wrong_amount = 0, refund_pending = 0;
  milliseconds webhook_delay{0};
  std::uint32_t answer_lost = 0; ///< a fan's connection breaks after the request was sent
  std::uint32_t cache_unavailable = 0, cache_unanswered = 0, cache_torn = 0, cache_flushed = 0,
                cache_rolled_back = 0;
  std::uint32_t cache_saved = 0, cache_away = 0; ///< per 100,000 steps: a dump; an outage
  std::uint32_t freeze = 0; ///< per 100,000 steps: a frozen process, perhaps beyond its leases (SIGSTOP)
  std::uint32_t consumer_refuses = 0, consumer_stops_early = 0, consumer_answer_lost = 0;
  milliseconds consumer_delay{0};
  bool wall_clock_jumps = false;
  std::uint32_t twin = 0; ///< per 100,000 steps: a second process begins under a living process' name
  // for sales with checkouts only
  std::uint32_t rejected = 0; ///< the gateway refuses this charge permanently
  std::uint32_t taxed = 0; ///< the gateway adds tax to the captured amount
  std::uint32_t refund_refused = 0; ///< permanently, for this refund's id
  std::uint32_t declined_after_paid = 0; ///< the gateway reports a failure after the success
  std::uint32_t report_forged = 0; ///< per courier round: an unsigned report of a payment that did not happen
  bool references_once = false; ///< the gateway refuses a repeated reference as a duplicate
  /// the outage lasts far into the quiet phase: orders must end without the gateway
  bool gateway_stays_away = false;
};

/// Options of a sale with checkouts; every `checkout_every`th seed is one.
struct checkout_options {
  bool on = false;
  std::uint32_t by_order = 0; ///< fans who buy with place_order; the others open claims
  std::uint32_t two_types = 0, donates = 0, uses_promo = 0, cancels = 0, releases = 0, pays_all_the_same = 0;
  std::uint32_t late_fans = 0; ///< fans that arrive after the faults
  bool webhooks_are_reports = false; ///< webhooks must be confirmed by a call to the gateway
  std::uint32_t guests = 0; ///< fans without a sign-in; several buy for one customer
};

inline constexpr std::uint64_t checkout_every = 4;

/// Hidden ticket types, and who may buy them. Rates are per mille.
struct access_options {
  std::uint32_t hidden = 0; ///< hidden types, besides the public ones
  std::uint32_t invites = 0, sets_codes = 0; ///< of the organizer's rounds
  std::uint32_t gives_code = 0; ///< of the fans' joins
};

/// Reserved seats of the public types. Rates are per mille.
struct seat_options {
  bool on = false;
  single_rule singles = single_rule::strict;
  std::uint32_t names = 0, best = 0; ///< of the items; of the claims
  std::uint32_t changes = 0; ///< of the organizer's rounds
};

/// A lobby before the queue opens. Rates are per mille.
struct lobby_options {
  bool on = false, draws = false, has_beacon = false;
  milliseconds length{0};
  std::uint32_t party_max = 1;
  std::uint32_t parties = 0; ///< of the fans' joins
};

/// Fans that do not behave, and organizers who act against single ones. Rates are per mille.
struct people_options {
  std::uint32_t blocks = 0, revokes = 0; ///< of the organizer's rounds
  std::uint32_t dozes = 0; ///< of polls: no further request until the entry is AWAY
};

/// Errors of clocks. Rates are per 100,000 steps.
struct clock_options {
  std::int64_t drift = 0; ///< at most, per mille, of each node's clocks
  std::uint32_t node_steps = 0; ///< of a node's wall clock, by seconds or an hour
  std::uint32_t ledger_steps = 0; ///< the same of the ledger's clock
};

/// Options of a sale on meshed nodes. Rates are per 100,000 steps, for single messages per mille.
struct mesh_options {
  bool on = false;
  milliseconds link_delay{0}; ///< maximum
  milliseconds connection_timeout{0}; ///< a connection ends after this silence
  milliseconds beat_interval{0}, alive_for{0};
  std::uint32_t bystanders = 0; ///< other sales, so that each node owns a share
  std::uint32_t reset = 0, stall = 0, cut = 0; ///< faults of links
  std::uint32_t ledger_cut = 0; ///< a node cannot reach the ledger for a while
  std::uint32_t silent_death = 0; ///< per mille of crashes: the machine is lost, other nodes are not notified
  std::uint32_t move = 0, drain = 0; ///< by the operator, per mille of its rounds
  bool opens_early = false; ///< the sale opened long ago: nodes may rebalance it
  std::uint32_t lost = 0, twice = 0, late = 0; ///< single requests and answers on an open connection
  milliseconds late_by{0};
  std::uint32_t subscribes_again = 0; ///< per mille of subscriptions: the subscriber sends it twice
};

/// Options of a sale whose ledger goes back. Times since the sale's begin.
struct loss_options {
  bool on = false;
  milliseconds kept_at{0}; ///< the last commit that stays
  milliseconds back_at{0};
  milliseconds ends_at{0}; ///< the sale's process ends, and starts again if it is the only one
};

/// Options of a sale on the SQLite engine. Rates are per 100,000 steps, of opened files per mille.
struct disk_options {
  bool on = false;
  std::uint32_t error = 0; ///< a write, sync or truncate fails soon
  std::uint32_t power = 0; ///< the machine loses power soon
  std::uint32_t full = 0; ///< no file grows for a while
  std::uint32_t open = 0; ///< a fault meets the next process while it starts
  bool tears = false; ///< sectors reach the disk in any order, also without a sync
  std::uint32_t checkpoint_pages = 0;
};

/// Options of a sale with accounts, catalog and directories.
struct directory_options {
  bool on = false;
  std::int64_t page_max = 4; ///< rows of a page of a list
  milliseconds code_life{10 * 60'000};
  accounts_bounds bounds;
  bool has_few_codes = false; ///< pending codes may be dropped for newer ones
};

/// Options of a sale whose mail is sent. Rates are per mille of letters, also of sign-in codes.
struct mail_options {
  bool on = false;
  std::uint32_t down = 0, put_off = 0, refused = 0, answer_lost = 0;
};

/// Seeds of sales on meshed nodes start here, so that the other seeds keep their sequence.
inline constexpr std::uint64_t first_meshed = 1'000'000'000;
/// Other sales per meshed sale.
inline constexpr std::uint64_t meshed_every = 8;
/// Seeds of sales with two living processes of one name start here.
inline constexpr std::uint64_t first_twins = 2'000'000'000;
/// Other sales per sale with twins.
inline constexpr std::uint64_t twins_every = 8;
/// Seeds of sales whose ledger goes back start here.
inline constexpr std::uint64_t first_lost = 3'000'000'000;
/// Other sales per sale whose ledger goes back.
inline constexpr std::uint64_t lost_every = 8;
/// Seeds of sales on the SQLite engine start here.
inline constexpr std::uint64_t first_disk = 4'000'000'000;
/// Other sales per sale on the SQLite engine.
inline constexpr std::uint64_t disk_every = 16;

struct sale_options {
  std::uint64_t seed = 0;
  event_kind kind = event_kind::sale; ///< queue: a standalone queue, without stock
  std::uint32_t fans = 0;
  queue_settings queue;
  waiting_list_settings waiting_list = {};
  milliseconds claim_ttl{0};
  std::uint32_t claims_per_customer = 1;
  std::int64_t total = 0;
  std::uint32_t ticket_types = 1; ///< public ones
  std::uint32_t max_per_order = 2;
  money price = 0;
  milliseconds arrival_span{0};
  milliseconds sale_length{0};
  milliseconds sale_delay{0}; ///< from the queue's opening to the start of the sale
  milliseconds type_delay{0}; ///< from the start of the sale to the window of the second ticket type
  sale_rules rules;
  std::uint32_t restarts_in_budget = 5;
  milliseconds idle_after{0};
  std::uint32_t nodes = 1; ///< server processes that run at the same time
  milliseconds lease_term{0}; ///< 0: no leases, one process
  milliseconds takeover_interval{2'000};
  bool has_cache = false;
  milliseconds reconciliation_interval{0};
  std::size_t cache_chunk_max = 0; ///< small values, so that short steps can be interrupted too
  bool has_dispatcher = false;
  milliseconds patience{0}; ///< a fan's timeout before it repeats the request
  bool organizer_acts = false;
  bool organizer_may_end = false, organizer_may_cancel = false;
  std::uint32_t steps_per_timer = 64; ///< how long jobs may wait while time advances
  milliseconds chaos{0}; ///< virtual time of the fault phase
  // behaviour of fans, per mille
  std::uint32_t no_show = 0, leaves = 0, abandons = 0, releases = 0, declines = 0, pays_after_declining = 0,
                pays_late = 0;
  bool fans_vanish = false; ///< fans stop when the faults stop: deadlines must run without requests
  fault_rates faults;
  checkout_options checkout;
  access_options access;
  lobby_options lobby;
  people_options people;
  seat_options seats;
  mesh_options mesh;
  loss_options loss;
  disk_options disk;
  clock_options clocks;
  directory_options directory;
  mail_options mail;
  bool has_couriers = false; ///< the real fan-out and couriers take the notices
  bool has_origins = false; ///< they ask each node for the sessions of their visitors
  milliseconds statistics_step{0}; ///< 0: no statistics
  bool small_bounds = false; ///< limits are small, so that they are met
  owner_bounds bounds; ///< rules.bounds has the others
};

sale_options options_of(std::uint64_t seed);
std::string describe(const sale_options& o);

} // namespace fq::sim
