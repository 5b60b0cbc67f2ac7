// SPDX-License-Identifier: Apache-2.0
// Compares docs/openapi.yaml with the route table in both directions. tests/blackbox/api.test.mjs tests its
// conversion.
#define CAF_SUITE routes_openapi
#include "caf/test/unit_test.hpp"

#include "net/http/problem.hpp"
#include "net/pages/openapi.hpp"
#include "net/site/routes.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace openapi_test {

using namespace fq;
using namespace fq::net;

namespace {

namespace json = boost::json;

const json::object& document() {
  static const auto parsed = json::parse(json::string_view{openapi_json().data(), openapi_json().size()});
  return parsed.get_object();
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// "get /events/{id}"
std::set<std::string> described() {
  std::set<std::string> all;
  for (const auto& path : document().at("paths").get_object())
    for (const auto& operation : path.value().get_object())
      if (operation.key() != "parameters")
        all.insert(std::string{operation.key()} + " " + std::string{path.key()});
  return all;
}

std::set<std::string> routed() {
  std::set<std::string> all;
  for (const auto& r : public_routes(1))
    all.insert(lower(net::name_of(r.verb)) + " " + std::string{r.pattern});
  return all;
}

/// The names in `security` of the operations that this audience may call; "" allows no token.
std::set<std::string> tokens_of(audience who) {
  switch (who) {
    case audience::anybody: return {};
    case audience::anybody_or_persons: return {"", "customer", "operator", "organizer"};
    case audience::customers: return {"customer"};
    case audience::customers_or_guests: return {"customer", "guest"};
    case audience::managers: return {"operator", "organizer"};
    case audience::operators: return {"operator"};
    case audience::customers_or_managers: return {"customer", "operator", "organizer"};
    case audience::ticket_holders: return {"ticket"};
    case audience::session_holders: return {"session"};
    case audience::api_keys: return {"apiKey"};
    case audience::devices: return {"device"};
  }
  return {};
}

std::set<std::string> described_tokens(const route& r) {
  const auto& paths = document().at("paths").get_object();
  const auto& operation = paths.at(std::string{r.pattern}).get_object().at(lower(net::name_of(r.verb)));
  std::set<std::string> all;
  for (const auto& choice : operation.get_object().at("security").get_array()) {
    const auto& tokens = choice.get_object();
    if (tokens.contains("originKey")) continue; // a field of its own in place of a token
    all.insert(tokens.empty() ? std::string{} : std::string{tokens.begin()->key()});
  }
  return all;
}

/// Calls `visit` for every $ref.
void each_ref(const json::value& v, const std::function<void(std::string)>& visit) {
  if (const auto* o = v.if_object())
    for (const auto& member : *o)
      if (member.key() == "$ref")
        visit(std::string{member.value().get_string()});
      else
        each_ref(member.value(), visit);
  else if (const auto* a = v.if_array())
    for (const auto& element : *a) each_ref(element, visit);
}

bool resolves(const std::string& ref) {
  if (!ref.starts_with("#/")) return false;
  const json::value* at = nullptr;
  const json::object* in = &document();
  for (std::size_t from = 2; from < ref.size();) {
    const auto end = std::min(ref.find('/', from), ref.size());
    if (!in || !(at = in->if_contains(ref.substr(from, end - from)))) return false;
    in = at->if_object();
    from = end + 1;
  }
  return at != nullptr;
}

std::set<std::string> known_codes() {
  std::set<std::string> all;
  for (int i = 0; i <= static_cast<int>(last_fault); ++i)
    all.insert(std::string{code_of(static_cast<fault>(i))});
  for (int i = 1; i <= static_cast<int>(reason::challenge_required); ++i)
    all.insert(std::string{fq::code_of(static_cast<reason>(i))});
  return all;
}

std::string yaml_text() {
  std::ifstream in{FQ_SOURCE_DIR "/docs/openapi.yaml"};
  return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

CAF_TEST(every route is described and every description is routed) {
  for (const auto& r : routed())
    if (!described().count(r)) CAF_ERROR("not in docs/openapi.yaml: " + r);
  for (const auto& d : described())
    if (!routed().count(d)) CAF_ERROR("not in a table of routes: " + d);
  CAF_CHECK_EQUAL(described().size(), routed().size());
}

CAF_TEST(a route admits the tokens that its description names) {
  for (const auto& r : public_routes(1))
    if (described_tokens(r) != tokens_of(r.guarded.who))
      CAF_ERROR("security in docs/openapi.yaml differs from the row of " + lower(net::name_of(r.verb)) + " "
                + std::string{r.pattern});
}

CAF_TEST(every reference leads somewhere) {
  each_ref(document(), [](const std::string& ref) {
    if (!resolves(ref)) CAF_ERROR("dangling: " + ref);
  });
}

CAF_TEST(every operation has an id of its own a summary answers and a stand on security) {
  std::set<std::string> ids;
  for (const auto& path : document().at("paths").get_object())
    for (const auto& operation : path.value().get_object()) {
      if (operation.key() == "parameters") continue;
      const auto& o = operation.value().get_object();
      CAF_CHECK(ids.insert(std::string{o.at("operationId").get_string()}).second);
      CAF_CHECK(!o.at("summary").get_string().empty());
      CAF_CHECK(!o.at("responses").get_object().empty());
      CAF_CHECK(o.contains("security"));
    }
}

CAF_TEST(codes in the description exist and codes that exist are described) {
  const auto text = yaml_text();
  static const std::regex mention{"(?:\\bcode: |`)([a-z_]+)(?:,|`)"};
  const std::set<std::string> field_codes{"wrong_type", "out_of_range", "required", "invalid"};
  const std::set<std::string> words{"challenge", "code", "guests", "logo_url", "status", "true"};
  std::set<std::string> mentioned;
  for (std::sregex_iterator i{text.begin(), text.end(), mention}, end; i != end; ++i)
    mentioned.insert((*i)[1]);
  for (const auto& m : mentioned)
    if (!known_codes().count(m) && !field_codes.count(m) && !words.count(m)) CAF_ERROR("no such code: " + m);
  // Answers of the transport on any path, and answers that public routes cannot give.
  const std::set<std::string> everywhere{
    "method_not_allowed",    "request_timeout", "header_too_large", "expectation_failed",
    "version_not_supported", "internal_error",  "not_implemented",  "email_taken"};
  for (const auto& known : known_codes())
    if (!mentioned.count(known) && !everywhere.count(known)) CAF_ERROR("described nowhere: " + known);
}

CAF_TEST(the description is OpenAPI 3 1) { CAF_CHECK_EQUAL(document().at("openapi").get_string(), "3.1.0"); }

CAF_TEST(the page lists every operation) {
  for (const auto& d : described()) {
    const auto space = d.find(' ');
    std::string heading = d;
    for (std::size_t i = 0; i < space; ++i)
      heading[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(heading[i])));
    CAF_CHECK(docs_page().static_body.find("<code>" + heading + "</code>") != std::string::npos);
  }
}

} // namespace openapi_test
