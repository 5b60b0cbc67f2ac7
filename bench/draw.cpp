// SPDX-License-Identifier: Apache-2.0
// Is the draw fair? Chi-square of 100,000 draws, the correlation of arrival and rank, chances of parties and
// singles, and the time of a million entrants. Prints numbers for docs/design/fairness.md; no clock decides.
#include "fair/draw.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

using namespace fq;

namespace {

constexpr int draws = 100'000;

/// A seed for each draw, and the same one in each run.
sha256_digest seed_of(int draw) { return sha256("bench " + std::to_string(draw)); }

std::vector<entrant> singles(std::uint32_t count) {
  std::vector<entrant> entrants;
  for (std::uint32_t n = 1; n <= count; ++n) entrants.push_back({queue_number{n}, {}});
  return entrants;
}

void chi_square() {
  constexpr std::size_t count = 10;
  std::array<std::array<double, count>, count> seen{};
  const auto entrants = singles(count);
  for (int d = 0; d < draws; ++d) {
    const auto order = draw_order(seed_of(d), {}, "", entrants);
    for (std::size_t rank = 0; rank < count; ++rank) ++seen[value_of(order[rank]) - 1][rank];
  }
  const double expected = double{draws} / count;
  double sum = 0;
  for (const auto& ranks : seen)
    for (const auto n : ranks) sum += (n - expected) * (n - expected) / expected;
  constexpr double freedom = (count - 1) * (count - 1);
  std::printf("chi-square, %d draws of %zu: %.1f with %.0f degrees of freedom, z = %.2f\n", draws, count, sum,
              freedom, (sum - freedom) / std::sqrt(2 * freedom));
}

void correlation() {
  constexpr double count = 100;
  const auto entrants = singles(static_cast<std::uint32_t>(count));
  double sum = 0, squares = 0;
  for (int d = 0; d < draws; ++d) {
    const auto order = draw_order(seed_of(d), {}, "", entrants);
    double distance = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto move = static_cast<double>(value_of(order[i])) - static_cast<double>(i + 1);
      distance += move * move;
    }
    const auto rho = 1 - 6 * distance / (count * (count * count - 1));
    sum += rho;
    squares += rho * rho;
  }
  const auto mean = sum / draws;
  std::printf("arrival and rank, %d draws of %.0f: mean rho = %.5f, standard error %.5f, deviation %.4f (of "
              "chance: %.4f)\n",
              draws, count, mean, std::sqrt(squares / draws / draws),
              std::sqrt(squares / draws - mean * mean), 1 / std::sqrt(count - 1));
}

void parties(std::uint32_t size, std::uint32_t count, std::size_t tickets) {
  auto entrants = singles(200);
  for (std::uint32_t i = 0; i < size * count; ++i) entrants[i].party = queue_number{i - i % size + 1};
  double member_wins = 0, single_wins = 0;
  for (int d = 0; d < draws; ++d) {
    const auto order = draw_order(seed_of(d), {}, "", entrants);
    for (std::size_t i = 0; i < tickets; ++i)
      (value_of(order[i]) <= size * count ? member_wins : single_wins) += 1;
  }
  const double members = size * count;
  const auto of_members = member_wins / draws / members;
  const auto of_singles = single_wins / draws / (200 - members);
  std::printf(
    "%u parties of %u among 200 for %zu tickets, %d draws: member %.4f, single %.4f, difference %+.4f, "
    "bound %.4f\n",
    count, size, tickets, draws, of_members, of_singles, of_members - of_singles,
    static_cast<double>(size) / static_cast<double>(tickets));
}

void million() {
  const auto entrants = singles(1'000'000);
  const auto begin = std::chrono::steady_clock::now();
  const auto order = draw_order(seed_of(0), {}, "", entrants);
  const auto drawn = std::chrono::steady_clock::now();
  tree_edge tree;
  const auto commitment = sha256("");
  for (const auto& e : entrants) tree.append(leaf_hash(entrant_leaf({e.number, 1, 0, e.party}, commitment)));
  const auto root = tree.root();
  const auto closed = std::chrono::steady_clock::now();
  const auto ms = [](auto span) { return std::chrono::duration<double, std::milli>(span).count(); };
  std::printf("1,000,000 entrants: order %.0f ms, root %.0f ms (first rank: %llu, root %02x…)\n",
              ms(drawn - begin), ms(closed - drawn), static_cast<unsigned long long>(value_of(order[0])),
              root[0]);
}

/// What an event's actor does itself, between requests; the rest is a worker's. `members` of the entries are
/// in parties of 6, spread over the line; in one party of 100 the opener has a better class.
void million_in_a_sale(std::uint32_t members) {
  constexpr std::uint32_t count = 1'000'000;
  constexpr std::uint32_t party_size = 6;
  const auto opening = from_unix_ms(1'800'000'000'000);
  event_row event;
  event.aggregate = aggregate_id{16};
  event.kind = event_kind::queue;
  event.status = event_status::active;
  event.queue_opens_at = opening;
  event.queue.policy = admission_policy::operated;
  event.lobby.opens_at = opening - seconds{3600};
  event.lobby.draw = draw_kind::at_opening;
  std::vector<entry_row> rows(count);
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t n = 1; n <= count; ++n) {
    rows[n - 1].number = queue_number{n};
    rows[n - 1].subject = {n * 0x9e3779b97f4a7c15ull, n};
    rows[n - 1].joined_at = opening - seconds{60};
    rows[n - 1].priority_class = priority_standard;
    order[n - 1] = n;
  }
  std::ranges::shuffle(order, std::mt19937_64{1});
  const auto parties_opened = members / party_size;
  for (std::uint32_t i = 0; i < parties_opened * party_size; ++i) {
    const auto row = [&](std::uint32_t member) -> entry_row& {
      return rows[std::uint64_t{member} * count / members];
    };
    row(i).party = row(i % parties_opened).number;
    if (i < parties_opened && i % 100 == 0) row(i).priority_class = priority_vip;
  }
  lobby_row lobby;
  lobby.opened_at = event.lobby.opens_at;
  lobby.seed = lobby.seed_commitment = std::string(64, '0');
  sale s({}, [x = std::uint64_t{0}]() mutable { return ++x; });
  s.load(event, {});
  s.load(lobby);
  s.load(rows);
  s.loaded();
  decision d;
  const auto time = [members](const char* what, auto work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const auto span = std::chrono::steady_clock::now() - begin;
    std::printf("1,000,000 entries in their owner, %u in parties, %s: %.0f ms\n", members, what,
                std::chrono::duration<double, std::milli>(span).count());
  };
  time("closing", [&] { s.run(opening, d); });
  std::vector<sale::entrant_place> entrants;
  time("places for the root", [&] { s.add_entrants(entrants, {}, value_of(s.lobby()->last)); });
  time("the draw", [&] { s.set_root(std::string(64, '0'), opening, d); });
  std::vector<std::uint32_t> parties;
  time("parties for the order", [&] { parties = s.lobby_parties(); });
  line_ranks ranks{std::move(order)}; // by the worker
  time("the order is taken", [&] { s.rank(std::move(ranks)); });
  std::printf("positions are known: %s\n",
              s.lobby_now().phase == lobby_phase::none && entrants.size() == count ? "yes" : "no");
}

} // namespace

int main() {
  chi_square();
  correlation();
  parties(6, 10, 50);
  parties(6, 20, 12);
  parties(2, 50, 50);
  million();
  million_in_a_sale(0);
  million_in_a_sale(300'000);
}
