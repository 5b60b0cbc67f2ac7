// SPDX-License-Identifier: Apache-2.0
#include "net/wire/json_in.hpp"

#include "net/wire/challenge_codec.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_strict.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace fq::net {
namespace {

namespace json = boost::json;

struct parsed {
  std::optional<response> no;
  json::value root;
};

parsed parse(const request& rq) {
  json::basic_parser<strict_handler> parser{strict_options()};
  auto& handler = parser.handler();
  handler.stack.reset(json::make_shared_resource<json::monotonic_resource>()); // one piece, freed at once
  json::error_code failed;
  const auto used = parser.write_some(false, rq.body.data(), rq.body.size(), failed);
  if (failed || used != rq.body.size() || !parser.done())
    return {problem(fault::invalid_json, rq.request_id,
                    failed ? failed.message() : std::string{"text after the document"}),
            {}};
  if (handler.duplicate)
    return {problem(fault::duplicate_field, rq.request_id,
                    {{*handler.duplicate, "duplicate_field", "Given twice."}}),
            {}};
  return {std::nullopt, handler.stack.release()};
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
}

bool has_control_character(std::string_view text, bool with_lines) {
  return std::any_of(text.begin(), text.end(), [with_lines](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u < 0x20 || u == 0x7f) && !(with_lines && (c == '\n' || c == '\r' || c == '\t'));
  });
}

std::optional<std::int64_t> whole(const json::value& v) {
  if (v.is_int64()) return v.get_int64();
  if (v.is_uint64() && v.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return static_cast<std::int64_t>(v.get_uint64());
  return std::nullopt;
}

const timestamp earliest = *parse_rfc3339("2000-01-01T00:00:00Z");
const timestamp latest = *parse_rfc3339("2999-12-31T23:59:59.999Z");

std::string hundredths_text(std::int64_t value) {
  std::string out;
  append_hundredths(out, static_cast<std::uint64_t>(value));
  return out;
}

std::string degrees_text(std::int64_t millionths) { return std::to_string(millionths / 1'000'000); }

} // namespace

void json_errors::add(std::string field, std::string_view code, std::string detail) {
  unknown_ = unknown_ || code == code_of(fault::unknown_field);
  if (list_.size() < json_errors_max) list_.push_back({std::move(field), code, std::move(detail)});
}

std::string object_reader::full_name(std::string_view name) const {
  std::string out = path_;
  if (!out.empty()) out += '.';
  return out += name;
}

const json::value* object_reader::find(std::string_view name) {
  known_.push_back(name);
  return object_.if_contains(name);
}

void object_reader::wrong_type(std::string_view name, std::string_view expected) {
  errors_.add(full_name(name), "wrong_type", "Must be " + std::string{expected} + ".");
}

void object_reader::out_of_range(std::string_view name, range allowed, std::string_view unit) {
  errors_.add(full_name(name), "out_of_range",
              "Must be " + std::to_string(allowed.low) + " to " + std::to_string(allowed.high)
                + std::string{unit} + ".");
}

maybe<std::string> object_reader::text(std::string_view name, range size) {
  return text_of(name, size, false);
}

maybe<std::string> object_reader::text_or_null(std::string_view name, range size) {
  if (is_null(name)) return {true, {}};
  return text_of(name, size, false);
}

maybe<std::string> object_reader::lines_or_null(std::string_view name, range size) {
  if (is_null(name)) return {true, {}};
  return text_of(name, size, true);
}

maybe<std::string> object_reader::text_of(std::string_view name, range size, bool with_lines) {
  const auto* v = find(name);
  if (!v) return {};
  if (!v->is_string()) {
    wrong_type(name, "a string");
    return {};
  }
  const std::string_view value{v->get_string().data(), v->get_string().size()};
  const auto bytes = static_cast<std::int64_t>(value.size());
  if (bytes < size.low || bytes > size.high)
    out_of_range(name, size, " bytes long");
  else if (has_control_character(value, with_lines))
    errors_.add(full_name(name), "invalid", "Must not contain control characters.");
  else
    return {true, std::string{value}};
  return {};
}

maybe<std::int64_t> object_reader::integer(std::string_view name, range allowed) {
  const auto* v = find(name);
  if (!v) return {};
  const auto value = whole(*v);
  if (!value && !v->is_uint64())
    wrong_type(name, "an integer");
  else if (!value || *value < allowed.low || *value > allowed.high)
    out_of_range(name, allowed, "");
  else
    return {true, *value};
  return {};
}

bool object_reader::is_null(std::string_view name) {
  const auto* v = object_.if_contains(name);
  if (!v || !v->is_null()) return false;
  known_.push_back(name);
  return true;
}

maybe<std::uint32_t> object_reader::number_or_null(std::string_view name, range allowed) {
  return integer_or_null<std::uint32_t>(name, allowed, 0);
}

maybe<bool> object_reader::flag(std::string_view name) {
  const auto* v = find(name);
  if (v && !v->is_bool()) wrong_type(name, "true or false");
  return v && v->is_bool() ? maybe<bool>{true, v->get_bool()} : maybe<bool>{};
}

maybe<timestamp> object_reader::time(std::string_view name) {
  const auto* v = find(name);
  if (!v) return {};
  const auto value =
    v->is_string() ? parse_rfc3339({v->get_string().data(), v->get_string().size()}) : std::nullopt;
  if (!value)
    wrong_type(name, "an RFC 3339 time such as 2026-11-21T18:00:00Z");
  else if (*value < earliest || *value > latest)
    errors_.add(full_name(name), "out_of_range", "Must lie in the years 2000 to 2999.");
  else
    return {true, *value};
  return {};
}

maybe<std::int64_t> object_reader::decimal(std::string_view name, range allowed, double scale,
                                           std::string_view decimals, std::string (*shown)(std::int64_t)) {
  const auto* v = find(name);
  if (!v) return {};
  if (!v->is_number()) {
    wrong_type(name, "a number");
    return {};
  }
  const double scaled = v->to_number<double>() * scale;
  const double rounded = std::round(scaled);
  if (!(rounded >= static_cast<double>(allowed.low) && rounded <= static_cast<double>(allowed.high)))
    errors_.add(full_name(name), "out_of_range",
                "Must be " + shown(allowed.low) + " to " + shown(allowed.high) + ".");
  else if (std::abs(scaled - rounded) > 1e-6)
    errors_.add(full_name(name), "invalid", "Must have at most " + std::string{decimals} + " decimals.");
  else
    return {true, static_cast<std::int64_t>(rounded)};
  return {};
}

maybe<std::uint32_t> object_reader::hundredths(std::string_view name, range allowed) {
  const auto read = decimal(name, allowed, 100, "two", hundredths_text);
  return {read.given, static_cast<std::uint32_t>(read.value)};
}

maybe<std::int32_t> object_reader::degrees_or_null(std::string_view name, range allowed) {
  if (is_null(name)) return {true, no_coordinate};
  const range scaled{allowed.low * 1'000'000, allowed.high * 1'000'000};
  const auto read = decimal(name, scaled, 1e6, "six", degrees_text);
  return {read.given, static_cast<std::int32_t>(read.value)};
}

maybe<uuid> object_reader::id(std::string_view name) {
  const auto* v = find(name);
  if (!v) return {};
  const auto value =
    v->is_string() ? parse_uuid({v->get_string().data(), v->get_string().size()}) : std::nullopt;
  if (!value || value->is_nil()) {
    wrong_type(name, "a UUID");
    return {};
  }
  return {true, *value};
}

maybe<admission_policy> object_reader::policy(std::string_view name) {
  const auto* v = find(name);
  if (!v) return {};
  const auto value =
    v->is_string() ? parse_policy({v->get_string().data(), v->get_string().size()}) : std::nullopt;
  if (!value) {
    wrong_type(name, "one of batch, capacity, rate, open, operator");
    return {};
  }
  return {true, *value};
}

maybe<challenge_kind> object_reader::challenge(std::string_view name) {
  const auto* v = find(name);
  if (!v) return {};
  const auto value =
    v->is_string() ? parse_challenge_kind({v->get_string().data(), v->get_string().size()}) : std::nullopt;
  if (!value) {
    wrong_type(name, "one of none, proof_of_work, turnstile, hcaptcha");
    return {};
  }
  return {true, *value};
}

maybe<std::size_t> object_reader::word(std::string_view name, std::span<const std::string_view> words) {
  const auto* v = find(name);
  if (!v) return {};
  for (std::size_t i = 0; v->is_string() && i < words.size(); ++i)
    if (std::string_view{v->get_string().data(), v->get_string().size()} == words[i]) return {true, i};
  std::string all;
  for (const auto word : words) all.append(all.empty() ? "" : ", ").append(word);
  wrong_type(name, "one of " + all);
  return {};
}

const boost::json::array* object_reader::array(std::string_view name, range count) {
  const auto* v = find(name);
  if (!v) return nullptr;
  const auto* list = v->if_array();
  if (list && static_cast<std::int64_t>(list->size()) >= count.low
      && static_cast<std::int64_t>(list->size()) <= count.high)
    return list;
  reject(name, "Must be an array of " + std::to_string(count.low) + " to " + std::to_string(count.high)
                 + " elements.");
  return nullptr;
}

std::vector<uuid> object_reader::ids(std::string_view name, range count) {
  std::vector<uuid> result;
  const auto* list = array(name, count);
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const auto* text = (*list)[i].if_string();
    const auto id = text ? parse_uuid({text->data(), text->size()}) : std::nullopt;
    if (!id || id->is_nil())
      reject(name, "Must have UUIDs only.");
    else
      result.push_back(*id);
  }
  return result;
}

std::vector<std::string> object_reader::texts(std::string_view name, range count, range size) {
  std::vector<std::string> result;
  const auto* list = array(name, count);
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const auto* text = (*list)[i].if_string();
    const auto bytes = text ? static_cast<std::int64_t>(text->size()) : -1;
    if (bytes < size.low || bytes > size.high)
      reject(name, "Must have texts of " + std::to_string(size.low) + " to " + std::to_string(size.high)
                     + " bytes only.");
    else
      result.emplace_back(text->data(), text->size());
  }
  return result;
}

void object_reader::object(std::string_view name, const std::function<void(object_reader&)>& read) {
  const auto* v = find(name);
  if (!v) return;
  if (!v->is_object()) return wrong_type(name, "an object");
  object_reader inner{v->get_object(), full_name(name), errors_};
  read(inner);
  inner.finish();
}

bool object_reader::objects(std::string_view name, range count,
                            const std::function<void(object_reader&)>& read) {
  const auto* v = find(name);
  if (!v) return false;
  if (!v->is_array()) {
    wrong_type(name, "an array");
    return true;
  }
  const auto& array = v->get_array();
  const auto size = static_cast<std::int64_t>(array.size());
  if (size < count.low || size > count.high) {
    out_of_range(name, count, " entries long");
    return true;
  }
  for (std::size_t i = 0; i < array.size(); ++i) {
    const auto element = std::string{name} + "[" + std::to_string(i) + "]";
    if (!array[i].is_object()) {
      wrong_type(element, "an object");
      continue;
    }
    object_reader inner{array[i].get_object(), full_name(element), errors_};
    read(inner);
    inner.finish();
  }
  return true;
}

void object_reader::require(std::string_view name) {
  if (!has(name)) errors_.add(full_name(name), "required", "Must be given.");
}

void object_reader::finish() {
  for (const auto& member : object_) {
    const std::string_view name{member.key().data(), member.key().size()};
    if (std::find(known_.begin(), known_.end(), name) == known_.end())
      errors_.add(full_name(name), code_of(fault::unknown_field), "Not known here.");
  }
}

bool is_json(std::string_view content_type) {
  auto type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return same_text(type, "application/json");
}

std::optional<response> read_json(const request& rq, body_need need,
                                  const std::function<void(object_reader&)>& read) {
  if (rq.body.empty())
    return need == body_need::optional ? std::nullopt
                                       : std::optional{problem(fault::missing_body, rq.request_id)};
  if (!is_json(rq.field("Content-Type")))
    return problem(fault::unsupported_media_type, rq.request_id, "This route takes application/json.");
  if (const auto coding = rq.field("Content-Encoding"); !coding.empty() && !same_text(coding, "identity"))
    return problem(fault::unsupported_media_type, rq.request_id,
                   "Bodies are taken without a content coding.");
  if (is_blank(rq.body)) return problem(fault::missing_body, rq.request_id);
  auto document = parse(rq);
  if (document.no) return std::move(document.no);
  json_errors errors;
  if (!document.root.is_object()) {
    errors.add("", "wrong_type", "The body must be an object.");
    return problem(errors.worst(), rq.request_id, errors.list());
  }
  object_reader top{document.root.get_object(), {}, errors};
  read(top);
  top.finish();
  if (errors.any()) return problem(errors.worst(), rq.request_id, errors.list());
  return std::nullopt;
}

namespace {
bool is_email_character(char c) {
  return c > 0x20 && c < 0x7f && std::string_view{"\"(),:;<>@[\\]"}.find(c) == std::string_view::npos;
}
} // namespace

bool is_email(std::string_view text) {
  const auto at = text.find('@');
  if (text.size() < static_cast<std::size_t>(email_size.low)
      || text.size() > static_cast<std::size_t>(email_size.high) || at == 0 || at > 64
      || at == std::string_view::npos)
    return false;
  const auto host = text.substr(at + 1);
  const auto plain = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), is_email_character);
  };
  return plain(text.substr(0, at)) && !host.empty() && plain(host) && host.front() != '.'
         && host.back() != '.' && host.find("..") == std::string_view::npos;
}

std::string lower_email(std::string_view typed) {
  std::string text{typed};
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return text;
}

std::string read_email(object_reader& body, std::string_view name) {
  body.require(name);
  auto email = body.text(name, email_size);
  if (email.given && !is_email(email.value)) body.reject(name, "Must be an e-mail address.");
  return lower_email(email.value);
}

std::string read_reason(object_reader& body) { return body.text("reason", {1, 500}).value; }

std::optional<response> read_note(const request& rq, audit_note& note) {
  return read_json(rq, body_need::optional, [&](object_reader& body) { note.reason = read_reason(body); });
}

std::optional<response> expect_no_body(const request& rq) {
  if (rq.body.empty()) [[likely]]
    return std::nullopt;
  return read_json(rq, body_need::optional, [](object_reader&) {});
}

} // namespace fq::net
