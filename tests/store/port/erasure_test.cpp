// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: erasure of what is kept of a customer, and of contacts after a sale.
#define CAF_SUITE store_erasure
#include "tests/store/port/engines.hpp"

#include <algorithm>

namespace erasure_test {

using namespace fq;
using namespace fq::test;

namespace {

const std::string own = "zoe@example.org", other = "copy@example.org", stranger = "bob@example.org";

customer_row customer_of(std::uint64_t n, const std::string& email) {
  return {id_of(n, accounts_aggregate), default_tenant, email, noon};
}

changes erased(customer_row& row) {
  row.to_erase = row.email;
  row.email = erased_address(row.id);
  return {customer_stored{row}};
}

order_row order_to(std::uint64_t n, const claim_row& claim, const std::string& address,
                   order_status status = order_status::success) {
  auto order = sample_order(n, claim);
  order.contact.email = address;
  CAF_REQUIRE(!order.contact.answers.empty());
  order.contact.account_email = address == stranger ? stranger : own;
  order.status = status;
  return order;
}

outbox_row mail_to(std::uint64_t n, const std::string& address, std::uint8_t lanes = every_lane,
                   const order_id& order = {}) {
  return {id_of(50'000 + n), "mail.send", sample_mail(address, order), noon, lanes};
}

dead_letter_row letter_about(std::uint64_t n, const std::string& payload) {
  dead_letter_row letter;
  letter.id = id_of(70 + n);
  letter.kind = dead_letter_kind::undelivered;
  letter.payload = payload;
  letter.created_at = letter.updated_at = noon;
  return letter;
}

delivery_row news_of(std::uint64_t n, const std::string& address) {
  delivery_row notice;
  notice.target = id_of(8);
  notice.notice = id_of(80 + n);
  notice.way = channel::webhook;
  notice.topic = "user.updated";
  notice.payload = "{\"email\":\"" + address + "\"}";
  notice.created_at = notice.due_at = noon;
  return notice;
}

idempotency_row answer_with(std::uint64_t n, const std::string& text) {
  auto answer = sample_key(n, noon);
  answer.answer.insert(answer.answer.end(), text.begin(), text.end());
  return answer;
}

std::string bytes_of(const uuid& id) {
  std::string bytes;
  for (const auto half : {id.hi, id.lo})
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(half >> shift);
  return bytes;
}

/// Prunes until a round is not full; the number of rounds.
int prune_all(ledger& store, timestamp contacts_before = never, std::size_t limit = 2,
              std::vector<std::string>* erased = nullptr) {
  prune_bounds bounds{never, never, never, limit};
  bounds.contacts_before = contacts_before;
  if (erased) bounds.on_erased = [erased](const std::string& address) { erased->push_back(address); };
  int rounds = 1;
  for (; store.prune(bounds) == limit && rounds < 200; ++rounds) {}
  return rounds;
}

/// Two customers with orders; the first has two, one with a copy to another address.
struct buyers {
  explicit buyers(world& w) {
    std::vector<claim_row> claims{sample_claim(1, 1), sample_claim(2, 1), sample_claim(3, 2)};
    claims[1].live_slot = 1;
    rows = {order_to(1, claims[0], own), order_to(2, claims[1], other), order_to(3, claims[2], stranger)};
    changes content;
    for (const auto& c : claims) content.emplace_back(claim_opened{c});
    for (const auto& o : rows) content.emplace_back(order_placed{o});
    FQ_COMMITS(w.put(std::move(content)));
    FQ_COMMITS(w.me.put(accounts_aggregate, {customer_stored{zoe}, customer_stored{bob}}));
  }
  customer_row zoe = customer_of(1, own), bob = customer_of(2, stranger);
  std::vector<order_row> rows;
};

void deliver(ledger& store, const std::vector<outbox_key>& keys) {
  for (const auto which : all_lanes) store.mark_delivered(which, keys, noon);
}

std::vector<outbox_item> waiting(ledger& store, lane which = lane::mail) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t p = 0; p < outbox_partitions; ++p) all.push_back(p);
  return store.undelivered(which, all, 100, {});
}

} // namespace

CAF_TEST(orders of an erased customer lose the contact and keep the money) {
  in_every_world([](world& w) {
    buyers b(w);
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    CAF_CHECK(w.image().orders.front() == b.rows.front()); // nothing at once
    prune_all(w.store);
    b.rows[0].contact = b.rows[1].contact = {};
    CAF_CHECK(w.image().orders == b.rows);
    b.zoe.to_erase.clear();
    CAF_CHECK((w.store.peek(accounts_aggregate).image.customers == std::vector{b.zoe, b.bob}));
    CAF_CHECK_EQUAL(prune_all(w.store), 1); // nothing is left
    FQ_COMMITS(w.me.put(accounts_aggregate, {customer_stored{customer_of(7, own)}})); // the address is free
  });
}

CAF_TEST(mail that waits is sent first and then erased with the answers) {
  in_every_world([](world& w) {
    buyers b(w);
    const auto mails = w.me.seq(sale) + 1;
    FQ_COMMITS(
      w.put({outbox_appended{mail_to(1, own)}, outbox_appended{mail_to(2, stranger)},
             outbox_appended{mail_to(3, other)}, outbox_appended{mail_to(4, own, bit_of(lane::bus))}}));
    const auto longer = answer_with(2, "x" + own); // of another customer, whose address ends with the same
    FQ_COMMITS(w.put({idempotency_stored{answer_with(1, own)}, idempotency_stored{longer}}));
    deliver(w.store, {{sale, mails, 1}, {sale, mails, 2}});
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    prune_all(w.store);
    CAF_CHECK_EQUAL(waiting(w.store).size(), 1u); // to the own address
    CAF_CHECK_EQUAL(waiting(w.store, lane::bus).size(), 1u); // the same: a bus that is away keeps nothing
    CAF_CHECK((w.image().idempotency == std::vector{longer}));
    auto customers = w.store.peek(accounts_aggregate).image.customers;
    CAF_CHECK_EQUAL(customers.front().to_erase, own);
    deliver(w.store, {{sale, mails, 0}});
    prune_all(w.store);
    customers = w.store.peek(accounts_aggregate).image.customers;
    CAF_CHECK(customers.front().to_erase.empty());
    // Mail of others is left to the ordinary pruning.
    CAF_CHECK_EQUAL(w.store.prune({never, never, noon + seconds{1}, 100}), 2u);
  });
}

CAF_TEST(an erasure does not wait for another one whose mail waits) {
  in_every_world([](world& w) {
    buyers b(w);
    FQ_COMMITS(w.put({outbox_appended{mail_to(1, own)}}));
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.bob)));
    for (int i = 0; i < 3; ++i) prune_all(w.store);
    const auto customers = w.store.peek(accounts_aggregate).image.customers;
    CAF_CHECK(!customers[0].to_erase.empty());
    CAF_CHECK(customers[1].to_erase.empty());
    CAF_CHECK(w.image().orders[2].contact == contact{});
  });
}

CAF_TEST(the address leaves offers of tickets and that of the other side stays) {
  in_every_world([](world& w) {
    buyers b(w);
    const auto claim = sample_claim(7, 7);
    changes content{claim_opened{claim}};
    for (std::uint64_t n = 1; n <= 5; ++n) {
      auto ticket = sample_event_ticket(n, claim);
      ticket.holder = n % 2 == 1 ? b.zoe.id : b.bob.id;
      content.emplace_back(event_ticket_issued{ticket});
      content.emplace_back(transfer_offered{sample_transfer(n, ticket, n % 2 == 1 ? b.bob.id : b.zoe.id)});
    }
    FQ_COMMITS(w.put(std::move(content)));
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    prune_all(w.store);
    for (const auto& t : w.image().transfers) {
      CAF_CHECK_EQUAL(t.giver_email.empty(), t.giver == b.zoe.id);
      CAF_CHECK_EQUAL(t.receiver_email.empty(), t.receiver == b.zoe.id);
    }
  });
}

CAF_TEST(devices codes and letters go and those of others stay) {
  in_every_world([](world& w) {
    buyers b(w);
    for (const auto* owner : {&b.zoe, &b.bob}) {
      device_row device;
      device.id = id_of(owner == &b.zoe ? 61 : 62, accounts_aggregate);
      device.holder = owner->id;
      device.way = channel::ntfy;
      device.token = "phone " + owner->email;
      device.registered_at = noon;
      w.store.register_device(device);
      const otp_row code{owner->email, owner->email, id_of(7), "c0de", noon, 0};
      FQ_COMMITS(w.me.put(accounts_aggregate, {otp_stored{code}}));
      dead_letter_row letter;
      letter.id = id_of(owner == &b.zoe ? 71 : 72);
      letter.kind = dead_letter_kind::undelivered;
      letter.subject = id_of(9);
      letter.payload = "mail.send\n{\"to\":\"" + owner->email + "\"}";
      letter.created_at = letter.updated_at = noon;
      FQ_COMMITS(w.put({dead_letter_stored{letter}}));
    }
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    prune_all(w.store);
    CAF_CHECK(w.store.list_devices(b.zoe.id).empty());
    CAF_CHECK_EQUAL(w.store.list_devices(b.bob.id).size(), 1u);
    const auto codes = w.store.peek(accounts_aggregate).image.otps;
    CAF_REQUIRE_EQUAL(codes.size(), 1u);
    CAF_CHECK_EQUAL(codes[0].email, stranger);
    CAF_CHECK_EQUAL(w.image().dead_letters.size(), 1u);
    const auto settled = w.store.list_dead_letters({.is_open = false});
    for (const auto& l : settled) CAF_CHECK(l.letter.payload.find(own) == std::string::npos);
  });
}

CAF_TEST(letters and notices of a longer address that ends with the own one stay) {
  in_every_world([](world& w) {
    buyers b(w);
    const auto longer = "x" + own;
    std::vector<delivery_row> notices;
    for (const auto& address : {own, longer}) {
      const std::uint64_t n = address == own ? 1 : 2;
      FQ_COMMITS(w.put({dead_letter_stored{letter_about(n, "mail.send\n" + sample_mail(address))}}));
      notices.push_back(news_of(n, address));
    }
    w.store.store_deliveries(notices);
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    prune_all(w.store);
    const auto letters = w.image().dead_letters;
    CAF_REQUIRE_EQUAL(letters.size(), 1u);
    CAF_CHECK(letters[0].id == id_of(72) && letters[0].payload.find(longer) != std::string::npos);
    CAF_CHECK((w.store.list_deliveries({.tenant = default_tenant}) == std::vector{notices[1]}));
  });
}

CAF_TEST(a stranger whose address an order has as its contact keeps everything) {
  in_every_world([](world& w) {
    buyers b(w); // zoe's second order names the stranger
    const auto answer = answer_with(1, other);
    const auto letter = letter_about(1, "mail.send\n" + sample_mail(other, id_of(9)));
    const auto mails = w.me.seq(sale) + 1;
    FQ_COMMITS(w.put({outbox_appended{mail_to(1, other, every_lane, id_of(9))}, idempotency_stored{answer},
                      dead_letter_stored{letter}}));
    deliver(w.store, {{sale, mails, 0}});
    const std::vector notices{news_of(1, other)};
    w.store.store_deliveries(notices);
    const otp_row code{other, other, id_of(7), "c0de", noon, 0};
    FQ_COMMITS(w.me.put(accounts_aggregate, {otp_stored{code}}));
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    std::vector<std::string> told;
    prune_all(w.store, never, 2, &told);
    const auto image = w.image();
    CAF_CHECK(image.orders[1].contact == contact{});
    CAF_CHECK((image.idempotency == std::vector{answer}));
    CAF_CHECK((image.dead_letters == std::vector{letter}));
    CAF_CHECK((w.store.list_deliveries({.tenant = default_tenant}) == notices));
    const auto accounts = w.store.peek(accounts_aggregate).image;
    CAF_CHECK((accounts.otps == std::vector{code}));
    CAF_CHECK(accounts.customers.front().to_erase.empty());
    CAF_CHECK((told == std::vector{own})); // mail files
    CAF_CHECK_EQUAL(w.store.prune({never, never, noon + seconds{1}, 100}), 1u); // the sent mail was there
  });
}

/// Of older programs, whose mail went to the contact.
CAF_TEST(mail of orders without an address of the account is found by the order) {
  in_every_world([](world& w) {
    buyers b(w);
    auto claim = sample_claim(4, 1);
    claim.live_slot = 2;
    auto order = order_to(4, claim, other);
    order.contact.account_email.clear();
    FQ_COMMITS(w.put({claim_opened{claim}, order_placed{order}}));
    const auto event = outbox_row{id_of(50'009), "order.completed",
                                  R"({"order_id":")" + to_string(order.id) + "\"}", noon, bit_of(lane::bus)};
    const auto mails = w.me.seq(sale) + 1;
    const auto sent = sample_mail(other, order.id);
    const auto lost_event = letter_about(3, event.topic + '\n' + event.payload);
    const auto foreign = answer_with(2, other);
    FQ_COMMITS(w.put({outbox_appended{mail_to(1, other, every_lane, order.id)}, outbox_appended{event},
                      outbox_appended{mail_to(2, other)}, idempotency_stored{foreign},
                      idempotency_stored{answer_with(1, bytes_of(order.id))}, dead_letter_stored{lost_event},
                      dead_letter_stored{letter_about(1, "mail.send\n" + sent)}}));
    w.store.mark_delivered(lane::mail, std::vector<outbox_key>{{sale, mails, 0}, {sale, mails, 2}}, noon);
    FQ_COMMITS(w.me.put(accounts_aggregate, erased(b.zoe)));
    prune_all(w.store);
    CAF_CHECK_EQUAL(waiting(w.store, lane::bus).size(), 2u); // the event and the other mail
    CAF_CHECK((w.image().idempotency == std::vector{foreign}));
    CAF_CHECK((w.image().dead_letters == std::vector{lost_event}));
    CAF_CHECK(w.store.peek(accounts_aggregate).image.customers.front().to_erase.empty());
  });
}

CAF_TEST(contacts leave after the end of a sale but not those of open orders) {
  in_every_world([](world& w) {
    buyers b(w);
    auto claim = sample_claim(4, 3);
    auto open = order_to(4, claim, stranger, order_status::awaiting_payment);
    FQ_COMMITS(w.put({claim_opened{claim}, order_placed{open}}));
    auto event = *w.image().event;
    const auto after = event.sale_end + seconds{1};
    prune_all(w.store, after);
    CAF_CHECK(w.image().orders.front() == b.rows.front()); // the sale has not ended
    const auto from = event.status;
    event.status = event_status::ended;
    FQ_COMMITS(w.put({event_changed{from, event}}));
    prune_all(w.store, event.sale_end);
    CAF_CHECK(w.image().orders.front() == b.rows.front());
    prune_all(w.store, after);
    for (auto& row : b.rows) row.contact = {};
    b.rows.push_back(open);
    CAF_CHECK(w.image().orders == b.rows);
  });
}

} // namespace erasure_test
