// SPDX-License-Identifier: Apache-2.0
// The records of an event's public log as bytes (docs/design/fairness.md). The log's actor writes them; the
// checker in web/verify reads them with code of its own.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/line/records.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Where in the ledger a record comes from: both never go back within a log.
struct record_head {
  std::uint64_t sequence = 0; ///< applied_seq of the decision
  timestamp at;
};

using record_nonce = std::array<std::uint8_t, 16>;
/// SHA-256(nonce || entry id): hides the id, and shows it to those who know the nonce.
[[nodiscard]] sha256_digest commitment_of(const record_nonce& nonce, const entry_id& id);
/// Computes an entry's nonce from the log's secret, the subject and the join key. So a nonce needs no memory
/// and no row, and a worker can compute a million of them. Subject and join key are deleted with the entry.
/// After that its nonce cannot be computed.
class nonce_maker {
public:
  explicit nonce_maker(const secret_key& secret) : key_(secret.bytes()) {}
  [[nodiscard]] record_nonce operator()(queue_number n, const subject_key& subject,
                                        std::uint64_t join_key) const;
  /// The commitment to an entry of `owner`.
  [[nodiscard]] sha256_digest commitment(aggregate_id owner, queue_number n, const subject_key& subject,
                                         std::uint64_t join_key, timestamp joined_at) const;

private:
  hmac_sha256_key key_;
};
/// `stored`: key_store::stored.
[[nodiscard]] secret_key nonce_secret_of(const secret_key& stored, const event_id& event);

/// SHA-256 of the draw's seed.
[[nodiscard]] sha256_digest seed_commitment_of(const sha256_digest& seed);

[[nodiscard]] std::string begin_bytes(const record_head& head, const begin_record& r);
[[nodiscard]] std::string lobby_bytes(const record_head& head, const lobby_record& r);
[[nodiscard]] std::string joined_bytes(const record_head& head, const place& p,
                                       const sha256_digest& commitment);
[[nodiscard]] std::string changed_bytes(const record_head& head, const place& p, changed_by by);
[[nodiscard]] std::string left_bytes(const record_head& head, queue_number n, left_why why);
[[nodiscard]] std::string away_bytes(const record_head& head, queue_number n);
[[nodiscard]] std::string back_bytes(const record_head& head, queue_number n);
[[nodiscard]] std::string closed_bytes(const record_head& head, std::uint64_t entrants,
                                       const sha256_digest& root);
[[nodiscard]] std::string drawn_bytes(const record_head& head, const drawn_record& r);
/// Precondition: at most 8,000 numbers, which a record of 65,535 bytes has room for.
[[nodiscard]] std::string admitted_bytes(const record_head& head, const admitted_record& r);
[[nodiscard]] std::string session_ended_bytes(const record_head& head, queue_number n, session_end why);
/// Texts are cut so that the record fits.
[[nodiscard]] std::string hand_bytes(const record_head& head, const hand_record& r);

/// Of any record but a join, which has a commitment.
[[nodiscard]] std::string bytes_of(const record_head& head, const log_record& record);

/// What a receipt has beside the proof: nonce, entry id, the record of the join.
[[nodiscard]] std::string receipt_extra(const record_nonce& nonce, const entry_id& id,
                                        std::string_view joined);

} // namespace fq
