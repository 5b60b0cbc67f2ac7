// SPDX-License-Identifier: Apache-2.0
// Random calls for differential_test: batches, leases and keys, valid and invalid. One seed gives one
// sequence.
#pragma once
#include "tests/store/port/engines.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace differential_test {

using namespace fq;
using namespace fq::test;

inline constexpr std::uint32_t last_event = 19; // events 16 to 19

/// Each engine has its own clock, so a lease expires either immediately or not during the test.
inline constexpr milliseconds ended_at_once{0}, long_term{3'600'000};

/// No owner, and two that compete.
inline const std::array<std::string, 3> owners{"", "ada", "ben"};

inline std::vector<std::uint32_t> all_partitions() {
  std::vector<std::uint32_t> all(outbox_partitions);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

/// Draws mostly valid calls, based on the oracle's committed state.
class generator {
public:
  generator(std::uint64_t seed, const memory_ledger& oracle) : rng_(seed), oracle_(oracle) {}

  std::uint64_t below(std::uint64_t n) { return rng_() % n; }
  bool percent(unsigned p) { return below(100) < p; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  timestamp time() { return noon + seconds{between(0, 50)}; }
  load_since since() { return percent(30) ? load_since{} : load_since{time(), time()}; }

  aggregate_id some_event() { return aggregate_id{static_cast<std::uint32_t>(between(16, last_event))}; }

  aggregate_id some_aggregate() {
    if (percent(8)) return accounts_aggregate;
    return percent(10) ? catalog_aggregate : some_event();
  }

  std::vector<batch> call() {
    std::vector<batch> result(1 + below(4));
    for (auto& b : result) b = some_batch();
    return result;
  }

  std::string some_owner() { return owners[below(owners.size())]; }
  /// Of any process of the node that has begun; mostly the latest.
  lease_terms lease() {
    lease_terms terms{some_owner(), percent(30) ? ended_at_once : long_term};
    terms.incarnation = incarnations_[terms.owner];
    if (terms.incarnation > 0 && percent(30)) terms.incarnation = below(terms.incarnation);
    return terms;
  }
  void begun(const std::string& node, std::uint64_t incarnation) { incarnations_[node] = incarnation; }

  /// Aggregates that may exist, and one that never exists.
  std::vector<aggregate_id> some_aggregates() {
    return some_of<aggregate_id>({{}, accounts_aggregate, catalog_aggregate, sale, other_sale});
  }
  /// These aggregates, mostly under their present epochs.
  std::vector<tenure> tenures_of(const std::vector<aggregate_id>& aggregates) {
    std::vector<tenure> all;
    for (const auto a : aggregates) {
      const auto* head = oracle_.head(a);
      all.push_back({a, (head ? head->epoch : 1) - (percent(20) ? 1 : 0)});
    }
    return all;
  }
  std::vector<std::uint32_t> some_partitions() { return some_of(all_partitions()); }

  /// Keys of waiting rows, and keys that do not exist.
  std::vector<outbox_key> some_keys(const std::vector<outbox_item>& waiting) {
    std::vector<outbox_key> keys{{some_event(), below(99), static_cast<std::uint32_t>(below(3))}};
    for (const auto& item : waiting)
      if (percent(30)) keys.push_back(item.key);
    return keys;
  }

private:
  template <class T>
  std::vector<T> some_of(std::vector<T> all) {
    std::erase_if(all, [&](const T&) { return percent(50); });
    return all;
  }

  template <class Status>
  Status status(Status last) {
    return static_cast<Status>(below(static_cast<std::uint64_t>(last) + 1));
  }

  /// Mostly the stored status.
  template <class Status>
  Status expected(Status stored, Status last) {
    return percent(90) ? stored : status(last);
  }

  template <class Row>
  const Row* any(const std::vector<Row>& rows) {
    return rows.empty() ? nullptr : &rows[below(rows.size())];
  }

  uuid person() { return id_of(1 + below(5), accounts_aggregate); }
  std::string text(const std::string& prefix, std::uint64_t n) { return prefix + std::to_string(below(n)); }
  std::string email() { return text("p", 6) + "@example.org"; }
  receipt_row receipt() { return {percent(50) ? "sandbox" : "stripe", text("evt", 60), time()}; }

  batch some_batch() {
    batch b;
    b.aggregate = some_aggregate();
    const auto* head = oracle_.head(b.aggregate);
    b.epoch = head ? head->epoch : 1;
    if (percent(5)) b.epoch += below(3) - 1;
    b.from_seq = head ? head->applied_seq : 0;
    if (percent(6) && b.from_seq > 0) b.from_seq -= 1;
    if (percent(3)) b.from_seq += 1;
    b.to_seq = b.from_seq + (percent(2) ? 0 : 1 + below(3));
    b.at = time();
    static const aggregate_image none;
    const auto* committed = oracle_.committed(b.aggregate);
    const auto& image = committed ? *committed : none;
    const auto count = percent(10) ? 1 + below(45) : 1 + below(4);
    next_number_ = 0;
    generation_ = head ? head->cache_generation : 0;
    for (std::uint64_t i = 0; i < count; ++i) b.content.push_back(some_change(b.aggregate, image, count > 4));
    return b;
  }

  change some_change(aggregate_id a, const aggregate_image& image, bool crowd) {
    if (percent(8)) return outbox_appended{domain_event()};
    if (percent(4)) return audit_recorded{audited()};
    if (percent(2)) return entries_forgotten{queue_number{below(8)}};
    if (percent(2)) return cache_generation_raised{percent(70) ? generation_++ : below(4)};
    if (a == catalog_aggregate && percent(70)) return creation();
    if (a == accounts_aggregate && percent(90)) return account_change();
    if (crowd || percent(20)) return entry_joined{joining(image)};
    switch (below(29)) {
      case 27: return lock_taken{{text("A-", 4), queue_number{below(6)}, time()}};
      case 28: return lock_freed{text("A-", 4)};
      case 25: return event_ticket_issued{event_ticket(image)};
      case 26: return moving_event_ticket(image);
      case 24: return access_given{{queue_number{below(6)}, static_cast<std::uint32_t>(below(3))}};
      case 23:
        return invitation_stored{{person(), static_cast<std::uint32_t>(below(4)),
                                  static_cast<std::uint32_t>(below(4)), percent(50) ? never : time(),
                                  time()}};
      case 19:
      case 20: return dead_letter_stored{letter(a, image)};
      case 21: return priority_stored{{person(), static_cast<std::uint8_t>(below(256)), time()}};
      case 22: return priority_removed{person()};
      case 14: return promo_code_added{promo_code(image)};
      case 15: return promo_code_changed{promo_code(image)};
      case 16: return promo_uses_moved{static_cast<std::uint32_t>(below(3)), between(-2, 3)};
      case 17: return order_placed{order(image)};
      case 18: return moving_order(image);
      case 0: return creation();
      case 1: return changing_event(a, image);
      case 2: return ticket_type_added{type()};
      case 3: return ticket_type_changed{type()};
      case 4: return stock_moved{static_cast<std::uint32_t>(below(4)), between(-2, 4), between(-2, 3)};
      case 5: return moving_entry(image);
      case 6: return claim_opened{claim(image)};
      case 7: return moving_claim(image);
      case 8: return payment_opened{payment(image)};
      case 9: return moving_payment(image);
      case 10: return refund_opened{refund(image)};
      case 11: return moving_refund(image);
      case 12: return idempotency_stored{sample_key(below(50), time())};
      default: return receipt_stored{receipt()};
    }
  }

  change account_change() {
    switch (below(12)) {
      case 9: return organizer_removed{person()};
      case 10:
        return organizer_session_stored{
          {session(), person(), text("agent", 3), time(), time(), percent(50) ? never : time()}};
      case 11: return organizer_session_removed{session()};
      case 7:
        return block_stored{
          {some_tenant(), organizer_id{person()}, person(), text("why", 3), percent(50), time()}};
      case 8: return block_removed{some_tenant(), organizer_id{person()}, person()};
      case 6:
        return setting_stored{
          {percent(3) ? std::string{} : text("Setting", 2) + text(".a", 3), text("value", 9), time()}};
      case 4:
        return tenant_stored{{some_tenant(), text("tenant-", 4), text("{}", 3), text("acct_", 3), time()}};
      case 5:
        return api_key_stored{{id_of(below(6), accounts_aggregate), some_tenant(),
                               status(api_key_scope::operate), text("hash", 9), text("label", 3), time(),
                               percent(50) ? never : time()}};
      case 0: return organizer_stored{{person(), tenant_id{1}, email(), text("hash", 9), time(), time()}};
      case 1: return customer_stored{{person(), tenant_id{1}, email(), time()}};
      case 2:
        return otp_stored{
          {text("handle", 4), email(), person(), "code", time(), static_cast<std::uint32_t>(below(5))}};
      default: return otp_removed{text("handle", 4)};
    }
  }
  uuid session() { return id_of(10 + below(4), accounts_aggregate); }

  tenant_id some_tenant() { return tenant_id{static_cast<std::uint32_t>(1 + below(4))}; }

  audit_row audited() {
    return {id_of(below(1'000'000'000)), some_tenant(), id_of(below(3)), text("actor", 3),
            text("action", 3),           "{}",          text("why", 3),  time()};
  }

  outbox_row domain_event() {
    return {id_of(below(1'000'000)), text("topic.", 5), R"({"n":)" + std::to_string(below(99)) + "}", time(),
            static_cast<std::uint8_t>(1 + below(every_lane))};
  }

  event_row event(aggregate_id a) {
    auto e = sample_event(percent(98) ? a : aggregate_id{15}, below(3));
    if (percent(2)) e.id = id_of(1);
    e.status = status(event_status::cancelled);
    e.queue.policy = status(admission_policy::operated);
    e.queue.batch_size = static_cast<std::uint32_t>(below(5'000'000'000));
    e.name = "event " + std::to_string(below(9));
    e.updated_at = time();
    e.kind = status(event_kind::queue);
    e.tenant = percent(90) ? default_tenant : some_tenant();
    e.external_id = percent(70) ? std::string{} : text("match-", 3);
    e.message = text("hold on ", 3);
    e.queue.capacity = static_cast<std::uint32_t>(below(5'000'000'000));
    e.queue.presence_timeout = milliseconds{below(100'000)};
    e.queue.away_grace = milliseconds{below(100'000)};
    e.queue.locks_per_session = static_cast<std::uint32_t>(below(21));
    e.facts.starts_at = percent(50) ? time() : never;
    e.facts.time_zone = text("Zone/", 3);
    e.facts.venue_name = text("hall ", 3);
    e.facts.latitude =
      percent(50) ? no_coordinate : static_cast<std::int32_t>(between(-90'000'000, 90'000'000));
    e.facts.description = text("one\ntwo ", 3);
    e.async_percent = static_cast<std::int32_t>(between(percent(3) ? -3 : -1, percent(3) ? 103 : 100));
    return e;
  }

  change changing_event(aggregate_id a, const aggregate_image& image) {
    const auto stored = image.event ? image.event->status : event_status::draft;
    auto to = event(a);
    if (image.event) { // an event never changes its owner or its name within the tenant
      to.tenant = image.event->tenant;
      to.external_id = image.event->external_id;
    }
    return event_changed{expected(stored, event_status::cancelled), std::move(to)};
  }

  change creation() {
    event_created c{event(some_event()), {}};
    for (auto n = below(4); n > 0; --n) c.ticket_types.push_back(type());
    return c;
  }

  ticket_type_row type() {
    auto t = sample_type(static_cast<std::uint32_t>(below(4)), between(percent(3) ? -1 : 0, 20));
    t.price = between(percent(3) ? -1 : 0, 9);
    t.on_sale = percent(50);
    t.hidden = percent(50);
    t.sale_from = time();
    t.description = text("near ", 3);
    if (percent(3)) t.held = 1;
    return t;
  }

  entry_row joining(const aggregate_image& image) {
    const auto last = image.entries.empty() ? 0 : value_of(image.entries.back().number);
    if (next_number_ == 0) next_number_ = last + 1;
    auto e = sample_entry(percent(98) ? next_number_++ : below(30));
    e.join_key = rng_();
    if (percent(40)) e.subject_name = text("Zo\xc3\xab ", 9);
    e.priority_class = static_cast<std::uint8_t>(below(256));
    if (percent(10)) change_entry(e);
    return e;
  }

  void change_entry(entry_row& e) {
    e.status = status(entry_status::revoked);
    e.admitted_at = time();
    e.session_expires_at = time();
    e.claim_by = time();
    e.admission_no = static_cast<std::uint32_t>(below(4'294'967'296));
    e.admission_batch = static_cast<std::uint32_t>(below(9));
    e.has_claimed = percent(50);
  }

  change moving_entry(const aggregate_image& image) {
    const auto* stored = any(image.entries);
    auto e = stored ? *stored : sample_entry(1);
    const auto from = expected(e.status, entry_status::revoked);
    change_entry(e);
    if (percent(20)) e.subject = person();
    return entry_moved{from, e};
  }

  claim_row claim(const aggregate_image& image) {
    std::vector<claim_item> items;
    for (auto n = below(3); n > 0; --n) {
      const auto type = static_cast<std::uint32_t>(below(percent(10) ? 5 : 2));
      const auto quantity = static_cast<std::uint32_t>(between(percent(3) ? 0 : 1, 3));
      items.push_back({type, quantity, between(percent(3) ? -1 : 0, 9), 0, between(percent(3) ? -1 : 0, 5),
                       between(0, percent(3) ? 20 : 0)});
    }
    auto c = sample_claim(0, 0, items);
    c.customer = person();
    c.id = id_of(below(1'000'000));
    if (const auto* stored = any(image.claims); stored && percent(5)) c.id = stored->id;
    c.live_slot = static_cast<std::uint8_t>(below(3));
    if (percent(30)) c.status = status(claim_status::refunded);
    c.amount = between(percent(3) ? -1 : 0, 99);
    return c;
  }

  change moving_claim(const aggregate_image& image) {
    const auto* stored = any(image.claims);
    auto c = stored ? *stored : claim(image);
    const auto from = expected(c.status, claim_status::refunded);
    c.status = status(claim_status::refunded);
    c.live_slot = static_cast<std::uint8_t>(below(3));
    c.ended_at = time();
    for (auto& i : c.items) i.refunded = static_cast<std::uint32_t>(below(i.quantity + (percent(5) ? 2 : 1)));
    if (percent(3)) c.items.push_back({0, 1, 1, 0});
    return claim_moved{from, c};
  }

  payment_row payment(const aggregate_image& image) {
    const auto* of = any(image.claims);
    auto p = sample_payment(below(1'000'000), of ? *of : claim(image));
    p.reference = "ref" + std::to_string(below(percent(10) ? 20 : 1'000'000));
    if (const auto* stored = any(image.payments); stored && percent(5)) p.id = stored->id;
    if (percent(50)) p.status = status(payment_status::refund_failed);
    if (percent(50)) p.gateway_id = text("gw_", 9);
    if (percent(50)) p.destination = text("acct_", 9);
    return p;
  }

  change moving_payment(const aggregate_image& image) {
    const auto* stored = any(image.payments);
    auto p = stored ? *stored : payment(image);
    const auto from = expected(p.status, payment_status::refund_failed);
    p.status = status(payment_status::refund_failed);
    p.gateway_id = text("gw_", 9);
    p.captured = between(percent(3) ? -1 : 0, 9);
    p.tax = between(percent(3) ? -1 : 0, percent(3) ? 10 : std::max<std::int64_t>(p.captured, 0));
    p.refunded = between(0, percent(5) ? 9 : std::max<std::int64_t>(p.captured, 0));
    p.authorization_url = "https://example.org/" + std::to_string(below(9));
    p.other_currency = percent(10) ? text("US", 9) : "";
    p.recheck_at = percent(50) ? time() : never;
    if (const auto* of = any(image.claims); of && percent(10)) p.claim = of->id;
    if (percent(3)) p.claim = id_of(1);
    return payment_moved{from, p};
  }

  promo_code_row promo_code(const aggregate_image& image) {
    auto p = sample_promo_code(static_cast<std::uint32_t>(percent(80) ? image.promo_codes.size() : below(3)),
                               static_cast<std::uint32_t>(percent(50) ? 0 : below(6)));
    p.id = id_of(below(1'000'000));
    if (percent(50)) p.code = text("CODE-", 6);
    if (percent(3)) p.code.clear();
    if (percent(3)) p.uses = 1;
    p.reduction = {status(discount_kind::amount), between(percent(3) ? -1 : 0, 9'999), rng_() >> 14};
    p.valid_from = time();
    p.is_active = percent(50);
    p.updated_at = time();
    return p;
  }

  order_row order(const aggregate_image& image) {
    const auto* of = any(image.claims);
    auto o = sample_order(below(1'000'000'000), of ? *of : claim(image));
    if (const auto* stored = any(image.orders); stored && percent(5)) o.id = stored->id;
    o.status = status(order_status::refunded);
    o.promo_code = text("CODE-", 6);
    o.donations = between(percent(3) ? -1 : 0, 9);
    o.total += o.donations + (percent(3) ? 1 : 0);
    if (percent(50)) o.payment_link_at = time();
    return o;
  }

  change moving_order(const aggregate_image& image) {
    const auto* stored = any(image.orders);
    auto o = stored ? *stored : order(image);
    const auto from = expected(o.status, order_status::refunded);
    o.status = status(order_status::refunded);
    o.failure = text("why", 3);
    o.payment_link_at = percent(50) ? never : time();
    o.updated_at = time();
    if (const auto* of = any(image.claims); of && percent(10)) o.claim = of->id;
    return order_moved{from, o};
  }

  event_ticket_row event_ticket(const aggregate_image& image) {
    const auto* of = any(image.claims);
    auto t = sample_event_ticket(below(1'000'000'000), of ? *of : claim(image));
    if (const auto* stored = any(image.event_tickets); stored && percent(5)) t.id = stored->id;
    t.ticket_type = static_cast<std::uint32_t>(below(percent(10) ? 4'294'967'296 : 3));
    t.status = status(event_ticket_status::cancelled);
    if (percent(50)) t.holder = person();
    t.generation = static_cast<std::uint32_t>(between(percent(5) ? 0 : 1, 9));
    return t;
  }

  change moving_event_ticket(const aggregate_image& image) {
    const auto* stored = any(image.event_tickets);
    auto t = stored ? *stored : event_ticket(image);
    const auto from = expected(t.status, event_ticket_status::cancelled);
    t.status = status(event_ticket_status::cancelled);
    t.updated_at = time();
    if (percent(20)) t.holder = person();
    return event_ticket_moved{from, t};
  }

  refund_row refund(const aggregate_image& image) {
    const auto* of = any(image.payments);
    auto r = sample_refund(below(1'000'000), of ? *of : payment(image));
    if (const auto* stored = any(image.refunds); stored && percent(5)) r.id = stored->id;
    r.amount = between(percent(5) ? -1 : 0, 9);
    for (auto n = below(3); n > 0; --n)
      r.items.push_back({static_cast<std::uint32_t>(below(4'294'967'296)),
                         static_cast<std::uint32_t>(between(percent(3) ? 0 : 1, 20))});
    for (auto n = below(3); n > 0; --n) r.tickets.push_back(id_of(below(9)));
    return r;
  }

  /// Few ids per aggregate: most exist already, in any status.
  dead_letter_row letter(aggregate_id a, const aggregate_image& image) {
    if (const auto* stored = any(image.dead_letters); stored && percent(30)) {
      auto next = *stored;
      next.status = status(dead_letter_status::dismissed);
      return next;
    }
    return {id_of(below(12), a),
            status(dead_letter_kind::payment_unknown),
            id_of(below(9)),
            status(dead_letter_status::dismissed),
            text("why", 3),
            text("payload", 3),
            time(),
            time()};
  }

  change moving_refund(const aggregate_image& image) {
    const auto* stored = any(image.refunds);
    auto r = stored ? *stored : refund(image);
    const auto from = expected(r.status, refund_status::failed);
    r.status = status(refund_status::failed);
    r.attempts = static_cast<std::uint32_t>(below(9));
    r.next_attempt_at = time();
    return refund_moved{from, r};
  }

  std::mt19937_64 rng_;
  const memory_ledger& oracle_;
  std::map<std::string, std::uint64_t> incarnations_; ///< of the latest process, by node
  std::uint64_t next_number_ = 0, generation_ = 0; ///< of the batch under construction
};

} // namespace differential_test
