// SPDX-License-Identifier: Apache-2.0
// What a call of a sale decides: durable changes, and what is done after the commit.
#pragma once
#include "domain/line/queue.hpp"
#include "domain/line/records.hpp"
#include "domain/model/change.hpp"
#include "domain/sale/views.hpp"

#include <vector>

namespace fq {

/// Effects of a block at one event.
struct block_effect {
  customer_id customer;
  bool had_place = false; ///< in line, or admitted
  std::uint32_t claims = 0; ///< live claims that are being released
  std::uint32_t refunds = 0; ///< started refunds
};

/// A request to a gateway, sent once its row is committed.
struct gateway_call {
  gateway_call_kind kind{};
  payment_id payment;
  refund_id refund;
};

/// The result of one or several calls: durable changes, and what becomes visible and is done after the
/// commit.
struct decision {
  changes content;
  /// For the public log, in order: each after what it depends on. Durable with `content`.
  std::vector<log_record> records;
  std::vector<entry_change> entry_changes;
  std::vector<socket_notice_kind> notices;
  std::vector<gateway_call> gateway_calls;
  std::vector<block_effect> blocked;
  std::vector<invitation_row> invited; ///< invitations to notify customers of
  std::vector<transfer_row> transfers; ///< offers made or ended, with the addresses to notify
  std::vector<customer_id> told_holders; ///< of given tickets, to notify that the event is cancelled
  std::vector<line_spot> overtaking; ///< new places before others
  /// The line has opened: who knows places without positions begins anew.
  bool gives_positions = false;
  /// Whether a later read would reveal more of this decision than the caller's own new entry; the read then
  /// waits.
  bool reveals = false;
};

} // namespace fq
