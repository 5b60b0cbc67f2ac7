// SPDX-License-Identifier: Apache-2.0
#include "config/branding.hpp"

#include "config/limits.hpp"
#include "config/load.hpp"
#include "config/toml_source.hpp"
#include "domain/base/colour.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace fq::config {
namespace {

/// Excludes characters that could end a header, an attribute or a Content-Security-Policy source.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f
           && std::string_view{"\"'<>\\;,@"}.find(static_cast<char>(c)) == std::string_view::npos;
  });
}

bool is_address(std::string_view text) {
  const auto scheme = text.starts_with("https://") ? 8u : text.starts_with("http://") ? 7u : 0u;
  return scheme != 0 && text.size() > scheme && text[scheme] != '/'
         && text.size() <= limits::brand_text_bytes_max && is_plain(text);
}

bool is_logo(std::string_view text) {
  constexpr std::string_view inside = "data:image/";
  if (!text.starts_with(inside)) return is_address(text);
  const auto comma = text.find(";base64,");
  return text.size() <= limits::logo_bytes_max && comma != std::string_view::npos
         && is_plain(text.substr(0, comma)) && is_plain(text.substr(comma + 8));
}

bool is_sentence(std::string_view text) {
  return text.size() <= limits::brand_text_bytes_max
         && std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

struct brand_text {
  std::string_view name;
  std::string brand::*field;
  bool (*is_right)(std::string_view);
  std::string_view expected;
};

constexpr std::array brand_texts{
  brand_text{"name", &brand::name, is_sentence, "must be a text of at most 300 bytes"},
  brand_text{"colour", &brand::colour, is_colour, "must be like \"#2c1d6b\""},
  brand_text{"logo_url", &brand::logo_url, is_logo,
             "must be an http(s) address, or data:image/...;base64,... of at most 16 KiB"},
  brand_text{"home_url", &brand::home_url, is_address, "must be an http(s) address"},
  brand_text{"return_url", &brand::return_url, is_address, "must be an http(s) address"},
  brand_text{"note", &brand::note, is_sentence, "must be a text of at most 300 bytes"},
};

} // namespace

branding read_branding(const std::string& file, std::vector<problem>& problems) {
  branding all;
  if (file.empty()) return all;
  std::vector<problem> found;
  for (const auto& entry : read_toml(file, found)) {
    const auto dot = entry.key.rfind('.');
    const auto known = std::find_if(brand_texts.begin(), brand_texts.end(), [&](const brand_text& m) {
      return dot != std::string::npos && entry.key.substr(dot + 1) == m.name;
    });
    const auto where = "file " + file + " line " + std::to_string(entry.line);
    if (known == brand_texts.end())
      found.push_back({"pages.branding", where, entry.key + " is no member of a tenant's table"});
    else if (!known->is_right(entry.text))
      found.push_back({"pages.branding", where, entry.key + " " + std::string{known->expected}});
    else
      all[entry.key.substr(0, dot)].*known->field = entry.text;
  }
  for (auto& p : found) p.option = "pages.branding";
  problems.insert(problems.end(), found.begin(), found.end());
  return all;
}

} // namespace fq::config
