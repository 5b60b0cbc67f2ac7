// SPDX-License-Identifier: Apache-2.0
// Reads a stranger's PNG, JPEG or WebP. Its size is looked at before memory is taken for its pixels.
#pragma once
#include "print/cairo_pointers.hpp"
#include "print/picture_fault.hpp"

#include <string_view>

namespace fq::print {

struct picture_file {
  picture_fault wrong = picture_fault::none;
  owned<cairo_surface_t> image = nullptr; ///< null if something is wrong
  int orientation = 1; ///< how the camera was held, as in Exif: 1 to 8
};

[[nodiscard]] picture_file read_picture(std::string_view file);

} // namespace fq::print
