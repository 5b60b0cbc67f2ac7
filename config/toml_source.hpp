// SPDX-License-Identifier: Apache-2.0
// A TOML file as option texts. Used by load.cpp only; keeps toml++ out of every other file.
#pragma once

#include "config/load.hpp"

#include <string>
#include <vector>

namespace fq::config {

/// A key of the file that holds a value: "http.listen" with its text as a flag would give it.
struct file_entry {
  std::string key;
  std::string text;
  std::size_t line = 0;
};

/// Everything in `file`; what cannot be read or is no option value becomes a problem.
[[nodiscard]] std::vector<file_entry> read_toml(const std::string& file, std::vector<problem>& problems);

} // namespace fq::config
