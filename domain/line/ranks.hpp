// SPDX-License-Identifier: Apache-2.0
// The order in which a line serves the numbers of a class. The rank of an entry is its number, unless a draw
// has given the first numbers other ranks. A draw costs 8 bytes for each of them.
#pragma once
#include "domain/base/ids.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fq {

/// Lower ranks are served first; from 1.
enum class line_rank : std::uint64_t {};
constexpr std::uint64_t value_of(line_rank r) { return static_cast<std::uint64_t>(r); }

/// Lower classes are served first.
inline constexpr std::size_t priority_classes = 4;

/// Where an entry stands in the order of its line.
struct line_spot {
  std::uint8_t priority_class = 0;
  line_rank rank{};
  friend auto operator<=>(const line_spot&, const line_spot&) = default;
};

class line_ranks {
public:
  line_ranks() = default;
  /// `order`: the numbers 1 to order.size(), each once, by their ranks. Later numbers keep theirs.
  explicit line_ranks(std::vector<std::uint32_t> order) {
    std::vector<std::uint32_t> ranks(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) ranks[order[i] - 1] = i + 1;
    drawn_ = std::make_shared<const drawn>(drawn{std::move(order), std::move(ranks)});
  }

  [[nodiscard]] line_rank rank_of(queue_number n) const {
    const auto v = value_of(n);
    return line_rank{drawn_ && v <= drawn_->ranks.size() ? drawn_->ranks[v - 1] : v};
  }
  [[nodiscard]] queue_number number_at(line_rank r) const {
    const auto v = value_of(r);
    return queue_number{drawn_ && v <= drawn_->numbers.size() ? drawn_->numbers[v - 1] : v};
  }

private:
  struct drawn {
    std::vector<std::uint32_t> numbers; ///< by rank
    std::vector<std::uint32_t> ranks; ///< by number
  };
  std::shared_ptr<const drawn> drawn_; ///< shared with copies; null: without a draw
};

} // namespace fq
