// SPDX-License-Identifier: Apache-2.0
// Accounts and catalog with a scripted mailer and password worker.
#pragma once
#include "tests/actors/base/fixture.hpp"

#include "actors/directory/accounts.hpp"
#include "actors/directory/catalog.hpp"

namespace fq::test {

struct globals_fixture : fixture {
  std::shared_ptr<std::vector<send_mail>> mails = std::make_shared<std::vector<send_mail>>();
  std::shared_ptr<bool> mail_works = std::make_shared<bool>(true);
  accounts_services services;
  accounts_handle people;
  catalog_handle shop;

  globals_fixture() {
    auto sent = mails;
    auto works = mail_works;
    services.env = &env;
    services.ledgers = ledgers;
    services.passwords =
      keep(sys.spawn([](password_worker_handle::pointer) -> password_worker_handle::behavior_type {
        return {[](const check_password& x) {
                  return password_checked{!x.stored.empty() && x.stored == "hash of " + x.password};
                },
                [](const hash_new_password& x) { return password_hashed{"hash of " + x.password}; }};
      }));
    services.mailer = keep(sys.spawn([sent, works](mailer_handle::pointer) -> mailer_handle::behavior_type {
      return {[=](const send_mail& x) {
                sent->push_back(x);
                return mail_sent{*works, 7s};
              },
              [](const forget_mail&) {}};
    }));
    people = keep(sys.spawn(accounts, static_cast<const accounts_services*>(&services)));
    shop = keep(sys.spawn(catalog, static_cast<environment*>(&env), ledgers, false));
    run();
  }
  ~globals_fixture() {
    kill(people);
    people = nullptr;
    shop = nullptr;
    services.ledgers.clear();
    services.passwords = nullptr;
    services.mailer = nullptr;
  }
  template <class Message>
  person_reply person(Message m) {
    auto a = ask<person_reply>(people, std::move(m));
    run();
    CAF_REQUIRE(a->ok);
    return a->value;
  }
  static constexpr auto one_handle = "handle";
  /// Asks for a code as `client`.
  std::shared_ptr<answer<ack_reply>> request(const std::string& email, const std::string& handle = one_handle,
                                             const uuid& client = {1, 1}, const std::string& replaces = {},
                                             const uuid& mark = {}) {
    auto asked = ask<ack_reply>(people, request_otp{email, client, handle, replaces, mark});
    run();
    return asked;
  }
  person_reply enter(const std::string& email, const std::string& code,
                     const std::string& handle = one_handle) {
    return person(verify_otp{email, code, handle});
  }
  std::string wrong_code() const { return code() == "000000" ? "000001" : "000000"; }
  std::string code() const {
    const auto& body = mails->back().body;
    return body.substr(body.find_first_of("0123456789"), 6); // in all languages the first number
  }
  void reload(aggregate_id aggregate) {
    store.acquire_unleased(aggregate, never);
    if (aggregate == accounts_aggregate)
      ask<ack_reply>(people, request_otp{"nobody@example.com", {}, "reload"});
    else
      ask<event_reply>(shop, draft({}));
    run();
  }
  fq::create_event draft(idempotency_ref key) const {
    fq::create_event x;
    x.event.name = "Sale";
    x.event.currency = "NGN";
    x.by = {principal_kind::organizer, default_tenant, {5, 5}};
    x.event.queue_opens_at = x.event.sale_start = from_unix_ms(1'800'000'000'000);
    x.event.sale_end = x.event.sale_start + 24h;
    x.ticket_types.push_back({0, {}, "Standard", 5'000, 10, 3, 4, 1, true});
    x.idempotency = key;
    return x;
  }
};

} // namespace fq::test
