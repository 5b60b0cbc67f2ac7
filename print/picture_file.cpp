// SPDX-License-Identifier: Apache-2.0
#include "print/picture_file.hpp"

#include "print/exif.hpp"
#include "print/limits.hpp"
#include "print/picture_parts.hpp"

#include <turbojpeg.h>
#include <webp/decode.h>

#include <cstdint>
#include <cstring>
#include <memory>

namespace fq::print {
namespace {

picture_file faulty(picture_fault wrong) { return {wrong, nullptr, 1}; }

picture_fault fault_of(double width, double height) {
  if (width < 1 || height < 1) return picture_fault::unreadable;
  const bool is_too_large =
    width > picture_side_max || height > picture_side_max || width * height > picture_pixels_max;
  return is_too_large ? picture_fault::too_large : picture_fault::none;
}

/// All of its pixels are black: a damaged file shows nothing of our memory.
owned<cairo_surface_t> new_image(cairo_format_t format, int width, int height) {
  owned<cairo_surface_t> image{cairo_image_surface_create(format, width, height)};
  return cairo_surface_status(image.get()) == CAIRO_STATUS_SUCCESS ? std::move(image) : nullptr;
}

const unsigned char* bytes_of(std::string_view file) {
  return reinterpret_cast<const unsigned char*>(file.data());
}

// -- PNG

constexpr std::string_view png_start{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16};

cairo_status_t read_part(void* from, unsigned char* to, unsigned size) {
  auto& rest = *static_cast<std::string_view*>(from);
  if (rest.size() < size) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(to, rest.data(), size);
  rest.remove_prefix(size);
  return CAIRO_STATUS_SUCCESS;
}

picture_file read_png(std::string_view file) {
  if (file.size() < 24) return faulty(picture_fault::unreadable);
  const auto number = [&](std::size_t at) {
    double value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value * 256 + static_cast<unsigned char>(file[i]);
    return value;
  };
  if (const auto wrong = fault_of(number(16), number(20)); wrong != picture_fault::none) return faulty(wrong);
  const auto pixels = pixels_of_png(file);
  std::string_view rest{pixels};
  owned<cairo_surface_t> image{cairo_image_surface_create_from_png_stream(read_part, &rest)};
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) return faulty(picture_fault::unreadable);
  return {picture_fault::none, std::move(image), 1};
}

// -- JPEG

/// Cameras write harmless oddities, which are warnings.
bool is_damaged(tjhandle decoder, int result) {
  return result != 0 && tjGetErrorCode(decoder) != TJERR_WARNING;
}

picture_file read_jpeg(std::string_view file) {
  if (scans_of(file) > jpeg_scans_max) return faulty(picture_fault::unreadable);
  const std::unique_ptr<void, decltype(&tjDestroy)> decoder{tjInitDecompress(), tjDestroy};
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (!decoder
      || is_damaged(decoder.get(), tjDecompressHeader3(decoder.get(), bytes_of(file), file.size(), &width,
                                                       &height, &sampling, &colours)))
    return faulty(picture_fault::unreadable);
  if (const auto wrong = fault_of(width, height); wrong != picture_fault::none) return faulty(wrong);
  auto image = new_image(CAIRO_FORMAT_RGB24, width, height);
  if (!image) return faulty(picture_fault::unreadable);
  cairo_surface_flush(image.get());
  const auto result =
    tjDecompress2(decoder.get(), bytes_of(file), file.size(), cairo_image_surface_get_data(image.get()),
                  width, cairo_image_surface_get_stride(image.get()), height, TJPF_BGRX, TJFLAG_LIMITSCANS);
  if (is_damaged(decoder.get(), result)) return faulty(picture_fault::unreadable);
  cairo_surface_mark_dirty(image.get());
  return {picture_fault::none, std::move(image), orientation_of(file)};
}

// -- WebP

picture_file read_webp(std::string_view file) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0
      || WebPGetFeatures(bytes_of(file), file.size(), &config.input) != VP8_STATUS_OK
      || config.input.has_animation != 0)
    return faulty(picture_fault::unreadable);
  const int width = config.input.width, height = config.input.height;
  if (const auto wrong = fault_of(width, height); wrong != picture_fault::none) return faulty(wrong);
  auto image = new_image(CAIRO_FORMAT_ARGB32, width, height);
  if (!image) return faulty(picture_fault::unreadable);
  cairo_surface_flush(image.get());
  const int stride = cairo_image_surface_get_stride(image.get());
  config.output.colorspace = MODE_bgrA; // multiplied by the opacity, as Cairo's pixels are
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = cairo_image_surface_get_data(image.get());
  config.output.u.RGBA.stride = stride;
  config.output.u.RGBA.size = static_cast<std::size_t>(stride) * static_cast<std::size_t>(height);
  const bool is_read = WebPDecode(bytes_of(file), file.size(), &config) == VP8_STATUS_OK;
  WebPFreeDecBuffer(&config.output);
  if (!is_read) return faulty(picture_fault::unreadable);
  cairo_surface_mark_dirty(image.get());
  return {picture_fault::none, std::move(image), 1};
}

} // namespace

picture_file read_picture(std::string_view file) {
  if (file.starts_with(png_start)) return read_png(file);
  if (file.starts_with("\xff\xd8\xff")) return read_jpeg(file);
  if (file.starts_with("RIFF") && file.substr(0, 12).ends_with("WEBP")) return read_webp(file);
  return faulty(picture_fault::unreadable);
}

} // namespace fq::print
