// SPDX-License-Identifier: Apache-2.0
// The limits of actors/outbox, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- bus_inbox
/// Max messages per round.
inline constexpr std::size_t inbox_messages_max = 16;
/// For the owner's commit. Well below nats_inbox_settings::answer_within.
inline constexpr milliseconds inbox_apply_timeout{10'000};
/// Pause between two polls, so that a busy inbox cannot delay the actor's exit message.
inline constexpr milliseconds inbox_poll{5};

// -- courier
/// Polling interval of an idle courier.
inline constexpr milliseconds courier_poll{500};
/// Bounds of the back-off while the service is unavailable; the upper bound also caps Retry-After.
inline constexpr milliseconds channel_pause{5'000};
/// See channel_pause.
inline constexpr milliseconds channel_pause_max{5 * 60 * 1000};
/// For a ledger reader's answer.
inline constexpr milliseconds courier_timeout{10'000};
/// Max back-off from one target; also caps its Retry-After.
inline constexpr milliseconds target_pause_max{60 * 60 * 1000};
/// A target's state is forgotten this long after its last attempt.
inline constexpr milliseconds health_memory{24 * 60 * 60 * 1000};
/// Polling interval of a courier with deliveries in hand: it starts waiting ones and stores results.
inline constexpr milliseconds courier_busy_poll{50};
/// Older failures say nothing about a target's present state.
inline constexpr milliseconds recent_failure{10 * 60 * 1000};

// -- witness_client
/// Logs whose witnesses are remembered: a node owns fewer events that sell. A forgotten one costs a request
/// more.
inline constexpr std::size_t cosigned_logs_max = 10'000;
/// For a log's actor, which reads a few tiles.
inline constexpr milliseconds growth_proof_timeout{5'000};

// -- dispatcher
/// Max rows per round. Marking them delays commits on SQLite by about 1 ms.
inline constexpr std::uint32_t outbox_rows_max = 64;
/// Polling interval of an empty outbox.
inline constexpr milliseconds outbox_poll{500};
/// Time after which a consumer or ledger without an answer is asked again.
inline constexpr milliseconds outbox_answer_timeout{30'000};
/// During a rollout the nodes' configurations differ: for this long another node may process a row that this
/// one cannot.
inline constexpr milliseconds roll_out_max{15 * 60 * 1000};

// -- fan_out
/// For the ledger's answer; well below outbox_answer_timeout.
inline constexpr milliseconds fan_out_timeout{5'000};
/// Devices per page of a broadcast.
inline constexpr std::uint32_t broadcast_page = 5'000;

// -- mail_consumer
/// Max partly sent messages in memory; beyond it all are forgotten and start again.
inline constexpr std::size_t mails_in_progress_max = 1'000;
/// Max recently sent mails in memory: a late batch is repeated before its rows were marked.
inline constexpr std::size_t mails_remembered_max = 10'000;

// -- mailer
/// Max mails that wait (I14); more are refused. 16 connections at 250 ms send them in a minute.
inline constexpr std::size_t waiting_mail_max = 4'000;
/// Max of them that one client caused, an eighth.
inline constexpr std::size_t waiting_mail_of_client_max = 500;
/// Time of an attempt before the first was measured.
inline constexpr milliseconds first_mail_attempt{250};
/// For a worker's answer: longer than a port blocks.
inline constexpr milliseconds letter_timeout{90'000};

// -- outbox_turn
/// For the owner's commit of a dead letter; then the row is sent again.
inline constexpr milliseconds dead_letter_timeout{5'000};

} // namespace fq
