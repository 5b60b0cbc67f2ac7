// SPDX-License-Identifier: Apache-2.0
#include "net/wire/challenge_codec.hpp"

#include "crypto/challenge_desk.hpp"
#include "net/http/json_text.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/limits.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>

namespace fq::net {
namespace {

std::string member_text(const boost::json::object& from, std::string_view name) {
  const auto* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

} // namespace

std::string_view name_of(challenge_kind kind) {
  switch (kind) {
    case challenge_kind::none: return "none";
    case challenge_kind::proof_of_work: return "proof_of_work";
    case challenge_kind::turnstile: return "turnstile";
    case challenge_kind::hcaptcha: return "hcaptcha";
  }
  return "";
}

std::optional<challenge_kind> parse_challenge_kind(std::string_view text) {
  using enum challenge_kind;
  for (const auto kind : {none, proof_of_work, turnstile, hcaptcha})
    if (name_of(kind) == text) return kind;
  return std::nullopt;
}

solved_challenge read_solved(std::string_view payload) {
  if (payload.empty() || payload.size() > challenge_bytes_max) return {};
  std::string text{payload.substr(0, payload.find('='))};
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  const auto bytes = from_base64url(text);
  if (!bytes) return {};
  boost::json::error_code error;
  const auto value = boost::json::parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, error);
  if (error || !value.is_object()) return {};
  const auto& object = value.get_object();
  const auto* number = object.if_contains("number");
  if (number == nullptr || !number->is_int64() || number->get_int64() < 0) return {};
  return {member_text(object, "salt"), static_cast<std::uint64_t>(number->get_int64()),
          member_text(object, "signature")};
}

std::string payload_of(const solved_challenge& solved) {
  std::string json = R"({"algorithm":"SHA-256","challenge":")" + puzzle_of(solved.salt, solved.number)
                     + R"(","number":)" + std::to_string(solved.number) + R"(,"salt":)";
  append_text(json, solved.salt);
  json += ",\"signature\":";
  append_text(json, solved.signature);
  return to_base64url(view_bytes(json + '}'));
}

void append_challenge(std::string& out, const challenge_reply& reply, const captcha_terms& captcha) {
  out += "{\"type\":";
  append_text(out, name_of(reply.kind));
  if (reply.kind == challenge_kind::turnstile || reply.kind == challenge_kind::hcaptcha) {
    out += ",\"site_key\":";
    append_text(out, captcha.site_key);
    out += ",\"action\":";
    append_text(out, captcha.action);
    out += ",\"bound_to\":";
    append_text(out, captcha.bound_to);
  }
  if (reply.kind == challenge_kind::proof_of_work) {
    const auto& opened = reply.opened;
    out += R"(,"algorithm":"SHA-256","challenge":)";
    append_text(out, opened.challenge);
    out += ",\"salt\":";
    append_text(out, opened.salt);
    out += ",\"signature\":";
    append_text(out, opened.signature);
    out += ",\"maxnumber\":";
    append_unsigned(out, opened.highest);
    out += ",\"expires_at\":";
    append_time(out, timestamp{seconds{opened.expires_at}});
  }
  out += '}';
}

} // namespace fq::net
