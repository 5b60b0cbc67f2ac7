// SPDX-License-Identifier: Apache-2.0
// The frame of every page for people: head, style, tenant's colours, languages, a strict
// Content-Security-Policy. wait_page and shop_page make the content. The style is inline, so that the first
// paint needs one request.
#pragma once
#include "config/branding.hpp"
#include "net/http/http.hpp"
#include "net/pages/texts.hpp"

#include <string>
#include <string_view>

namespace fq::net {

/// Members are safe HTML unless marked as text.
struct site_page {
  language in = language::en;
  std::string title = {}; ///< text
  std::string hero = {}; ///< heading area in the tenant's colour
  std::string main = {};
  std::string main_class = {};
  std::string_view script = {}; ///< name in web/assets; empty: none
  std::string state = "{}"; ///< JSON for the script
  unsigned refresh_seconds = 0; ///< reload interval without script; 0: none
  std::string_view form_target = {}; ///< another origin to which a form may post; empty: none
  bool signed_in = false;
};

/// `base`: http.base_path. `brand` null: no brand.
[[nodiscard]] response render(const site_page& page, const std::string& base, const config::brand* brand,
                              unsigned status = 200);

/// Appends "<p class=...>escaped text</p>" and similar.
void append_element(std::string& out, std::string_view tag, std::string_view attributes,
                    std::string_view text);

/// Black or white, whichever has more contrast on "#rrggbb". At least 4.5 : 1 for every colour (WCAG 2.2,
/// 1.4.3).
[[nodiscard]] std::string_view ink_on(std::string_view colour);

} // namespace fq::net
