// SPDX-License-Identifier: Apache-2.0
// Reads along what a peer sends, before CAF does. CAF would allocate whatever length a header or a vector of
// bytes claims, nest messages until the stack ends, let a peer end any actor, and believe it when it speaks
// for another process. Pure: bytes only.
#pragma once
#include <caf/io/basp/message_type.hpp>
#include <caf/node_id.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace fq {

/// Who opened the connection: the first frame is CAF's handshake of the other side.
enum class mesh_side { accepted, dialed };

class frame_guard {
public:
  /// `here`: this process.
  frame_guard(mesh_side ours, caf::node_id here) : ours_(ours), here_(std::move(here)) {}

  /// Bytes of the next part: a header, or the payload that the last header announced.
  [[nodiscard]] std::size_t next_size() const { return next_size_; }
  [[nodiscard]] bool is_header_next() const { return !in_payload_; }

  /// Takes the next part. Returns why the connection must end; empty: it goes on.
  [[nodiscard]] std::string_view read(std::span<const char> part);

  /// The CAF process that the peer says it is. None: the handshake is not complete.
  [[nodiscard]] const caf::node_id& process() const { return process_; }

private:
  [[nodiscard]] std::string_view read_header(std::span<const char> part);
  [[nodiscard]] std::string_view read_payload(std::span<const char> part);
  [[nodiscard]] std::string_view read_handshake(std::span<const char> part);

  static constexpr std::size_t header_size = 32;

  mesh_side ours_;
  caf::node_id here_;
  std::size_t next_size_ = header_size;
  bool in_payload_ = false;
  caf::io::basp::message_type kind_{}; ///< of the last header
  caf::node_id process_;
};

} // namespace fq
