// SPDX-License-Identifier: Apache-2.0
// Identifiers contain the ids of their parents and survive their text form.
#define CAF_SUITE domain_ids
#include "domain/base/environment.hpp"
#include "domain/base/ids.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

#include <set>

namespace ids_test {

using namespace fq;
using namespace fq::test;

namespace {
const timestamp some_day = from_unix_ms(1'795'000'000'123);
}

CAF_TEST(an entry id carries its time its aggregate and its queue number) {
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{512}, (std::uint64_t{1} << 30) - 1,
                                std::uint64_t{1} << 30, (std::uint64_t{1} << 32) + 7, queue_number_max})
    for (const std::uint32_t a : {1u, 16u, 0x8000'0001u, 0xffff'ffffu}) {
      const auto id = make_entry_id(some_day, aggregate_id{a}, queue_number{n});
      CAF_CHECK_EQUAL(value_of(queue_number_of(id)), n);
      CAF_CHECK_EQUAL(number_of(owner_of(id)), a);
      CAF_CHECK(time_of(id) == some_day);
    }
}

CAF_TEST(every id is a version 7 UUID of its owner and time) {
  for_seeds(200, [](std::uint64_t seed) {
    dice d{seed};
    const aggregate_id owner{static_cast<std::uint32_t>(d.bits())};
    const auto at = from_unix_ms(static_cast<std::int64_t>(d.below(std::uint64_t{1} << 47)));
    const auto id = make_uuid(at, owner, d.bits());
    FQ_HOLDS(seed, owner_of(id) == owner);
    FQ_HOLDS(seed, time_of(id) == at);
    FQ_HOLDS(seed, (id.hi >> 12 & 15) == 7);
    FQ_HOLDS(seed, id.lo >> 62 == 2);
    const auto text = to_string(id);
    FQ_HOLDS(seed, text[14] == '7');
    FQ_HOLDS(seed, parse_uuid(text) == id);
    auto upper = text;
    for (auto& c : upper) c = static_cast<char>(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
    FQ_HOLDS(seed, parse_uuid(upper) == id);
  });
}

CAF_TEST(42 random bits tell ids of one millisecond apart) {
  std::set<uuid> ids;
  for (std::uint64_t bit = 0; bit < 42; ++bit)
    ids.insert(make_uuid(some_day, aggregate_id{16}, std::uint64_t{1} << bit));
  CAF_CHECK_EQUAL(ids.size(), 42u);
}

CAF_TEST(ids of later milliseconds sort later) {
  CAF_CHECK(make_uuid(some_day, aggregate_id{99}, ~std::uint64_t{0})
            < make_uuid(some_day + milliseconds{1}, aggregate_id{1}, 0));
}

CAF_TEST(text that is no UUID is refused) {
  const std::string good = "0198c2f5-8a3b-7abc-8def-0123456789ab";
  CAF_REQUIRE(parse_uuid(good).has_value());
  CAF_CHECK_EQUAL(to_string(*parse_uuid(good)), good);
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const char c : {'g', ' ', '\0', '-', '0'}) {
      auto bad = good;
      bad[i] = c;
      const bool dash = good[i] == '-';
      CAF_CHECK_EQUAL(parse_uuid(bad).has_value(), dash ? c == '-' : c == '0');
    }
  CAF_CHECK(!parse_uuid(""));
  CAF_CHECK(!parse_uuid(good.substr(1)));
  CAF_CHECK(!parse_uuid(good + "0"));
  CAF_CHECK(!parse_uuid("{" + good + "}"));
}

} // namespace ids_test
