// SPDX-License-Identifier: Apache-2.0
// Compares the owner's memory with the ledger, for an operator's report. Reads the ledger while the sale
// continues, and applies later batches to a copy of the memory until both are at the same sequence number.
// Runs inside the event actor, so it needs no lock.
#pragma once
#include "actors/protocol/ledger_messages.hpp"
#include "actors/sale/limits.hpp"
#include "actors/storage/journal.hpp"
#include "domain/line/mirror.hpp"
#include "domain/sale/audit.hpp"
#include "domain/sale/sale.hpp"

#include <caf/typed_response_promise.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace fq {

class event_audit {
public:
  /// `ask_ledger` sends peek_aggregate; its answer goes to peeked().
  event_audit(std::function<void(std::uint64_t reading)> ask_ledger, const sale& truth, journal& log) :
      ask_ledger_(std::move(ask_ledger)), sale_(&truth), journal_(&log) {}
  ~event_audit();
  event_audit(const event_audit&) = delete;
  event_audit& operator=(const event_audit&) = delete;

  /// Answers after reading and comparing. Requests during a reading share its result.
  void begin(caf::typed_response_promise<ledger_report> promise);
  /// The journal submits this batch.
  void begun(const batch& b);
  void peeked(const aggregate_peeked& answer);

private:
  struct later_batch {
    std::uint64_t to_seq = 0;
    mirror_delta delta;
    changes settings; ///< those that audited_memory takes
  };
  /// Memory at the boundary of `seq`, and the changes by each later batch.
  struct reading {
    std::uint64_t seq = 0;
    mirror_image memory;
    audited_memory settings;
    bool has_settled_tickets = true;
    std::vector<later_batch> later;
  };
  [[nodiscard]] std::vector<std::string> compare(const aggregate_snapshot& found) const;
  void report(const ledger_report& result);

  std::function<void(std::uint64_t)> ask_ledger_;
  const sale* sale_;
  journal* journal_;
  std::optional<reading> reading_;
  std::uint64_t readings_ = 0; ///< number of readings started
  std::vector<caf::typed_response_promise<ledger_report>> asking_;
};

} // namespace fq
