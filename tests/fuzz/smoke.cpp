// SPDX-License-Identifier: Apache-2.0
// Reads the corpus of every target, then changed copies of it for some seconds: for CI, where no clang is.
//
//   fuzz_smoke CORPUS SECONDS [TARGET] [SEED]
#include "tests/fuzz/targets.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

std::vector<std::string> texts_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> texts{""};
  for (const auto& file : files) {
    std::ifstream in{file, std::ios::binary};
    texts.emplace_back(std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{});
  }
  return texts;
}

class mutator {
public:
  explicit mutator(std::uint64_t seed) : random_(seed) {}

  std::string change(std::string text, const std::string& other) {
    for (auto n = below(4) + 1; n > 0; --n) step(text, other);
    if (text.size() > 4096) text.resize(4096);
    return text;
  }
  std::size_t below(std::size_t n) { return random_() % n; }

private:
  void step(std::string& text, const std::string& other) {
    const auto at = below(text.size() + 1);
    const auto size = below(std::min<std::size_t>(text.size() - at, 16) + 1);
    switch (below(6)) {
      case 0: text.insert(at, 1, static_cast<char>(random_())); break;
      case 1: text.erase(at, size); break;
      case 2: text.insert(at, text.substr(at, size)); break;
      case 3: text.insert(at, other.substr(below(other.size() + 1), below(32))); break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      default:
        if (at < text.size()) text[at] ^= static_cast<char>(1u << below(8));
    }
  }
  std::mt19937_64 random_;
};

/// Where a debugger finds the input after an abort.
std::string current;

std::uint64_t run(const fq::fuzz::target& target, const std::filesystem::path& corpus, double seconds,
                  std::uint64_t seed) {
  const auto texts = texts_in(corpus / target.name);
  for (const auto& text : texts) target.read(current = text);
  mutator change{seed};
  std::uint64_t inputs = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>{seconds};
  for (; std::chrono::steady_clock::now() < end; ++inputs)
    target.read(current =
                  change.change(texts[change.below(texts.size())], texts[change.below(texts.size())]));
  return inputs;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "fuzz_smoke CORPUS SECONDS [TARGET] [SEED]\n"), 2;
  const std::string_view only = argc > 3 ? argv[3] : "";
  const auto seed = argc > 4 ? std::stoull(argv[4]) : std::random_device{}();
  for (const auto& target : fq::fuzz::targets()) {
    if (!only.empty() && only != target.name) continue;
    std::printf("%s, seed %llu: ", std::string{target.name}.c_str(), static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    const auto inputs = run(target, argv[1], std::stod(argv[2]), seed);
    std::printf("%llu inputs\n", static_cast<unsigned long long>(inputs));
  }
  return 0;
}
