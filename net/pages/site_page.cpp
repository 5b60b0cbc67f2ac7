// SPDX-License-Identifier: Apache-2.0
#include "net/pages/site_page.hpp"

#include "crypto/digest.hpp"
#include "net/http/cors.hpp"
#include "net/pages/html.hpp"
#include "web/assets.hpp"

#include <cmath>

namespace fq::net {
namespace {

double linear(int channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// WCAG's relative luminance of "#rrggbb".
double luminance(std::string_view colour) {
  const auto channel = [&](std::size_t at) {
    return std::stoi(std::string{colour.substr(at, 2)}, nullptr, 16);
  };
  return 0.2126 * linear(channel(1)) + 0.7152 * linear(channel(3)) + 0.0722 * linear(channel(5));
}

/// A tenant's colours as a second, small style. The sheen darkens behind white text and lightens behind
/// black text, so contrast only grows.
std::string brand_style(const config::brand* brand) {
  if (!brand || brand->colour.empty()) return {};
  const auto ink = ink_on(brand->colour);
  const auto sheen = ink == "#000" ? "rgb(255 255 255/.35)" : "rgb(0 0 0/.28)";
  return ":root{--brand:" + brand->colour + ";--on-brand:" + std::string{ink} + ";--sheen:" + sheen + "}";
}

std::string policy(const site_page& page, const config::brand* brand, const std::string& tenant_style) {
  static const auto own_style = csp_hash(web::get_asset("pages.css").plain);
  std::string text = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src " + own_style;
  if (!tenant_style.empty()) text += ' ' + csp_hash(tenant_style);
  text += "; script-src 'self'; connect-src 'self'; img-src 'self' data:";
  if (brand && !origin_of(brand->logo_url).empty()) text.append(" ").append(origin_of(brand->logo_url));
  text += "; form-action 'self'";
  if (!page.form_target.empty()) text.append(" ").append(page.form_target);
  return text;
}

void append_escaped_attribute(std::string& out, std::string_view name, std::string_view value) {
  out.append(" ").append(name).append("=\"");
  append_escaped(out, value);
  out += '"';
}

void append_brand(std::string& out, const std::string& base, const config::brand* brand) {
  const auto name =
    brand && !brand->name.empty() ? std::string_view{brand->name} : std::string_view{"FairQueue"};
  out += "<a class=\"brand\"";
  append_escaped_attribute(out, "href", brand && !brand->home_url.empty() ? brand->home_url : base + "/shop");
  out += '>';
  if (brand && !brand->logo_url.empty()) {
    out += "<img alt=\"\"";
    append_escaped_attribute(out, "src", brand->logo_url);
    out += '>';
  }
  append_escaped(out, name);
  out += "</a>";
}

/// Each language in its own name, for visitors who cannot read the current one.
void append_languages(std::string& out, language in) {
  append_element(out, "span", "class=\"quiet\"", text(in, "language"));
  for (const auto l : all_languages) {
    if (l == in) continue;
    const auto tag = std::string{tag_of(l)};
    append_element(out, "a", "href=\"?lang=" + tag + "\" hreflang=\"" + tag + "\" lang=\"" + tag + '"',
                   text(l, "language_name"));
  }
}

void append_sign_out(std::string& out, const std::string& base, language in) {
  out += "<form method=\"post\" action=\"" + base
         + "/shop\"><input type=\"hidden\" name=\"action\" value=\"sign_out\">";
  append_element(out, "button", "type=\"submit\"", text(in, "sign_out"));
  out += "</form>";
}

void append_head(std::string& out, const site_page& page, const std::string& base,
                 const std::string& tenant_style) {
  out += "<!doctype html><html lang=\"";
  out += tag_of(page.in);
  out += is_right_to_left(page.in) ? "\" dir=\"rtl\">" : "\" dir=\"ltr\">";
  out += R"(<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">)"
         R"(<meta name="robots" content="noindex">)";
  append_element(out, "title", "", page.title);
  out.append("<style>").append(web::get_asset("pages.css").plain).append("</style>");
  if (!tenant_style.empty()) out.append("<style>").append(tenant_style).append("</style>");
  out += "<link rel=\"icon\" href=\"" + base + "/assets/"
         + std::string{web::get_asset("icon.svg").served_name} + "\">";
  if (page.refresh_seconds > 0)
    out += "<noscript><meta http-equiv=\"refresh\" content=\"" + std::to_string(page.refresh_seconds)
           + "\"></noscript>";
  if (!page.script.empty())
    out += "<script type=\"module\" src=\"" + base + "/assets/"
           + std::string{web::get_asset(page.script).served_name} + "\"></script>";
  out += "</head>";
}

/// Escapes "<", the only character that can end a script element.
void append_state(std::string& out, std::string_view json) {
  out += "<script type=\"application/json\" id=\"fairqueue\">";
  for (const char c : json) c == '<' ? out += "\\u003c" : out += c;
  out += "</script>";
}

} // namespace

void append_element(std::string& out, std::string_view tag, std::string_view attributes,
                    std::string_view text) {
  out.append("<").append(tag);
  if (!attributes.empty()) out.append(" ").append(attributes);
  out += '>';
  append_escaped(out, text);
  out.append("</").append(tag).append(">");
}

std::string_view ink_on(std::string_view colour) {
  const auto l = luminance(colour);
  return 1.05 / (l + 0.05) >= (l + 0.05) / 0.05 ? "#fff" : "#000";
}

response render(const site_page& page, const std::string& base, const config::brand* brand, unsigned status) {
  const auto tenant_style = brand_style(brand);
  response answer;
  answer.status = status;
  answer.content_type = "text/html; charset=utf-8";
  auto& out = answer.body;
  out.reserve(20'000);
  append_head(out, page, base, tenant_style);
  out += "<body>";
  append_element(out, "a", "class=\"skip\" href=\"#main\"", text(page.in, "skip"));
  out += "<header class=\"hero\"><div class=\"bar\">";
  append_brand(out, base, brand);
  out += "<div class=\"links\">";
  if (page.signed_in) {
    append_element(out, "a", "href=\"" + base + "/shop/orders\"", text(page.in, "your_orders"));
    append_sign_out(out, base, page.in);
  }
  out += "</div></div><div class=\"lead\">" + page.hero
         + "</div></header><main id=\"main\" tabindex=\"-1\" class=\"" + page.main_class + "\">" + page.main
         + "</main>";
  out += "<footer>";
  if (brand && !brand->note.empty()) append_element(out, "p", "", brand->note);
  out += "<nav class=\"links\" aria-label=\"" + std::string{text(page.in, "language")} + "\">";
  append_languages(out, page.in);
  out += "</nav></footer>";
  append_state(out, page.state);
  out += "</body></html>\n";
  answer.fields.emplace_back("Content-Security-Policy", policy(page, brand, tenant_style));
  // Our forms need a referrer; other sites must not learn the visitor's event.
  answer.fields.emplace_back("Referrer-Policy", "same-origin");
  answer.fields.emplace_back("Vary", "Accept-Language, Cookie");
  return answer;
}

} // namespace fq::net
