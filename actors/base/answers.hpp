// SPDX-License-Identifier: Apache-2.0
// Typed replies as bytes, for idempotency records. Stores the reply, not the HTTP text: net/wire/codec
// renders it by a pure function. First byte: encoding version.
#pragma once
#include "actors/protocol/fan_messages.hpp"
#include "actors/protocol/organizer_messages.hpp"
#include "domain/sale/idempotency.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

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
inline constexpr char answer_version<order_reply> = 6;

/// The oldest version that read_older reads.
template <class Reply>
inline constexpr char oldest_answer = answer_version<Reply>;
template <>
inline constexpr char oldest_answer<claim_reply> = 4;
template <>
inline constexpr char oldest_answer<event_reply> = 5;
template <>
inline constexpr char oldest_answer<order_reply> = 4;

template <class Reply>
std::vector<char> pack_answer(const Reply& reply) {
  std::vector<char> bytes{answer_version<Reply>};
  caf::binary_serializer sink{nullptr, bytes};
  sink.seek(1);
  auto copy = reply;
  if (sink(copy)) bytes.resize(1);
  return bytes;
}

/// Reads what a program without languages stored, or one without event tickets: both begin alike. The owner
/// replaces the rest by the present state.
inline caf::error read_older(caf::binary_deserializer& source, order_reply& reply) {
  auto wrong = source(reply.no, reply.replayed);
  each_field<order_row>(
    [&](const auto&, auto& value) {
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(value)>, language>)
        if (!wrong) wrong = source(value);
    },
    reply.order.order);
  return wrong;
}

/// Of a program without seats.
inline caf::error read_older(caf::binary_deserializer& source, claim_reply& reply) {
  auto& v = reply.claim;
  return source(reply.no, reply.replayed, v.claim, v.event, v.currency, v.item_ids);
}

/// Of a program without locks.
inline caf::error read_older(caf::binary_deserializer& source, event_reply& reply) {
  auto wrong = source(reply.no, reply.replayed);
  auto& v = reply.event;
  each_field<event_row>(
    [&](const auto& field, auto& value) {
      if (!wrong && field.name != std::string_view{"locks_per_session"}) wrong = source(value);
    },
    v.event);
  return wrong ? wrong : source(v.ticket_types, v.sold_out, v.takes_access_codes);
}

/// Empty if the bytes are of another version or another reply type.
template <class Reply>
std::optional<Reply> unpack_answer(const std::vector<char>& bytes) {
  if (bytes.size() < 2) return std::nullopt;
  caf::binary_deserializer source{nullptr, bytes.data() + 1, bytes.size() - 1};
  Reply reply;
  if constexpr (oldest_answer<Reply> < answer_version<Reply>)
    if (bytes[0] >= oldest_answer<Reply> && bytes[0] < answer_version<Reply>)
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
