// SPDX-License-Identifier: Apache-2.0
#include "print/exif.hpp"

#include "print/limits.hpp"

#include <cstddef>
#include <cstdint>

namespace fq::print {
namespace {

constexpr std::size_t entry_size = 12;
constexpr std::uint32_t orientation_tag = 0x0112;

/// An unsigned number of `size` bytes; 0 beyond the end.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size, bool is_little = false) {
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + (is_little ? size - 1 - i : i)]);
  return value;
}

int orientation_in(std::string_view tiff) {
  const bool is_little = tiff.starts_with("II");
  if (!is_little && !tiff.starts_with("MM")) return 1;
  const std::size_t list = number_at(tiff, 4, 4, is_little);
  const auto count = number_at(tiff, list, 2, is_little);
  for (std::size_t i = 0; i < count && list + 2 + (i + 1) * entry_size <= tiff.size(); ++i) {
    const auto entry = list + 2 + i * entry_size;
    if (number_at(tiff, entry, 2, is_little) != orientation_tag) continue;
    const auto value = number_at(tiff, entry + 8, 2, is_little);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

} // namespace

int orientation_of(std::string_view jpeg) {
  constexpr std::string_view exif{"Exif\0\0", 6};
  std::size_t at = 2;
  for (std::size_t looked = 0; looked < jpeg_segments_max; ++looked) {
    const auto marker = number_at(jpeg, at, 2);
    const auto size = number_at(jpeg, at + 2, 2);
    if (marker < 0xffc0 || marker == 0xffda || size < 2 || jpeg.size() < at + 2 + size) return 1;
    const auto content = jpeg.substr(at + 4, size - 2);
    if (marker == 0xffe1 && content.starts_with(exif)) return orientation_in(content.substr(exif.size()));
    at += 2 + size;
  }
  return 1;
}

} // namespace fq::print
