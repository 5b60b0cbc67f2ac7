// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/log_check.hpp"

#include "fair/draw.hpp"
#include "fair/note.hpp"
#include "fair/tiles.hpp"
#include "tests/domain/sale/log_rules.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace fq::sim {
namespace {

/// Reads a record of docs/design/fairness.md; throws std::out_of_range for a short one.
class log_bytes {
public:
  explicit log_bytes(const std::string& bytes) : bytes_(bytes) {}
  std::uint64_t number(int count) {
    std::uint64_t value = 0;
    for (; count > 0; --count) value = value << 8 | static_cast<unsigned char>(bytes_.at(at_++));
    return value;
  }
  queue_number entry() { return queue_number{number(8)}; }
  std::string take(std::size_t count) {
    if (bytes_.size() < at_ + count) throw std::out_of_range{"a record is too short"};
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::string text() { return take(number(2)); }
  log_digest digest() {
    log_digest d{};
    const auto bytes = take(d.size());
    std::copy(bytes.begin(), bytes.end(), d.begin());
    return d;
  }
  place where() {
    place p;
    p.number = entry();
    p.priority_class = static_cast<std::uint8_t>(number(1));
    p.opens = number(8);
    p.party = entry();
    return p;
  }
  [[nodiscard]] bool is_at_end() const { return at_ == bytes_.size(); }

private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

struct seen_record {
  std::uint64_t sequence = 0, at = 0;
  log_record what;
  std::optional<place> joined;
};

admitted_record read_admitted(log_bytes& b) {
  admitted_record r;
  r.batch = static_cast<std::uint32_t>(b.number(4));
  r.splits_party = b.number(1) != 0;
  r.public_units = b.number(8);
  for (auto n = b.number(1); n > 0; --n) {
    const auto type = static_cast<std::uint8_t>(b.number(1));
    r.hidden_units.push_back({type, b.number(8)});
  }
  for (auto n = b.number(2); n > 0; --n) r.numbers.push_back(b.entry());
  return r;
}

log_record read_body(log_record_kind kind, log_bytes& b, seen_record& seen) {
  switch (kind) {
    case log_record_kind::begin: {
      begin_record r;
      b.number(1);
      r.event = {b.number(8), b.number(8)};
      r.settings = b.text();
      r.lost = b.text();
      return r;
    }
    case log_record_kind::lobby: {
      b.take(8 + 1 + 1 + 32 + 1);
      b.text();
      return lobby_record{};
    }
    case log_record_kind::joined: {
      seen.joined = b.where();
      b.take(32);
      return joined_record{seen.joined->number};
    }
    case log_record_kind::changed: {
      const auto p = b.where();
      return changed_record{p, changed_by{static_cast<std::uint8_t>(b.number(1))}};
    }
    case log_record_kind::left: {
      const auto n = b.entry();
      return left_record{n, left_why{static_cast<std::uint8_t>(b.number(1))}};
    }
    case log_record_kind::away: return away_record{b.entry()};
    case log_record_kind::back: return back_record{b.entry()};
    case log_record_kind::closed: {
      const auto entrants = b.number(8);
      return closed_record{entrants, b.digest()};
    }
    case log_record_kind::drawn: {
      drawn_record r;
      r.seed = b.digest();
      r.root = b.digest();
      r.kind = beacon_kind{static_cast<std::uint8_t>(b.number(1))};
      r.beacon = b.text();
      r.closing = b.text();
      return r;
    }
    case log_record_kind::admitted: return read_admitted(b);
    case log_record_kind::session_ended: {
      const auto n = b.entry();
      return session_ended_record{n, session_end{static_cast<std::uint8_t>(b.number(1))}};
    }
    case log_record_kind::hand: {
      hand_record r;
      r.action = hand_action{static_cast<std::uint8_t>(b.number(1))};
      r.number = b.entry();
      r.count = b.number(8);
      r.change = b.text();
      r.reason = b.text();
      return r;
    }
  }
  throw std::out_of_range{"an unknown kind of record"};
}

seen_record read_record(const std::string& bytes) {
  log_bytes b(bytes);
  seen_record seen;
  const auto kind = log_record_kind{static_cast<std::uint8_t>(b.number(1))};
  seen.sequence = b.number(8);
  seen.at = b.number(8);
  seen.what = read_body(kind, b, seen);
  if (!b.is_at_end()) throw std::out_of_range{"a record is too long"};
  return seen;
}

std::vector<std::string> entries_of(const std::vector<char>& bundle) {
  std::vector<std::string> all;
  const std::string bytes{bundle.begin(), bundle.end()};
  log_bytes b(bytes);
  while (!b.is_at_end()) all.push_back(b.text());
  return all;
}

/// Follows the draw: numbers get ranks.
struct ranks_of_log {
  std::map<queue_number, queue_number> parties;
  std::uint64_t highest = 0, last_entrant = 0;
  bool is_closed = false;
  std::map<queue_number, std::uint64_t> ranks;

  std::string take(const seen_record& seen) {
    if (seen.joined) highest = value_of(seen.joined->number);
    if (const auto* changed = std::get_if<changed_record>(&seen.what); changed != nullptr && !is_closed)
      parties[changed->now.number] = changed->now.party;
    if (const auto* closed = std::get_if<closed_record>(&seen.what)) {
      is_closed = true;
      last_entrant = highest;
      if (closed->root == log_digest{}) return "a closing without its root is in the log";
    }
    if (const auto* drawn = std::get_if<drawn_record>(&seen.what)) {
      std::vector<entrant> entrants;
      for (std::uint64_t n = 1; n <= last_entrant; ++n) {
        const auto party = parties.find(queue_number{n});
        entrants.push_back({queue_number{n}, party == parties.end() ? queue_number{} : party->second});
      }
      std::uint64_t rank = 0;
      for (const auto n :
           draw_order(drawn->seed, drawn->root, beacon_value(drawn->kind, drawn->beacon), entrants))
        ranks[n] = ++rank;
    }
    return {};
  }
};

} // namespace

std::string what_is_wrong_in_log(memory_ledger& store, aggregate_id aggregate, bool is_draining) {
  const auto state = store.read_log(aggregate, {}).state;
  if (!state) return "there is no log";
  const auto* image = store.committed(aggregate);
  std::map<queue_number, entry_row> rows;
  for (const auto& row : image->entries) rows.emplace(row.number, row);
  test::log_rules rules;
  ranks_of_log draw;
  rules.rank_of = [&draw](queue_number n) {
    const auto found = draw.ranks.find(n);
    return found == draw.ranks.end() ? value_of(n) : found->second;
  };
  tree_edge tree;
  seen_record last;
  try {
    for (std::uint64_t i = 0; i * 256 < state->size; ++i) {
      const auto found = store.read_log(aggregate, {.tiles = {{bundle_level, i}}});
      if (found.tiles.size() != 1) return "bundle " + std::to_string(i) + " is missing";
      for (const auto& bytes : entries_of(found.tiles.front().content)) {
        tree.append(leaf_hash(bytes));
        const auto seen = read_record(bytes);
        if (seen.sequence < last.sequence || seen.at < last.at)
          return "a record is older than the one before";
        if (auto wrong = draw.take(seen); !wrong.empty()) return wrong;
        entry_row joined; // as it joined: the draw levels the classes of a party
        rules.take(seen.what, [&](queue_number n) -> const entry_row* {
          const auto row = rows.find(n);
          if (row == rows.end()) return nullptr;
          joined = row->second;
          if (joined.party != queue_number{}) joined.priority_class = seen.joined->priority_class;
          return &joined;
        });
        last = seen;
      }
    }
  } catch (const std::out_of_range& e) { return e.what(); }
  if (tree.size() != state->size) return "the log has another size than its state";
  const auto root = tree.root();
  if (std::vector<char>{root.begin(), root.end()} != state->root) // as bytes: a char may be negative
    return "the root is not that of the records";
  if (!rules.wrong().empty()) return rules.wrong();
  if (is_draining) return {};
  if (!store.committed_notes(aggregate)->empty()) return "records wait although nothing fails";
  return rules.differs(rows);
}

std::map<std::string, std::string> log_files(memory_ledger& store, aggregate_id aggregate) {
  const auto state = store.read_log(aggregate, {}).state;
  if (!state) return {};
  const secret_key stored; // of zeros: no secret
  const note_verifier key{state->origin, note_key_kind::log, ed25519_public_key_of(log_seed_of(stored))};
  std::map<std::string, std::string> files{{"key", key.text() + "\n"},
                                           {"checkpoint", sign_log(*state, stored)}};
  for (std::uint64_t i = 0; i * tile_width < state->size; ++i) {
    const auto found = store.read_log(aggregate, {.tiles = {{bundle_level, i}}});
    if (found.tiles.empty()) continue; // the reader finds that it is missing
    const auto& content = found.tiles.front().content;
    const tile bundle{0, i, std::min(tile_width, state->size - i * tile_width)};
    files[bundle_path_of(bundle)] = {content.begin(), content.end()};
  }
  return files;
}

} // namespace fq::sim
