// SPDX-License-Identifier: Apache-2.0
#include "actors/storage/log_audit.hpp"

#include "actors/storage/limits.hpp"
#include "fair/bytes.hpp"
#include "fair/merkle.hpp"
#include "fair/noted.hpp"
#include "fair/tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace fq {
namespace {

enum class told : std::uint8_t { waiting, away, admitted, over };

told told_of(entry_status status) {
  if (status == entry_status::waiting) return told::waiting;
  if (status == entry_status::away) return told::away;
  return status == entry_status::admitted ? told::admitted : told::over;
}

/// The states of the entries, from the records up to one decision.
class states_of_log {
public:
  explicit states_of_log(std::uint64_t until) : until_(until) {}

  void take(std::string_view record) {
    constexpr std::size_t body = 1 + 8 + 8; // after kind, sequence and time
    if (record.size() < body || read_number(record, 1, 8) > until_) return;
    const auto n = read_number(record, body, 8);
    switch (static_cast<log_record_kind>(record.front())) {
      case log_record_kind::begin: return begin(record.substr(body));
      case log_record_kind::joined: states_[n] = told::waiting; return;
      case log_record_kind::away: states_[n] = told::away; return;
      case log_record_kind::back: states_[n] = told::waiting; return;
      case log_record_kind::left:
      case log_record_kind::session_ended: states_[n] = told::over; return;
      case log_record_kind::admitted: return admit(record, body);
      case log_record_kind::lobby:
      case log_record_kind::changed:
      case log_record_kind::closed:
      case log_record_kind::drawn:
      case log_record_kind::hand: return;
    }
  }
  [[nodiscard]] std::optional<told> of(queue_number n) const {
    const auto found = states_.find(value_of(n));
    return found == states_.end() ? std::nullopt : std::optional{found->second};
  }
  /// The log began after this number, and has of those before it who was in line then.
  [[nodiscard]] std::uint64_t joined_before() const { return joined_before_; }

private:
  void begin(std::string_view body) {
    constexpr std::string_view name = "joined_before=";
    const auto at = body.find(name);
    if (at == std::string_view::npos) return;
    for (const char c : body.substr(at + name.size())) {
      if (c < '0' || c > '9') return;
      joined_before_ = 10 * joined_before_ + static_cast<std::uint64_t>(c - '0');
    }
  }
  void admit(std::string_view record, std::size_t body) {
    const auto pools = read_number(record, body + 4 + 1 + 8, 1);
    auto at = body + 4 + 1 + 8 + 1 + 9 * pools;
    auto count = read_number(record, at, 2);
    for (at += 2; count > 0; --count, at += 8) states_[read_number(record, at, 8)] = told::admitted;
  }

  std::uint64_t until_;
  std::uint64_t joined_before_ = 0;
  std::unordered_map<std::uint64_t, told> states_;
};

} // namespace

std::vector<std::string> contradictions_of_log(ledger& store, aggregate_id aggregate,
                                               const aggregate_snapshot& rows) {
  const auto head = store.read_log(aggregate, {.noted = noted_rows_audited});
  if (!head.state || head.state->is_lost || head.noted.size() == noted_rows_audited) return {};
  states_of_log states(rows.head.applied_seq);
  tree_edge tree;
  const auto& log = *head.state;
  for (std::uint64_t i = 0; i * tile_width < log.size; ++i) {
    const auto found = store.read_log(aggregate, {.number = log.number, .tiles = {{bundle_level, i}}});
    if (found.tiles.empty()) return {}; // pruned
    const auto& content = found.tiles.front().content;
    std::string_view bundle{content.data(), content.size()};
    while (const auto record = next_entry(bundle)) {
      if (tree.size() == log.size) break; // added meanwhile
      tree.append(leaf_hash(*record));
      states.take(*record);
    }
  }
  const auto root = tree.root();
  // As bytes: a char of 0x80 or more is negative.
  const auto byte = [](char c) { return static_cast<std::uint8_t>(c); };
  if (tree.size() != log.size || !std::ranges::equal(root, log.root, {}, {}, byte))
    return {"the public log has another root than its records"};
  const nonce_maker any{secret_key{}};
  for (const auto& noted : head.noted)
    static_cast<void>(read_notes({noted.row.content.data(), noted.row.content.size()}, noted.place.seq,
                                 aggregate, any,
                                 [&](const std::string& record, queue_number) { states.take(record); }));
  std::vector<std::string> lines;
  for (const auto& e : rows.image.entries) {
    const auto state = states.of(e.number);
    if (!state && value_of(e.number) <= states.joined_before()) continue;
    if (state != told_of(e.status))
      lines.push_back("the public log has another state of number " + std::to_string(value_of(e.number)));
    if (lines.size() == log_lines_max) break;
  }
  return lines;
}

} // namespace fq
