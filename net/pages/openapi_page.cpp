// SPDX-License-Identifier: Apache-2.0
// /docs without script: the API description as headings and tables.
#include "net/pages/html.hpp"
#include "net/pages/openapi.hpp"
#include "web/assets.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace fq::net {
namespace {

namespace json = boost::json;

std::string_view text(const json::value* v) {
  return v && v->is_string() ? std::string_view{v->get_string().data(), v->get_string().size()}
                             : std::string_view{};
}

const json::object* object(const json::object& in, std::string_view name) {
  const auto* v = in.if_contains(name);
  return v ? v->if_object() : nullptr;
}

void append_answers(std::string& out, const json::object& operation) {
  const auto* answers = object(operation, "responses");
  if (!answers) return;
  out += "<table><thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Meaning</th></tr></thead><tbody>";
  for (const auto& answer : *answers) {
    out += "<tr><td>";
    append_escaped(out, {answer.key().data(), answer.key().size()});
    out += "</td><td>";
    if (const auto* o = answer.value().if_object()) append_escaped(out, text(o->if_contains("description")));
    out += "</td></tr>";
  }
  out += "</tbody></table>";
}

void append_operation(std::string& out, std::string_view path, std::string_view verb,
                      const json::object& operation) {
  out += "<section><h2><code>";
  for (const char c : verb) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
  out += ' ';
  append_escaped(out, path);
  out += "</code></h2><p>";
  append_escaped(out, text(operation.if_contains("summary")));
  out += "</p>";
  if (const auto more = text(operation.if_contains("description")); !more.empty()) {
    out += "<p>";
    append_escaped(out, more);
    out += "</p>";
  }
  append_answers(out, operation);
  out += "</section>";
}

std::string make_listing() {
  const auto document = json::parse(json::string_view{openapi_json().data(), openapi_json().size()});
  std::string out =
    "<div id=\"api\"><h1>FairQueue API</h1><p>The machine-readable description is <a "
    "href=\"openapi.json\">openapi.json</a> "
    "(OpenAPI 3.1). Errors are <code>application/problem+json</code> with a stable <code>code</code>.</p>";
  for (const auto& path : *object(document.get_object(), "paths"))
    for (const auto& operation : path.value().get_object())
      if (const auto* o = operation.value().if_object())
        append_operation(out, {path.key().data(), path.key().size()},
                         {operation.key().data(), operation.key().size()}, *o);
  return out + "</div>";
}

} // namespace

std::string_view openapi_json() { return web::get_asset("openapi.json").plain; }

const std::string& api_listing() {
  static const auto listing = make_listing();
  return listing;
}

} // namespace fq::net
