// SPDX-License-Identifier: Apache-2.0
#include "tests/fair/sample_log.hpp"

#include <algorithm>
#include <cstddef>

namespace fq {
namespace {

secret_key key_of(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key{bytes};
}

const event_id event{0x0123456789abcdef, 0xfedcba9876543210};
/// drand's quicknet and its round 1,000, which was due at 1,692,806,364.
const std::string chain = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
const std::string round_signature =
  "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";
constexpr std::int64_t begins_at = 1'692'806'000'000;

std::string text_of_hex(std::string_view hex) {
  const auto bytes = from_hex(hex).value();
  return {bytes.begin(), bytes.end()};
}

record_nonce nonce_of(std::uint64_t n) {
  record_nonce nonce;
  nonce.fill(static_cast<std::uint8_t>(n));
  return nonce;
}

entry_id entry_of(std::uint64_t n) {
  return make_entry_id(from_unix_ms(begins_at), aggregate_id{16}, queue_number{n});
}

sha256_digest commitment_to(std::uint64_t n) { return commitment_of(nonce_of(n), entry_of(n)); }

/// Appends with ascending sequence and time.
struct writer {
  sample& to;
  std::uint64_t sequence = 0;
  std::int64_t second = 0;
  std::map<std::uint64_t, std::uint64_t> joined_at = {}; ///< number -> index

  record_head next() { return {++sequence, from_unix_ms(begins_at + ++second * 1000)}; }
  void join(std::uint64_t n, std::uint8_t priority_class, std::uint64_t party = 0, hidden_types opens = 0) {
    joined_at[n] = to.content.size();
    const place p{queue_number{n}, priority_class, opens, queue_number{party}};
    to.content.append(joined_bytes(next(), p, commitment_to(n)));
  }
};

constexpr std::array<std::uint64_t, 3> party_of_three{3, 4, 7};

void write_lobby(writer& w) {
  auto& log = w.to.content;
  log.append(begin_bytes(w.next(), {event, "policy=capacity\nconcurrency=4\n", ""}));
  const auto source = text_of_hex(chain + "00000000000003e8");
  log.append(lobby_bytes(w.next(), {from_unix_ms(begins_at + 60'000), draw_kind::at_opening, 6,
                                    seed_commitment_of(w.to.seed), beacon_kind::drand, source}));
  for (std::uint64_t n = 1; n <= 12; ++n)
    w.join(n, n == 2 || n == 4 ? 0 : 1, std::ranges::count(party_of_three, n) > 0 ? 3 : 0, n == 9 ? 2 : 0);
  log.append(left_bytes(w.next(), queue_number{5}, left_why::holder));
  log.append(hand_bytes(w.next(), {hand_action::priority, queue_number{6}, 0, "", "wheelchair"}));
  log.append(changed_bytes(w.next(), {queue_number{6}, 0, 0, {}}, changed_by::hand));
  log.append(away_bytes(w.next(), queue_number{8}));
}

void write_draw(writer& w) {
  auto& s = w.to;
  tree_edge tree;
  for (std::uint64_t n = 1; n <= 12; ++n) {
    if (n == 5) continue;
    const bool in_party = std::ranges::count(party_of_three, n) > 0;
    const std::uint8_t priority_class = n == 2 || n == 4 || n == 6 ? 0 : 1;
    const place p{queue_number{n}, priority_class, n == 9 ? hidden_types{2} : 0,
                  queue_number{in_party ? 3ull : 0}};
    tree.append(leaf_hash(entrant_leaf(p, commitment_to(n))));
    s.entrants.push_back({p.number, p.party});
  }
  s.root = tree.root();
  w.second = 60;
  s.content.append(closed_bytes(w.next(), tree.size(), s.root));
  const auto closing = s.content.head(s.origin);
  const auto note = sign_checkpoint(closing, key_of(1))
                    + cosign(text_of(closing), s.witness.name, key_of(2), from_unix_ms(begins_at + 70'000));
  w.second = 365;
  const auto signature = text_of_hex(round_signature);
  s.beacon = beacon_value(beacon_kind::drand, signature);
  s.content.append(drawn_bytes(w.next(), {s.seed, s.root, beacon_kind::drand, signature, note}));
  s.order = draw_order(s.seed, s.root, s.beacon, s.entrants);
}

void write_sale(writer& w) {
  auto& log = w.to.content;
  w.join(13, 1);
  // 8 is away, and 9 may buy the hidden type 1: with no public unit left it would go first.
  auto line = w.to.order;
  std::erase(line, queue_number{8});
  // 4 has the class of its party from the closing on.
  std::ranges::stable_partition(line,
                                [](queue_number n) { return n == queue_number{2} || n == queue_number{6}; });
  log.append(admitted_bytes(w.next(), {1, false, 10, {{1, 1}}, {line.begin(), line.begin() + 2}}));
  log.append(back_bytes(w.next(), queue_number{8}));
  log.append(session_ended_bytes(w.next(), line[0], session_end::completed));
  log.append(hand_bytes(w.next(), {hand_action::revoke, line[1], 0, "", "bought with a stolen card"}));
  log.append(session_ended_bytes(w.next(), line[1], session_end::revoked));
  log.append(hand_bytes(w.next(), {hand_action::settings, {}, 0, "concurrency=6\n", "the shop is fast"}));
  // Joins with a bundle more: the tree has a full tile and an edge.
  for (std::uint64_t n = 14; n <= 260; ++n) w.join(n, 1);
  log.append(left_bytes(w.next(), queue_number{14}, left_why::expired));
}

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text)
    if (c == '\n')
      json += "\\n";
    else
      json += c;
  return json + '"';
}

std::string hex_of(const auto& bytes) {
  const std::string text{bytes.begin(), bytes.end()};
  return '"' + to_hex(view_bytes(text)) + '"';
}

std::string list(const auto& items, auto show) {
  std::string json = "[";
  for (const auto& item : items) json += (json.size() > 1 ? ", " : "") + show(item);
  return json + "]";
}

std::string proof_vectors(const sample_log& log) {
  std::string json;
  const auto show = [](const tree_hash& hash) { return hex_of(hash); };
  for (const std::uint64_t size : {1, 2, 3, 7, 8, 255, 256, 257})
    for (const std::uint64_t at : {0, 1, 2, 6, 7, 200, 255}) {
      if (at >= size) continue;
      json += std::string(json.empty() ? "" : ",") + "\n    {\"size\": " + std::to_string(size)
              + ", \"index\": " + std::to_string(at) + ", \"root\": " + hex_of(root_of(size, log.reader()))
              + ", \"inclusion\": " + list(inclusion_proof(at, size, log.reader()), show)
              + ", \"consistency\": " + list(consistency_proof(at, size, log.reader()), show) + "}";
    }
  return json;
}

} // namespace

void sample_log::append(std::string record) {
  auto hash = leaf_hash(record);
  records_.push_back(std::move(record));
  for (std::size_t height = 0;; ++height) {
    if (levels_.size() == height) levels_.emplace_back();
    auto& level = levels_[height];
    level.push_back(hash);
    if (level.size() % 2 != 0) return;
    hash = node_hash(level[level.size() - 2], level.back());
  }
}

subtree_reader sample_log::reader() const {
  return [this](unsigned height, std::uint64_t index) { return levels_.at(height).at(index); };
}

checkpoint sample_log::head(const std::string& origin) const {
  return {origin, size(), root_of(size(), reader())};
}

sample make_sample() {
  sample s;
  s.origin = "tickets.example/events/" + to_string(event) + "/log";
  s.log = {s.origin, note_key_kind::log, ed25519_public_key_of(key_of(1))};
  s.witness = {"witness.example", note_key_kind::witness, ed25519_public_key_of(key_of(2))};
  s.seed.fill(0x5e);
  writer w{s};
  write_lobby(w);
  write_draw(w);
  write_sale(w);
  const auto head = s.content.head(s.origin);
  s.checkpoint = sign_checkpoint(head, key_of(1))
                 + cosign(text_of(head), s.witness.name, key_of(2), from_unix_ms(begins_at + 900'000));
  const auto at = w.joined_at[7];
  s.receipt = proof_text(receipt_extra(nonce_of(7), entry_of(7), s.content.records()[at]), at,
                         inclusion_proof(at, s.content.size(), s.content.reader()), s.checkpoint);
  return s;
}

std::map<std::string, std::string> files_of(const sample& s) {
  std::map<std::string, std::string> files{{"checkpoint", s.checkpoint}, {"key", s.log.text() + "\n"}};
  for (const auto& t : new_tiles(0, s.content.size())) {
    files[path_of(t)] = content_of(t, s.content.reader());
    if (t.level != 0) continue;
    auto& bundle = files[bundle_path_of(t)];
    for (auto i = t.index * tile_width; i < t.index * tile_width + t.width; ++i)
      append_entry(bundle, s.content.records()[i]);
  }
  return files;
}

std::string vectors() {
  const auto s = make_sample();
  const auto number = [](queue_number n) { return std::to_string(value_of(n)); };
  std::string json =
    "{\n  \"origin\": " + quoted(s.origin) + ",\n  \"log_key\": " + quoted(s.log.text())
    + ",\n  \"witness_key\": " + quoted(s.witness.text()) + ",\n  \"checkpoint\": " + quoted(s.checkpoint)
    + ",\n  \"receipt\": " + quoted(s.receipt) + ",\n  \"seed\": " + hex_of(s.seed)
    + ",\n  \"seed_commitment\": " + hex_of(seed_commitment_of(s.seed)) + ",\n  \"root\": " + hex_of(s.root)
    + ",\n  \"beacon\": " + hex_of(s.beacon) + ",\n  \"order\": " + list(s.order, number)
    + ",\n  \"nonce\": " + hex_of(nonce_of(7)) + ",\n  \"entry\": " + quoted(to_string(entry_of(7)))
    + ",\n  \"commitment\": " + hex_of(commitment_to(7));
  json += ",\n  \"paths\": " + list(files_of(s), [](const auto& file) { return quoted(file.first); });
  json += ",\n  \"records\": [";
  for (std::size_t i = 0; i < s.content.size(); ++i)
    json += std::string(i == 0 ? "" : ",") + "\n    " + hex_of(s.content.records()[i]);
  return json + "],\n  \"proofs\": [" + proof_vectors(s.content) + "]\n}\n";
}

} // namespace fq
