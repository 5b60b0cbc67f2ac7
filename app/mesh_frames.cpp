// SPDX-License-Identifier: Apache-2.0
#include "app/mesh_frames.hpp"

#include "app/limits.hpp"

#include <caf/atom.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/io/basp/header.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace fq {
namespace {

namespace basp = caf::io::basp;
using basp::message_type;

constexpr std::string_view foreign = "it sends a message that no node sends";
constexpr std::string_view broken_handshake = "it breaks CAF's handshake";
constexpr std::string_view forged = "it speaks for another process";

/// Names of the types in a message, as CAF writes them before their values.
constexpr std::string_view no_types = "@<>", error_type = "@<>+@error", text_type = "@<>+@str";
/// CAF's own messages between nodes: a void answer, and the question for a server of spawns.
constexpr std::string_view caf_messages[] = {no_types, "@<>+@unit", "@<>+@atom+@atom+@str"};

/// Messages with handles of actors: those between nodes, and CAF's answer for a server of spawns.
constexpr std::string_view owner_type = "@<>+fq::event_handle",
                           spawner_type = "@<>+@atom+@str+@strong_actor_ptr+@str",
                           greeting_types[] = {"@<>+fq::greet", "@<>+fq::greeting"};
/// All of our types with handles.
constexpr std::string_view with_handles[] = {"+fq::event_handle", "+fq::greet",       "+fq::greeting",
                                             "+fq::dial_node",    "+fq::node_dialed", "+fq::cluster_changed"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::ranges::find(names, name) != std::end(names);
}

/// Only our own types without handles: they hold no vector of bytes, whose length CAF would believe, and no
/// other message.
bool are_plain(std::string_view names) {
  if (!names.starts_with(no_types) || names == no_types) return false;
  for (names.remove_prefix(no_types.size()); !names.empty();) {
    const auto name = names.substr(0, names.find('+', 1));
    if (!name.starts_with("+fq::") || is_one_of(name, with_handles)) return false;
    names.remove_prefix(name.size());
  }
  return true;
}

/// Reads the parts of a payload that decide whether CAF may read it.
class payload_reader {
public:
  explicit payload_reader(std::span<const char> bytes) : source_(nullptr, bytes.data(), bytes.size()) {}

  template <class... Ts>
  [[nodiscard]] bool read(Ts&... values) {
    return !source_(values...);
  }
  /// Begins with the two processes that the frame is between.
  [[nodiscard]] bool is_between(const caf::node_id& peer, const caf::node_id& here) {
    caf::node_id from, to;
    return read(from, to) && from == peer && to == here;
  }
  /// The actors that a message has passed, of which ours have none, and its content.
  [[nodiscard]] bool is_message_allowed(const caf::node_id& peer) {
    std::size_t stages = 0;
    std::string names, text;
    if (source_.begin_sequence(stages) || stages != 0 || !read_names(names)) return false;
    if (names == error_type) return is_error_allowed();
    if (names == owner_type) return are_handles_of(peer, 1);
    if (is_one_of(names, greeting_types)) return read(text) && are_handles_of(peer, 3);
    if (caf::atom_value what{}; names == spawner_type) return read(what, text) && are_handles_of(peer, 1);
    return are_plain(names) || is_one_of(names, caf_messages);
  }
  /// An error may carry a message of its own (errors.hpp).
  [[nodiscard]] bool is_error_allowed() {
    std::uint8_t code = 0;
    caf::atom_value category{};
    std::string names;
    return read(code, category) && read_names(names)
           && (names == no_types || names == text_type || are_plain(names));
  }

private:
  /// The next handles are null or the peer's own. CAF would take another process's for a route to it.
  [[nodiscard]] bool are_handles_of(const caf::node_id& peer, int count) {
    for (; count > 0; --count) {
      caf::actor_id actor = 0;
      caf::node_id process;
      if (!read(actor, process) || (process != peer && (process || actor != 0))) return false;
    }
    return true;
  }
  [[nodiscard]] bool read_names(std::string& names) {
    std::uint16_t number = 0; // CAF refuses others
    return !source_.begin_object(number, names) && number == 0;
  }

  caf::binary_deserializer source_;
};

} // namespace

std::string_view frame_guard::read(std::span<const char> part) {
  static_assert(header_size == basp::header_size);
  if (part.size() != next_size_) return "its frames have other lengths than they say";
  if (!in_payload_) return read_header(part);
  in_payload_ = false;
  next_size_ = header_size;
  return read_payload(part);
}

std::string_view frame_guard::read_header(std::span<const char> part) {
  basp::header header;
  if (!payload_reader{part}.read(header) || !basp::valid(header)) return "it does not speak CAF's protocol";
  kind_ = header.operation;
  if (kind_ == message_type::routed_message) return forged; // each node is connected to each other
  const bool is_handshake = basp::is_handshake(header);
  const auto expected =
    ours_ == mesh_side::accepted ? message_type::client_handshake : message_type::server_handshake;
  if (is_handshake ? kind_ != expected || header.payload_len == 0 : !process_) return broken_handshake;
  if (header.payload_len > (is_handshake ? handshake_bytes_max : frame_bytes_max))
    return "it announces a longer message than there is";
  in_payload_ = header.payload_len > 0;
  if (in_payload_) next_size_ = header.payload_len;
  return {};
}

std::string_view frame_guard::read_payload(std::span<const char> part) {
  payload_reader payload{part};
  switch (kind_) {
    case message_type::server_handshake:
    case message_type::client_handshake: return read_handshake(part);
    case message_type::direct_message:
      return payload.is_message_allowed(process_) ? std::string_view{} : foreign;
    case message_type::monitor_message:
      return payload.is_between(process_, here_) ? std::string_view{} : forged;
    case message_type::down_message:
      if (!payload.is_between(process_, here_)) return forged;
      return payload.is_error_allowed() ? std::string_view{} : foreign;
    case message_type::routed_message:
    case message_type::heartbeat: break;
  }
  return foreign;
}

std::string_view frame_guard::read_handshake(std::span<const char> part) {
  caf::node_id says; // the first field of both handshakes
  if (!payload_reader{part}.read(says) || !says || says == here_) return broken_handshake;
  if (process_ && process_ != says) return "it is two processes at once";
  process_ = std::move(says);
  return {};
}

} // namespace fq
