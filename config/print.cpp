// SPDX-License-Identifier: Apache-2.0
// Options as TOML: the current values (print-config), and the example file.
#include "config/load.hpp"
#include "config/table.hpp"

namespace fq::config {
namespace {

bool is_list(value_type type) { return type == value_type::origins || type == value_type::blocks; }

bool is_bare(value_type type) { return type == value_type::count || type == value_type::boolean; }

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

std::string list_literal(std::string_view text) {
  std::string out = "[";
  while (!text.empty()) {
    const auto comma = text.find(',');
    out.append(out.size() > 1 ? ", " : "").append(in_quotes(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return out += ']';
}

std::string literal(const option_row& row, std::string_view text) {
  if (is_list(row.type)) return list_literal(text);
  return is_bare(row.type) ? std::string{text} : in_quotes(text);
}

/// "http" and "listen" of "http.listen"; the group of a name without a dot is empty.
struct split_name {
  std::string_view group;
  std::string_view key;
  explicit split_name(std::string_view name) {
    const auto dot = name.find('.');
    group = dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
    key = dot == std::string_view::npos ? name : name.substr(dot + 1);
  }
};

/// Calls `line(row, key)` for every option; inserts a [group] header before each group.
template <class Line>
std::string document(std::string text, Line&& line) {
  std::string_view group;
  for (const auto& row : option_table()) {
    const split_name name{row.name};
    if (name.group != group) text.append("\n[").append(name.group).append("]\n");
    group = name.group;
    text.append(line(row, name.key));
  }
  return text;
}

} // namespace

std::string print_config(const loaded& config) {
  const auto line = [&](const option_row& row, std::string_view key) {
    std::string text{key};
    text.append(" = ").append(literal(row, value_text(row, config.values)));
    return text.append(" # ").append(config.origins.at(std::string{row.name})).append("\n");
  };
  return document("# Options in force; each with where it comes from.\n", line);
}

std::string example_file() {
  const std::string head = R"(# FairQueue: every option with its default.
# Generated from config/table.cpp; the CMake target example_config writes it anew.
# Stronger than this file: environment variables (FAIRQUEUE_HTTP_LISTEN), then flags (--http.listen).
# Every change needs a restart; the files of tls.certificate and tls.key are read anew at SIGHUP.

)";
  return document(head, [](const option_row& row, std::string_view key) {
    std::string text = "# ";
    text.append(row.description).append(" (").append(range_text(row)).append(")\n");
    if (row.secret)
      text.append("# Can be read from a file instead: ")
        .append(key)
        .append("_file, or ")
        .append(environment_name(row.name))
        .append("_FILE.\n");
    if (row.derived)
      return text.append("# Default: ")
        .append(row.default_text)
        .append("\n# ")
        .append(key)
        .append(row.type == value_type::count ? " = 1\n" : " = \"\"\n");
    return text.append(key).append(" = ").append(literal(row, row.default_text)).append("\n");
  });
}

} // namespace fq::config
