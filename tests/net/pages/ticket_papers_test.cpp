// SPDX-License-Identifier: Apache-2.0
// What is printed of an event's tickets.
#define CAF_SUITE ticket_papers
#include "caf/test/unit_test.hpp"

#include "net/pages/ticket_papers.hpp"

#include <algorithm>

namespace ticket_papers_test {

using namespace fq;
using namespace fq::net;

CAF_TEST(each ticket has the terms of its event) {
  event_row event;
  event.id = {1, 2};
  event.name = "Concert";
  event.currency = "EUR";
  event.facts.ticket_terms = "No glass.\nNo dogs.";
  const event_ticket_keys keys{secret_key{}, event.id, 0};
  const std::vector<ticket_paper> papers(2);
  const auto printed = ticket_document(language::fr, event, papers, keys, from_unix_ms(0));
  CAF_REQUIRE_EQUAL(printed.pages.size(), 2u);
  for (const auto& page : printed.pages) {
    CAF_CHECK_EQUAL(page.terms, "No glass.\nNo dogs.");
    CAF_CHECK_EQUAL(page.terms_label, "Conditions");
  }
}

CAF_TEST(a printed ticket has the number of its attendee and no name) {
  event_row event;
  event.id = {1, 2};
  event.currency = "EUR";
  const event_ticket_keys keys{secret_key{}, event.id, 0};
  std::vector<ticket_paper> papers(2);
  for (auto& paper : papers) paper.type_name = "Standing";
  papers[1].attendee = 2;
  const auto printed = ticket_document(language::en, event, papers, keys, from_unix_ms(0));
  const auto type_of = [&](std::size_t page) {
    const auto& facts = printed.pages.at(page).facts;
    return std::ranges::find(facts, text(language::en, "event_ticket_type"), &print::event_ticket_fact::label)
      ->value;
  };
  CAF_CHECK_EQUAL(type_of(0), "Standing");
  CAF_CHECK_EQUAL(type_of(1), "Standing · Ticket 2");
  for (const auto& page : printed.pages)
    for (const auto& fact : page.facts) CAF_CHECK(fact.label != "Name");
}

} // namespace ticket_papers_test
