// SPDX-License-Identifier: Apache-2.0
#include "app/log.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace fq::log {
namespace {

/// A JSON string. Most need no escape.
void append_quoted(std::string& line, std::string_view text) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain))
    line.append(1, '"').append(text).append(1, '"');
  else
    line += boost::json::serialize(boost::json::string(text));
}

void write(spdlog::level::level_enum level, std::string_view message, std::initializer_list<field> fields) {
  if (!spdlog::should_log(level)) return;
  std::string line = "\"message\":";
  append_quoted(line, message);
  for (const auto& f : fields) {
    line += ',';
    append_quoted(line, f.name);
    line += ':';
    if (f.number)
      line += fmt::format("{}", *f.number);
    else
      append_quoted(line, f.text);
  }
  spdlog::log(level, "{}", line);
}

} // namespace

void start(std::string_view level) {
  auto logger =
    std::make_shared<spdlog::logger>("fairqueue", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  spdlog::set_default_logger(std::move(logger));
  spdlog::set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})", spdlog::pattern_time_type::utc);
  const auto parsed = spdlog::level::from_str(std::string{level});
  spdlog::set_level(parsed == spdlog::level::off ? spdlog::level::info : parsed);
}

void debug(std::string_view message, std::initializer_list<field> fields) {
  write(spdlog::level::debug, message, fields);
}
void info(std::string_view message, std::initializer_list<field> fields) {
  write(spdlog::level::info, message, fields);
}
void warn(std::string_view message, std::initializer_list<field> fields) {
  write(spdlog::level::warn, message, fields);
}
void error(std::string_view message, std::initializer_list<field> fields) {
  write(spdlog::level::err, message, fields);
}

void flush() { spdlog::default_logger()->flush(); }

} // namespace fq::log
