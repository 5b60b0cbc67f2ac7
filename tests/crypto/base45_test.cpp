// SPDX-License-Identifier: Apache-2.0
// Base45 against RFC 9285's examples, and HKDF against RFC 5869's.
#define CAF_SUITE base45
#include "caf/test/unit_test.hpp"

#include "crypto/base45.hpp"
#include "crypto/hkdf.hpp"

using namespace fq;

namespace {

std::string decoded(std::string_view text) {
  std::array<std::uint8_t, 64> bytes{};
  const auto size = from_base45(text, bytes);
  return size ? std::string{bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*size)} : "refused";
}

std::string from_hex_text(std::string_view hex) {
  const auto bytes = from_hex(hex).value();
  return {bytes.begin(), bytes.end()};
}

} // namespace

CAF_TEST(the examples of the RFC are encoded and decoded) {
  const std::vector<std::pair<std::string, std::string>> examples{
    {"AB", "BB8"}, {"Hello!!", "%69 VD92EX0"}, {"base-45", "UJCLQE7W581"}, {"ietf!", "QED8WEX0"}, {"", ""}};
  for (const auto& [bytes, text] : examples) {
    CAF_CHECK_EQUAL(to_base45(view_bytes(bytes)), text);
    CAF_CHECK_EQUAL(decoded(text), bytes);
  }
}

CAF_TEST(every pair and every last byte has one text) {
  for (unsigned n = 0; n < 0x1'0000; ++n) {
    const std::array<std::uint8_t, 2> pair{static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)};
    const byte_view bytes = n < 256 ? byte_view{pair}.last(1) : byte_view{pair};
    if (decoded(to_base45(bytes)) != std::string{bytes.begin(), bytes.end()}) CAF_ERROR("differs at " << n);
  }
}

CAF_TEST(other texts are refused) {
  for (const std::string text :
       {"GGW", ":::", "V5", "::", "B", "BB8A", "bB8", "BB8\n", "BB\xc3", "BB_", "B#8"})
    CAF_CHECK_EQUAL(decoded(text), "refused");
  CAF_CHECK_EQUAL(decoded("FGW"), "\xff\xff"); // the greatest pair
  CAF_CHECK_EQUAL(decoded("U5"), "\xff"); // the greatest last byte
  std::array<std::uint8_t, 2> small{};
  CAF_CHECK(!from_base45("QED8WEX0", small));
}

CAF_TEST(HKDF gives the keys of the RFC) {
  const auto key = [](const std::string& input, const std::string& salt, const std::string& info) {
    return to_hex(hkdf_sha256(view_bytes(input), salt, info).bytes());
  };
  CAF_CHECK_EQUAL(key(std::string(22, '\x0b'), from_hex_text("000102030405060708090a0b0c"),
                      from_hex_text("f0f1f2f3f4f5f6f7f8f9")),
                  "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"); // A.1
  CAF_CHECK_EQUAL(key(std::string(22, '\x0b'), "", ""),
                  "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"); // A.3
}
