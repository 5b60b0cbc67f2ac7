// SPDX-License-Identifier: Apache-2.0
// Printed tickets, read back by poppler's programs and zbarimg.
#define CAF_SUITE event_ticket_pdf
#include "caf/test/unit_test.hpp"

#include "print/event_ticket_pdf.hpp"
#include "print/limits.hpp"
#include "print/pictures.hpp"
#include "tests/print/read_pdf.hpp"
#include "tests/print/sample_tickets.hpp"

#include <stdexcept>
#include <thread>

using namespace fq;
using namespace fq::print;
using namespace fq::test;
using namespace std::string_view_literals;

namespace {

constexpr std::size_t pdf_bytes_max = 150 * 1024;

event_ticket_document with_pictures(event_ticket_document document) {
  static const auto photo = pictures_of(test::photo_png(1600, 800)).sizes.medium;
  static const auto sign = pictures_of(test::sign_png()).sizes.small;
  document.picture = photo;
  document.logo = sign;
  return document;
}

std::string repeated(const std::string& part, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += part;
  return all;
}

/// Every text of the ticket is `text`.
event_ticket_document all_texts_are(const std::string& text, const char* language = "en") {
  auto document = with_pictures(test::sample_ticket(language));
  document.title = text;
  auto& page = document.pages.front();
  page.event = page.code_note = page.terms_label = page.terms = text;
  for (auto& fact : page.facts) fact.label = fact.value = text;
  return document;
}

} // namespace

CAF_TEST(in every language the code is read the text is found and the fonts are inside) {
  for (const std::string language : test::sample_languages) {
    CAF_MESSAGE(language);
    const auto document = with_pictures(test::sample_ticket(language));
    const auto bytes = event_ticket_pdf(document);
    CAF_CHECK(bytes.size() <= pdf_bytes_max);
    const read_pdf pdf{bytes};
    CAF_CHECK_EQUAL(pdf.codes(), document.pages.front().code + "\n");
    CAF_CHECK(pdf.foreign_fonts().empty());
    CAF_CHECK(holds(pdf.by("pdfinfo"), "Pages:           1\n"));
    CAF_CHECK(holds(pdf.by("pdfinfo"), "A4"));
    const auto text = pdf.text();
    CAF_CHECK(holds(text, "7F3K-22QX"));
    if (language != "ar")
      for (const auto& fact : document.pages.front().facts) {
        CAF_CHECK(holds(text, fact.label));
        CAF_CHECK(holds(text, fact.value));
      }
    check_words_apart(bytes);
  }
}

CAF_TEST(Arabic is shaped and its text is in the order of reading) {
  const auto document = test::sample_ticket("ar");
  const auto text = read_pdf{event_ticket_pdf(document)}.text();
  // Without lam-alef, which poppler's programs turn around.
  for (const std::string words : {"التاريخ", "المقعد", "ليلة صيف في الهواء الطلق", "مسرح المدينة",
                                  "شارع الحمراء", "محمد عبد الرحمن", "مرة واحدة", "بطاقة الهوية"})
    CAF_CHECK(holds(text, words));
  // The facts are on the right, the code on the left. pdftotext names letters from left to right here.
  bool is_right = false;
  for (const auto& word : words_of(read_pdf{event_ticket_pdf(document)}))
    is_right |= word.text == "تبسلا" && word.right > 500;
  CAF_CHECK(is_right);
}

CAF_TEST(a document has a page for each ticket and pictures once) {
  auto document = with_pictures(test::sample_ticket("en"));
  const auto one = event_ticket_pdf(document).size();
  document.pages.resize(10, document.pages.front());
  for (std::size_t i = 0; i < document.pages.size(); ++i)
    document.pages[i].code = "TICKET " + std::to_string(i);
  const auto bytes = event_ticket_pdf(document);
  CAF_CHECK(bytes.size() < one + 9 * 12'000);
  CAF_CHECK_EQUAL(read_pdf{bytes}.codes(), "TICKET 0\nTICKET 1\nTICKET 2\nTICKET 3\nTICKET 4\nTICKET 5\n"
                                           "TICKET 6\nTICKET 7\nTICKET 8\nTICKET 9\n");
}

CAF_TEST(what is missing leaves no trace) {
  event_ticket_document document;
  document.pages = {{"Name", {{"Seat", ""}, {"Place", "Here"}}, "", "The code changes.", "", ""}};
  const auto bytes = event_ticket_pdf(document);
  const auto text = read_pdf{bytes}.text();
  CAF_CHECK(holds(text, "Here"));
  CAF_CHECK(holds(text, "The code changes."));
  CAF_CHECK(!holds(text, "Seat"));
  document.pages = std::vector<event_ticket_page>(1);
  CAF_CHECK(!event_ticket_pdf(document).empty());
}

CAF_TEST(equal tickets are equal bytes also from two threads at once) {
  std::vector<event_ticket_document> documents;
  for (const auto* language : test::sample_languages)
    documents.push_back(with_pictures(test::sample_ticket(language)));
  const auto print_all = [&](std::vector<std::string>& into) {
    for (int round = 0; round < 4; ++round)
      for (const auto& document : documents) into.push_back(event_ticket_pdf(document));
  };
  std::vector<std::string> first, second, alone;
  std::thread one{[&] { print_all(first); }}, other{[&] { print_all(second); }};
  one.join();
  other.join();
  print_all(alone);
  CAF_CHECK(first == second);
  CAF_CHECK(first == alone);
  for (std::size_t i = 5; i < alone.size(); ++i) CAF_CHECK(alone[i] == alone[i - 5]);
  documents.front().created_at += seconds{1};
  CAF_CHECK(event_ticket_pdf(documents.front()) != alone.front());
}

CAF_TEST(texts of strangers stay in their boxes) {
  const auto many_marks = repeated("e" + repeated("\u0301", 300) + " ", 50);
  const std::string blanks(300, ' ');
  for (const auto& text : {
         repeated("Donaudampfschifffahrtsgesellschaft", 20),
         repeated("W", 3'000),
         repeated("long words ", 400),
         repeated("line\n", 500),
         repeated("كلمة ", 500),
         repeated("\u202eabc \u2067", 300),
         many_marks,
         repeated("عربي Latin 123 ", 100),
         repeated("👩‍👩‍👧🇭🇷", 50),
         repeated("\xff\x01", 500),
         blanks,
       })
    for (const auto* language : {"en", "ar"}) {
      auto document = all_texts_are(text, language);
      document.pages.front().facts.resize(30, document.pages.front().facts.front());
      const auto bytes = event_ticket_pdf(document);
      CAF_CHECK(bytes.size() <= pdf_bytes_max);
      const read_pdf pdf{bytes};
      CAF_CHECK(pdf.foreign_fonts().empty());
      if (language == "en"sv) CAF_CHECK_EQUAL(pdf.codes(), document.pages.front().code + "\n");
      // pdftotext places marks beside their letter.
      if (text != many_marks && text != blanks) check_words_apart(bytes);
    }
}

CAF_TEST(markup is text) {
  auto document = all_texts_are("<b>5 & 6</b>");
  const auto text = read_pdf{event_ticket_pdf(document)}.text();
  CAF_CHECK(holds(text, "<b>5 & 6</b>"));
}

CAF_TEST(a character without a font is a box) {
  auto document = test::sample_ticket("en");
  document.pages.front().facts[4].value =
    "Ada \U000f1234\u200d\U000f1235 Lovelace"; // private use: no font has it
  const read_pdf pdf{event_ticket_pdf(document)};
  CAF_CHECK(holds(pdf.text(), "Ada □ Lovelace"));
  CAF_CHECK(pdf.foreign_fonts().empty());
}

CAF_TEST(a long name is whole or ends with an ellipsis) {
  auto document = with_pictures(test::sample_ticket("en"));
  auto& page = document.pages.front();
  page.event = repeated("The quick brown fox jumps over the lazy dog. ", 5) + "END";
  CAF_CHECK(holds(read_pdf{event_ticket_pdf(document)}.text(), "END"));
  page.event = repeated("The quick brown fox jumps over the lazy dog. ", 40) + "END";
  const auto text = read_pdf{event_ticket_pdf(document)}.text();
  CAF_CHECK(!holds(text, "END"));
  CAF_CHECK(holds(text, "…"));
}

CAF_TEST(the longest terms of an event fit below a full page) {
  auto document = with_pictures(test::sample_ticket("en"));
  auto& page = document.pages.front();
  page.event = repeated("The quick brown fox jumps over the lazy dog. ", 5);
  page.facts.resize(8, {"Doors", "18:00"}); // as many as a ticket has
  page.terms = repeated("The quick brown fox jumps over the lazy dog. ", 23);
  page.terms.resize(997);
  page.terms += "END";
  const auto bytes = event_ticket_pdf(document);
  CAF_CHECK(holds(read_pdf{bytes}.text(), "END"));
  check_words_apart(bytes);
}

CAF_TEST(a code that no ticket has is refused) {
  auto document = test::sample_ticket("en");
  document.pages.front().code = std::string(5'000, 'A');
  bool is_refused = false;
  try {
    static_cast<void>(event_ticket_pdf(document));
  } catch (const std::length_error&) { is_refused = true; }
  CAF_CHECK(is_refused);
}
