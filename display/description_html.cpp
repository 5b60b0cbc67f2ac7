// SPDX-License-Identifier: Apache-2.0
#include "display/description_html.hpp"

#include "display/limits.hpp"
#include "domain/base/recent_map.hpp"

#include <cmark.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
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

void make_harmless(cmark_node* root) {
  std::vector<cmark_node*> nodes;
  each_node(root, [&](cmark_node* node) { nodes.push_back(node); });
  for (auto* node : nodes) {
    const auto type = cmark_node_get_type(node);
    const bool is_strange_link = type == CMARK_NODE_LINK && !may_lead_to(cmark_node_get_url(node));
    if (type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE)
      cmark_node_free(node);
    else if (type == CMARK_NODE_IMAGE || is_strange_link)
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

std::string make_html(std::string_view source) {
  const auto root = parse(source);
  make_harmless(root.get());
  const std::unique_ptr<char, free_parts> html{cmark_render_html(root.get(), CMARK_OPT_DEFAULT)};
  return with_link_rules(html.get());
}

} // namespace

std::string description_html(std::string_view source) {
  if (source.empty()) return {};
  thread_local recent_map<std::string, std::string> known{descriptions_kept};
  const std::string key{source};
  if (const auto* html = known.find(key)) return *html;
  auto html = make_html(source);
  known.put(key, html);
  return html;
}

std::string description_text(std::string_view source, std::size_t most) {
  if (source.empty()) return {};
  const auto root = parse(source);
  std::string out;
  each_node(root.get(), [&](cmark_node* node) {
    const auto type = cmark_node_get_type(node);
    const bool is_word = type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE;
    if (out.size() >= most) return;
    if (is_word)
      out += cmark_node_get_literal(node);
    else if (!out.empty() && out.back() != ' ' && type != CMARK_NODE_EMPH && type != CMARK_NODE_STRONG
             && type != CMARK_NODE_LINK)
      out += ' ';
  });
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
