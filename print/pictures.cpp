// SPDX-License-Identifier: Apache-2.0
#include "print/pictures.hpp"

#include "print/limits.hpp"
#include "print/picture_file.hpp"

#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

namespace fq::print {
namespace {

struct size_rule {
  double side; ///< of the largest picture, in pixels
  std::size_t bytes;
  TJSAMP sampling;
};
constexpr size_rule small_rule{320, small_bytes_max, TJSAMP_444};
constexpr size_rule medium_rule{800, medium_bytes_max, TJSAMP_420};
constexpr size_rule large_rule{1600, large_bytes_max, TJSAMP_420};

/// From the unit square of what the camera stored to that of what it saw, by Exif's orientation.
constexpr std::array<cairo_matrix_t, 8> turns{{{1, 0, 0, 1, 0, 0},
                                               {-1, 0, 0, 1, 1, 0},
                                               {-1, 0, 0, -1, 1, 1},
                                               {1, 0, 0, -1, 0, 1},
                                               {0, 1, 1, 0, 0, 0},
                                               {0, 1, -1, 0, 1, 0},
                                               {0, -1, -1, 0, 1, 1},
                                               {0, -1, 1, 0, 0, 1}}};

/// The picture upright over white, `scale` times as large.
owned<cairo_surface_t> scaled(const picture_file& from, double scale) {
  const double stored_width = cairo_image_surface_get_width(from.image.get()),
               stored_height = cairo_image_surface_get_height(from.image.get());
  const auto size = [&](double pixels) { return std::max(1, static_cast<int>(std::lround(pixels * scale))); };
  int width = size(stored_width), height = size(stored_height);
  if (from.orientation > 4) std::swap(width, height);
  owned<cairo_surface_t> out{cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)};
  const owned<cairo_t> to{cairo_create(out.get())};
  cairo_set_source_rgb(to.get(), 1, 1, 1);
  cairo_paint(to.get());
  cairo_scale(to.get(), width, height);
  cairo_transform(to.get(), &turns[static_cast<std::size_t>(from.orientation - 1)]);
  cairo_scale(to.get(), 1 / stored_width, 1 / stored_height);
  cairo_set_source_surface(to.get(), from.image.get(), 0, 0);
  cairo_pattern_set_extend(cairo_get_source(to.get()), CAIRO_EXTEND_PAD); // no grey edge
  cairo_pattern_set_filter(cairo_get_source(to.get()), CAIRO_FILTER_GOOD);
  cairo_paint(to.get());
  cairo_surface_flush(out.get());
  if (cairo_status(to.get()) != CAIRO_STATUS_SUCCESS) throw std::runtime_error{"no memory for a picture"};
  return out;
}

std::string compressed(cairo_surface_t* image, int quality, TJSAMP sampling) {
  const std::unique_ptr<void, decltype(&tjDestroy)> encoder{tjInitCompress(), tjDestroy};
  unsigned char* out = nullptr;
  unsigned long size = 0;
  const bool ok =
    encoder
    && tjCompress2(encoder.get(), cairo_image_surface_get_data(image), cairo_image_surface_get_width(image),
                   cairo_image_surface_get_stride(image), cairo_image_surface_get_height(image), TJPF_BGRX,
                   &out, &size, sampling, quality, TJFLAG_ACCURATEDCT)
         == 0;
  const std::unique_ptr<unsigned char, decltype(&tjFree)> owner{out, tjFree};
  if (!ok) throw std::runtime_error{"a picture cannot be written"};
  return {reinterpret_cast<const char*>(out), size};
}

/// The best quality that fits; then half the size, which at last is a pixel.
jpeg fitted(const picture_file& from, const size_rule& rule) {
  auto scale = std::min({1.0, rule.side / cairo_image_surface_get_width(from.image.get()),
                         rule.side / cairo_image_surface_get_height(from.image.get())});
  for (;; scale /= 2) {
    const auto image = scaled(from, scale);
    for (const int quality : {88, 78, 65, 50, 35})
      if (auto bytes = compressed(image.get(), quality, rule.sampling); bytes.size() <= rule.bytes)
        return {std::move(bytes), cairo_image_surface_get_width(image.get()),
                cairo_image_surface_get_height(image.get())};
  }
}

} // namespace

made_pictures pictures_of(std::string_view file) {
  const auto from = read_picture(file);
  if (from.wrong != picture_fault::none) return {from.wrong, {}};
  return {picture_fault::none,
          {fitted(from, small_rule), fitted(from, medium_rule), fitted(from, large_rule)}};
}

jpeg jpeg_of(std::string bytes) {
  const std::unique_ptr<void, decltype(&tjDestroy)> decoder{tjInitDecompress(), tjDestroy};
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (!decoder
      || tjDecompressHeader3(decoder.get(), reinterpret_cast<const unsigned char*>(bytes.data()),
                             bytes.size(), &width, &height, &sampling, &colours)
           != 0)
    return {};
  return {std::move(bytes), width, height};
}

} // namespace fq::print
