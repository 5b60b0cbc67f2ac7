// SPDX-License-Identifier: Apache-2.0
// Browser files embedded in the program by web/embed.mjs at build time. net/pages/asset_routes serves them
// under names with their hash, so that browsers may cache them without limit.
#pragma once
#include <span>
#include <string_view>

namespace fq::web {

/// All members are in static storage.
struct asset {
  std::string_view name; ///< name in pages: "swagger-ui.css"
  std::string_view served_name; ///< "swagger-ui.<first 16 hex digits of its SHA-256>.css"
  std::string_view content_type;
  std::string_view plain; ///< the file itself
  std::string_view gzip; ///< gzip of it; empty if that is not smaller
  std::string_view brotli; ///< brotli of it; empty if that is not smaller than gzip
};

[[nodiscard]] std::span<const asset> assets();

/// Null if there is no such asset.
[[nodiscard]] const asset* find_asset(std::string_view name);
[[nodiscard]] const asset* find_served_asset(std::string_view served_name);
/// An asset that one of our pages names. Throws std::logic_error if it is missing: a bug that the first test
/// of the page finds.
[[nodiscard]] const asset& get_asset(std::string_view name);

} // namespace fq::web
