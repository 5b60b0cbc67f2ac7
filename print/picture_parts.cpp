// SPDX-License-Identifier: Apache-2.0
#include "print/picture_parts.hpp"

#include <algorithm>
#include <array>

namespace fq::print {
namespace {

constexpr std::size_t signature_size = 8, chunk_extra = 12; // length, type and checksum
constexpr std::array<std::string_view, 5> pixel_chunks{"IHDR", "PLTE", "tRNS", "IDAT", "IEND"};

std::size_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::size_t value = 0;
  for (const char c : bytes.substr(at, size)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

} // namespace

std::string pixels_of_png(std::string_view png) {
  std::string pixels{png.substr(0, signature_size)};
  auto rest = png.substr(pixels.size());
  while (rest.size() >= chunk_extra) {
    const auto size = big_endian(rest, 0, 4);
    if (size > rest.size() - chunk_extra) return {};
    const auto type = rest.substr(4, 4);
    if (std::ranges::find(pixel_chunks, type) != pixel_chunks.end())
      pixels += rest.substr(0, chunk_extra + size);
    if (type == "IEND") return pixels;
    rest.remove_prefix(chunk_extra + size);
  }
  return {};
}

std::size_t scans_of(std::string_view jpeg) {
  std::size_t scans = 0;
  for (auto at = jpeg.find('\xff'); at < jpeg.size(); at = jpeg.find('\xff', at)) {
    while (at < jpeg.size() && jpeg[at] == '\xff') ++at;
    if (at >= jpeg.size()) break;
    const auto marker = static_cast<unsigned char>(jpeg[at++]);
    if (marker == 0xd9) break;
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8)) continue; // these have no content
    scans += marker == 0xda ? 1 : 0;
    if (jpeg.size() - at < 2) break;
    at += std::max<std::size_t>(big_endian(jpeg, at, 2), 2);
  }
  return scans;
}

} // namespace fq::print
