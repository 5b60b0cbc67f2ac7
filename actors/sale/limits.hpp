// SPDX-License-Identifier: Apache-2.0
// The limits of actors/sale, each with its reason.
#pragma once
#include "domain/base/retry.hpp"
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- checkout_switch
/// For the commit of the changed setting; then it is tried again.
inline constexpr milliseconds switch_store_timeout{5'000};

// -- event_actor
/// For the ledger worker to end a lease; then the lease expires by itself.
inline constexpr milliseconds release_timeout{3'000};
/// Min delay of a timer: a burst of due deadlines becomes one run.
inline constexpr milliseconds owner_timer_min{1};
/// Timer interval while the ledger is unavailable or behind.
inline constexpr milliseconds stall_check{100};

/// A standalone queue loads at least the entries that ended within this time: its admission rate counts them
/// (rate_span). Twice that span, because the event's time may be behind the ledger's.
inline constexpr milliseconds rate_window_loaded{2 * 60'000};

// -- event_audit
/// Max batches during one reading of the ledger; beyond it the audit is abandoned (I14).
inline constexpr std::size_t batches_per_audit_max = 20'000;

// -- event_checkin
/// Max event tickets that one answer about the state of a list looks at: some milliseconds.
inline constexpr std::size_t gate_rows_looked_at = 2'000;

// -- event_checkout
/// Max event tickets that a list with a filter looks at for one page: under a millisecond. The next page goes
/// on.
inline constexpr std::size_t event_tickets_looked_at = 5'000;
/// Event tickets in one PDF: it takes about 1 s to print. More have PDFs of their own.
inline constexpr std::size_t papers_max = 100;

// -- event_fan
/// For the ledger to answer such a read.
inline constexpr milliseconds forgotten_read_timeout{3'000};

// -- event_log
/// Between a commit and the turn that takes its records into the public log: 5 s until a checkpoint has them.
inline constexpr milliseconds log_pause{1'000};
/// Rows that a turn reads from the ledger, while memory does not have all. Full rows that are too many for
/// the turn are read again.
inline constexpr std::size_t log_rows_per_turn = 64;
/// About 840 joins. A turn is one batch, and joins that come meanwhile wait for it.
inline constexpr std::size_t log_bytes_per_turn = 32 * 1024;
/// Max bytes of notes in memory per event: of 2 s with 50,000 joins each.
inline constexpr std::size_t fresh_notes_max = 4 * 1024 * 1024;
/// For the ledger to answer a turn.
inline constexpr milliseconds log_read_timeout{5'000};
/// Of witnesses over one checkpoint, some 50 lines, and of the notes that they cosigned last, some 18: they
/// come from others.
inline constexpr std::size_t cosignatures_bytes_max = 8 * 1024;

// -- event_commit
/// An io thread answers polls from what it knows of a line for this time after an answer of the owner. So an
/// ETA is as old at most, and so is a position at a node that lost its connection.
inline constexpr milliseconds line_trust{1'000};

// -- event_lobby
/// Pause before a drand network is asked again for a round, which may not be published yet.
inline constexpr retry_policy beacon_retry{0, milliseconds{1'000}, milliseconds{15'000}};

// -- event_money
/// Max wait of POST payments for the payment page; then it answers INITIALIZING without a page.
inline constexpr milliseconds payment_page_wait{3'000};
/// Stripe's pages live for at least 30 minutes; 5 minutes more for the call itself. Held stock is not
/// affected: the page is expired at the claim's deadline.
inline constexpr milliseconds payment_page_life_min{35 * 60 * 1000};

// -- event_sessions
/// Validity of the content at another node, and the interval of renewals. Within the 5 s of I15:
/// lease_check_max until an owner learns that it has a successor, 1.5 s for a message until its connection is
/// given up (app/mesh), session_trust, and 2 s of nginx caching.
inline constexpr milliseconds session_trust{1'000};
/// See session_trust.
inline constexpr milliseconds pulse_interval{300};

// -- mails
/// Max recipients per mail; more customers are notified in chunks.
inline constexpr std::size_t mail_recipients_max = 1'000;

// -- push_window
/// High-water mark, in changes of an entry or session of about 100 bytes each.
inline constexpr std::uint64_t push_window_max = 20'000;
/// A mark is sent after this many changes; the listener's node returns it.
inline constexpr std::uint64_t push_mark_every = 1'000;
/// Max count of one message: a large message (all sessions of an event, a mass admission) does not indicate a
/// slow listener. So a window holds two such messages of any size. There is one window per event and
/// listener.
inline constexpr std::uint64_t push_counts_at_most = push_window_max / 2;

} // namespace fq
