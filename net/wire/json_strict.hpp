// SPDX-License-Identifier: Apache-2.0
// The handler of Boost.JSON's parser that all readers of JSON share: its own parser accepts repeated members
// and keeps the last.
#pragma once
#include "net/wire/limits.hpp"

#include <boost/json/basic_parser.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fq::net {

/// Builds the document and records a member that an object repeats.
struct strict_handler {
  static constexpr std::size_t max_object_size = json_members_max;
  static constexpr std::size_t max_array_size = json_elements_max;
  static constexpr std::size_t max_key_size = json_name_max;
  static constexpr std::size_t max_string_size = json_text_max;

  boost::json::value_stack stack;
  std::vector<std::string> names; ///< members of the open objects so far, the outermost first
  std::vector<std::size_t> opened; ///< where in `names` each open object begins
  std::string partial;
  std::optional<std::string> duplicate;
  std::size_t costly = 0; ///< objects, arrays and fractions: each takes 100 ns and more
  std::size_t costly_max = json_costly_values_max;

  bool is_one_more(boost::json::error_code& failed) {
    if (++costly <= costly_max) return true;
    failed = boost::json::error::array_too_large;
    return false;
  }

  bool on_document_begin(boost::json::error_code&) { return true; }
  bool on_document_end(boost::json::error_code&) { return true; }
  bool on_object_begin(boost::json::error_code& failed) {
    opened.push_back(names.size());
    return is_one_more(failed);
  }
  bool on_object_end(std::size_t n, boost::json::error_code&) {
    names.resize(opened.back());
    opened.pop_back();
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(boost::json::error_code& failed) { return is_one_more(failed); }
  bool on_array_end(std::size_t n, boost::json::error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(boost::json::string_view s, std::size_t, boost::json::error_code&) {
    partial.append(s.data(), s.size());
    stack.push_chars(s);
    return true;
  }
  bool on_key(boost::json::string_view s, std::size_t, boost::json::error_code&) {
    partial.append(s.data(), s.size());
    const auto own = names.begin() + static_cast<std::ptrdiff_t>(opened.back());
    if (!duplicate && std::find(own, names.end(), partial) != names.end()) duplicate = partial;
    names.push_back(std::exchange(partial, {}));
    stack.push_key(s);
    return true;
  }
  bool on_string_part(boost::json::string_view s, std::size_t, boost::json::error_code&) {
    stack.push_chars(s);
    return true;
  }
  bool on_string(boost::json::string_view s, std::size_t, boost::json::error_code&) {
    stack.push_string(s);
    return true;
  }
  bool on_number_part(boost::json::string_view, boost::json::error_code&) { return true; }
  bool on_int64(std::int64_t i, boost::json::string_view, boost::json::error_code&) {
    stack.push_int64(i);
    return true;
  }
  bool on_uint64(std::uint64_t u, boost::json::string_view, boost::json::error_code&) {
    stack.push_uint64(u);
    return true;
  }
  bool on_double(double d, boost::json::string_view, boost::json::error_code& failed) {
    stack.push_double(d);
    return is_one_more(failed);
  }
  bool on_bool(bool b, boost::json::error_code&) {
    stack.push_bool(b);
    return true;
  }
  bool on_null(boost::json::error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(boost::json::string_view, boost::json::error_code&) { return true; }
  bool on_comment(boost::json::string_view, boost::json::error_code&) { return true; }
};

inline boost::json::parse_options strict_options() {
  boost::json::parse_options options;
  options.max_depth = json_depth_max;
  return options;
}

} // namespace fq::net
