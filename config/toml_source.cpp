// SPDX-License-Identifier: Apache-2.0
// The only use of toml++.
#include "config/toml_source.hpp"

#include "config/limits.hpp"

// toml++ 3.3 asserts that no key begins with a control character, and then reports it as an error.
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>

#include <fstream>
#include <optional>
#include <sstream>

namespace fq::config {
namespace {

std::string origin_of(const std::string& file, std::size_t line) {
  return "file " + file + " line " + std::to_string(line);
}

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* s = node.as_string()) return s->get();
  if (const auto* i = node.as_integer()) return std::to_string(i->get());
  if (const auto* b = node.as_boolean()) return b->get() ? "true" : "false";
  return std::nullopt;
}

std::optional<std::string> list_text(const toml::array& list) {
  std::string text;
  for (const auto& item : list) {
    const auto* s = item.as_string();
    // An element with a comma could not be split again; no origin or address block contains one.
    if (s == nullptr || s->get().find(',') != std::string::npos) return std::nullopt;
    text.append(text.empty() ? "" : ",").append(s->get());
  }
  return text;
}

void collect(const toml::table& table, const std::string& prefix, const std::string& file,
             std::vector<file_entry>& out, std::vector<problem>& problems) {
  for (const auto& [key, node] : table) {
    const auto name = prefix.empty() ? std::string{key.str()} : prefix + "." + std::string{key.str()};
    const std::size_t line = node.source().begin.line;
    if (const auto* inner = node.as_table()) {
      collect(*inner, name, file, out, problems);
      continue;
    }
    const auto text = node.is_array() ? list_text(*node.as_array()) : scalar_text(node);
    if (text)
      out.push_back({name, *text, line});
    else
      problems.push_back(
        {name, origin_of(file, line), "must be a string, whole number, boolean or list of strings"});
  }
}

} // namespace

std::vector<file_entry> read_toml(const std::string& file, std::vector<problem>& problems) {
  std::ifstream in{file, std::ios::binary};
  std::string text(limits::config_file_bytes_max + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof()) {
    problems.push_back({"", "file " + file, in.is_open() && in ? "is longer than 1 MiB" : "cannot be read"});
    return {};
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::vector<file_entry> entries;
  try {
    collect(toml::parse(text, file), "", file, entries, problems);
  } catch (const toml::parse_error& e) {
    problems.push_back({"", origin_of(file, e.source().begin.line), std::string{e.description()}});
  }
  return entries;
}

} // namespace fq::config
