// SPDX-License-Identifier: Apache-2.0
// Replaces marks in the sources of templates, when they are loaded.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace fq {

/// Replaces what stands between `open` and `close` by what `make` returns for it.
template <class Make>
std::string replaced(std::string_view text, std::string_view open, std::string_view close, Make make) {
  std::string out;
  for (auto at = text.find(open); at != std::string_view::npos; at = text.find(open)) {
    const auto end = text.find(close, at);
    if (end == std::string_view::npos) throw std::logic_error("no end of " + std::string{text.substr(at)});
    out.append(text.substr(0, at));
    out += make(text.substr(at + open.size(), end - at - open.size()));
    text.remove_prefix(end + close.size());
  }
  return out.append(text);
}

} // namespace fq
