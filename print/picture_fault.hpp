// SPDX-License-Identifier: Apache-2.0
// What is wrong with a file that should be a picture.
#pragma once

namespace fq::print {

enum class picture_fault {
  none,
  unreadable, ///< of another format, animated, or damaged
  too_large, ///< more than picture_pixels_max, or than picture_side_max on a side
};

} // namespace fq::print
