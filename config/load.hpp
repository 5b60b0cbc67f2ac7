// SPDX-License-Identifier: Apache-2.0
// From flags, environment and file to checked options, and back to text. Called by app/ for every subcommand,
// before anything listens or opens a file of the ledger. Precedence: flags > FAIRQUEUE_* > TOML file >
// default.
//
//   config::flags flags;
//   config::add_options(serve, flags);           // per CLI11 subcommand
//   CLI11_PARSE(app, argc, argv);
//   auto loaded = config::load(flags, config::environment_of(environ));
//   if (!loaded.problems.empty()) { std::cerr << config::describe(loaded.problems); return 2; }
#pragma once

#include "config/options.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace fq::config {

/// What the command line said, still as text.
struct flags {
  std::string config_file; ///< --config; empty if absent
  std::map<std::string, std::string> values; ///< option name -> text; only options that were given
};

/// Gives `command` a flag per option (`--http.listen`, also with dashes for underscores: `--data-dir`), a
/// `_file` flag per secret, and --config. `into` must outlive the parsing.
void add_options(CLI::App& command, flags& into);

using environment_variables = std::map<std::string, std::string>;

/// The variables of a process (`environ`), reduced to those that begin with FAIRQUEUE_.
[[nodiscard]] environment_variables environment_of(const char* const* variables);

/// One thing that is wrong, in words for the person who configures.
struct problem {
  std::string option; ///< "http.listen"; empty if it concerns no single option
  std::string origin; ///< "flag --http.listen", "file x.toml line 3", "environment FAIRQUEUE_...", "default"
  std::string text;
};

struct loaded {
  options values;
  std::vector<problem> problems; ///< all of them, not the first; `values` is usable only when empty
  std::map<std::string, std::string> origins; ///< option name -> where its value came from
};

/// Reads every source, converts, derives and checks. Never throws for what a user wrote: that is a problem.
[[nodiscard]] loaded load(const flags& from_flags, const environment_variables& from_environment);

/// The options with nothing configured, for tests and tools.
[[nodiscard]] options default_options();

/// One line a problem, ready for stderr.
[[nodiscard]] std::string describe(const std::vector<problem>& problems);

/// Every option in force as TOML that `load` reads back, each with its origin in a comment; secrets are
/// masked.
[[nodiscard]] std::string print_config(const loaded& config);

/// The text of config/fairqueue.example.toml: every option with its default, type, range and description.
[[nodiscard]] std::string example_file();

} // namespace fq::config
