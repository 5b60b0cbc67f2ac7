// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: gateway ids, tax, partial refunds, payment links, dead letters,
// priorities, settings, refused constraint violations, and an unreadable refund.
#define CAF_SUITE store_checkout_rows
#include "tests/store/port/engines.hpp"

#include "store/port/refund_items.hpp"
#include "store/sqlite/sqlite.hpp"

namespace checkout_rows_test {

using namespace fq;
using namespace fq::test;

namespace {

dead_letter_row sample_letter(std::uint64_t n) {
  return {id_of(50'000 + n),
          dead_letter_kind::undelivered,
          id_of(n),
          dead_letter_status::open,
          "HTTP 500 after 12 attempts",
          "order.completed\n{\"n\":" + std::to_string(n) + "}",
          noon,
          noon};
}

dead_letter_row in_status(dead_letter_row l, dead_letter_status status, timestamp at) {
  l.status = status;
  l.updated_at = at;
  return l;
}

using letters = std::vector<dead_letter_row>;

} // namespace

// -- the text of a refund's tickets -------------------------------------------------------------------------

CAF_TEST(the tickets of a refund are text and back) {
  const std::vector<std::pair<std::vector<refund_item>, std::string>> pairs{
    {{}, ""},
    {{{0, 2}}, "0:2"},
    {{{0, 2}, {3, 1}}, "0:2 3:1"},
    {{{7, 1}, {7, 10}}, "7:1 7:10"},
    {{{4'294'967'295, 4'294'967'295}}, "4294967295:4294967295"},
  };
  for (const auto& [items, text] : pairs) {
    CAF_CHECK_EQUAL(text_of(items), text);
    CAF_CHECK(refund_items_of(text) == items);
  }
}

CAF_TEST(what is not the text of tickets is not read) {
  for (const auto* text :
       {" ",       "0",     "0:",           ":1",           "0:0",   "0:1 ", " 0:1", "0:1  1:1",
        "0:1,1:1", "0:1 1", "00:1",         "0:01",         "+0:1",  "-1:1", "0:-1", "0:+1",
        "0:1x",    "x",     "4294967296:1", "0:4294967296", "0:1\n", "0: 1", "0 :1"}) {
    CAF_MESSAGE("text: '" << text << "'");
    CAF_CHECK(!refund_items_of(text));
  }
}

// -- money --------------------------------------------------------------------------------------------------

CAF_TEST(an event has an async percentage of its own or the one of the installation) {
  in_every_world([](world& w) {
    CAF_CHECK((w.image().event->async_percent == async_inherited));
    auto event = sample_event();
    for (const std::int32_t percent : {0, 100, 37, -1}) {
      event.async_percent = percent;
      FQ_COMMITS(w.put({event_changed{event.status, event}}));
      CAF_CHECK((w.image().event == event));
    }
    for (const std::int32_t percent : {-2, 101}) {
      event.async_percent = percent;
      FQ_CONFLICTS(w.put({event_changed{event.status, event}}));
      auto another = sample_event(other_sale);
      another.async_percent = percent;
      FQ_CONFLICTS(w.me.put(catalog_aggregate, {event_created{another, {}}}));
    }
  });
}

CAF_TEST(an event keeps its questions and the number of the last one) {
  in_every_world([](world& w) {
    auto event = sample_event();
    CAF_CHECK((w.image().event == event));
    event.questions.pop_back();
    event.questions_numbered = 5'000'000;
    FQ_COMMITS(w.put({event_changed{event.status, event}}));
    CAF_CHECK((w.image().event == event));
    event.questions.clear();
    FQ_COMMITS(w.put({event_changed{event.status, event}}));
    CAF_CHECK((w.image().event == event));
  });
}

CAF_TEST(a payment keeps what its gateway calls it and the tax that was added) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto payment = sample_payment(1, claim);
    payment.gateway_id = "cs_test_1";
    payment.destination = "acct_1";
    FQ_COMMITS(w.put({claim_opened{claim}, payment_opened{payment}}));
    CAF_CHECK((w.image().payments == std::vector{payment}));
    auto next = payment;
    next.status = payment_status::confirmed;
    next.gateway_id = "pi_1";
    next.captured = 5'375;
    next.tax = 375;
    FQ_COMMITS(w.put({payment_moved{payment_status::initializing, next}}));
    CAF_CHECK((w.image().payments == std::vector{next}));
    for (const money tax : {-1, 5'376}) {
      auto wrong = next;
      wrong.tax = tax;
      FQ_CONFLICTS(w.put({payment_moved{payment_status::confirmed, wrong}}));
      auto opened = sample_payment(2, claim);
      opened.captured = 5'375;
      opened.tax = tax;
      FQ_CONFLICTS(w.put({payment_opened{opened}}));
    }
    next.tax = next.captured;
    FQ_COMMITS(w.put({payment_moved{payment_status::confirmed, next}}));
    CAF_CHECK((w.image().payments == std::vector{next}));
  });
}

CAF_TEST(a refund keeps its tickets whatever becomes of it) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto payment = sample_payment(1, claim);
    auto some = sample_refund(1, payment), all = sample_refund(2, payment);
    some.items = {{0, 2}, {1, 10}, {0, 4'294'967'295}};
    FQ_COMMITS(
      w.put({claim_opened{claim}, payment_opened{payment}, refund_opened{some}, refund_opened{all}}));
    CAF_CHECK((w.image().refunds == std::vector{some, all}));
    auto next = some;
    next.status = refund_status::succeeded;
    next.attempts = 1;
    auto sent = next;
    sent.items = {{1, 1}};
    FQ_COMMITS(w.put({refund_moved{refund_status::requested, sent}}));
    CAF_CHECK((w.image().refunds == std::vector{next, all}));
    auto none = sample_refund(3, payment);
    none.items = {{0, 1}, {1, 0}};
    FQ_CONFLICTS(w.put({refund_opened{none}}));
  });
}

namespace {

/// All reads of the sale fail; other reads succeed.
void check_unreadable(ledger& store) {
  const auto is_unavailable = [](auto read) {
    try {
      read();
    } catch (const ledger_unavailable& e) {
      CAF_MESSAGE(e.what());
      return std::string_view{e.what()}.find("tickets of a refund") != std::string_view::npos;
    }
    return false;
  };
  for (int i = 0; i < 2; ++i) {
    CAF_CHECK(is_unavailable([&] { store.acquire_unleased(sale, never); }));
    CAF_CHECK(is_unavailable([&] { store.peek(sale); }));
    CAF_CHECK(store.acquire_unleased(accounts_aggregate, never).has_value());
  }
}

changes with_refunds() {
  const auto claim = sample_claim(1, 1);
  const auto payment = sample_payment(1, claim);
  return {claim_opened{claim}, payment_opened{payment}, refund_opened{sample_refund(1, payment)},
          refund_opened{sample_refund(2, payment)}, refund_opened{sample_refund(3, payment)}};
}

} // namespace

CAF_TEST(tickets of a refund that cannot be read make SQLite unavailable for their aggregate) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  {
    sqlite_ledger store({.file = file});
    FQ_COMMITS(world(store).put(with_refunds()));
  }
  {
    sqlite_db hand(file, sqlite_access::read_write, milliseconds{100});
    sqlite_statement(hand, "UPDATE refund SET items = '1:2  3:1' WHERE id = ?").run(id_of(20'002));
  }
  sqlite_ledger store({.file = file});
  check_unreadable(store);
}

CAF_TEST(tickets of a refund that cannot be read make Postgres unavailable for their aggregate) {
  postgres_schema schema;
  postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
  FQ_COMMITS(world(store).put(with_refunds()));
  schema.execute("UPDATE refund SET items = '1:2  3:1' WHERE id = '" + to_string(id_of(20'002)) + "'");
  check_unreadable(store);
}

// -- orders -------------------------------------------------------------------------------------------------

CAF_TEST(an order keeps when its payment link is due) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto order = sample_order(1, claim);
    order.payment_link_at = noon + seconds{90};
    FQ_COMMITS(w.put({claim_opened{claim}, order_placed{order}}));
    CAF_CHECK((w.image().orders == std::vector{order}));
    order.payment_link_at = noon + seconds{91};
    FQ_COMMITS(w.put({order_moved{order_status::pending, order}}));
    CAF_CHECK((w.image().orders == std::vector{order}));
    order.payment_link_at = never;
    order.status = order_status::awaiting_payment;
    FQ_COMMITS(w.put({order_moved{order_status::pending, order}}));
    CAF_CHECK((w.image().orders == std::vector{order}));
  });
}

CAF_TEST(a payment link wakes nobody whose claim has ended) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto order = sample_order(1, claim);
    order.payment_link_at = noon + seconds{90};
    FQ_COMMITS(w.put({claim_opened{claim}, order_placed{order}}));
    CAF_CHECK((w.store.aggregates_to_wake({}) == std::vector{sale})); // because of the claim
    auto released = claim;
    released.status = claim_status::released;
    FQ_COMMITS(w.put({claim_moved{claim_status::claimed, released}}));
    CAF_CHECK(w.store.aggregates_to_wake({}).empty());
  });
}

// -- dead letters -------------------------------------------------------------------------------------------

CAF_TEST(an owner loads the dead letters that wait for a person) {
  in_every_world([](world& w) {
    const auto first = sample_letter(1), second = sample_letter(2);
    FQ_COMMITS(w.put({dead_letter_stored{second}, dead_letter_stored{first}}));
    CAF_CHECK((w.image().dead_letters == letters{first, second}));
    FQ_COMMITS(w.put({dead_letter_stored{in_status(first, dead_letter_status::retried, noon + seconds{1})}}));
    CAF_CHECK((w.image().dead_letters == letters{second}));
    CAF_CHECK((w.store.acquire_unleased(sale, never)->image.dead_letters == letters{second}));
    w.me.take(sale);
    const auto again = in_status(first, dead_letter_status::open, noon + seconds{2}); // the retry failed too
    auto sent = again;
    sent.kind = dead_letter_kind::refund_refused; // its subject does not change
    sent.subject = id_of(77);
    sent.detail = sent.payload = "another";
    sent.created_at = never;
    FQ_COMMITS(w.put({dead_letter_stored{in_status(second, dead_letter_status::dismissed, noon)},
                      dead_letter_stored{sent}}));
    CAF_CHECK((w.image().dead_letters == letters{again}));
  });
}

CAF_TEST(a dead letter goes through all of its states in one batch and back with it) {
  in_every_world([](world& w) {
    const auto letter = sample_letter(1);
    const auto dismissed = in_status(letter, dead_letter_status::dismissed, noon + seconds{1});
    const auto open = in_status(letter, dead_letter_status::open, noon + seconds{2});
    FQ_COMMITS(w.put({dead_letter_stored{letter}, dead_letter_stored{dismissed}, dead_letter_stored{open}}));
    CAF_CHECK((w.image().dead_letters == letters{open}));
    FQ_CONFLICTS(
      w.put({dead_letter_stored{dismissed}, dead_letter_stored{sample_letter(2)}, stock_moved{9, 1, 0}}));
    CAF_CHECK((w.image().dead_letters == letters{open}));
    CAF_CHECK_EQUAL(w.store.list_dead_letters({.is_open = false}).size(), 1u);
  });
}

CAF_TEST(dead letters of two aggregates are told apart) {
  in_every_world([](world& w) {
    const auto letter = sample_letter(1);
    FQ_COMMITS(w.me.put(accounts_aggregate, {dead_letter_stored{letter}}));
    CAF_CHECK(w.image().dead_letters.empty());
    CAF_CHECK((w.store.peek(accounts_aggregate).image.dead_letters == letters{letter}));
  });
}

// -- priorities, settings, tenants --------------------------------------------------------------------------

CAF_TEST(an entry gives an access code once) {
  in_every_world([](world& w) {
    const auto row = [](std::uint64_t n, std::uint32_t code) {
      return entry_access_row{queue_number{n}, code};
    };
    FQ_COMMITS(w.put({access_given{row(2, 1)}, access_given{row(1, 1)}, access_given{row(1, 0)}}));
    CAF_CHECK((w.image().access == std::vector{row(1, 0), row(1, 1), row(2, 1)}));
    FQ_CONFLICTS(w.put({access_given{row(1, 1)}}));
  });
}

CAF_TEST(a name is locked by one session) {
  in_every_world([](world& w) {
    const auto row = [](const char* name, std::uint64_t n) {
      return session_lock_row{name, queue_number{n}, noon};
    };
    FQ_COMMITS(w.put({lock_taken{row("b", 1)}, lock_taken{row("a", 2)}, lock_taken{row("B", 2)}}));
    CAF_CHECK((w.image().locks == std::vector{row("B", 2), row("a", 2), row("b", 1)}));
    FQ_CONFLICTS(w.put({lock_taken{row("a", 1)}}));
    FQ_COMMITS(w.put({lock_freed{"a"}, lock_taken{row("a", 1)}, lock_freed{"b"}, lock_freed{"none"}}));
    CAF_CHECK((w.image().locks == std::vector{row("B", 2), row("a", 1)}));
  });
}

CAF_TEST(an event has one lobby and an entry keeps its party) {
  in_every_world([](world& w) {
    CAF_CHECK(!w.image().lobby);
    lobby_row row;
    row.opened_at = noon;
    row.seed = row.seed_commitment = std::string(64, 'a');
    auto entry = sample_entry(1);
    entry.party = entry.number;
    FQ_COMMITS(w.put({lobby_stored{row}, entry_joined{sample_entry(1)}}));
    CAF_CHECK(w.image().lobby == row);
    FQ_COMMITS(w.put({entry_moved{entry_status::waiting, entry}}));
    CAF_CHECK_EQUAL(value_of(w.image().entries.at(0).party), 1u);
    auto drawn = row;
    drawn.closed_at = drawn.drawn_at = noon + seconds{1};
    FQ_CONFLICTS(w.put({lobby_stored{drawn}})); // without a root
    drawn.root = std::string(64, 'b');
    drawn.last = queue_number{1};
    drawn.entrants = 1;
    drawn.beacon = beacon_kind::announced;
    drawn.value = "4 8 15";
    row.closed_at = drawn.closed_at;
    FQ_COMMITS(w.put({lobby_stored{row}, lobby_stored{drawn}}));
    CAF_CHECK(w.image().lobby == drawn);
  });
}

CAF_TEST(a customer has one invitation at an event or none) {
  in_every_world([](world& w) {
    const auto row = [](std::uint64_t customer, std::uint32_t type, std::uint32_t quantity,
                        timestamp until = never) {
      return invitation_row{id_of(customer, accounts_aggregate), type, quantity, until, noon};
    };
    using rows = std::vector<invitation_row>;
    FQ_COMMITS(w.put({invitation_stored{row(2, 0, 4)}, invitation_stored{row(1, 0, 1, noon)}}));
    CAF_CHECK((w.image().invitations == rows{row(1, 0, 1, noon), row(2, 0, 4)}));
    FQ_COMMITS(w.put({invitation_stored{row(2, 0, 2, noon)}}));
    CAF_CHECK((w.image().invitations == rows{row(1, 0, 1, noon), row(2, 0, 2, noon)}));
    FQ_CONFLICTS(w.put({invitation_stored{row(3, 9, 1)}})); // no such ticket type
    FQ_CONFLICTS(w.put({invitation_stored{row(3, 0, 0)}}));
    CAF_CHECK((w.image().invitations == rows{row(1, 0, 1, noon), row(2, 0, 2, noon)}));
  });
}

CAF_TEST(a customer has one priority at an event or none) {
  in_every_world([](world& w) {
    const auto row = [](std::uint64_t customer, std::uint8_t priority, timestamp at = noon) {
      return priority_row{id_of(customer, accounts_aggregate), priority, at};
    };
    const auto removed = [](std::uint64_t customer) {
      return priority_removed{id_of(customer, accounts_aggregate)};
    };
    using rows = std::vector<priority_row>;
    FQ_COMMITS(w.put({priority_stored{row(2, 255)}, priority_stored{row(1, 0)},
                      priority_stored{row(2, 9, noon + seconds{1})}}));
    CAF_CHECK((w.image().priorities == rows{row(1, 0), row(2, 9, noon + seconds{1})}));
    FQ_COMMITS(w.put({removed(1), removed(3)}));
    CAF_CHECK((w.image().priorities == rows{row(2, 9, noon + seconds{1})}));
    FQ_COMMITS(w.put({removed(2), priority_stored{row(2, 4)}, priority_stored{row(1, 1)}, removed(1)}));
    CAF_CHECK((w.image().priorities == rows{row(2, 4)}));
    FQ_CONFLICTS(w.put({removed(2), priority_stored{row(3, 3)}, stock_moved{9, 1, 0}}));
    CAF_CHECK((w.image().priorities == rows{row(2, 4)}));
    FQ_CONFLICTS(w.me.put(catalog_aggregate, {priority_stored{row(1, 1)}})); // not an event
    CAF_CHECK((w.store.acquire_unleased(sale, never)->image.priorities == rows{row(2, 4)}));
  });
}

CAF_TEST(block lists belong to organizers and tenants and are at hand for everybody) {
  in_every_world([](world& w) {
    const auto put = [&](changes c) { return w.me.put(accounts_aggregate, std::move(c)); };
    const auto row = [](std::uint32_t tenant, std::uint64_t organizer, std::uint64_t customer,
                        std::string why) {
      const auto whose = organizer == 0 ? organizer_id{} : id_of(organizer, accounts_aggregate);
      return block_row{tenant_id{tenant}, whose, id_of(customer, accounts_aggregate), why,
                       why == "all",      noon};
    };
    const auto removed = [](const block_row& r) { return block_removed{r.tenant, r.organizer, r.customer}; };
    using rows = std::vector<block_row>;
    const auto a = row(1, 0, 5, "all"), b = row(1, 7, 5, "own"), c = row(2, 7, 5, "");
    FQ_COMMITS(put({block_stored{c}, block_stored{b}, block_stored{a}}));
    CAF_CHECK((w.store.blocks() == rows{a, b, c}));
    CAF_CHECK((w.store.peek(accounts_aggregate).image.blocks == rows{a, b, c}));
    const auto again = row(1, 7, 5, "better said");
    FQ_COMMITS(put({block_stored{again}, block_removed{removed(a)}, block_removed{removed(a)}}));
    CAF_CHECK((w.store.blocks() == rows{again, c}));
    CAF_CHECK(w.image().invitations.empty());
  });
}

CAF_TEST(settings belong to the installation) {
  in_every_world([](world& w) {
    const auto put = [&](changes c) { return w.me.put(accounts_aggregate, std::move(c)); };
    using rows = std::vector<setting_row>;
    const setting_row first{"checkout.async_percent", "37", noon}, upper{"Zoo", "", noon},
      last{"queue.x", "a", noon};
    FQ_COMMITS(put({setting_stored{last}, setting_stored{first}, setting_stored{upper}}));
    const rows expected{upper, first, last}; // ordered by bytes
    CAF_CHECK((w.store.peek(accounts_aggregate).image.settings == expected));
    CAF_CHECK((w.store.directory().settings == expected));
    const setting_row next{"queue.x", "b", noon + seconds{1}};
    FQ_COMMITS(put({setting_stored{{"queue.x", "c", never}}, setting_stored{next}}));
    CAF_CHECK((w.store.directory().settings == rows{upper, first, next}));
    FQ_CONFLICTS(put({setting_stored{{"another", "1", noon}}, setting_stored{{"", "1", noon}}}));
    CAF_CHECK(
      (w.store.acquire_unleased(accounts_aggregate, never)->image.settings == rows{upper, first, next}));
    CAF_CHECK(w.image().settings.empty());
  });
}

CAF_TEST(a tenant keeps its settings for payments and mails) {
  in_every_world([](world& w) {
    tenant_row tenant{tenant_id{2}, "arena", "{}", "acct_1", noon, "ACCT_1", "site=arena\nx=y"};
    tenant.mail_name = "Arena Zürich";
    tenant.mail_sender = "box@arena.example";
    tenant.mail_colour = "#2c1d6b";
    tenant.logo = std::string(64, 'a');
    FQ_COMMITS(w.me.put(accounts_aggregate, {tenant_stored{tenant}}));
    CAF_CHECK((w.store.directory().tenants.back() == tenant));
    tenant.stripe_account = "acct_2";
    tenant.paystack_subaccount = "ACCT_2";
    tenant.payment_metadata.clear();
    tenant.mail_sender.clear();
    FQ_COMMITS(w.me.put(accounts_aggregate, {tenant_stored{tenant}}));
    CAF_CHECK((w.store.peek(accounts_aggregate).image.tenants.back() == tenant));
    CAF_CHECK((w.store.directory().tenants.front().stripe_account.empty()));
  });
}

} // namespace checkout_rows_test
