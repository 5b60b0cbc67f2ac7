// SPDX-License-Identifier: Apache-2.0
// JSON documents from files, larger than a request's body, with the line of each error.
#pragma once
#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fq::net {

/// A document from a file.
struct json_file {
  boost::json::object root;
  std::uint32_t line = 0; ///< of the problem
  std::string problem; ///< empty: none
};
/// Reads a document as strictly as a body, with at most `costly_max` objects, arrays and fractions.
[[nodiscard]] json_file read_json_file(std::string_view text, std::size_t costly_max);
/// Sets for each path ("rows[2].name") the line at which its value begins, if the document has it.
void find_lines(std::string_view text, std::unordered_map<std::string, std::uint32_t>& lines);

} // namespace fq::net
