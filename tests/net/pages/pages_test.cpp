// SPDX-License-Identifier: Apache-2.0
// Building blocks of the HTML pages: languages, plural rules, numbers, waits, forms, cookies, origins,
// colours.
#define CAF_SUITE routes_pages
#include "caf/test/unit_test.hpp"

#include "display/colours.hpp"
#include "net/http/cors.hpp"
#include "net/http/json_text.hpp"
#include "net/http/limits.hpp"
#include "net/http/preferences.hpp"
#include "net/http/problem.hpp"
#include "net/pages/forms.hpp"
#include "net/pages/limits.hpp"
#include "net/pages/my_tickets_page.hpp"
#include "net/pages/seat_text.hpp"
#include "net/pages/shop_page.hpp"
#include "net/pages/site_page.hpp"
#include "net/pages/texts.hpp"
#include "net/pages/wait_page.hpp"

#include <boost/json/parse.hpp>

#include <string>
#include <vector>

namespace pages_test {

using namespace fq;
using namespace fq::net;

namespace {

std::string plurals(language l, const std::vector<std::uint64_t>& numbers) {
  constexpr const char* names[] = {"zero", "one", "two", "few", "many", "other"};
  std::string out;
  for (const auto n : numbers)
    out += std::to_string(n) + names[static_cast<std::size_t>(plural_of(l, n))] + ' ';
  return out;
}

request with(std::vector<std::pair<std::string_view, std::string_view>> fields, std::string_view body = {}) {
  request rq;
  rq.fields = std::move(fields);
  rq.body = body;
  rq.request_id = "r";
  return rq;
}

std::string code_of(std::string_view body, std::string_view type = "application/x-www-form-urlencoded") {
  std::optional<response> no;
  (void)form::read(with({{"Content-Type", type}}, body), no);
  return no ? std::to_string(no->status) : "taken";
}

bool accepts(std::vector<std::pair<std::string_view, std::string_view>> fields) {
  return is_from_own_page(with(std::move(fields)), "https://tickets.example/base");
}

} // namespace

CAF_TEST(the choice of an event with seats has fields for their names) {
  std::optional<response> no;
  const auto id = uuid{7, 7};
  const auto body = "accessible=1&s." + to_string(id) + "=A-1+A-2";
  const auto sent = form::read(with({{"Content-Type", "application/x-www-form-urlencoded"}}, body), no);
  CAF_REQUIRE(!no);
  event_view event;
  event.event.currency = "EUR";
  event.ticket_types = {{.id = id, .name = "Stalls", .price = 500, .total = 9, .max_per_order = 4}};
  const std::string base;
  const shopper who{language::en, base, from_unix_ms(0)};
  const auto shown = [&](std::string problem = {}) {
    return render(choice_page(who, {event, nullptr, sent, {}, std::move(problem)}), base, {}).body;
  };
  const auto has = [](const std::string& page, const std::string& part) {
    return page.find(part) != std::string::npos;
  };
  const auto field = "name=\"s." + to_string(id) + "\" value=\"A-1 A-2\"";
  CAF_CHECK(!has(shown(), "data-seats") && !has(shown(), field));
  event.has_seats = true;
  const auto page = shown();
  CAF_CHECK(has(page, "data-seats") && has(page, field) && has(page, "data-accessible checked"));
  CAF_CHECK(page.find("data-accessible") > page.find("</section>")); // also while the map is hidden
  CAF_CHECK(has(shown("not_together"), field) && !has(shown("seat_taken"), "A-1 A-2"));
  CAF_CHECK(has(page, R"("name":"Stalls","price":"5.00 EUR","most":4,"on_sale":true)"));
  CAF_CHECK(has(page, R"("seats_chosen":{"other":"Chosen: {seats}"})"));
}

CAF_TEST(choice and order show the description of their event) {
  const std::string base;
  event_view event;
  event.event.facts.description = "Two *teams*. <script>";
  const form empty;
  order_view order;
  order.claim.currency = event.event.currency = "EUR";
  const shopper who{language::en, base, from_unix_ms(0)};
  const auto check = [&](site_page page) {
    const auto body = render(std::move(page), base, {}).body;
    CAF_CHECK(body.find("<p>Two <em>teams</em>.") != std::string::npos);
    CAF_CHECK(body.find("<script>") == std::string::npos);
  };
  check(choice_page(who, {event, nullptr, empty}));
  check(order_page(who, order, event.event));
}

CAF_TEST(a seat is said with what its plan has of section and row) {
  CAF_CHECK_EQUAL(seat_text(language::en, {"Stalls", "A", "3"}), "Stalls, row A, seat 3");
  CAF_CHECK_EQUAL(seat_text(language::hr, {"", "A", "3"}), "Red A, sjedalo 3");
  CAF_CHECK_EQUAL(seat_text(language::fr, {"Table 7", "", "3"}), "Table 7, place 3");
  CAF_CHECK_EQUAL(seat_text(language::en, {}), "");
  CAF_CHECK_EQUAL(seat_text(language::hr, {"", "A", "3", true}), "Red A, sjedalo 3, ograničen pogled");
}

// Expected values from Intl.PluralRules of Node 20 (ICU 73).
CAF_TEST(plural rules are CLDRs) {
  CAF_CHECK_EQUAL(plurals(language::en, {0, 1, 2, 11, 21}), "0other 1one 2other 11other 21other ");
  CAF_CHECK_EQUAL(plurals(language::fr, {0, 1, 2, 1'000'000, 1'000'001}),
                  "0one 1one 2other 1000000many 1000001other ");
  CAF_CHECK_EQUAL(plurals(language::es, {0, 1, 2, 2'000'000}), "0other 1one 2other 2000000many ");
  CAF_CHECK_EQUAL(plurals(language::hr, {0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 25, 101, 111, 112, 1002}),
                  "0other 1one 2few 4few 5other 11other 12other 14other 21one 22few 25other 101one 111other "
                  "112other 1002few ");
  CAF_CHECK_EQUAL(plurals(language::ar, {0, 1, 2, 3, 10, 11, 99, 100, 102, 103, 111, 200}),
                  "0zero 1one 2two 3few 10few 11many 99many 100other 102other 103few 111many 200other ");
}

CAF_TEST(the visitors best language is taken and english without one) {
  CAF_CHECK(!preferred_language("") && !preferred_language("*"));
  CAF_CHECK(!preferred_language("de-DE, ja;q=0.9"));
  CAF_CHECK(preferred_language("de, hr;q=0.5, fr-CA;q=0.7") == language::fr);
  CAF_CHECK(preferred_language("AR-eg") == language::ar);
  CAF_CHECK(preferred_language("es;q=0, hr;q=0.001") == language::hr);
  CAF_CHECK(preferred_language("fr;q=nonsense, hr;q=2, es;q=0.1") == language::es);
  CAF_CHECK(!language_of("english"));
  std::string many;
  for (std::size_t i = 1; i < preferences_max; ++i) many += "de,";
  CAF_CHECK(preferred_language(many + "fr") == language::fr);
  CAF_CHECK(!preferred_language(many + "de,fr"));
}

CAF_TEST(numbers are grouped as their language does) {
  CAF_CHECK_EQUAL(number_text(language::en, 1'234'567), "1,234,567");
  CAF_CHECK_EQUAL(number_text(language::en, 999), "999");
  CAF_CHECK_EQUAL(number_text(language::fr, 12'345), "12\u202f345");
  CAF_CHECK_EQUAL(number_text(language::es, 1'234), "1234");
  CAF_CHECK_EQUAL(number_text(language::es, 12'345), "12.345");
  CAF_CHECK_EQUAL(number_text(language::hr, 1'234), "1.234");
}

CAF_TEST(waits are honest ranges) {
  CAF_CHECK_EQUAL(wait_text(language::en, -1, -1), "It is too early to say");
  CAF_CHECK_EQUAL(wait_text(language::en, 0, 59), "Less than a minute");
  CAF_CHECK_EQUAL(wait_text(language::en, 30, 61), "Up to 2 minutes");
  CAF_CHECK_EQUAL(wait_text(language::en, 60, 60), "About 1 minute");
  CAF_CHECK_EQUAL(wait_text(language::en, 119, 301), "1 to 6 minutes");
  CAF_CHECK_EQUAL(wait_text(language::en, 3'600, 7'201), "1 to 3 hours");
  CAF_CHECK_EQUAL(counted(language::hr, "ahead", 1'234), "1.234 osobe ispred vas");
  CAF_CHECK_EQUAL(texts_json(language::en, {"next"}), R"({"next":{"other":"You are next"}})");
  CAF_CHECK_EQUAL(prefixed_texts_json(language::en, "fair_is_sk"),
                  R"({"fair_is_skipped":{"other":"Not checked"}})");
}

CAF_TEST(a text that there is not is a mistake that is heard) {
  bool thrown = false;
  try {
    (void)text(language::en, "no_such_text");
  } catch (const std::logic_error&) { thrown = true; }
  CAF_CHECK(thrown);
}

CAF_TEST(forms are decoded strictly) {
  std::optional<response> no;
  const auto sent = form::read(
    with({{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}}, "a=%C5%A0+x&b=&c"), no);
  CAF_CHECK(!no);
  CAF_CHECK_EQUAL(sent.find("a"), "\u0160 x");
  CAF_CHECK_EQUAL(sent.find("b"), "");
  CAF_CHECK_EQUAL(sent.find("nothing"), "");
  CAF_CHECK_EQUAL(code_of("a=b", "application/json"), "415");
  for (const auto* body : {"a=%", "a=%4", "a=%zz", "a=%00", "a=%0a", "a=%ff", "a=%C5", "%=a", "a=1&a=2"})
    CAF_CHECK_EQUAL(code_of(body), "400");
  std::string many;
  for (int i = 0; i <= static_cast<int>(form_fields_max); ++i) many += "f" + std::to_string(i) + "=1&";
  CAF_CHECK_EQUAL(code_of(many), "400");
}

CAF_TEST(cookies are found by their whole name) {
  const auto rq = with({{"Cookie", "xa=1; a=2; b=3=4"}, {"cookie", "c=5"}});
  CAF_CHECK_EQUAL(cookie(rq, "a"), "2");
  CAF_CHECK_EQUAL(cookie(rq, "b"), "3=4");
  CAF_CHECK_EQUAL(cookie(rq, "c"), "5");
  CAF_CHECK_EQUAL(cookie(rq, "x"), "");
  response answer;
  set_cookie(answer, "a", "v", {"/base", 60, true});
  CAF_CHECK_EQUAL(answer.fields.at(0).second, "a=v; Path=/base; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
}

CAF_TEST(cookies over TLS have names that other hosts cannot set) {
  CAF_CHECK_EQUAL(cookie_name("a", "", true), "__Host-a");
  CAF_CHECK_EQUAL(cookie_name("a", "/base", true), "__Secure-a");
  CAF_CHECK_EQUAL(cookie_name("a", "", false), "a");
  const auto planted = with({{"Cookie", "a=theirs; __Host-a=ours"}});
  CAF_CHECK_EQUAL(cookie(planted, cookie_name("a", "", true)), "ours");
}

CAF_TEST(forms of other sites are not ours) {
  CAF_CHECK(accepts({}));
  CAF_CHECK(accepts({{"Sec-Fetch-Site", "same-origin"}}));
  CAF_CHECK(accepts({{"Origin", "https://tickets.example"}}));
  CAF_CHECK(accepts({{"Host", "127.0.0.1:8080"}, {"Origin", "http://127.0.0.1:8080"}}));
  CAF_CHECK(!accepts({{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://tickets.example"}}));
  CAF_CHECK(!accepts({{"Sec-Fetch-Site", "same-site"}}));
  CAF_CHECK(!accepts({{"Host", "tickets.example"}, {"Origin", "https://evil.example"}}));
  CAF_CHECK(!accepts({{"Host", "x"}, {"Origin", "null"}}));
  CAF_CHECK(!accepts({{"Host", "x"}, {"Origin", ""}}));
  CAF_CHECK(!accepts({{"Host", "evil.example"}, {"Origin", "https://evil.example/"}}));
}

CAF_TEST(text upon a tenants colour can be read) {
  CAF_CHECK_EQUAL(ink_on("#000000"), "#fff");
  CAF_CHECK_EQUAL(ink_on("#2c1d6b"), "#fff");
  CAF_CHECK_EQUAL(ink_on("#ffd23f"), "#000");
  CAF_CHECK_EQUAL(ink_on("#ffffff"), "#000");
}

CAF_TEST(what organizers and visitors typed cannot become markup) {
  const std::string base;
  event_view line;
  line.event.name = "<b>\"'&";
  line.event.message = "</script><script>alert(1)</script>";
  line.event.status = event_status::active;
  wait_view view{.in = language::en, .base = base, .line = line};
  view.sign_in.step = sign_in_step::code;
  view.sign_in.email = "\"><img src=x>";
  const auto answer = render(wait_page(view), base, {});
  CAF_CHECK(answer.body.find("<b>\"") == std::string::npos);
  CAF_CHECK(answer.body.find("<img") == std::string::npos);
  CAF_CHECK(answer.body.find("<script>") == std::string::npos);
  CAF_CHECK(answer.body.find("&lt;b&gt;&quot;&#39;&amp;") != std::string::npos);
}

CAF_TEST(the facts of an event cannot become markup either) {
  const std::string base;
  event_view line;
  line.event.name = "</script><script>alert(1)</script>";
  line.event.status = event_status::active;
  line.event.facts = {from_unix_ms(1'795'000'000'000),
                      never,
                      never,
                      "Africa/Lagos",
                      "</script><img src=x>",
                      "\"><img src=x>",
                      6'446'100,
                      3'400'000,
                      "<img src=x> [a](javascript:alert(1)) </script><script>alert(1)</script>"};
  line.ticket_types.push_back({.id = {}, .name = "<img src=x>", .description = "<img src=x>"});
  wait_view view{.in = language::en, .base = base, .line = line, .url = "https://t.example/wait/1"};
  const auto answer = render(wait_page(view), base, {});
  for (const auto* bad : {"<img", "<script>", "javascript:"})
    CAF_CHECK(answer.body.find(bad) == std::string::npos);
  // The script elements are the page's own: its module, JSON-LD and the state.
  std::size_t scripts = 0;
  for (auto at = answer.body.find("</script"); at != std::string::npos;
       at = answer.body.find("</script", at + 1))
    ++scripts;
  CAF_CHECK_EQUAL(scripts, 3u);
}

CAF_TEST(an event says when and where to people and programs) {
  const std::string base;
  event_view line;
  line.event.name = "Derby";
  line.event.currency = "NGN";
  line.event.status = event_status::active;
  const auto begin = *parse_rfc3339("2026-12-01T18:30:00Z");
  line.event.facts = {begin,
                      begin + seconds{7'200},
                      begin - seconds{3'600},
                      "Africa/Lagos",
                      "The Arena",
                      "Main Road",
                      6'446'100,
                      -3'400'000,
                      "Two *teams*."};
  line.ticket_types.push_back({.id = {}, .name = "Seat", .price = 500'000, .total = 1});
  wait_view view{.in = language::en, .base = base, .line = line, .url = "https://t.example/wait/1"};
  view.picture_url = "https://t.example/pictures/1-large";
  const auto page = wait_page(view);
  const auto data = boost::json::parse(page.preview.linked_data).as_object();
  CAF_CHECK_EQUAL(data.at("startDate").as_string(), "2026-12-01T19:30:00+01:00");
  CAF_CHECK_EQUAL(data.at("image").at(0).as_string(), view.picture_url);
  CAF_CHECK_EQUAL(data.at("location").at("geo").at("longitude").as_double(), -3.4);
  CAF_CHECK_EQUAL(data.at("offers").at(0).at("price").as_string(), "5000.00");
  CAF_CHECK_EQUAL(data.at("offers").at(0).at("availability").as_string(), "https://schema.org/InStock");
  const auto body = render(wait_page(view), base, {}).body;
  for (const auto* part :
       {"Tuesday, 1 December 2026 at 19:30 GMT+1",
        "<dd><time data-venue datetime=\"2026-12-01T20:30:00.000Z\">21:30", "18:30</time>",
        "<p>Two <em>teams</em>.</p>", "og:title\" content=\"Derby\"",
        "og:image\" content=\"https://t.example/pictures/1-large\"", "mlat=6.446100&amp;mlon=-3.400000"})
    if (body.find(part) == std::string::npos) CAF_ERROR(std::string{"not in the page: "} + part);
  CAF_CHECK(body.find("noindex") == std::string::npos);
  line.event.status = event_status::ended;
  CAF_CHECK(!boost::json::parse(wait_page(view).preview.linked_data).as_object().contains("offers"));
  view.signed_in = true;
  const auto own = render(wait_page(view), base, {}).body;
  CAF_CHECK(own.find("noindex") != std::string::npos && own.find("og:title") == std::string::npos);
  line.event.facts = {};
  CAF_CHECK(wait_page({.in = language::en, .base = base, .line = line}).preview.linked_data.empty());
}

CAF_TEST(a place in line reads its odds and on a waiting list what happens next) {
  const std::string base;
  event_view line;
  line.event.status = event_status::active;
  entry_view place;
  place.position = 2'001;
  sale_evidence seen{.sells = true, .free = 800, .joined = 6'000, .waiting = 3'500};
  seen.decided = seen.admitted = seen.claimed = 2'500;
  seen.buyers = seen.bought = seen.squares = 800;
  place.outlook = outlook_of(seen, place.position);
  wait_view view{.in = language::en, .base = base, .line = line, .place = &place};
  const auto has = [&](std::string_view text) {
    return render(wait_page(view), base, {}).body.find(text) != std::string::npos;
  };
  CAF_CHECK(has("About 640 of the 2,000 people ahead of you will probably buy 640 tickets in total. "
                "800 tickets are left."));
  CAF_CHECK(has("95 to 100 % (almost certain).") && has("data-waiting-list hidden"));
  line.sold_out = true;
  line.event.waiting_list = {true, milliseconds{1'800'000}, -1, -1, from_unix_ms(1'795'000'000'000)};
  seen.waiting_list = true;
  place.outlook = outlook_of(seen, place.position);
  CAF_CHECK(has("data-odds-card hidden") && has("data-sold-out hidden"));
  CAF_CHECK(has("data-waiting-list>") && has("Then you have 30 minutes") && !has("Guests get no e-mail"));
  CAF_CHECK(has("You get an e-mail when it is your turn"));
  view.mails_turns = false;
  CAF_CHECK(has("no e-mail about it, so keep this page open.") && !has("You get an e-mail"));
  view.signed_in = view.is_guest = view.mails_turns = true;
  CAF_CHECK(!has("You get an e-mail") && has("Guests get no e-mail, so keep this page open."));
  view.place = nullptr;
  CAF_CHECK(has("Join the waiting list:") && !has("by e-mail") && has("sign in before you join"));
  view.is_guest = false;
  CAF_CHECK(has("Join the waiting list:") && has("by e-mail"));
  view.mails_turns = false;
  CAF_CHECK(has("no e-mail about it: keep this page open then") && !has("by e-mail"));
}

CAF_TEST(a place in a lobby reads how many are there and how the draw goes) {
  event_view line;
  line.event.name = "Final";
  line.event.status = event_status::active;
  line.event.queue_opens_at = from_unix_ms(1'800'000'000'000);
  line.event.lobby.announced = "the lottery's numbers";
  line.event.lobby.beacon = beacon_kind::announced;
  entry_view place;
  place.number = queue_number{7};
  place.lobby = {lobby_phase::open, draw_kind::at_opening, 1'200, line.event.queue_opens_at};
  const std::string base;
  const auto says = [&](std::string_view words, language in = language::en) {
    wait_view view{.in = in, .base = base, .line = line};
    view.place = &place;
    view.signed_in = true;
    return render(wait_page(view), base, {}).body.find(words) != std::string::npos;
  };
  CAF_CHECK(says("1,200") && says("Coming earlier gives no advantage") && says("Open a party"));
  CAF_CHECK(says("Raniji dolazak ne donosi prednost", language::hr));
  line.event.kind = event_kind::queue;
  CAF_CHECK(says("Open a party"));
  line.event.kind = event_kind::sale;
  place.party_code = "7-ABCDEFGH";
  place.party_size = 2;
  CAF_CHECK(says("7-ABCDEFGH") && says("2 people are in it") && !says("Open a party"));
  const auto id = to_string(line.event.id);
  const auto offers_proof = [&] {
    return says("href=\"/fairness/" + id + "\"") && says("href=\"/wait/" + id + "/proof\"");
  };
  line.lobby.seed_commitment = std::string(64, 'e');
  CAF_CHECK(offers_proof() && says(line.lobby.seed_commitment));
  place.lobby.phase = lobby_phase::waiting;
  CAF_CHECK(says("the lottery&#39;s numbers") && !says("7-ABCDEFGH"));
  place.lobby = {lobby_phase::open, draw_kind::none, 3, line.event.queue_opens_at};
  CAF_CHECK(says("in the order of joining") && !says("drawn at random") && !says(line.lobby.seed_commitment));
  place.lobby = {};
  for (const auto status : {entry_status::waiting, entry_status::admitted, entry_status::revoked}) {
    place.status = status; // also those who were dropped can keep the proof
    CAF_CHECK(offers_proof());
  }
}

CAF_TEST(before joining a visitor reads when lobby and line open and how places are given) {
  event_view line;
  line.event.name = "Final";
  line.event.status = event_status::active;
  line.event.lobby.opens_at = *parse_rfc3339("2026-12-01T08:00:00Z");
  line.event.queue_opens_at = *parse_rfc3339("2026-12-01T09:00:00Z");
  line.event.lobby.draw = draw_kind::at_opening;
  const std::string base;
  wait_view view{.in = language::en, .base = base, .line = line};
  const auto says = [&](std::string_view words) {
    return render(wait_page(view), base, {}).body.find(words) != std::string::npos;
  };
  const std::string lobby_at = "The lobby opens on <time datetime=\"2026-12-01T08:00:00.000Z\">";
  const std::string line_at = "The line opens on <time datetime=\"2026-12-01T09:00:00.000Z\">";
  const std::string no_advantage = "Coming earlier gives no advantage";
  view.now = line.event.lobby.opens_at - seconds{60};
  CAF_CHECK(says(lobby_at) && says(line_at) && says(no_advantage) && says("\"reload_after_ms\":60000"));
  CAF_CHECK(!says("people are in the lobby") && !says("Sign in to join"));
  view.now = line.event.lobby.opens_at; // due, and its owner has not opened it yet
  CAF_CHECK(says(lobby_at) && says("\"reload_after_ms\":10000"));

  line.lobby.opened_at = line.event.lobby.opens_at;
  line.lobby.entrants = 1'200;
  for (const bool signed_in : {false, true}) {
    view.signed_in = signed_in;
    CAF_CHECK(says("1,200 people are in the lobby.") && says(line_at) && says(no_advantage)
              && !says(lobby_at));
    CAF_CHECK(!says("Everybody is let in by turns") && says(signed_in ? "Join the line" : "Sign in to join"));
  }
  line.event.lobby.draw = draw_kind::none;
  CAF_CHECK(says("in the order of joining") && !says(no_advantage));
  line.lobby.closed_at = view.now = line.event.queue_opens_at;
  CAF_CHECK(says("Everybody is let in by turns") && !says("lobby"));

  line.lobby = {};
  const shopper who{language::en, base, line.event.lobby.opens_at - seconds{1}};
  const auto lists = [&](const shopper& visitor, std::string_view words) {
    return render(on_sale_page(visitor, {line}), base, {}).body.find(words) != std::string::npos;
  };
  CAF_CHECK(lists(who, lobby_at) && !lists(who, line_at));
  const shopper later{language::en, base, line.event.lobby.opens_at};
  CAF_CHECK(lists(later, "The lobby is open. " + line_at) && !lists(later, lobby_at));
}

CAF_TEST(a template escapes each value by its place) {
  const std::string base;
  config::brand brand;
  brand.logo_url = "data:image/png;base64,AAA=";
  brand.home_url = "https://a.example/?b=c&d=e";
  event_view line;
  line.event.kind = event_kind::queue;
  entry_view place;
  place.status = entry_status::admitted;
  wait_view view{.in = language::hr, .base = base, .line = line};
  view.place = &place;
  view.return_url = "javascript:alert(1)";
  const auto answer = render(wait_page(view), base, brand);
  CAF_CHECK(answer.body.find("javascript:") == std::string::npos);
  CAF_CHECK(answer.body.find("src=\"data:image/png;base64,AAA=\"") != std::string::npos);
  CAF_CHECK(answer.body.find("href=\"https://a.example/?b=c&amp;d=e\"") != std::string::npos);
  CAF_CHECK(answer.body.find("[[") == std::string::npos && answer.body.find("{{") == std::string::npos);
}

CAF_TEST(a template that there is not is a defect) {
  bool thrown = false;
  try {
    (void)render({language::en, "no_such_page"}, "", {});
  } catch (const std::logic_error&) { thrown = true; }
  CAF_CHECK(thrown);
}

CAF_TEST(a device keeps the tickets of who signed in and none that a link shows) {
  const std::string base;
  const auto state_of = [&](std::string link) {
    const ticket_holder who{language::en, base, from_unix_ms(0), {}, std::move(link)};
    const auto page = my_tickets_page(
      who, {}, {}, [](const event_ticket_listing&) -> event_ticket_keys { throw std::logic_error("none"); },
      {});
    return boost::json::parse(page.state).at("keeps").as_bool();
  };
  CAF_CHECK(state_of({}));
  CAF_CHECK(!state_of("/my/orders/1/secret"));
}

CAF_TEST(the link to an order ends also for an event without dates) {
  event_row event;
  event.sale_end = from_unix_ms(1'800'000'000'000);
  const auto late = event.sale_end + order_link_life + milliseconds{1};
  CAF_CHECK(!is_link_over(event, late - milliseconds{1}));
  CAF_CHECK(is_link_over(event, late));
  event.facts.starts_at = event.sale_end + seconds{1};
  CAF_CHECK(!is_link_over(event, late));
}

CAF_TEST(the waiting page offers to go on as a guest only where something has a price) {
  const std::string base;
  event_view line;
  line.event.status = event_status::active;
  line.event.guests = true;
  const auto offers = [&] {
    const auto body = render(wait_page({.in = language::en, .base = base, .line = line}), base, {}).body;
    return body.find("Continue as a guest") != std::string::npos;
  };
  line.ticket_types.push_back({.id = {}, .name = "Seat", .price = 0, .total = 1});
  CAF_CHECK(!offers());
  line.ticket_types.push_back({.id = {}, .name = "Box", .price = 1, .total = 1});
  CAF_CHECK(offers());
}

} // namespace pages_test
