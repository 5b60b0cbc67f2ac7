// SPDX-License-Identifier: Apache-2.0
// Reads public logs in the ledger, on any node: checkpoints, and receipts of entries. A checkpoint follows
// from what is stored.
#pragma once
#include "actors/protocol/log_messages.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fq::net {

struct log_reading {
  std::optional<response> no;
  std::shared_ptr<const log_rows> rows; ///< with a state
};
awaitable<log_reading> read_log_rows(context& ctx, const request& rq, aggregate_id aggregate, log_wish what);

/// Verifier keys of the witnesses that cosign this installation's logs.
[[nodiscard]] std::vector<std::string> witness_keys(const context& ctx);
/// The same, as a JSON array.
[[nodiscard]] std::string witness_keys_json(const context& ctx);

/// The checkpoint, with the signatures of the log and of its witnesses.
[[nodiscard]] std::string checkpoint_note_of(const context& ctx, const log_state_row& log);

/// The tlog-proof of an entry's join, as a file; 503 until the join is in the log.
awaitable<response> answer_receipt(context& ctx, const request& rq, aggregate_id aggregate,
                                   receipt_reply entry);

} // namespace fq::net
