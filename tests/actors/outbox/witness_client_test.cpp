// SPDX-License-Identifier: Apache-2.0
// Checkpoints on their way to witnesses in virtual time: each witness gets the newest one and its cosignature
// comes back; one that is away, behind, or lies delays no other.
#define CAF_SUITE witness_client
#include "actors/outbox/witness_client.hpp"
#include "fair/limits.hpp"
#include "fair/witness.hpp"
#include "tests/actors/base/fixture.hpp"

#include <set>

namespace witness_client_test {

using namespace fq;
using namespace fq::test;

constexpr auto origin = "tickets.example/events/01234567-89ab-cdef-fedc-ba9876543210/log";

secret_key seed_of(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key{bytes};
}

struct growing_log {
  std::vector<std::string> entries;
  [[nodiscard]] tree_hash subtree(unsigned height, std::uint64_t index) const {
    return height == 0 ? leaf_hash(entries[index])
                       : node_hash(subtree(height - 1, 2 * index), subtree(height - 1, 2 * index + 1));
  }
  [[nodiscard]] subtree_reader reader() const {
    return [this](unsigned height, std::uint64_t index) { return subtree(height, index); };
  }
};

/// A witness as the specification says, or one with another answer.
struct scripted_witness {
  explicit scripted_witness(std::uint8_t byte) : seed(seed_of(byte)), name("w" + std::to_string(byte)) {}

  secret_key seed;
  std::string name;
  witnessed latest;
  std::size_t asked = 0;
  std::optional<witness_reply> instead; ///< of the next answers
  bool is_silent = false;
  bool is_slow = false; ///< answers when the test says so
  bool is_cut_off = false; ///< it hears, and its answers are lost

  [[nodiscard]] note_verifier verifier() const {
    return {name, note_key_kind::witness, ed25519_public_key_of(seed)};
  }
  witness_reply answer(const std::string& body) {
    ++asked;
    if (instead) return *instead;
    const auto request = parse_add_checkpoint(body);
    const note_verifier log{origin, note_key_kind::log, ed25519_public_key_of(seed_of(1))};
    switch (request ? judge(*request, &log, latest) : witness_verdict::shrinks) {
      case witness_verdict::unknown_log: return {404, ""};
      case witness_verdict::not_signed: return {403, ""};
      case witness_verdict::shrinks: return {400, ""};
      case witness_verdict::other_size:
      case witness_verdict::other_root: return {409, std::to_string(latest.size) + "\n"};
      case witness_verdict::inconsistent: return {422, ""};
      case witness_verdict::cosign: break;
    }
    latest = {request->note.content.size, request->note.content.root};
    return {200, cosign(request->note.text, name, seed, from_unix_ms(1'800'000'000'000))};
  }
};

struct scripted_port final : witness_port {
  std::deque<scripted_witness> witnesses;
  std::vector<std::function<void()>> held; ///< answers of silent and slow witnesses
  void add_checkpoint(std::size_t witness, std::string body,
                      std::function<void(witness_reply)> done) override {
    auto& w = witnesses[witness];
    if (w.is_cut_off) {
      w.answer(body);
      return done({});
    }
    if (w.is_slow) return held.push_back([&w, body, done] { done(w.answer(body)); });
    if (!w.is_silent) return done(w.answer(body));
    ++w.asked;
    held.push_back([done] { done({}); });
  }
};

struct client_fixture : fixture {
  scripted_port port;
  witness_client_services services;
  std::vector<std::string> warnings;
  growing_log log;
  std::map<std::string, std::vector<std::uint64_t>> cosigned; ///< by witness: sizes
  std::set<std::string> sent; ///< notes
  bool has_proofs = true;
  std::string first; ///< what each witness gets before a newer checkpoint
  std::optional<std::string> kept; ///< what the log has of the witnesses, after its load
  cosigned_log_handle log_actor;
  witness_client_handle client;

  client_fixture() {
    for (const std::uint8_t byte : {2, 3}) port.witnesses.emplace_back(byte);
    log_actor = keep(sys.spawn([this](cosigned_log_handle::pointer) -> cosigned_log_handle::behavior_type {
      return {[this](const prove_growth& x) {
                if (!has_proofs) return growth_proof{reason::unavailable, {}};
                return growth_proof{{}, consistency_proof(x.old_size, x.size, log.reader())};
              },
              [this](const checkpoint_cosigned& x) {
                cosigned[x.witness].push_back(x.size);
                CAF_CHECK(sent.contains(x.note)
                          && parse_checkpoint(x.note + x.lines)->content.size == x.size);
              }};
    }));
  }
  ~client_fixture() {
    log_actor = nullptr;
    client = nullptr;
  }
  void start() {
    services.env = &env;
    services.port = &port;
    services.warn = [this](const std::string& what) { warnings.push_back(what); };
    for (const auto& w : port.witnesses) services.witnesses.push_back(w.verifier());
    client = keep(sys.spawn(witness_client, static_cast<const witness_client_services*>(&services)));
    run();
  }
  std::string note_of(std::uint64_t size) {
    return *sent.insert(sign_checkpoint({origin, size, root_of(size, log.reader())}, seed_of(1))).first;
  }
  void grow(std::uint64_t size, const std::string& kind = "entry ") {
    while (log.entries.size() < size) log.entries.push_back(kind + std::to_string(log.entries.size()));
    caf::anon_send(client, checkpoint_signed{first_event_aggregate, note_of(size), log_actor, first, kept});
    run();
  }
};

using sizes = std::vector<std::uint64_t>;

CAF_TEST_FIXTURE_SCOPE(witness_client_tests, client_fixture)

CAF_TEST(each checkpoint is cosigned by every witness) {
  start();
  for (const std::uint64_t size : {3, 4, 11}) grow(size);
  for (const auto& w : port.witnesses) {
    CAF_CHECK(cosigned[w.name] == sizes({3, 4, 11}));
    CAF_CHECK_EQUAL(w.asked, 3u);
  }
  CAF_CHECK(warnings.empty());
}

CAF_TEST(a witness that knows the log already says how far it is) {
  for (int i = 0; i < 5; ++i) log.entries.push_back("entry " + std::to_string(i));
  port.witnesses[0].latest = {5, root_of(5, log.reader())};
  start();
  grow(9);
  CAF_CHECK(cosigned["w2"] == sizes{9});
  CAF_CHECK_EQUAL(port.witnesses[0].asked, 2u); // the first answer was 409
  CAF_CHECK(cosigned["w3"] == sizes{9});
}

CAF_TEST(a witness that is away delays no other and gets the newest checkpoint later) {
  port.witnesses[0].is_silent = true;
  start();
  for (const std::uint64_t size : {3, 4, 11}) grow(size);
  CAF_CHECK(cosigned["w3"] == sizes({3, 4, 11}));
  CAF_CHECK_EQUAL(port.witnesses[0].asked, 1u); // one at a time
  std::size_t answered = 0;
  for (int second = 0; second < 60; ++second) {
    for (; answered < port.held.size(); ++answered) port.held[answered]();
    advance(1s);
  }
  CAF_CHECK(port.witnesses[0].asked > 3 && port.witnesses[0].asked < 10); // the pauses double
  port.witnesses[0].is_silent = false;
  advance(witness_pause_max);
  CAF_CHECK(cosigned["w2"] == sizes{11});
}

CAF_TEST(a cosignature comes with its checkpoint also if the log has grown since) {
  port.witnesses[0].is_slow = true;
  start();
  for (const std::uint64_t size : {3, 4, 11}) grow(size);
  port.witnesses[0].is_slow = false;
  port.held.front()();
  run();
  CAF_CHECK(cosigned["w2"] == sizes({3, 11}));
}

CAF_TEST(a slow witness cosigns the first checkpoint over a closing before newer ones) {
  port.witnesses[0].is_slow = true;
  start();
  for (const std::uint64_t size : {3, 5, 8}) {
    if (size == 5) {
      log.entries.resize(5, "entry");
      first = note_of(5);
    }
    grow(size);
  }
  CAF_CHECK(cosigned["w3"] == sizes({3, 5, 8}));
  port.witnesses[0].is_slow = false;
  port.held.front()();
  run();
  CAF_CHECK(cosigned["w2"] == sizes({3, 5, 8}));
  first.clear();
  grow(11);
  for (const auto& w : port.witnesses) CAF_CHECK_EQUAL(cosigned[w.name].back(), 11u);
}

CAF_TEST(after a restart a witness cosigns the closing again or is beyond it) {
  for (int i = 0; i < 9; ++i) log.entries.push_back("entry " + std::to_string(i));
  port.witnesses[0].latest = {5, root_of(5, log.reader())};
  port.witnesses[1].latest = {6, root_of(6, log.reader())};
  start();
  first = note_of(5);
  grow(9);
  CAF_CHECK(cosigned["w2"] == sizes({5, 9}));
  CAF_CHECK(cosigned["w3"] == sizes{9});
  CAF_CHECK_EQUAL(port.witnesses[1].asked, 2u); // the first answer was 409
  CAF_CHECK(warnings.empty());
}

CAF_TEST(what the log has of a witness after its load is not asked for again) {
  for (int i = 0; i < 9; ++i) log.entries.push_back("entry " + std::to_string(i));
  const auto cosigned_by = [this](scripted_witness& w, std::uint64_t size) {
    w.latest = {size, root_of(size, log.reader())};
    const auto note = note_of(size);
    return note + cosign(parse_checkpoint(note)->text, w.name, w.seed, env.wall_now());
  };
  kept = cosigned_by(port.witnesses[0], 9) + "\n" + cosigned_by(port.witnesses[1], 5);
  start();
  first = note_of(5);
  grow(9);
  CAF_CHECK_EQUAL(port.witnesses[0].asked, 0u);
  CAF_CHECK(cosigned["w3"] == sizes{9});
  CAF_CHECK_EQUAL(port.witnesses[1].asked, 1u);
  kept.reset();
  grow(10);
  CAF_CHECK(cosigned["w2"] == sizes{10});
  CAF_CHECK(cosigned["w3"] == sizes({9, 10}));
}

CAF_TEST(a cosignature that the log has not after its load is asked for again) {
  start();
  grow(9);
  kept = ""; // the log did not hear it
  grow(9);
  CAF_CHECK(cosigned["w2"] == sizes({9, 9}));
  CAF_CHECK(warnings.empty());
}

CAF_TEST(a cosignature that is lost on its way is asked for again) {
  start();
  grow(3);
  port.witnesses[0].is_cut_off = true;
  grow(5);
  port.witnesses[0].is_cut_off = false;
  advance(witness_pause);
  CAF_CHECK(cosigned["w2"] == sizes({3, 5}));
  CAF_CHECK_EQUAL(port.witnesses[0].asked, 4u); // the third answer was 409
}

CAF_TEST(a witness with another log causes one warning and is not asked again at once) {
  port.witnesses[0].latest = {3, leaf_hash("another")};
  port.witnesses[1].latest = {100, leaf_hash("longer")};
  start();
  grow(7);
  CAF_REQUIRE_EQUAL(warnings.size(), 2u);
  CAF_CHECK(warnings[0].find("has cosigned a longer log") != std::string::npos);
  CAF_CHECK(warnings[1].find("has cosigned another log") != std::string::npos);
  grow(8);
  CAF_CHECK_EQUAL(port.witnesses[0].asked, 2u);
  CAF_CHECK_EQUAL(port.witnesses[1].asked, 1u);
  CAF_CHECK(cosigned.empty());
}

CAF_TEST(an answer without a valid cosignature counts as none) {
  const checkpoint other{origin, 3, leaf_hash("x")};
  for (const auto& body : {std::string{}, std::string{"\u2014 w2 AAAA\n"},
                           cosign(text_of(other), "w2", seed_of(2), env.wall_now())}) {
    port.witnesses[0].instead = witness_reply{200, body};
    if (!client) start();
    grow(log.entries.size() + 3);
    advance(witness_pause_max);
  }
  CAF_CHECK(cosigned["w2"].empty());
  CAF_CHECK_EQUAL(cosigned["w3"].size(), 3u);
  port.witnesses[0].instead = witness_reply{409, "many\n"};
  advance(witness_pause_max);
  port.witnesses[0].instead.reset();
  advance(witness_pause_max);
  CAF_CHECK(cosigned["w2"] == sizes{9});
}

CAF_TEST(without a proof the request is made later) {
  start();
  grow(3);
  has_proofs = false;
  grow(6);
  CAF_CHECK(cosigned["w2"] == sizes{3});
  has_proofs = true;
  advance(2 * witness_pause);
  CAF_CHECK(cosigned["w2"] == sizes({3, 6}));
}

CAF_TEST(a log whose owner has ended is not sent again) {
  port.witnesses[0].is_silent = true;
  start();
  grow(3);
  port.witnesses[0].is_silent = false;
  port.witnesses[0].latest = {9, leaf_hash("of the next owner, at another node")};
  kill(log_actor);
  port.held.front()();
  run();
  advance(witness_pause);
  CAF_CHECK_EQUAL(port.witnesses[0].asked, 1u);
  CAF_CHECK(warnings.empty()); // else it would seem to have gone back
}

CAF_TEST(a log that begins anew is new to its witnesses) {
  start();
  grow(9);
  for (auto& w : port.witnesses) w.latest = {};
  log.entries.clear();
  grow(2, "other ");
  CAF_CHECK(cosigned["w2"] == sizes({9, 2}));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace witness_client_test
