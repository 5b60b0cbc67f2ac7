// SPDX-License-Identifier: Apache-2.0
// The frame of every page for people: head, style, tenant's colours, languages, a strict
// Content-Security-Policy. wait_page and shop_page fill the content. The style is inline, so that the first
// paint needs one request.
#pragma once
#include "config/branding.hpp"
#include "net/http/http.hpp"
#include "net/pages/page_templates.hpp"
#include "net/pages/texts.hpp"

#include <string>
#include <string_view>

namespace fq::net {

/// A page about an event as other programs show and index it.
struct link_preview {
  std::string url = {}; ///< public address; empty: not for other programs
  std::string title = {}, text = {};
  std::string linked_data = {}; ///< JSON-LD; empty: none
  std::string picture = {}; ///< public address; empty: none
};

/// What a provider's captcha needs beyond the strict policy: sources, each empty or with blanks between.
struct captcha_sources {
  std::string scripts = {}, frames = {}, styles_and_calls = {};
};

struct site_page {
  language in = language::en;
  std::string_view name; ///< of its template
  std::string title = {};
  page_data data = {}; ///< further values of the template
  std::string_view script = {}; ///< name in web/assets; empty: none
  std::string state = "{}"; ///< JSON for the script
  unsigned refresh_seconds = 0; ///< reload interval without script; 0: none
  std::string_view form_target = {}; ///< another origin to which a form may post; empty: none
  bool signed_in = false;
  bool is_guest = false; ///< offers to sign in
  link_preview preview = {};
  captcha_sources captcha = {};
};

/// `base`: http.base_path.
[[nodiscard]] response render(site_page page, const std::string& base, const config::brand& brand,
                              unsigned status = 200);

} // namespace fq::net
