// SPDX-License-Identifier: Apache-2.0
#include "net/pages/page_templates.hpp"

#include "display/replaced.hpp"
#include "net/http/json_text.hpp"
#include "web/assets.hpp"

#include <ctemplate/template_cache.h>
#include <ctemplate/template_dictionary.h>
#include <ctemplate/template_modifiers.h>

#include <algorithm>
#include <stdexcept>

namespace fq::net {
namespace {

constexpr auto strip = ctemplate::STRIP_WHITESPACE; ///< templates are indented, pages are not
constexpr std::string_view escape_by_context = "{{%AUTOESCAPE context=\"HTML\"}}";
constexpr std::string_view time_element = "<time datetime=\"{{TIME}}\">{{TIME_TEXT}}</time>";

std::string_view template_text(const std::string& name) {
  const auto files = page_template_files();
  const auto found = std::ranges::find(files, name + ".html", &page_template_file::name);
  if (found == files.end()) throw std::logic_error("no page template " + name);
  return found->text;
}

std::string value_of_text(std::string_view name) {
  if (name == "time") return std::string{time_element};
  std::string upper{name};
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return "{{" + upper + "}}";
}

/// The template with its [[x]] replaced.
std::string in_language(std::string_view raw, language in) {
  return replaced(raw, "[[", "]]", [in](std::string_view what) {
    const std::string name{what.substr(1)};
    if (what[0] == '>') return in_language(template_text("_" + name), in);
    if (what[0] == '/') return std::string{web::get_asset(name).served_name};
    if (what[0] == '=') return escaped(text(in, name));
    return replaced(escaped(text(in, what)), "{", "}", value_of_text);
  });
}

std::string key_of(language in, std::string_view name) {
  return std::string{tag_of(in)}.append("/").append(name);
}

class template_set {
public:
  template_set() {
    for (const auto& file : page_template_files()) {
      if (file.name.starts_with('_')) continue;
      const auto name = file.name.substr(0, file.name.size() - std::string_view{".html"}.size());
      for (const auto in : all_languages) {
        const auto text = std::string{escape_by_context} + in_language(file.text, in);
        if (!cache_.StringToTemplateCache(key_of(in, name), text.data(), text.size(), strip))
          throw std::logic_error("a page template does not parse: " + key_of(in, name));
      }
    }
    cache_.Freeze();
  }

  void expand(std::string& out, const std::string& key, const ctemplate::TemplateDictionary& data) const {
    out.reserve(20'000); // a typical page, most of it style
    if (!cache_.ExpandNoLoad(key, strip, &data, nullptr, &out))
      throw std::logic_error("no page template " + key);
  }

private:
  ctemplate::TemplateCache cache_;
};

ctemplate::TemplateString view_of(std::string_view text) { return {text.data(), text.size()}; }

} // namespace

page_data::page_data() : own_{std::make_unique<ctemplate::TemplateDictionary>("page")}, values_{own_.get()} {}
page_data::page_data(ctemplate::TemplateDictionary* section) : values_{section} {}
page_data::page_data(page_data&&) noexcept = default;
page_data& page_data::operator=(page_data&&) noexcept = default;
page_data::~page_data() = default;

void page_data::set(const char* name, std::string_view value) { values_->SetValue(name, view_of(value)); }

void page_data::set_optional(const char* name, std::string_view value) {
  if (value.empty()) return;
  set(name, value);
  values_->ShowSection(name);
}

void page_data::set_time(timestamp when) {
  const auto exact = rfc3339(when);
  set("TIME", exact);
  set("TIME_TEXT", exact.substr(0, 10) + " " + exact.substr(11, 5) + " UTC");
}

void page_data::set_static(const char* name, std::string_view value) {
  values_->SetValueWithoutCopy(name, view_of(value));
}

void page_data::show(const char* section, bool is_shown) {
  if (is_shown) values_->ShowSection(section);
}

page_data page_data::add(const char* section) { return page_data{values_->AddSectionDictionary(section)}; }

void page_data::expand(std::string& out, language in, std::string_view name) const {
  static const template_set all;
  all.expand(out, key_of(in, name), *values_);
}

std::string escaped(std::string_view text) { return ctemplate::html_escape(text.data(), text.size()); }

} // namespace fq::net
