// SPDX-License-Identifier: Apache-2.0
// State machines as data: a table of (from, trigger, to). Code calls `next`; tests and docs enumerate the
// table.
#pragma once
#include <array>
#include <cstddef>
#include <optional>

namespace fq {

template <class State, class Trigger>
struct rule {
  State from;
  Trigger trigger;
  State to;
};

/// The state that `trigger` leads to from `from`; empty if the table has no such rule (an illegal
/// transition).
template <class State, class Trigger, std::size_t N>
constexpr std::optional<State> next(const std::array<rule<State, Trigger>, N>& table, State from,
                                    Trigger trigger) {
  for (const auto& r : table)
    if (r.from == from && r.trigger == trigger) return r.to;
  return std::nullopt;
}

/// True if some trigger leads directly from `from` to `to`; every history row must satisfy this (I10).
template <class State, class Trigger, std::size_t N>
constexpr bool is_step(const std::array<rule<State, Trigger>, N>& table, State from, State to) {
  for (const auto& r : table)
    if (r.from == from && r.to == to) return true;
  return false;
}

/// True if no rule leaves `state`.
template <class State, class Trigger, std::size_t N>
constexpr bool is_terminal(const std::array<rule<State, Trigger>, N>& table, State state) {
  for (const auto& r : table)
    if (r.from == state) return false;
  return true;
}

/// At most one rule for each (from, trigger).
template <class State, class Trigger, std::size_t N>
constexpr bool is_deterministic(const std::array<rule<State, Trigger>, N>& table) {
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = i + 1; j < N; ++j)
      if (table[i].from == table[j].from && table[i].trigger == table[j].trigger) return false;
  return true;
}

} // namespace fq
