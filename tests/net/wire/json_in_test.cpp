// SPDX-License-Identifier: Apache-2.0
// Strict request bodies: refused input with its codes; every wrong field is named.
#define CAF_SUITE routes_json_in
#include "caf/test/unit_test.hpp"

#include "net/wire/json_in.hpp"
#include "tests/net/api/requests.hpp"

namespace json_in_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct wish {
  maybe<std::string> name;
  maybe<std::int64_t> price;
  maybe<std::uint32_t> limit, factor;
  maybe<timestamp> at;
  maybe<bool> flag;
  maybe<uuid> id;
};

std::optional<response> read(const std::string& body, wish& w) {
  const auto made = json_post(body);
  return read_json(made.rq, body_need::required, [&w](object_reader& o) {
    w.name = o.text("name", {1, 10});
    w.price = o.integer("price", money_range);
    w.limit = o.number_or_null("limit", {1, 100});
    w.factor = o.hundredths("factor", {100, 1000});
    w.at = o.time("at");
    w.flag = o.flag("flag");
    w.id = o.id("id");
    o.objects("list", {1, 2}, [](object_reader& inner) { inner.integer("n", {0, 5}); });
  });
}

/// The problem code of a body, or "" if it is accepted.
std::string verdict(const std::string& body) {
  wish w;
  const auto no = read(body, w);
  return no ? made::code_of(*no) : "";
}

/// Field and code of the first error.
std::string first_error(const std::string& body) {
  wish w;
  const auto no = read(body, w);
  if (!no) return "";
  const auto b = body_of(*no);
  const auto& e = b.at("errors").get_array().at(0).get_object();
  return std::string{e.at("field").get_string()} + " " + std::string{e.at("code").get_string()};
}

std::string nested(int depth) { return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}"; }

} // namespace

CAF_TEST(a good body gives its values) {
  wish w;
  const auto no =
    read(R"({"name":"Ada","price":500000,"limit":null,"factor":1.25,"at":"2026-11-21T03:43:18.123+01:00",)"
         R"("flag":true,"id":"0197F0C2-6d1a-7000-8000-000400000001","list":[{"n":5}]})",
         w);
  CAF_CHECK(!no);
  CAF_CHECK_EQUAL(w.name.value, "Ada");
  CAF_CHECK_EQUAL(w.price.value, 500000);
  CAF_CHECK(w.limit.given && w.limit.value == 0);
  CAF_CHECK_EQUAL(w.factor.value, 125u);
  CAF_CHECK_EQUAL(unix_ms(w.at.value), 1795228998123);
  CAF_CHECK(w.flag.value);
  CAF_CHECK_EQUAL(to_string(w.id.value), "0197f0c2-6d1a-7000-8000-000400000001");
}

CAF_TEST(what is not JSON is invalid_json) {
  for (const auto* body :
       {"{", "{\"a\":1,}", "{'a':1}", "{\"a\":01}", "{\"a\":NaN}", "{\"a\":+1}", "{} {}", "{}x", "// c\n{}",
        "nul", "{\"a\":\"\x01\"}", "\xef\xbb\xbf{}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\x41\"}"})
    CAF_CHECK_EQUAL(verdict(body), "invalid_json");
}

CAF_TEST(text that is not UTF - 8 is invalid_json) {
  for (const auto* bytes : {"\xff", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    CAF_CHECK_EQUAL(verdict("{\"name\":\"" + std::string{bytes} + "\"}"), "invalid_json");
}

CAF_TEST(nesting is allowed to sixteen levels) {
  CAF_CHECK_EQUAL(verdict(nested(15)), "unknown_field"); // parsed, then refused for its name
  CAF_CHECK_EQUAL(verdict(nested(16)), "invalid_json");
  CAF_CHECK_EQUAL(verdict(nested(7000)), "invalid_json");
}

CAF_TEST(objects and arrays and fractions are bounded together) {
  const auto with = [](std::string_view element, std::size_t count) {
    std::string body = "{\"a\":[";
    for (std::size_t i = 0; i < count; ++i) body.append(element).append(",");
    return verdict(body + "1]}");
  };
  constexpr auto left = json_costly_values_max - 2;
  for (const auto* costly : {"{}", "[]", "0.5", "1e300"}) {
    CAF_CHECK_EQUAL(with(costly, left), "unknown_field"); // parsed, then refused for its name
    CAF_CHECK_EQUAL(with(costly, left + 1), "invalid_json");
  }
  CAF_CHECK_EQUAL(with("1", 1000), "unknown_field");
}

CAF_TEST(unknown and repeated members are refused at every level) {
  CAF_CHECK_EQUAL(verdict(R"({"name":"x","nme":1})"), "unknown_field");
  CAF_CHECK_EQUAL(first_error(R"({"list":[{"n":1},{"m":1}]})"), "list[1].m unknown_field");
  CAF_CHECK_EQUAL(verdict(R"({"name":"x","name":"y"})"), "duplicate_field");
  CAF_CHECK_EQUAL(verdict(R"({"list":[{"n":1,"n":1}]})"), "duplicate_field");
  CAF_CHECK_EQUAL(verdict(R"({"na\u006de":"x","name":"y"})"), "duplicate_field");
}

CAF_TEST(wrong types and ranges name the field) {
  CAF_CHECK_EQUAL(first_error(R"({"price":10.5})"), "price wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"price":10.0})"), "price wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"price":1e3})"), "price wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"price":"10"})"), "price wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"price":null})"), "price wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"price":-1})"), "price out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"price":18446744073709551615})"), "price out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"price":1e400})"), "price wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"limit":0})"), "limit out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"name":""})"), "name out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"name":"12345678901"})"), "name out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"name":"a\u0000b"})"), "name invalid");
  CAF_CHECK_EQUAL(first_error(R"({"name":"a\nb"})"), "name invalid");
  CAF_CHECK_EQUAL(first_error(R"({"factor":1.005})"), "factor invalid");
  CAF_CHECK_EQUAL(first_error(R"({"factor":0.99})"), "factor out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"factor":1e300})"), "factor out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"at":"2026-11-21"})"), "at wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"at":"1970-01-01T00:00:00Z"})"), "at out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"flag":1})"), "flag wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"id":"x"})"), "id wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"id":"00000000-0000-0000-0000-000000000000"})"), "id wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"list":[]})"), "list out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"list":[{},{},{}]})"), "list out_of_range");
  CAF_CHECK_EQUAL(first_error(R"({"list":{}})"), "list wrong_type");
  CAF_CHECK_EQUAL(first_error(R"({"list":[1]})"), "list[0] wrong_type");
  CAF_CHECK_EQUAL(first_error(R"([])"), " wrong_type");
}

CAF_TEST(all wrong fields are reported but a bounded number) {
  wish w;
  auto no = read(R"({"price":"x","flag":"y","zzz":1})", w);
  CAF_REQUIRE(no);
  CAF_CHECK_EQUAL(body_of(*no).at("errors").get_array().size(), 3u);
  std::string many = "{\"f\":1";
  for (std::size_t i = 1; i < json_members_max; ++i) many += ",\"f" + std::to_string(i) + "\":1";
  no = read(many + "}", w);
  CAF_REQUIRE(no);
  CAF_CHECK_EQUAL(body_of(*no).at("errors").get_array().size(), json_errors_max);
  CAF_CHECK_EQUAL(verdict(many + ",\"one_more\":1}"), "invalid_json");
}

CAF_TEST(bodies and content types) {
  const auto with = [](std::string body, text_fields fields) {
    const made_request made{method::post, "/x", std::move(body), std::move(fields)};
    const auto no = read_json(made.rq, body_need::required, [](object_reader&) {});
    return no ? std::to_string(no->status) + " " + made::code_of(*no) : std::string{"taken"};
  };
  CAF_CHECK_EQUAL(with("", {}), "400 missing_body");
  CAF_CHECK_EQUAL(with("  \n", {{"Content-Type", "application/json"}}), "400 missing_body");
  CAF_CHECK_EQUAL(with("{}", {}), "415 unsupported_media_type");
  CAF_CHECK_EQUAL(with("{}", {{"Content-Type", "text/plain"}}), "415 unsupported_media_type");
  CAF_CHECK_EQUAL(with("{}", {{"Content-Type", "application/jsonx"}}), "415 unsupported_media_type");
  CAF_CHECK_EQUAL(with("{}", {{"Content-Type", "application/json"}}), "taken");
  CAF_CHECK_EQUAL(with("{}", {{"content-type", "Application/JSON ; charset=utf-8"}}), "taken");
}

CAF_TEST(a route without a body takes nothing or an empty object) {
  const auto with = [](std::string body) {
    const auto made = json_post(std::move(body));
    const auto no = expect_no_body(made.rq);
    return no ? made::code_of(*no) : std::string{};
  };
  CAF_CHECK_EQUAL(with(""), "");
  CAF_CHECK_EQUAL(with("{}"), "");
  CAF_CHECK_EQUAL(with(" { } "), "");
  CAF_CHECK_EQUAL(with(R"({"a":1})"), "unknown_field");
  CAF_CHECK_EQUAL(with("[]"), "invalid_field");
  CAF_CHECK_EQUAL(with("x"), "invalid_json");
}

} // namespace json_in_test
