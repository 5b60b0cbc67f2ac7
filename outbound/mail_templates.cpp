// SPDX-License-Identifier: Apache-2.0
// A table lists the data of each key; ctemplate expands the templates, once parsed for each language.
#include "outbound/mail_templates.hpp"

#include "display/colours.hpp"
#include "display/event_times.hpp"
#include "display/replaced.hpp"
#include "domain/money/money_text.hpp"
#include "outbound/ascii.hpp"
#include "outbound/limits.hpp"
#include "outbound/mail_template_files.hpp"
#include "outbound/texts.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <ctemplate/template.h>
#include <ctemplate/template_cache.h>
#include <ctemplate/template_dictionary.h>
#include <glib.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>

namespace fq {
namespace {

namespace json = boost::json;

constexpr std::string_view plain_colour = "#1d4ed8"; ///< without one of the tenant
constexpr std::string_view escape_by_context = "{{%AUTOESCAPE context=\"HTML\"}}";

enum class kind { text, count, money, time, link, flag, items, reason, seats, answers };
enum class need { required, optional };

struct field {
  std::string_view name;
  kind type;
  need presence = need::required;
};

struct template_row {
  std::string_view key;
  std::span<const field> fields;
};

/// When and where, of mails that lead to an event.
constexpr std::array facts_fields{
  field{"starts_at", kind::time, need::optional}, field{"ends_at", kind::time, need::optional},
  field{"doors_at", kind::time, need::optional}, field{"venue_name", kind::text, need::optional},
  field{"venue_address", kind::text, need::optional}};
constexpr std::array otp_fields{field{"code", kind::text}, field{"minutes", kind::count}};
constexpr std::array challenge_link_fields{field{"event_name", kind::text}, field{"join_url", kind::link}};
constexpr std::array payment_link_fields{
  field{"order_id", kind::text},   field{"event_name", kind::text},
  field{"total", kind::money},     field{"payment_url", kind::link},
  field{"expires_at", kind::time}, field{"seats", kind::seats, need::optional}};
constexpr std::array order_receipt_fields{field{"order_id", kind::text},
                                          field{"event_name", kind::text},
                                          field{"items", kind::items},
                                          field{"discount", kind::money, need::optional},
                                          field{"donations", kind::money, need::optional},
                                          field{"fees", kind::money, need::optional},
                                          field{"total", kind::money},
                                          field{"paid_at", kind::time, need::optional},
                                          field{"seats", kind::seats, need::optional},
                                          field{"answers", kind::answers, need::optional},
                                          field{"tickets_url", kind::link, need::optional},
                                          field{"tickets_page", kind::link, need::optional},
                                          field{"attached", kind::count, need::optional},
                                          field{"rest_page", kind::link, need::optional}};
constexpr std::array order_failed_fields{field{"order_id", kind::text}, field{"event_name", kind::text},
                                         field{"reason", kind::reason}, field{"can_retry", kind::flag},
                                         field{"retry_url", kind::link, need::optional}};
constexpr std::array order_refunded_fields{field{"order_id", kind::text}, field{"event_name", kind::text},
                                           field{"amount", kind::money}, field{"whole", kind::flag}};
constexpr std::array event_cancelled_fields{field{"event_name", kind::text}, field{"refund", kind::flag},
                                            field{"order_id", kind::text, need::optional}};
constexpr std::array quota_invitation_fields{field{"event_name", kind::text},
                                             field{"ticket_name", kind::text}, field{"quantity", kind::count},
                                             field{"valid_until", kind::time, need::optional}};
constexpr std::array waiting_list_offer_fields{field{"event_name", kind::text}, field{"claim_by", kind::time},
                                               field{"shop_url", kind::link, need::optional}};
constexpr std::array ticket_offered_fields{field{"event_name", kind::text}, field{"ticket_name", kind::text},
                                           field{"tickets_url", kind::link}, field{"expires_at", kind::time}};
constexpr std::array ticket_moved_fields{field{"event_name", kind::text}, field{"ticket_name", kind::text},
                                         field{"tickets_url", kind::link},
                                         field{"declined", kind::flag, need::optional}};
constexpr std::array ticket_cancelled_fields{field{"event_name", kind::text},
                                             field{"ticket_name", kind::text}, field{"quantity", kind::count},
                                             field{"tickets_url", kind::link, need::optional}};
constexpr std::array item_fields{field{"name", kind::text}, field{"quantity", kind::count},
                                 field{"amount", kind::money}};
constexpr std::array answer_fields{field{"label", kind::text}, field{"value", kind::text},
                                   field{"attendee", kind::count, need::optional}};
constexpr std::array every_fields{field{"name", kind::text, need::optional}};

constexpr std::array templates{
  template_row{"otp", otp_fields},
  template_row{"payment_link", payment_link_fields},
  template_row{"order_receipt", order_receipt_fields},
  template_row{"order_failed", order_failed_fields},
  template_row{"order_refunded", order_refunded_fields},
  template_row{"event_cancelled", event_cancelled_fields},
  template_row{"quota_invitation", quota_invitation_fields},
  template_row{"waiting_list_offer", waiting_list_offer_fields},
  template_row{"ticket_offered", ticket_offered_fields},
  template_row{"ticket_given", ticket_moved_fields},
  template_row{"ticket_received", ticket_moved_fields},
  template_row{"ticket_kept", ticket_moved_fields},
  template_row{"ticket_withdrawn", ticket_moved_fields},
  template_row{"ticket_cancelled", ticket_cancelled_fields},
  template_row{"challenge_link", challenge_link_fields},
};

struct unfit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bidirectional control characters, which may be left open and then affect the text around them.
bool turns_direction(gunichar c) { return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069); }

bool is_break(gunichar c) {
  const auto type = g_unichar_type(c);
  return g_unichar_isspace(c) || type == G_UNICODE_CONTROL || type == G_UNICODE_LINE_SEPARATOR
         || type == G_UNICODE_PARAGRAPH_SEPARATOR;
}

/// Free text as one line of valid UTF-8: line breaks become single spaces, long text is truncated.
std::string one_line(std::string_view given) {
  auto* valid = g_utf8_make_valid(given.data(), static_cast<gssize>(given.size()));
  std::string out;
  std::size_t characters = 0;
  bool gap = false;
  for (const char* p = valid; *p != '\0'; p = g_utf8_next_char(p)) {
    const auto c = g_utf8_get_char(p);
    if (turns_direction(c)) continue;
    if (is_break(c)) {
      gap = !out.empty();
      continue;
    }
    if (++characters > template_text_characters_max) {
      out += "…";
      break;
    }
    if (gap) out += ' ';
    gap = false;
    out.append(p, static_cast<std::size_t>(g_utf8_next_char(p) - p));
  }
  g_free(valid);
  return out;
}

std::string cut(std::string subject) {
  if (subject.size() <= template_subject_bytes_max) return subject;
  auto size = template_subject_bytes_max;
  while (size > 0 && (static_cast<unsigned char>(subject[size]) & 0xc0) == 0x80) --size;
  return subject.substr(0, size) + "…";
}

/// Reduces runs of empty lines, left by optional parts, to one, and removes them at the end.
std::string tidy(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '\n' || !(out.empty() || out.ends_with("\n\n"))) out += c;
  while (out.ends_with('\n')) out.pop_back();
  return out + '\n';
}

std::string_view text_in(const json::value& value, std::string_view name) {
  const auto* found = value.if_string();
  if (found == nullptr) throw unfit{std::string{name} + " is not text"};
  return {found->data(), found->size()};
}

std::int64_t number_in(const json::value& value, std::string_view name) {
  const auto* found = value.if_int64();
  if (found != nullptr) return *found;
  const auto* large = value.if_uint64();
  if (large == nullptr || *large > static_cast<std::uint64_t>(INT64_MAX))
    throw unfit{std::string{name} + " is not an integer"};
  return static_cast<std::int64_t>(*large);
}

bool is_link(std::string_view url) {
  const bool is_web = url.starts_with("https://") || url.starts_with("http://");
  const bool is_plain = std::all_of(
    url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '<' && c != '>'; });
  return is_web && is_plain;
}

/// Year 0001 to 9999: the printable range.
timestamp time_in(const json::value& value, std::string_view name) {
  constexpr std::int64_t year_1 = -62'135'596'800'000, year_10000 = 253'402'300'800'000;
  const auto ms = number_in(value, name);
  if (ms < year_1 || ms >= year_10000) throw unfit{std::string{name} + " is not a time in Unix milliseconds"};
  return from_unix_ms(ms);
}

std::string currency_in(const json::object& data) {
  const auto* found = data.if_contains("currency");
  const auto text = found == nullptr ? std::string_view{} : text_in(*found, "currency");
  if (text.size() != 3 || !std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    throw unfit{"currency is not an ISO 4217 code"};
  return std::string{text};
}

/// Puts one data object into a dictionary. `prefix` separates the fields of an item from those of the mail.
class filler {
public:
  filler(ctemplate::TemplateDictionary& into, const json::object& whole, language in) :
      into_(into), whole_(whole), in_(in) {}

  void fill(std::span<const field> fields, const json::object& data) {
    for (const auto& f : fields) {
      const auto* value = data.if_contains(f.name);
      if (value != nullptr && !value->is_null())
        put(f, ascii_upper(f.name), *value);
      else if (f.presence == need::required)
        throw unfit{std::string{f.name} + " is missing"};
    }
  }

private:
  void put(const field& f, const std::string& name, const json::value& value) {
    switch (f.type) {
      case kind::text: return put_text(name, one_line(text_in(value, f.name)));
      case kind::link: return put_link(f, name, value);
      case kind::time: return put_text(name, venue_time(time_in(value, f.name)));
      case kind::count: return put_count(name, number_in(value, f.name));
      case kind::money: return put_money(f, name, number_in(value, f.name));
      case kind::flag: return put_flag(name, value, f.name);
      case kind::items: return put_list(value, f.name, item_fields);
      case kind::answers: return put_list(value, f.name, answer_fields);
      case kind::reason: return put_text(name, reason_text(text_in(value, f.name)));
      case kind::seats: return put_text(name, one_line(seats_text(value, f.name)));
    }
  }

  void put_text(const std::string& name, const std::string& value) {
    into_.SetValue(name, value);
    if (!value.empty()) into_.ShowSection("HAS_" + name);
  }

  /// An optional link that is none is left out: the rest of the mail is worth sending.
  void put_link(const field& f, const std::string& name, const json::value& value) {
    const auto url = text_in(value, f.name);
    if (is_link(url)) return put_text(name, std::string{url});
    if (f.presence == need::required) throw unfit{std::string{f.name} + " is not an http(s) url"};
  }

  /// On the clocks of the venue, else in UTC.
  [[nodiscard]] std::string venue_time(timestamp when) const {
    const auto* zone = whole_.if_contains("time_zone");
    return time_text(when, zone ? text_in(*zone, "time_zone") : std::string_view{}, tag_of(in_));
  }

  [[nodiscard]] std::string reason_text(std::string_view code) const {
    const auto key = "reason_" + std::string{code};
    if (!has_text(key) && code.find(' ') != code.npos)
      return one_line(code); // older programs stored sentences
    return std::string{translated(in_, has_text(key) ? key : "reason_other")};
  }

  /// "Stalls, row A, seat 3; Stalls, row A, seat 4".
  [[nodiscard]] std::string seats_text(const json::value& value, std::string_view name) const {
    const auto* list = value.if_array();
    if (list == nullptr) throw unfit{std::string{name} + " is not a list"};
    std::string out;
    for (const auto& each : *list) {
      const auto* place = each.if_object();
      if (place == nullptr) throw unfit{std::string{name} + " holds something that is no object"};
      const auto part = [place](const char* key) {
        const auto* found = place->if_contains(key);
        return found == nullptr ? std::string_view{} : text_in(*found, key);
      };
      const auto key = part("row").empty()       ? "seat_place_table"
                       : part("section").empty() ? "seat_place_row"
                                                 : "seat_place";
      if (!out.empty()) out += "; ";
      const auto where = replaced(translated(in_, key), "{", "}", [&](std::string_view what) {
        return std::string{part(std::string{what}.c_str())};
      });
      out += place->contains("obstructed") ? replaced(translated(in_, "seat_place_obstructed"), "{", "}",
                                                      [&](std::string_view) { return where; })
                                           : where;
    }
    return out;
  }

  void put_count(const std::string& name, std::int64_t value) {
    into_.SetValue(name, std::to_string(value));
    into_.ShowSection(name + (value == 1 ? "_ONE" : "_MANY"));
  }

  /// An optional amount of zero is left out.
  void put_money(const field& f, const std::string& name, std::int64_t value) {
    if (value != 0 || f.presence == need::required) put_text(name, money_text(value, currency_in(whole_)));
  }

  void put_flag(const std::string& name, const json::value& value, std::string_view plain_name) {
    const auto* set = value.if_bool();
    if (set == nullptr) throw unfit{std::string{plain_name} + " is not true or false"};
    into_.ShowSection(*set ? name : "NOT_" + name);
  }

  void put_list(const json::value& value, std::string_view name, std::span<const field> fields) {
    const auto* list = value.if_array();
    if (list == nullptr) throw unfit{std::string{name} + " is not a list"};
    for (const auto& item : *list) {
      const auto* data = item.if_object();
      if (data == nullptr) throw unfit{std::string{name} + " holds something that is no object"};
      auto* section = into_.AddSectionDictionary(ascii_upper(name));
      filler{*section, whole_, in_}.fill(fields, *data);
      // A section inherits outer names, so an item's name must not be called NAME.
      if (const auto* own = data->if_contains("name"))
        section->SetValue("ITEM_NAME", one_line(text_in(*own, "name")));
    }
    if (!list->empty()) into_.ShowSection("HAS_" + ascii_upper(name));
  }

  ctemplate::TemplateDictionary& into_;
  const json::object& whole_;
  language in_;
};

std::string_view file_text(const std::string& name) {
  const auto files = mail_template_files();
  const auto found = std::ranges::find(files, name, &mail_template_file::name);
  if (found == files.end()) throw std::logic_error{"there is no file " + name};
  return found->text;
}

/// The template with its [[x]] replaced: a text, or with > a part of the same kind.
std::string in_language(std::string_view raw, language in, const std::string& kind) {
  return replaced(raw, "[[", "]]", [&](std::string_view what) {
    if (what[0] == '>') return in_language(file_text("_" + std::string{what.substr(1)} + kind), in, kind);
    const std::string said{translated(in, what)};
    return replaced(kind == ".html" ? escaped_for_html(said) : said, "{", "}",
                    [](std::string_view name) { return "{{" + ascii_upper(name) + "}}"; });
  });
}

std::string key_of(language in, std::string_view name) {
  return std::string{tag_of(in)}.append("/").append(name);
}

/// All templates, parsed once. Immutable afterwards and thread-safe.
class template_store {
public:
  template_store() {
    for (const auto& file : mail_template_files()) {
      if (file.name.starts_with('_') || file.name.ends_with(".json")) continue;
      const std::string kind{file.name.substr(file.name.rfind('.'))};
      for (const auto in : all_languages) {
        const auto text =
          std::string{kind == ".html" ? escape_by_context : ""} + in_language(file.text, in, kind);
        if (!cache_.StringToTemplateCache(key_of(in, file.name), text.data(), text.size(),
                                          ctemplate::DO_NOT_STRIP))
          throw std::logic_error{"a mail template does not parse: " + key_of(in, file.name)};
      }
    }
    cache_.Freeze();
  }

  [[nodiscard]] std::string expand(const std::string& name, const ctemplate::TemplateDictionary& data) const {
    std::string out;
    if (!cache_.ExpandNoLoad(name, ctemplate::DO_NOT_STRIP, &data, nullptr, &out))
      throw unfit{"the template " + name + " cannot be expanded"};
    return out;
  }

private:
  ctemplate::TemplateCache cache_;
};

const template_store& store() {
  static const template_store all;
  return all;
}

const template_row& row_of(std::string_view key) {
  const auto* found =
    std::find_if(templates.begin(), templates.end(), [&](const auto& t) { return t.key == key; });
  if (found == templates.end()) throw unfit{"there is no template " + one_line(key)};
  return *found;
}

/// Address of the event's picture; empty: the mail shows none.
std::string picture_of(const json::object& data, const mail_style& style) {
  const auto* id = data.if_contains("picture");
  if (id == nullptr || style.pictures_url.empty()) return {};
  auto url = style.pictures_url + std::string{text_in(*id, "picture")} + "-medium";
  return is_link(url) ? url : std::string{};
}

void set_look(ctemplate::TemplateDictionary& page, language in, const mail_style& style) {
  const std::string colour{is_colour(style.colour) ? style.colour : plain_colour};
  page.SetValue("END", is_right_to_left(in) ? "left" : "right");
  page.SetValue("COLOUR", colour);
  page.SetValue("INK", std::string{ink_on(colour)});
}

using filling = std::function<void(ctemplate::TemplateDictionary&)>;

std::string page_of(language in, const std::string& subject, std::string_view key, const mail_style& style,
                    const json::object& data, const filling& fill) {
  ctemplate::TemplateDictionary page{"layout"};
  page.SetValue("LANGUAGE", std::string{tag_of(in)});
  page.SetValue("DIRECTION", is_right_to_left(in) ? "rtl" : "ltr");
  page.SetValue("SUBJECT", subject);
  set_look(page, in, style);
  if (!style.logo_url.empty()) page.SetValueAndShowSection("LOGO", style.logo_url, "HAS_LOGO");
  if (!style.name.empty()) page.SetValueAndShowSection("BRAND", one_line(style.name), "HAS_BRAND");
  if (const auto picture = picture_of(data, style); !picture.empty()) {
    page.SetValueAndShowSection("PICTURE", picture, "HAS_PICTURE");
    const auto* name = data.if_contains("event_name");
    page.SetValue("PICTURE_OF", name == nullptr ? std::string{} : one_line(text_in(*name, "event_name")));
  }
  auto* inner = page.AddIncludeDictionary("CONTENT");
  inner->SetFilename(key_of(in, key) + ".html");
  set_look(*inner, in, style);
  fill(*inner);
  return store().expand(key_of(in, "layout.html"), page);
}

mail_content content_of(std::string_view key, language in, const json::object& data,
                        const mail_style& style) {
  const auto& row = row_of(key);
  const auto name = key_of(in, key);
  const auto fill = [&](ctemplate::TemplateDictionary& dictionary) {
    filler f{dictionary, data, in};
    f.fill(every_fields, data);
    f.fill(facts_fields, data);
    f.fill(row.fields, data);
  };
  ctemplate::TemplateDictionary plain{name};
  fill(plain);
  mail_content out;
  out.subject = cut(one_line(store().expand(name + ".subject", plain)));
  out.text = tidy(store().expand(name + ".text", plain));
  if (!style.name.empty()) out.text += "\n" + one_line(style.name) + "\n";
  out.html = page_of(in, out.subject, key, style, data, fill);
  return out;
}

} // namespace

std::variant<mail_content, template_problem> render(std::string_view template_key, std::string_view tag,
                                                    const json::object& data, const mail_style& style) {
  try {
    return content_of(template_key, language_of(tag).value_or(language::en), data, style);
  } catch (const unfit& e) { return template_problem{e.what()}; }
}

std::vector<std::string_view> mail_template_keys() {
  std::vector<std::string_view> keys;
  for (const auto& t : templates) keys.push_back(t.key);
  return keys;
}

} // namespace fq
