// SPDX-License-Identifier: Apache-2.0
// Random steps with faults between them, compared with a simple model on every engine. One seed:
// FQ_CACHE_SEED=<n> test_cache -s cache_random; more seeds: FQ_CACHE_RUNS=<n>.
#define CAF_SUITE cache_random
#include "tests/store/redis/engines.hpp"

#include <cstdlib>
#include <map>
#include <random>
#include <set>

using namespace fq;
using namespace fq::test;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The expected content of a queue.
struct model {
  std::set<queue_number> waiting;
  std::map<queue_number, mirrored_session> sessions;
  std::map<ticket_type_id, mirrored_stock> stock;

  [[nodiscard]] mirror_image image() const {
    mirror_image i;
    i.waiting.assign(waiting.begin(), waiting.end());
    for (const auto& [number, s] : sessions) i.sessions.push_back(s);
    for (const auto& [id, s] : stock) i.stock.push_back(s);
    return i;
  }

  /// The first step of a generation.
  [[nodiscard]] mirror_delta everything() const {
    auto i = image();
    return {std::move(i.waiting), {}, std::move(i.sessions), {}, std::move(i.stock)};
  }
};

class walk {
public:
  walk(engine& e, std::uint64_t seed) : engine_(e), dice_(seed), owner_(e.store()) {}

  void run(int steps) {
    rebuild();
    for (int i = 0; i < steps; ++i) step();
    compare();
  }

private:
  std::uint64_t below(std::uint64_t n) { return dice_() % n; }

  void step() {
    switch (below(20)) {
      case 0: return rebuild();
      case 1: return forget();
      case 2: return send_wrong();
      case 3: return compare();
      default: FQ_APPLIED(owner_.put(some_change()));
    }
  }

  void rebuild() { FQ_APPLIED(owner_.begin(truth_.everything())); }

  void forget() {
    engine_.forget(owner_.queue());
    CAF_CHECK(!owner_.read().found);
    FQ_LOST(owner_.put(some_change()));
    rebuild();
  }

  void send_wrong() {
    auto wrong = owner_.next(delta{}.join(numbers(1, 3)).count({sample_stock(1, 1)}));
    wrong.number += 1 + below(3);
    FQ_LOST(engine_.store().apply({&wrong, 1}).at(0));
    compare();
  }

  void compare() {
    const auto r = owner_.read();
    CAF_CHECK(r.found);
    CAF_CHECK(r.image == truth_.image());
  }

  mirror_delta some_change() {
    mirror_delta d;
    for (auto n = below(below(10) == 0 ? 2'500 : 20); n > 0; --n) join(d);
    // Numbers that joined in this change are not changed again by it.
    const std::set<queue_number> fresh(d.joined.begin(), d.joined.end());
    const std::vector<queue_number> line(truth_.waiting.begin(), truth_.waiting.end());
    for (const auto number : line)
      if (!fresh.contains(number) && below(10) == 0) below(2) == 0 ? leave(number, d) : admit(number, d);
    const auto before = truth_.sessions;
    for (const auto& [number, session] : before)
      if (!std::ranges::count(d.sessions, number, &mirrored_session::number) && below(8) == 0)
        below(3) == 0 ? prolong(number, d) : end(number, d);
    for (std::uint64_t type = 1; type <= 4; ++type)
      if (below(6) == 0) move_stock(type, d);
    return d;
  }

  void join(mirror_delta& d) {
    next_ += 1 + below(5) * below(1'000'000);
    const queue_number number{next_};
    truth_.waiting.insert(number);
    d.joined.push_back(number);
  }
  void leave(queue_number number, mirror_delta& d) {
    truth_.waiting.erase(number);
    d.left.push_back(number);
  }
  void admit(queue_number number, mirror_delta& d) {
    truth_.waiting.erase(number);
    const auto s = sample_session(value_of(number), seconds{60 + static_cast<std::int64_t>(below(600))});
    truth_.sessions[number] = s;
    d.sessions.push_back(s);
  }
  void prolong(queue_number number, mirror_delta& d) {
    auto& s = truth_.sessions.at(number);
    s.expires_at += seconds{60};
    ++s.admission_no;
    d.sessions.push_back(s);
  }
  void end(queue_number number, mirror_delta& d) {
    d.ended.push_back(truth_.sessions.at(number));
    truth_.sessions.erase(number);
  }
  void move_stock(std::uint64_t type, mirror_delta& d) {
    const auto s = sample_stock(type, 100 + static_cast<std::int64_t>(below(50)),
                                static_cast<std::int64_t>(below(50)), static_cast<std::int64_t>(below(50)));
    truth_.stock[s.id] = s;
    d.stock.push_back(s);
  }

  engine& engine_;
  std::mt19937_64 dice_;
  owner owner_;
  model truth_;
  std::uint64_t next_ = 0;
};

} // namespace

CAF_TEST(the mirror is what its steps say) {
  const auto seed = from_environment("FQ_CACHE_SEED", 0);
  const auto first = seed != 0 ? seed : 1;
  const auto last = seed != 0 ? seed : from_environment("FQ_CACHE_RUNS", 5);
  for (auto s = first; s <= last; ++s) {
    CAF_MESSAGE("FQ_CACHE_SEED=" << s);
    on_every_engine([s](engine& e) { walk{e, s}.run(150); });
  }
}
