// SPDX-License-Identifier: Apache-2.0
#include "outbound/texts.hpp"

#include "outbound/mail_template_files.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace fq {
namespace {

using text_map = std::map<std::string, std::string, std::less<>>;

text_map read_texts(language in) {
  const auto files = mail_template_files();
  const auto name = std::string{"texts."}.append(tag_of(in)).append(".json");
  const auto found = std::ranges::find(files, name, &mail_template_file::name);
  if (found == files.end()) throw std::logic_error{"there is no file " + name};
  text_map texts;
  const auto read = boost::json::parse(found->text);
  for (const auto& [key, value] : read.as_object()) texts.emplace(key, value.as_string());
  return texts;
}

const text_map& texts_of(language in) {
  static const auto all = [] {
    std::array<text_map, all_languages.size()> read;
    for (const auto l : all_languages) read[static_cast<std::size_t>(l)] = read_texts(l);
    return read;
  }();
  return all[static_cast<std::size_t>(in)];
}

} // namespace

std::string_view translated(language in, std::string_view key) {
  const auto& texts = texts_of(in);
  const auto found = texts.find(key);
  if (found == texts.end()) throw std::logic_error{"no text of the name " + std::string{key}};
  return found->second;
}

bool has_text(std::string_view key) { return texts_of(language::en).contains(key); }

} // namespace fq
