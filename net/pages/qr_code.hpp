// SPDX-License-Identifier: Apache-2.0
// Draws an address as a QR code into a page. Called by wait_page.
#pragma once
#include <string>
#include <string_view>

namespace fq::net {

/// Appends an inline SVG, black on white with its quiet zone, in any colour scheme. `label`: text for
/// screen readers. Throws std::length_error beyond 2,953 bytes of content.
void append_qr_code(std::string& out, std::string_view content, std::string_view label);

} // namespace fq::net
