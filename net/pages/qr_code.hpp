// SPDX-License-Identifier: Apache-2.0
// An address as a code for a camera, drawn into a page. Called by wait_page.
#pragma once
#include <string>
#include <string_view>

namespace fq::net {

/// An inline SVG, black upon white with its quiet zone, whatever the page's colours. `label`: what it is, for
/// who does not see it. Throws std::length_error beyond 2,953 bytes of content.
void append_qr_code(std::string& out, std::string_view content, std::string_view label);

} // namespace fq::net
