// SPDX-License-Identifier: Apache-2.0
// The owner's part that keeps its mirror in the cache: follows every commit with a step, compares now and
// then, and builds anew under a new generation when a step was lost. Runs inside the event actor, so it needs
// no lock. Nothing here can fail a sale.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "actors/storage/journal.hpp"
#include "domain/line/mirror.hpp"
#include "domain/sale/sale.hpp"

#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace fq {

/// What the mirror of `truth` should hold. Exact at a boundary of its journal.
mirror_image image_of(const sale& truth);
/// The stock's part of it.
std::vector<mirrored_stock> mirrored_stock_of(const sale& truth);
/// What a batch that has just begun changes in the mirror.
mirror_delta delta_of(const batch& b, const sale& truth);

class event_mirror {
public:
  /// How the mirror reaches its surroundings. `raise` appends cache_generation_raised to the owner's journal.
  struct port {
    std::function<void(std::shared_ptr<const mirror_step>)> send_step;
    std::function<void(check_mirror)> send_check;
    std::function<void(std::shared_ptr<const vouched_mirror>)> send_vouch;
    std::function<void(std::uint64_t from)> raise;
    std::function<timestamp()> now;
  };

  event_mirror(aggregate_id aggregate, port p, const sale& truth, journal& log, std::uint64_t generation) :
      aggregate_(aggregate), port_(std::move(p)), sale_(&truth), journal_(&log), generation_(generation) {}
  ~event_mirror();
  event_mirror(const event_mirror&) = delete;
  event_mirror& operator=(const event_mirror&) = delete;

  /// Begins a new generation: whatever the cache holds is not to be trusted. Also after every load of the
  /// owner.
  void rebuild();
  /// The journal begins this batch: the owner's memory is exactly what it will leave.
  void begun(const batch& b);

  /// Tells other nodes that this mirror is the one to go by, if there is one. They stop to within
  /// `vouch_life`.
  void vouch();

  // -- from the cache worker
  void lost(std::uint64_t generation);
  void cache_is_back();
  void checked(const mirror_checked& result);

  /// Compares with the cache as soon as memory and ledger agree.
  void check();
  /// The same for people, who get a report; `rebuild_first` builds anew before.
  void verify(bool rebuild_first, caf::typed_response_promise<mirror_report> promise);

private:
  journal::boundary_work begin_work();
  void raise();
  void send(std::uint64_t generation, const mirror_delta& delta);
  [[nodiscard]] mirror_report report_of(mirror_state result, std::vector<std::string> differences) const;
  void report(mirror_state result, const std::vector<std::string>& differences);

  aggregate_id aggregate_;
  port port_;
  const sale* sale_;
  journal* journal_;
  std::uint64_t generation_; ///< in force, or decided and on its way to the ledger
  std::uint64_t steps_ = 0; ///< sent in this generation
  bool begun_ = false; ///< every later commit is followed by a step
  bool cache_is_away_ = false;
  std::vector<caf::typed_response_promise<mirror_report>> verifying_;
};

} // namespace fq
