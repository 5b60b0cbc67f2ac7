// SPDX-License-Identifier: Apache-2.0
// Printed tickets, read back by poppler's programs and zbarimg.
#define CAF_SUITE event_ticket_pdf
#include "caf/test/unit_test.hpp"

#include "print/event_ticket_pdf.hpp"
#include "print/limits.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/print/sample_tickets.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>

using namespace fq;
using namespace fq::print;
using namespace std::string_view_literals;

namespace {

constexpr std::size_t pdf_bytes_max = 150 * 1024;

std::string output_of(const std::string& command) {
  auto* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error{"popen failed"};
  std::string out;
  std::array<char, 4096> part{};
  while (const auto size = std::fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), size);
  if (::pclose(pipe) != 0) throw std::runtime_error{command + " failed: " + out};
  return out;
}

/// A PDF as its readers see it.
class read_pdf {
public:
  explicit read_pdf(const std::string& pdf) : file_{(folder_ / "ticket.pdf").string()} {
    std::ofstream{file_, std::ios::binary} << pdf;
  }
  [[nodiscard]] std::string by(const std::string& program, const std::string& rest = "") const {
    return output_of(program + " '" + file_ + "' " + rest + " 2>&1");
  }
  [[nodiscard]] std::string text() const { return by("pdftotext -layout", "-"); }
  [[nodiscard]] std::string codes() const {
    static_cast<void>(by("pdftoppm -r 90 -gray -png", "'" + (folder_ / "page").string() + "'"));
    return output_of("zbarimg --quiet --raw -Sdisable -Sqrcode.enable '" + folder_.path().string()
                     + "'/page*.png");
  }
  /// Names of fonts that are not embedded.
  [[nodiscard]] std::vector<std::string> foreign_fonts() const {
    std::istringstream lines{by("pdffonts")};
    std::vector<std::string> foreign;
    std::string line;
    for (int number = 0; std::getline(lines, line); ++number)
      if (number >= 2 && !std::regex_search(line, std::regex{" yes +(yes|no) +(yes|no) +[0-9]+ +[0-9]+ *$"}))
        foreign.push_back(line);
    return foreign;
  }

private:
  test::temp_folder folder_;
  std::string file_;
};

struct word_box {
  double left, top, right, bottom;
  std::string text;
};

std::vector<word_box> words_of(const read_pdf& pdf) {
  static const std::regex word{"<word xMin=\"([-0-9.]+)\" yMin=\"([-0-9.]+)\" xMax=\"([-0-9.]+)\" "
                               "yMax=\"([-0-9.]+)\">(.*)</word>"};
  std::vector<word_box> words;
  const auto html = pdf.by("pdftotext -bbox", "-");
  for (std::sregex_iterator i{html.begin(), html.end(), word}, end; i != end; ++i)
    words.push_back(
      {std::stod((*i)[1]), std::stod((*i)[2]), std::stod((*i)[3]), std::stod((*i)[4]), (*i)[5]});
  return words;
}

/// Each word is on the page, and no other word covers a third of it.
void check_words_apart(const std::string& pdf) {
  const auto words = words_of(read_pdf{pdf});
  CAF_CHECK(!words.empty());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& a = words[i];
    if (a.left < 40 || a.top < 40 || a.right > 556 || a.bottom > 802) CAF_ERROR("outside: " << a.text);
    for (std::size_t j = i + 1; j < words.size(); ++j) {
      const auto& b = words[j];
      const auto width = std::min(a.right, b.right) - std::max(a.left, b.left),
                 height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
      const auto area = [](const word_box& w) { return (w.right - w.left) * (w.bottom - w.top); };
      if (width > 0 && height > 0 && width * height > std::min(area(a), area(b)) / 3)
        CAF_ERROR("one covers the other: " << a.text << " and " << b.text);
    }
  }
}

event_ticket_document with_pictures(event_ticket_document document) {
  static const auto photo = picture_of(test::photo_png(1600, 800)).value();
  static const auto sign = logo_of(test::sign_png()).value();
  document.picture = photo;
  document.logo = sign;
  return document;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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

CAF_TEST(a code that no ticket has is refused) {
  auto document = test::sample_ticket("en");
  document.pages.front().code = std::string(5'000, 'A');
  bool is_refused = false;
  try {
    static_cast<void>(event_ticket_pdf(document));
  } catch (const std::length_error&) { is_refused = true; }
  CAF_CHECK(is_refused);
}
