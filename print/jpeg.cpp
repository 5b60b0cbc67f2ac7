// SPDX-License-Identifier: Apache-2.0
#include "print/jpeg.hpp"

#include "print/cairo_pointers.hpp"
#include "print/limits.hpp"

#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

namespace fq::print {
namespace {

struct picture_rule {
  double width, height; ///< of the largest picture, in pixels: about 150 dpi in its place on the page
  std::size_t bytes;
  TJSAMP sampling;
};
constexpr picture_rule picture_rule_of_page{1060, 340, picture_bytes_max, TJSAMP_420};
constexpr picture_rule logo_rule_of_page{400, 130, logo_bytes_max, TJSAMP_444};

/// Width and height as a PNG's header names them, before memory is taken for them; 0: not a PNG.
double pixels_of(std::string_view png) {
  constexpr std::string_view signature{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16};
  if (png.size() < 24 || !png.starts_with(signature)) return 0;
  const auto number = [&](std::size_t at) {
    double value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value * 256 + static_cast<unsigned char>(png[i]);
    return value;
  };
  return number(16) * number(20);
}

cairo_status_t read_part(void* from, unsigned char* to, unsigned size) {
  auto& rest = *static_cast<std::string_view*>(from);
  if (rest.size() < size) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(to, rest.data(), size);
  rest.remove_prefix(size);
  return CAIRO_STATUS_SUCCESS;
}

owned<cairo_surface_t> image_in(std::string_view png) {
  const auto pixels = pixels_of(png);
  if (pixels == 0 || pixels > png_pixels_max) return nullptr;
  owned<cairo_surface_t> image{cairo_image_surface_create_from_png_stream(read_part, &png)};
  return cairo_surface_status(image.get()) == CAIRO_STATUS_SUCCESS ? std::move(image) : nullptr;
}

/// `image` over white, `scale` times as large.
owned<cairo_surface_t> scaled(cairo_surface_t* image, double scale) {
  const auto size = [&](int pixels) { return std::max(1, static_cast<int>(std::lround(pixels * scale))); };
  const int width = size(cairo_image_surface_get_width(image)),
            height = size(cairo_image_surface_get_height(image));
  owned<cairo_surface_t> small{cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)};
  const owned<cairo_t> to{cairo_create(small.get())};
  cairo_set_source_rgb(to.get(), 1, 1, 1);
  cairo_paint(to.get());
  cairo_scale(to.get(), static_cast<double>(width) / cairo_image_surface_get_width(image),
              static_cast<double>(height) / cairo_image_surface_get_height(image));
  cairo_set_source_surface(to.get(), image, 0, 0);
  cairo_pattern_set_extend(cairo_get_source(to.get()), CAIRO_EXTEND_PAD); // no grey edge
  cairo_pattern_set_filter(cairo_get_source(to.get()), CAIRO_FILTER_GOOD);
  cairo_paint(to.get());
  cairo_surface_flush(small.get());
  return cairo_status(to.get()) == CAIRO_STATUS_SUCCESS ? std::move(small) : nullptr;
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
  return ok ? std::string{reinterpret_cast<const char*>(out), size} : std::string{};
}

/// The best quality that fits; then half the size.
std::optional<jpeg> small_jpeg(std::string_view png, const picture_rule& rule) {
  const auto image = image_in(png);
  if (!image) return std::nullopt;
  auto scale = std::min({1.0, rule.width / cairo_image_surface_get_width(image.get()),
                         rule.height / cairo_image_surface_get_height(image.get())});
  for (int halves = 0; halves < 4; ++halves, scale /= 2) {
    const auto small = scaled(image.get(), scale);
    if (!small) return std::nullopt;
    for (const int quality : {88, 78, 65, 50, 35}) {
      auto bytes = compressed(small.get(), quality, rule.sampling);
      if (!bytes.empty() && bytes.size() <= rule.bytes)
        return jpeg{std::move(bytes), cairo_image_surface_get_width(small.get()),
                    cairo_image_surface_get_height(small.get())};
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<jpeg> picture_of(std::string_view png) { return small_jpeg(png, picture_rule_of_page); }
std::optional<jpeg> logo_of(std::string_view png) { return small_jpeg(png, logo_rule_of_page); }

} // namespace fq::print
