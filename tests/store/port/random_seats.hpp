// SPDX-License-Identifier: Apache-2.0
// Random values for differential_test, and random changes of seats.
#pragma once
#include "tests/store/port/engines.hpp"

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace differential_test {

using namespace fq;
using namespace fq::test;

class draws {
public:
  explicit draws(std::uint64_t seed) : rng_(seed) {}

  std::uint64_t below(std::uint64_t n) { return rng_() % n; }
  bool percent(unsigned p) { return below(100) < p; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  timestamp time() { return noon + seconds{between(0, 50)}; }

protected:
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
  tenant_id some_tenant() { return tenant_id{static_cast<std::uint32_t>(1 + below(4))}; }

  std::mt19937_64 rng_;
};

class seat_draws : public draws {
protected:
  using draws::draws;

  change plan_change() {
    const auto id = id_of(below(5), catalog_aggregate);
    if (percent(20)) return seat_plan_removed{some_tenant(), id};
    return seat_plan_stored{{id, some_tenant(), percent(30) ? organizer_id{} : organizer_id{person()},
                             text("hall ", 3), text("p\t", 9), time()}};
  }

  std::optional<event_plan_row> event_plan() {
    if (percent(30)) return {};
    return event_plan_row{text("p\t", 9), text("0 ", 3), static_cast<std::uint8_t>(below(percent(5) ? 9 : 3)),
                          percent(50), percent(50)};
  }

  /// Of few seats, most of which are live or were.
  change seat_change(const aggregate_image& image) {
    if (percent(4)) return event_plan_removed{};
    if (!image.plan && percent(80)) return event_plan_set{event_plan().value_or(event_plan_row{})};
    if (percent(4))
      return seat_rules_set{static_cast<std::uint8_t>(below(percent(5) ? 9 : 3)), percent(50), percent(50)};
    const auto* live = any(image.claim_seats);
    if (live != nullptr && percent(35)) {
      seats_ended ended{live->claim, {live->seat}};
      if (percent(20)) ended.seats.push_back(static_cast<std::uint32_t>(below(12)));
      return ended;
    }
    if (percent(15)) {
      seats_set set;
      for (auto n = below(3); n > 0; --n)
        set.rows.push_back(
          {static_cast<std::uint32_t>(below(12)), static_cast<std::uint32_t>(below(3)), percent(50)});
      return set;
    }
    seats_taken taken;
    const auto* of = any(image.claims);
    const auto holder = of && percent(98) ? of->id : id_of(1);
    for (auto n = 1 + below(2); n > 0; --n)
      taken.rows.push_back({holder, static_cast<std::uint32_t>(below(percent(60) ? 12 : 4'294'967'296)),
                            static_cast<std::uint32_t>(below(3)), percent(98)});
    return taken;
  }
};

} // namespace differential_test
