// SPDX-License-Identifier: Apache-2.0
// Seats in words, in a language of the pages. Pure.
#pragma once
#include "domain/sale/views.hpp"
#include "net/pages/texts.hpp"

#include <string>

namespace fq::net {

/// "Stalls, row A, seat 3", with a restricted view if it has one; empty: no seat.
[[nodiscard]] std::string seat_text(language in, const seat_place& place);

} // namespace fq::net
