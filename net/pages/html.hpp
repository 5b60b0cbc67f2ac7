// SPDX-License-Identifier: Apache-2.0
// HTML for simple pages: escaped text in one accessible page frame under a strict Content-Security-Policy.
// Called by sandbox_routes and asset_routes.
#pragma once
#include "net/http/http.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fq::net {

/// Writes & < > " ' as entities: safe in text and in quoted attributes.
void append_escaped(std::string& out, std::string_view text);

/// "'sha256-...'": allows exactly this inline style in a Content-Security-Policy.
[[nodiscard]] std::string csp_hash(std::string_view content);

/// Rights of a page in its Content-Security-Policy.
enum class page_rights : std::uint8_t {
  none, ///< text and links
  forms, ///< forms that post to this server
  assets, ///< scripts and styles of /assets, which may send requests to this server
  application, ///< as `assets`, for pages drawn by script: without our style, and without HTML from text
};

/// A complete document around `main`, which must be safe HTML. `assets`: names of web/assets to load, only
/// with that right.
[[nodiscard]] response page(unsigned status, std::string_view title, std::string_view main,
                            page_rights rights, std::initializer_list<std::string_view> assets = {});

} // namespace fq::net
