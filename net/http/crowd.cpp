// SPDX-License-Identifier: Apache-2.0
#include "net/http/crowd.hpp"

#include "net/http/client_address.hpp"

#include <utility>

namespace fq::net {
namespace {
constexpr std::size_t index_of(standing how) { return static_cast<std::size_t>(how); }
} // namespace

guest* crowd::oldest(party& p, standing how, milliseconds before) {
  auto& list = p.dispensable[index_of(how)];
  return list.empty() || list.front().since_ > before ? nullptr : &list.front();
}

void crowd::resize(party& p, std::ptrdiff_t by) {
  auto node = ranked_.extract(&p);
  p.size += static_cast<std::size_t>(by);
  if (p.size == 0) return;
  if (node.empty())
    ranked_.insert(&p);
  else
    ranked_.insert(std::move(node));
}

void crowd::enter(guest& g, const boost::asio::ip::address& client) {
  leave(g);
  if (is_trusted(client, trusted_)) {
    g.party_ = &strangers_;
    return;
  }
  const auto address = limit_prefix(client);
  g.party_ = &parties_[address];
  g.party_->address = address;
  resize(*g.party_, 1);
}

void crowd::leave(guest& g) {
  if (g.party_ == nullptr) return;
  owe(g, 0);
  unlist(g);
  auto& p = *std::exchange(g.party_, nullptr);
  if (&p == &strangers_) return;
  resize(p, -1);
  if (p.size == 0) parties_.erase(config::ip_bytes{p.address});
}

void crowd::unlist(guest& g) {
  if (g.hook.is_linked()) {
    auto& list = g.party_->dispensable[index_of(g.standing_)];
    list.erase(list.iterator_to(g));
  }
  g.standing_ = standing::needed;
}

void crowd::stand(guest& g, standing how, milliseconds now) {
  if (g.party_ == nullptr) return;
  unlist(g);
  g.standing_ = how;
  g.since_ = now;
  if (how != standing::needed) g.party_->dispensable[index_of(how)].push_back(g);
}

void crowd::owe(guest& g, std::size_t bytes) {
  if (g.party_ == nullptr) return;
  const bool is_more = bytes > g.pending_;
  for (auto* sum : {&pending_, &g.party_->pending}) *sum = *sum - g.pending_ + bytes;
  g.pending_ = bytes;
  if (!is_more) return;
  const bool is_over = g.party_->pending > pending_of_address_ && g.party_ != &strangers_;
  if (is_over) over_.push_back(g.party_->address);
  if (is_over || pending_ > pending_of_all_) when_over_();
}

bool crowd::close_one(std::size_t more_than, milliseconds before, milliseconds now) {
  std::size_t looks = 0;
  for (auto* p : ranked_) {
    if (p->size <= more_than || ++looks > crowd_looks_max) break;
    for (std::size_t i = 0; i < dispensable_standings; ++i)
      if (close_one(*p, static_cast<standing>(i), before, now)) return true;
  }
  return false;
}

bool crowd::close_one(party& p, standing how, milliseconds before, milliseconds now) {
  for (std::size_t looks = 0; looks < standing_looks_max; ++looks) {
    auto* found = oldest(p, how, before);
    if (found == nullptr) return false;
    if (found->give_way()) return true;
    stand(*found, how, now);
  }
  return false;
}

guest* crowd::extra_socket() const {
  std::size_t looks = 0;
  for (auto* p : ranked_) {
    if (++looks > crowd_looks_max) break;
    if (auto* found = oldest(*p, standing::extra)) return found;
  }
  return nullptr;
}

guest* crowd::over_budget() {
  for (; !over_.empty(); over_.pop_back()) {
    const auto found = parties_.find(over_.back());
    if (found == parties_.end() || found->second.pending <= pending_of_address_) continue;
    if (auto* late = oldest(found->second, standing::unread)) return late;
  }
  if (pending_ <= pending_of_all_) return nullptr;
  auto* most = &strangers_;
  for (auto& [address, p] : parties_)
    if (p.pending > most->pending) most = &p;
  return oldest(*most, standing::unread);
}

void crowd::relieve() {
  while (auto* late = over_budget())
    if (!late->give_way()) return;
}

std::size_t crowd::size_of(const boost::asio::ip::address& client) const {
  const auto found = parties_.find(limit_prefix(client));
  return found == parties_.end() ? 0 : found->second.size;
}

} // namespace fq::net
