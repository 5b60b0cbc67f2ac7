// SPDX-License-Identifier: Apache-2.0
// A PDF read back by poppler's programs and zbarimg.
#pragma once
#include "caf/test/unit_test.hpp"

#include "tests/crypto/temp_folder.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq::test {

inline std::string output_of(const std::string& command) {
  auto* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error{"popen failed"};
  std::string out;
  std::array<char, 4096> part{};
  while (const auto size = std::fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), size);
  if (::pclose(pipe) != 0) throw std::runtime_error{command + " failed: " + out};
  return out;
}

/// A PDF as its readers see it.
class read_pdf {
public:
  explicit read_pdf(const std::string& pdf) : file_{(folder_ / "printed.pdf").string()} {
    std::ofstream{file_, std::ios::binary} << pdf;
  }
  [[nodiscard]] std::string by(const std::string& program, const std::string& rest = "") const {
    return output_of(program + " '" + file_ + "' " + rest + " 2>&1");
  }
  [[nodiscard]] std::string text() const { return by("pdftotext -layout", "-"); }
  [[nodiscard]] std::string codes() const {
    static_cast<void>(by("pdftoppm -r 90 -gray -png", "'" + (folder_ / "page").string() + "'"));
    return output_of("zbarimg --quiet --raw -Sdisable -Sqrcode.enable '" + folder_.path().string()
                     + "'/page*.png");
  }
  /// Names of fonts that are not embedded.
  [[nodiscard]] std::vector<std::string> foreign_fonts() const {
    std::istringstream lines{by("pdffonts")};
    std::vector<std::string> foreign;
    std::string line;
    for (int number = 0; std::getline(lines, line); ++number)
      if (number >= 2 && !std::regex_search(line, std::regex{" yes +(yes|no) +(yes|no) +[0-9]+ +[0-9]+ *$"}))
        foreign.push_back(line);
    return foreign;
  }

private:
  temp_folder folder_;
  std::string file_;
};

struct word_box {
  double left, top, right, bottom;
  std::string text;
};

inline std::vector<word_box> words_of(const read_pdf& pdf) {
  static const std::regex word{"<word xMin=\"([-0-9.]+)\" yMin=\"([-0-9.]+)\" xMax=\"([-0-9.]+)\" "
                               "yMax=\"([-0-9.]+)\">(.*)</word>"};
  std::vector<word_box> words;
  const auto html = pdf.by("pdftotext -bbox", "-");
  for (std::sregex_iterator i{html.begin(), html.end(), word}, end; i != end; ++i)
    words.push_back(
      {std::stod((*i)[1]), std::stod((*i)[2]), std::stod((*i)[3]), std::stod((*i)[4]), (*i)[5]});
  return words;
}

/// Each word is on the page, and no other word covers a third of it.
inline void check_words_apart(const std::string& pdf) {
  const auto words = words_of(read_pdf{pdf});
  CAF_CHECK(!words.empty());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& a = words[i];
    if (a.left < 40 || a.top < 40 || a.right > 556 || a.bottom > 802) CAF_ERROR("outside: " << a.text);
    for (std::size_t j = i + 1; j < words.size(); ++j) {
      const auto& b = words[j];
      const auto width = std::min(a.right, b.right) - std::max(a.left, b.left),
                 height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
      const auto area = [](const word_box& w) { return (w.right - w.left) * (w.bottom - w.top); };
      if (width > 0 && height > 0 && width * height > std::min(area(a), area(b)) / 3)
        CAF_ERROR("one covers the other: " << a.text << " and " << b.text);
    }
  }
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace fq::test
