// SPDX-License-Identifier: Apache-2.0
// Pictures of events: what is taken, what is refused, how it is served.
#define CAF_SUITE routes_pictures
#include "caf/test/unit_test.hpp"

#include "actors/storage/ledger_worker.hpp"
#include "net/service/pictures.hpp"
#include "store/memory/memory_ledger.hpp"
#include "tests/net/api/world.hpp"

namespace picture_routes_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

/// A PNG of one white pixel.
std::string tiny_png() {
  const auto bytes =
    from_hex("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63f8"
             "0f0001010100b138f6140000000049454e44ae426082");
  return {bytes->begin(), bytes->end()};
}

struct gallery : world {
  memory_ledger store{{.now = [this] { return clock.wall_now(); }}};
  ledger_worker_handle worker =
    system.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&clock),
                 ledger_worker_settings{.prune_interval = std::chrono::hours{24}});
  gallery() { ctx.notices = worker; }
  ~gallery() {
    ctx.notices = nullptr;
    caf::scoped_actor self{system};
    self->send_exit(worker, caf::exit_reason::user_shutdown);
    self->wait_for(worker);
  }

  response put(const std::string& file, const char* type = "image/png") {
    return send(method::put, event_path("/picture"), file, with_type(as_organizer(), type));
  }
  static text_fields with_type(text_fields fields, const char* type) {
    fields.back().second = type;
    return fields;
  }
  [[nodiscard]] std::string named() const {
    const auto* picture = told->asked_patch.patch.find(&event_facts::picture);
    return picture ? *picture : "none";
  }
};

} // namespace

CAF_TEST(a picture that is sent becomes the events and is served) {
  gallery g;
  const auto answer = g.put(tiny_png());
  CAF_REQUIRE_EQUAL(shown(answer), "200 ");
  const auto id = g.named();
  CAF_REQUIRE_EQUAL(id.size(), 64u);
  CAF_CHECK_EQUAL(g.told->asked_patch.note.detail, "{\"picture\":\"" + id + "\"}");
  for (const auto* size : {"-small", "-medium", "-large"}) {
    const auto got = g.send(method::get, "/pictures/" + id + size);
    CAF_REQUIRE_EQUAL(got.status, 200u);
    CAF_CHECK_EQUAL(got.content_type, "image/jpeg");
    CAF_CHECK(got.body.starts_with("\xff\xd8\xff"));
    CAF_CHECK_EQUAL(field_of(got, "Cache-Control"), "public, max-age=86400");
  }
  for (const auto& name :
       {id + "-huge", id, "../" + id, std::string(64, '0') + "-small", id + "-small-small"})
    CAF_CHECK_EQUAL(g.send(method::get, "/pictures/" + name).status, 404u);
}

CAF_TEST(a picture is removed) {
  gallery g;
  CAF_CHECK_EQUAL(shown(g.send(method::del, g.event_path("/picture"), {}, g.as_organizer())), "200 ");
  CAF_CHECK_EQUAL(g.named(), "");
}

CAF_TEST(a manager sets the logo of its tenant) {
  gallery g;
  const auto put = [&](const std::string& file) {
    return g.send(method::put, "/tenant/logo", file, gallery::with_type(g.as_organizer(), "image/png"));
  };
  const auto set = put(tiny_png());
  CAF_REQUIRE_EQUAL(set.status, 200u);
  const auto id = g.told->asked_logo.picture;
  CAF_REQUIRE_EQUAL(id.size(), 64u);
  CAF_CHECK_EQUAL(set.body, "{\"logo\":\"" + id + "\"}");
  CAF_CHECK(g.told->asked_logo.by.id == g.organizer && g.told->asked_logo.note.detail == set.body);
  CAF_CHECK_EQUAL(g.send(method::get, "/pictures/" + id + "-small").status, 200u);
  auto content = world::make_directory();
  content.tenants.front().logo = id;
  g.directory.publish(content);
  CAF_CHECK_EQUAL(g.send(method::get, "/tenant/logo", {}, g.as_organizer()).body, set.body);
  CAF_CHECK_EQUAL(shown(put("GIF89a")), "422 picture_unreadable");
  CAF_CHECK_EQUAL(g.send(method::del, "/tenant/logo", {}, g.as_organizer()).body, R"({"logo":null})");
  CAF_CHECK(g.told->asked_logo.picture.empty());
  CAF_CHECK_EQUAL(g.send(method::del, "/tenant/logo", {}, g.as_customer()).status, 403u);
}

CAF_TEST(what is no picture is refused) {
  gallery g;
  CAF_CHECK_EQUAL(shown(g.put("GIF89a")), "422 picture_unreadable");
  CAF_CHECK_EQUAL(shown(g.put("")), "422 picture_unreadable");
  auto huge = tiny_png();
  huge[17] = '\x7f'; // 8 million pixels wide
  CAF_CHECK_EQUAL(shown(g.put(huge)), "422 picture_too_large");
  CAF_CHECK_EQUAL(shown(g.put(tiny_png(), "application/json")), "415 unsupported_media_type");
  CAF_CHECK_EQUAL(shown(g.put(tiny_png(), "image/svg+xml")), "415 unsupported_media_type");
  CAF_CHECK_EQUAL(g.named(), "none");
}

CAF_TEST(strangers make the server read nothing) {
  gallery g;
  const auto stranger = gallery::with_type(g.as_customer(), "image/png");
  CAF_CHECK_EQUAL(g.send(method::put, g.event_path("/picture"), tiny_png(), stranger).status, 403u);
  g.told->stats.no = reason::not_found; // another organizer's event
  CAF_CHECK_EQUAL(shown(g.put("no picture")), "404 not_found");
}

CAF_TEST(a manager sends so many pictures and no more) {
  gallery g;
  for (std::uint32_t n = 0; n < pictures_per_manager; ++n)
    CAF_REQUIRE_EQUAL(shown(g.put("GIF89a")), "422 picture_unreadable");
  CAF_CHECK_EQUAL(shown(g.put(tiny_png())), "429 rate_limited");
}

CAF_TEST(the cache keeps what was asked for last) {
  picture_cache cache{10};
  const auto keep = [&](const std::string& name, const std::string& bytes) {
    cache.keep(name, std::make_shared<const std::string>(bytes), {});
  };
  const auto find = [&](const std::string& name) { return cache.find(name, {}); };
  keep("a", "12345");
  keep("b", "12345");
  CAF_CHECK(find("a") != nullptr);
  keep("c", "1");
  CAF_CHECK(find("b") == nullptr);
  CAF_CHECK_EQUAL(*find("a"), "12345");
  keep("d", "12345678901");
  CAF_CHECK(find("d") == nullptr && find("c") != nullptr);
}

CAF_TEST(the cache forgets a picture after an hour) {
  picture_cache cache{10};
  const milliseconds noon{1'000'000}, end = noon + pictures_kept_life;
  const auto keep = [&](milliseconds now) {
    cache.keep("a", std::make_shared<const std::string>("1234567890"), now);
  };
  keep(noon);
  CAF_CHECK(cache.find("a", end - milliseconds{1}) != nullptr); // use makes it no newer
  CAF_CHECK(cache.find("a", end) == nullptr);
  CAF_CHECK(cache.find("a", noon) == nullptr);
  keep(end);
  CAF_CHECK(cache.find("a", end) != nullptr);
}

} // namespace picture_routes_test
