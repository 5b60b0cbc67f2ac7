// SPDX-License-Identifier: Apache-2.0
// Reads a TOML file as option texts. Used by load.cpp only; hides toml++.
#pragma once

#include "config/load.hpp"

#include <string>
#include <vector>

namespace fq::config {

/// A key of the file with a value: "http.listen", with its text as in a flag.
struct file_entry {
  std::string key;
  std::string text;
  std::size_t line = 0;
};

/// All entries of `file`; unreadable parts and values that are no option value become problems.
[[nodiscard]] std::vector<file_entry> read_toml(const std::string& file, std::vector<problem>& problems);

} // namespace fq::config
