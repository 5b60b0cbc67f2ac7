// SPDX-License-Identifier: Apache-2.0
// Loads checked options from flags, environment and file, and prints them. Called by app/ for every
// subcommand, before anything listens or opens the ledger. Precedence: flags > FAIRQUEUE_* > TOML file >
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

/// Values from the command line, still as text.
struct flags {
  std::string config_file; ///< --config; empty if absent
  std::map<std::string, std::string> values; ///< option name -> text; only options that were given
};

/// Gives `program` --help-all and a --help without the server's options. Call it before subcommands are
/// added.
void shorten_help(CLI::App& program);

/// What a command's --help shows of the server's options: those that most installations set, or data_dir
/// only.
enum class help_length { server, command };

/// Adds a flag per option to `command` (`--http.listen`, also with dashes for underscores: `--data-dir`), a
/// `_file` flag per secret, and --config. `into` must outlive the parsing.
void add_options(CLI::App& command, flags& into, help_length length = help_length::command);

using environment_variables = std::map<std::string, std::string>;

/// The variables of a process (`environ`) that start with FAIRQUEUE_.
[[nodiscard]] environment_variables environment_of(const char* const* variables);

/// A configuration error, for the person who configures.
struct problem {
  std::string option; ///< "http.listen"; empty if it concerns several options
  std::string origin; ///< "flag --http.listen", "file x.toml line 3", "environment FAIRQUEUE_...", "default"
  std::string text;
};

struct loaded {
  options values;
  std::vector<problem> problems; ///< all problems; `values` is valid only if empty
  std::map<std::string, std::string> origins; ///< option name -> source of its value
};

/// Reads every source, converts, derives and checks. User errors are returned as problems, never thrown.
[[nodiscard]] loaded load(const flags& from_flags, const environment_variables& from_environment);

/// All options with default values, for tests and tools.
[[nodiscard]] options default_options();

/// One line per problem, for stderr.
[[nodiscard]] std::string describe(const std::vector<problem>& problems);

/// All options as TOML that `load` can read, each with its origin in a comment. Secrets are masked.
[[nodiscard]] std::string print_config(const loaded& config);

/// The text of config/fairqueue.example.toml: every option with default, type, range and description.
[[nodiscard]] std::string example_file();

} // namespace fq::config
