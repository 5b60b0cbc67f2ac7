// SPDX-License-Identifier: Apache-2.0
// A picture of an event in three sizes, made of a stranger's file: new JPEGs without anything else that the
// file had. Takes half a second of a core, of a hostile file up to 4 s, and up to picture_pixels_max × 12
// bytes of memory, so it is for threads that may block.
#pragma once
#include "print/jpeg.hpp"
#include "print/picture_fault.hpp"

#include <string_view>

namespace fq::print {

/// Parts that were transparent are white. A picture that is smaller than a size keeps its own.
struct pictures {
  jpeg small; ///< of lists; at most small_bytes_max
  jpeg medium; ///< of pages and tickets' PDFs; at most medium_bytes_max
  jpeg large; ///< of other programs' previews; at most large_bytes_max
};

struct made_pictures {
  picture_fault wrong = picture_fault::none;
  pictures sizes = {}; ///< only if nothing is wrong
};

/// `file`: PNG, JPEG or WebP. Throws std::runtime_error without memory.
[[nodiscard]] made_pictures pictures_of(std::string_view file);

/// A JPEG of ours with its size in pixels, which its header says.
[[nodiscard]] jpeg jpeg_of(std::string bytes);

} // namespace fq::print
