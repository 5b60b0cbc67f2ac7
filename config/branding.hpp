// SPDX-License-Identifier: Apache-2.0
// How pages for people look to a tenant's visitors: the file that pages.branding names, one table a tenant.
// Read once at start, so that a mistake in it is heard before anything listens. Knows no HTML.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fq::config {

struct problem;

/// Every member may be empty: then it is as if nobody had said anything.
struct brand {
  std::string name; ///< in the head of every page
  std::string colour; ///< "#2c1d6b"; text on it is black or white, whichever is read better
  std::string logo_url; ///< https address or data:image/…;base64
  std::string home_url; ///< where the name leads
  std::string return_url; ///< queues: where an admitted visitor's session token is posted to
  std::string note; ///< a sentence at the foot of every page
};

/// By tenant name.
using branding = std::map<std::string, brand>;

/// An empty path is no branding. Whatever is wrong becomes a problem of the option pages.branding.
[[nodiscard]] branding read_branding(const std::string& file, std::vector<problem>& problems);

} // namespace fq::config
