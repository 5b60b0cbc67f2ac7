// SPDX-License-Identifier: Apache-2.0
// /docs without script: the API description as headings and tables.
#include "net/pages/openapi.hpp"
#include "net/pages/plain_page.hpp"
#include "web/assets.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace fq::net {
namespace {

namespace json = boost::json;

std::string_view string_in(const json::value* v) {
  return v && v->is_string() ? std::string_view{v->get_string().data(), v->get_string().size()}
                             : std::string_view{};
}

void add_operation(page_data& page, std::string_view path, std::string_view verb,
                   const json::object& operation) {
  auto row = page.add("OPERATION");
  std::string upper;
  for (const char c : verb) upper += static_cast<char>(c - ('a' - 'A'));
  row.set("VERB", upper);
  row.set("PATH", path);
  row.set("SUMMARY", string_in(operation.if_contains("summary")));
  row.set_optional("DESCRIPTION", string_in(operation.if_contains("description")));
  for (const auto& answer : operation.at("responses").get_object()) {
    auto meaning = row.add("ANSWER");
    meaning.set("STATUS", answer.key());
    if (const auto* o = answer.value().if_object())
      meaning.set("MEANING", string_in(o->if_contains("description")));
  }
}

response make_page() {
  page_data page;
  const auto document = json::parse(json::string_view{openapi_json().data(), openapi_json().size()});
  for (const auto& path : document.at("paths").get_object())
    for (const auto& operation : path.value().get_object())
      if (const auto* o = operation.value().if_object()) add_operation(page, path.key(), operation.key(), *o);
  return plain_page("docs", std::move(page), page_rights::assets);
}

} // namespace

std::string_view openapi_json() { return web::get_asset("openapi.json").plain; }

response docs_page() {
  static const auto page = make_page();
  return {.content_type = page.content_type, .static_body = page.body, .fields = page.fields};
}

} // namespace fq::net
