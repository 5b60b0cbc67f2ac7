// SPDX-License-Identifier: Apache-2.0
// Reads a stranger's PNG, JPEG or WebP. Its size is looked at before memory is taken for its pixels.
#pragma once
#include "print/cairo_pointers.hpp"

#include <string_view>

namespace fq::print {

enum class picture_fault {
  none,
  unreadable, ///< of another format, animated, or damaged
  too_large, ///< more than picture_pixels_max, or than picture_side_max on a side
};

struct picture_file {
  picture_fault wrong = picture_fault::none;
  owned<cairo_surface_t> image = nullptr; ///< null if something is wrong
  int orientation = 1; ///< how the camera was held, as in Exif: 1 to 8
};

[[nodiscard]] picture_file read_picture(std::string_view file);

} // namespace fq::print
