// SPDX-License-Identifier: Apache-2.0
#include "net/pages/site_page.hpp"

#include "crypto/digest.hpp"
#include "display/colours.hpp"
#include "net/http/cors.hpp"
#include "net/pages/plain_page.hpp"
#include "web/assets.hpp"

namespace fq::net {
namespace {

/// A tenant's colours as a second, small style. The sheen darkens behind white text and lightens behind
/// black text, so contrast only grows.
std::string brand_style(const config::brand& brand) {
  if (brand.colour.empty()) return {};
  const auto ink = ink_on(brand.colour);
  const auto sheen = ink == "#000" ? "rgb(255 255 255/.35)" : "rgb(0 0 0/.28)";
  return ":root{--brand:" + brand.colour + ";--on-brand:" + std::string{ink} + ";--sheen:" + sheen + "}";
}

std::string policy(const site_page& page, const config::brand& brand, const std::string& tenant_style) {
  static const auto own_style = csp_hash(web::get_asset("pages.css").plain);
  std::string text = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src " + own_style;
  if (!tenant_style.empty()) text += ' ' + csp_hash(tenant_style);
  const auto allow = [&](std::string_view directive, const std::string& sources) {
    text += directive;
    if (!sources.empty()) text += ' ' + sources;
  };
  const auto& captcha = page.captcha;
  allow({}, captcha.styles_and_calls);
  allow("; script-src 'self'", captcha.scripts);
  allow("; connect-src 'self'", captcha.styles_and_calls);
  if (!captcha.frames.empty()) allow("; frame-src", captcha.frames);
  text += "; img-src 'self' data:";
  if (!origin_of(brand.logo_url).empty()) text.append(" ").append(origin_of(brand.logo_url));
  text += "; form-action 'self'";
  if (!page.form_target.empty()) text.append(" ").append(page.form_target);
  return text;
}

void set_brand(page_data& data, const std::string& base, const config::brand& brand) {
  const auto set_or = [&](const char* name, std::string config::brand::*member,
                          const std::string& otherwise) {
    data.set(name, (brand.*member).empty() ? otherwise : brand.*member);
  };
  set_or("BRAND", &config::brand::name, "FairQueue");
  set_or("HOME", &config::brand::home_url, base + "/shop");
  data.set_optional("LOGO", escaped(brand.logo_url)); // unlike a template, allows images inside the page
  data.set_optional("NOTE", brand.note);
}

/// Each language in its own name, for visitors who cannot read the current one.
void add_languages(page_data& data, language in) {
  for (const auto l : all_languages) {
    if (l == in) continue;
    auto other = data.add("LANGUAGES");
    other.set_static("TAG", tag_of(l));
    other.set_static("NAME", text(l, "language_name"));
  }
}

/// Escapes "<", the only character that can end a script element.
std::string for_script_element(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 16);
  for (const char c : json) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

void set_preview(page_data& data, const link_preview& preview, const std::string& linked_data) {
  data.show("PRIVATE", preview.url.empty());
  if (preview.url.empty()) return;
  data.set_optional("PREVIEW_URL", preview.url);
  data.set("PREVIEW_TITLE", preview.title);
  data.set_optional("PREVIEW_TEXT", preview.text);
  data.set_optional("PREVIEW_PICTURE", preview.picture);
  data.set_optional("LINKED_DATA", linked_data);
}

} // namespace

response render(site_page page, const std::string& base, const config::brand& brand, unsigned status) {
  const auto tenant_style = brand_style(brand);
  const auto state = for_script_element(page.state);
  auto& data = page.data;
  data.set_static("LANGUAGE", tag_of(page.in));
  data.set_static("DIRECTION", is_right_to_left(page.in) ? "rtl" : "ltr");
  data.set_static("TITLE", page.title);
  data.set_static("STYLE", web::get_asset("pages.css").plain);
  data.set_optional("BRAND_STYLE", tenant_style);
  data.set_static("BASE", base);
  if (page.refresh_seconds > 0) data.set_optional("REFRESH", std::to_string(page.refresh_seconds));
  if (!page.script.empty()) data.set_optional("SCRIPT", web::get_asset(page.script).served_name);
  data.show("SIGNED_IN", page.signed_in);
  data.show("IS_GUEST", page.is_guest);
  set_brand(data, base, brand);
  add_languages(data, page.in);
  set_preview(data, page.preview, for_script_element(page.preview.linked_data));
  data.set_static("STATE", state);
  response answer;
  answer.status = status;
  answer.content_type = "text/html; charset=utf-8";
  data.expand(answer.body, page.in, page.name);
  // Our forms need a referrer; other sites must not learn the visitor's event.
  add_page_fields(answer, policy(page, brand, tenant_style), "same-origin");
  answer.fields.emplace_back("Vary", "Accept-Language, Cookie");
  return answer;
}

} // namespace fq::net
