// SPDX-License-Identifier: Apache-2.0
// Shared by the cache tests: one engine of each kind, an owner that numbers its steps, and sample rows.
#pragma once
#include "store/memory/memory_cache.hpp"
#include "store/redis/redis_cache.hpp"
#include "tests/store/redis/redis_server.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fq::test {

inline constexpr timestamp noon = from_unix_ms(1'795'262'400'000);
inline constexpr aggregate_id sale{16};

/// Unique per test and run, because a server may outlive them.
inline uuid fresh_queue() {
  static const auto run =
    static_cast<std::uint64_t>(skipping_environment{}.wall_now().time_since_epoch().count());
  static std::uint64_t count = 0;
  return make_uuid(from_unix_ms(static_cast<std::int64_t>(run)), sale, ++count);
}

inline mirrored_session sample_session(std::uint64_t number, milliseconds life = seconds{600}) {
  return {queue_number{number}, static_cast<std::uint32_t>(1 + number % 3),
          make_uuid(noon, accounts_aggregate, number * 7),
          noon + milliseconds{static_cast<std::int64_t>(number % 50'000)}, noon + life};
}

inline mirrored_stock sample_stock(std::uint64_t n, std::int64_t total, std::int64_t held = 0,
                                   std::int64_t sold = 0) {
  return {make_uuid(noon, sale, 800 + n), total, held, sold};
}

inline std::vector<queue_number> numbers(std::uint64_t from, std::uint64_t to) {
  std::vector<queue_number> result;
  for (auto n = from; n <= to; ++n) result.push_back(queue_number{n});
  return result;
}

/// Builds a delta, list by list.
struct delta : mirror_delta {
  delta& join(std::vector<queue_number> which) { return joined = std::move(which), *this; }
  delta& leave(std::vector<queue_number> which) { return left = std::move(which), *this; }
  delta& admit(std::vector<mirrored_session> which) { return sessions = std::move(which), *this; }
  delta& finish(std::vector<mirrored_session> which) { return ended = std::move(which), *this; }
  delta& count(std::vector<mirrored_stock> which) { return stock = std::move(which), *this; }
};

/// The owner of one queue's mirror; numbers its steps.
class owner {
public:
  explicit owner(cache& store, uuid queue = fresh_queue()) : store_(store), queue_(queue) {}

  [[nodiscard]] mirror_step next(mirror_delta delta, bool ready = true) const {
    return {sale, queue_, generation, steps, now, std::move(delta), ready, ranks};
  }

  step_outcome put(mirror_delta delta, bool ready = true) {
    const auto step = next(std::move(delta), ready);
    const auto outcome = store_.apply({&step, 1}).at(0);
    if (outcome == step_outcome::applied) ++steps;
    return outcome;
  }

  /// Starts the next generation with this content.
  step_outcome begin(mirror_delta delta = {}, bool ready = true) {
    ++generation;
    steps = 0;
    return put(std::move(delta), ready);
  }

  /// Vouches for its mirror; returns the cache's answer.
  step_outcome vouch() const {
    const vouched_mirror mine{sale, queue_, tenant_id{7}, generation, steps, 0};
    return store_.vouch({&mine, 1}).at(0);
  }
  [[nodiscard]] std::optional<vouched_mirror> vouched() const {
    return store_.find_mirrors({&sale, 1}).at(0);
  }
  [[nodiscard]] std::optional<mirrored_session> session(const mirrored_session& s) const {
    const auto id = make_entry_id(s.joined_at, sale, s.number);
    const auto mirror = vouched();
    if (!mirror) return std::nullopt;
    const session_question asked{*mirror, id};
    return store_.find_sessions({&asked, 1}).at(0).session;
  }

  [[nodiscard]] cache::reading read() const { return store_.read(queue_, generation, steps); }
  [[nodiscard]] mirror_image image() const { return read().image; }
  [[nodiscard]] const uuid& queue() const { return queue_; }

  std::uint64_t generation = 6;
  std::uint64_t steps = 0; ///< applied in this generation
  timestamp now = noon;
  line_ranks ranks; ///< of the line

private:
  cache& store_;
  uuid queue_;
};

/// An engine, with operations that bypass the owner.
class engine {
public:
  virtual ~engine() = default;
  virtual cache& store() = 0;
  virtual void forget(const uuid& queue) = 0;
  /// The session's remaining lifetime in the cache; nothing if it has expired.
  virtual std::optional<milliseconds> session_life(const owner& o, const mirrored_session& s) = 0;
  virtual void pass(milliseconds d) = 0;
};

class memory_engine final : public engine {
public:
  cache& store() override { return store_; }
  void forget(const uuid&) override { store_.flush(); }
  std::optional<milliseconds> session_life(const owner& o, const mirrored_session& s) override {
    return store_.session_life(o.queue(), s.number);
  }
  void pass(milliseconds d) override { env_.skip(d); }

private:
  skipping_environment env_;
  memory_cache store_{env_};
};

class redis_engine final : public engine {
public:
  explicit redis_engine(const std::string& url = shared_redis_url()) :
      store_({.address = parse_redis_url(url)}, env_, to_string(fresh_queue())), operator_(url) {}
  cache& store() override { return store_; }
  void forget(const uuid& queue) override { operator_.forget(queue); }
  std::optional<milliseconds> session_life(const owner& o, const mirrored_session& s) override {
    const auto key = "fairqueue:{" + to_string(o.queue()) + "}:" + std::to_string(o.generation)
                     + ":session:" + to_string(make_entry_id(s.joined_at, sale, s.number));
    const auto life = operator_.integer({"PTTL", key});
    return life > 0 ? std::optional{milliseconds{life}} : std::nullopt;
  }
  /// Redis has its own clock: waits with BLPOP on an empty list.
  void pass(milliseconds d) override {
    for (; d > milliseconds{0}; d -= nap) // shorter than the connection's timeout
      operator_.run({"BLPOP", "fairqueue:nothing",
                     std::to_string(static_cast<double>(std::min(d, nap).count()) / 1'000)});
  }

private:
  static constexpr milliseconds nap{500};
  skipping_environment env_;
  redis_cache store_;
  redis_operator operator_;
};

/// Runs `test` on a new cache of every engine.
inline void on_every_engine(const std::function<void(engine&)>& test) {
  {
    CAF_MESSAGE("engine: memory");
    memory_engine e;
    test(e);
  }
  {
    CAF_MESSAGE("engine: redis");
    redis_engine e;
    test(e);
  }
}

/// The message of the cache_unavailable that `call` throws; empty if none.
inline std::string unavailable(const std::function<void()>& call) {
  try {
    call();
  } catch (const cache_unavailable& e) { return e.what(); }
  return {};
}

} // namespace fq::test

#define FQ_APPLIED(expression) CAF_CHECK((expression) == ::fq::step_outcome::applied)
#define FQ_LOST(expression) CAF_CHECK((expression) == ::fq::step_outcome::lost)
