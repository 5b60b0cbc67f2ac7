// SPDX-License-Identifier: Apache-2.0
// Writes the content of many batches with few statements. Independent changes go into the same round, where
// all rows of one kind of change are one statement. A dependent change goes into a later round. So a
// thousand joins are one statement, while an entry that joins, is admitted and completes in one batch takes
// three rounds. Effects and refusals are the same as one change after the other.
// Used by postgres_writer.
#pragma once
#include "store/port/history.hpp"
#include "store/port/ledger.hpp"
#include "store/postgres/postgres_statements.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace fq {

enum class postgres_order : std::uint8_t {
  in_rounds,
  /// Every change is its own round: simple and slow. Confirms the refusal of a batch.
  one_by_one,
};

class postgres_rounds {
public:
  explicit postgres_rounds(postgres_order order) : order_(order), rounds_(1) {}

  /// False for a batch that every ledger would refuse. Only possible batches may be added.
  static bool is_possible(const batch& b);
  /// Adds at most one batch per aggregate.
  void add(const batch& b, tenant_id tenant);
  /// Calls `take(statement, parameters)` for each statement in order, then is empty.
  template <class Take>
  void take_all(Take take) {
    place_sums();
    for (auto& round : rounds_)
      for (std::size_t i = 0; i < round.size(); ++i)
        if (!round[i].empty()) take(postgres_writes()[i], std::move(round[i]).parameters());
    rounds_.clear();
  }

private:
  class reader; ///< visits the changes of one batch

  /// A row or a fact about rows that a change writes or depends on.
  enum class item : std::uint8_t {
    generation,
    event,
    ticket_type,
    ticket_type_exists,
    entry,
    claim,
    claim_exists,
    attempts,
    person,
    payment,
    refund,
    promo_code,
    promo_word,
    order,
    event_ticket,
    seat_plan,
    plan,
    seat,
    seat_setting,
    transfer,
    offered_ticket,
    checkin_list,
    checkin_device,
    scan,
    statistics,
    dead_letter,
    priority,
    invitation,
    access,
    lock,
    lobby,
    log,
    block,
    account,
    otp,
    organizer_session,
    api_key,
    setting
  };
  struct thing_key {
    aggregate_id aggregate{};
    item kind{};
    std::uint64_t first = 0, second = 0;
    friend bool operator==(const thing_key&, const thing_key&) = default;
  };
  struct thing_hash {
    std::size_t operator()(const thing_key& k) const noexcept {
      const auto kind_and_aggregate = static_cast<std::uint64_t>(k.kind) << 32 | number_of(k.aggregate);
      return std::hash<uuid>{}({k.first ^ kind_and_aggregate * 0x9e3779b97f4a7c15ull, k.second});
    }
  };
  /// The last rounds in which it was written and read; -1: none.
  struct last_rounds {
    int changed = -1;
    int read = -1;
  };

  /// The first round, at least `at_least`, after all writes of the read or changed items and after all reads
  /// of the changed items.
  std::size_t round_for(std::initializer_list<thing_key> changed, std::span<const thing_key> read = {},
                        std::size_t at_least = 0);
  postgres_columns& rows(std::size_t round, postgres_write what) {
    return rounds_[round][static_cast<std::size_t>(what)];
  }

  /// Consecutive moves of one ticket type become one row: their sum, and the extremes on the way.
  struct stock_sum {
    std::int64_t held = 0, sold = 0, least_held = 0, least_sold = 0, most_taken = 0;
    void add(const stock_moved& c);
  };
  /// The same for the uses of a promo code.
  struct uses_sum {
    std::int64_t uses = 0, least = 0, most = 0;
    void add(const promo_uses_moved& c);
  };
  using counter_key = std::tuple<std::size_t, aggregate_id, std::uint32_t>; ///< round, aggregate, ordinal
  /// The sum for a move of `counter`: the previous move's sum, if nothing else intervened.
  template <class Sum>
  Sum& sum_of(std::map<counter_key, Sum>& sums, const thing_key& counter, std::uint32_t ordinal);
  void place_sums();

  postgres_order order_;
  std::vector<std::array<postgres_columns, postgres_write_count>> rounds_;
  std::unordered_map<thing_key, last_rounds, thing_hash> things_;
  std::map<counter_key, stock_sum> stock_;
  std::map<counter_key, uses_sum> promo_uses_;
};

} // namespace fq
