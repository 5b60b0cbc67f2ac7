// SPDX-License-Identifier: Apache-2.0
// The option table as command-line flags.
#include "config/load.hpp"
#include "config/table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace fq::config {
namespace {

/// "--data_dir,--data-dir": both spellings, because option names use underscores and flags usually dashes.
std::string flag_names(const std::string& option) {
  auto dashed = option;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed == option ? "--" + option : "--" + option + ",--" + dashed;
}

void add_flag(CLI::App& command, flags& into, const std::string& name, const std::string& description,
              const std::string& type) {
  command
    .add_option_function<std::string>(
      flag_names(name), [&into, name](const std::string& text) { into.values[name] = text; }, description)
    ->type_name(type)
    ->group("Options of the server");
}

} // namespace

void add_options(CLI::App& command, flags& into) {
  command.add_option("--config", into.config_file, "TOML file with options; FAIRQUEUE_CONFIG does the same")
    ->type_name("FILE");
  for (const auto& row : option_table()) {
    const std::string name{row.name};
    const auto fallback = row.default_text.empty() ? std::string{"none"} : std::string{row.default_text};
    add_flag(command, into, name, std::string{row.description} + " [" + fallback + "]", range_text(row));
    if (row.secret) add_flag(command, into, name + "_file", "File that holds " + name + ".", "path");
  }
}

} // namespace fq::config
