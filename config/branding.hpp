// SPDX-License-Identifier: Apache-2.0
// Branding of the customer pages: the file that pages.branding names, one table per tenant. Read once at
// start, so that errors are reported before the server listens.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fq::config {

struct problem;

/// Every member may be empty: not set.
struct brand {
  std::string name; ///< shown in the header of every page
  std::string colour; ///< "#2c1d6b"; text on it is black or white, whichever is more readable
  std::string logo_url; ///< https address or data:image/…;base64
  std::string home_url; ///< link target of the name
  std::string return_url; ///< queues: URL that receives an admitted visitor's session token by POST
  std::string note; ///< footer text of every page
};

/// By tenant name.
using branding = std::map<std::string, brand>;

/// Empty path: no branding. Errors become problems of the option pages.branding.
[[nodiscard]] branding read_branding(const std::string& file, std::vector<problem>& problems);

} // namespace fq::config
