// SPDX-License-Identifier: Apache-2.0
// Tickets to print in tests and benchmarks.
#pragma once
#include "print/event_ticket_pdf.hpp"

#include <array>
#include <string>

namespace fq::test {

inline constexpr std::array sample_languages{"en", "fr", "es", "hr", "ar"};

/// With the labels of web/texts, a code of the length of a fixed code, without pictures.
print::event_ticket_document sample_ticket(const std::string& language);

/// Noise over colours, which compresses as badly as a photograph.
std::string photo_png(int width, int height);
/// A sign on a transparent ground.
std::string sign_png();

} // namespace fq::test
