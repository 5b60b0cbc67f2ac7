// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of one simulated sale: the seed's generator, virtual time, the checkers, the stores,
// the server handles.
#pragma once
#include "tests/sim/checker.hpp"
#include "tests/sim/gateway.hpp"
#include "tests/sim/options.hpp"

#include "actors/protocol/protocol.hpp"
#include "crypto/session_token.hpp"
#include "domain/base/environment.hpp"
#include "store/port/cache.hpp"

#include <caf/detail/test_actor_clock.hpp>

#include <functional>
#include <memory>

namespace fq::sim {

inline constexpr std::int64_t start_of_time_ms = 1'800'000'000'000;

/// How long the organizer and the gateway wait for an answer.
inline constexpr seconds staff_patience{5};

/// A lease owner's name.
inline std::string node_name(std::size_t node) { return std::string(1, static_cast<char>('a' + node)); }

class disk_ledger;
class access_watch;
class directory_watch;
class lease_watch;
class letter_watch;
class loss_watch;
class mesh;
class notice_watch;
class outbox_watch;
class place_history;

/// Time from CAF's test clock, randomness from the seed. A machine's clocks drift, and its wall clock has an
/// error. Timers of actors are exact.
class sim_environment final : public environment {
public:
  sim_environment(caf::detail::test_actor_clock& clock, std::uint64_t seed, std::int64_t drift = 0) :
      drift_per_mille_(drift), clock_(clock), begun_(right_now()), rng_(seed ^ 0xfa1bf00d) {}

  timestamp wall_now() override { return from_unix_ms(start_of_time_ms) + steady_now() + skew; }
  milliseconds steady_now() override {
    const auto t = right_now();
    return t + (t - begun_) * drift_per_mille_ / 1000;
  }
  void random_bytes(std::span<std::byte> out) override {
    for (auto& b : out) b = static_cast<std::byte>(rng_());
  }

  milliseconds skew{0};

private:
  [[nodiscard]] milliseconds right_now() const {
    return std::chrono::duration_cast<milliseconds>(clock_.now().time_since_epoch());
  }
  std::int64_t drift_per_mille_;
  caf::detail::test_actor_clock& clock_;
  milliseconds begun_;
  generator rng_;
};

/// What people ask of one process, besides its events; null: it is down, or has none.
struct office_handles {
  std::string process; ///< unique
  accounts_handle accounts;
  catalog_handle catalog;
  directory_handle directory;
};

struct world {
  sale_options options;
  generator rng;
  sim_environment* env = nullptr; ///< with the right time; each node has its own environment
  checker* check = nullptr;
  lease_watch* leases = nullptr;
  loss_watch* loss = nullptr;
  outbox_watch* outbox = nullptr;
  access_watch* access = nullptr;
  notice_watch* notices = nullptr; ///< null: no couriers
  directory_watch* directory = nullptr; ///< null: neither accounts nor catalog
  letter_watch* letters = nullptr; ///< null: no mail
  caf::actor targets; ///< of notices
  gateway_books* gateway = nullptr;
  memory_ledger* store = nullptr; ///< the server asks it by ask_ledger()
  disk_ledger* disk = nullptr; ///< null: the memory ledger is the server's
  cache* mirror = nullptr; ///< null: no cache
  const session_keys* sessions = nullptr;
  std::vector<region_handle> regions; ///< one per node, and of a twin; null while it is down
  std::vector<office_handles> offices; ///< one per node, and of a twin
  std::uint64_t offices_begun = 0;
  std::map<aggregate_id, std::uint64_t> rival_epochs; ///< of accounts and catalog
  event_row draft; ///< as an organizer creates it
  std::function<std::string(caf::actor_id)> process_of; ///< name of an owner's process
  mesh* net = nullptr; ///< null: not meshed
  place_history* places = nullptr; ///< null: no watchers
  std::vector<caf::actor> edges; ///< the fans' entry to each meshed node; null while it is down
  event_id event;
  organizer_id organizer;
  aggregate_id aggregate{};
  std::vector<aggregate_id> bystanders; ///< other sales, without activity
  std::shared_ptr<const blocked_customers::list> blocked; ///< of the organizer; null: empty
  milliseconds ledger_skew{0}; ///< the error of the ledger's clock, by which leases end and owners load
  milliseconds ledger_ahead{0}; ///< the greatest ledger_skew so far
  std::vector<std::string> party_codes; ///< of all parties
  std::shared_ptr<const seat_plan> hall; ///< null: no reserved seats
  bool chaos = true; ///< faults are active
  milliseconds calm_from{
    milliseconds::max()}; ///< steady time; everything must have recovered from the last fault
  bool closing = false; ///< fans start nothing new
  bool trace = false;

  /// A random node, as a load balancer picks it; it may be down.
  [[nodiscard]] const region_handle& some_region() { return regions[rng() % regions.size()]; }
  [[nodiscard]] ticket_type_id some_type() {
    const auto& all = check->ticket_types();
    return all[rng() % all.size()].id;
  }
  [[nodiscard]] bool sells() const { return options.kind == event_kind::sale; }
  [[nodiscard]] managed managed_event() const {
    return {event, {principal_kind::organizer, default_tenant, organizer}, options.kind};
  }
  [[nodiscard]] bool has_clock_errors() const {
    const auto& c = options.clocks;
    return c.drift > 0 || c.node_steps > 0 || c.ledger_steps > 0 || options.faults.wall_clock_jumps;
  }
  /// No node can answer from a memory that another one has overtaken.
  [[nodiscard]] bool reads_are_fresh() const { return options.nodes == 1 && options.faults.twin == 0; }
  /// Nothing may be refused.
  [[nodiscard]] bool is_calm() const { return reads_are_fresh() && !chaos && env->steady_now() > calm_from; }
  /// Accounts and catalog may refuse nothing: calm, and their owners have found out about their last rivals.
  [[nodiscard]] bool offices_are_calm() const {
    return is_calm() && std::ranges::none_of(rival_epochs, [this](const auto& rival) {
             return store->head(rival.first)->epoch == rival.second;
           });
  }
  [[nodiscard]] timestamp ledger_now() const { return env->wall_now() + ledger_skew; }
  /// How much longer than `span` a node's drifting clock may count.
  [[nodiscard]] milliseconds drift_within(milliseconds span) const {
    return options.clocks.drift == 0 ? milliseconds{0}
                                     : span * (options.clocks.drift + 1) / 1000 + milliseconds{1};
  }
  [[nodiscard]] const caf::actor& some_edge() { return edges[rng() % edges.size()]; }
};

} // namespace fq::sim
