// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE pictures
#include "caf/test/unit_test.hpp"

#include "print/jpeg.hpp"
#include "print/limits.hpp"
#include "tests/print/sample_tickets.hpp"

using namespace fq;
using namespace fq::print;

namespace {

void check_jpeg(const std::optional<jpeg>& picture, std::size_t bytes_max, int width, int height) {
  CAF_REQUIRE(picture.has_value());
  CAF_CHECK(picture->bytes.starts_with("\xff\xd8\xff"));
  CAF_CHECK(picture->bytes.ends_with("\xff\xd9"));
  CAF_CHECK(picture->bytes.size() <= bytes_max);
  CAF_CHECK_EQUAL(picture->width, width);
  CAF_CHECK_EQUAL(picture->height, height);
}

/// The header of a PNG of this size, without its pixels.
std::string png_header(std::uint32_t width, std::uint32_t height) {
  auto png = test::sign_png();
  for (int i = 0; i < 4; ++i) {
    png[static_cast<std::size_t>(16 + i)] = static_cast<char>(width >> (24 - 8 * i));
    png[static_cast<std::size_t>(20 + i)] = static_cast<char>(height >> (24 - 8 * i));
  }
  return png;
}

} // namespace

CAF_TEST(a picture becomes small and keeps its shape) {
  check_jpeg(picture_of(test::photo_png(1600, 800)), picture_bytes_max, 680, 340);
  check_jpeg(picture_of(test::photo_png(300, 100)), picture_bytes_max, 300, 100);
  check_jpeg(picture_of(test::photo_png(1, 1)), picture_bytes_max, 1, 1);
  check_jpeg(picture_of(test::photo_png(3000, 2)), picture_bytes_max, 1060, 1);
  check_jpeg(logo_of(test::sign_png()), logo_bytes_max, 390, 130);
}

CAF_TEST(what is no picture or too large gives none) {
  const auto png = test::sign_png();
  CAF_CHECK(!picture_of(""));
  CAF_CHECK(!picture_of("GIF89a"));
  CAF_CHECK(!picture_of(png.substr(0, 24)));
  CAF_CHECK(!picture_of(png.substr(0, png.size() / 2)));
  CAF_CHECK(!picture_of(png_header(0, 0)));
  CAF_CHECK(!picture_of(png_header(100'000, 100'000)));
  CAF_CHECK(!picture_of(png_header(0xffff'ffff, 0xffff'ffff)));
  CAF_CHECK(!picture_of(png_header(4, 4))); // the checksum is another
}
