// SPDX-License-Identifier: Apache-2.0
// The page frame. Its style is allowed by hash, so injected style or script has no effect.
#include "net/pages/html.hpp"

#include "crypto/digest.hpp"
#include "web/assets.hpp"

#include <array>

namespace fq::net {
namespace {

constexpr std::string_view style =
  "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;"
  "color:#1a1a1a;background:#fff}"
  "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}code{font-size:.95em}"
  "table{border-collapse:collapse}"
  "td,th{text-align:left;padding:.3rem .8rem .3rem 0;vertical-align:top}.sum{font-size:2rem;font-weight:600}"
  "button{font:inherit;padding:.6rem 1.4rem;margin:.3rem .6rem .3rem 0;border:2px solid #0b5d2a;"
  "border-radius:.4rem;"
  "background:#0b5d2a;color:#fff}button.no{background:#fff;color:#7a1f1f;border-color:#7a1f1f}"
  "form{display:inline}"
  "button:focus-visible,a:focus-visible{outline:3px solid #1a56db;outline-offset:2px}"
  "@media(prefers-color-scheme:dark){body{color:#eee;background:#16181c}a{color:#8ab4f8}"
  "button.no{background:#16181c;color:#f2a3a3;"
  "border-color:#f2a3a3}}";

std::string make_policy(page_rights rights) {
  const std::string start =
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src " + csp_hash(style);
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

/// Appends the tag that loads the asset.
void append_asset(std::string& out, std::string_view name) {
  const bool style = name.ends_with(".css");
  out += style                    ? "<link rel=\"stylesheet\" href=\"assets/"
         : name.ends_with(".mjs") ? "<script type=\"module\" src=\"assets/"
                                  : "<script defer src=\"assets/";
  out += web::get_asset(name).served_name;
  out += style ? "\">" : "\"></script>";
}

} // namespace

std::string csp_hash(std::string_view content) {
  const auto digest = sha256(content);
  auto text = to_base64url(digest);
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  return "'sha256-" + text + "='"; // 32 bytes become 43 characters and one '='
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
}

response page(unsigned status, std::string_view title, std::string_view main, page_rights rights,
              std::initializer_list<std::string_view> assets) {
  response answer;
  answer.status = status;
  answer.content_type = "text/html; charset=utf-8";
  auto& out = answer.body;
  out = R"(<!doctype html><html lang="en"><head><meta charset="utf-8">)"
        R"(<meta name="viewport" content="width=device-width">)";
  out += "<meta name=\"robots\" content=\"noindex\"><title>";
  append_escaped(out, title);
  out += "</title>";
  if (rights != page_rights::application) out.append("<style>").append(style).append("</style>");
  for (const auto name : assets) append_asset(out, name);
  out += rights == page_rights::application ? "</head><body>" : "</head><body><main>";
  out += main;
  out += rights == page_rights::application ? "</body></html>\n" : "</main></body></html>\n";
  answer.fields.emplace_back("Content-Security-Policy", policy(rights));
  answer.fields.emplace_back("Referrer-Policy", "no-referrer");
  return answer;
}

} // namespace fq::net
