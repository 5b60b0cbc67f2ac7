// SPDX-License-Identifier: Apache-2.0
// Shared by the store tests: one engine of each kind in a new folder, an owner that numbers batches, and
// sample rows.
#pragma once
#include "store/memory/memory_ledger.hpp"
#include "store/port/ledger.hpp"
#include "store/postgres/postgres_ledger.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "tests/store/postgres/postgres_server.hpp"

#include "caf/test/unit_test.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace fq::test {

inline timestamp wall_now() {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}
inline milliseconds steady_now() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

class temp_folder {
public:
  temp_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fairqueue-store-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error{"mkdtemp failed"};
    path_ = name;
  }
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

inline constexpr timestamp noon = from_unix_ms(1'795'262'400'000);
inline constexpr aggregate_id sale{16};
inline constexpr aggregate_id other_sale{17};

/// An owner of aggregates: acquires them and counts their batches.
class owner {
public:
  explicit owner(ledger& store) : store_(store) {}

  const acquired& take(aggregate_id aggregate) {
    auto taken = store_.acquire_unleased(aggregate, never);
    if (!taken) throw std::runtime_error{"no such aggregate"};
    return owned_[aggregate] = std::move(*taken);
  }

  /// The next batch of `aggregate`, with one decision.
  [[nodiscard]] batch next(aggregate_id aggregate, changes content) const {
    const auto& o = owned_.at(aggregate);
    return {aggregate, o.epoch, o.applied_seq, o.applied_seq + 1, now, std::move(content)};
  }

  /// Commits one batch and counts it on success.
  commit_outcome put(aggregate_id aggregate, changes content) {
    const auto b = next(aggregate, std::move(content));
    const auto outcome = store_.commit({&b, 1}).at(0);
    if (outcome == commit_outcome::committed) owned_[aggregate].applied_seq = b.to_seq;
    return outcome;
  }

  [[nodiscard]] std::uint64_t seq(aggregate_id aggregate) const { return owned_.at(aggregate).applied_seq; }
  [[nodiscard]] std::uint64_t epoch(aggregate_id aggregate) const { return owned_.at(aggregate).epoch; }

  timestamp now = noon;

private:
  ledger& store_;
  std::map<aggregate_id, acquired> owned_;
};

// -- sample rows, distinguished by `n`

inline uuid id_of(std::uint64_t n, aggregate_id aggregate = sale) { return make_uuid(noon, aggregate, n); }

inline event_row sample_event(aggregate_id aggregate = sale, std::uint64_t organizer = 1) {
  event_row e;
  e.id = id_of(900, aggregate);
  e.aggregate = aggregate;
  e.organizer = id_of(organizer, accounts_aggregate);
  e.name = "Night of the long queue";
  e.currency = "NGN";
  e.queue_opens_at = noon;
  e.sale_start = noon + seconds{60};
  e.sale_end = noon + seconds{3'600};
  e.queue.concurrency = 200;
  e.queue.over_admission_percent = 110;
  e.questions = {{1, question_kind::choice, true, true, "Meal?", {"Rice", "Ẹ̀bà & soup"}},
                 {4, question_kind::consent, false, false, "Photos may be taken.", {}}};
  e.created_at = e.updated_at = noon;
  return e;
}

inline ticket_type_row sample_type(std::uint32_t ordinal, std::int64_t total, aggregate_id aggregate = sale) {
  return {ordinal, id_of(800 + ordinal, aggregate), "Standing", 5'000, total, 0, 0, 4, true};
}

inline entry_row sample_entry(std::uint64_t number) {
  entry_row e;
  e.number = queue_number{number};
  e.subject = id_of(number, accounts_aggregate);
  e.join_key = 0xfedc'ba98'7654'3210 + number; // above the range of a signed integer
  e.joined_at = noon + milliseconds{static_cast<std::int64_t>(number)};
  return e;
}

inline claim_row sample_claim(std::uint64_t n, std::uint64_t customer,
                              std::vector<claim_item> items = {{0, 1, 5'000, 0}}) {
  claim_row c;
  c.id = id_of(n);
  c.customer = id_of(customer, accounts_aggregate);
  c.entry = queue_number{n};
  c.items = std::move(items);
  c.amount = 5'000;
  c.created_at = noon;
  c.expires_at = noon + seconds{600};
  return c;
}

inline payment_row sample_payment(std::uint64_t n, const claim_row& claim) {
  payment_row p;
  p.id = id_of(10'000 + n);
  p.claim = claim.id;
  p.customer = claim.customer;
  p.gateway = "sandbox";
  p.reference = "fq-" + std::to_string(n);
  p.amount = claim.amount;
  p.created_at = p.updated_at = noon;
  return p;
}

inline refund_row sample_refund(std::uint64_t n, const payment_row& payment) {
  return {
    id_of(20'000 + n), payment.id, refund_status::requested, payment.amount, {}, {}, 0, noon, noon, noon};
}

inline promo_code_row sample_promo_code(std::uint32_t ordinal, std::uint32_t uses_max = 0) {
  promo_code_row p;
  p.ordinal = ordinal;
  p.id = id_of(30'000 + ordinal);
  p.code = "EARLY-" + std::to_string(ordinal);
  p.reduction = {discount_kind::percent, 2'500, 1};
  p.uses_max = uses_max;
  p.uses_per_customer = 1;
  p.created_at = p.updated_at = noon;
  return p;
}

inline order_row sample_order(std::uint64_t n, const claim_row& claim) {
  order_row o;
  o.id = id_of(40'000 + n);
  o.claim = claim.id;
  o.customer = claim.customer;
  o.contact = {"Zo\xc3\xab",
               "O'Brien",
               "zoe@example.org",
               "+234 1",
               "login@example.org",
               language::hr,
               {{4, 0, "Photos may be taken.", "yes"}, {1, 1, "Meal?", "Ẹ̀bà & soup"}}};
  o.subtotal = 5'000;
  o.platform_fee = 150;
  o.processing_fee = 179;
  o.total = 5'329;
  o.created_at = o.updated_at = noon;
  return o;
}

inline event_ticket_row sample_event_ticket(std::uint64_t n, const claim_row& claim,
                                            aggregate_id aggregate = sale) {
  event_ticket_row t;
  t.id = id_of(45'000 + n, aggregate);
  t.claim = claim.id;
  t.holder = claim.customer;
  t.created_at = t.updated_at = noon;
  return t;
}

inline transfer_row sample_transfer(std::uint64_t n, const event_ticket_row& ticket,
                                    const customer_id& receiver, aggregate_id aggregate = sale) {
  transfer_row t;
  t.id = id_of(46'000 + n, aggregate);
  t.ticket = ticket.id;
  t.giver = ticket.holder;
  t.receiver = receiver;
  t.giver_email = "giver@example.org";
  t.receiver_email = "receiver@example.org";
  t.giver_language = language::fr;
  t.receiver_language = language::hr;
  t.created_at = noon;
  t.expires_at = noon + seconds{9};
  return t;
}

inline checkin_list_row sample_checkin_list(std::uint64_t n) {
  checkin_list_row l;
  l.id = id_of(46'000 + n);
  l.name = "Gate " + std::to_string(n);
  l.created_at = l.updated_at = noon;
  return l;
}

inline checkin_device_row sample_checkin_device(std::uint64_t n) {
  return {id_of(47'000 + n), "Phone " + std::to_string(n), "West", {}, "hash", noon, never};
}

/// Of the list and device with the same number.
inline scan_row sample_scan(std::uint64_t n, const event_ticket_id& ticket) {
  scan_row s{{n, ~n}, sample_checkin_list(n).id, sample_checkin_device(n).id, ticket};
  s.is_admitted = true;
  s.at = s.received_at = noon;
  return s;
}

inline idempotency_row sample_key(std::uint64_t n, timestamp at) {
  return {{n, ~n}, {n * 3, n * 5}, at, {'\1', '\0', 'x', static_cast<char>(n)}};
}

/// What a mail is stored as; `order` nil: about none.
inline std::string sample_mail(const std::string& address, const order_id& order = {}) {
  const auto about = order.is_nil() ? "" : R"("order_id":")" + to_string(order) + "\"";
  return R"({"template":"order_receipt","to":[{"address":")" + address + R"("}],"data":{)" + about + "}}";
}

// -- engines ------------------------------------------------------------------------------------------------

/// A ledger with one owned draft event: 10 units of type 0 and 5 of type 1.
struct world {
  explicit world(ledger& s) : store(s), me(s) {
    me.take(catalog_aggregate);
    me.take(accounts_aggregate);
    if (me.put(catalog_aggregate, {event_created{sample_event(), {sample_type(0, 10), sample_type(1, 5)}}})
        != commit_outcome::committed)
      throw std::runtime_error{"the sample event was refused"};
    me.take(sale);
  }

  commit_outcome put(changes content) { return me.put(sale, std::move(content)); }
  aggregate_image image() { return store.peek(sale).image; }

  ledger& store;
  owner me;
};

/// A new ledger in `folder`: a copy of one made before, because each migration is a synced commit, and all of
/// them take longer than most tests.
inline std::filesystem::path new_sqlite_file(const temp_folder& folder) {
  static const temp_folder first_folder;
  static const auto first = [] {
    const auto file = first_folder / "ledger.db";
    const sqlite_ledger made({.file = file}); // at its end the file has all of it
    return file;
  }();
  const auto file = folder / "ledger.db";
  std::filesystem::copy_file(first, file);
  return file;
}

/// Runs `test` on a new ledger of every engine.
inline void on_every_engine(const std::function<void(ledger&)>& test) {
  {
    CAF_MESSAGE("engine: memory");
    memory_ledger store({.now = wall_now});
    test(store);
  }
  {
    CAF_MESSAGE("engine: sqlite");
    const temp_folder folder;
    sqlite_ledger store({.file = new_sqlite_file(folder)});
    test(store);
    CAF_CHECK_EQUAL(store.check_integrity(), "ok");
  }
  {
    CAF_MESSAGE("engine: postgres");
    postgres_ledger store({.url = empty_ledger_url(), .steady_now = steady_now});
    test(store);
  }
}

inline void in_every_world(const std::function<void(world&)>& test) {
  on_every_engine([&](ledger& store) {
    world w(store);
    test(w);
  });
}

} // namespace fq::test

#define FQ_COMMITS(expression) CAF_CHECK((expression) == ::fq::commit_outcome::committed)
#define FQ_CONFLICTS(expression) CAF_CHECK((expression) == ::fq::commit_outcome::conflict)
