// SPDX-License-Identifier: Apache-2.0
// A PDF in memory: A4 pages, drawn one after the other. Lengths are in points.
#pragma once
#include "domain/base/time.hpp"
#include "print/cairo_pointers.hpp"

#include <string>

namespace fq::print {

inline constexpr double page_width = 595.276, page_height = 841.89; // A4

class pdf_file {
public:
  /// `title`: from clean_text.
  pdf_file(const std::string& title, timestamp created_at);
  pdf_file(const pdf_file&) = delete;
  pdf_file& operator=(const pdf_file&) = delete;

  [[nodiscard]] cairo_t* page() const { return page_.get(); }
  /// The bytes, after the last page was shown. Throws std::runtime_error without memory.
  [[nodiscard]] std::string finish();

private:
  std::string bytes_;
  owned<cairo_surface_t> surface_;
  owned<cairo_t> page_;
};

/// Throws std::runtime_error unless it is a success.
void must(cairo_status_t status);

} // namespace fq::print
