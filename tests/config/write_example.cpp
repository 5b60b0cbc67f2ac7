// SPDX-License-Identifier: Apache-2.0
// Writes the example file from the option table: `write_example_config <file>`.
#include "config/load.hpp"

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_example_config <file>\n";
    return 2;
  }
  std::ofstream out{argv[1]};
  out << fq::config::example_file();
  return out.flush() ? 0 : 1;
}
