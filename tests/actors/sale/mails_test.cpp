// SPDX-License-Identifier: Apache-2.0
// The mails of each decision.
#define CAF_SUITE mails
#include "actors/sale/mails.hpp"
#include "domain/base/address_text.hpp"
#include "domain/delivery/outbox.hpp"
#include "domain/sale/sale.hpp"

#include "caf/test/unit_test.hpp"

#include <utility>

namespace mails_test {

using namespace fq;

namespace {

const timestamp noon = from_unix_ms(1'795'000'000'000);
const customer_id ada{0xfa, 1}, ben{0xfa, 2}, cem{0xfa, 3};

struct fixture {
  fixture() {
    event_row e;
    e.id = {1, 1};
    e.aggregate = first_event_aggregate;
    e.name = "Sale";
    e.currency = "NGN";
    e.status = event_status::active;
    e.queue_opens_at = e.sale_start = noon;
    e.sale_end = noon + seconds{3600};
    e.queue.policy = admission_policy::open;
    it.load(e, {{.ordinal = 0, .id = {2, 2}, .name = "Seat", .price = 500, .total = 5}});
    it.loaded();
  }
  payment_id ordered(std::string account_email = {}) {
    order_wish wish;
    wish.contact = {"Ada", "Obi", "ada@example.org", "", std::move(account_email)};
    wish.gateway = "sandbox";
    decision d;
    const auto placed = it.place_order(ada, nullptr, wish, noon, d);
    CAF_REQUIRE(!placed.no);
    return it.view_of(*it.orders().find(placed.order)).payment;
  }
  std::vector<std::string> mails_after(milliseconds span) {
    decision d;
    it.run(noon + span, d);
    std::vector<std::string> payloads;
    for (auto& m : mails_of(d.content, it)) payloads.push_back(std::move(m.payload));
    return payloads;
  }
  /// Of the only order; who is not its buyer has it from her.
  event_ticket_row ticket_held_by(const customer_id& holder, std::uint64_t n, bool is_valid = true) {
    event_ticket_row ticket;
    ticket.id = {3, n};
    ticket.claim = it.orders().all().begin()->second.claim;
    ticket.holder = holder;
    ticket.generation = holder == ada ? 1 : 2;
    ticket.status = !is_valid       ? event_ticket_status::cancelled
                    : holder == ada ? event_ticket_status::issued
                                    : event_ticket_status::transferred;
    it.load(ticket);
    return ticket;
  }
  std::uint64_t last_random = 0;
  sale it{sale_rules{}, [this] { return ++last_random; }};
};

} // namespace

CAF_TEST(who has not paid after a while is sent the page) {
  fixture f;
  decision d;
  f.it.initialized(f.ordered(), "https://pay.example/1", {}, noon, d);
  const auto mails = f.mails_after(seconds{2});
  CAF_REQUIRE_EQUAL(mails.size(), 1u);
  CAF_CHECK(mails[0].find("https://pay.example/1") != std::string::npos);
  CAF_CHECK_EQUAL(order_of_mail(mails[0]), to_string(f.it.orders().all().begin()->first));
}

CAF_TEST(mails go to the address of the account and not to the contact) {
  fixture f;
  decision d;
  f.it.initialized(f.ordered("login@example.org"), "https://pay.example/1", {}, noon, d);
  auto mails = f.mails_after(seconds{2});
  event_changed cancelled{event_status::active, f.it.event()};
  cancelled.event.status = event_status::cancelled;
  changes content;
  content.emplace_back(cancelled);
  for (auto& m : mails_of(content, f.it)) mails.push_back(std::move(m.payload));
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  for (const auto& mail : mails) {
    CAF_CHECK(mail.find(R"("address":"login@example.org")") != std::string::npos);
    CAF_CHECK(mail.find("ada@example.org") == std::string::npos);
  }
}

CAF_TEST(mails say when and where) {
  fixture f;
  decision d;
  event_patch facts;
  facts.set(&event_facts::starts_at, noon + seconds{9'000});
  facts.set(&event_facts::time_zone, "Africa/Lagos");
  facts.set(&event_facts::venue_name, "The Arena");
  CAF_REQUIRE(!f.it.patch(facts, noon, d));
  f.it.initialized(f.ordered(), "https://pay.example/1", {}, noon, d);
  const auto mails = f.mails_after(seconds{2});
  CAF_REQUIRE_EQUAL(mails.size(), 1u);
  for (const auto* part :
       {R"("starts_at":1795009000000)", R"("time_zone":"Africa/Lagos")", R"("venue_name":"The Arena")"})
    CAF_CHECK(mails[0].find(part) != std::string::npos);
  CAF_CHECK(mails[0].find("ends_at") == std::string::npos);
}

CAF_TEST(a receipt has the picture and terms and to a confirmed address the answers) {
  fixture f;
  decision d;
  event_patch facts;
  facts.set(&event_row::questions, std::vector{question{0, question_kind::consent, false, false, "News?"},
                                               question{0, question_kind::text, true, false, "Shirt"}});
  facts.set(&event_facts::ticket_terms, "No glass.");
  CAF_REQUIRE(!f.it.patch(facts, noon, d));
  order_wish wish;
  wish.contact = {"Ada", "Obi", "ada@example.org", "", "login@example.org"};
  wish.contact.answers = {{1, 0, {}, "yes"}, {2, 1, {}, "yes"}};
  wish.gateway = "sandbox";
  const auto placed = f.it.place_order(ada, nullptr, wish, noon, d);
  CAF_REQUIRE(!placed.no);
  auto order = *f.it.orders().find(placed.order);
  order.status = order_status::success;
  const auto receipt = [&] {
    return mails_of({order_moved{order_status::awaiting_payment, order}}, f.it).at(0).payload;
  };
  CAF_CHECK(receipt().find(R"("answers":[{"label":"News?","value":")"
                           "\u2713"
                           R"("},{"label":"Shirt","value":"yes","attendee":1}])")
            != std::string::npos);
  CAF_CHECK(receipt().find(R"("terms":"No glass.")") != std::string::npos);
  f.ticket_held_by(ada, 1);
  CAF_CHECK(receipt().find(R"("price":500,"attendee":1})") != std::string::npos);
  order.guest = {0xfb, 1};
  CAF_CHECK(receipt().find("Shirt") == std::string::npos);
  order.guest = {};
  order.contact.account_email.clear();
  CAF_CHECK(receipt().find("Shirt") == std::string::npos);
}

CAF_TEST(a receipt says how many tickets its PDF has if there are more) {
  fixture f;
  f.ordered("login@example.org");
  auto order = f.it.orders().all().begin()->second;
  order.status = order_status::success;
  const auto receipt = [&] {
    return mails_of({order_moved{order_status::awaiting_payment, order}}, f.it).at(0).payload;
  };
  for (std::uint64_t n = 1; n <= papers_max; ++n) f.ticket_held_by(ada, n);
  CAF_CHECK(receipt().find(R"("attached")") == std::string::npos);
  f.ticket_held_by(ada, papers_max + 1);
  CAF_CHECK(receipt().find(R"("attached":100)") != std::string::npos);
}

CAF_TEST(a mail names the language of its order and the tenant and where to try again) {
  fixture f;
  decision d;
  order_wish wish;
  wish.contact = {"Ada", "Obi", "ada@example.org", "", "", language::fr};
  wish.gateway = "sandbox";
  const auto placed = f.it.place_order(ada, nullptr, wish, noon, d);
  CAF_REQUIRE(!placed.no);
  auto order = *f.it.orders().find(placed.order);
  order.failure = "expired";
  order.status = order_status::failed;
  const changes content{order_moved{order_status::pending, order}};
  const auto mail_of = [&](std::string_view shop) { return mails_of(content, f.it, shop).at(0).payload; };
  for (const auto* part : {R"("tenant":1,)", R"("language":"fr")", R"("reason":"expired")"})
    CAF_CHECK(mail_of({}).find(part) != std::string::npos);
  CAF_CHECK(mail_of({}).find("retry_url") == std::string::npos);
  CAF_CHECK(mail_of("https://tickets.example/shop")
              .find(R"("retry_url":"https://tickets.example/shop/events/)" + to_string(f.it.event().id))
            != std::string::npos);
  order.cancel_url = "https://shop.example/back";
  CAF_CHECK(mails_of({order_moved{order_status::pending, order}}, f.it, "https://tickets.example/shop")
              .at(0)
              .payload.find(R"("retry_url":"https://shop.example/back")")
            != std::string::npos);
}

CAF_TEST(invitations are chunks of one language) {
  fixture f;
  const std::vector<invited_mailbox> invited{
    {"a@x.org", language::ar}, {"b@x.org"}, {"c@x.org", language::ar}};
  const auto mails = invitation_mails(invited, invitation_row{}, f.it);
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  CAF_CHECK(mails[0].find(R"("language":"en","to":[{"address":"b@x.org"}])") != std::string::npos);
  CAF_CHECK(mails[1].find(R"("language":"ar","to":[{"address":"a@x.org"},{"address":"c@x.org"}])")
            != std::string::npos);
}

CAF_TEST(mails about an offered ticket are in the languages of giver and receiver) {
  fixture f;
  decision d;
  order_wish wish;
  wish.contact = {"Ada", "Obi", "ada@example.org", "", "", language::fr};
  wish.gateway = "sandbox";
  const auto placed = f.it.place_order(ada, nullptr, wish, noon, d);
  CAF_REQUIRE(!placed.no);
  event_ticket_row ticket;
  ticket.id = {3, 3};
  ticket.claim = f.it.orders().find(placed.order)->claim;
  f.it.load(ticket);
  transfer_row offer;
  offer.ticket = ticket.id;
  offer.giver = ada;
  offer.giver_email = "ada@example.org";
  offer.receiver_email = "ben@example.org";
  offer.giver_language = language::hr;
  offer.receiver_language = language::ar;
  const auto mails_at = [&](transfer_status status) {
    offer.status = status;
    std::string all;
    for (const auto& m : transfer_mails({&offer, 1}, f.it, "https://shop.example/my/tickets"))
      all += m.payload;
    return all;
  };
  const std::string to_giver = R"("language":"fr","to":[{"address":"ada@example.org"}])",
                    to_receiver = R"("language":"ar","to":[{"address":"ben@example.org"}])";
  using enum transfer_status;
  CAF_CHECK(mails_at(offered).find(to_receiver) != std::string::npos);
  CAF_CHECK(mails_at(withdrawn).find(to_receiver) != std::string::npos);
  CAF_CHECK(mails_at(expired).find(to_giver) != std::string::npos);
  const auto both = mails_at(accepted);
  CAF_CHECK(both.find(to_giver) != std::string::npos && both.find(to_receiver) != std::string::npos);
  CAF_CHECK(both.find(R"("tenant":1,)") != std::string::npos);
  offer.giver = {0xfb, 1}; // has it from the buyer
  CAF_CHECK(mails_at(declined).find(R"("language":"hr")") != std::string::npos);
}

CAF_TEST(a cancelled event tells holders who bought nothing without a word of money) {
  fixture f;
  CAF_CHECK(holder_mails({}, f.it).empty());
  const auto mails = holder_mails(std::vector{ben, cem}, f.it);
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  for (const auto& m : mails) {
    CAF_CHECK_EQUAL(m.topic, topic::event_cancelled);
    CAF_CHECK(m.payload.find(R"("refund":false)") != std::string::npos);
  }
  CAF_CHECK(mails[0].payload.find(R"("to":[{"customer_id":")" + to_string(ben) + R"("}])")
            != std::string::npos);
  CAF_CHECK(mails[1].payload.find(to_string(cem)) != std::string::npos);
}

CAF_TEST(a refund tells each other holder of its tickets once and not the buyer) {
  fixture f;
  f.ordered();
  changes content;
  for (auto ticket : {f.ticket_held_by(ada, 1), f.ticket_held_by(ben, 2), f.ticket_held_by(cem, 3),
                      f.ticket_held_by(ben, 4)}) {
    const auto from = std::exchange(ticket.status, event_ticket_status::cancelled);
    content.emplace_back(event_ticket_moved{from, ticket});
  }
  const auto mails = mails_of(content, f.it, {}, "https://shop.example/my/tickets");
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  for (const auto* part : {R"("template":"ticket_cancelled")", R"("ticket_name":"2 x Seat","quantity":2)",
                           R"("tickets_url":"https://shop.example/my/tickets")"})
    CAF_CHECK(mails[0].payload.find(part) != std::string::npos);
  CAF_CHECK_EQUAL(mails[0].topic, topic::ticket_cancelled);
  CAF_CHECK(mails[0].payload.find(R"("to":[{"customer_id":")" + to_string(ben)) != std::string::npos);
  CAF_CHECK(mails[1].payload.find(R"("to":[{"customer_id":")" + to_string(cem)) != std::string::npos);
  CAF_CHECK(mails[1].payload.find(R"("quantity":1)") != std::string::npos);
  decision d;
  CAF_REQUIRE(!f.it.change_status(event_trigger::cancel, noon, d));
  CAF_CHECK(mails_of(content, f.it).empty()); // told when the event was cancelled
}

CAF_TEST(nobody is sent a page that is not there) {
  fixture f;
  decision d;
  const auto payment = f.ordered();
  f.it.initialized(payment, "https://pay.example/1", {}, noon, d);
  f.it.closed(payment, noon, d); // declined at once
  CAF_CHECK(f.mails_after(seconds{2}).empty());
}

} // namespace mails_test
