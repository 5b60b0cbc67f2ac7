// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: pictures of events.
#define CAF_SUITE store_pictures
#include "tests/store/port/engines.hpp"

namespace picture_store_test {

using namespace fq;
using namespace fq::test;

namespace {

const tenant_id here{1};

/// "0000…<n>", as a hash is.
std::string hash_of(std::uint64_t n) {
  auto digits = std::to_string(n);
  return std::string(64 - digits.size(), '0') + digits;
}

picture_row picture(std::uint64_t n, organizer_id organizer = id_of(7)) {
  const auto bytes = [&](const std::string& size) {
    const auto text = size + std::to_string(n);
    std::vector<char> all(text.begin(), text.end());
    all.push_back('\0');
    all.push_back('\xff');
    return all;
  };
  return {hash_of(n), here, organizer, noon, bytes("small"), bytes("medium"), bytes("large")};
}

/// Prunes as a process does that lives for a day from `from` on.
std::size_t prune_for_a_day(ledger& store, timestamp from) {
  prune_bounds bounds{};
  bounds.limit = 10;
  std::size_t gone = 0;
  for (int turn = 0; turn < 256; ++turn) {
    bounds.pictures_before = from + turn * picture_slice_time;
    gone += store.prune(bounds);
  }
  return gone;
}

} // namespace

CAF_TEST(a picture is stored once and read in each size) {
  on_every_engine([](ledger& store) {
    CAF_CHECK(store.store_picture(picture(1)));
    CAF_CHECK(store.store_picture(picture(1))); // repeated
    CAF_CHECK(store.store_picture(picture(2, {})));
    CAF_CHECK(store.find_picture(hash_of(1), picture_size::small) == picture(1).small);
    CAF_CHECK(store.find_picture(hash_of(1), picture_size::medium) == picture(1).medium);
    CAF_CHECK(store.find_picture(hash_of(2), picture_size::large) == picture(2).large);
    CAF_CHECK(store.find_picture(hash_of(3), picture_size::large).empty());
  });
}

CAF_TEST(an organizer and a tenant have so many pictures at most) {
  on_every_engine([](ledger& store) {
    for (std::uint64_t n = 0; n < pictures_per_organizer_max; ++n)
      CAF_REQUIRE(store.store_picture(picture(n)));
    CAF_CHECK(!store.store_picture(picture(5'000)));
    CAF_CHECK(store.store_picture(picture(3))); // has its place
    for (std::uint64_t n = pictures_per_organizer_max; n < pictures_per_tenant_max; ++n)
      CAF_REQUIRE(store.store_picture(picture(n, {})));
    CAF_CHECK(!store.store_picture(picture(5'000, {})));
    CAF_CHECK(!store.store_picture(picture(5'000, id_of(8))));
  });
}

CAF_TEST(a picture that no event names goes after a while) {
  on_every_engine([](ledger& store) {
    owner me{store};
    me.take(catalog_aggregate);
    auto event = sample_event();
    event.facts.picture = hash_of(1);
    CAF_REQUIRE(me.put(catalog_aggregate, {event_created{event, {sample_type(0, 10)}}})
                == commit_outcome::committed);
    for (std::uint64_t n = 1; n <= 3; ++n) store.store_picture(picture(n));
    CAF_CHECK_EQUAL(prune_for_a_day(store, noon - seconds{86'400}), 0u); // all are new
    CAF_CHECK_EQUAL(prune_for_a_day(store, noon + seconds{1}), 2u);
    CAF_CHECK(!store.find_picture(hash_of(1), picture_size::small).empty());
    CAF_CHECK(store.find_picture(hash_of(2), picture_size::small).empty());

    me.take(sale);
    const auto from = event.status;
    event.facts.picture.clear();
    CAF_REQUIRE(me.put(sale, {event_changed{from, event}}) == commit_outcome::committed);
    CAF_CHECK_EQUAL(prune_for_a_day(store, noon + seconds{1}), 1u);
    CAF_CHECK(store.find_picture(hash_of(1), picture_size::small).empty());
  });
}

CAF_TEST(the logo of a tenant stays until another one is set) {
  on_every_engine([](ledger& store) {
    owner me{store};
    me.take(accounts_aggregate);
    tenant_row tenant{default_tenant, "default", {}, {}, noon};
    const auto name_logo = [&](std::string id) {
      tenant.logo = std::move(id);
      CAF_REQUIRE(me.put(accounts_aggregate, {tenant_stored{tenant}}) == commit_outcome::committed);
    };
    store.store_picture(picture(1));
    name_logo(hash_of(1));
    CAF_CHECK_EQUAL(prune_for_a_day(store, noon + seconds{1}), 0u);
    name_logo({});
    CAF_CHECK_EQUAL(prune_for_a_day(store, noon + seconds{1}), 1u);
  });
}

} // namespace picture_store_test
