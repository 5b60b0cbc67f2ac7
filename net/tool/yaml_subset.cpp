// SPDX-License-Identifier: Apache-2.0
// Recursive descent over lines. Refuses anchors, tags, several documents and multi-line plain scalars.
#include "net/tool/yaml_subset.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <vector>

namespace fq::net {
namespace {

struct line {
  std::size_t number;
  std::size_t indent;
  std::string text;
};

[[noreturn]] void fail(std::size_t number, const std::string& what) {
  throw std::runtime_error("line " + std::to_string(number) + ": " + what);
}

std::string trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(' ');
  return from == std::string_view::npos
           ? ""
           : std::string{text.substr(from, text.find_last_not_of(' ') - from + 1)};
}

std::vector<line> split(std::string_view yaml) {
  std::vector<line> lines;
  std::size_t number = 0;
  while (!yaml.empty()) {
    const auto end = std::min(yaml.find('\n'), yaml.size());
    const auto raw = yaml.substr(0, end);
    yaml.remove_prefix(std::min(end + 1, yaml.size()));
    ++number;
    if (raw.find('\t') != std::string_view::npos) fail(number, "a tab");
    const auto text = trimmed(raw);
    if (!text.empty() && text.front() != '#') lines.push_back({number, raw.find_first_not_of(' '), text});
  }
  return lines;
}

std::string json_string(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20) {
      out += "\\u00";
      out += digits[u >> 4];
      out += digits[u & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

bool is_number(std::string_view text) {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const auto from = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i > from;
  };
  if (!digits()) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!digits()) return false;
  }
  const auto unsigned_part = text.substr(text.starts_with('-') ? 1 : 0);
  const bool leading_zero = unsigned_part.size() > 1 && unsigned_part[0] == '0' && unsigned_part[1] != '.';
  return i == text.size() && !leading_zero;
}

std::string plain(std::string_view text) {
  if (text == "true" || text == "false" || text == "null" || is_number(text)) return std::string{text};
  return json_string(text);
}

/// Flow collections and scalars within one line.
class flow_parser {
public:
  flow_parser(std::string_view text, std::size_t number) : text_(text), number_(number) {}

  std::string whole() {
    auto out = value("");
    skip();
    if (at_ < text_.size()) fail(number_, "text after a value");
    return out;
  }

  /// Reads "key: rest" or "key:"; returns false if the line is no mapping entry.
  bool key(std::string& name, std::string& rest) {
    skip();
    name = is_quote() ? quoted() : upto_colon();
    if (name.empty() || at_ >= text_.size() || text_[at_] != ':'
        || (at_ + 1 < text_.size() && text_[at_ + 1] != ' '))
      return false;
    rest = trimmed(text_.substr(at_ + 1));
    return true;
  }

private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool is_quote() const { return at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\''); }

  std::string upto_colon() {
    const auto from = at_;
    while (at_ < text_.size() && !(text_[at_] == ':' && (at_ + 1 == text_.size() || text_[at_ + 1] == ' ')))
      ++at_;
    return trimmed(text_.substr(from, at_ - from));
  }

  std::string quoted() {
    const char mark = text_[at_++];
    std::string out;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == mark && mark == '\'' && at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
        out += text_[++at_];
      } else if (c == mark) {
        ++at_;
        return out;
      } else if (c == '\\' && mark == '"') {
        if (++at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\\'))
          fail(number_, "only \\\" and \\\\ may be escaped");
        out += text_[at_];
      } else {
        out += c;
      }
    }
    fail(number_, "a quote that does not end");
  }

  std::string value(std::string_view stops) {
    skip();
    if (at_ >= text_.size()) fail(number_, "a value is missing");
    switch (text_[at_]) {
      case '[': return list();
      case '{': return map();
      case '"':
      case '\'': return json_string(quoted());
      case '&':
      case '*':
      case '!':
      case '|':
      case '>': fail(number_, "this part of YAML is not known here");
      default: return plain_until(stops);
    }
  }

  std::string plain_until(std::string_view stops) {
    const auto from = at_;
    while (at_ < text_.size() && stops.find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == '#' && at_ > from && text_[at_ - 1] == ' ') fail(number_, "a comment after a value");
      ++at_;
    }
    const auto text = trimmed(text_.substr(from, at_ - from));
    if (text.empty()) fail(number_, "a value is missing");
    if (stops.empty() && text.find(": ") != std::string::npos)
      fail(number_, "a colon in plain text: quote it");
    return plain(text);
  }

  std::string list() {
    std::string out = "[";
    for (++at_;;) {
      skip();
      if (take(']')) return out += ']';
      out += out.size() > 1 ? "," : "";
      out += value(",]");
      skip();
      if (!take(',') && (at_ >= text_.size() || text_[at_] != ']')) fail(number_, "a list that does not end");
    }
  }

  std::string map() {
    std::string out = "{";
    std::set<std::string> names;
    for (++at_;;) {
      skip();
      if (take('}')) return out += '}';
      const auto name = is_quote() ? quoted() : upto_colon();
      if (!take(':') || name.find_first_of(",{}[]") != std::string::npos || !names.insert(name).second)
        fail(number_, "bad or repeated key: " + name);
      out += out.size() > 1 ? "," : "";
      out += json_string(name) + ':' + value(",}");
      skip();
      if (!take(',') && (at_ >= text_.size() || text_[at_] != '}'))
        fail(number_, "a mapping that does not end");
    }
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t number_;
  std::size_t at_ = 0;
};

class block_parser {
public:
  explicit block_parser(std::vector<line> lines) : lines_(std::move(lines)) {}

  std::string document() {
    if (lines_.empty()) fail(1, "nothing here");
    auto out = block(lines_[0].indent);
    if (at_ < lines_.size()) fail(lines_[at_].number, "unexpected indentation");
    return out;
  }

private:
  [[nodiscard]] bool here(std::size_t indent) const {
    return at_ < lines_.size() && lines_[at_].indent == indent;
  }
  static bool is_item(const line& l) { return l.text == "-" || l.text.starts_with("- "); }

  std::string block(std::size_t indent) { return is_item(lines_[at_]) ? sequence(indent) : mapping(indent); }

  std::string sequence(std::size_t indent) {
    std::string out = "[";
    while (here(indent) && is_item(lines_[at_])) {
      out += out.size() > 1 ? "," : "";
      out += item(indent);
    }
    return out += ']';
  }

  std::string item(std::size_t indent) {
    auto& l = lines_[at_];
    if (l.text == "-") fail(l.number, "an empty item");
    const auto inner = trimmed(std::string_view{l.text}.substr(2));
    const auto offset = l.text.find_first_not_of(' ', 1);
    std::string name, rest;
    const bool flow = inner.front() == '{' || inner.front() == '[';
    if (!flow && flow_parser{inner, l.number}.key(name, rest)) {
      l = {l.number, indent + offset, inner};
      return mapping(indent + offset);
    }
    ++at_;
    return flow_parser{inner, l.number}.whole();
  }

  std::string mapping(std::size_t indent) {
    std::string out = "{";
    std::set<std::string> names;
    while (here(indent) && !is_item(lines_[at_])) {
      const auto& l = lines_[at_];
      std::string name, rest;
      if (!flow_parser{l.text, l.number}.key(name, rest)) fail(l.number, "no mapping entry");
      if (!names.insert(name).second) fail(l.number, "repeated key: " + name);
      ++at_;
      out += out.size() > 1 ? "," : "";
      out += json_string(name) + ':' + entry(indent, rest, l.number);
    }
    return out += '}';
  }

  std::string entry(std::size_t indent, const std::string& rest, std::size_t number) {
    if (rest == ">-") return json_string(folded(indent));
    if (!rest.empty()) return flow_parser{rest, number}.whole();
    if (at_ >= lines_.size() || lines_[at_].indent <= indent) fail(number, "a value is missing");
    return block(lines_[at_].indent);
  }

  std::string folded(std::size_t indent) {
    std::string out;
    for (; at_ < lines_.size() && lines_[at_].indent > indent; ++at_) {
      out += out.empty() ? "" : " ";
      out += lines_[at_].text;
    }
    return out;
  }

  std::vector<line> lines_;
  std::size_t at_ = 0;
};

} // namespace

std::string yaml_to_json(std::string_view yaml) { return block_parser{split(yaml)}.document(); }

} // namespace fq::net
