// SPDX-License-Identifier: Apache-2.0
// The installation as a witness: what it cosigns, what it refuses with which status, and what others see of
// it.
#define CAF_SUITE routes_witness
#include "caf/test/unit_test.hpp"

#include "actors/storage/ledger_worker.hpp"
#include "fair/note.hpp"
#include "fair/witness.hpp"
#include "net/service/limits.hpp"
#include "store/memory/memory_ledger.hpp"
#include "tests/net/api/world.hpp"

namespace witness_routes_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

const std::string place = "tickets.example/events/";
const std::string known_event = "01234567-89ab-cdef-fedc-ba9876543210/log";
const std::string other_event = "01234567-89ab-cdef-fedc-ba9876543211/log";

secret_key log_key_of(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key{bytes};
}

config::options options_of_a_witness() {
  auto o = world_options();
  o.http.public_url = "https://witness.example/tickets";
  o.witness.logs =
    note_verifier{place + known_event, note_key_kind::log, ed25519_public_key_of(log_key_of(1))}.text();
  return o;
}

/// A log in memory.
struct small_log {
  std::vector<std::string> entries;
  void append(std::string entry) { entries.push_back(std::move(entry)); }
  [[nodiscard]] std::uint64_t size() const { return entries.size(); }
  [[nodiscard]] tree_hash subtree(unsigned height, std::uint64_t index) const {
    return height == 0 ? leaf_hash(entries[index])
                       : node_hash(subtree(height - 1, 2 * index), subtree(height - 1, 2 * index + 1));
  }
  [[nodiscard]] subtree_reader reader() const {
    return [this](unsigned height, std::uint64_t index) { return subtree(height, index); };
  }
  [[nodiscard]] checkpoint head(const std::string& origin) const {
    return {origin, size(), root_of(size(), reader())};
  }
};

small_log log_of(std::uint64_t size) {
  small_log log;
  for (std::uint64_t i = 0; i < size; ++i) log.append("entry " + std::to_string(i));
  return log;
}

struct observer : world {
  memory_ledger store{{.now = [this] { return clock.wall_now(); }}};
  ledger_worker_handle worker =
    system.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&clock),
                 ledger_worker_settings{.prune_interval = std::chrono::hours{24}});
  observer() : world(options_of_a_witness()) { ctx.notices = worker; }
  ~observer() {
    ctx.notices = nullptr;
    end_ledger();
  }
  void end_ledger() {
    caf::scoped_actor self{system};
    self->send_exit(worker, caf::exit_reason::user_shutdown);
    self->wait_for(worker);
  }

  response add(const small_log& log, std::uint64_t old_size, const std::string& event = known_event,
               std::uint8_t signer = 1) {
    const auto proof = consistency_proof(std::min(old_size, log.size()), log.size(), log.reader());
    return send(
      method::post, "/witness/add-checkpoint",
      add_checkpoint_body(old_size, proof, sign_checkpoint(log.head(place + event), log_key_of(signer))));
  }
  note_verifier key() {
    const auto line = send(method::get, "/witness/key").body;
    return parse_note_verifier(line.substr(0, line.size() - 1)).value();
  }
  response shown_of(const std::string& event) {
    return send(method::get, "/witness/" + to_hex(sha256(place + event)) + "/checkpoint");
  }
};

} // namespace

CAF_TEST(a witness cosigns each checkpoint of a log that only grows) {
  observer w;
  CAF_CHECK_EQUAL(w.key().name, "witness.example/tickets/witness");
  CAF_CHECK_EQUAL(w.shown_of(known_event).status, 404u);
  std::uint64_t before = 0;
  for (const std::uint64_t size : {3, 8, 8, 20}) {
    const auto log = log_of(size);
    const auto answer = w.add(log, before);
    CAF_REQUIRE_EQUAL(answer.status, 200u);
    CAF_CHECK_EQUAL(answer.content_type, "text/plain; charset=utf-8");
    const auto note =
      parse_checkpoint(sign_checkpoint(log.head(place + known_event), log_key_of(1)) + answer.body);
    CAF_CHECK(note && is_signed_by(*note, w.key()));
    const auto kept = parse_checkpoint(w.shown_of(known_event).body);
    CAF_REQUIRE(kept);
    CAF_CHECK(kept->content == log.head(place + known_event));
    CAF_CHECK(is_signed_by(*kept, w.key()));
    before = size;
  }
}

CAF_TEST(a checkpoint that comes again is cosigned anew and not stored) {
  observer w;
  const auto log = log_of(8);
  const auto first = w.add(log, 0).body;
  const auto stored = w.shown_of(known_event).body;
  w.clock.now_ms += 5'000;
  const auto second = w.add(log, 8);
  CAF_CHECK_EQUAL(second.status, 200u);
  CAF_CHECK(second.body != first);
  CAF_CHECK_EQUAL(w.shown_of(known_event).body, stored);
}

CAF_TEST(a witness keeps one signature of a log however often the note has it) {
  observer w;
  const auto log = log_of(8);
  auto note = sign_checkpoint(log.head(place + known_event), log_key_of(1));
  const auto line = note.substr(note.find("\n\n") + 2);
  for (int n = 0; n < 50; ++n) note += line;
  CAF_REQUIRE_EQUAL(w.send(method::post, "/witness/add-checkpoint", add_checkpoint_body(0, {}, note)).status,
                    200u);
  const auto kept = parse_checkpoint(w.shown_of(known_event).body);
  CAF_REQUIRE(kept);
  CAF_CHECK_EQUAL(std::ranges::count(kept->signatures, '\n'), 2);
}

CAF_TEST(checkpoints have a limit of their own for each address) {
  observer w;
  const auto log = log_of(1);
  CAF_REQUIRE_EQUAL(w.add(log, 0).status, 200u);
  for (std::uint32_t n = 1; n < checkpoints_per_client; ++n) CAF_REQUIRE_EQUAL(w.add(log, 1).status, 200u);
  CAF_CHECK_EQUAL(w.add(log, 1).status, 429u);
}

CAF_TEST(a witness refuses with the status that the specification says) {
  observer w;
  CAF_CHECK_EQUAL(shown(w.send(method::post, "/witness/add-checkpoint", "old 0\n")), "400 bad_request");
  CAF_CHECK_EQUAL(shown(w.add(log_of(3), 0, "x/log")), "404 not_found");
  CAF_CHECK_EQUAL(shown(w.add(log_of(3), 0, known_event, 2)), "403 log_not_signed");
  CAF_CHECK_EQUAL(shown(w.add(log_of(3), 4)), "400 bad_request");
  CAF_REQUIRE_EQUAL(w.add(log_of(8), 0).status, 200u);
  for (const std::uint64_t old_size : {0, 3}) {
    const auto conflict = w.add(log_of(20), old_size);
    CAF_CHECK_EQUAL(conflict.status, 409u);
    CAF_CHECK_EQUAL(conflict.content_type, "text/x.tlog.size");
    CAF_CHECK_EQUAL(conflict.body, "8\n");
  }
  auto rewritten = log_of(7);
  rewritten.append("another");
  const auto other_root = w.add(rewritten, 8);
  CAF_CHECK(other_root.status == 409u && other_root.body == "8\n");
  rewritten.append("more");
  CAF_CHECK_EQUAL(shown(w.add(rewritten, 8)), "422 log_inconsistent");
  CAF_CHECK_EQUAL(w.add(log_of(9), 8).status, 200u);
  CAF_CHECK_EQUAL(shown(w.send(method::post, "/witness/add-checkpoint", "old 9223372036854775808\n")),
                  "400 bad_request");
}

CAF_TEST(the key of one log is good for all events of its installation and for no other name) {
  observer w;
  CAF_CHECK_EQUAL(w.add(log_of(3), 0, other_event).status, 200u);
  CAF_CHECK_EQUAL(w.add(log_of(3), 0, known_event).status, 200u); // each log has its own state
  for (const auto* name : {"0123/log", "01234567-89AB-CDEF-FEDC-BA9876543211/log",
                           "01234567-89ab-cdef-fedc-ba9876543211/log/log", "../log"})
    CAF_CHECK_EQUAL(w.add(log_of(3), 0, name).status, 404u);
}

CAF_TEST(a witness whose ledger is away gives no cosignature) {
  observer w;
  w.end_ledger();
  CAF_CHECK_EQUAL(w.add(log_of(3), 0).status, 503u);
}

CAF_TEST(one of two requests for the same place gets the cosignature) {
  observer w;
  const auto state = state_of(nullptr);
  witnessed_row other{.id = witnessed_id(place + known_event),
                      .origin = place + known_event,
                      .log_key = "ab",
                      .size = 5,
                      .root = to_hex(log_of(5).head("").root),
                      .note = {},
                      .at = {}};
  CAF_REQUIRE(w.store.store_witnessed(other, before(state)));
  CAF_CHECK_EQUAL(w.add(log_of(9), 0).body, "5\n");
  CAF_CHECK_EQUAL(w.add(log_of(9), 5).status, 200u);
}

} // namespace witness_routes_test
