// SPDX-License-Identifier: Apache-2.0
// A random sale: fans, an organizer and a gateway with its own records act at any time. Webhooks are late,
// repeated and out of order; the owner restarts. After every step I1-I6, I8 and I10 hold, and a reload equals
// memory.
#define CAF_SUITE domain_sale_walk
#include "tests/domain/sale/random_gate.hpp"
#include "tests/domain/sale/random_sale.hpp"
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>

namespace sale_walk_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr std::uint64_t fans = 14;

class walk {
public:
  explicit walk(std::uint64_t seed) :
      seed_(seed), d_(seed), s_(random_event(d_), random_types(d_), seed, quick_rules()) {}

  void go(int steps, coverage& seen) {
    if (seed_ % 4 == 1) give_random_seats(s_, d_);
    if (seed_ % 3 == 0) draw();
    for (int i = 0; i < steps; ++i, ++seen.steps) {
      before_ = positions();
      s_.note_positions(d_);
      active_before_ = s_.it->queue().counts().admitted;
      step();
      check();
      seen.blocked += !blocked_.empty();
    }
    seen.expiring_seen += expiring_seen_;
    seen.waiting_seen += waiting_seen_;
    seen.reloads += reloads_;
    quiet_phase();
    report(seen);
  }

private:
  /// Fans join in a lobby, some as parties. Then they are drawn.
  void draw() {
    s_.ledger.event.lobby = {opening - seconds{60}, draw_kind::at_opening};
    s_.now = opening - seconds{60};
    s_.reload();
    s_.pass(milliseconds{0});
    for (std::uint64_t n = 1; n <= fans; ++n) {
      const auto party = queue_number{1 + d_.below(n)};
      if (d_.chance(30) || s_.join_party(n, party).no) s_.join(n);
      if (d_.chance(30)) s_.change_party(1 + d_.below(n), d_.chance(50) ? queue_number{} : party);
      if (d_.chance(10)) s_.leave(1 + d_.below(n));
      if (d_.chance(10)) s_.reload();
      FQ_HOLDS(seed_, s_.it->queue().counts().admitted == 0);
    }
    s_.pass(seconds{60});
    FQ_HOLDS(seed_, is_set(s_.ledger.lobby->drawn_at));
  }

  void report(coverage& seen) const {
    count_rows(s_.ledger, seen);
    seen.promo_refused += promo_refused_;
    seen.upgrades += upgrades_;
    seen.refunds_with_names += refunds_with_names_;
    for (const auto& [id, t] : s_.ledger.transfers) seen.transferred += t.status == transfer_status::accepted;
    seen.scanned_in += gate_.admitted();
    seen.conflicts += s_.it->checkin().conflicts().size();
  }

  void step() {
    const auto what = d_.below(100);
    const auto n = 1 + d_.below(fans) + (d_.chance(30) ? first_guest : 0);
    if (what < 14) return try_join(n);
    if (what < 16) return void(s_.leave(n));
    if (what < 26) return try_claim(n);
    if (what < 38) return try_order(n);
    if (what < 41) return try_release(n);
    if (what < 53) return try_pay(n);
    if (what < 62) return gateway_acts();
    if (what < 76) return deliver();
    if (what < 87) return s_.pass(milliseconds{d_.chance(80) ? d_.below(500) : d_.below(5000)});
    if (what < 91 && is_set(s_.wake.at) && s_.wake.at > s_.now) return s_.pass(s_.wake.at - s_.now);
    if (what < 94) return gate_.scan(seed_, d_, s_);
    if (what < 96) return retune();
    if (what < 98) {
      ++reloads_;
      return d_.chance(20) && !s_.it->seats() ? upgrade() : s_.reload();
    }
    turn_something();
  }

  /// As after an older program, which makes and cancels no event tickets.
  void upgrade() {
    ++upgrades_;
    for (auto i = s_.ledger.event_tickets.begin(); i != s_.ledger.event_tickets.end();) {
      if (d_.chance(30)) i->second.status = event_ticket_status::issued;
      i = d_.chance(30) ? s_.ledger.event_tickets.erase(i) : std::next(i);
    }
    s_.ledger.transfers.clear(); // it knew none
    s_.ledger.scans.clear();
    s_.reload();
    s_.pass(milliseconds{0});
  }

  void try_join(std::uint64_t n) {
    const bool has_code = !s_.ledger.promo_codes.empty() && d_.chance(50);
    const auto done = s_.join(n, d_.below(3), has_code ? d_.pick(s_.ledger.promo_codes).code : "");
    FQ_HOLDS(seed_, !done.no || !done.created);
  }

  /// Mostly a fan for which `has` holds, if there is one; else `n`. Purely random fans rarely get far.
  template <class Has>
  std::uint64_t likely(std::uint64_t n, Has has) {
    for (std::uint64_t i = 0; i < fans && d_.chance(90); ++i)
      if (const auto m = (n + i) % fans + 1; has(m)) return m;
    return n;
  }

  bool may_claim(std::uint64_t n) const {
    const auto* e = s_.it->queue().find(fan(n));
    return e != nullptr && e->status == entry_status::admitted && e->live_claims() == 0;
  }

  void try_claim(std::uint64_t n) {
    n = likely(n, [this](std::uint64_t m) { return may_claim(m); });
    std::vector<item_wish> wishes;
    if (d_.chance(50)) {
      const auto& types = s_.ledger.types;
      wishes.push_back({d_.pick(types).id, 1 + static_cast<std::uint32_t>(d_.below(3))});
      if (d_.chance(30)) wishes.push_back({d_.pick(types).id, 1});
    }
    s_.claim(n, wishes, random_seats(s_, d_, wishes));
  }

  void try_order(std::uint64_t n) {
    if (d_.chance(30)) transfer_something(s_, d_, fans);
    if (d_.chance(10)) return try_promo();
    if (d_.chance(4)) return try_block(n);
    if (d_.chance(12)) return try_invite(n);
    if (d_.chance(8)) return void(s_.prefer(n, d_.chance(70) ? std::optional{priority_vip} : std::nullopt));
    if (d_.chance(15)) return try_cancel_or_refund();
    n = likely(n, [this](std::uint64_t m) { return may_claim(m); });
    std::vector<item_wish> wishes;
    const auto* invitation = s_.it->invitation_of(fan(n), s_.now);
    const auto& wished = invitation != nullptr && d_.chance(70) ? s_.ledger.types[invitation->ticket_type]
                                                                : d_.pick(s_.ledger.types);
    wishes.push_back({wished.id, 1 + static_cast<std::uint32_t>(d_.below(2)), d_.chance(20) ? 25 : 0});
    if (d_.chance(invitation != nullptr ? 10 : 40)) wishes.push_back({d_.pick(s_.ledger.types).id, 1});
    const bool has_code = d_.chance(50) && !s_.ledger.promo_codes.empty();
    const auto done =
      s_.order(n, wishes, has_code ? d_.pick(s_.ledger.promo_codes).code : "", random_seats(s_, d_, wishes));
    promo_refused_ += done.no.why == reason::promo_code_exhausted || done.no.why == reason::promo_code_limit;
    if (done.no) return;
    const auto payment = s_.payment_of(s_.order_of(n)).id;
    if (s_.payment(payment).gateway == "sandbox" && d_.chance(70)) s_.initialized(payment);
    if (d_.chance(5)) {
      s_.last = {};
      s_.it->refused_by_gateway(payment, d_.chance(50), s_.now, s_.last);
      s_.settle();
    }
  }

  void try_block(std::uint64_t n) {
    if (blocked_.size() > 2 || (!blocked_.empty() && d_.chance(40)))
      blocked_.erase(blocked_.begin());
    else
      blocked_.insert(n);
    s_.block(blocked_);
  }

  void try_invite(std::uint64_t n) {
    if (d_.chance(10)) return void(s_.uninvite(n));
    const auto until = d_.chance(50) ? never : s_.now + seconds{1 + d_.below(20)};
    s_.invite({n}, {s_.ledger.types.back().id, 1 + static_cast<std::uint32_t>(d_.below(2)), until});
  }

  /// A blocked fan has only refunds in flight, money that waits for a person, and rows of an ended sale.
  void check_blocked() {
    for (const auto n : blocked_) {
      const auto* e = s_.it->queue().find(fan(n));
      FQ_HOLDS(seed_, e == nullptr || !is_live(e->status));
      for (const auto& id : s_.it->claims().standing_of(fan(n))) {
        const auto& claim = s_.ledger.claims.at(id);
        FQ_HOLDS(seed_, claim.status != claim_status::claimed);
        const bool goes_back = std::ranges::any_of(s_.ledger.payments, [&](const auto& p) {
          return p.second.claim == id
                 && (p.second.status == payment_status::refund_pending
                     || p.second.status == payment_status::refund_failed);
        });
        FQ_HOLDS(seed_, claim.status == claim_status::expiring || goes_back
                          || s_.ledger.event.status == event_status::ended);
      }
    }
  }

  void try_promo() {
    promo_code_patch p;
    if (!s_.ledger.promo_codes.empty() && d_.chance(60)) p.id = d_.pick(s_.ledger.promo_codes).id;
    p.code = {true, "CODE" + std::to_string(d_.below(4))};
    const auto kind = static_cast<discount_kind>(d_.below(3));
    p.reduction = {true,
                   {kind, kind == discount_kind::none ? 0 : 1 + static_cast<std::int64_t>(d_.below(10'000)),
                    d_.below(std::uint64_t{1} << s_.ledger.types.size())}};
    p.uses_max = {true, static_cast<std::uint32_t>(d_.below(4))};
    p.uses_per_customer = {true, static_cast<std::uint32_t>(d_.below(2))};
    s_.promo(p);
  }

  void try_cancel_or_refund() {
    const auto* o = any(s_.ledger.orders);
    if (o == nullptr) return;
    if (d_.chance(40)) return void(s_.cancel_order(o->customer.lo, o->id));
    std::vector<item_wish> back;
    if (d_.chance(70)) back.push_back({d_.pick(s_.ledger.types).id, 1});
    std::vector<event_ticket_id> tickets;
    const auto of_claim = s_.it->event_tickets().of_claim(o->claim);
    if (!of_claim.empty() && d_.chance(60)) {
      tickets.push_back(of_claim[d_.below(of_claim.size())]->id);
      if (d_.chance(70)) back.clear();
    }
    if (!s_.refund_order(o->id, back, tickets)) refunds_with_names_ += tickets.size();
  }

  void try_release(std::uint64_t n) {
    if (const auto* c = any(s_.ledger.claims)) s_.release(d_.chance(80) ? c->customer.lo : n, c->id);
  }

  void try_pay(std::uint64_t n) {
    n = likely(n, [this](std::uint64_t m) {
      const auto* c = s_.it->claims().live(fan(m));
      return c != nullptr && s_.it->payments().open_of(c->id) == nullptr;
    });
    if (const auto* c = s_.it->claims().live(fan(n))) {
      s_.last = {};
      const auto done = s_.it->open_payment(fan(n), c->id, "sandbox", s_.now, s_.last);
      s_.settle();
      if (done.created && d_.chance(70)) {
        s_.last = {};
        s_.it->initialized(done.payment, "http://page", {}, s_.now, s_.last);
        s_.settle();
      }
    }
  }

  /// Changes the gateway's own records; the sale receives the webhook later.
  void gateway_acts() {
    const auto* p = any(s_.ledger.payments);
    for (int i = 0; i < 8 && p != nullptr && book_.captured.contains(p->id); ++i) p = any(s_.ledger.payments);
    if (p == nullptr || p->gateway != "sandbox") return;
    if (d_.chance(65)) {
      if (book_.captured.contains(p->id)) return;
      const bool mismatch = d_.chance(6);
      const auto amount = mismatch ? p->amount - 1 : p->amount;
      book_.captured[p->id] = amount;
      auto f = s_.fact(p->id, verdict::paid);
      f.amount = amount;
      mail_.push_back(f);
    } else if (!book_.captured.contains(p->id)) {
      mail_.push_back(s_.fact(p->id, verdict::declined)); // it may still be captured later
    }
  }

  /// Delivers a random message, which often stays and arrives again.
  void deliver() {
    collect_refunds();
    if (mail_.empty()) return;
    const auto i = d_.below(mail_.size());
    const auto f = mail_[i];
    if (d_.chance(70)) mail_.erase(mail_.begin() + static_cast<std::ptrdiff_t>(i));
    hear(f);
  }

  void hear(const gateway_fact& f) {
    s_.hear(f);
    if (f.what == verdict::paid) told_[*parse_reference(f.reference)] = f.amount;
  }

  /// The gateway answers requested refunds: done, refused, or no answer yet.
  void collect_refunds() {
    for (const auto& [id, r] : s_.ledger.refunds) {
      if (r.status != refund_status::requested || !d_.chance(15)) continue;
      const bool done = book_.refunded.contains(id) || d_.chance(80);
      if (done) book_.refunded[id] = r.amount;
      auto f = s_.fact(r.payment, done ? verdict::refund_processed : verdict::refund_failed);
      f.refund = to_string(id);
      mail_.push_back(f);
    }
  }

  void retune() {
    event_patch p;
    switch (d_.below(5)) {
      case 0: p.set(&queue_settings::concurrency, static_cast<std::uint32_t>(d_.below(6))); break;
      case 1: p.set(&queue_settings::batch_size, 1 + static_cast<std::uint32_t>(d_.below(5))); break;
      case 2: p.set(&queue_settings::claim_window, seconds{1 + d_.below(6)}); break;
      case 3: p.set(&event_row::claims_per_customer, 1 + static_cast<std::uint32_t>(d_.below(3))); break;
      default: {
        ticket_type_patch t;
        t.values.id = d_.pick(s_.ledger.types).id;
        if (d_.chance(70))
          t.set(&ticket_type_row::total, 1 + static_cast<std::int64_t>(d_.below(12)));
        else
          t.set(&ticket_type_row::on_sale, d_.chance(60));
        p.ticket_types.push_back(t);
      }
    }
    s_.patch(p);
  }

  void turn_something() {
    if (d_.chance(70))
      return void(s_.change_status(d_.chance(50) ? event_trigger::pause : event_trigger::resume));
    if (d_.chance(25)) s_.change_status(d_.chance(50) ? event_trigger::end : event_trigger::cancel);
  }

  void check() {
    demand_nothing(what_is_wrong(s_));
    demand_nothing(what_money_is_wrong(s_, book_, told_));
    check_blocked();
    const auto q = s_.it->event().queue;
    const auto active = s_.it->queue().counts().admitted;
    if (q.policy != admission_policy::open && q.concurrency != 0) // I5
      FQ_HOLDS(seed_, active <= std::max<std::uint64_t>(q.concurrency, active_before_));
    for (const auto& [number, position] : positions()) // I8
      if (const auto i = before_.find(number); i != before_.end()) FQ_HOLDS(seed_, position <= i->second);
    demand_nothing(s_.what_the_copy_misses());
    check_order();
    waiting_seen_ += s_.it->queue().counts().waiting;
    for (const auto& [id, c] : s_.ledger.claims) expiring_seen_ += c.status == claim_status::expiring;
    FQ_HOLDS(seed_, !is_set(s_.wake.at) || s_.wake.again || s_.wake.at > s_.now); // no immediate timer
    if (d_.chance(25)) demand_nothing(how_a_reload_differs(s_));
  }

  void demand_nothing(const std::string& wrong) const {
    if (!wrong.empty()) CAF_FAIL("seed " << seed_ << " (run with FAIRQUEUE_SEED=" << seed_ << "): " << wrong);
  }

  /// Whether hidden types are, or were, open to the entry: it may be admitted before lower numbers.
  bool has_access(const entry_row& e) const {
    return s_.ledger.invitations.contains(e.subject)
           || std::ranges::find(s_.ledger.access, e.number, &entry_access_row::number)
                != s_.ledger.access.end();
  }

  [[nodiscard]] line_rank rank(queue_number n) const { return s_.ledger.ranks.rank_of(n); }
  [[nodiscard]] std::map<line_rank, const entry_row*> by_rank() const {
    std::map<line_rank, const entry_row*> all;
    for (const auto& [n, e] : s_.ledger.entries) all.emplace(rank(n), &e);
    return all;
  }

  /// I6: at an admission no waiting fan of the same class has a lower rank.
  void check_order() {
    const auto entries = by_rank();
    std::map<std::uint32_t, std::uint64_t> in_batch;
    for (const auto priority_class : {priority_vip, priority_standard}) {
      std::uint32_t batch = 0;
      timestamp at = never;
      const auto overtaken = first_in_line(entries, priority_class);
      for (const auto& [own, row] : entries) {
        const auto& e = *row;
        if (e.priority_class != priority_class || !is_set(e.admitted_at)) continue;
        if (s_.ledger.event.queue.policy == admission_policy::batch)
          FQ_HOLDS(seed_, ++in_batch[e.admission_batch] <= 5);
        if (has_access(e)) continue;
        FQ_HOLDS(seed_, !overtaken || own < *overtaken);
        FQ_HOLDS(seed_, e.admission_batch >= batch && e.admitted_at >= at); // by rank, so by batch and time
        batch = e.admission_batch;
        at = e.admitted_at;
      }
    }
  }

  static std::optional<line_rank> first_in_line(const std::map<line_rank, const entry_row*>& entries,
                                                std::uint8_t priority_class) {
    for (const auto& [own, e] : entries)
      if (e->status == entry_status::waiting && e->priority_class == priority_class) return own;
    return std::nullopt;
  }

  std::map<queue_number, std::uint64_t> positions() const {
    std::map<queue_number, std::uint64_t> result;
    for (const auto& [n, e] : s_.ledger.entries)
      if (is_in_line(e.status)) result[n] = place_in_class(n, e.priority_class);
    return result;
  }

  /// The position within the priority class; places of other classes are ignored.
  std::uint64_t place_in_class(queue_number number, std::uint8_t priority_class) const {
    std::uint64_t place = 0;
    for (const auto& [n, e] : s_.ledger.entries)
      place += is_in_line(e.status) && e.priority_class == priority_class && rank(n) <= rank(number);
    return place;
  }

  /// I13: after all deliveries and enough time, no work remains.
  void quiet_phase() {
    const auto end = s_.ledger.event.sale_end + seconds{120};
    for (int i = 0; i < 2000 && !(s_.now > end && s_.it->is_quiet(s_.now) && mail_.empty()); ++i) {
      const auto before = s_.now;
      while (!mail_.empty()) {
        hear(mail_.back());
        mail_.pop_back();
      }
      for (const auto& o : s_.last.gateway_calls) answer(o);
      for (const auto& [id, r] : s_.ledger.refunds)
        if (r.status == refund_status::requested) answer({gateway_call_kind::refund, r.payment, id});
      s_.pass(is_set(s_.wake.at) && s_.wake.at > before ? s_.wake.at - before : seconds{5});
      demand_nothing(what_is_wrong(s_));
    }
    FQ_HOLDS(seed_, s_.it->is_quiet(s_.now));
    demand_nothing(how_a_reload_differs(s_));
    demand_nothing(what_money_is_wrong(s_, book_, told_));
  }

  void answer(const gateway_call& o) {
    if (o.kind == gateway_call_kind::refund) {
      book_.refunded[o.refund] = s_.it->payments().find_refund(o.refund)->amount;
      auto f = s_.fact(o.payment, verdict::refund_processed);
      f.refund = to_string(o.refund);
      mail_.push_back(f);
    } else if (book_.captured.contains(o.payment)) {
      auto f = s_.fact(o.payment, verdict::paid);
      f.amount = book_.captured[o.payment];
      mail_.push_back(f);
    } else if (o.kind != gateway_call_kind::initialize) {
      mail_.push_back(s_.fact(o.payment, verdict::declined));
    }
  }

  template <class Map>
  const typename Map::mapped_type* any(const Map& rows) {
    if (rows.empty()) return nullptr;
    return &std::next(rows.begin(), static_cast<std::ptrdiff_t>(d_.below(rows.size())))->second;
  }

  std::uint64_t seed_;
  dice d_;
  sample_sale s_;
  gateway_book book_;
  std::map<payment_id, money> told_;
  std::vector<gateway_fact> mail_;
  std::map<queue_number, std::uint64_t> before_; ///< within each class
  std::set<std::uint64_t> blocked_;
  std::uint64_t active_before_ = 0, expiring_seen_ = 0, waiting_seen_ = 0, reloads_ = 0, promo_refused_ = 0,
                upgrades_ = 0, refunds_with_names_ = 0;
  random_gate gate_;
};

} // namespace

CAF_TEST(random sales keep every invariant and survive every restart) {
  coverage seen;
  for_seeds(800, [&](std::uint64_t seed) {
    try {
      walk{seed}.go(400, seen);
    } catch (const std::runtime_error& refused) {
      CAF_FAIL("seed " << seed << " (run with FAIRQUEUE_SEED=" << seed
                       << "): the ledger refuses: " << refused.what());
    }
  });
  CAF_MESSAGE(seen.steps << " steps, " << seen.reloads << " reloads, " << seen.admitted
                         << " admitted, claimed again " << seen.claimed_again << ", refunds refused "
                         << seen.refusals_of_refunds);
  CAF_MESSAGE("transferred " << seen.transferred << ", scanned in " << seen.scanned_in << ", conflicts "
                             << seen.conflicts << ", upgrades " << seen.upgrades << ", refunds with names "
                             << seen.refunds_with_names << ", seated " << seen.seated);
  if (std::getenv("FAIRQUEUE_SEED") != nullptr) return;
  for (const auto n :
       {seen.reloads, seen.session_expired, seen.expired, seen.waiting_seen, seen.expiring_seen,
        seen.claimed_again, seen.cancelled, seen.refusals_of_refunds, seen.transferred, seen.scanned_in,
        seen.conflicts, seen.with_promo, seen.promo_refused, seen.preferred, seen.blocked, seen.invited,
        seen.of_quota, seen.upgrades, seen.refunds_with_names})
    CAF_CHECK_GREATER(n, 50u);
  CAF_CHECK(seen.seated > 50);
  for (const auto s : {claim_status::confirmed, claim_status::released, claim_status::refunded})
    CAF_CHECK(seen.claims[s] > 50);
  for (const auto s : {payment_status::confirmed, payment_status::failed, payment_status::quarantined,
                       payment_status::refunded, payment_status::partially_refunded})
    CAF_CHECK(seen.payments[s] > 20);
  for (const auto s : {order_status::success, order_status::failed, order_status::cancelled,
                       order_status::partially_refunded, order_status::refunded})
    CAF_CHECK_GREATER(seen.orders[s], 50u);
}

} // namespace sale_walk_test
