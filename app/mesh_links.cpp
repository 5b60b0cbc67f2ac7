// SPDX-License-Identifier: Apache-2.0
#include "app/mesh_links.hpp"

#include "app/limits.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace fq {

bool mesh_links::enter(int descriptor, peer_certificate peer, milliseconds deadline) {
  const std::lock_guard guard{lock_};
  const auto of_node =
    std::ranges::count_if(links_, [&](const auto& each) { return each.second.peer.node == peer.node; });
  if (links_.size() >= streams_max) return false;
  if (!peer.node.empty() && static_cast<std::size_t>(of_node) >= streams_per_node_max) return false;
  links_[descriptor] = {std::move(peer), deadline, {}};
  return true;
}

void mesh_links::leave(int descriptor) {
  const std::lock_guard guard{lock_};
  links_.erase(descriptor);
}

bool mesh_links::introduce(int descriptor, const caf::node_id& process) {
  const std::lock_guard guard{lock_};
  const auto found = links_.find(descriptor);
  if (found == links_.end()) return false;
  auto& mine = found->second;
  const bool is_known_otherwise = std::ranges::any_of(links_, [&](const auto& each) {
    return each.second.process == process && each.second.peer.node != mine.peer.node;
  });
  if (is_known_otherwise || (mine.process && mine.process != process)) return false;
  if (!mine.process) mine.deadline.reset();
  mine.process = process;
  return true;
}

std::string mesh_links::node_of(const caf::node_id& process) const {
  const std::lock_guard guard{lock_};
  const auto found =
    std::ranges::find_if(links_, [&](const auto& each) { return process && each.second.process == process; });
  return found == links_.end() ? std::string{} : found->second.peer.node;
}

std::string mesh_links::node_at(int descriptor) const {
  const std::lock_guard guard{lock_};
  const auto found = links_.find(descriptor);
  return found == links_.end() ? std::string{} : found->second.peer.node;
}

std::set<caf::node_id> mesh_links::processes_beside(int descriptor) const {
  const std::lock_guard guard{lock_};
  const auto found = links_.find(descriptor);
  if (found == links_.end()) return {};
  const auto& mine = found->second;
  std::set<caf::node_id> all{mine.process};
  for (const auto& [each, link] : links_)
    if (!mine.peer.node.empty() && link.peer.node == mine.peer.node && link.process) all.insert(link.process);
  return all;
}

void mesh_links::end_by(int descriptor, milliseconds when) {
  const std::lock_guard guard{lock_};
  if (const auto found = links_.find(descriptor); found != links_.end()) found->second.deadline = when;
}

void mesh_links::end_late(milliseconds now) {
  const std::lock_guard guard{lock_};
  for (const auto& [descriptor, each] : links_)
    if (each.deadline && *each.deadline <= now) ::shutdown(descriptor, SHUT_RDWR);
}

void mesh_links::end_if(const std::function<bool(const peer_certificate&)>& condition) {
  const std::lock_guard guard{lock_};
  for (const auto& [descriptor, each] : links_)
    if (condition(each.peer)) ::shutdown(descriptor, SHUT_RDWR);
}

void mesh_links::end_of(const caf::node_id& process) {
  const std::lock_guard guard{lock_};
  for (const auto& [descriptor, each] : links_)
    if (process && each.process == process) ::shutdown(descriptor, SHUT_RDWR);
}

} // namespace fq
