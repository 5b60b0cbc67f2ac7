// SPDX-License-Identifier: Apache-2.0
// The Redis engine's keys, and its reaction to a server that loses scripts, keys or half a step.
#define CAF_SUITE cache_redis
#include "tests/store/redis/engines.hpp"
#include "tests/store/redis/relay.hpp"

#include <atomic>
#include <map>
#include <thread>

using namespace fq;
using namespace fq::test;

namespace {

/// An owner on the shared server, and direct access to its keys.
struct redis_world {
  explicit redis_world(const std::string& url = shared_redis_url()) :
      store({.address = parse_redis_url(url)}, env, "test"), eye(url) {}
  ~redis_world() { eye.forget(o.queue()); }
  redis_world(const redis_world&) = delete;
  redis_world& operator=(const redis_world&) = delete;

  [[nodiscard]] std::string stem() const { return "fairqueue:{" + to_string(o.queue()) + "}:"; }
  [[nodiscard]] std::string key(const std::string& name) const {
    return stem() + std::to_string(o.generation) + ":" + name;
  }

  skipping_environment env;
  redis_cache store;
  redis_operator eye;
  owner o{store};
};

std::map<std::string, std::string> pairs(const std::vector<std::string>& flat) {
  std::map<std::string, std::string> result;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2) result[flat[i]] = flat[i + 1];
  return result;
}

/// An owner behind a relay.
struct far_owner {
  explicit far_owner(milliseconds timeout = milliseconds{1'000}) : command_timeout(timeout) {}

  [[nodiscard]] redis_options options() const {
    redis_options result{.address = parse_redis_url(shared_redis_url()), .command_timeout = command_timeout};
    result.address.host = "127.0.0.1";
    result.address.port = link.port();
    return result;
  }

  milliseconds command_timeout;
  relay link{parse_redis_url(shared_redis_url()).port};
  skipping_environment env;
  redis_cache store{options(), env, "test"};
  owner o{store};
};

/// More than one call of the clearing script, less than that call plus one that begins.
constexpr std::size_t bytes_of_clear = 300;
/// More than the request for a head, less than all first requests of a read.
constexpr std::size_t bytes_of_head_question = 200;

using text_map = std::map<std::string, std::string>;

} // namespace

CAF_TEST(the keys are as documented) {
  redis_world w;
  const auto s = sample_session(4, seconds{60});
  const auto id = to_string(make_entry_id(s.joined_at, sale, s.number));
  const auto end = std::to_string(unix_ms(s.expires_at));
  FQ_APPLIED(w.o.begin(
    delta{}.join({queue_number{12}, queue_number{9}}).admit({s}).count({sample_stock(1, 10, 2, 3)})));
  FQ_APPLIED(w.o.put({}));

  CAF_CHECK((pairs(w.eye.texts({"HGETALL", w.stem() + "head"}))
             == text_map{{"generation", "7"}, {"steps", "2"}, {"part", "0"}, {"ready", "1"}}));
  CAF_CHECK((w.eye.texts({"ZRANGE", w.key("waiting"), "0", "-1", "WITHSCORES"})
             == std::vector<std::string>{"9", "9", "12", "12"}));
  CAF_CHECK(
    (w.eye.texts({"ZRANGE", w.key("active"), "0", "-1", "WITHSCORES"}) == std::vector<std::string>{id, end}));
  CAF_CHECK_EQUAL(w.eye.text({"GET", w.key("session:" + id)}), "2 4 " + end + " " + to_string(s.subject));
  CAF_CHECK((pairs(w.eye.texts({"HGETALL", w.key("inventory")}))
             == text_map{{to_string(sample_stock(1, 0).id), "10 2 3"}}));
  CAF_CHECK_EQUAL(w.eye.keys_of(w.o.queue()).size(), 5u);
}

CAF_TEST(numbers up to the greatest stay exact) {
  redis_world w;
  const std::vector<queue_number> great{queue_number{queue_number_max - 1}, queue_number{queue_number_max}};
  FQ_APPLIED(w.o.begin(delta{}.join(great)));
  CAF_CHECK((w.eye.texts({"ZRANGE", w.key("waiting"), "0", "-1"})
             == std::vector<std::string>{"1099511627774", "1099511627775"}));
  CAF_CHECK(w.o.image().waiting == great);
}

CAF_TEST(a new generation leaves no key of the former one) {
  redis_world w;
  delta old;
  old.join(numbers(1, 10)).count({sample_stock(1, 1)});
  for (std::uint64_t n = 100; n < 2'600; ++n) old.sessions.push_back(sample_session(n));
  FQ_APPLIED(w.o.begin(old));
  CAF_CHECK_EQUAL(w.eye.keys_of(w.o.queue()).size(), 2'504u);
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 1))));
  CAF_CHECK((w.eye.keys_of(w.o.queue()).size() == 2u));
  CAF_CHECK_EQUAL(w.eye.integer({"EXISTS", w.stem() + "head", w.key("waiting")}), 2);
}

CAF_TEST(an ended session leaves no key) {
  redis_world w;
  FQ_APPLIED(w.o.begin(delta{}.admit({sample_session(1), sample_session(2)})));
  FQ_APPLIED(w.o.put(delta{}.finish({sample_session(1), sample_session(2)})));
  CAF_CHECK((w.eye.keys_of(w.o.queue()) == std::vector{w.stem() + "head"}));
}

CAF_TEST(a mirror that nobody changes any more goes after a day) {
  redis_world w;
  FQ_APPLIED(w.o.begin(
    delta{}.join({queue_number{1}}).admit({sample_session(4, seconds{60})}).count({sample_stock(1, 10)})));
  for (const auto& key : {w.stem() + "head", w.key("waiting"), w.key("active"), w.key("inventory")}) {
    w.eye.integer({"EXPIRE", key, "5"}); // simulates a key of an older time
  }
  FQ_APPLIED(w.o.put(delta{}.join({queue_number{2}})));
  for (const auto& key : {w.stem() + "head", w.key("waiting"), w.key("active"), w.key("inventory")}) {
    const auto left = w.eye.integer({"TTL", key});
    CAF_CHECK(left > 86'000 && left <= 86'400);
  }
}

CAF_TEST(a generation that begins again after its head was evicted begins empty) {
  redis_world w;
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 5)).admit({sample_session(7)}).count({sample_stock(1, 1)})));
  w.eye.run({"UNLINK", w.stem() + "head"});
  --w.o.generation;
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(4, 4))));
  CAF_CHECK((w.o.image() == mirror_image{numbers(4, 4), {}, {}}));
}

CAF_TEST(a session whose key was evicted is not found and the rest is) {
  redis_world w;
  const auto gone = sample_session(4), kept = sample_session(5);
  FQ_APPLIED(w.o.begin(delta{}.admit({gone, kept})));
  w.eye.run({"UNLINK", w.key("session:" + to_string(make_entry_id(gone.joined_at, sale, gone.number)))});
  CAF_CHECK((w.o.image().sessions == std::vector{kept}));
}

CAF_TEST(values that are not ours make a mirror lost and the next generation heals it) {
  for (const std::string name : {"head", "waiting", "active", "inventory"}) {
    CAF_MESSAGE(name);
    redis_world w;
    const auto everything =
      delta{}.join(numbers(1, 3)).admit({sample_session(9)}).count({sample_stock(1, 1)});
    FQ_APPLIED(w.o.begin(everything));
    const auto key = name == "head" ? w.stem() + name : w.key(name);
    w.eye.run({"SET", key, "somebody else's"});
    CAF_CHECK(!w.o.read().found);
    FQ_LOST(w.o.put(delta{}.join(numbers(4, 4)).admit({sample_session(10)}).count({sample_stock(1, 2)})));
    FQ_APPLIED(w.o.begin(everything));
    CAF_CHECK(w.o.read().found);
  }
}

CAF_TEST(members and values that cannot be read make a mirror not found) {
  const auto s = sample_session(4);
  const auto id = to_string(make_entry_id(s.joined_at, sale, s.number));
  const std::vector<std::vector<std::string>> strange{
    {"ZADD", "waiting", "1", "one"},        {"ZADD", "waiting", "1", "7 8"},
    {"SET", "session:" + id, "1 4 1000"},   {"SET", "session:" + id, "1 5 1000 " + to_string(s.subject)},
    {"HSET", "inventory", "type", "1 2 3"}, {"HSET", "inventory", to_string(s.subject), "1 2"}};
  for (const auto& words : strange) {
    CAF_MESSAGE(words.back());
    redis_world w;
    FQ_APPLIED(w.o.begin(delta{}.admit({s})));
    CAF_CHECK(w.o.read().found);
    if (words.size() == 4)
      w.eye.run({words[0], w.key(words[1]), words[2], words[3]});
    else
      w.eye.run({words[0], w.key(words[1]), words[2]});
    CAF_CHECK(!w.o.read().found);
  }
}

CAF_TEST(a server that has forgotten the scripts is told them again) {
  redis_world w;
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 1))));
  w.eye.run({"SCRIPT", "FLUSH"});
  std::vector<mirror_step> steps;
  for (std::uint64_t n = 2; n <= 600; ++n) {
    steps.push_back(w.o.next(delta{}.join(numbers(n, n))));
    ++w.o.steps;
  }
  const auto outcomes = w.store.apply(steps);
  CAF_CHECK(std::ranges::all_of(outcomes, [](auto o) { return o == step_outcome::applied; }));
  CAF_CHECK(w.o.image().waiting == numbers(1, 600));
  w.eye.run({"SCRIPT", "FLUSH"});
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(5, 5))));
  CAF_CHECK(w.o.image().waiting == numbers(5, 5));
}

CAF_TEST(scripts forgotten and loaded by others in the middle of a pipeline tear nothing) {
  redis_world w, other;
  FQ_APPLIED(w.o.begin());
  FQ_APPLIED(other.o.begin());
  constexpr int rounds = 30;
  std::atomic<int> round{0}, rounds_forgotten{0};
  int applied_by_other = 0;
  std::thread forgetting{[&] {
    for (int seen = 0; seen < rounds; ++seen) {
      round.wait(seen);
      other.eye.run({"SCRIPT", "FLUSH"});
      applied_by_other += other.o.put({}) == step_outcome::applied ? 1 : 0; // reloads it
      ++rounds_forgotten;
      rounds_forgotten.notify_one();
    }
  }};
  while (round < rounds) {
    std::vector<mirror_step> steps;
    for (int i = 0; i < 200; ++i) {
      steps.push_back(w.o.next(delta{}.join(numbers(w.o.steps, w.o.steps))));
      ++w.o.steps;
    }
    ++round;
    round.notify_one();
    const auto outcomes = w.store.apply(steps);
    CAF_CHECK(std::ranges::all_of(outcomes, [](auto o) { return o == step_outcome::applied; }));
    rounds_forgotten.wait(round - 1);
  }
  forgetting.join();
  CAF_CHECK_EQUAL(applied_by_other, rounds);
  CAF_CHECK(w.o.image().waiting == numbers(1, rounds * 200));
}

CAF_TEST(a step torn by a cut connection is lost to whatever follows) {
  bool torn_once = false;
  for (const std::size_t bytes : {1, 5'000, 15'000, 40'000, 120'000, 250'000}) {
    CAF_MESSAGE("cut after " << bytes);
    far_owner far;
    auto& unlucky = far.o;
    FQ_APPLIED(unlucky.begin(delta{}.join(numbers(1, 1))));
    far.link.cut_after(bytes);
    CAF_CHECK(!unavailable([&] { unlucky.put(delta{}.join(numbers(2, 25'001))); }).empty());
    far.link.await_end(); // the server has applied what it received

    redis_world w;
    const auto head = "fairqueue:{" + to_string(unlucky.queue()) + "}:head";
    const auto part = w.eye.text({"HGET", head, "part"});
    CAF_MESSAGE("parts applied: " << part);
    CAF_CHECK_EQUAL(w.eye.text({"HGET", head, "ready"}), part == "0" ? "1" : "0");
    torn_once = torn_once || part != "0";
    owner heir{w.store, unlucky.queue()};
    heir.generation = unlucky.generation;
    for (heir.steps = 0; heir.steps < 3; ++heir.steps)
      CAF_CHECK_EQUAL(heir.read().found, part == "0" && heir.steps == 1);
    heir.steps = 2;
    FQ_LOST(heir.put(delta{}.join(numbers(30'000, 30'000))));
    heir.steps = 1;
    if (part != "0") FQ_LOST(heir.put(delta{}.join(numbers(2, 25'001))));
    FQ_APPLIED(heir.begin(delta{}.join(numbers(1, 3))));
    CAF_CHECK(heir.image().waiting == numbers(1, 3));
    w.eye.forget(unlucky.queue());
  }
  CAF_CHECK(torn_once);
}

CAF_TEST(a mirror that changes while it is read is not found) {
  far_owner far{seconds{20}}; // it waits for us
  FQ_APPLIED(far.o.begin(delta{}.join(numbers(1, 5))));
  redis_world w;
  owner writer{w.store, far.o.queue()};
  writer.generation = far.o.generation;
  writer.steps = far.o.steps;

  far.link.hold_after(bytes_of_head_question);
  bool found = true;
  std::thread reading{[&] { found = far.o.read().found; }};
  far.link.await_limit();
  const auto outcome = writer.put(delta{}.join(numbers(6, 6)));
  far.link.resume();
  reading.join();
  FQ_APPLIED(outcome);
  CAF_CHECK(!found);
  CAF_CHECK(writer.image().waiting == numbers(1, 6));
  w.eye.forget(far.o.queue());
}

CAF_TEST(a beginning that arrives late does not replace what was begun since) {
  far_owner far;
  FQ_APPLIED(far.o.begin());
  far.link.hold_after(bytes_of_clear);
  CAF_CHECK(!unavailable([&] { far.o.begin(delta{}.join(numbers(1, 5))); }).empty());

  redis_world w;
  owner heir{w.store, far.o.queue()};
  heir.generation = far.o.generation;
  FQ_APPLIED(heir.begin(delta{}.join(numbers(1, 9))));
  far.link.deliver();
  CAF_CHECK(heir.image().waiting == numbers(1, 9));
  FQ_APPLIED(heir.put(delta{}.join(numbers(10, 10))));
  w.eye.forget(far.o.queue());
}

CAF_TEST(a clearing that arrives late is noticed at the next step) {
  for (const std::uint64_t sessions : {3, 2'500}) { // cleared in one call, and in several
    far_owner far;
    FQ_APPLIED(far.o.begin());
    far.link.hold_after(0);
    CAF_CHECK(!unavailable([&] { far.o.begin(); }).empty());

    redis_world w;
    owner heir{w.store, far.o.queue()};
    heir.generation = far.o.generation;
    delta everything;
    everything.join(numbers(1, 9));
    for (std::uint64_t n = 11; n < 11 + sessions; ++n) everything.sessions.push_back(sample_session(n));
    FQ_APPLIED(heir.begin(everything));
    far.link.deliver();
    CAF_CHECK(!heir.read().found);
    FQ_LOST(heir.put(delta{}.join(numbers(10, 10))));
    FQ_APPLIED(heir.begin(everything));
    CAF_CHECK((heir.image() == mirror_image{everything.joined, everything.sessions, {}}));
    w.eye.forget(far.o.queue());
  }
}
