// SPDX-License-Identifier: Apache-2.0
// The connections of this node to the others, as whoever uses and measures them sees them: written by the
// cluster actor and by the bridges of the io threads. Safe on any thread; nobody decides ownership by it.
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

/// To one node, over all of its processes and connections since ours began.
struct cluster_link {
  explicit cluster_link(std::string to) : node(std::move(to)) {}
  const std::string node;
  std::atomic<bool> is_up{false};
  std::atomic<std::uint64_t> lost{0}; ///< connections that ended
  std::atomic<std::uint64_t> requests{0}; ///< of fans and organizers, sent there
  std::atomic<std::uint64_t> refused{0}; ///< not sent: too many had no answer yet
  std::atomic<std::int64_t> in_flight{0}; ///< sent and not answered
};
using cluster_link_ptr = std::shared_ptr<cluster_link>;

class cluster_links {
public:
  /// The process of that node, as CAF names it.
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
  /// What is known of nodes that are not connected and that `lives` does not know.
  template <class Lives>
  void forget_others(Lives lives) {
    const std::scoped_lock held{mutex_};
    const auto is_gone = [&](const cluster_link_ptr& link) { return !link->is_up && !lives(link->node); };
    std::erase_if(by_process_, [&](const auto& known) { return is_gone(known.second); });
    std::erase_if(by_name_, [&](const auto& known) { return is_gone(known.second); });
  }
  /// Null: no node that we know; our own process, say.
  [[nodiscard]] cluster_link_ptr find(const caf::node_id& process) const {
    const std::scoped_lock held{mutex_};
    const auto known = by_process_.find(process);
    return known == by_process_.end() ? nullptr : known->second;
  }
  /// By name.
  [[nodiscard]] std::vector<cluster_link_ptr> all() const {
    const std::scoped_lock held{mutex_};
    std::vector<cluster_link_ptr> links;
    for (const auto& [name, link] : by_name_) links.push_back(link);
    return links;
  }

  // Of this node.
  std::atomic<std::uint32_t> nodes{0}; ///< that give signs of life, we among them
  std::atomic<std::uint32_t> owned{0}; ///< events and queues that run here
  std::atomic<std::uint64_t> given_away{0}; ///< that moved to another node
  std::atomic<bool> is_draining{false};
  std::atomic<bool> serves{false}; ///< the others are known, and none of another kind serves before us

private:
  mutable std::mutex
    mutex_; // the cluster actor, the io threads when an owner is found, and the metrics meet here
  std::map<std::string, cluster_link_ptr> by_name_;
  std::map<caf::node_id, cluster_link_ptr> by_process_;
};

} // namespace fq
