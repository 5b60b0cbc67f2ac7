// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: rows of public logs.
#define CAF_SUITE store_log
#include "tests/store/port/engines.hpp"

namespace log_store_test {

using namespace fq;
using namespace fq::test;

namespace {

std::vector<char> bytes(const std::string& text) { return {text.begin(), text.end()}; }

log_state_row state(std::uint64_t size, std::uint64_t taken_seq = 0, std::uint64_t taken_ordinal = 0,
                    std::uint32_t number = 1) {
  log_state_row s;
  s.number = number;
  s.origin = "tickets.example/events/x/log";
  s.size = size;
  s.root = bytes(std::string("\0root", 5));
  s.taken_seq = taken_seq;
  s.taken_ordinal = taken_ordinal;
  s.last_number = queue_number{size};
  s.cosignatures = size % 2 == 0 ? "" : "— witness\n";
  s.cosigned = size % 2 == 0 ? "a note\n\n— witness\n" : "";
  s.closing = size % 3 == 0 ? "" : "another note\n\n— log\n";
  return s;
}

log_tile_row tile(std::uint32_t level, std::uint64_t position, const std::string& content,
                  std::uint64_t last = 0, std::uint32_t number = 1) {
  return {number, level, position, queue_number{last}, bytes(content)};
}

log_noted noted(const std::string& content) { return {{bytes(content)}}; }

std::vector<std::string> contents(const std::vector<noted_rows>& rows) {
  std::vector<std::string> all;
  for (const auto& r : rows) all.emplace_back(r.row.content.begin(), r.row.content.end());
  return all;
}

using texts = std::vector<std::string>;

} // namespace

CAF_TEST(without a log nothing is read) {
  in_every_world([](world& w) {
    CAF_CHECK(!w.store.read_log(sale, {.noted = 9}).state);
    CAF_CHECK(!w.store.read_log(aggregate_id{99}, {}).state);
    CAF_CHECK(!w.image().log);
  });
}

CAF_TEST(noted rows stay in order until the log has taken them in) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({log_kept{state(0), {}}, noted("a"), noted(std::string("b\0c", 3))}));
    FQ_COMMITS(w.put({noted("d")}));
    const auto rows = w.store.read_log(sale, {.noted = 9});
    CAF_REQUIRE(rows.state.has_value());
    CAF_CHECK(contents(rows.noted) == (texts{"a", std::string("b\0c", 3), "d"}));
    CAF_CHECK(rows.noted[0].place < rows.noted[1].place && rows.noted[1].place < rows.noted[2].place);
    CAF_CHECK_EQUAL(rows.noted[0].place.seq, rows.noted[1].place.seq);
    CAF_CHECK(contents(w.store.read_log(sale, {.noted = 2}).noted) == (texts{"a", std::string("b\0c", 3)}));
    const auto& taken = rows.noted[0].place;
    FQ_COMMITS(w.put({log_kept{state(1, taken.seq, taken.ordinal), {tile(0, 0, "x")}}}));
    CAF_CHECK(contents(w.store.read_log(sale, {.noted = 9}).noted) == (texts{std::string("b\0c", 3), "d"}));
    CAF_CHECK(w.image().log == state(1, taken.seq, taken.ordinal));
    CAF_CHECK(w.store.load(sale, {}).log == w.image().log);
    CAF_CHECK(w.me.take(sale).image.log == w.image().log);
  });
}

CAF_TEST(a row noted after the log in one batch stays whatever the log says that it has taken) {
  in_every_world([](world& w) {
    const log_kept takes_all{state(1, 99), {}}, takes_none{state(2), {}};
    FQ_COMMITS(w.put({noted("a"), takes_all, noted("b"), takes_none, noted("c")}));
    CAF_CHECK(contents(w.store.read_log(sale, {.noted = 9}).noted) == (texts{"b", "c"}));
  });
}

CAF_TEST(a tile is replaced by a longer one and read by its place) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({log_kept{state(2), {tile(0, 0, "ab"), tile(bundle_level, 0, "AB", 2)}}}));
    FQ_COMMITS(w.put({log_kept{state(3), {tile(0, 0, "abc"), tile(bundle_level, 0, "ABC", 3)}}}));
    const auto edge = w.store.read_log(sale, {.edge = true});
    CAF_CHECK((edge.tiles == std::vector{tile(bundle_level, 0, "ABC", 3), tile(0, 0, "abc")}));
    const auto some = w.store.read_log(sale, {.tiles = {{0, 1}, {0, 0}}});
    CAF_CHECK((some.tiles == std::vector{tile(0, 0, "abc")}));
  });
}

CAF_TEST(the bundle of a join is the first that reaches its number) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({log_kept{state(600),
                               {tile(bundle_level, 0, "one", 200), tile(bundle_level, 1, "two", 200),
                                tile(bundle_level, 2, "three", 300), tile(0, 0, "x", 999)}}}));
    const auto found = [&](std::uint64_t n) {
      return w.store.read_log(sale, {.joined = queue_number{n}}).tiles;
    };
    CAF_CHECK((found(1) == std::vector{tile(bundle_level, 0, "one", 200)}));
    CAF_CHECK((found(200) == std::vector{tile(bundle_level, 0, "one", 200)}));
    CAF_CHECK((found(201) == std::vector{tile(bundle_level, 2, "three", 300)}));
    CAF_CHECK(found(301).empty());
  });
}

CAF_TEST(another origin has tiles of its own and those of the first stay) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({log_kept{state(1), {tile(0, 0, "old")}}}));
    FQ_COMMITS(w.put({log_kept{state(1, 0, 0, 2), {tile(0, 0, "new", 0, 2)}}}));
    CAF_CHECK((w.store.read_log(sale, {.edge = true}).tiles == std::vector{tile(0, 0, "new", 0, 2)}));
    CAF_CHECK(
      (w.store.read_log(sale, {.number = 1, .tiles = {{0, 0}}}).tiles == std::vector{tile(0, 0, "old")}));
  });
}

CAF_TEST(a fenced owner adds nothing to a log) {
  in_every_world([](world& w) {
    const auto late = w.me.next(sale, {log_kept{state(1), {tile(0, 0, "x")}}, noted("a")});
    w.me.take(sale);
    CAF_CHECK(w.store.commit({&late, 1}).at(0) == commit_outcome::fenced);
    CAF_CHECK(!w.store.read_log(sale, {.noted = 9}).state);
  });
}

CAF_TEST(an event with records that are not in the log is woken) {
  in_every_world([](world& w) {
    auto over = *w.image().event;
    over.status = event_status::ended;
    FQ_COMMITS(w.put({event_changed{w.image().event->status, over}}));
    CAF_CHECK(w.store.aggregates_to_wake("").empty());
    FQ_COMMITS(w.put({log_kept{state(0), {}}, noted("a")}));
    CAF_CHECK((w.store.aggregates_to_wake("") == std::vector{sale}));
  });
}

CAF_TEST(an accepted loss marks the log) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({log_kept{state(1), {}}}));
    const auto head = w.store.peek(sale).head;
    w.store.acquire(sale, {}, std::nullopt, {head.epoch, head.applied_seq + 5});
    CAF_CHECK(!w.image().log->is_lost);
    const audit_row row{id_of(77), default_tenant, w.image().event->id, "system", "loss.accept", "{}", "",
                        noon};
    CAF_REQUIRE(w.store.accept_loss(sale, row));
    CAF_CHECK(w.image().log->is_lost);
  });
}

CAF_TEST(the tiles of an ended sale are deleted by age and its state stays) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({log_kept{state(2), {tile(0, 0, "a"), tile(0, 1, "b"), tile(bundle_level, 0, "c")}}}));
    prune_bounds bounds;
    bounds.limit = 2;
    bounds.logs_before = w.image().event->sale_end + milliseconds{1};
    CAF_CHECK_EQUAL(w.store.prune(bounds), 0u); // not ended
    auto over = *w.image().event;
    const auto before = over.status;
    over.status = event_status::ended;
    FQ_COMMITS(w.put({event_changed{before, over}}));
    bounds.logs_before = over.sale_end;
    CAF_CHECK_EQUAL(w.store.prune(bounds), 0u);
    bounds.logs_before = over.sale_end + milliseconds{1};
    CAF_CHECK_EQUAL(w.store.prune(bounds), 2u);
    CAF_CHECK_EQUAL(w.store.prune(bounds), 1u);
    CAF_CHECK(w.store.read_log(sale, {.tiles = {{0, 0}, {0, 1}, {bundle_level, 0}}}).tiles.empty());
    CAF_CHECK(w.image().log == state(2));
  });
}

} // namespace log_store_test
