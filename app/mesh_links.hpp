// SPDX-License-Identifier: Apache-2.0
// The connections between this node and others whose TLS handshake is done, each with the certificate behind
// it. Limits their number, ends those that are late or revoked, and knows for which node a CAF process may
// speak. Ending one shuts its socket down; its owner then closes it. Thread-safe.
#pragma once
#include "app/mesh_tls.hpp"
#include "domain/base/time.hpp"

#include <caf/node_id.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace fq {

class mesh_links {
public:
  /// Counts the connection. It ends at `deadline` (steady time) unless `introduce` is called before. Returns
  /// false if the node or all nodes together have as many as they may.
  [[nodiscard]] bool enter(int descriptor, peer_certificate peer, milliseconds deadline);
  /// Call it before the descriptor is closed.
  void leave(int descriptor);

  /// The peer says in CAF's handshake which process it is. Returns false if that process belongs to another
  /// certificate.
  [[nodiscard]] bool introduce(int descriptor, const caf::node_id& process);
  /// The node whose certificate the process has shown. Empty: not connected.
  [[nodiscard]] std::string node_of(const caf::node_id& process) const;
  /// The node whose certificate is behind the connection. Empty: without TLS.
  [[nodiscard]] std::string node_at(int descriptor) const;
  /// The processes that speak for the node of this connection, each once.
  [[nodiscard]] std::set<caf::node_id> processes_beside(int descriptor) const;

  /// Ends the connection at this steady time.
  void end_by(int descriptor, milliseconds when);
  void end_late(milliseconds now);
  void end_if(const std::function<bool(const peer_certificate&)>& condition);
  void end_of(const caf::node_id& process);

private:
  struct link {
    peer_certificate peer;
    std::optional<milliseconds> deadline;
    caf::node_id process; ///< none: not introduced
  };

  mutable std::mutex lock_; // the cluster port, CAF's io thread, the dialer, the cluster actor, the reload
  std::map<int, link> links_; ///< by descriptor
};

} // namespace fq
