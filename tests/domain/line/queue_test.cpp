// SPDX-License-Identifier: Apache-2.0
// The waiting line against a naive model: places, sessions, positions, and reloads.
#define CAF_SUITE domain_queue
#include "domain/line/mirror.hpp"
#include "domain/line/queue.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <map>

namespace queue_test {

using namespace fq;
using namespace fq::test;

namespace {

const timestamp start = from_unix_ms(1'795'000'000'000);
constexpr milliseconds claim_window{1000};

uuid fan(std::uint64_t n) { return {1, n}; }

queue_settings settings() {
  queue_settings q;
  q.session_ttl = milliseconds{5000};
  q.claim_window = claim_window;
  return q;
}

/// The line as a list of rows; every query scans it.
struct model {
  std::map<std::uint64_t, entry_row> rows;
  std::vector<std::uint32_t> drawn; ///< the first numbers by rank
  std::map<std::uint64_t, std::uint32_t> live_claims;
  std::uint32_t last_batch = 0;
  std::map<std::uint64_t, entry_row> forgotten;

  [[nodiscard]] line_totals totals() const {
    line_totals t;
    t.last_batch = last_batch;
    for (const auto* list : {&rows, &forgotten})
      for (const auto& [n, r] : *list) {
        t.last_number = std::max(t.last_number, r.number);
        t.admitted += is_set(r.admitted_at);
        t.completed += r.status == entry_status::completed;
      }
    return t;
  }
  const entry_row* newest(const uuid& subject) const {
    const entry_row* found = nullptr;
    for (const auto& [n, r] : rows)
      if (r.subject == subject) found = &r;
    return found;
  }
  [[nodiscard]] std::uint64_t rank(const entry_row& r) const {
    const auto n = value_of(r.number);
    if (n > drawn.size()) return n;
    return static_cast<std::uint64_t>(std::ranges::find(drawn, n) - drawn.begin()) + 1;
  }
  [[nodiscard]] bool before(const entry_row& a, const entry_row& b) const {
    return a.priority_class < b.priority_class || (a.priority_class == b.priority_class && rank(a) < rank(b));
  }
  std::uint64_t position(const entry_row& row) const {
    std::uint64_t p = 1;
    for (const auto& [n, r] : rows) p += is_in_line(r.status) && before(r, row) ? 1 : 0;
    return p;
  }
  entry_row* first() {
    entry_row* best = nullptr;
    for (auto& [n, r] : rows)
      if (r.status == entry_status::waiting && (best == nullptr || before(r, *best))) best = &r;
    return best;
  }
  static timestamp deadline(const entry_row& r) { return r.has_claimed ? r.session_expires_at : r.claim_by; }
  std::vector<queue_number> due(timestamp now) const {
    std::vector<std::pair<timestamp, queue_number>> all;
    for (const auto& [n, r] : rows)
      if (r.status == entry_status::admitted && deadline(r) <= now) all.emplace_back(deadline(r), r.number);
    std::sort(all.begin(), all.end());
    std::vector<queue_number> numbers;
    for (const auto& [t, n] : all) numbers.push_back(n);
    return numbers;
  }
};

const queue_line::entry* first_of(const queue_line& line) {
  const queue_line::entry* best = nullptr;
  for (std::size_t g = 0; g < line.groups().size(); ++g)
    if (const auto* e = line.first(g); e && (best == nullptr || line.precedes(*e, *best))) best = e;
  return best;
}

std::vector<queue_number> admit(queue_line& line, std::uint64_t count, timestamp now, const queue_settings& q,
                                changes& out) {
  return line.admit(
    count, [&line] { return first_of(line); }, now, q, out);
}

void check_oldest_and_sessions(std::uint64_t seed, const queue_line& line, const model& m) {
  const entry_row* oldest = nullptr;
  std::vector<mirrored_session> sessions;
  for (const auto& [n, r] : m.rows) {
    if (is_in_line(r.status) && (oldest == nullptr || m.rank(r) < m.rank(*oldest))) oldest = &r;
    if (r.status == entry_status::admitted) sessions.push_back(session_of(r));
  }
  FQ_HOLDS(seed, (line.oldest() == nullptr) == (oldest == nullptr));
  if (oldest != nullptr) FQ_HOLDS(seed, line.oldest()->row() == *oldest);
  FQ_HOLDS(seed, line.digests() == digests_of(sessions));
  std::size_t with_session = 0;
  line.each_session([&](const queue_line::entry& e) {
    ++with_session;
    FQ_HOLDS(seed, e.status == entry_status::admitted);
  });
  FQ_HOLDS(seed, with_session == sessions.size());
}

void check_same(std::uint64_t seed, const queue_line& line, const model& m, timestamp now) {
  queue_counts expected;
  timestamp first_deadline = never;
  std::uint64_t within = 0;
  const auto totals = m.totals();
  expected.joined_total = value_of(totals.last_number);
  expected.admitted_total = totals.admitted;
  expected.completed_total = totals.completed;
  for (const auto& [n, r] : m.forgotten) {
    FQ_HOLDS(seed, line.find(r.number) == nullptr);
    within += is_set(r.admitted_at) && r.admitted_at > now - seconds{2};
  }
  for (const auto& [n, r] : m.rows) {
    expected.waiting += r.status == entry_status::waiting;
    expected.away += r.status == entry_status::away;
    expected.admitted += r.status == entry_status::admitted;
    expected.admitted_with_claim += r.status == entry_status::admitted && m.live_claims.at(n) > 0;
    within += is_set(r.admitted_at) && r.admitted_at > now - seconds{2};
    if (r.status == entry_status::admitted
        && (!is_set(first_deadline) || model::deadline(r) < first_deadline))
      first_deadline = model::deadline(r);
    const auto* e = line.find(r.number);
    FQ_HOLDS(seed, e != nullptr && e->row() == r);
    FQ_HOLDS(seed, e->live_claims() == m.live_claims.at(n));
    if (is_in_line(r.status)) FQ_HOLDS(seed, line.position(*e) == m.position(r));
  }
  const auto& c = line.counts();
  FQ_HOLDS(seed, c.waiting == expected.waiting && c.away == expected.away && c.admitted == expected.admitted);
  FQ_HOLDS(seed, c.joined_total == expected.joined_total && c.admitted_total == expected.admitted_total);
  FQ_HOLDS(seed, c.completed_total == expected.completed_total
                   && c.admitted_with_claim == expected.admitted_with_claim);
  FQ_HOLDS(seed, line.last_number() == totals.last_number);
  FQ_HOLDS(seed, m.rows.empty() ? line.first_kept() <= queue_number{value_of(totals.last_number) + 1}
                                : line.first_kept() <= m.rows.begin()->second.number);
  std::vector<queue_number> held;
  line.each([&](const queue_line::entry& e) { held.push_back(e.number); });
  FQ_HOLDS(seed, std::ranges::equal(held, m.rows, {}, {}, [](const auto& r) { return r.second.number; }));
  FQ_HOLDS(seed, line.next_session_deadline() == first_deadline);
  FQ_HOLDS(seed, line.window().count_within(seconds{2}, now) == within);
  FQ_HOLDS(seed, line.last_batch() == m.last_batch);
  FQ_HOLDS(seed, line.sessions_due(now, 10'000) == m.due(now));
  auto& mutable_model = const_cast<model&>(m);
  const auto* first = mutable_model.first();
  const auto* head = first_of(line);
  FQ_HOLDS(seed, (head == nullptr) == (first == nullptr));
  if (first != nullptr) FQ_HOLDS(seed, head->row() == *first);
  std::uint64_t waiting = 0, unclaimed = 0;
  for (const auto& g : line.groups()) {
    waiting += g.waiting;
    unclaimed += g.unclaimed;
    FQ_HOLDS(seed, g.members >= g.waiting + g.unclaimed);
  }
  FQ_HOLDS(seed, waiting == c.waiting && unclaimed == c.admitted - c.admitted_with_claim);
  check_oldest_and_sessions(seed, line, m);
}

queue_line reloaded(const model& m) {
  queue_line line;
  line.load(m.totals());
  if (!m.drawn.empty()) line.draw(line_ranks{m.drawn});
  std::vector<entry_row> rows;
  for (const auto& [n, r] : m.rows) rows.push_back(r);
  line.load(rows);
  for (const auto& [n, count] : m.live_claims)
    for (std::uint32_t i = 0; i < count; ++i) line.restore_claim(queue_number{n});
  return line;
}

class random_walk {
public:
  random_walk(std::uint64_t seed, std::uint64_t entries_at_start, bool forgets) :
      seed_(seed), d_{seed}, forgets_(forgets) {
    for (std::uint64_t n = 1; n <= entries_at_start; ++n) add(fan(n), 0);
    line_ = reloaded(m_);
  }
  /// The entries so far get random ranks.
  random_walk& draw() {
    for (std::uint32_t n = 1; n <= last(); ++n)
      m_.drawn.insert(m_.drawn.begin() + static_cast<std::ptrdiff_t>(d_.below(n)), n);
    line_.draw(line_ranks{m_.drawn});
    check_same(seed_, line_, m_, now_);
    return *this;
  }

  void go() {
    for (int i = 0; i < 120; ++i) {
      now_ += milliseconds{d_.below(400)};
      if (step(i)) check_same(seed_, line_, m_, now_);
    }
    for (std::uint64_t s = 1; s <= 45; ++s) {
      const auto* newest = m_.newest(fan(s));
      for (const auto& [n, r] : m_.forgotten)
        if (newest != nullptr && r.subject == fan(s) && n > value_of(newest->number)) newest = nullptr;
      FQ_HOLDS(seed_, (line_.find(fan(s)) == nullptr) == (newest == nullptr));
      if (newest != nullptr) FQ_HOLDS(seed_, line_.find(fan(s))->row() == *newest);
    }
    if (m_.forgotten.empty()) check_same(seed_, reloaded(m_), m_, now_); // windows included
  }

private:
  [[nodiscard]] std::uint64_t last() const { return value_of(m_.totals().last_number); }
  const entry_row& add(const uuid& subject, std::uint64_t join_key) {
    const auto n = last() + 1;
    entry_row r;
    r.number = queue_number{n};
    r.subject = subject;
    r.join_key = join_key;
    r.joined_at = now_;
    r.priority_class = static_cast<std::uint8_t>(d_.below(priority_classes));
    m_.live_claims[n] = 0;
    return m_.rows[n] = r;
  }

  /// False: nothing was possible.
  bool step(int number) {
    const auto n =
      m_.rows.empty()
        ? 0
        : std::next(m_.rows.begin(), static_cast<std::ptrdiff_t>(d_.below(m_.rows.size())))->first;
    const auto what = d_.below(100);
    if (forgets_ && what < 10) return forget();
    if (m_.rows.empty() || what < 25) return join(static_cast<std::uint64_t>(number));
    if (what < 40) return admit();
    if (what < 45) return regroup(n);
    if (what < 75) return move(n);
    return what < 87 ? open_claim(n) : close_claim(n);
  }

  bool join(std::uint64_t key) {
    const auto subject = fan(d_.below(40) + 1);
    const auto* own = m_.newest(subject);
    if (own != nullptr && is_live(own->status)) return false;
    const auto& r = add(subject, key);
    changes out;
    const auto& e = line_.join(subject, key, now_, out, {}, r.priority_class);
    FQ_HOLDS(seed_, e.row() == r);
    FQ_HOLDS(seed_, out.size() == 1 && std::get<entry_joined>(out[0]).row == r);
    return true;
  }

  bool admit() {
    const auto wanted = d_.below(4);
    auto q = settings();
    q.claim_window = milliseconds{500 + d_.below(6000)}; // sometimes longer than the session
    changes out;
    const auto numbers = queue_test::admit(line_, wanted, now_, q, out);
    FQ_HOLDS(seed_, numbers.size() == out.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto* r = m_.first();
      FQ_HOLDS(seed_, r != nullptr && r->number == numbers[i]); // I6
      r->status = entry_status::admitted;
      r->admitted_at = now_;
      r->session_expires_at = now_ + q.session_ttl;
      r->claim_by = std::min(now_ + q.claim_window, r->session_expires_at);
      r->admission_batch = m_.last_batch + 1;
      ++r->admission_no;
      FQ_HOLDS(seed_, std::get<entry_moved>(out[i]).from == entry_status::waiting);
      FQ_HOLDS(seed_, std::get<entry_moved>(out[i]).row == *r);
    }
    FQ_HOLDS(seed_, numbers.size() == wanted || m_.first() == nullptr);
    if (!numbers.empty()) ++m_.last_batch;
    return true;
  }

  /// Groups change no order, no count and no row.
  bool regroup(std::uint64_t n) {
    if (!is_live(m_.rows[n].status)) return false;
    line_.set_hidden_types(queue_number{n}, d_.below(100));
    return true;
  }

  bool move(std::uint64_t n) {
    const auto trigger = static_cast<entry_trigger>(1 + d_.below(7)); // all except admit
    auto& r = m_.rows[n];
    const auto to = next(entry_rules, r.status, trigger);
    const auto from = r.status;
    if (to) {
      r.status = *to;
      if (!is_live(*to)) r.ended_at = now_;
    }
    changes out;
    FQ_HOLDS(seed_, line_.move(queue_number{n}, trigger, now_, out) == to.has_value());
    FQ_HOLDS(seed_, out.size() == (to ? 1u : 0u));
    if (to)
      FQ_HOLDS(seed_, std::get<entry_moved>(out[0]).from == from && std::get<entry_moved>(out[0]).row == r);
    return true;
  }

  /// All that have ended, or one of them.
  bool forget() {
    const bool all = d_.chance(20);
    for (auto i = m_.rows.begin(); i != m_.rows.end();) {
      const auto& [n, r] = *i;
      if (is_live(r.status) || m_.live_claims[n] > 0 || !(all || d_.chance(30))) {
        ++i;
        continue;
      }
      line_.forget(r.number);
      m_.forgotten[n] = r;
      m_.live_claims.erase(n);
      i = m_.rows.erase(i);
    }
    return true;
  }

  bool open_claim(std::uint64_t n) {
    auto& r = m_.rows[n];
    if (r.status != entry_status::admitted) return false;
    ++m_.live_claims[n];
    const bool first_claim = !r.has_claimed;
    r.has_claimed = true;
    changes out;
    line_.claim_opened(queue_number{n}, out);
    FQ_HOLDS(seed_, out.size() == (first_claim ? 1u : 0u)); // the end of the claim window is a durable change
    return true;
  }

  bool close_claim(std::uint64_t n) {
    if (m_.live_claims[n] == 0) return false;
    --m_.live_claims[n];
    line_.claim_closed(queue_number{n});
    return true;
  }

  std::uint64_t seed_;
  dice d_;
  bool forgets_;
  model m_;
  queue_line line_;
  timestamp now_ = start;
};

} // namespace

CAF_TEST(a line behaves like the model under all operations and so does its reload) {
  for_seeds(250, [](std::uint64_t seed) { random_walk(seed, seed % 25, false).go(); });
}

CAF_TEST(a line that forgets what has ended keeps order and counts and gives no number again) {
  for_seeds(250, [](std::uint64_t seed) { random_walk(seed, seed % 25 == 0 ? 300 : seed % 60, true).go(); });
}

CAF_TEST(a draw orders the entries so far at random before all later ones and so does a reload) {
  for_seeds(250, [](std::uint64_t seed) { random_walk(seed, seed % 60, seed % 2 == 0).draw().go(); });
}

CAF_TEST(a drawn line admits by rank within its classes) {
  queue_line line;
  changes out;
  for (std::uint64_t n = 1; n <= 4; ++n)
    line.join(fan(n), 0, start, out, {}, n == 3 ? priority_vip : priority_standard);
  line.draw(line_ranks{{4, 3, 1, 2}});
  line.join(fan(5), 0, start, out);
  std::vector<std::uint64_t> positions;
  for (std::uint64_t n = 1; n <= 5; ++n) positions.push_back(line.position(*line.find(queue_number{n})));
  CAF_CHECK(positions == (std::vector<std::uint64_t>{3, 4, 1, 2, 5}));
  const auto admitted = admit(line, 5, start, settings(), out);
  CAF_CHECK(
    admitted
    == (std::vector{queue_number{3}, queue_number{4}, queue_number{1}, queue_number{2}, queue_number{5}}));
}

CAF_TEST(numbers that do not exist are not found) {
  queue_line line;
  CAF_CHECK(line.find(queue_number{0}) == nullptr);
  CAF_CHECK(line.find(queue_number{1}) == nullptr);
  CAF_CHECK(line.find(fan(1)) == nullptr);
  entry_row r;
  r.number = queue_number{1030}; // beyond the first chunk; lower numbers do not exist
  r.subject = fan(1);
  line.load(r);
  CAF_CHECK(line.find(queue_number{1029}) == nullptr);
  CAF_CHECK(line.find(queue_number{1030}) != nullptr);
  CAF_CHECK(line.find(queue_number{1031}) == nullptr);
  changes out;
  CAF_CHECK_EQUAL(value_of(line.join(fan(2), 0, start, out).number), 1031u);
}

CAF_TEST(beyond the limit of groups an entry waits with those that may buy the most of it) {
  queue_line line;
  changes out;
  for (std::uint64_t n = 1; n <= groups_max + 1; ++n) {
    line.join(fan(n), 0, start, out);
    line.set_hidden_types(queue_number{n}, n); // 1 makes the second group
  }
  CAF_CHECK_EQUAL(line.groups().size(), groups_max);
  const auto group_of = [&](std::uint64_t n) {
    return line.groups()[line.find(queue_number{n})->group].opens;
  };
  CAF_CHECK_EQUAL(group_of(groups_max - 1), groups_max - 1);
  CAF_CHECK_EQUAL(group_of(groups_max), 0u); // 64 is a bit of its own
  CAF_CHECK_EQUAL(group_of(groups_max + 1), 1u);
  line.move(queue_number{5}, entry_trigger::leave, start, out);
  CAF_CHECK(line.set_hidden_types(queue_number{groups_max}, groups_max)); // an unused group
  CAF_CHECK_EQUAL(group_of(groups_max), groups_max);
  CAF_CHECK(!line.set_hidden_types(queue_number{groups_max}, groups_max));
}

CAF_TEST(who came back from away is first again and its admission counts in the window after a reload) {
  queue_line line;
  changes out;
  for (std::uint64_t n = 1; n <= 3; ++n) line.join(fan(n), 0, start, out);
  line.move(queue_number{1}, entry_trigger::go_away, start, out);
  CAF_CHECK_EQUAL(line.position(*line.find(queue_number{2})), 2u); // away places count in other positions
  CAF_CHECK(admit(line, 1, start + seconds{1}, settings(), out) == std::vector{queue_number{2}});
  line.move(queue_number{1}, entry_trigger::come_back, start + seconds{2}, out);
  CAF_CHECK(admit(line, 1, start + seconds{9}, settings(), out) == std::vector{queue_number{1}});
  queue_line after;
  for (std::uint64_t n = 1; n <= 3; ++n) after.load(line.find(queue_number{n})->row());
  const auto now = start + seconds{10};
  for (const auto span : {seconds{2}, seconds{9}, seconds{10}, seconds{60}})
    CAF_CHECK_EQUAL(after.window().count_within(span, now), line.window().count_within(span, now));
  CAF_CHECK_EQUAL(after.window().count_within(seconds{2}, now), 1u);
  CAF_CHECK(after.window().oldest_leaves(seconds{60}, now) == start + seconds{61});
}

CAF_TEST(who has not claimed shops until the window of its admission ends and never beyond the session) {
  queue_line line;
  changes out;
  for (std::uint64_t n = 1; n <= 3; ++n) line.join(fan(n), 0, start, out);
  auto q = settings();
  admit(line, 2, start, q, out);
  line.claim_opened(queue_number{2}, out);
  q.claim_window = seconds{30};
  admit(line, 1, start, q, out);
  CAF_CHECK(line.find(queue_number{1})->session().claim_by == start + claim_window);
  CAF_CHECK(line.find(queue_number{3})->session().claim_by == start + q.session_ttl);
  CAF_CHECK(line.next_session_deadline() == start + claim_window);
  CAF_CHECK(line.sessions_due(start + claim_window - milliseconds{1}, 10).empty());
  CAF_CHECK(line.sessions_due(start + claim_window, 10) == std::vector{queue_number{1}});
  CAF_CHECK_EQUAL(line.sessions_due(start + q.session_ttl, 10).size(), 3u);
  CAF_CHECK_EQUAL(line.sessions_due(start + q.session_ttl, 1).size(), 1u); // bounded
}

} // namespace queue_test
