// SPDX-License-Identifier: Apache-2.0
#include "net/pages/plain_page.hpp"

#include "crypto/digest.hpp"
#include "web/assets.hpp"

#include <array>

namespace fq::net {
namespace {

std::string make_policy(page_rights rights) {
  const std::string start = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src "
                            + csp_hash(web::get_asset("plain.css").plain);
  switch (rights) {
    case page_rights::none: break;
    case page_rights::forms: return start + "; form-action 'self'";
    case page_rights::application:
      return "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src 'self'; script-src "
             "'self'; connect-src 'self'; "
             "img-src 'self' data:; form-action 'none'; require-trusted-types-for 'script'; trusted-types "
             "'none'";
    case page_rights::assets:
      return start
             + " 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'";
  }
  return start + "; form-action 'none'";
}

const std::string& policy(page_rights rights) {
  static const std::array all{make_policy(page_rights::none), make_policy(page_rights::forms),
                              make_policy(page_rights::assets), make_policy(page_rights::application)};
  return all.at(static_cast<std::size_t>(rights));
}

} // namespace

std::string csp_hash(std::string_view content) {
  const auto digest = sha256(content);
  auto text = to_base64url(digest);
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  return "'sha256-" + text + "='"; // 32 bytes become 43 characters and one '='
}

void add_page_fields(response& answer, std::string policy, std::string_view referrer) {
  answer.fields.emplace_back("Content-Security-Policy", std::move(policy));
  answer.fields.emplace_back("Referrer-Policy", std::string{referrer});
  answer.fields.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  answer.fields.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
}

response plain_page(std::string_view name, page_data data, page_rights rights) {
  response answer;
  answer.status = 200;
  answer.content_type = "text/html; charset=utf-8";
  data.set_static("STYLE", web::get_asset("plain.css").plain);
  data.expand(answer.body, language::en, name);
  add_page_fields(answer, policy(rights), "no-referrer");
  return answer;
}

} // namespace fq::net
