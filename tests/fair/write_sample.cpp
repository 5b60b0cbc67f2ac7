// SPDX-License-Identifier: Apache-2.0
// Writes the sample log: `write_sample vectors` prints tests/vectors/fairness.json, `write_sample FOLDER`
// fills a folder as a server would serve it, with the receipt of number 7.
#include "tests/fair/sample_log.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string what = argv[1];
  if (what == "vectors") {
    std::cout << fq::vectors();
    return 0;
  }
  const auto sample = fq::make_sample();
  auto files = fq::files_of(sample);
  files["7.tlog-proof"] = sample.receipt;
  for (const auto& [path, content] : files) {
    const auto file = std::filesystem::path{what} / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << content;
  }
  return 0;
}
