// SPDX-License-Identifier: Apache-2.0
// The log that grows against the whole tree; noted records on their way to it.
#define CAF_SUITE fair_growth
#include "caf/test/unit_test.hpp"

#include "fair/growth.hpp"
#include "fair/noted.hpp"
#include "tests/fair/sample_log.hpp"

#include <map>
#include <tuple>

namespace growth_test {

using namespace fq;

namespace {

using part_key = std::tuple<bool, unsigned, std::uint64_t>;

/// Keeps parts as a ledger does, and begins anew from them as an owner does after a crash.
struct stored_log {
  std::map<part_key, log_part> parts;
  std::uint64_t size = 0;
  queue_number last{};

  [[nodiscard]] log_growth growth() const {
    std::vector<log_part> edge;
    const auto add = [&](bool is_bundle, unsigned level, std::uint64_t count) {
      if (count % tile_width != 0) edge.push_back(parts.at({is_bundle, level, count / tile_width}));
    };
    add(true, 0, size);
    for (unsigned level = 0; size >> tile_height * level > 0; ++level)
      add(false, level, size >> tile_height * level);
    return {size, last, std::move(edge)};
  }
  void store(log_growth& g) {
    for (auto& part : g.take()) parts[{part.is_bundle, part.level, part.position}] = part;
    size = g.size();
    last = g.last_number();
  }
};

nonce_maker nonces() { return nonce_maker{nonce_secret_of(secret_key{}, {1, 2})}; }

} // namespace

CAF_TEST(tiles and roots are those of the whole tree wherever the log stops) {
  sample_log whole;
  stored_log stored;
  std::uint64_t n = 0;
  for (const auto chunk : {1, 254, 1, 1, 255, 512, 3, 600, 1, 64'000, 700}) {
    auto g = stored.growth();
    for (int i = 0; i < chunk; ++i, ++n) {
      const auto record = "record " + std::to_string(n);
      whole.append(record);
      g.append(record, queue_number{n % 3 == 0 ? n + 1 : 0});
    }
    stored.store(g);
    CAF_REQUIRE_EQUAL(stored.size, n);
    CAF_REQUIRE(g.root() == root_of(n, whole.reader()));
    CAF_REQUIRE(stored.growth().has_edge() && stored.growth().root() == g.root());
    CAF_REQUIRE(!log_growth(stored.size, stored.last, {}).has_edge()); // pruned
  }
  for (const auto& t : new_tiles(0, n))
    CAF_REQUIRE_EQUAL(stored.parts.at({false, t.level, t.index}).content, content_of(t, whole.reader()));
  std::string records;
  for (std::uint64_t i = 0; i * tile_width < n; ++i) records += stored.parts.at({true, 0, i}).content;
  std::string expected;
  for (std::uint64_t i = 0; i < n; ++i) append_entry(expected, "record " + std::to_string(i));
  CAF_CHECK(records == expected);
}

CAF_TEST(a bundle knows the last number that joined up to its end) {
  log_growth g;
  for (std::uint64_t i = 1; i <= 300; ++i) g.append("r", queue_number{i <= 200 ? i : 0});
  const auto parts = g.take();
  std::vector<std::uint64_t> last;
  for (const auto& p : parts)
    if (p.is_bundle) last.push_back(value_of(p.last_number));
  CAF_CHECK(last == (std::vector<std::uint64_t>{200, 200}));
}

CAF_TEST(an empty log has the empty root and no parts) {
  log_growth g;
  CAF_CHECK(g.root() == sha256(""));
  CAF_CHECK(g.take().empty());
}

CAF_TEST(noted records come out in order with the sequence of their batch) {
  note_writer w;
  const auto at = from_unix_ms(1'795'000'000'000);
  const noted_join join{queue_number{7}, 1, at, {3, 4}, 99};
  w.add(join);
  w.add(log_record{left_record{queue_number{7}, left_why::holder}}, at + milliseconds{5});
  const auto pieces = w.take();
  CAF_REQUIRE_EQUAL(pieces.size(), 1u);
  CAF_CHECK(w.take().empty());
  std::vector<std::pair<std::string, std::uint64_t>> read;
  const auto take = [&](const std::string& record, queue_number n) {
    read.emplace_back(record, value_of(n));
  };
  const std::string_view content{pieces[0].data(), pieces[0].size()};
  CAF_REQUIRE(read_notes(content, 42, aggregate_id{16}, nonces(), take));
  CAF_REQUIRE_EQUAL(read.size(), 2u);
  const auto id = make_entry_id(at, aggregate_id{16}, queue_number{7});
  const auto commitment = commitment_of(nonces()(queue_number{7}, {3, 4}, 99), id);
  CAF_CHECK(read[0].first == joined_bytes({42, at}, {queue_number{7}, 1, 0, {}}, commitment));
  CAF_CHECK_EQUAL(read[0].second, 7u);
  CAF_CHECK(read[1].first == left_bytes({42, at + milliseconds{5}}, queue_number{7}, left_why::holder));
  CAF_CHECK_EQUAL(read[1].second, 0u);
  CAF_CHECK(!read_notes(content.substr(0, content.size() - 1), 42, aggregate_id{16}, nonces(), take));
}

CAF_TEST(a nonce depends on all that is erased with the entry and on the log) {
  const auto make = nonces();
  const auto one = make(queue_number{1}, {3, 4}, 9);
  CAF_CHECK(one == make(queue_number{1}, {3, 4}, 9));
  CAF_CHECK(one != make(queue_number{2}, {3, 4}, 9));
  CAF_CHECK(one != make(queue_number{1}, {3, 5}, 9));
  CAF_CHECK(one != make(queue_number{1}, {3, 4}, 8));
  const nonce_maker other{nonce_secret_of(secret_key{}, {1, 3})};
  CAF_CHECK(one != other(queue_number{1}, {3, 4}, 9));
}

CAF_TEST(many notes are cut into pieces at records) {
  note_writer w;
  for (std::uint64_t n = 1; n <= 2'000; ++n)
    w.add(noted_join{queue_number{n}, 1, from_unix_ms(5), {0, n}, n});
  const auto pieces = w.take();
  CAF_CHECK(pieces.size() > 1);
  std::uint64_t next = 1;
  for (const auto& piece : pieces)
    CAF_REQUIRE(
      read_notes({piece.data(), piece.size()}, 1, aggregate_id{16}, nonces(),
                 [&](const std::string&, queue_number n) { CAF_CHECK_EQUAL(value_of(n), next++); }));
  CAF_CHECK_EQUAL(next, 2'001u);
}

} // namespace growth_test
