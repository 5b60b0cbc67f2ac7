// SPDX-License-Identifier: Apache-2.0
// Typed replies as bytes, for idempotency records. Stores the reply, not the HTTP text: net/wire/codec
// renders it by a pure function. First byte: encoding version.
#pragma once
#include "actors/protocol/fan_messages.hpp"
#include "actors/protocol/organizer_messages.hpp"
#include "domain/sale/idempotency.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace fq {

/// Of a reply's encoding. A change of one reply leaves the stored answers of the others readable.
template <class Reply>
inline constexpr char answer_version = 4;
template <>
inline constexpr char answer_version<claim_reply> = 5;
template <>
inline constexpr char answer_version<event_reply> = 6;
template <>
inline constexpr char answer_version<order_reply> = 5;

/// The version that read_older reads: what the release before this one stored. Others are not read.
template <class Reply>
inline constexpr char older_answer = 0;
template <>
inline constexpr char older_answer<claim_reply> = 4;
template <>
inline constexpr char older_answer<event_reply> = 5;
template <>
inline constexpr char older_answer<order_reply> = 4;

/// Of a row that such a release wrote: fields that it did not have.
template <class Row, std::size_t N>
caf::error read_row(caf::binary_deserializer& source, Row& row, const std::string_view (&later)[N]) {
  caf::error wrong;
  each_field<Row>(
    [&](const auto& field, auto& value) {
      if (!wrong && std::ranges::find(later, std::string_view{field.name}) == std::end(later))
        wrong = source(value);
    },
    row);
  return wrong;
}

template <class Reply>
std::vector<char> pack_answer(const Reply& reply) {
  std::vector<char> bytes{answer_version<Reply>};
  caf::binary_serializer sink{nullptr, bytes};
  sink.seek(1);
  auto copy = reply;
  if (sink(copy)) bytes.resize(1);
  return bytes;
}

/// Reads what is common; the owner replaces the rest by the present state.
inline caf::error read_older(caf::binary_deserializer& source, order_reply& reply) {
  static constexpr std::string_view later[] = {"language", "answers", "guest"};
  const auto wrong = source(reply.no, reply.replayed);
  return wrong ? wrong : read_row(source, reply.order.order, later);
}

inline caf::error read_older(caf::binary_deserializer& source, claim_reply& reply) {
  auto& v = reply.claim;
  return source(reply.no, reply.replayed, v.claim, v.event, v.currency, v.item_ids);
}

inline constexpr std::string_view later_event_fields[] = {"locks_per_session",
                                                          "picture",
                                                          "ticket_terms",
                                                          "rotating_codes",
                                                          "transfers_max",
                                                          "key_number",
                                                          "waiting_list",
                                                          "waiting_list_claim_window_ms",
                                                          "waiting_list_quiet_from",
                                                          "waiting_list_quiet_until",
                                                          "waiting_list_began_at",
                                                          "questions",
                                                          "questions_numbered",
                                                          "challenge",
                                                          "guests",
                                                          "lobby_opens_at",
                                                          "draw",
                                                          "party_max",
                                                          "beacon",
                                                          "beacon_chain_hash",
                                                          "beacon_round",
                                                          "beacon_announced"};

inline caf::error read_older(caf::binary_deserializer& source, event_reply& reply) {
  auto& v = reply.event;
  auto wrong = source(reply.no, reply.replayed);
  if (!wrong) wrong = read_row(source, v.event, later_event_fields);
  return wrong ? wrong : source(v.ticket_types, v.sold_out, v.takes_access_codes);
}

/// Empty if the bytes are of another version or another reply type.
template <class Reply>
std::optional<Reply> unpack_answer(const std::vector<char>& bytes) {
  if (bytes.size() < 2) return std::nullopt;
  caf::binary_deserializer source{nullptr, bytes.data() + 1, bytes.size() - 1};
  Reply reply;
  if constexpr (older_answer<Reply> != 0)
    if (bytes[0] == older_answer<Reply>)
      return read_older(source, reply) ? std::nullopt : std::optional{std::move(reply)};
  if (bytes[0] != answer_version<Reply> || source(reply)) return std::nullopt;
  return reply;
}

/// The stored answer of an idempotent request, marked as a replay. A refusal if the key was used with another
/// body, or with another version of this program; empty if the request is new.
template <class Reply>
std::optional<Reply> find_answer(const idempotency_index& answers, const idempotency_ref& ref,
                                 timestamp now) {
  if (!ref.given) return std::nullopt;
  const std::vector<char>* bytes = nullptr;
  switch (answers.look_up(ref.key, ref.body, now, &bytes)) {
    case idempotency_verdict::fresh: return std::nullopt;
    case idempotency_verdict::other_body: return Reply{reason::idempotency_key_reused};
    case idempotency_verdict::replay: break;
  }
  auto reply = unpack_answer<Reply>(*bytes);
  if (!reply) return Reply{reason::idempotency_key_reused}; // by another version: made, but not readable
  reply->replayed = true;
  return reply;
}

template <class Reply>
void store_answer(idempotency_index& answers, const idempotency_ref& ref, const Reply& reply, timestamp now,
                  changes& out) {
  if (ref.given) answers.store({ref.key, ref.body, now, pack_answer(reply)}, out);
}

} // namespace fq
