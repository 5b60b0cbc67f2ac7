// SPDX-License-Identifier: Apache-2.0
// Pages without the frame of site_page, in English: sandbox payment, API documentation, console. A strict
// Content-Security-Policy allows the inline style by its hash, so injected style or script has no effect.
#pragma once
#include "net/http/http.hpp"
#include "net/pages/page_templates.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace fq::net {

/// "'sha256-...'": allows exactly this inline style in a Content-Security-Policy.
[[nodiscard]] std::string csp_hash(std::string_view content);

/// Adds the header fields that every page has: Content-Security-Policy, Referrer-Policy, and no access for
/// other sites.
void add_page_fields(response& answer, std::string policy, std::string_view referrer);

/// Rights of a page in its Content-Security-Policy.
enum class page_rights : std::uint8_t {
  none, ///< text and links
  forms, ///< forms that post to this server
  assets, ///< scripts and styles of /assets, which may send requests to this server
  application, ///< as `assets`, for pages drawn by script: without our style, and without HTML from text
};

/// `name`: of the template.
[[nodiscard]] response plain_page(std::string_view name, page_data data, page_rights rights);

} // namespace fq::net
