// SPDX-License-Identifier: Apache-2.0
// Random rows and changes for differential_test, valid and invalid.
#pragma once
#include "tests/store/port/random_seats.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace differential_test {

using namespace fq;
using namespace fq::test;

inline constexpr std::uint32_t last_event = 19; // events 16 to 19

/// Draws mostly valid rows, based on what the engines have.
class row_generator : public seat_draws {
public:
  explicit row_generator(std::uint64_t seed) : seat_draws(seed) {}

  load_since since() { return percent(30) ? load_since{} : load_since{time(), time()}; }

  aggregate_id some_event() { return aggregate_id{static_cast<std::uint32_t>(between(16, last_event))}; }

protected:
  std::string email() { return text("p", 6) + "@example.org"; }
  receipt_row receipt() { return {percent(50) ? "sandbox" : "stripe", text("evt", 60), time()}; }

  uuid session() { return id_of(10 + below(4), accounts_aggregate); }

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
    e.facts.ticket_terms = text("no\nglass ", 3);
    e.event_tickets = {percent(50), static_cast<std::uint32_t>(below(5)),
                       static_cast<std::uint32_t>(below(9))};
    e.waiting_list = {percent(50), milliseconds{below(100'000)},
                      static_cast<std::int32_t>(between(-1, 1'439)),
                      static_cast<std::int32_t>(between(-1, 1'439)), percent(50) ? time() : never};
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

  statistics_row statistics() {
    statistics_row r;
    r.at = noon + seconds{60 * between(0, 30)};
    r.waiting = below(9) + 1;
    r.waiting_peak = r.waiting + below(9) - (percent(3) ? 1 : 0);
    r.arrivals = below(9);
    r.arrivals_total = r.arrivals + below(9);
    r.admissions = below(9);
    r.admissions_total = r.admissions + below(9);
    r.held = between(0, 1);
    r.sold = between(0, 1);
    r.available = between(0, 1);
    r.revenue = between(-9, 9);
    return r;
  }

  event_ticket_row event_ticket(const aggregate_image& image) {
    const auto* of = any(image.claims);
    auto t = sample_event_ticket(below(1'000'000'000), of ? *of : claim(image));
    if (const auto* stored = any(image.event_tickets); stored && percent(5)) t.id = stored->id;
    t.ticket_type = static_cast<std::uint32_t>(below(percent(10) ? 4'294'967'296 : 3));
    t.status = status(event_ticket_status::cancelled);
    if (percent(50)) t.holder = person();
    t.generation = static_cast<std::uint32_t>(between(percent(5) ? 0 : 1, 9));
    t.seat = static_cast<std::uint32_t>(below(4));
    return t;
  }

  transfer_row offer(const aggregate_image& image) {
    const auto* of = any(image.event_tickets);
    transfer_row t;
    t.id = id_of(46'000 + below(1'000'000'000));
    if (const auto* stored = any(image.transfers); stored && percent(5)) t.id = stored->id;
    t.ticket = of ? of->id : id_of(below(9));
    t.giver = person();
    t.receiver = person();
    t.giver_email = email();
    t.receiver_email = email();
    t.giver_language = status(language::ar);
    t.receiver_language = status(language::ar);
    t.status = percent(70) ? transfer_status::offered : status(transfer_status::expired);
    t.created_at = t.expires_at = time();
    return t;
  }

  change moving_transfer(const aggregate_image& image) {
    const auto* stored = any(image.transfers);
    auto t = stored ? *stored : offer(image);
    const auto from = expected(t.status, transfer_status::expired);
    t.status = status(transfer_status::expired);
    t.giver_email = percent(50) ? std::string{} : email();
    t.ended_at = percent(50) ? never : time();
    return transfer_moved{from, t};
  }

  scan_row scan(const aggregate_image& image) {
    const auto* of = any(image.event_tickets);
    auto s = sample_scan(below(1'000'000'000), of ? of->id : uuid{});
    if (const auto* stored = any(image.scans); stored && percent(5)) s.id = stored->id;
    s.list = sample_checkin_list(below(4)).id;
    s.type = status(scan_type::exit);
    s.is_admitted = percent(60);
    s.is_forced = percent(30);
    s.objection = status(scan_objection::not_in);
    s.at = time();
    s.received_at = time();
    return s;
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

  std::uint64_t next_number_ = 0; ///< of the batch under construction
};

} // namespace differential_test
