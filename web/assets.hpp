// SPDX-License-Identifier: Apache-2.0
// The files for browsers that are inside the program: made by web/embed.mjs at build time, served by
// net/pages/asset_routes under a name that has their hash in it, so that a browser may keep them for ever.
#pragma once
#include <span>
#include <string_view>

namespace fq::web {

/// All of it is static storage.
struct asset {
  std::string_view name; ///< as pages ask for it: "swagger-ui.css"
  std::string_view served_name; ///< "swagger-ui.<first 16 hex digits of its SHA-256>.css"
  std::string_view content_type;
  std::string_view plain; ///< the file itself
  std::string_view gzip; ///< the same as gzip; empty where that is not smaller
  std::string_view brotli; ///< the same as brotli; empty where that is not smaller than gzip
};

[[nodiscard]] std::span<const asset> assets();

/// Null: there is none of that name.
[[nodiscard]] const asset* find_asset(std::string_view name);
[[nodiscard]] const asset* find_served_asset(std::string_view served_name);
/// One that a page of ours names. Throws std::logic_error if there is none: a programmer's mistake, which the
/// first test that asks for the page meets.
[[nodiscard]] const asset& get_asset(std::string_view name);

} // namespace fq::web
