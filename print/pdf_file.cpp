// SPDX-License-Identifier: Apache-2.0
#include "print/pdf_file.hpp"

#include <cairo-pdf.h>

#include <chrono>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <utility>

namespace fq::print {
namespace {

/// Cairo is C: nothing may be thrown through it.
cairo_status_t append(void* to, const unsigned char* bytes, unsigned size) noexcept {
  try {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) { return CAIRO_STATUS_NO_MEMORY; }
}

/// ISO 8601, as PDF metadata want it.
std::string time_text(timestamp when) {
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<seconds>(when - day)};
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

} // namespace

void must(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error{std::string{"a page cannot be printed: "} + cairo_status_to_string(status)};
}

pdf_file::pdf_file(const std::string& title, timestamp created_at) :
    surface_{cairo_pdf_surface_create_for_stream(append, &bytes_, page_width, page_height)} {
  cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
  cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                 time_text(created_at).c_str());
  page_.reset(cairo_create(surface_.get()));
}

std::string pdf_file::finish() {
  must(cairo_status(page_.get()));
  cairo_surface_finish(surface_.get());
  must(cairo_surface_status(surface_.get()));
  return std::move(bytes_);
}

} // namespace fq::print
