// SPDX-License-Identifier: Apache-2.0
// The limits of actors/storage, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- cache_worker
/// Max elements per pipeline.
inline constexpr std::size_t elements_per_pipeline_max = 20'000;
/// Max waiting steps; beyond it the cache counts as unavailable (I14).
inline constexpr std::size_t steps_waiting_max = 10'000;
/// Pause between pings of an unavailable cache; doubles up to the maximum.
inline constexpr milliseconds circuit_pause_min{200};
/// See circuit_pause_min.
inline constexpr milliseconds circuit_pause_max{5'000};

// -- journal
/// Time after which an unanswered batch is submitted again; `applied_seq` makes this idempotent.
inline constexpr milliseconds journal_answer_timeout{5'000};
/// Pause before a retry after `unavailable`; doubles up to the maximum.
inline constexpr milliseconds journal_retry_min{50};
/// See journal_retry_min.
inline constexpr milliseconds journal_retry_max{1'000};

// -- ledger_worker
/// Max batches and changes per transaction.
inline constexpr std::size_t batches_per_commit_max = 256;
/// See batches_per_commit_max.
inline constexpr std::size_t changes_per_commit_max = 20'000;
/// Rows that one request for a customer's records looks at where no index helps: about 1 ms.
inline constexpr std::uint32_t records_looked_at = 500;
/// Newest orders of a customer, whose mail an export finds by the order.
inline constexpr std::uint32_t orders_with_mail = 200;
/// Retention of webhook receipts; gateways retry for up to three days (Paystack, Stripe).
inline constexpr milliseconds receipt_life{30ll * 24 * 60 * 60 * 1000};
/// Retention of the delivery log, of devices and of sent domain events.
inline constexpr milliseconds delivery_life{30ll * 24 * 60 * 60 * 1000};
/// Since the last registration; FCM expires tokens then too.
inline constexpr milliseconds device_life{270ll * 24 * 60 * 60 * 1000};
/// Of sent domain events.
inline constexpr milliseconds outbox_life{3ll * 24 * 60 * 60 * 1000};
/// Of a picture that no event names: one that was just stored gets its name within seconds.
inline constexpr milliseconds picture_life{60 * 60 * 1000};
/// Max rows deleted per round. A full round is followed by another after prune_pause, else after the
/// interval.
inline constexpr std::size_t rows_per_prune = 250;
/// With rows_per_prune: at most 2,500 rows/s.
inline constexpr milliseconds prune_pause{100};

/// Pause between two writes of finished tasks, each of finished_tasks_max at most: 200 rows/s. A crash loses
/// them for so long.
inline constexpr milliseconds tasks_interval{5'000};

/// Max time between two looks at the leases. An owner may lose its lease early, because the ledger's clock
/// stepped or a peer ended it. Until the next look it answers from its memory. See session_trust.
inline constexpr milliseconds lease_check_max{500};

// -- ledger_memory
/// About 150 bytes each.
inline constexpr std::size_t remembered_aggregates_max = 1'000'000;

// -- owner
/// Retry interval of loading after the ledger did not answer.
inline constexpr milliseconds owner_load_retry{200};
/// Max requests that wait while accounts or catalog load; more are refused.
inline constexpr std::size_t held_while_loading_max = 1'000;
/// Retry interval of accounts and catalog after the ledger lost commits of them.
inline constexpr milliseconds lost_retry{3'000};
/// Retry interval of loading while this node does not serve. No ledger call is made; short, so that the owner
/// is there soon after the node starts to serve.
inline constexpr milliseconds serve_retry{20};

// -- session_reader
/// How long the name of a vouched mirror is kept. Each reading asks whether it is still vouched for.
inline constexpr milliseconds mirror_kept{10'000};
/// A missing session is over only if it is still missing after its owner has vouched again: the token can
/// arrive before the mirror step. Polling interval, and the time after which the answer is `unknown`.
inline constexpr milliseconds session_retry_interval{200};
/// See session_retry_interval.
inline constexpr milliseconds session_answer_max{3'000};
/// Max remembered ended sessions. An entry is admitted once, so they stay over.
inline constexpr std::size_t ended_sessions_max = 100'000;
/// Max waiting questions; beyond it the answer is `unknown`.
inline constexpr std::size_t session_questions_max = 10'000;

// -- log_audit

/// About 400,000 joins. With more the entries are not compared: the log takes in thousands a second.
inline constexpr std::size_t noted_rows_audited = 10'000;
/// A log that is wrong in one place is often wrong in many.
inline constexpr std::size_t log_lines_max = 10;

} // namespace fq
