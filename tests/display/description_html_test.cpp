// SPDX-License-Identifier: Apache-2.0
// Descriptions as HTML: their markup, and that nothing else can get into a page.
#define CAF_SUITE description_html
#include "display/description_html.hpp"

#include "caf/test/unit_test.hpp"

namespace description_html_test {

using namespace fq;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

CAF_TEST(descriptions are CommonMark below the headings of the page) {
  CAF_CHECK_EQUAL(description_html(""), "");
  CAF_CHECK_EQUAL(
    description_html("One *two* **three**\n\n* four\n* five"),
    "<p>One <em>two</em> <strong>three</strong></p>\n<ul>\n<li>four</li>\n<li>five</li>\n</ul>\n");
  CAF_CHECK_EQUAL(description_html("# A\n## B\n###### C"), "<h3>A</h3>\n<h4>B</h4>\n<h6>C</h6>\n");
}

CAF_TEST(links say that they are foreign) {
  CAF_CHECK_EQUAL(description_html("[a](https://b.example/?c=d&e=f)"),
                  "<p><a rel=\"nofollow noopener\" href=\"https://b.example/?c=d&amp;e=f\">a</a></p>\n");
  CAF_CHECK(contains(description_html("<https://b.example>"), "<a rel=\"nofollow noopener\" href="));
  CAF_CHECK(contains(description_html("<a@b.example>"), "href=\"mailto:a@b.example\""));
  CAF_CHECK_EQUAL(description_html("`<a href=`"), "<p><code>&lt;a href=</code></p>\n");
}

CAF_TEST(HTML in the source is left out) {
  for (const auto* source :
       {"<script>alert(1)</script>", "<SCRIPT SRC=//evil.example>", "<img src=x onerror=alert(1)>",
        "a <b onclick=\"alert(1)\">b</b>", "<svg/onload=alert(1)>", "<!-- a --> <iframe srcdoc='x'>",
        "* a\n  <style>*{display:none}</style>", "> <form action=//evil.example>", "<![CDATA[<script>]]>",
        "<?php echo 1 ?>", "a<br>b", "<div>\n\n*a*\n\n</div>", "&lt;script&gt;alert(1)&lt;/script&gt;"}) {
    const auto html = description_html(source);
    for (const auto* bad : {"<script", "<SCRIPT", "<img", "<b ", "<svg", "<iframe", "<style", "<form", "<br",
                            "<div", "<!", "<?", "onclick=\"", "evil"})
      if (contains(html, bad)) CAF_ERROR(std::string{source} + " became " + html);
  }
  CAF_CHECK_EQUAL(description_html("a <b onclick=x>b</b>"), "<p>a b</p>\n");
}

CAF_TEST(links lead to the web or to mail only) {
  for (const auto* target :
       {"javascript:alert(1)", "JaVaScRiPt:alert(1)", "&#106;avascript:alert(1)", "java&#x0A;script:alert(1)",
        "data:text/html,<script>alert(1)</script>", "vbscript:x", "file:///etc/passwd", "//evil.example",
        "/console", "?lang=fr", "https:", "mailto:", "x", "", "<javascript:alert(1)>",
        "%6aavascript:alert(1)", "blob:https://a.example/1", "view-source:https://a.example"}) {
    const auto html = description_html("[a](" + std::string{target} + ")");
    if (contains(html, "<a ")) CAF_ERROR(std::string{target} + " became " + html);
  }
  CAF_CHECK(!contains(description_html("<javascript:alert(1)>"), "<a "));
  CAF_CHECK_EQUAL(description_html("[a]\n\n[a]: javascript:alert(1)"), "<p>a</p>\n");
  CAF_CHECK(!contains(description_html("[a](https://b.example \"\\\" onclick=x\")"), "\" onclick"));
  CAF_CHECK(!contains(description_html("[a](https://b.example/\"onclick=x)"), "\"onclick"));
}

CAF_TEST(pictures become their words) {
  CAF_CHECK_EQUAL(description_html("![a *b*](https://b.example/c.png)"), "<p>a <em>b</em></p>\n");
  CAF_CHECK_EQUAL(description_html("[![a](javascript:x)](javascript:y)"), "<p>a</p>\n");
}

CAF_TEST(the same source is the same HTML also when it is known) {
  for (int i = 0; i < 100; ++i) {
    const auto source = "*" + std::to_string(i % 40) + "*";
    CAF_CHECK_EQUAL(description_html(source), "<p><em>" + std::to_string(i % 40) + "</em></p>\n");
  }
}

CAF_TEST(sources of 10 KB that cost a parser most are read) {
  for (const auto* part : {"<!A ", "<?", "<!--", "<![CDATA[", "[", "![", "> ", "* ", "*a_ ", "`", "a**b"}) {
    std::string source;
    while (source.size() < 10'000) source += part;
    (void)description_html(source);
    (void)description_text(source, 100);
  }
}

CAF_TEST(a source that costs too much is shown as it was typed) {
  std::string nested;
  for (int i = 0; i < 2'500; ++i) nested += "* ";
  nested += "x" + std::string(4'990, '\n'); // each line would look at 2,500 open lists
  CAF_CHECK(description_html(nested).starts_with("<p>* * * "));
  auto repeated = "[a]: http://x/" + std::string(5'000, '&') + "\n\n";
  for (int i = 0; i < 20; ++i) repeated += "[a] ";
  CAF_CHECK(description_html(repeated).starts_with("<p>[a]: http://x/&amp;"));
  CAF_CHECK(description_html(repeated).size() <= 64 * 1024);
  CAF_CHECK_EQUAL(description_html("a\n\n" + std::string(80, '-')), "<p>a</p>\n<hr />\n");
  CAF_CHECK_EQUAL(description_html("> 1. * a"),
                  "<blockquote>\n<ol>\n<li>\n<ul>\n<li>a</li>\n</ul>\n</li>\n</ol>\n</blockquote>\n");
}

CAF_TEST(control characters of entities are blanks) {
  CAF_CHECK_EQUAL(description_html("a&#1;b&#27;c"), "<p>a b c</p>\n");
  CAF_CHECK_EQUAL(description_text("a&#13;&#10;b", 100), "a  b");
}

CAF_TEST(a preview has the words in one line) {
  CAF_CHECK_EQUAL(description_text("# One\n\nTwo *three*\nfour [five](https://a.example)\n\n<b>six</b>", 300),
                  "One Two three four five six");
  CAF_CHECK_EQUAL(description_text("", 10), "");
  const auto cut = description_text("ääääääääää", 5); // 2 bytes each
  CAF_CHECK_EQUAL(cut, "ää…");
}

} // namespace description_html_test
