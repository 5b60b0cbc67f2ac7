// SPDX-License-Identifier: Apache-2.0
#include "net/wire/settings_codec.hpp"

#include "net/http/json_text.hpp"
#include "net/wire/challenge_codec.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/question_codec.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fq::net {
namespace {

/// The name of a setting at this API within the object `group`; null: it is not there.
const char* name_in(const setting_rule& rule, settings_api api, std::string_view group) {
  if (api == settings_api::queues) return rule.queue_name;
  return rule.name && rule.group == group ? rule.name : nullptr;
}

template <class T, class... Types>
constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
/// Settings of these types are one of a few words.
template <class T>
constexpr bool is_word = is_one_of<T, admission_policy, challenge_kind, draw_kind, beacon_kind>;

// -- in

template <class T>
maybe<T> read_value(object_reader& body, const char* name, const setting_rule& rule) {
  const range limits{rule.low, rule.high};
  if constexpr (std::is_same_v<T, std::string>) {
    if (rule.form == json_form::lines) return body.lines_or_null(name, limits);
    return rule.form == json_form::null_is_empty ? body.text_or_null(name, limits) : body.text(name, limits);
  } else if constexpr (std::is_same_v<T, timestamp>)
    return rule.form == json_form::null_is_never ? body.time_or_null(name) : body.time(name);
  else if constexpr (std::is_same_v<T, bool>)
    return body.flag(name);
  else if constexpr (std::is_same_v<T, admission_policy>)
    return body.policy(name);
  else if constexpr (std::is_same_v<T, challenge_kind>)
    return body.challenge(name);
  else if constexpr (std::is_same_v<T, draw_kind> || std::is_same_v<T, beacon_kind>) {
    constexpr auto count = std::is_same_v<T, draw_kind> ? 2 : 3;
    std::array<std::string_view, count> words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = name_of(static_cast<T>(i));
    const auto read = body.word(name, words);
    return {read.given, static_cast<T>(read.value)};
  } else if constexpr (std::is_same_v<T, milliseconds>)
    return rule.form == json_form::in_seconds ? body.duration<seconds>(name, limits)
                                              : body.duration<milliseconds>(name, limits);
  else if constexpr (std::is_integral_v<T>) {
    if (rule.form == json_form::null_is_zero) return body.integer_or_null<T>(name, limits, T{0});
    if (rule.form == json_form::null_is_minus_one)
      return body.integer_or_null<T>(name, limits, static_cast<T>(-1));
    if constexpr (std::is_same_v<T, std::int32_t>)
      if (rule.form == json_form::degrees) return body.degrees_or_null(name, limits);
    if (rule.form != json_form::hundredths) return body.number<T>(name, limits);
    const auto read = body.hundredths(name, limits);
    return {read.given, static_cast<T>(read.value)};
  } else
    return {}; // no setting
}

bool is_read(json_form form) { return form != json_form::shown && form != json_form::shown_alone; }

template <class Row>
void read_group(object_reader& body, patch_of<Row>& patch, settings_api api, std::string_view group) {
  std::uint64_t bit = 1;
  each_field<Row>(
    [&]<class T>(const auto& field, T& value) {
      const auto* name = name_in(field.setting, api, group);
      if (name && is_read(field.setting.form)) {
        auto read = read_value<T>(body, name, field.setting);
        if (read.given) value = std::move(read.value);
        if (read.given) patch.given |= bit;
      }
      bit <<= 1;
    },
    patch.values);
}

/// The objects that contain settings.
std::vector<std::string_view> groups_of_events() {
  std::vector<std::string_view> groups;
  each_field<event_row>([&](const auto& field) {
    const std::string_view group = field.setting.group;
    if (!group.empty() && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  });
  return groups;
}

// -- out

void append_degrees(std::string& out, std::int64_t millionths) {
  if (millionths == no_coordinate) {
    out += "null";
    return;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%s%lld.%06lld", millionths < 0 ? "-" : "",
                static_cast<long long>(std::abs(millionths) / 1'000'000),
                static_cast<long long>(std::abs(millionths) % 1'000'000));
  out += text.data();
}

template <class T>
void append_value(std::string& out, const setting_rule& rule, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (value.empty() && rule.form != json_form::plain)
      out += "null";
    else
      append_text(out, value);
  } else if constexpr (std::is_same_v<T, std::vector<question>>)
    append_questions(out, value);
  else if constexpr (std::is_same_v<T, timestamp>)
    append_time(out, value);
  else if constexpr (std::is_same_v<T, bool>)
    out += value ? "true" : "false";
  else if constexpr (is_word<T>)
    append_text(out, name_of(value));
  else if constexpr (std::is_same_v<T, milliseconds>)
    append_integer(out, rule.form == json_form::in_seconds ? value.count() / 1000 : value.count());
  else if constexpr (std::is_integral_v<T>) {
    if (rule.form == json_form::hundredths)
      append_hundredths(out, static_cast<std::uint64_t>(value));
    else if (rule.form == json_form::degrees)
      append_degrees(out, value);
    else if ((rule.form == json_form::null_is_zero && value == T{0})
             || (rule.form == json_form::null_is_minus_one && value == static_cast<T>(-1)))
      out += "null";
    else
      append_integer(out, value);
  }
}

template <class Row>
void append_group(std::string& out, const Row& row, settings_api api, std::string_view group,
                  bool is_listed = false) {
  each_field<Row>(
    [&](const auto& field, const auto& value) {
      const auto* name = name_in(field.setting, api, group);
      if (!name || (is_listed && !fq::is_listed(field.setting.form))) return;
      if (out.back() != '{') out += ',';
      out += '"';
      out += name;
      out += "\":";
      append_value(out, field.setting, value);
    },
    row);
}

} // namespace

void read_settings(object_reader& body, event_patch& patch, settings_api api) {
  read_group<event_row>(body, patch, api, "");
  if (api == settings_api::queues) return;
  for (const auto group : groups_of_events())
    body.object(group, [&](object_reader& inner) { read_group<event_row>(inner, patch, api, group); });
}

void read_settings(object_reader& type, ticket_type_patch& patch) {
  read_group(type, patch, settings_api::events, "");
}

void append_settings(std::string& out, const event_row& event, settings_api api, bool is_listed) {
  append_group(out, event, api, "", is_listed);
  if (api == settings_api::queues) return;
  static const auto groups = groups_of_events();
  for (const auto group : groups) {
    out += ",\"";
    out += group;
    out += "\":{";
    append_group(out, event, api, group);
    out += '}';
  }
}

void append_settings(std::string& out, const ticket_type_row& type) {
  append_group(out, type, settings_api::events, "");
}

} // namespace fq::net
