// SPDX-License-Identifier: Apache-2.0
#include "net/wire/json_file.hpp"

#include "net/wire/json_strict.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace fq::net {
namespace {

namespace json = boost::json;

/// The path of each value of a document, and the line where it begins.
struct line_handler {
  static constexpr std::size_t max_object_size = json_members_max;
  static constexpr std::size_t max_array_size = json_elements_max;
  static constexpr std::size_t max_key_size = json_name_max;
  static constexpr std::size_t max_string_size = json_text_max;

  struct level {
    std::size_t path = 0; ///< size of the path of the object or array
    std::optional<std::size_t> next; ///< index of an array's next element
  };
  explicit line_handler(std::unordered_map<std::string, std::uint32_t>& wanted) : lines(wanted) {}

  std::unordered_map<std::string, std::uint32_t>& lines; ///< of the wanted paths
  std::uint32_t line = 0;
  std::string path, key;
  std::vector<level> levels;

  bool begin_value() {
    if (levels.empty()) return true;
    auto& top = levels.back();
    if (top.next) {
      path.resize(top.path);
      path += "[" + std::to_string((*top.next)++) + "]";
    }
    if (const auto found = lines.find(path); found != lines.end()) found->second = line;
    return true;
  }
  bool begin_level(std::optional<std::size_t> next) {
    begin_value();
    levels.push_back({path.size(), next});
    return true;
  }
  bool end_level() {
    path.resize(levels.back().path);
    levels.pop_back();
    return true;
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return begin_level(std::nullopt); }
  bool on_object_end(std::size_t, json::error_code&) { return end_level(); }
  bool on_array_begin(json::error_code&) { return begin_level(0); }
  bool on_array_end(std::size_t, json::error_code&) { return end_level(); }
  bool on_key_part(json::string_view s, std::size_t, json::error_code&) {
    key.append(s.data(), s.size());
    return true;
  }
  bool on_key(json::string_view s, std::size_t, json::error_code&) {
    key.append(s.data(), s.size());
    path.resize(levels.back().path);
    if (!path.empty()) path += '.';
    path += std::exchange(key, {});
    return true;
  }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code&) { return begin_value(); }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return begin_value(); }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return begin_value(); }
  bool on_double(double, json::string_view, json::error_code&) { return begin_value(); }
  bool on_bool(bool, json::error_code&) { return begin_value(); }
  bool on_null(json::error_code&) { return begin_value(); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

/// Gives `parser` the text line by line, after `begin_line` for each. Returns what is wrong, and sets `line`
/// to where.
template <class Parser, class BeginLine>
std::string parse_lines(Parser& parser, std::string_view text, std::uint32_t& line, BeginLine begin_line) {
  json::error_code failed;
  for (line = 1; !text.empty(); ++line) {
    const auto part = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    begin_line(line);
    const auto used = parser.write_some(true, part.data(), part.size(), failed);
    if (failed) return failed.message();
    if (used != part.size()) return "text after the document";
    text.remove_prefix(part.size());
  }
  return parser.done() ? std::string{} : "the document does not end";
}

} // namespace

json_file read_json_file(std::string_view text, std::size_t costly_max) {
  json_file file;
  json::basic_parser<strict_handler> parser{strict_options()};
  auto& handler = parser.handler();
  handler.stack.reset();
  handler.costly_max = costly_max;
  std::uint32_t duplicate_line = 0;
  file.problem = parse_lines(parser, text, file.line, [&](std::uint32_t line) {
    if (!handler.duplicate) duplicate_line = line;
  });
  if (!file.problem.empty()) return file;
  file.line = 0;
  auto root = handler.stack.release();
  if (handler.duplicate) {
    file.line = duplicate_line;
    file.problem = "the member " + *handler.duplicate + " is given twice";
  } else if (!root.is_object()) {
    file.line = 1;
    file.problem = "the document must be an object";
  } else {
    file.root = std::move(root.get_object());
  }
  return file;
}

void find_lines(std::string_view text, std::unordered_map<std::string, std::uint32_t>& lines) {
  json::basic_parser<line_handler> parser{strict_options(), lines};
  std::uint32_t line = 0;
  parse_lines(parser, text, line, [&](std::uint32_t n) { parser.handler().line = n; });
}

} // namespace fq::net
