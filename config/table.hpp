// SPDX-License-Identifier: Apache-2.0
// The option table: every option of the program as data. Flags, environment, file, validation, print-config,
// example file and documentation are derived from it. A new option is one row here and one member in
// options.hpp.
#pragma once

#include "config/options.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fq::config {

/// How the text of an option is parsed and validated.
enum class value_type {
  text, ///< any text
  optional_text,
  password, ///< any text, or empty; never printed
  path, ///< a file or folder
  optional_path,
  address_port, ///< 127.0.0.1:80, [::1]:80
  url, ///< http:// or https://, without a trailing slash
  ledger_url, ///< sqlite:<path>, postgres://…, postgresql://… or memory:
  cache_url, ///< redis://…, or empty for none
  smtp_url, ///< smtp:// or smtps://, or empty for none
  nats_url, ///< nats:// or tls://, several separated by commas, or empty for none
  nats_name, ///< stream name: letters, digits, - and _
  nats_subject, ///< words separated by dots, without wildcards
  optional_nats_subject,
  mail_address, ///< name@example.com
  node_id, ///< [a-z0-9-]{1,64}, or empty
  url_path, ///< "/" or "/x/y"
  page_address, ///< "/x" below http.base_path, or http(s)://…
  origins, ///< list of scheme://host[:port]
  blocks, ///< list of CIDR blocks
  count, ///< an integer
  bytes, ///< an integer with an optional unit: B, KiB, MiB
  duration, ///< a number with a unit: ms, s, m, h, d
  boolean,
  choice, ///< one of `choices`
};

/// Access to the option's member in `options`; the alternative must match the type.
using field = std::variant<std::string& (*)(options&), std::filesystem::path& (*)(options&),
                           endpoint& (*)(options&), std::vector<std::string>& (*)(options&),
                           std::vector<address_block>& (*)(options&), std::int64_t& (*)(options&),
                           milliseconds& (*)(options&), bool& (*)(options&), environment_kind& (*)(options&)>;

struct option_row {
  std::string_view name; ///< "http.listen"
  field where;
  value_type type;
  std::string_view default_text; ///< as in a flag; lists are comma separated
  std::int64_t low = 0; ///< inclusive bounds; count: itself, bytes: bytes, duration: milliseconds
  std::int64_t high = 0;
  std::string_view choices = {}; ///< for type choice: "a|b"
  bool derived = false; ///< its default depends on other options or the machine; default_text describes it
  bool secret = false; ///< may come from a file (`<name>_file`, `..._FILE`); masked when printed
  bool needed = false; ///< most installations set it: `serve --help` shows it
  std::string_view description; ///< one sentence
};

/// An option of an earlier release.
struct removed_option {
  std::string_view name;
  std::string_view instead; ///< follows "is not an option any more: "
};

/// All options, in the order of the example file.
[[nodiscard]] std::span<const option_row> option_table();

/// The row called `name`, or null.
[[nodiscard]] const option_row* find_option(std::string_view name);

[[nodiscard]] std::span<const removed_option> removed_options();

/// "http.listen" -> "FAIRQUEUE_HTTP_LISTEN".
[[nodiscard]] std::string environment_name(std::string_view option);

/// Parses `text` into the option's member. Returns the error, or "".
[[nodiscard]] std::string assign(const option_row& row, std::string_view text, options& out);

/// The value as text that `assign` accepts; lists comma separated. Secrets are masked.
[[nodiscard]] std::string value_text(const option_row& row, const options& from);

/// A url for logs: masks the password of "scheme://user:password@host" and passwords in parameters.
[[nodiscard]] std::string without_password(std::string_view url);

/// "10s", "500ms", "24h": the largest unit that divides it.
[[nodiscard]] std::string duration_text(milliseconds value);

/// "127.0.0.1:8080 (address:port)": the type and range of a row in words.
[[nodiscard]] std::string range_text(const option_row& row);

} // namespace fq::config
