// SPDX-License-Identifier: Apache-2.0
// Route lookup.
#define CAF_SUITE net_router
#include "caf/test/unit_test.hpp"

#include "net/http/router.hpp"

#include <stdexcept>

namespace router_test {

using namespace fq::net;

namespace {

awaitable<response> nothing(context&, const request&, const path_parameters&) { co_return response{}; }

constexpr route table[] = {
  {method::get, "/events", nothing},          {method::post, "/events", nothing},
  {method::get, "/events/{id}", nothing},     {method::get, "/events/mine", nothing},
  {method::post, "/a/{x}/b/{y}", nothing},    {method::get, "/.well-known/jwks.json", nothing},
  {method::del, "/events/{id}", nothing},     {method::get, "/", nothing},
  {method::get, "/events/{id}.pdf", nothing},
};

bool refuses(std::span<const route> routes) {
  try {
    const router made{routes};
    return false;
  } catch (const std::invalid_argument&) { return true; }
}

} // namespace

CAF_TEST(a path and a method lead to their route) {
  const router routes{table};
  CAF_CHECK_EQUAL(routes.match(method::get, "/events").found, &table[0]);
  CAF_CHECK_EQUAL(routes.match(method::post, "/events").found, &table[1]);
  CAF_CHECK_EQUAL(routes.match(method::get, "/").found, &table[7]);
  CAF_CHECK_EQUAL(routes.match(method::get, "/.well-known/jwks.json").found, &table[5]);
}

CAF_TEST(the router tells literals with the same beginning or end apart) {
  static constexpr route alike[] = {
    {method::get, "/events/picture-a", nothing}, {method::post, "/events/picture-b", nothing},
    {method::put, "/events/a-picture", nothing}, {method::del, "/events/b-picture", nothing},
    {method::get, "/events/picture", nothing},
  };
  const router routes{alike};
  for (const auto& r : alike) {
    CAF_MESSAGE(r.pattern);
    CAF_CHECK_EQUAL(routes.match(r.verb, r.pattern).found, &r);
    const std::string only{name_of(r.verb)};
    CAF_CHECK_EQUAL(routes.methods_of(r.pattern), only == "GET" ? "GET, HEAD" : only);
  }
  for (const char* path : {"/events/picture-c", "/events/c-picture", "/events/picture-", "/events/pictures"})
    CAF_CHECK(routes.match(method::get, path).found == nullptr);
}

CAF_TEST(parameters come in order) {
  const router routes{table};
  const auto m = routes.match(method::post, "/a/1/b/22");
  CAF_REQUIRE(m.found == &table[4]);
  CAF_CHECK_EQUAL(m.parameters.count, 2u);
  CAF_CHECK_EQUAL(std::string{m.parameters.values[0]}, "1");
  CAF_CHECK_EQUAL(std::string{m.parameters.values[1]}, "22");
}

CAF_TEST(a literal path wins over a parameter) {
  const router routes{table};
  CAF_CHECK_EQUAL(routes.match(method::get, "/events/mine").found, &table[3]);
  CAF_CHECK_EQUAL(routes.match(method::get, "/events/other").found, &table[2]);
}

CAF_TEST(an ending behind a parameter wins over the parameter alone) {
  const router routes{table};
  const auto m = routes.match(method::get, "/events/7.pdf");
  CAF_CHECK_EQUAL(m.found, &table[8]);
  CAF_CHECK_EQUAL(std::string{m.parameters.values[0]}, "7");
  CAF_CHECK_EQUAL(routes.match(method::get, "/events/7.PDF").found, &table[2]);
  CAF_CHECK_EQUAL(routes.methods_of("/events/7.pdf"), "GET, HEAD");
  CAF_CHECK(routes.match(method::del, "/events/7.pdf").found == nullptr);
}

CAF_TEST(a literal path has only its own methods) {
  const router routes{table};
  const auto m = routes.match(method::del, "/events/mine");
  CAF_CHECK(m.found == nullptr);
  CAF_CHECK_EQUAL(m.allow, "GET, HEAD");
  CAF_CHECK_EQUAL(routes.methods_of("/events/mine"), "GET, HEAD");
  CAF_CHECK_EQUAL(routes.match(method::del, "/events/1").found, &table[6]);
}

CAF_TEST(head is answered by get) {
  CAF_CHECK_EQUAL(router{table}.match(method::head, "/events").found, &table[0]);
}

CAF_TEST(a wrong method names the right ones) {
  const router routes{table};
  const auto m = routes.match(method::put, "/events/1");
  CAF_CHECK(m.found == nullptr);
  CAF_CHECK_EQUAL(m.allow, "GET, HEAD, DELETE");
}

CAF_TEST(what is no path of ours is nothing) {
  const router routes{table};
  for (const char* path : {"/nothing", "/events/", "//events", "/events//", "/events/1/2", "", "events",
                           "/a/1/b", "/1/2/3/4/5/6/7/8/9/10"}) {
    CAF_MESSAGE(path);
    const auto m = routes.match(method::get, path);
    CAF_CHECK(m.found == nullptr);
    CAF_CHECK(m.allow.empty() || std::string_view{path} == "/a/1/b");
  }
}

CAF_TEST(mistakes in the table are found at start) {
  constexpr route twice[] = {{method::get, "/a", nothing}, {method::get, "/a", nothing}};
  CAF_CHECK(refuses(twice));
  constexpr route bad[] = {{method::get, "a", nothing}};
  CAF_CHECK(refuses(bad));
}

} // namespace router_test
