// SPDX-License-Identifier: Apache-2.0
// The public log over HTTP: checkpoint, key and tiles from what the ledger has.
#define CAF_SUITE routes_log
#include "caf/test/unit_test.hpp"

#include "actors/storage/ledger_worker.hpp"
#include "fair/growth.hpp"
#include "fair/note.hpp"
#include "store/memory/memory_ledger.hpp"
#include "tests/net/api/world.hpp"

namespace log_routes_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct log_world : world {
  memory_ledger store{{.now = [this] { return clock.wall_now(); }}};
  ledger_worker_handle worker =
    system.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&clock),
                 ledger_worker_settings{.prune_interval = std::chrono::hours{24}});
  log_growth growth;
  log_world() {
    ctx.notices = worker;
    event_row e;
    e.id = event_id;
    e.aggregate = owner_of(event_id);
    e.name = "Test sale";
    e.currency = "NGN";
    e.status = event_status::active;
    e.sale_end = clock.wall_now() + seconds{9'000};
    e.queue_opens_at = e.sale_start = e.created_at = e.updated_at = clock.wall_now();
    put(catalog_aggregate, event_created{e, {{0, {7, 7}, "Standard", 5'000, 10, 0, 0, 2, true}}});
  }
  ~log_world() {
    ctx.notices = nullptr;
    caf::scoped_actor self{system};
    self->send_exit(worker, caf::exit_reason::user_shutdown);
    self->wait_for(worker);
  }

  void put(aggregate_id aggregate, change c) {
    const auto own = store.acquire_unleased(aggregate, never);
    batch b{aggregate, own->epoch, own->applied_seq, own->applied_seq + 1, clock.wall_now(), {std::move(c)}};
    CAF_REQUIRE(store.commit(std::span{&b, 1}).front() == commit_outcome::committed);
  }
  /// Appends records to the log, as its owner does.
  void grow(std::uint64_t count, const std::string& cosigned = {}) {
    for (std::uint64_t i = 0; i < count; ++i) growth.append("record " + std::to_string(growth.size()));
    log_kept kept;
    kept.state = {
      .number = 1, .origin = "127.0.0.1:8080" + event_path("/log"), .size = growth.size(), .root = {}};
    const auto root = growth.root();
    kept.state.root.assign(root.begin(), root.end());
    kept.state.cosigned = cosigned;
    for (const auto& p : growth.take())
      kept.tiles.push_back({1,
                            p.is_bundle ? bundle_level : p.level,
                            p.position,
                            p.last_number,
                            {p.content.begin(), p.content.end()}});
    put(owner_of(event_id), kept);
  }
  void lose() {
    const auto own = store.acquire_unleased(owner_of(event_id), never);
    store.acquire(owner_of(event_id), {}, std::nullopt, {own->epoch, own->applied_seq + 1});
    CAF_REQUIRE(store.accept_loss(owner_of(event_id), audit_row{}));
  }
  response get(const std::string& rest) { return send(method::get, event_path("/log/") + rest); }
};

} // namespace

CAF_TEST(without a log nothing is there) {
  log_world w;
  for (const auto* path : {"checkpoint", "key", "tile/0/000", "tile/entries/000.p/1"})
    CAF_CHECK_EQUAL(shown(w.get(path)), "404 not_found");
}

CAF_TEST(the checkpoint is signed by the key that the log names) {
  log_world w;
  w.grow(300);
  const auto note = w.get("checkpoint");
  CAF_REQUIRE_EQUAL(note.status, 200u);
  const auto parsed = parse_checkpoint(note.body);
  CAF_REQUIRE(parsed.has_value());
  CAF_CHECK_EQUAL(parsed->content.size, 300u);
  CAF_CHECK(parsed->content.root == w.growth.root());
  auto key = w.get("key").body;
  CAF_REQUIRE(key.ends_with('\n'));
  key.pop_back();
  const auto verifier = parse_note_verifier(key);
  CAF_REQUIRE(verifier.has_value());
  CAF_CHECK_EQUAL(verifier->name, "127.0.0.1:8080" + w.event_path("/log"));
  CAF_CHECK(is_signed_by(*parsed, *verifier));
}

CAF_TEST(the checkpoints that witnesses cosigned are served also if the log has grown since) {
  log_world w;
  w.grow(3);
  CAF_CHECK_EQUAL(shown(w.get("checkpoint.cosigned")), "404 not_found");
  w.grow(1, "a note of 3\n");
  const auto notes = w.get("checkpoint.cosigned");
  CAF_REQUIRE_EQUAL(notes.status, 200u);
  CAF_CHECK_EQUAL(notes.body, "a note of 3\n");
  CAF_CHECK_EQUAL(field_of(notes, "Cache-Control"), "public, max-age=1");
  CAF_CHECK_EQUAL(parse_checkpoint(w.get("checkpoint").body)->content.size, 4u);
}

CAF_TEST(a tile is served whole and as far as an older checkpoint reached) {
  log_world w;
  w.grow(300);
  const auto whole = w.get("tile/0/000");
  CAF_REQUIRE_EQUAL(whole.status, 200u);
  CAF_CHECK_EQUAL(whole.body.size(), 256u * 32);
  CAF_CHECK_EQUAL(field_of(whole, "Cache-Control"), "public, max-age=31536000, immutable");
  CAF_CHECK_EQUAL(w.get("tile/0/001.p/44").body.size(), 44u * 32);
  CAF_CHECK_EQUAL(w.get("tile/0/001.p/7").body, w.get("tile/0/001.p/44").body.substr(0, 7 * 32));
  CAF_CHECK_EQUAL(w.get("tile/1/000.p/1").body.size(), 32u);
  const auto records = w.get("tile/entries/001.p/2");
  CAF_CHECK_EQUAL(records.body, std::string("\0\x0arecord 256\0\x0arecord 257", 24));
  w.grow(300);
  CAF_CHECK_EQUAL(w.get("tile/entries/001.p/2").body, records.body);
  CAF_CHECK_EQUAL(w.get("tile/0/001").body.size(), 256u * 32);
}

CAF_TEST(a lost log is not shown and its event is loaded so that another begins) {
  log_world w;
  w.grow(3, "a note of 3\n");
  w.lose();
  int loads = 0;
  for (const auto* path : {"checkpoint", "checkpoint.cosigned", "key", "tile/entries/000.p/3"}) {
    const auto answer = w.get(path);
    CAF_CHECK_EQUAL(shown(answer), "503 unavailable");
    CAF_CHECK_EQUAL(field_of(answer, "Retry-After"), "2");
    CAF_CHECK_EQUAL(w.told->polls, ++loads);
  }
}

CAF_TEST(what is not there or has another path is 404) {
  log_world w;
  w.grow(300);
  for (const auto* path : {"tile/0/001", "tile/0/001.p/45", "tile/0/002", "tile/9/000", "tile/entries/001",
                           "tile/0/1", "tile/0/000.p/256", "tile/0/000.p/0", "tile/x/000", "tile/0/x000/000"})
    CAF_CHECK_EQUAL(w.get(path).status, 404u);
  const auto other = "/queues/" + to_string(w.event_id) + "/log/checkpoint";
  CAF_CHECK_EQUAL(w.send(method::get, other).status, 404u);
  CAF_CHECK_EQUAL(w.send(method::get, "/events/" + to_string(uuid{1, 2}) + "/log/checkpoint").status, 404u);
}

} // namespace log_routes_test
