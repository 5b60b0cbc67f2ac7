// SPDX-License-Identifier: Apache-2.0
// The little HTML this server writes by itself: escaped text in one accessible page frame under a strict
// Content-Security-Policy. Called by sandbox_routes and asset_routes.
#pragma once
#include "net/http/http.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fq::net {

/// & < > " ' as entities: safe in text and in quoted attributes.
void append_escaped(std::string& out, std::string_view text);

/// "'sha256-...'": how a Content-Security-Policy allows exactly this inline style.
[[nodiscard]] std::string csp_hash(std::string_view content);

/// What the page may do, as its policy tells the browser.
enum class page_rights : std::uint8_t {
  none, ///< text and links
  forms, ///< forms that post back here
  assets, ///< scripts and styles of this server's /assets, which may ask this server
  application, ///< the same, which draw everything: not our style, and no HTML out of text
};

/// A whole document around `main` (HTML, already safe). `assets`: names of web/assets that it loads, only
/// with that right.
[[nodiscard]] response page(unsigned status, std::string_view title, std::string_view main,
                            page_rights rights, std::initializer_list<std::string_view> assets = {});

} // namespace fq::net
