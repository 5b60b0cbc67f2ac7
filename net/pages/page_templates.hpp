// SPDX-License-Identifier: Apache-2.0
// The pages' templates (net/pages/templates), expanded by ctemplate, which escapes every value by its
// context. Parsed once for each language; immutable afterwards and thread-safe. Used by site_page and
// plain_page.
//
// In a template, [[x]] is replaced when the templates are loaded:
//   [[key]]    the text of web/texts; its {name} becomes the value {{NAME}}, its {time} a time element
//   [[=key]]   the same text as it is, for scripts
//   [[>name]]  the template _name.html
//   [[/name]]  the served name of the asset
#pragma once
#include "domain/base/time.hpp"
#include "net/pages/texts.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ctemplate {
class TemplateDictionary;
}

namespace fq::net {

struct page_template_file {
  std::string_view name; ///< "shop.html"
  std::string_view text;
};
/// Made by cmake/embed_texts.cmake at build time.
[[nodiscard]] std::span<const page_template_file> page_template_files();

/// The values of a page. A section is shown as often as it is added.
class page_data {
public:
  page_data();
  page_data(page_data&&) noexcept;
  page_data& operator=(page_data&&) noexcept;
  ~page_data();

  void set(const char* name, std::string_view value);
  /// Also shows the section `name`, unless the value is empty.
  void set_optional(const char* name, std::string_view value);
  /// {{TIME}}, and {{TIME_TEXT}} in UTC; scripts convert it to the visitor's time zone.
  void set_time(timestamp when);
  /// A value that outlives the page.
  void set_static(const char* name, std::string_view value);
  void show(const char* section, bool is_shown = true);
  /// The values of one repetition; values of the page are known inside. Valid as long as the page's.
  page_data add(const char* section);

  /// Appends the template `name` with these values. Throws std::logic_error for an unknown name.
  void expand(std::string& out, language in, std::string_view name) const;

private:
  explicit page_data(ctemplate::TemplateDictionary* section);

  std::unique_ptr<ctemplate::TemplateDictionary> own_; ///< null: a section
  ctemplate::TemplateDictionary* values_;
};

/// & < > " ' as entities: safe in text and in quoted attributes, where a template asks for no escaping.
[[nodiscard]] std::string escaped(std::string_view text);

} // namespace fq::net
