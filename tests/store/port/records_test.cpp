// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: what is kept of a customer, purchases that are open, and the tenants
// that know a customer.
#define CAF_SUITE store_records
#include "tests/store/port/engines.hpp"

#include <algorithm>
#include <utility>

namespace records_test {

using namespace fq;
using namespace fq::test;

namespace {

const std::string own = "zoe@example.org";
const auto zoe = id_of(1, accounts_aggregate), bob = id_of(2, accounts_aggregate);

dead_letter_row letter_with(std::uint64_t n, const std::string& address) {
  return {id_of(50'000 + n),
          dead_letter_kind::undelivered,
          id_of(n),
          dead_letter_status::open,
          "",
          "mail.send\n{\"to\":\"" + address + "\"}",
          noon,
          noon};
}

delivery_row notice_to(const uuid& holder, std::uint64_t n, std::uint64_t device) {
  delivery_row d;
  d.target = id_of(device);
  d.notice = id_of(n);
  d.way = channel::fcm;
  d.holder = holder;
  d.topic = "order.completed";
  d.payload = "{}";
  d.created_at = d.due_at = noon;
  return d;
}

/// The same of two customers: every kind of row.
void fill(world& w) {
  changes content;
  for (std::uint64_t n = 1; n <= 2; ++n) {
    const auto claim = sample_claim(n, n);
    content.emplace_back(entry_joined{sample_entry(n)}); // of customer n
    content.emplace_back(claim_opened{claim});
    content.emplace_back(payment_opened{sample_payment(n, claim)});
    content.emplace_back(priority_stored{{claim.customer, 3, noon}});
    content.emplace_back(invitation_stored{{claim.customer, 1, 2, noon + seconds{9}, noon}});
    content.emplace_back(event_ticket_issued{sample_event_ticket(n, claim)});
    content.emplace_back(transfer_offered{
      sample_transfer(n, sample_event_ticket(n, claim), n == 1 ? bob : id_of(9, accounts_aggregate))});
    content.emplace_back(checkin_list_stored{sample_checkin_list(n)});
    content.emplace_back(scan_recorded{sample_scan(n, sample_event_ticket(n, claim).id)});
    const auto address = n == 1 ? own : "x" + own;
    content.emplace_back(
      outbox_appended{{id_of(60'000 + n), "mail.send", R"({"to":")" + address + "\"}", noon, every_lane}});
    content.emplace_back(dead_letter_stored{letter_with(n, address)});
    device_row device;
    device.id = id_of(70'000 + n, accounts_aggregate);
    device.holder = claim.customer;
    device.way = channel::ntfy;
    device.token = "phone " + std::to_string(n);
    device.registered_at = noon;
    w.store.register_device(device);
    const std::vector notices{notice_to(claim.customer, 80'000 + n, 1),
                              notice_to(claim.customer, 80'000 + n, 2)};
    w.store.store_deliveries(notices);
    FQ_COMMITS(w.me.put(accounts_aggregate,
                        {customer_stored{{claim.customer, default_tenant, address, noon}},
                         block_stored{{default_tenant, {}, claim.customer, "", false, noon}},
                         block_stored{{default_tenant, id_of(9), claim.customer, "", false, noon}}}));
  }
  FQ_COMMITS(w.put(std::move(content)));
}

/// Reads all pages with `limit` rows looked at in each.
std::vector<customer_record> all_records(ledger& store, const customer_id& customer, std::uint32_t limit) {
  record_filter f{customer, own, {}, {}, limit};
  std::vector<customer_record> all;
  for (int pages = 0; pages < 1'000; ++pages) {
    auto page = store.list_records(f);
    CAF_CHECK(page.records.size() <= limit);
    all.insert(all.end(), page.records.begin(), page.records.end());
    if (!page.more) return all;
    CAF_REQUIRE(page.next > f.after);
    f.after = page.next;
  }
  CAF_FAIL("the pages do not end");
  return all;
}

customer_record record(record_kind kind, const event_id& event = sample_event().id) {
  customer_record r;
  r.at.kind = kind;
  r.event = event;
  r.created_at = noon;
  return r;
}

/// What fill() leaves of the first customer. Places and rows of outbox and letters have their own keys.
std::vector<customer_record> expected(const world& w) {
  using enum record_kind;
  std::vector<customer_record> all{record(place),     record(claim),      record(payment),
                                   record(priority),  record(invitation), record(block, {}),
                                   record(block, {}), record(device, {}), record(notice, {}),
                                   record(mail),      record(letter)};
  const auto one_claim = sample_claim(1, 1);
  for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 9u, 10u}) all[i].at.aggregate = sale;
  all[0].at.number = 1;
  all[0].created_at = sample_entry(1).joined_at;
  all[1].at.id = one_claim.id;
  all[1].amount = one_claim.amount;
  all[1].count = 1;
  all[1].changed_at = one_claim.expires_at;
  all[2].at.id = sample_payment(1, one_claim).id;
  all[2].text = "sandbox";
  all[2].amount = one_claim.amount;
  all[2].changed_at = noon;
  all[3].count = 3;
  all[4].count = 2;
  all[4].ended_at = noon + seconds{9};
  all[5].at.number = all[6].at.number = static_cast<std::uint64_t>(default_tenant);
  all[6].at.id = id_of(9);
  all[7].at.id = id_of(70'001, accounts_aggregate);
  all[7].status = static_cast<std::uint32_t>(channel::ntfy);
  all[8].at.id = id_of(80'001);
  all[8].text = "order.completed";
  all[8].count = 2;
  all[9].at.number = w.me.seq(sale);
  all[9].at.id = id_of(60'001);
  all[9].text = "mail.send";
  all[10].at.id = id_of(50'001);
  all[10].changed_at = noon;
  auto ticket = record(event_ticket);
  ticket.at.id = sample_event_ticket(1, one_claim).id;
  ticket.text = "Standing";
  ticket.changed_at = noon;
  all.insert(all.begin() + 5, ticket);
  auto given = record(transfer);
  given.at.id = sample_transfer(1, sample_event_ticket(1, one_claim), bob).id;
  given.text = "given";
  given.changed_at = noon + seconds{9};
  all.insert(all.begin() + 6, given);
  auto gate = record(scan);
  gate.at.id = sample_scan(1, {}).id;
  gate.text = sample_checkin_list(1).name;
  gate.count = 1;
  all.insert(all.begin() + 7, gate);
  return all;
}

} // namespace

CAF_TEST(every kind of row that names a customer is read page by page) {
  in_every_world([](world& w) {
    fill(w);
    const auto wanted = expected(w);
    for (const std::uint32_t limit : {1u, 2u, 100u}) {
      const auto found = all_records(w.store, zoe, limit);
      CAF_REQUIRE_EQUAL(found.size(), wanted.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        if (!(found[i] == wanted[i])) CAF_ERROR("record " << i << " of pages of " << limit << " differs");
    }
    const auto of_bob = all_records(w.store, bob, 100);
    CAF_CHECK(std::ranges::any_of(
      of_bob, [](const auto& r) { return r.at.kind == record_kind::transfer && r.text == "received"; }));
    CAF_CHECK(all_records(w.store, id_of(99, accounts_aggregate), 2).size() == 2u); // only by the address
  });
}

CAF_TEST(mail to another address is the own one if it is about an own order) {
  in_every_world([](world& w) {
    const auto order = id_of(40'001), foreign = id_of(40'002);
    const std::string elsewhere = "bob@example.org";
    changes content;
    const auto append = [&](std::string_view topic, const std::string& payload) {
      const auto n = content.size();
      auto letter = letter_with(n, elsewhere);
      letter.payload = std::string{topic} + '\n' + payload;
      content.emplace_back(
        outbox_appended{{id_of(60'000 + n), std::string{topic}, payload, noon, every_lane}});
      content.emplace_back(dead_letter_stored{letter});
    };
    append("mail.send", sample_mail(elsewhere, order));
    append("mail.send", sample_mail(elsewhere, foreign));
    append("mail.send", sample_mail(elsewhere));
    append("order.completed", R"({"order_id":")" + to_string(order) + "\"}");
    FQ_COMMITS(w.put(std::move(content)));
    record_filter f{zoe, own, {to_string(order)}, {record_kind::mail, {}, 0, 0, {}}, 100};
    for (const auto wanted : {id_of(60'000), id_of(50'000)}) { // the mail, then its letter
      const auto page = w.store.list_records(f);
      CAF_REQUIRE_EQUAL(page.records.size(), 1u);
      CAF_CHECK(page.records[0].at.id == wanted);
      f.after = page.next;
    }
  });
}

CAF_TEST(a purchase is open while stock is held or money moves) {
  in_every_world([](world& w) {
    const auto open = [&] { return w.store.find_open_purchase(zoe); };
    CAF_CHECK(open() == open_purchase::none);
    auto claim = sample_claim(1, 1);
    FQ_COMMITS(w.put({claim_opened{claim}}));
    CAF_CHECK(open() == open_purchase::claim);
    CAF_CHECK(w.store.find_open_purchase(bob) == open_purchase::none);
    auto payment = sample_payment(1, claim);
    FQ_COMMITS(w.put({payment_opened{payment}}));
    CAF_CHECK(open() == open_purchase::payment);
    const auto move = [&](payment_status to) {
      const auto from = std::exchange(payment.status, to);
      FQ_COMMITS(w.put({payment_moved{from, payment}}));
      return open();
    };
    CAF_CHECK(move(payment_status::pending) == open_purchase::payment);
    CAF_CHECK(move(payment_status::failed) == open_purchase::claim);
    claim.status = claim_status::released;
    FQ_COMMITS(w.put({claim_moved{claim_status::claimed, claim}}));
    CAF_CHECK(open() == open_purchase::none);
    CAF_CHECK(move(payment_status::confirmed_late) == open_purchase::payment); // it goes back
    CAF_CHECK(move(payment_status::refund_pending) == open_purchase::payment);
    CAF_CHECK(move(payment_status::refund_failed) == open_purchase::none); // waits for a person
    FQ_COMMITS(w.put({order_placed{sample_order(1, claim)}}));
    CAF_CHECK(open() == open_purchase::payment);
  });
}

CAF_TEST(an unpaid order of a guest is no open purchase of its customer) {
  in_every_world([](world& w) {
    auto claim = sample_claim(1, 1);
    claim.customer = make_uuid(noon, guests_aggregate, 1);
    auto order = sample_order(1, claim);
    order.customer = zoe;
    order.guest = claim.customer;
    FQ_COMMITS(w.put({claim_opened{claim}, order_placed{order}}));
    CAF_CHECK(w.store.find_open_purchase(zoe) == open_purchase::none);
    CAF_CHECK((w.image().orders == std::vector{order}));
  });
}

CAF_TEST(a tenant knows customers with an order or a ticket and no others) {
  in_every_world([](world& w) {
    const tenant_id elsewhere{2};
    FQ_COMMITS(w.me.put(accounts_aggregate, {tenant_stored{{elsewhere, "arena", "{}", {}, noon}}}));
    auto abroad = sample_event(other_sale);
    abroad.tenant = elsewhere;
    FQ_COMMITS(w.me.put(catalog_aggregate, {event_created{abroad, {sample_type(0, 10, other_sale)}}}));
    w.me.take(other_sale);
    webhook_endpoint_row endpoint;
    endpoint.id = id_of(200);
    endpoint.tenant = elsewhere;
    endpoint.url = "https://hooks.example/";
    endpoint.created_at = endpoint.updated_at = noon;
    CAF_CHECK(w.store.store_endpoint(endpoint));
    const auto eve = id_of(3, accounts_aggregate);
    const auto known = [&] { return w.store.audience({.customers = {zoe, bob, eve}}).known; };

    auto typed = sample_claim(2, 2); // a guest's, who wrote zoe's address
    typed.customer = make_uuid(noon, guests_aggregate, 1);
    auto guests = sample_order(2, typed);
    guests.customer = zoe;
    guests.guest = typed.customer;
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}, claim_opened{sample_claim(1, 1)}, claim_opened{typed},
                      order_placed{guests}}));
    CAF_CHECK(known().empty());

    const auto own = sample_claim(3, 2); // bob's
    FQ_COMMITS(w.put({claim_opened{own}, order_placed{sample_order(3, own)}}));
    const known_customer of_zoe{zoe, elsewhere}, of_bob{bob, default_tenant}, of_eve{eve, elsewhere};
    CAF_CHECK((known() == std::vector{of_bob}));

    const auto bought = sample_claim(4, 1); // zoe's, without an order
    const auto ticket = sample_event_ticket(4, bought, other_sale);
    auto offer = sample_transfer(4, ticket, eve, other_sale);
    FQ_COMMITS(
      w.me.put(other_sale, {claim_opened{bought}, event_ticket_issued{ticket}, transfer_offered{offer}}));
    CAF_CHECK((known() == std::vector{of_zoe, of_bob}));
    offer.status = transfer_status::accepted;
    FQ_COMMITS(w.me.put(other_sale, {transfer_moved{transfer_status::offered, offer}}));
    CAF_CHECK((known() == std::vector{of_zoe, of_bob, of_eve}));
    CAF_CHECK((w.store.audience({.customers = {eve}}) == notice_audience{{}, {endpoint}, {of_eve}}));
    CAF_CHECK((w.store.audience({.customers = {bob}}) == notice_audience{{}, {}, {of_bob}}));
  });
}

} // namespace records_test
