// SPDX-License-Identifier: Apache-2.0
// The content of mails, and that no name or title can change it.
#define CAF_SUITE mail_templates
#include "caf/test/unit_test.hpp"

#include "display/replaced.hpp"
#include "domain/model/language.hpp"
#include "outbound/mail_template_files.hpp"
#include "outbound/mail_templates.hpp"

#include <boost/json/parse.hpp>

#include <map>
#include <set>
#include <thread>

namespace mail_templates_test {

using namespace fq;

namespace {

const std::map<std::string, const char*> samples{
  {"otp", R"({"code":"123456","minutes":10})"},
  {"payment_link", R"({"name":"Ana","order_id":"O-1","event_name":"Derby","total":500000,"currency":"NGN",
                       "payment_url":"https://pay.example/x?a=1&b=2","expires_at":1795372200000})"},
  {"order_receipt", R"({"order_id":"O-1","event_name":"Derby","currency":"EUR","total":12050,)"
                    R"("discount":500,"donations":50,"fees":0,
                        "items":[{"name":"Standard","quantity":2,"amount":10000},)"
                    R"({"name":"VIP","quantity":1,"amount":2500}],
                        "starts_at":1795372200000,"paid_at":1795372200000})"},
  {"order_failed",
   R"({"order_id":"O-1","event_name":"Derby","reason":"payment_rejected","can_retry":true,
                       "retry_url":"https://shop.example/o/1"})"},
  {"order_refunded",
   R"({"order_id":"O-1","event_name":"Derby","amount":1200,"currency":"JPY","whole":false})"},
  {"event_cancelled", R"({"event_name":"Derby","refund":true,"order_id":"O-1"})"},
  {"quota_invitation",
   R"({"event_name":"Derby","ticket_name":"Members","quantity":2,"valid_until":1795372200000})"},
  {"waiting_list_offer",
   R"({"event_name":"Derby","claim_by":1795372200000,"shop_url":"https://shop.example/e"})"},
  {"ticket_offered", R"({"event_name":"Derby","ticket_name":"VIP","tickets_url":"https://shop.example/t",
                         "expires_at":1795372200000})"},
  {"ticket_given", R"({"event_name":"Derby","ticket_name":"VIP","tickets_url":"https://shop.example/t"})"},
  {"ticket_received", R"({"event_name":"Derby","ticket_name":"VIP","tickets_url":"https://shop.example/t",
                          "starts_at":1795372200000})"},
  {"ticket_kept", R"({"event_name":"Derby","ticket_name":"VIP","tickets_url":"https://shop.example/t",
                      "declined":true})"},
  {"challenge_link", R"({"event_name":"Derby","join_url":"https://shop.example/wait/1?solved=a-b_"})"},
  {"ticket_cancelled", R"({"event_name":"Derby","ticket_name":"1 x VIP","quantity":1,
                           "tickets_url":"https://shop.example/t"})"},
  {"ticket_withdrawn",
   R"({"event_name":"Derby","ticket_name":"VIP","tickets_url":"https://shop.example/t"})"},
};

boost::json::object data_of(const std::string& text) { return boost::json::parse(text).as_object(); }

mail_content content(std::string_view key, const boost::json::object& data,
                     std::string_view language = "en") {
  const auto result = render(key, language, data);
  if (const auto* problem = std::get_if<template_problem>(&result)) CAF_FAIL(problem->what);
  return std::get<mail_content>(result);
}

std::string problem(std::string_view key, const boost::json::object& data) {
  const auto result = render(key, "en", data);
  const auto* found = std::get_if<template_problem>(&result);
  return found == nullptr ? "" : found->what;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool is_tidy(const mail_content& c) {
  for (const auto* text : {&c.subject, &c.text, &c.html})
    if (text->empty() || contains(*text, "{{") || contains(*text, "}}")) return false;
  return !contains(c.subject, "\n") && c.text.ends_with('\n') && !c.text.ends_with("\n\n")
         && !contains(c.text, "\n\n\n") && !contains(c.text, " \n");
}

} // namespace

CAF_TEST(the times of an event are those of its venue) {
  auto data = data_of(samples.at("order_receipt"));
  data["time_zone"] = "Africa/Lagos";
  data["doors_at"] = 1795368600000;
  data["venue_name"] = "The Arena <1>";
  data["venue_address"] = "Main Road 1\nLagos";
  const auto c = content("order_receipt", data);
  CAF_CHECK(contains(c.text, "Begins: Sunday, 22 November 2026 at 19:30 GMT+1\n"));
  CAF_CHECK(contains(c.text, "Doors open: Sunday, 22 November 2026 at 18:30 GMT+1\n"));
  CAF_CHECK(contains(c.text, "Place: The Arena <1>\nAddress: Main Road 1 Lagos\n"));
  CAF_CHECK(contains(c.text, "Paid: Sunday, 22 November 2026 at 19:30 GMT+1\n"));
  CAF_CHECK(contains(c.html, "Place: The Arena &lt;1&gt;"));
}

CAF_TEST(a receipt and a payment link name section and row and seat) {
  for (const auto* key : {"order_receipt", "payment_link"}) {
    CAF_MESSAGE(key);
    auto data = data_of(samples.at(key));
    data["seats"] = boost::json::parse(R"([{"section":"Stalls <1>","row":"A","seat":"3"},
      {"section":"","row":"B","seat":"4"},{"section":"Table 7","row":"","seat":"1"}])");
    const auto c = content(key, data);
    CAF_CHECK(contains(c.text, "Seats: Stalls <1>, row A, seat 3; Row B, seat 4; Table 7, seat 1\n"));
    CAF_CHECK(contains(c.html, "<br>Seats: Stalls &lt;1&gt;, row A, seat 3;"));
    CAF_CHECK(is_tidy(c));
    data["seats"] = boost::json::parse(R"([{"section":"","row":"B","seat":"4","obstructed":true}])");
    CAF_CHECK(contains(content(key, data).text, "Seats: Row B, seat 4, restricted view\n"));
    data["seats"] = "A-3";
    CAF_CHECK_EQUAL(problem(key, data), "seats is not a list");
  }
}

CAF_TEST(a receipt repeats the answers and has the picture of the event) {
  auto data = data_of(samples.at("order_receipt"));
  data["answers"] = boost::json::parse(R"([{"label":"Newsletter <1>","value":"\u2713"},
    {"label":"Shirt","value":"M\nL","attendee":1},{"label":"Shirt","value":"S","attendee":2}])");
  data["picture"] = "0198";
  const mail_style style{.from = {}, .pictures_url = "https://shop.example/pictures/"};
  const auto made = std::get<mail_content>(render("order_receipt", "en", data, style));
  CAF_CHECK(contains(made.text, "\nYour answers\nNewsletter <1>: \u2713\n"
                                "Ticket 1: Shirt: M L\nTicket 2: Shirt: S\n"));
  CAF_CHECK(contains(made.html, "<br><bdi>Newsletter &lt;1&gt;</bdi>: <bdi>\u2713</bdi>"));
  CAF_CHECK(contains(made.html, "<br>Ticket 2: <bdi>Shirt</bdi>: <bdi>S</bdi>"));
  CAF_CHECK(contains(made.html, "<img src=\"https://shop.example/pictures/0198-medium\" alt=\"Derby"));
  CAF_CHECK(is_tidy(made));
  CAF_CHECK(!contains(content("order_receipt", data).html, "<img")); // without an address of pictures
  data["picture"] = "\"><script>";
  const auto odd = std::get<mail_content>(render("order_receipt", "en", data, style));
  CAF_CHECK(!contains(odd.html, "<img") && !contains(odd.html, "<script>"));
  data["answers"] = boost::json::array{};
  CAF_CHECK(!contains(content("order_receipt", data).text, "Your answers"));
  data["answers"] = "yes";
  CAF_CHECK_EQUAL(problem("order_receipt", data), "answers is not a list");
}

CAF_TEST(every template is there in every language and takes its data) {
  for (const auto key : mail_template_keys()) {
    CAF_MESSAGE(std::string{key});
    std::set<std::string> subjects;
    for (const auto in : all_languages) {
      const std::string tag{tag_of(in)};
      const auto c = content(key, data_of(samples.at(std::string{key})), tag);
      CAF_CHECK(is_tidy(c));
      CAF_CHECK(contains(c.html, "<html lang=\"" + tag
                                   + (in == language::ar ? "\" dir=\"rtl\">" : "\" dir=\"ltr\">")));
      CAF_CHECK(contains(c.html, "</html>"));
      subjects.insert(c.subject);
    }
    CAF_CHECK_EQUAL(subjects.size(), all_languages.size());
  }
  CAF_CHECK_EQUAL(mail_template_keys().size(), samples.size());
}

CAF_TEST(a code is said plainly) {
  const auto c = content("otp", data_of(samples.at("otp")));
  CAF_CHECK_EQUAL(c.subject, "Your sign-in code");
  CAF_CHECK_EQUAL(c.text, "Your sign-in code is 123456.\n\nIt is valid for 10 minutes. If you did not ask "
                          "for it, ignore this message.\n");
  CAF_CHECK(contains(c.html, "<strong>123456</strong>"));
  CAF_CHECK(contains(content("otp", data_of(R"({"code":"1","minutes":1})")).text, "for 1 minute."));
}

CAF_TEST(an offered ticket leads to its page and says when the offer ends) {
  const auto c = content("ticket_offered", data_of(samples.at("ticket_offered")));
  CAF_CHECK_EQUAL(c.subject, "A ticket for you: Derby");
  CAF_CHECK(
    contains(c.text, "https://shop.example/t\nThe offer ends: Sunday, 22 November 2026 at 18:30 GMT\n"));
  CAF_CHECK(contains(c.html, "<a href=\"https://shop.example/t\">"));
  auto data = data_of(samples.at("ticket_kept"));
  CAF_CHECK(contains(content("ticket_kept", data).text, "has been declined"));
  data["declined"] = false;
  CAF_CHECK(contains(content("ticket_kept", data).text, "in time"));
}

CAF_TEST(a holder reads which tickets are cancelled and who gets the money) {
  auto data = data_of(samples.at("ticket_cancelled"));
  const auto one = content("ticket_cancelled", data);
  CAF_CHECK_EQUAL(one.subject, "Your ticket is cancelled: Derby");
  CAF_CHECK_EQUAL(one.text,
                  "A ticket for Derby that somebody gave you has been cancelled: 1 x VIP. It is no "
                  "longer valid.\nIf it was paid for, the money goes back to the buyer.\n\nYour other "
                  "tickets:\nhttps://shop.example/t\n");
  data["quantity"] = 2;
  data["ticket_name"] = "1 x VIP, 1 x <Standing>";
  data.erase("tickets_url");
  const auto two = content("ticket_cancelled", data);
  CAF_CHECK_EQUAL(two.subject, "Your tickets are cancelled: Derby");
  CAF_CHECK(contains(two.html, "1 x VIP, 1 x &lt;Standing&gt;. They are"));
  CAF_CHECK(!contains(two.text, "Your other tickets"));
}

CAF_TEST(a receipt lists what was bought) {
  const auto c = content("order_receipt", data_of(samples.at("order_receipt")));
  CAF_CHECK_EQUAL(c.subject, "Your order is confirmed: Derby");
  CAF_CHECK_EQUAL(c.text, "Thank you. Your order for Derby is confirmed.\n\n"
                          "Order: O-1\nPaid: Sunday, 22 November 2026 at 18:30 GMT\n"
                          "Begins: Sunday, 22 November 2026 at 18:30 GMT\n\n"
                          "2 x Standard: 100.00 EUR\n1 x VIP: 25.00 EUR\nDiscount: -5.00 EUR\nDonations: "
                          "0.50 EUR\nTotal: 120.50 EUR\n");
  CAF_CHECK(contains(c.html, "<td>2 &times; Standard</td>"));
  CAF_CHECK(contains(c.html, "<strong>120.50 EUR</strong>"));
}

CAF_TEST(a receipt names the page of tickets that are not attached) {
  auto data = data_of(samples.at("order_receipt"));
  data["tickets_page"] = "https://shop.example/t";
  for (const auto in : all_languages) {
    const auto c = content("order_receipt", data, tag_of(in));
    CAF_CHECK(contains(c.text, "\nhttps://shop.example/t\n"));
    CAF_CHECK(contains(c.html, "<a href=\"https://shop.example/t\">"));
    CAF_CHECK(is_tidy(c));
  }
}

CAF_TEST(a receipt whose PDF has the first tickets says how many and names the page of the rest) {
  auto data = data_of(samples.at("order_receipt"));
  data["attached"] = 100;
  data["rest_page"] = "https://shop.example/t";
  for (const auto in : all_languages) {
    const auto c = content("order_receipt", data, tag_of(in));
    CAF_CHECK(contains(c.text, "100"));
    CAF_CHECK(contains(c.text, "\nhttps://shop.example/t\n"));
    CAF_CHECK(contains(c.html, "<a href=\"https://shop.example/t\">"));
    CAF_CHECK(is_tidy(c));
  }
  CAF_CHECK(contains(content("order_receipt", data).text,
                     "The attached PDF has only the first 100 tickets. The others are on this page:"));
}

CAF_TEST(a payment link names the deadline and leads to the page) {
  const auto c = content("payment_link", data_of(samples.at("payment_link")));
  CAF_CHECK_EQUAL(
    c.text,
    "Hello Ana,\n\nYour tickets for Derby are being held for you.\n\nOrder: O-1\nTo pay: 5000.00 NGN\n"
    "Pay before: Sunday, 22 November 2026 at 18:30 GMT\n\nPay here:\nhttps://pay.example/x?a=1&b=2\n\n"
    "If it is not paid by then, the tickets go back on sale.\n");
  CAF_CHECK(contains(c.html, "href=\"https://pay.example/x?a=1&amp;b=2\""));
}

CAF_TEST(failures refunds and cancellations say what comes next) {
  auto failed = data_of(samples.at("order_failed"));
  CAF_CHECK(contains(content("order_failed", failed).text,
                     "Why: The payment service did not accept it.\n\nYou can try again"));
  CAF_CHECK(contains(content("order_failed", failed).text, "Try again here:\nhttps://shop.example/o/1\n"));
  failed["reason"] = "it_rained";
  CAF_CHECK(contains(content("order_failed", failed, "fr").text, "Elle n’a pas pu être menée à bien."));
  failed["reason"] = "It was not paid\nin time.";
  CAF_CHECK(contains(content("order_failed", failed, "fr").text, "It was not paid in time."));
  failed["retry_url"] = "javascript:alert(1)";
  CAF_CHECK(!contains(content("order_failed", failed).html, "javascript"));
  failed["can_retry"] = false;
  CAF_CHECK(contains(content("order_failed", failed).text, "cannot be paid any more"));
  CAF_CHECK(!contains(content("order_failed", failed).text, "https://"));
  auto refunded = data_of(samples.at("order_refunded"));
  CAF_CHECK_EQUAL(content("order_refunded", refunded).subject, "Part of your order was refunded: Derby");
  CAF_CHECK(contains(content("order_refunded", refunded).text, "Refunded: 1200 JPY\n"));
  refunded["whole"] = true;
  CAF_CHECK_EQUAL(content("order_refunded", refunded).subject, "Your order was refunded: Derby");
  CAF_CHECK(contains(content("order_refunded", refunded).text, "no longer valid"));
  auto cancelled = data_of(samples.at("event_cancelled"));
  CAF_CHECK(contains(content("event_cancelled", cancelled).text, "is sent back"));
  cancelled["refund"] = false;
  CAF_CHECK(!contains(content("event_cancelled", cancelled).text, "sent back"));
}

CAF_TEST(names and titles stay text wherever they stand) {
  const std::string evil = "<script>alert(1)</script>\" onload=\"x\r\nBcc: a@b\r\n\r\n--=_x {{CODE}} "
                           "\xe2\x80\xae\xe2\x80\xa8{{>X}}\t'&amp;";
  for (const auto key : mail_template_keys()) {
    auto data = data_of(samples.at(std::string{key}));
    for (const auto* name : {"name", "event_name", "order_id", "code", "reason"})
      if (data.contains(name) || std::string_view{name} == "name") data[name] = evil;
    if (auto* list = data.if_contains("items"))
      for (auto& item : list->as_array()) item.as_object()["name"] = evil;
    const auto c = content(key, data);
    CAF_CHECK(!contains(c.html, "<script"));
    CAF_CHECK(!contains(c.html, "\" onload"));
    CAF_CHECK(!contains(c.text, "\nBcc"));
    CAF_CHECK(!contains(c.text, "\n--"));
    for (const auto* text : {&c.subject, &c.text, &c.html}) CAF_CHECK(!contains(*text, "\xe2\x80\xae"));
    CAF_CHECK(is_one_line(c.subject));
    CAF_CHECK_EQUAL(
      wrong_with({.id = "m", .to = {{"a@b"}}, .subject = c.subject, .text = c.text, .html = c.html}), "");
  }
}

CAF_TEST(titles of any length and bytes fit a header) {
  for (const std::string piece : {"x", "č", "東", "🎟", "\xff", "\n", " "}) {
    std::string title;
    while (title.size() < 5000) title += piece;
    auto data = data_of(samples.at("event_cancelled"));
    data["event_name"] = title;
    const auto c = content("event_cancelled", data);
    CAF_CHECK_EQUAL(
      wrong_with({.id = "m", .to = {{"a@b"}}, .subject = c.subject, .text = c.text, .html = c.html}), "");
    CAF_CHECK(c.subject.size() <= 250);
  }
}

CAF_TEST(a link to anything but a web page is refused) {
  for (const auto* url : {"javascript:alert(1)", "data:text/html,x", "//evil.example", "https://a b",
                          "https://a\nb", "https://a\"b", "", "ftp://a"}) {
    auto data = data_of(samples.at("payment_link"));
    data["payment_url"] = url;
    CAF_CHECK_EQUAL(problem("payment_link", data), "payment_url is not an http(s) url");
  }
}

CAF_TEST(missing and mistaken data are named) {
  for (const auto key : mail_template_keys()) {
    const auto whole = data_of(samples.at(std::string{key}));
    CAF_CHECK(!problem(key, {}).empty());
    for (const auto& [name, value] : whole) {
      auto data = whole;
      data[name] = boost::json::array{};
      if (name != "items") CAF_CHECK(!problem(key, data).empty());
    }
  }
  auto data = data_of(samples.at("order_refunded"));
  data["currency"] = "euro";
  CAF_CHECK_EQUAL(problem("order_refunded", data), "currency is not an ISO 4217 code");
  data.erase("whole");
  data["currency"] = "EUR";
  CAF_CHECK_EQUAL(problem("order_refunded", data), "whole is missing");
  data = data_of(samples.at("payment_link"));
  data["expires_at"] = INT64_MAX;
  CAF_CHECK_EQUAL(problem("payment_link", data), "expires_at is not a time in Unix milliseconds");
  CAF_CHECK_EQUAL(problem("no_such", {}), "there is no template no_such");
  CAF_CHECK_EQUAL(problem("../otp", {}), "there is no template ../otp");
}

CAF_TEST(every language has the same texts with the same places for values) {
  const auto places_in = [](std::string_view text) {
    std::set<std::string> places;
    replaced(text, "{", "}", [&](std::string_view name) { return *places.emplace(name).first; });
    return places;
  };
  std::map<std::string, std::map<std::string, std::string>> texts;
  for (const auto& file : mail_template_files()) {
    if (!file.name.starts_with("texts.")) continue;
    const auto all = boost::json::parse(file.text);
    for (const auto& [key, value] : all.as_object())
      texts[std::string{file.name}].emplace(key, value.as_string());
  }
  CAF_REQUIRE_EQUAL(texts.size(), all_languages.size());
  for (const auto& [file, all] : texts) {
    CAF_MESSAGE(file);
    CAF_CHECK_EQUAL(all.size(), texts.at("texts.en.json").size());
    for (const auto& [key, text] : texts.at("texts.en.json")) {
      CAF_REQUIRE(all.contains(key));
      CAF_CHECK(places_in(all.at(key)) == places_in(text));
    }
  }
}

CAF_TEST(the name and the colour of a tenant are in the mail) {
  const auto data = data_of(samples.at("payment_link"));
  const auto style_of = [&](const mail_style& style) {
    return std::get<mail_content>(render("payment_link", "ar", data, style));
  };
  const auto c = style_of({{}, "Arena <1>", "#ffd23f"});
  CAF_CHECK(contains(c.html, "background:#ffd23f;color:#000\"><strong>Arena &lt;1&gt;</strong>"));
  CAF_CHECK(contains(c.html, "padding:10px 20px;background:#ffd23f;color:#000;"));
  CAF_CHECK(c.text.ends_with("\n\nArena <1>\n"));
  CAF_CHECK(!contains(style_of({}).html, "Arena") && !contains(style_of({}).html, "<img"));
  const auto pictured = style_of({{}, {}, {}, "https://shop.example/pictures/a-small"});
  CAF_CHECK(contains(pictured.html, "<img src=\"https://shop.example/pictures/a-small\" alt"));
  CAF_CHECK(contains(style_of({{}, {}, "red;}</style><script>"}).html, "background:#1d4ed8;color"));
}

CAF_TEST(a language that is not there is answered in English) {
  const auto data = data_of(samples.at("otp"));
  for (const auto* language : {"de", "", "../en", "EN"}) {
    CAF_CHECK_EQUAL(content("otp", data, language).text, content("otp", data).text);
    CAF_CHECK(contains(content("otp", data, language).html, "lang=\"en\""));
  }
}

CAF_TEST(a placeholder for many recipients passes through) {
  auto data = data_of(samples.at("event_cancelled"));
  data["order_id"] = "%recipient.order%";
  const auto c = content("event_cancelled", data);
  CAF_CHECK(contains(c.text, "Your order: %recipient.order%\n"));
  CAF_CHECK(contains(c.html, "Your order: %recipient.order%<"));
}

CAF_TEST(threads render at once) {
  const auto data = data_of(samples.at("order_receipt"));
  const auto expected = content("order_receipt", data).html;
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (auto& count : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        count += std::get<mail_content>(render("order_receipt", "en", data)).html == expected ? 0 : 1;
    });
  for (auto& t : threads) t.join();
  for (const auto count : wrong) CAF_CHECK_EQUAL(count, 0);
}

} // namespace mail_templates_test
