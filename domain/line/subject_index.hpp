// SPDX-License-Identifier: Apache-2.0
// Finds queue numbers by their entry's subject: a hash table of 4-byte slots without the subjects, which it
// asks for. Numbers in it lie less than 2^32 - 1 below the greatest one. At most 11 bytes per number, and
// half of that on average.
#pragma once
#include "domain/base/ids.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace fq {

class subject_index {
public:
  /// `subject_of(number)`: the subject of a number in the index.
  template <class SubjectOf>
  [[nodiscard]] std::optional<queue_number> find(const subject_key& subject, SubjectOf subject_of) const {
    if (size_ == 0) return std::nullopt;
    for (auto i = home_of(subject); slots_[i] != 0; i = after(i))
      if (const auto n = number_in(slots_[i]); subject_of(n) == subject) return n;
    return std::nullopt;
  }

  /// Makes room for `count` numbers in all.
  template <class SubjectOf>
  void reserve(std::size_t count, SubjectOf subject_of) {
    const auto slots = std::bit_ceil(count * 4 / 3 + 1);
    if (slots > slots_.size()) grow(slots, subject_of);
  }

  /// Fetches the slot that a later put() of `subject` meets first.
  void prefetch(const subject_key& subject) const { __builtin_prefetch(&slots_[home_of(subject)]); }
  /// And then the subjects that it meets.
  template <class SubjectOf>
  void prefetch(const subject_key& subject, SubjectOf subject_of) const {
    for (auto i = home_of(subject); slots_[i] != 0; i = after(i))
      __builtin_prefetch(&subject_of(number_in(slots_[i])));
  }

  /// Inserts `n`, or puts it in the place of its subject's number.
  template <class SubjectOf>
  void put(const subject_key& subject, queue_number n, SubjectOf subject_of) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow(std::max<std::size_t>(16, slots_.size() * 2), subject_of);
    auto i = home_of(subject);
    while (slots_[i] != 0 && subject_of(number_in(slots_[i])) != subject) i = after(i);
    if (slots_[i] == 0) ++size_;
    if (value_of(n) > greatest_) greatest_ = value_of(n);
    slots_[i] = slot_of(n);
  }

  /// Removes `n`; nothing if its subject has another number. `n` still has its subject.
  template <class SubjectOf>
  void erase(queue_number n, SubjectOf subject_of) {
    if (size_ == 0) return;
    auto gap = home_of(subject_of(n));
    while (slots_[gap] != 0 && slots_[gap] != slot_of(n)) gap = after(gap);
    if (slots_[gap] == 0) return;
    --size_;
    // Moves later slots of the run into the gap, unless that puts them before their home.
    for (auto i = after(gap); slots_[i] != 0; i = after(i)) {
      const auto home = home_of(subject_of(number_in(slots_[i])));
      if (((i - home) & mask()) < ((i - gap) & mask())) continue;
      slots_[gap] = slots_[i];
      gap = i;
    }
    slots_[gap] = 0;
  }

  [[nodiscard]] std::size_t size() const { return size_; }

private:
  static constexpr std::uint64_t cycle = 0xffff'ffff; ///< of slots: number n has slot n % cycle + 1
  static std::uint32_t slot_of(queue_number n) { return static_cast<std::uint32_t>(value_of(n) % cycle + 1); }
  [[nodiscard]] queue_number number_in(std::uint32_t slot) const {
    return queue_number{greatest_ - (greatest_ % cycle + 1 + cycle - slot) % cycle};
  }
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t after(std::size_t i) const { return (i + 1) & mask(); }
  [[nodiscard]] std::size_t home_of(const subject_key& s) const { return std::hash<uuid>{}(s)&mask(); }
  template <class SubjectOf>
  void grow(std::size_t slots, SubjectOf subject_of) {
    const auto old = std::exchange(slots_, std::vector<std::uint32_t>(slots));
    for (const auto slot : old) {
      if (slot == 0) continue;
      auto i = home_of(subject_of(number_in(slot)));
      while (slots_[i] != 0) i = after(i);
      slots_[i] = slot;
    }
  }

  std::vector<std::uint32_t> slots_; ///< 0: free; a power of two, at most three quarters in use
  std::size_t size_ = 0;
  std::uint64_t greatest_ = 0; ///< number ever put
};

} // namespace fq
