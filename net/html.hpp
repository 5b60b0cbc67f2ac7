// SPDX-License-Identifier: Apache-2.0
// The little HTML this server writes by itself: escaped text in one accessible page frame under a strict
// Content-Security-Policy. Called by sandbox_routes and ops_routes.
#pragma once
#include "net/http.hpp"

#include <string>
#include <string_view>

namespace fq::net {

/// & < > " ' as entities: safe in text and in quoted attributes.
void append_escaped(std::string& out, std::string_view text);

/// A whole document around `main` (HTML, already safe), without script. `forms`: whether it has forms that
/// post back here.
[[nodiscard]] response page(unsigned status, std::string_view title, std::string_view main, bool forms);

} // namespace fq::net
