// SPDX-License-Identifier: Apache-2.0
// Maintains the owner's mirror in the cache: sends a step after every commit, compares periodically, and
// rebuilds under a new generation after a lost step. Runs inside the event actor, so it needs no lock. A
// failure here never fails a sale.
#pragma once
#include "actors/protocol/cache_messages.hpp"
#include "actors/storage/journal.hpp"
#include "domain/line/mirror.hpp"
#include "domain/sale/sale.hpp"

#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace fq {

/// Expected mirror of `truth`. Exact at a boundary of its journal.
mirror_image image_of(const sale& truth);
/// The stock part of the mirror.
std::vector<mirrored_stock> mirrored_stock_of(const sale& truth);
/// Changes of the mirror by a batch that is being submitted.
mirror_delta delta_of(const batch& b, const sale& truth);

class event_mirror {
public:
  /// The mirror's connections to its owner. `raise` appends cache_generation_raised to the journal.
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

  /// Starts a new generation and ignores the cache's content. Also called after every load of the owner.
  void rebuild();
  /// The journal submits this batch, at a boundary.
  void begun(const batch& b);

  /// Vouches for the mirror, if it exists; valid for `vouch_life`.
  void vouch();

  // -- from the cache worker
  void lost(std::uint64_t generation);
  void cache_is_back();
  void checked(const mirror_checked& result);

  /// Compares with the cache at the next boundary.
  void check();
  /// As check(), with a report; `rebuild_first` rebuilds before.
  void verify(bool rebuild_first, caf::typed_response_promise<mirror_report> promise);

private:
  journal::boundary_work begin_work();
  void raise();
  void send(std::uint64_t generation, mirror_delta delta);
  [[nodiscard]] mirror_report report_of(mirror_state result, std::vector<std::string> differences) const;
  void report(mirror_state result, const std::vector<std::string>& differences);

  aggregate_id aggregate_;
  port port_;
  const sale* sale_;
  journal* journal_;
  std::uint64_t generation_; ///< committed, or pending in the journal
  std::uint64_t steps_ = 0; ///< sent in this generation
  bool begun_ = false; ///< every later commit sends a step
  bool cache_is_away_ = false;
  std::vector<caf::typed_response_promise<mirror_report>> verifying_;
};

} // namespace fq
