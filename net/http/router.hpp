// SPDX-License-Identifier: Apache-2.0
// Finds the route of a method and a path in an immutable table. Called by the connection.
#pragma once
#include "net/http/http.hpp"
#include "net/http/limits.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

struct route_match {
  const route* found = nullptr;
  path_parameters parameters;
  std::string allow; ///< if not found: the methods of this path, "GET, POST"; empty: no such path
};

class router {
public:
  /// `routes` must outlive this. Throws std::invalid_argument for a malformed or repeated pattern, which is
  /// a defect.
  explicit router(std::span<const route> routes);

  [[nodiscard]] route_match match(method verb, std::string_view path) const;
  /// The methods of a path, "GET, POST"; empty: no such path.
  [[nodiscard]] std::string methods_of(std::string_view path) const;

private:
  struct segments {
    std::string_view text[path_segments_max];
    std::size_t count = 0;
    std::uint64_t last_mark = 0; ///< of the last; 0: of none, or of a parameter
  };
  struct row {
    const route* target;
    segments literal; ///< of a parameter: what follows it, ".pdf" or nothing
    std::uint32_t parameters = 0; ///< a bit for each segment
    std::size_t openness = 0; ///< 2 for each "{id}", 1 for each "{id}.pdf"
    [[nodiscard]] bool is_open(std::size_t i) const { return (parameters >> i & 1) != 0; }
  };

  static bool split(std::string_view path, segments& out);
  static row row_of(const route& r);
  static bool fits(const row& pattern, const segments& path);
  /// The rows of the most literal pattern of that path, until `take(row)` is false.
  template <class Take>
  void each_match(const segments& path, Take take) const;
  [[nodiscard]] std::string methods_of(const segments& path) const;

  std::vector<row> by_length_[path_segments_max + 1]; ///< by ascending openness
};

} // namespace fq::net
