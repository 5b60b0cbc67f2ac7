// SPDX-License-Identifier: Apache-2.0
// Opens connections to other nodes. Blocks, but not for longer than twice node_connect_timeout; the resolver
// of names has its own timeout.
#pragma once
#include "app/mesh_socket.hpp"

#include <string>

namespace fq {

class environment;

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};
[[nodiscard]] host_and_port split(const std::string& address);

/// Connects to `there`, which must show the certificate of `node`. `tls` null: without TLS. Throws
/// std::runtime_error with the reason, for people.
[[nodiscard]] mesh_socket dial(const std::string& there, const std::string& node, const mesh_tls* tls,
                               mesh_links& links, environment& env);

} // namespace fq
