// SPDX-License-Identifier: Apache-2.0
// The files of a mail: those that fit, and what the mail says about the others.
#define CAF_SUITE mail_files
#include "actors/outbox/mail_consumer.hpp"
#include "domain/delivery/outbox.hpp"
#include "outbound/limits.hpp"
#include "tests/actors/outbox/consumer_fixture.hpp"

namespace mail_files_test {

using namespace fq;
using namespace fq::test;

namespace {

class keeping_mail final : public mail_port {
public:
  mail_message last;
  mail_answer send(const mail_message& message) override {
    last = message;
    return {.result = mail_result::accepted, .recipients = {mail_result::accepted}};
  }
};

struct mail_files_fixture : consumer_fixture {
  keeping_mail port;
  mail_consumer_services services;

  mail_files_fixture() {
    services.env = &env;
    services.port = &port;
    services.region = owners;
    consumer = keep(sys.spawn(mail_consumer, static_cast<const mail_consumer_services*>(&services)));
    run();
  }
  ~mail_files_fixture() {
    services.region = nullptr;
    kill(consumer);
    consumer = nullptr;
  }
  outbox_item item(std::string payload) {
    ++next_id;
    return {{aggregate_id{20}, next_id, 0},
            default_tenant,
            {},
            {{1, next_id}, std::string{topic::mail_send}, std::move(payload), {}}};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mail_files_tests, mail_files_fixture)

CAF_TEST(files that do not fit are left out one by one and the mail names their page) {
  services.tickets_page = "https://t.example/my/tickets";
  services.link_of = [](const order_id&) { return std::string{"https://t.example/link"}; };
  std::size_t pdf_bytes = 0;
  services.attach = [&](const std::string&) -> std::vector<mail_attachment> {
    if (pdf_bytes == 0) throw std::runtime_error("no printer");
    return {{"tickets.pdf", "application/pdf", std::string(pdf_bytes, 'x')},
            {"event.ics", "text/calendar", "BEGIN"}};
  };
  std::string cut;
  const auto receipt = [&](bool link) {
    return item(R"({"template":"order_receipt","to":[{"address":"a@x.org"}],"event_tickets":{"link":)"
                + std::string{link ? "true" : "false"}
                + R"(},"data":{"order_id":"00000000-0000-0005-0000-000000000006",)"
                  R"("event_name":"Concert","items":[],"total":0,"currency":"EUR")"
                + cut + "}}");
  };
  const auto sent = [&](std::size_t bytes, bool link) {
    pdf_bytes = bytes;
    CAF_REQUIRE_EQUAL(give({receipt(link)}).size(), 1u);
    return port.last;
  };
  const auto names_of = [](const mail_message& m) {
    std::string names;
    for (const auto& file : m.attachments) names += file.name + ' ';
    return names;
  };
  const auto fits = sent(mail_attachments_bytes_max - 5, false);
  CAF_CHECK_EQUAL(names_of(fits), "tickets.pdf event.ics ");
  CAF_CHECK(fits.text.find("not attached") == std::string::npos);
  const auto large = sent(mail_attachments_bytes_max - 4, false);
  CAF_CHECK_EQUAL(names_of(large), "event.ics ");
  const std::string note = "The tickets are not attached to this mail. They are on this page:\n";
  CAF_CHECK(large.text.find(note + services.tickets_page) != std::string::npos);
  CAF_CHECK(large.html.find("href=\"https://t.example/my/tickets\"") != std::string::npos);
  const auto of_guest = sent(mail_attachments_bytes_max, true);
  CAF_CHECK(of_guest.text.find(note + "https://t.example/link") != std::string::npos);
  CAF_CHECK(of_guest.text.find(services.tickets_page) == std::string::npos);
  const auto unprinted = sent(0, false);
  CAF_CHECK(unprinted.attachments.empty());
  CAF_CHECK(unprinted.text.find(note + services.tickets_page) != std::string::npos);
  cut = R"(,"attached":100)";
  const std::string rest = "only the first 100 tickets. The others are on this page:\n";
  const auto some = sent(9, false);
  CAF_CHECK_EQUAL(names_of(some), "tickets.pdf event.ics ");
  CAF_CHECK(some.text.find(rest + services.tickets_page) != std::string::npos);
  CAF_CHECK(some.text.find("not attached") == std::string::npos);
  CAF_CHECK(sent(9, true).text.find(rest + "https://t.example/link") != std::string::npos);
  const auto none = sent(mail_attachments_bytes_max, false);
  CAF_CHECK(none.text.find(note + services.tickets_page) != std::string::npos);
  CAF_CHECK(none.text.find("only the first") == std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace mail_files_test
