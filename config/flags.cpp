// SPDX-License-Identifier: Apache-2.0
// The option table as command-line flags, and their help.
#include "config/load.hpp"
#include "config/table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>

namespace fq::config {
namespace {

/// The group that CLI11 gives to the command's own options.
constexpr std::string_view own_group = "Options";

/// "--data_dir,--data-dir": both spellings, because option names use underscores and flags usually dashes.
std::string flag_names(const std::string& option) {
  auto dashed = option;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed == option ? "--" + option : "--" + option + ",--" + dashed;
}

/// The TOML table of an option, "[http]". Options without one are the first in the file.
std::string group_of(std::string_view option) {
  const auto dot = option.find('.');
  return dot == std::string_view::npos ? "General" : "[" + std::string{option.substr(0, dot)} + "]";
}

/// `group` empty: the help does not show it.
CLI::Option* add_flag(CLI::App& command, flags& into, const std::string& name, const std::string& description,
                      const std::string& type, const std::string& group) {
  return command
    .add_option_function<std::string>(
      flag_names(name), [&into, name](const std::string& text) { into.values[name] = text; }, description)
    ->type_name(type)
    ->group(group);
}

/// --help shows the command's own options and a few of the server's, --help-all all in groups.
class short_help : public CLI::Formatter {
public:
  explicit short_help(std::set<const CLI::Option*> shown) : shown_{std::move(shown)} {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::All) return CLI::Formatter::make_help(app, std::move(name), mode);
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    const auto is_short = [&](const CLI::Option* o) {
      return o->nonpositional() && (o->get_group() == own_group || shown_.contains(o));
    };
    return make_description(app) + make_usage(app, std::move(name))
           + make_group(std::string{own_group}, false, app->get_options(is_short))
           + make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  /// As a part of the program's --help-all.
  std::string make_expanded(const CLI::App* app) const override {
    const auto is_own = [&](const CLI::Option* o) {
      return o->nonpositional() && o->get_group() == own_group && o != app->get_help_ptr()
             && o != app->get_help_all_ptr() && o->get_name() != "--config";
    };
    const auto* parent = app->get_parent();
    const auto prefix = parent != nullptr && parent->get_parent() != nullptr ? parent->get_name() + " " : "";
    std::string text = "\n" + prefix + app->get_name() + ": " + app->get_description() + "\n";
    for (const auto* option : app->get_options(is_own)) text += make_option(option, false);
    for (const auto* part : app->get_subcommands({})) text += part->help({}, CLI::AppFormatMode::Sub);
    return text;
  }

private:
  std::set<const CLI::Option*> shown_;
};

} // namespace

void shorten_help(CLI::App& program) {
  program.formatter(std::make_shared<short_help>(std::set<const CLI::Option*>{}));
  program.set_help_all_flag("--help-all", "Print every option, in groups");
}

void add_options(CLI::App& command, flags& into, help_length length) {
  std::set<const CLI::Option*> shown;
  command.add_option("--config", into.config_file, "TOML file with options; FAIRQUEUE_CONFIG does the same")
    ->type_name("FILE");
  for (const auto& row : option_table()) {
    const std::string name{row.name};
    const auto fallback = row.default_text.empty() ? std::string{"none"} : std::string{row.default_text};
    const auto group = group_of(name);
    const auto* option = add_flag(command, into, name, std::string{row.description} + " [" + fallback + "]",
                                  range_text(row), group);
    if (length == help_length::server ? row.needed : name == "data_dir") shown.insert(option);
    if (row.secret) add_flag(command, into, name + "_file", "File that holds " + name + ".", "path", group);
  }
  for (const auto& removed : removed_options())
    add_flag(command, into, std::string{removed.name}, "", "", "");
  command.formatter(std::make_shared<short_help>(std::move(shown)));
  command.footer("--help-all shows every option. A file, the environment and flags can set each.");
}

} // namespace fq::config
