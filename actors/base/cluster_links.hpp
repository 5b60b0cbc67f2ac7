// SPDX-License-Identifier: Apache-2.0
// State and metrics of this node's connections to other nodes. Written by the cluster actor and the io
// threads' bridges. Thread-safe. Not used for decisions about ownership.
#pragma once
#include <caf/node_id.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fq {

/// Connections to one node, over all its processes, since this process started.
struct cluster_link {
  explicit cluster_link(std::string to) : node(std::move(to)) {}
  const std::string node;
  std::atomic<bool> is_up{false};
  std::atomic<std::uint64_t> lost{0}; ///< connections that ended
  std::atomic<std::uint64_t> requests{0}; ///< client requests forwarded
  std::atomic<std::uint64_t> refused{0}; ///< not forwarded: too many in flight
  std::atomic<std::int64_t> in_flight{0}; ///< forwarded, not yet answered
};
using cluster_link_ptr = std::shared_ptr<cluster_link>;

class cluster_links {
public:
  /// Registers the CAF id of that node's process.
  void connected(const std::string& node, const caf::node_id& process) {
    const std::scoped_lock held{mutex_};
    auto& link = by_name_[node];
    if (!link) link = std::make_shared<cluster_link>(node);
    link->is_up = true;
    std::erase_if(by_process_, [&](const auto& known) { return known.second == link; });
    by_process_[process] = link;
  }
  void lost(const std::string& node) {
    const std::scoped_lock held{mutex_};
    const auto known = by_name_.find(node);
    if (known == by_name_.end()) return;
    known->second->is_up = false;
    known->second->lost.fetch_add(1, std::memory_order_relaxed);
  }
  /// Removes nodes that are neither connected nor accepted by `lives`.
  template <class Lives>
  void forget_others(Lives lives) {
    const std::scoped_lock held{mutex_};
    const auto is_gone = [&](const cluster_link_ptr& link) { return !link->is_up && !lives(link->node); };
    std::erase_if(by_process_, [&](const auto& known) { return is_gone(known.second); });
    std::erase_if(by_name_, [&](const auto& known) { return is_gone(known.second); });
  }
  /// Null: unknown, or this process.
  [[nodiscard]] cluster_link_ptr find(const caf::node_id& process) const {
    const std::scoped_lock held{mutex_};
    const auto known = by_process_.find(process);
    return known == by_process_.end() ? nullptr : known->second;
  }
  /// Ordered by name.
  [[nodiscard]] std::vector<cluster_link_ptr> all() const {
    const std::scoped_lock held{mutex_};
    std::vector<cluster_link_ptr> links;
    for (const auto& [name, link] : by_name_) links.push_back(link);
    return links;
  }

  // Metrics of this node.
  std::atomic<std::uint32_t> nodes{0}; ///< live nodes, including this one
  std::atomic<std::uint32_t> owned{0}; ///< events and queues that run here
  std::atomic<std::uint64_t> given_away{0}; ///< events moved to another node
  std::atomic<bool> is_draining{false};
  /// The end of this node's certificate, in seconds of Unix time; 0: without TLS.
  std::atomic<std::int64_t> certificate_end{0};
  std::atomic<bool> last_reload_refused{false}; ///< of the certificate: an older one is in use
  std::atomic<std::uint64_t> closed{0}; ///< connections ended for what the peer sent
  std::atomic<bool> serves{false}; ///< knows the other nodes, and no other kind has precedence

private:
  mutable std::mutex mutex_; // shared by the cluster actor, the io threads and the metrics
  std::map<std::string, cluster_link_ptr> by_name_;
  std::map<caf::node_id, cluster_link_ptr> by_process_;
};

} // namespace fq
