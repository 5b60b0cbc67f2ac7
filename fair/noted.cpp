// SPDX-License-Identifier: Apache-2.0
#include "fair/noted.hpp"

#include "domain/base/limits.hpp"
#include "fair/bytes.hpp"
#include "fair/limits.hpp"
#include "fair/tiles.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

constexpr auto joined_kind = static_cast<char>(log_record_kind::joined);
constexpr std::size_t number_size = 5;
static_assert(queue_number_max >> (8 * number_size) == 0);
constexpr std::size_t time_size = 6;
constexpr std::size_t key_at = 1 + 1 + number_size + time_size;
constexpr std::size_t noted_join_size = key_at + 8 + 16;
constexpr std::size_t sequence_at = 1; ///< in a record, after the kind

constexpr std::size_t root_at = 1 + 8 + 8 + 8; ///< in the record of a closing, after kind, head and entrants

bool is_open_closing(std::string_view record) {
  return record.size() == root_at + sizeof(sha256_digest)
         && record.front() == static_cast<char>(log_record_kind::closed)
         && record.find_first_not_of('\0', root_at) == std::string_view::npos;
}

/// Takes the first record of a row off; empty: it is damaged.
std::string_view next_note(std::string_view& content) {
  const auto noted = next_entry(content);
  return noted && noted->size() >= sequence_at + 8 ? *noted : std::string_view{};
}

/// Of noted_join_size bytes.
noted_join join_of(std::string_view bytes) {
  noted_join join;
  join.priority_class = static_cast<std::uint8_t>(bytes[1]);
  join.number = queue_number{read_number(bytes, 2, number_size)};
  join.joined_at = from_unix_ms(static_cast<std::int64_t>(read_number(bytes, 2 + number_size, time_size)));
  join.join_key = read_number(bytes, key_at, 8);
  join.subject = {read_number(bytes, key_at + 8, 8), read_number(bytes, key_at + 16, 8)};
  return join;
}

bool are_notes(std::string_view content) {
  while (!content.empty()) {
    const auto noted = next_note(content);
    if (noted.empty() || (noted.front() == joined_kind && noted.size() != noted_join_size)) return false;
  }
  return true;
}

} // namespace

void note_writer::add(std::string_view noted) {
  if (pieces_.empty() || pieces_.back().size() + noted.size() + 2 > noted_piece_max)
    pieces_.emplace_back().reserve(noted_piece_max);
  auto& piece = pieces_.back();
  piece.push_back(static_cast<char>(noted.size() >> 8));
  piece.push_back(static_cast<char>(noted.size() & 0xff));
  piece.insert(piece.end(), noted.begin(), noted.end());
}

void note_writer::add(const noted_join& join) {
  std::string bytes;
  bytes.reserve(noted_join_size);
  bytes += joined_kind;
  append_number(bytes, join.priority_class, 1);
  append_number(bytes, value_of(join.number), number_size);
  append_number(bytes, static_cast<std::uint64_t>(unix_ms(join.joined_at)), time_size);
  append_number(bytes, join.join_key, 8);
  append_id(bytes, join.subject);
  add(bytes);
}

void note_writer::add(const log_record& record, timestamp at) { add(bytes_of({0, at}, record)); }

std::vector<std::vector<char>> note_writer::take() { return std::exchange(pieces_, {}); }

bool has_open_closing(std::string_view content) {
  while (!content.empty()) {
    const auto noted = next_note(content);
    if (noted.empty()) return false;
    if (is_open_closing(noted)) return true;
  }
  return false;
}

std::string with_root(std::string record, const sha256_digest& root) {
  if (is_open_closing(record)) std::copy(root.begin(), root.end(), record.begin() + root_at);
  return record;
}

bool read_notes(std::string_view content, std::uint64_t sequence, aggregate_id owner,
                const nonce_maker& nonces,
                const std::function<void(const std::string& record, queue_number number)>& take) {
  if (!are_notes(content)) return false;
  std::string sequence_bytes;
  append_number(sequence_bytes, sequence, 8);
  while (!content.empty()) {
    const auto noted = next_note(content);
    if (noted.front() != joined_kind) {
      std::string record{noted};
      record.replace(sequence_at, 8, sequence_bytes);
      take(record, {});
      continue;
    }
    const auto [number, priority_class, at, subject, key] = join_of(noted);
    take(joined_bytes({sequence, at}, {number, priority_class, 0, {}},
                      nonces.commitment(owner, number, subject, key, at)),
         number);
  }
  return true;
}

} // namespace fq
