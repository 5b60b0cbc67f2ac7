// SPDX-License-Identifier: Apache-2.0
// Event tickets as a PDF: A4, one page a ticket, embedded fonts, text that can be searched. The words come
// from the caller, in one language. Equal input gives equal bytes, while the installed fonts are the same.
//
// Any number of threads may print at once: a page's objects belong to its call, Pango keeps fonts for each
// thread, and fontconfig locks what is common.
#pragma once
#include "domain/base/time.hpp"
#include "print/jpeg.hpp"

#include <string>
#include <vector>

namespace fq::print {

/// "Seat", "A-12".
struct event_ticket_fact {
  std::string label;
  std::string value; ///< empty: the fact is left out
};

struct event_ticket_page {
  std::string event; ///< its name
  std::vector<event_ticket_fact> facts; ///< date, place, type, seat, order, price; at most facts_max
  std::string code; ///< of the QR code; empty: none, for tickets with rotating codes
  std::string code_note; ///< below the QR code, or in its place
  std::string terms_label, terms; ///< keep their line breaks
};

/// All texts may be of strangers: clean_text comes before print.
struct event_ticket_document {
  std::string title; ///< in a viewer's window
  std::string language = "en"; ///< BCP 47
  bool is_right_to_left = false;
  timestamp created_at;
  jpeg logo, picture; ///< small and medium, from pictures_of
  std::vector<event_ticket_page> pages;
};

/// Takes at most 40 ms a page. Throws std::length_error for a code that is no event ticket's, and
/// std::runtime_error without memory.
[[nodiscard]] std::string event_ticket_pdf(const event_ticket_document& document);

} // namespace fq::print
