// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE pictures
#include "caf/test/unit_test.hpp"

#include "print/limits.hpp"
#include "print/picture_parts.hpp"
#include "print/pictures.hpp"
#include "tests/print/sample_tickets.hpp"

#include <webp/encode.h>

#include <vector>

using namespace fq;
using namespace fq::print;
using namespace std::string_literals;

namespace {

void check_jpeg(const jpeg& picture, std::size_t bytes_max, int width, int height) {
  CAF_CHECK(picture.bytes.starts_with("\xff\xd8\xff"));
  CAF_CHECK(picture.bytes.ends_with("\xff\xd9"));
  CAF_CHECK(picture.bytes.size() <= bytes_max);
  CAF_CHECK_EQUAL(picture.width, width);
  CAF_CHECK_EQUAL(picture.height, height);
}

pictures made(const std::string& file) {
  auto all = pictures_of(file);
  CAF_REQUIRE(all.wrong == picture_fault::none);
  return all.sizes;
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

/// A chunk of a PNG; its checksum is wrong.
std::string chunk(const std::string& type, const std::string& content) {
  return "\0\0\0"s + static_cast<char>(content.size()) + type + content + "\0\0\0\0"s;
}

/// Left half red, right half blue, the upper edge green.
std::string webp(int width, int height) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool is_edge = y < height / 4;
      for (const int v : {x < width / 2 && !is_edge ? 255 : 0, is_edge ? 255 : 0,
                          x >= width / 2 && !is_edge ? 255 : 0, 255})
        pixels.push_back(static_cast<std::uint8_t>(v));
    }
  std::uint8_t* out = nullptr;
  const auto size = WebPEncodeLosslessRGBA(pixels.data(), width, height, width * 4, &out);
  std::string file{reinterpret_cast<const char*>(out), size};
  WebPFree(out);
  return file;
}

/// With what a phone adds: the position of the camera and how it was held.
std::string with_exif(const std::string& jpeg, char orientation) {
  const auto exif =
    "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"s + orientation + "\0\0\0"s + "at home"s;
  const auto size = exif.size() + 2;
  return jpeg.substr(0, 2) + "\xff\xe1" + static_cast<char>(size >> 8) + static_cast<char>(size & 0xff) + exif
         + jpeg.substr(2);
}

} // namespace

CAF_TEST(a picture becomes small and keeps its shape) {
  const auto photo = made(test::photo_png(2000, 1000));
  check_jpeg(photo.small, small_bytes_max, 320, 160);
  check_jpeg(photo.medium, medium_bytes_max, 800, 400);
  check_jpeg(photo.large, large_bytes_max, 1600, 800);
  const auto tiny = made(test::photo_png(1, 1));
  check_jpeg(tiny.small, small_bytes_max, 1, 1);
  check_jpeg(tiny.large, large_bytes_max, 1, 1);
  check_jpeg(made(test::photo_png(3000, 2)).medium, medium_bytes_max, 800, 1);
  check_jpeg(made(test::sign_png()).small, small_bytes_max, 320, 107);
}

CAF_TEST(all three formats are read) {
  const auto jpeg = made(test::photo_png(900, 300)).large.bytes;
  check_jpeg(made(jpeg).medium, medium_bytes_max, 800, 267);
  check_jpeg(made(webp(400, 200)).medium, medium_bytes_max, 400, 200);
}

CAF_TEST(a picture stands upright and says nothing of its camera) {
  const auto jpeg = made(webp(64, 32)).large.bytes;
  const auto lying = made(with_exif(jpeg, 6)).large;
  check_jpeg(lying, large_bytes_max, 32, 64);
  CAF_CHECK(lying.bytes.find("Exif") == std::string::npos);
  CAF_CHECK(lying.bytes.find("at home") == std::string::npos);
  check_jpeg(made(with_exif(jpeg, 3)).large, large_bytes_max, 64, 32);
  check_jpeg(made(with_exif(jpeg, 9)).large, large_bytes_max, 64, 32); // no orientation
  check_jpeg(made(with_exif(jpeg, 1).substr(0, 40) + jpeg.substr(2)).large, large_bytes_max, 64, 32);
}

CAF_TEST(what is no picture or too large gives none) {
  const auto wrong = [](const std::string& file) { return pictures_of(file).wrong; };
  const auto png = test::sign_png(), lossless = webp(40, 20), jpeg = made(png).large.bytes;
  for (const auto& file :
       {""s, "GIF89a"s, png.substr(0, 24), png.substr(0, png.size() / 2), png_header(0, 0), png_header(4, 4),
        jpeg.substr(0, 3), jpeg.substr(0, 20), lossless.substr(0, 12),
        lossless.substr(0, lossless.size() / 2), "<svg xmlns='http://www.w3.org/2000/svg'/>"s})
    CAF_CHECK(wrong(file) == picture_fault::unreadable);
  CAF_CHECK(wrong(png_header(100'000, 100'000)) == picture_fault::too_large);
  CAF_CHECK(wrong(png_header(0xffff'ffff, 0xffff'ffff)) == picture_fault::too_large);
  CAF_CHECK(wrong(png_header(16'000, 1'001)) == picture_fault::too_large);
  CAF_CHECK(wrong(png_header(16'385, 1)) == picture_fault::too_large);
}

CAF_TEST(a stored picture is known by its header) {
  const auto photo = made(test::photo_png(300, 100)).medium;
  const auto again = jpeg_of(photo.bytes);
  check_jpeg(again, medium_bytes_max, 300, 100);
  CAF_CHECK(jpeg_of("no picture").bytes.empty());
}

CAF_TEST(a PNG is decoded without what else can be inflated) {
  const auto png = test::photo_png(1, 1);
  const auto pixels = pixels_of_png(png);
  CAF_CHECK(pixels.starts_with(png.substr(0, 33)) && pixels.ends_with("IEND\xae\x42\x60\x82"));
  std::string extra;
  for (int i = 0; i < 1'000; ++i)
    for (const auto* type : {"zTXt", "iTXt", "tEXt", "iCCP", "eXIf", "acTL", "iDAT"})
      extra += chunk(type, "name\0\0x\x9c"s);
  CAF_CHECK(pixels_of_png(png.substr(0, 33) + extra + png.substr(33)) == pixels);
  CAF_CHECK(pixels_of_png(png + extra) == pixels);
  check_jpeg(made(png.substr(0, 33) + extra + png.substr(33)).small, small_bytes_max, 1, 1);
  const auto shown = chunk("PLTE", "abc") + chunk("tRNS", "a");
  CAF_CHECK(pixels_of_png(png.substr(0, 33) + shown + png.substr(33)).find(shown) == 33);
  for (const auto& broken : {""s, png.substr(0, 8), png.substr(0, 33), png.substr(0, png.size() - 1),
                             png.substr(0, 33) + "\xff\xff\xff\xff"s + "zTXt" + png.substr(33),
                             png.substr(0, 33) + "\0\0\xff\xff"s + "zTXt" + png.substr(33)})
    CAF_CHECK(pixels_of_png(broken).empty());
}

CAF_TEST(a JPEG with many scans is refused) {
  const auto jpeg = made(test::photo_png(90, 30)).large.bytes;
  const auto scans = scans_of(jpeg);
  CAF_CHECK(scans >= 1 && scans <= 10);
  const auto scan = "\xff\xda\0\x04"s + "ab" + "pixels\xff\0\xff\xd0"s;
  auto many = "\xff\xd8"s;
  for (std::size_t i = 0; i <= jpeg_scans_max; ++i) many += scan;
  CAF_CHECK_EQUAL(scans_of(many + "\xff\xd9" + scan), jpeg_scans_max + 1);
  CAF_CHECK(pictures_of(many + jpeg.substr(2)).wrong == picture_fault::unreadable);
  // A small picture in a part for programs is none of its scans.
  CAF_CHECK_EQUAL(scans_of("\xff\xd8\xff\xe1\0\x12"s + scan + "\xff\xff\xda\0\x04xy"s), 1u);
  for (const auto& broken : {""s, "\xff"s, "\xff\xff"s, "\xff\xe1"s, "\xff\xe1\0"s, "\xff\xe1\0\0"s,
                             "\xff\xe1\xff\xff"s, "no marker"s})
    CAF_CHECK_EQUAL(scans_of(broken), 0u);
}
