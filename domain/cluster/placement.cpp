// SPDX-License-Identifier: Apache-2.0
#include "domain/cluster/placement.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace fq {
namespace {

/// 64-bit FNV-1a, then the finalizer of SplitMix64 (S. Vigna): names differ in few characters.
std::uint64_t weight(aggregate_id aggregate, const std::string& node) {
  std::uint64_t h = 0xcbf29ce484222325;
  const auto mix = [&h](unsigned char c) { h = (h ^ c) * 0x100000001b3; };
  for (const char c : node) mix(static_cast<unsigned char>(c));
  for (int shift = 0; shift < 32; shift += 8) mix(static_cast<unsigned char>(number_of(aggregate) >> shift));
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

bool stays(const node_row& n) { return n.serves && !n.is_draining; }
bool takes_more(const node_row& n) { return n.is_settled && stays(n); }

/// Of kinds that start together, the one with the lowest rank starts.
auto rank(const node_row& n) { return std::pair{n.wire_version, std::string_view{n.id}}; }

bool stands_back(const node_row& self, std::span<const node_row> nodes) {
  const auto is_kin = [&](const node_row& n) { return is_of_one_kind(n, self); };
  if (std::ranges::any_of(nodes, [&](const node_row& n) { return !is_kin(n) && stays(n); })) return true;
  const bool has_company =
    std::ranges::any_of(nodes, [&](const node_row& n) { return n.id != self.id && is_kin(n) && stays(n); });
  return !has_company && std::ranges::any_of(nodes, [&](const node_row& n) {
    return !is_kin(n) && !n.is_draining && rank(n) < rank(self);
  });
}

} // namespace

std::string home_of(aggregate_id aggregate, std::span<const node_row> nodes) {
  std::uint32_t least = 0xffff'ffff;
  for (const auto& n : nodes)
    if (takes_more(n)) least = std::min(least, n.owners);
  const node_row* best = nullptr;
  for (const auto& n : nodes)
    if (takes_more(n) && n.owners - least <= load_tolerance
        && (best == nullptr || weight(aggregate, n.id) > weight(aggregate, best->id)))
      best = &n;
  return best == nullptr ? std::string{} : best->id;
}

std::vector<std::string> by_place(aggregate_id aggregate, std::span<const node_row> nodes) {
  std::vector<node_row> left{nodes.begin(), nodes.end()};
  std::vector<std::string> order;
  for (auto next = home_of(aggregate, left); !next.empty(); next = home_of(aggregate, left)) {
    std::erase_if(left, [&](const node_row& n) { return n.id == next; });
    order.push_back(std::move(next));
  }
  for (const auto& n : left) order.push_back(n.id);
  return order;
}

bool takes_unowned(const standing& s, milliseconds unowned_for) {
  if (s.is_draining) return false;
  if (s.is_isolated) return unowned_for >= isolation_patience;
  return !s.has_peers || unowned_for > milliseconds{0};
}

reach reach_of(const node_row& self, std::span<const node_row> nodes,
               const std::function<bool(const std::string&)>& is_connected) {
  reach r;
  for (const auto& n : nodes) {
    if (n.id == self.id || !is_of_one_kind(n, self)) continue;
    ++r.others;
    if (!is_connected(n.id)) ++r.missing;
  }
  return r;
}

bool is_of_one_kind(const node_row& a, const node_row& b) {
  return a.wire_version == b.wire_version && a.keys == b.keys;
}

serving_claim claim_after(const serving_claim& before, const node_row& self, std::span<const node_row> nodes,
                          const missed_heartbeats& of_us) {
  const auto is_rival = [&](const node_row& n) { return !is_of_one_kind(n, self) && stays(n); };
  const bool has_rival = std::ranges::any_of(nodes, is_rival);
  if (before.serves) return of_us.was_away && has_rival ? serving_claim{} : before;
  if (of_us.was_away || of_us.is_blind || self.is_draining) return {};
  if (!before.is_made) return {.is_made = !stands_back(self, nodes)};
  auto after = before;
  if (has_rival) {
    const bool gives_way =
      std::ranges::any_of(nodes, [&](const node_row& n) { return is_rival(n) && rank(n) < rank(self); });
    return gives_way || ++after.waits > claim_patience ? serving_claim{} : after;
  }
  const auto mine = std::ranges::find(nodes, self.id, &node_row::id);
  if (mine == nodes.end() || !mine->serves) return after; // the ledger does not show our claim yet
  after.serves = before.is_seen;
  after.is_seen = true;
  return after;
}

bool leaves_to_successors(const node_row& self, std::span<const node_row> nodes) {
  const auto is_kin = [&](const node_row& n) { return is_of_one_kind(n, self); };
  return self.is_draining
         && std::ranges::none_of(nodes,
                                 [&](const node_row& n) { return n.id != self.id && is_kin(n) && stays(n); })
         && std::ranges::any_of(nodes, [&](const node_row& n) { return !is_kin(n) && stays(n); });
}

bool is_opening(const event_row& event, timestamp now) {
  return now > event.queue_opens_at - opening_quiet
         && now < std::max(event.queue_opens_at, event.sale_start) + opening_quiet;
}

std::size_t surplus(const std::string& self, std::span<const node_row> nodes, std::size_t most) {
  const auto mine = std::ranges::find(nodes, self, &node_row::id);
  if (mine == nodes.end()) return 0;
  const bool has_other =
    std::ranges::any_of(nodes, [&](const node_row& n) { return n.id != self && stays(n); });
  if (mine->is_draining) return has_other ? std::min<std::size_t>(mine->owners, most) : 0;
  if (!takes_more(*mine)) return 0;
  const auto takers = static_cast<std::size_t>(std::ranges::count_if(nodes, takes_more));
  std::size_t all = 0;
  for (const auto& n : nodes) all += n.owners;
  const auto share = (all + takers - 1) / takers;
  const bool is_too_much = mine->owners > share + std::max<std::size_t>(share / 10, 1);
  return is_too_much ? std::min(mine->owners - share, most) : 0;
}

std::vector<rebalancing_move> rebalancing_moves(const std::string& self, std::span<const node_row> nodes,
                                                std::span<const rebalancing_move> in_flight,
                                                std::span<const aggregate_id> may_go, std::size_t most) {
  const auto mine = std::ranges::find(nodes, self, &node_row::id);
  if (mine == nodes.end()) return {};
  std::vector<node_row> others;
  for (const auto& n : nodes)
    if (n.id != self) others.push_back(n);
  const auto count = [&others](const std::string& node) {
    if (const auto n = std::ranges::find(others, node, &node_row::id); n != others.end()) ++n->owners;
  };
  for (const auto& g : in_flight) count(g.to); // already counts as handed over
  auto kept = mine->owners - std::min(mine->owners, static_cast<std::uint32_t>(in_flight.size()));
  auto wanted = surplus(self, nodes, most);
  wanted -= std::min(wanted, in_flight.size());
  if (mine->is_draining)
    for (auto& n : others) n.is_settled = n.serves;
  std::vector<rebalancing_move> out;
  for (const auto aggregate : may_go) {
    if (out.size() == wanted) break;
    // `place` treats loads that differ little as equal.
    if (!mine->is_draining) std::erase_if(others, [kept](const node_row& n) { return n.owners + 1 >= kept; });
    auto to = home_of(aggregate, others);
    if (to.empty()) break;
    if (kept > 0) --kept;
    count(to);
    out.push_back({aggregate, std::move(to)});
  }
  return out;
}

} // namespace fq
