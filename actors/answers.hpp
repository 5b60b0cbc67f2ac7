// SPDX-License-Identifier: Apache-2.0
// Typed replies as bytes, for idempotent requests: what is stored is the reply, not the HTTP text, because rendering it is a pure
// function of net/codec. First byte: the version of this encoding.
#pragma once
#include "domain/rows.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <optional>
#include <vector>

namespace fq {

inline constexpr char answer_version = 1;

template <class Reply>
std::vector<char> pack_answer(const Reply& reply) {
  std::vector<char> bytes{answer_version};
  caf::binary_serializer sink{nullptr, bytes};
  sink.seek(1);
  auto copy = reply;
  if (sink(copy)) bytes.resize(1);
  return bytes;
}

/// Nothing if the bytes are of another version or of another reply.
template <class Reply>
std::optional<Reply> unpack_answer(const std::vector<char>& bytes) {
  if (bytes.size() < 2 || bytes[0] != answer_version) return std::nullopt;
  caf::binary_deserializer source{nullptr, bytes.data() + 1, bytes.size() - 1};
  Reply reply;
  if (source(reply)) return std::nullopt;
  return reply;
}

} // namespace fq
