// SPDX-License-Identifier: Apache-2.0
// A sink that keeps the spans it is given, for tests of one thread.
#pragma once
#include "domain/base/trace.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace fq::test {

struct kept_spans final : span_sink {
  void take(span done) override { all.push_back(std::move(done)); }
  [[nodiscard]] span_counts count() const override { return {all.size(), 0}; }
  /// Null: there is none of that name.
  [[nodiscard]] const span* find(std::string_view name) const {
    const auto found = std::ranges::find(all, name, &span::name);
    return found == all.end() ? nullptr : &*found;
  }
  std::vector<span> all;
};

/// What a client sends, sampled.
inline const trace_context sample_trace{
  {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736}, 0x00f067aa0ba902b7, true, "vendor=1"};

} // namespace fq::test
