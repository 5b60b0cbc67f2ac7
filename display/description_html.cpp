// SPDX-License-Identifier: Apache-2.0
#include "display/description_html.hpp"

#include "display/limits.hpp"
#include "domain/base/recent_map.hpp"

#include <cmark.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace fq {
namespace {

struct free_parts {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
  void operator()(cmark_iter* walk) const { cmark_iter_free(walk); }
  void operator()(char* text) const { std::free(text); } // NOLINT: cmark allocates by malloc
};
using document = std::unique_ptr<cmark_node, free_parts>;

document parse(std::string_view source) {
  return document{cmark_parse_document(source.data(), source.size(), CMARK_OPT_DEFAULT)};
}

/// Calls `take(node)` for every node at its first visit.
template <class Take>
void each_node(cmark_node* root, Take take) {
  const std::unique_ptr<cmark_iter, free_parts> walk{cmark_iter_new(root)};
  for (auto event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(walk.get()))
    if (event == CMARK_EVENT_ENTER) take(cmark_iter_get_node(walk.get()));
}

bool may_lead_to(std::string_view url) {
  const auto begins_with = [url](std::string_view scheme) {
    return url.size() > scheme.size()
           && std::equal(scheme.begin(), scheme.end(), url.begin(),
                         [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  };
  return begins_with("https://") || begins_with("http://") || begins_with("mailto:");
}

/// Puts the children in the place of the node.
void unwrap(cmark_node* node) {
  while (auto* child = cmark_node_first_child(node)) cmark_node_insert_before(node, child);
  cmark_node_free(node);
}

bool is_words(cmark_node* node) {
  const auto type = cmark_node_get_type(node);
  return type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE;
}

/// "&#1;" of a source is a control character here.
void blank_controls(cmark_node* node) {
  std::string text = cmark_node_get_literal(node);
  std::ranges::replace_if(
    text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  cmark_node_set_literal(node, text.c_str());
}

void make_harmless(cmark_node* root) {
  std::vector<cmark_node*> nodes;
  each_node(root, [&](cmark_node* node) { nodes.push_back(node); });
  for (auto* node : nodes) {
    const auto type = cmark_node_get_type(node);
    const bool has_other_scheme = type == CMARK_NODE_LINK && !may_lead_to(cmark_node_get_url(node));
    if (is_words(node)) blank_controls(node);
    if (type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE)
      cmark_node_free(node);
    else if (type == CMARK_NODE_IMAGE || has_other_scheme)
      unwrap(node);
    else if (type == CMARK_NODE_HEADING)
      cmark_node_set_heading_level(node, std::min(6, cmark_node_get_heading_level(node) + 2));
  }
}

/// The writer escapes every "<" of the source, so each of these is its own.
std::string with_link_rules(std::string_view html) {
  constexpr std::string_view link = "<a href=";
  std::string out;
  for (auto at = html.find(link); at != std::string_view::npos; at = html.find(link)) {
    out.append(html.substr(0, at)).append("<a rel=\"nofollow noopener\" href=");
    html.remove_prefix(at + link.size());
  }
  return out.append(html);
}

/// Whether a line opens more lists and quotes than `nesting_max`: the parser's time would be their number
/// times that of the lines.
bool is_nested_too_deep(std::string_view source) {
  std::size_t markers = 0;
  bool is_prefix = true;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i], after = i + 1 < source.size() ? source[i + 1] : '\n';
    const bool is_end = c == '\n' || c == '\r';
    const bool is_list_marker = std::string_view{"*+-.)"}.find(c) != std::string_view::npos;
    const bool is_open = std::string_view{" \t\r\n"}.find(after) != std::string_view::npos;
    if (is_end) markers = 0;
    if (is_prefix && (c == '>' || (is_list_marker && is_open)) && ++markers > nesting_max) return true;
    is_prefix =
      is_end || (is_prefix && std::string_view{"> \t*+-.)0123456789"}.find(c) != std::string_view::npos);
  }
  return false;
}

/// One paragraph with the source as it is.
document plain(std::string_view source) {
  document root{cmark_node_new(CMARK_NODE_DOCUMENT)};
  auto* paragraph = cmark_node_new(CMARK_NODE_PARAGRAPH);
  auto* words = cmark_node_new(CMARK_NODE_TEXT);
  cmark_node_set_literal(words, std::string{source}.c_str());
  cmark_node_append_child(paragraph, words);
  cmark_node_append_child(root.get(), paragraph);
  return root;
}

std::string html_of(cmark_node* root) {
  const std::unique_ptr<char, free_parts> html{cmark_render_html(root, CMARK_OPT_DEFAULT)};
  return with_link_rules(html.get());
}

/// The words in one line, about `words_kept` bytes.
std::string words_of(cmark_node* root) {
  std::string out;
  each_node(root, [&](cmark_node* node) {
    const auto type = cmark_node_get_type(node);
    if (out.size() >= words_kept) return;
    if (is_words(node))
      out += cmark_node_get_literal(node);
    else if (!out.empty() && out.back() != ' ' && type != CMARK_NODE_EMPH && type != CMARK_NODE_STRONG
             && type != CMARK_NODE_LINK)
      out += ' ';
  });
  return out;
}

struct shown {
  std::string html, words;
};

shown make_shown(std::string_view source) {
  auto root = is_nested_too_deep(source) ? plain(source) : parse(source);
  make_harmless(root.get());
  auto html = html_of(root.get());
  if (html.size() > html_bytes_max) { // references repeat their links
    root = plain(source);
    make_harmless(root.get());
    html = html_of(root.get());
  }
  return {std::move(html), words_of(root.get())};
}

/// Valid until the next call of this thread.
const shown& shown_of(std::string_view source) {
  thread_local recent_map<std::string, shown> known{descriptions_kept};
  const std::string key{source};
  if (const auto* found = known.find(key)) return *found;
  known.put(key, make_shown(source));
  return *known.find(key);
}

} // namespace

std::string description_html(std::string_view source) {
  return source.empty() ? std::string{} : shown_of(source).html;
}

std::string description_text(std::string_view source, std::size_t most) {
  if (source.empty()) return {};
  auto out = shown_of(source).words;
  if (out.size() > most) {
    auto end = most;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
    out.resize(end);
    out += "…";
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

} // namespace fq
