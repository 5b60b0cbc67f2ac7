// SPDX-License-Identifier: Apache-2.0
// Trees, tiles, notes, records and the draw: against published vectors, against the definitions, and against
// tests/vectors/fairness.json, which the checker in JavaScript reads too.
#define CAF_SUITE fair
#include "caf/test/unit_test.hpp"

#include "fair/closing.hpp"
#include "fair/cosigning.hpp"
#include "fair/last_cosigned.hpp"
#include "fair/limits.hpp"
#include "fair/witness.hpp"
#include "tests/fair/sample_log.hpp"

#include <fstream>
#include <sstream>

using namespace fq;

namespace {

tree_hash hash_of(std::string_view hex) {
  const auto bytes = from_hex(hex).value();
  tree_hash hash;
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

/// The leaves and roots of the vectors of Certificate Transparency's reference implementation.
const std::vector<std::string> known_leaves{
  "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"};
const std::vector<std::string> known_roots{
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

sample_log log_of(std::uint64_t size) {
  sample_log log;
  for (std::uint64_t i = 0; i < size; ++i) log.append("record " + std::to_string(i));
  return log;
}

secret_key key_of(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key{bytes};
}

} // namespace

CAF_TEST(roots are those of the published vectors) {
  tree_edge edge;
  CAF_CHECK_EQUAL(to_hex(edge.root()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (std::size_t i = 0; i < known_leaves.size(); ++i) {
    const auto bytes = from_hex(known_leaves[i]).value();
    edge.append(leaf_hash(std::string{bytes.begin(), bytes.end()}));
    CAF_CHECK_EQUAL(to_hex(edge.root()), known_roots[i]);
  }
}

CAF_TEST(every inclusion proof holds for its place and no other) {
  const auto log = log_of(33);
  const auto read = log.reader();
  for (std::uint64_t size = 1; size <= log.size(); ++size)
    for (std::uint64_t at = 0; at < size; ++at) {
      const auto leaf = leaf_hash(log.records()[at]);
      auto proof = inclusion_proof(at, size, read);
      CAF_CHECK(is_included(leaf, at, size, root_of(size, read), proof));
      CAF_CHECK(!is_included(leaf, at + 1, size, root_of(size, read), proof));
      CAF_CHECK(size == 1 || !is_included(leaf, at, size, root_of(size - 1, read), proof));
      proof.push_back(leaf);
      CAF_CHECK(!is_included(leaf, at, size, root_of(size, read), proof));
    }
}

CAF_TEST(every consistency proof holds and none leads to another log) {
  const auto log = log_of(33);
  const auto read = log.reader();
  for (std::uint64_t size = 1; size <= log.size(); ++size)
    for (std::uint64_t old_size = 0; old_size <= size; ++old_size) {
      const auto old_root = root_of(old_size, read), root = root_of(size, read);
      auto proof = consistency_proof(old_size, size, read);
      CAF_CHECK(is_consistent(old_size, old_root, size, root, proof));
      CAF_CHECK(!is_consistent(old_size, leaf_hash("other"), size, root, proof));
      CAF_CHECK(old_size == 0 || !is_consistent(old_size, old_root, size, leaf_hash("other"), proof));
      if (proof.empty()) continue;
      proof.back()[0] ^= 1;
      CAF_CHECK(!is_consistent(old_size, old_root, size, root, proof));
      proof.pop_back();
      CAF_CHECK(!is_consistent(old_size, old_root, size, root, proof));
    }
}

CAF_TEST(paths of tiles are those of the specification) {
  CAF_CHECK_EQUAL(path_of({0, 1234067, 256}), "tile/0/x001/x234/067");
  CAF_CHECK_EQUAL(path_of({2, 0, 1}), "tile/2/000.p/1");
  CAF_CHECK_EQUAL(path_of({1, 1000, 256}), "tile/1/x001/000");
  CAF_CHECK_EQUAL(bundle_path_of({0, 273, 112}), "tile/entries/273.p/112");
  for (const tile& t : {tile{0, 0, 256}, tile{63, 999, 1}, tile{1, 1000, 255}, tile{0, 1'234'067, 256}})
    CAF_CHECK(parse_tile_path(path_of(t))->what == t);
  CAF_CHECK(parse_tile_path("tile/entries/x001/234.p/7")->is_bundle);
  for (const auto* path :
       {"", "tile", "tile/0", "tile/0/", "tile/0/1", "tile/00/001", "tile/64/000", "tile/-1/000",
        "tile/0/x000/001", "tile/0/001/002", "tile/0/x001", "tile/0/001.p/0", "tile/0/001.p/256",
        "tile/0/001.p/01", "tile/0/../000", "tile/entries/", "tile/entries/001.p/",
        "tile/0/x999/x999/x999/x999/x999/x999/x999/999"})
    CAF_CHECK(!parse_tile_path(path));
}

CAF_TEST(a tree of 70000 has the tiles that the specification lists) {
  const auto tiles = new_tiles(0, 70'000);
  CAF_CHECK_EQUAL(tiles.size(), 273u + 1 + 1 + 1 + 1);
  CAF_CHECK(tiles[273] == (tile{0, 273, 112}));
  CAF_CHECK(tiles[275] == (tile{1, 1, 17}));
  CAF_CHECK(tiles[276] == (tile{2, 0, 1}));
  CAF_CHECK(new_tiles(70'000, 70'000).empty());
  CAF_CHECK_EQUAL(new_tiles(255, 256).size(), 2u);
}

CAF_TEST(proofs from tiles are those from the whole tree) {
  const auto log = log_of(70'000);
  std::map<std::string, std::string> files;
  for (const auto& t : new_tiles(0, log.size())) files[path_of(t)] = content_of(t, log.reader());
  const auto read = subtrees_of(log.size(), [&](const tile& t) { return files.at(path_of(t)); });
  CAF_CHECK(root_of(log.size(), read) == root_of(log.size(), log.reader()));
  for (const std::uint64_t at : {0u, 255u, 256u, 65'535u, 65'536u, 69'999u})
    CAF_CHECK(inclusion_proof(at, log.size(), read) == inclusion_proof(at, log.size(), log.reader()));
  for (const std::uint64_t old_size : {1u, 256u, 65'536u, 69'999u})
    CAF_CHECK(consistency_proof(old_size, log.size(), read)
              == consistency_proof(old_size, log.size(), log.reader()));
}

CAF_TEST(the example of the specification of signed notes has its key) {
  const std::string text = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
  const auto verifier = parse_note_verifier(text);
  CAF_REQUIRE(verifier);
  CAF_CHECK_EQUAL(verifier->text(), text);
  for (const auto* other :
       {"", "a+b+c", "example.com/foo+530d903b+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/fo o+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"})
    CAF_CHECK(!parse_note_verifier(other));
}

CAF_TEST(a checkpoint is read back and its signatures belong to its text and key) {
  const checkpoint c{"tickets.example/log", 7, hash_of(known_roots[6])};
  const note_verifier log{c.origin, note_key_kind::log, ed25519_public_key_of(key_of(1))};
  const note_verifier witness{"witness.example", note_key_kind::witness, ed25519_public_key_of(key_of(2))};
  const auto signed_note = sign_checkpoint(c, key_of(1));
  const auto note =
    parse_checkpoint(signed_note + cosign(text_of(c), witness.name, key_of(2), from_unix_ms(9'999)));
  CAF_REQUIRE(note);
  CAF_CHECK(note->content == c);
  CAF_CHECK(is_signed_by(*note, log));
  CAF_CHECK(is_signed_by(*note, witness));
  CAF_CHECK_EQUAL(signature_of(*note, log) + signature_of(*note, witness), note->signatures);
  CAF_CHECK(!is_signed_by(*parse_checkpoint(signed_note), witness));
  auto grown = c;
  grown.size = 8;
  const auto false_note = parse_checkpoint(text_of(grown) + "\n" + note->signatures);
  CAF_CHECK(!is_signed_by(*false_note, log));
  CAF_CHECK(!is_signed_by(*false_note, witness));
  auto other = log;
  other.key = witness.key;
  CAF_CHECK(!is_signed_by(*note, other));
}

CAF_TEST(of many signatures of one key the first counts) {
  const checkpoint c{"tickets.example/log", 7, hash_of(known_roots[6])};
  const note_verifier log{c.origin, note_key_kind::log, ed25519_public_key_of(key_of(1))};
  auto note = *parse_checkpoint(sign_checkpoint(c, key_of(1)));
  const auto line = note.signatures, of_another = parse_checkpoint(sign_checkpoint(c, key_of(2)))->signatures;
  for (int n = 0; n < 100; ++n) note.signatures += line;
  CAF_CHECK_EQUAL(signature_of(note, log), line);
  note.signatures = of_another + line; // a key of the same name
  CAF_CHECK_EQUAL(signature_of(note, log), line);
  auto grown = c;
  grown.size = 8;
  note = *parse_checkpoint(sign_checkpoint(grown, key_of(1)));
  note.signatures = line + note.signatures;
  CAF_CHECK(!is_signed_by(note, log));
}

CAF_TEST(of a witness that answers with many cosignatures one is taken) {
  const checkpoint c{"tickets.example/log", 7, hash_of(known_roots[6])};
  const note_verifier witness{"witness.example", note_key_kind::witness, ed25519_public_key_of(key_of(2))};
  const auto note = *parse_checkpoint(sign_checkpoint(c, key_of(1)));
  const auto first = cosign(text_of(c), witness.name, key_of(2), from_unix_ms(1'000));
  auto body = first;
  for (int n = 2; n < 100; ++n) body += cosign(text_of(c), witness.name, key_of(2), from_unix_ms(1'000 * n));
  cosigning progress;
  std::string line;
  CAF_CHECK(progress.take({200, body}, note, note.content.size, witness, milliseconds{0}, line)
            == cosigning_event::cosigned);
  CAF_CHECK_EQUAL(line, first);
}

CAF_TEST(texts that are no canonical checkpoint are refused) {
  const auto good = sign_checkpoint({"origin", 7, hash_of(known_roots[6])}, key_of(1));
  CAF_CHECK(parse_checkpoint(good));
  const auto replaced = [&](std::string_view what, std::string_view by) {
    auto text = good;
    return text.replace(text.find(what), what.size(), by);
  };
  for (const auto& text :
       {std::string{}, std::string{"origin\n7\n"}, replaced("\n7\n", "\n07\n"), replaced("\n7\n", "\n-7\n"),
        replaced("\n7\n", "\n99999999999999999999\n"), replaced("\n7\n", "\n9223372036854775808\n"),
        replaced("origin\n", "\n"), replaced("origin\n", "ori gin\n"), replaced("=\n\n", "=\nextension\n\n"),
        replaced("=\n\n", "\n\n"), good.substr(0, good.find("\n\n") + 2)})
    CAF_CHECK(!parse_checkpoint(text));
}

CAF_TEST(a request to a witness is read back) {
  const auto log = log_of(20);
  const auto note = sign_checkpoint(log.head("origin"), key_of(1));
  const auto proof = consistency_proof(13, 20, log.reader());
  const auto body = add_checkpoint_body(13, proof, note);
  const auto request = parse_add_checkpoint(body);
  CAF_REQUIRE(request);
  CAF_CHECK_EQUAL(request->old_size, 13u);
  CAF_CHECK(request->proof == proof);
  CAF_CHECK(request->note.content == log.head("origin"));
  CAF_CHECK(!parse_add_checkpoint(body.substr(0, 40)));
  CAF_CHECK(!parse_add_checkpoint("old 013\n" + body.substr(7)));
  CAF_CHECK(!parse_add_checkpoint(add_checkpoint_body(13, tree_proof(64), note)));
  CAF_CHECK(parse_add_checkpoint(add_checkpoint_body(13, tree_proof(63), note)));
  tree_hash ones;
  ones.fill(0xff);
  auto text = add_checkpoint_body(13, tree_proof{ones}, note);
  CAF_CHECK(parse_add_checkpoint(text));
  text.replace(text.find('/'), 1, "\xff"); // the same digit for libsodium
  CAF_CHECK(!parse_add_checkpoint(text));
}

CAF_TEST(a witness cosigns a log that grows and refuses a second one) {
  const auto log = log_of(20);
  sample_log other = log_of(12);
  for (std::uint64_t i = 12; i < 20; ++i) other.append("other " + std::to_string(i));
  const note_verifier key{"origin", note_key_kind::log, ed25519_public_key_of(key_of(1))};
  const auto verdict = [&](const sample_log& shown, std::uint64_t old_size, const witnessed& latest,
                           const note_verifier* known, std::uint8_t signer = 1) {
    const auto note = sign_checkpoint(shown.head("origin"), key_of(signer));
    const auto proof = consistency_proof(std::min(old_size, shown.size()), shown.size(), shown.reader());
    return judge(parse_add_checkpoint(add_checkpoint_body(old_size, proof, note)).value(), known, latest);
  };
  const witnessed first, twelve{12, root_of(12, log.reader())}, thirteen{13, root_of(13, log.reader())},
    twenty{20, root_of(20, log.reader())};
  CAF_CHECK(verdict(log, 0, first, &key) == witness_verdict::cosign);
  CAF_CHECK(verdict(log, 13, thirteen, &key) == witness_verdict::cosign);
  CAF_CHECK(verdict(log, 20, twenty, &key) == witness_verdict::cosign);
  CAF_CHECK(verdict(other, 12, twelve, &key) == witness_verdict::cosign);
  CAF_CHECK(verdict(other, 13, thirteen, &key) == witness_verdict::inconsistent);
  CAF_CHECK(verdict(other, 20, twenty, &key) == witness_verdict::other_root); // the specification's 409
  CAF_CHECK(verdict(log, 12, thirteen, &key) == witness_verdict::other_size);
  CAF_CHECK(verdict(log, 21, thirteen, &key) == witness_verdict::shrinks);
  CAF_CHECK(verdict(log, 13, thirteen, &key, 3) == witness_verdict::not_signed);
  CAF_CHECK(verdict(log, 13, thirteen, nullptr) == witness_verdict::unknown_log);
}

CAF_TEST(a witness knows the logs of an installation by the key of one) {
  const std::string place = "tickets.example/a/events/", id = "01234567-89ab-cdef-fedc-ba987654321";
  const note_verifier one{place + id + "0/log", note_key_kind::log, ed25519_public_key_of(key_of(1))},
    other{"other.example/log", note_key_kind::log, ed25519_public_key_of(key_of(2))};
  const watched_logs logs{std::vector{one.text(), other.text()}};
  CAF_CHECK(logs.find(one.name) == one);
  CAF_CHECK(logs.find(other.name) == other);
  for (const auto& name : {place + id + "1/log", place + id + "1/log/2", place + id + "1/log/10",
                           place + id + "1/log/29921040", "tickets.example/a/queues/" + id + "1/log"})
    CAF_CHECK(logs.find(name) && logs.find(name)->key == one.key && logs.find(name)->name == name);
  for (const auto& name :
       {"b.example/a/events/" + id + "1/log", place + id + "1/log/1", place + id + "1/log/02",
        place + "x/log", place + id + "1/logs", place + id + "G/log", "/events/" + id + "1/log",
        std::string{"other.example/log2"}, std::string{}})
    CAF_CHECK(!logs.find(name));
  const note_verifier witness{"w", note_key_kind::witness, one.key};
  const auto refuses = [](const std::string& key) {
    try {
      const watched_logs none{std::vector{key}};
    } catch (const std::invalid_argument&) { return true; }
    return false;
  };
  CAF_CHECK(refuses("no key"));
  CAF_CHECK(refuses(witness.text()));
}

CAF_TEST(of each witness the newest checkpoint that it cosigned is kept) {
  const auto note = [](std::uint64_t size, const std::string& origin = "x/log") {
    return text_of({origin, size, {}}) + "\n\u2014 " + origin + " AAAA\n";
  };
  const auto line = [](const std::string& witness, const std::string& what = "AAAA") {
    return "\u2014 " + witness + " " + what + "\n";
  };
  constexpr std::size_t enough = 10'000;
  const auto keep = [&](const std::string& kept, std::uint64_t size, const std::string& witness) {
    return keep_cosigned(kept, {note(size), witness, line(witness)}, enough);
  };
  auto kept = keep("", 3, "a");
  CAF_CHECK_EQUAL(kept, note(3) + line("a"));
  kept = keep(kept, 3, "ab"); // a name that begins with the other's
  CAF_CHECK_EQUAL(kept, note(3) + line("a") + line("ab"));
  kept = keep(kept, 5, "a");
  CAF_CHECK_EQUAL(kept, note(5) + line("a") + "\n" + note(3) + line("ab"));
  const auto both = kept;
  CAF_CHECK_EQUAL(keep(kept, 5, "a"), kept);
  kept = keep(kept, 5, "ab"); // no one needs the note of 3 any more
  CAF_CHECK_EQUAL(kept, note(5) + line("a") + line("ab"));
  kept = keep(kept, 6, "c");
  CAF_CHECK_EQUAL(kept, note(6) + line("c") + "\n" + note(5) + line("a") + line("ab"));
  CAF_CHECK_EQUAL(keep_cosigned(kept, {note(2, "y/log"), "a", line("a")}, enough),
                  note(2, "y/log") + line("a")); // the log began anew
  CAF_CHECK_EQUAL(keep_cosigned(kept, {"no note", "a", line("a")}, enough), kept);

  const auto whole = note(7) + line("d") + "\n" + kept;
  CAF_CHECK_EQUAL(keep_cosigned(kept, {note(7), "d", line("d")}, whole.size()), whole);
  CAF_CHECK_EQUAL(keep_cosigned(kept, {note(7), "d", line("d")}, whole.size() - 1),
                  note(7) + line("d") + "\n" + note(6) + line("c")); // the first that came goes
  CAF_CHECK_EQUAL(keep_cosigned(both, {note(5), "z", line("z", std::string(enough, 'A'))}, enough), both);
}

/// A lobby whose closing is record 6 of the log.
struct closed_lobby {
  std::string closed = closed_bytes({1, {}}, 3, {}), other = "other";
  closing_proof proof;
  static std::string note(std::uint64_t size) {
    return text_of({"x/log", size, {}}) + "\n\u2014 x/log AAAA\n";
  }
  static std::string line(const std::string& witness) { return "\u2014 " + witness + " BBBB\n"; }
  static std::string draw(const std::string& closing = {}) {
    drawn_record record;
    record.closing = closing;
    return drawn_bytes({2, {}}, record);
  }
  /// A turn takes the closing.
  void close() {
    CAF_CHECK_EQUAL(proof.complete(closed), closed);
    CAF_CHECK(proof.is_due());
    proof.begin(note(8));
  }
  /// Another owner goes on with what is stored.
  void load() { proof = closing_proof{proof.note()}; }
};

CAF_TEST(the record of a draw has the first checkpoint over the closing that witnesses cosigned) {
  closed_lobby lobby;
  auto& proof = lobby.proof;
  const auto note = [](std::uint64_t size) { return closed_lobby::note(size); };
  const auto a = lobby.line("a"), b = lobby.line("b");
  CAF_CHECK_EQUAL(proof.complete(lobby.other), lobby.other);
  CAF_CHECK(!proof.cosigned(note(6), a) && proof.note().empty()); // before the closing
  lobby.close();
  CAF_CHECK(!proof.is_due());
  CAF_CHECK(!proof.cosigned(note(6), a));
  CAF_CHECK(proof.cosigned(note(8), a));
  CAF_CHECK(!proof.cosigned(note(9), b)); // a later one
  lobby.load();
  CAF_CHECK(!proof.cosigned(note(9), b));
  CAF_CHECK(proof.cosigned(note(8), b));
  CAF_CHECK(!proof.cosigned(note(8), b));
  CAF_CHECK(!proof.cosigned(note(8), std::string(record_text_max, 'x'))); // the others still prove it
  CAF_CHECK_EQUAL(proof.note(), note(8) + a + b);
  lobby.load();
  CAF_CHECK_EQUAL(proof.complete(lobby.other), lobby.other);
  CAF_CHECK_EQUAL(proof.complete(lobby.draw()), lobby.draw(note(8) + a + b));
  CAF_CHECK(proof.note().empty());
  CAF_CHECK_EQUAL(proof.complete(lobby.draw()), lobby.draw());
  CAF_CHECK(!proof.cosigned(note(9), a) && !proof.is_due());
}

CAF_TEST(a draw without a cosigned checkpoint over its closing has none) {
  closed_lobby lobby;
  lobby.close();
  CAF_CHECK_EQUAL(lobby.proof.complete(lobby.draw()), lobby.draw());
  lobby.proof = closing_proof{lobby.note(5) + lobby.line("a")}; // from before the closing
  lobby.close();
  CAF_CHECK_EQUAL(lobby.proof.complete(lobby.draw()), lobby.draw());
  CAF_CHECK_EQUAL(lobby.proof.complete(lobby.closed), lobby.closed); // both in one turn
  CAF_CHECK_EQUAL(lobby.proof.complete(lobby.draw()), lobby.draw());
  CAF_CHECK(!lobby.proof.is_due());
}

CAF_TEST(all witnesses get the same checkpoint over the closing first) {
  closed_lobby lobby;
  auto& proof = lobby.proof;
  CAF_CHECK_EQUAL(proof.first(), "");
  lobby.close();
  CAF_CHECK_EQUAL(proof.first(), lobby.note(8));
  lobby.load();
  CAF_CHECK_EQUAL(proof.first(), lobby.note(8));
  CAF_CHECK(proof.cosigned(lobby.note(11), lobby.line("a"))); // is beyond it, so that the others get this one
  CAF_CHECK_EQUAL(proof.first(), lobby.note(11));
  CAF_CHECK(!proof.cosigned(lobby.note(8), lobby.line("b")));
  CAF_CHECK(proof.cosigned(lobby.note(11), lobby.line("b")));
  lobby.load();
  CAF_CHECK_EQUAL(proof.first(), lobby.note(11));
  CAF_CHECK_EQUAL(proof.complete(lobby.draw()),
                  lobby.draw(lobby.note(11) + lobby.line("a") + lobby.line("b")));
  CAF_CHECK_EQUAL(proof.first(), "");
}

CAF_TEST(a witness may be behind the checkpoint that was sent or beyond it and the log is not back) {
  const note_verifier witness{"w", note_key_kind::witness, {}};
  const auto sent = parse_checkpoint(text_of({"x/log", 5, {}}) + "\n\u2014 x/log AAAA\n");
  CAF_REQUIRE(sent.has_value());
  const auto told = [&](const std::string& size) {
    cosigning progress;
    std::string line;
    return progress.take({409, size + "\n"}, *sent, 8, witness, milliseconds{0}, line);
  };
  CAF_CHECK(told("3") == cosigning_event::other_size);
  CAF_CHECK(told("7") == cosigning_event::other_size); // the log has grown since
  CAF_CHECK(told("9") == cosigning_event::ahead);
}

CAF_TEST(a witness that refuses the size that it has cosigned has seen another log) {
  const note_verifier witness{"w", note_key_kind::witness, {}};
  const auto sent = parse_checkpoint(text_of({"x/log", 5, {}}) + "\n\u2014 x/log AAAA\n");
  CAF_REQUIRE(sent.has_value());
  const auto told = [&](const std::string& body, std::uint64_t old_size) {
    cosigning progress;
    progress.resume(old_size);
    progress.begin();
    progress.resume(5); // what a load says meanwhile was not asked
    std::string line;
    return progress.take({409, body}, *sent, 8, witness, milliseconds{0}, line);
  };
  CAF_CHECK(told("5\n", 5) == cosigning_event::inconsistent);
  CAF_CHECK(told("", 5) == cosigning_event::inconsistent);
  CAF_CHECK(told("3\n", 5) == cosigning_event::other_size); // it has lost the newest
  CAF_CHECK(told("5\n", 4) == cosigning_event::failed);
  CAF_CHECK(told("", 4) == cosigning_event::failed);
}

CAF_TEST(the sample log and its proofs are those of the vectors) {
  std::stringstream file;
  file << std::ifstream{FAIRNESS_VECTORS}.rdbuf();
  // After a wanted change: write_sample vectors > tests/vectors/fairness.json, and say so in CHANGELOG.md.
  CAF_CHECK(file.str() == vectors());
}

CAF_TEST(an order depends on seed and root and beacon and not on the order of entrants) {
  std::vector<entrant> entrants;
  for (std::uint64_t n = 1; n <= 50; ++n) entrants.push_back({queue_number{n}, {}});
  const auto seed = sha256("seed"), root = sha256("root");
  const auto order = draw_order(seed, root, "beacon", entrants);
  CAF_CHECK(order != draw_order(sha256("other"), root, "beacon", entrants));
  CAF_CHECK(order != draw_order(seed, sha256("other"), "beacon", entrants));
  CAF_CHECK(order != draw_order(seed, root, "other", entrants));
  std::ranges::reverse(entrants);
  CAF_CHECK(order == draw_order(seed, root, "beacon", entrants));
  auto sorted = order;
  std::ranges::sort(sorted);
  CAF_CHECK_EQUAL(value_of(sorted.front()), 1u);
  CAF_CHECK(std::ranges::adjacent_find(sorted) == sorted.end());
}

CAF_TEST(a bundle gives its entries until one is cut off) {
  std::string bundle;
  for (const auto& entry : {std::string{"one"}, std::string{}, std::string(300, 'x')})
    append_entry(bundle, entry);
  std::string_view rest = bundle;
  CAF_CHECK(next_entry(rest) == "one");
  CAF_CHECK(next_entry(rest) == "");
  CAF_CHECK(next_entry(rest) == std::string(300, 'x'));
  CAF_CHECK(!next_entry(rest).has_value());
  for (const std::size_t left : {1, 2, 301}) {
    rest = std::string_view{bundle}.substr(7, left);
    CAF_CHECK(!next_entry(rest).has_value() && rest.size() == left);
  }
}

CAF_TEST(a party stands together) {
  std::vector<entrant> entrants;
  for (std::uint64_t n = 1; n <= 40; ++n)
    entrants.push_back({queue_number{n}, queue_number{n % 10 == 0 ? 10ull : 0}});
  const auto order = draw_order(sha256("seed"), sha256("root"), "", entrants);
  const auto at = std::ranges::find(order, queue_number{10});
  CAF_REQUIRE(order.end() - at >= 4);
  CAF_CHECK((std::vector(at, at + 4)
             == std::vector{queue_number{10}, queue_number{20}, queue_number{30}, queue_number{40}}));
}

CAF_TEST(the order of entrants does not depend on others in the lobby) {
  std::vector<entrant> entrants;
  for (std::uint64_t n = 1; n <= 50; ++n) entrants.push_back({queue_number{n}, {}});
  auto order = draw_order(sha256("seed"), sha256("root"), "", entrants);
  std::erase_if(entrants, [](const entrant& e) { return e.number == queue_number{7}; });
  std::erase(order, queue_number{7});
  CAF_CHECK(order == draw_order(sha256("seed"), sha256("root"), "", entrants));
}

CAF_TEST(texts of records are cut between characters) {
  const record_head head{1, from_unix_ms(2)};
  std::string reason(15'999, 'x');
  reason += "\u00e9";
  const auto bytes = hand_bytes(head, {hand_action::pause, {}, 0, "", reason});
  CAF_CHECK_EQUAL(bytes.size(), 17u + 1 + 8 + 8 + 2 + 2 + 15'999);
}
