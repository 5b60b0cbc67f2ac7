// SPDX-License-Identifier: Apache-2.0
// The changes of a batch to the cache's mirror: single cases, and random sales against a naive mirror, which
// must equal the rows at the end.
#define CAF_SUITE domain_mirror
#include "domain/line/mirror.hpp"
#include "tests/domain/sale/sample_sale.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace mirror_test {

using namespace fq;
using namespace fq::test;

namespace {

// -- the naive mirror -----------------------------------------------------------------------------------

mirrored_session live_session(const entry_row& r) {
  return {r.number, r.admission_no, r.subject, r.joined_at,
          r.has_claimed ? r.session_expires_at : r.claim_by};
}

std::vector<mirrored_stock> stock_of(const std::vector<ticket_type_row>& types) {
  std::vector<mirrored_stock> stock;
  for (const auto& t : types) stock.push_back({t.id, t.total, t.held, t.sold});
  return stock;
}

/// The mirror that these rows require, independent of history.
mirror_image image_of(const naive_ledger& ledger) {
  mirror_image image;
  for (const auto& [n, r] : ledger.entries) {
    if (r.status == entry_status::waiting || r.status == entry_status::away) image.waiting.push_back(n);
    if (r.status == entry_status::admitted) image.sessions.push_back(live_session(r));
  }
  image.stock = stock_of(ledger.types);
  return image;
}

class naive_mirror {
public:
  explicit naive_mirror(const naive_ledger& ledger) {
    for (const auto& s : stock_of(ledger.types)) stock_[s.id] = s;
  }

  /// Applies the delta; returns its error, empty if none.
  std::string apply(const mirror_delta& d) {
    if (names_one_twice(d)) return "a number is named twice";
    for (const auto n : d.joined)
      if (sessions_.contains(n) || !waiting_.insert(n).second) return "who joins is there already";
    for (const auto n : d.left)
      if (waiting_.erase(n) == 0) return "who leaves was not in line";
    for (const auto& s : d.sessions) {
      waiting_.erase(s.number);
      sessions_[s.number] = s;
    }
    for (const auto& s : d.ended) {
      const auto i = sessions_.find(s.number);
      if (i == sessions_.end()) return "the session that ends was not there";
      if (i->second.subject != s.subject || i->second.joined_at != s.joined_at
          || i->second.admission_no != s.admission_no)
        return "another session ends than the one that was there";
      sessions_.erase(i);
    }
    for (const auto& s : d.stock) stock_[s.id] = s;
    return {};
  }

  mirror_image image() const {
    mirror_image result;
    result.waiting.assign(waiting_.begin(), waiting_.end());
    for (const auto& [n, s] : sessions_) result.sessions.push_back(s);
    for (const auto& [id, s] : stock_) result.stock.push_back(s);
    return result;
  }

private:
  static bool names_one_twice(const mirror_delta& d) {
    std::set<queue_number> named;
    std::size_t count = d.joined.size() + d.left.size() + d.sessions.size() + d.ended.size();
    named.insert(d.joined.begin(), d.joined.end());
    named.insert(d.left.begin(), d.left.end());
    for (const auto& s : d.sessions) named.insert(s.number);
    for (const auto& s : d.ended) named.insert(s.number);
    return named.size() != count;
  }

  std::set<queue_number> waiting_;
  std::map<queue_number, mirrored_session> sessions_;
  std::map<uuid, mirrored_stock> stock_;
};

// -- random sales ---------------------------------------------------------------------------------------

constexpr std::uint64_t fans = 24;

event_row random_event(dice& d) {
  auto e = sample_event();
  const std::array policies{admission_policy::batch, admission_policy::capacity, admission_policy::open};
  e.queue.policy = d.pick(policies);
  e.queue.batch_size = 1 + static_cast<std::uint32_t>(d.below(4));
  e.queue.admission_interval = milliseconds{250 + d.below(2000)};
  e.queue.concurrency = e.queue.policy == admission_policy::capacity ? 3 : 0;
  e.queue.claim_window = seconds{2 + d.below(5)};
  e.claim_ttl = seconds{2 + d.below(8)};
  e.queue.session_ttl = e.queue.claim_window + e.claim_ttl + seconds{d.below(10)};
  e.queue.ticket_ttl = d.chance(40) ? seconds{5 + d.below(20)} : seconds{0};
  e.sale_end = opening + seconds{40 + d.below(200)};
  return e;
}

/// Number of batches per kind of change.
struct coverage {
  std::uint64_t joined = 0, left = 0, begun = 0, prolonged = 0, ended = 0, stock = 0, nothing = 0,
                fleeting = 0;
};

class walk {
public:
  walk(std::uint64_t seed, coverage& seen) :
      seed_(seed),
      seen_(seen),
      d_(seed),
      s_(random_event(d_), sample_types(2 + static_cast<std::int64_t>(d_.below(6))), seed),
      mirror_(s_.ledger),
      at_first_(image_of(s_.ledger)) {}

  void go(int steps) {
    for (int i = 0; i < steps; ++i) {
      s_.last = {};
      step();
      std::move(s_.last.content.begin(), s_.last.content.end(), std::back_inserter(batch_));
      if (d_.chance(40)) commit();
    }
    commit();
    apply_deltas(deltas_, at_first_); // all at once
    FQ_HOLDS(seed_, at_first_ == image_of(s_.ledger));
  }

private:
  void step() {
    const auto n = 1 + d_.below(fans);
    const auto what = d_.below(100);
    if (what < 30) return void(s_.join(n));
    if (what < 36) return void(s_.leave(n));
    if (what < 55) return void(s_.claim(n));
    if (what < 60) return release(n);
    if (what < 68) return pay(n);
    if (what < 84) return s_.pass(milliseconds{d_.chance(80) ? d_.below(800) : d_.below(6000)});
    if (what < 94) return push(n);
    if (what < 96) return s_.reload();
    if (what < 98) return raise_total();
    s_.change_status(d_.chance(50) ? event_trigger::pause : event_trigger::resume);
  }

  void release(std::uint64_t n) {
    if (const auto* c = s_.it->claims().live(fan(n))) s_.release(n, claim_id{c->id});
  }

  /// Pays the first attempt at once, which also ends the claim's session.
  void pay(std::uint64_t n) {
    if (s_.it->claims().live(fan(n)) == nullptr) return;
    const auto attempt = s_.pay(n);
    std::move(s_.last.content.begin(), s_.last.content.end(), std::back_inserter(batch_));
    s_.last = {};
    if (attempt.created) s_.captured(attempt.payment);
  }

  /// Changes that fans do not request: away, back, revoked.
  void push(std::uint64_t n) {
    const auto* e = s_.it->queue().find(fan(n));
    if (e == nullptr || e->live_claims() > 0) return;
    const std::array triggers{entry_trigger::go_away, entry_trigger::come_back, entry_trigger::revoke};
    s_.it->queue().move(e->number, d_.pick(triggers), s_.now, s_.last.content);
    s_.settle();
  }

  void raise_total() {
    event_patch p;
    p.ticket_types.emplace_back();
    p.ticket_types[0].values.id = s_.type().id;
    p.ticket_types[0].set(&ticket_type_row::total, s_.type().total + 1);
    s_.patch(p);
  }

  /// As the owner does after the commit.
  void commit() {
    auto delta = mirror_of(batch_);
    if (moves_stock(batch_)) delta.stock = stock_of(s_.it->stock().types());
    count(delta);
    const auto wrong = mirror_.apply(delta);
    if (!wrong.empty()) CAF_FAIL("seed " << seed_ << " (run with FAIRQUEUE_SEED=" << seed_ << "): " << wrong);
    const auto image = image_of(s_.ledger);
    FQ_HOLDS(seed_, mirror_.image() == image);
    FQ_HOLDS(seed_, differences(expected_of(s_.it->queue(), image.stock), image, never).empty());
    deltas_.push_back(delta);
    batch_.clear();
  }

  void count(const mirror_delta& delta) {
    seen_.joined += delta.joined.size();
    seen_.left += delta.left.size();
    seen_.ended += delta.ended.size();
    seen_.stock += delta.stock.size();
    seen_.nothing += delta.empty() && !batch_.empty();
    std::set<queue_number> arrived, admitted_before, named;
    for (const auto& s : mirror_.image().sessions) admitted_before.insert(s.number);
    for (const auto& s : delta.sessions)
      ++(admitted_before.contains(s.number) ? seen_.prolonged : seen_.begun);
    for (const auto n : delta.joined) named.insert(n);
    for (const auto& s : delta.sessions) named.insert(s.number);
    for (const auto& c : batch_)
      if (const auto* joined = std::get_if<entry_joined>(&c)) arrived.insert(joined->row.number);
    seen_.fleeting += static_cast<std::uint64_t>(std::ranges::count_if(
      arrived, [&](queue_number n) { return !named.contains(n); })); // came and went in one batch
  }

  std::uint64_t seed_;
  coverage& seen_;
  dice d_;
  sample_sale s_;
  naive_mirror mirror_;
  changes batch_; ///< decided since the last commit
  mirror_image at_first_;
  std::vector<mirror_delta> deltas_;
};

// -- cases ----------------------------------------------------------------------------------------------

constexpr queue_number seventh{7};

entry_row entry(entry_status status) {
  entry_row r;
  r.number = seventh;
  r.subject = fan(7);
  r.joined_at = opening;
  r.status = status;
  if (status != entry_status::admitted) return r;
  r.admitted_at = opening;
  r.claim_by = opening + seconds{10};
  r.session_expires_at = opening + seconds{60};
  r.admission_no = 1;
  return r;
}

entry_moved moved(entry_status from, entry_status to) { return {from, entry(to)}; }

mirrored_session session(timestamp expires_at) { return {seventh, 1, fan(7), opening, expires_at}; }

using numbers = std::vector<queue_number>;
using sessions = std::vector<mirrored_session>;

} // namespace

CAF_TEST(deltas of random sales keep a mirror like the rows) {
  coverage seen;
  for_seeds(400, [&](std::uint64_t seed) { walk{seed, seen}.go(150); });
  CAF_MESSAGE("joined " << seen.joined << ", left " << seen.left << ", begun " << seen.begun << ", prolonged "
                        << seen.prolonged << ", ended " << seen.ended << ", stock " << seen.stock
                        << ", nothing " << seen.nothing << ", fleeting " << seen.fleeting);
  if (std::getenv("FAIRQUEUE_SEED") != nullptr) return;
  for (const auto n : {seen.joined, seen.left, seen.begun, seen.prolonged, seen.ended, seen.stock,
                       seen.nothing, seen.fleeting})
    CAF_CHECK(n > 50);
}

CAF_TEST(one step of an entry is one change of the mirror) {
  using enum entry_status;
  const auto joined = mirror_of({entry_joined{entry(waiting)}});
  CAF_CHECK(joined.joined == numbers{seventh} && joined.size() == 1);
  const auto left = mirror_of({moved(waiting, cancelled)});
  CAF_CHECK(left.left == numbers{seventh} && left.size() == 1);
  const auto timed_out = mirror_of({moved(away, expired)});
  CAF_CHECK(timed_out.left == numbers{seventh} && timed_out.size() == 1);
  const auto admitted_now = mirror_of({moved(waiting, admitted)});
  CAF_CHECK(admitted_now.sessions == sessions{session(opening + seconds{10})} && admitted_now.size() == 1);
  const auto over = mirror_of({moved(admitted, session_expired)});
  CAF_CHECK(over.ended.size() == 1 && over.size() == 1 && over.ended[0].number == seventh);
  for (const auto& quiet : {moved(waiting, away), moved(away, waiting), moved(waiting, waiting)})
    CAF_CHECK(mirror_of({quiet}).empty()); // still in line: no change
}

CAF_TEST(a first claim gives the session its own end) {
  auto claimed = moved(entry_status::admitted, entry_status::admitted);
  claimed.row.has_claimed = true;
  const auto d = mirror_of({claimed});
  CAF_CHECK(d.sessions == sessions{session(opening + seconds{60})} && d.size() == 1);
}

CAF_TEST(of several steps in one batch only the outcome is mirrored) {
  using enum entry_status;
  const auto d = mirror_of({entry_joined{entry(waiting)}, moved(waiting, admitted)});
  CAF_CHECK(d.sessions.size() == 1 && d.size() == 1);
  CAF_CHECK(
    mirror_of({entry_joined{entry(waiting)}, moved(waiting, admitted), moved(admitted, revoked)}).empty());
  const auto gone = mirror_of({moved(waiting, admitted), moved(admitted, completed)});
  CAF_CHECK(gone.left == numbers{seventh} && gone.size() == 1);
  const auto back = mirror_of({moved(waiting, away), moved(away, waiting), moved(waiting, admitted)});
  CAF_CHECK(back.sessions.size() == 1 && back.size() == 1);
}

CAF_TEST(an entry that joins admitted has its session and no place) {
  const auto d = mirror_of({entry_joined{entry(entry_status::admitted)}});
  CAF_CHECK(d.sessions == sessions{session(opening + seconds{10})} && d.size() == 1);
}

/// The mirror of a line with waiting entries in two classes, a draw, and two sessions.
struct drawn_mirror {
  expected_mirror expected;
  mirror_image found; ///< equal
  drawn_mirror() {
    expected.ranks = line_ranks{{3, 1, 2}};
    expected.in_line.resize(2);
    for (const auto n : {2, 4}) expected.in_line[0].insert(expected.ranks.rank_of(queue_number(n)));
    for (const auto n : {1, 3, 5}) expected.in_line[1].insert(expected.ranks.rank_of(queue_number(n)));
    for (const auto n : {3, 1, 2, 4, 5}) found.waiting.push_back(queue_number(n));
    found.sessions = {session(opening + seconds{60}),
                      {queue_number{8}, 1, fan(8), opening, opening + seconds{90}}};
    expected.sessions = digests_of(found.sessions);
    expected.stock = found.stock = stock_of(sample_types(3));
  }
  [[nodiscard]] std::vector<std::string> wrong(timestamp now = opening) const {
    return differences(expected, found, now);
  }
};

CAF_TEST(a comparison finds each difference and names it) {
  using lines = std::vector<std::string>;
  const auto group_of = [](timestamp ends) {
    const auto ms = unix_ms(ends) / digest_span.count() * digest_span.count();
    return "the group of sessions that end from " + std::to_string(ms) + " ms on ";
  };
  drawn_mirror m;
  CAF_CHECK(m.wrong().empty());
  m.found.waiting.erase(m.found.waiting.begin() + 1);
  CAF_CHECK(m.wrong() == lines{"waiting 1 is missing"});
  m = {};
  m.found.waiting.push_back(queue_number{6});
  CAF_CHECK(m.wrong() == lines{"waiting 6 should not be there"});
  m = {};
  std::ranges::sort(m.found.waiting); // by number instead of rank
  CAF_CHECK(!m.wrong().empty());
  m = {};
  ++m.found.sessions[0].admission_no;
  CAF_CHECK(m.wrong() == lines{group_of(opening + seconds{60}) + "differs"});
  m.found.sessions.erase(m.found.sessions.begin());
  CAF_CHECK(m.wrong() == lines{group_of(opening + seconds{60}) + "is missing"});
  m = {};
  m.found.sessions[1].subject_name = "somebody";
  CAF_CHECK(m.wrong() == lines{group_of(opening + seconds{90}) + "differs"});
  m = {};
  m.found.sessions.push_back({queue_number{9}, 1, fan(9), opening, opening + seconds{30}});
  CAF_CHECK(m.wrong() == lines{group_of(opening + seconds{30}) + "should not be there"});
  m = {};
  ++m.found.stock[0].held;
  CAF_CHECK_EQUAL(m.wrong().size(), 1u);
}

CAF_TEST(a comparison leaves out the sessions that the cache may have expired) {
  drawn_mirror m;
  m.found.sessions.erase(m.found.sessions.begin());
  CAF_CHECK_EQUAL(m.wrong(opening + seconds{54}).size(), 1u);
  CAF_CHECK(m.wrong(opening + seconds{60}).empty());
  CAF_CHECK(m.wrong(opening + seconds{59}).empty());
}

CAF_TEST(what does not concern entries or stock changes nothing) {
  const changes others{event_changed{event_status::active, sample_event()},
                       receipt_stored{},
                       idempotency_stored{},
                       outbox_appended{},
                       cache_generation_raised{},
                       claim_opened{},
                       payment_opened{},
                       refund_opened{}};
  CAF_CHECK(mirror_of(others).empty());
  CAF_CHECK(!moves_stock(others));
  CAF_CHECK(mirror_of({}).empty());
  CAF_CHECK(!moves_stock({}));
  CAF_CHECK(!moves_stock({entry_joined{}, entry_moved{}}));
  for (const change& c : changes{stock_moved{}, ticket_type_added{}, ticket_type_changed{}}) {
    CAF_CHECK(moves_stock({receipt_stored{}, c}));
    CAF_CHECK(mirror_of({c}).empty()); // the owner adds the numbers
  }
}

} // namespace mirror_test
