// SPDX-License-Identifier: Apache-2.0
#include "fair/records.hpp"

#include "crypto/hkdf.hpp"
#include "fair/bytes.hpp"
#include "fair/limits.hpp"

#include <algorithm>

namespace fq {
namespace {

constexpr std::uint8_t format_version = 1;
constexpr std::size_t join_record_size = 1 + 3 * 8 + 1 + 2 * 8 + 32;

template <class Enum>
void append_kind(std::string& to, Enum value) {
  append_number(to, static_cast<std::uint8_t>(value), 1);
}

void append_time(std::string& to, timestamp t) {
  append_number(to, static_cast<std::uint64_t>(unix_ms(t)), 8);
}

/// Cut between two characters of UTF-8.
void append_text(std::string& to, std::string_view text) {
  if (text.size() > record_text_max) {
    auto end = record_text_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end);
  }
  append_number(to, text.size(), 2);
  to += text;
}

std::string begun(log_record_kind kind, const record_head& head) {
  std::string bytes;
  bytes.reserve(join_record_size);
  append_kind(bytes, kind);
  append_number(bytes, head.sequence, 8);
  append_time(bytes, head.at);
  return bytes;
}

std::string of_number(log_record_kind kind, const record_head& head, queue_number n) {
  auto bytes = begun(kind, head);
  append_number(bytes, value_of(n), 8);
  return bytes;
}

void append_place(std::string& to, const place& p) {
  append_number(to, p.priority_class, 1);
  append_number(to, p.opens, 8);
  append_number(to, value_of(p.party), 8);
}

} // namespace

sha256_digest commitment_of(const record_nonce& nonce, const entry_id& id) {
  std::string bytes;
  bytes.reserve(16);
  append_id(bytes, id);
  return sha256({reinterpret_cast<const char*>(nonce.data()), nonce.size()}, bytes);
}

record_nonce nonce_maker::operator()(queue_number n, const subject_key& subject,
                                     std::uint64_t join_key) const {
  std::string bytes;
  bytes.reserve(32);
  append_number(bytes, value_of(n), 8);
  append_number(bytes, join_key, 8);
  append_id(bytes, subject);
  const auto mac = key_(bytes);
  record_nonce nonce;
  std::copy_n(mac.begin(), nonce.size(), nonce.begin());
  return nonce;
}

sha256_digest nonce_maker::commitment(aggregate_id owner, queue_number n, const subject_key& subject,
                                      std::uint64_t join_key, timestamp joined_at) const {
  return commitment_of((*this)(n, subject, join_key), make_entry_id(joined_at, owner, n));
}

secret_key nonce_secret_of(const secret_key& stored, const event_id& event) {
  return hkdf_sha256(stored.bytes(), "fairqueue log nonces", to_string(event));
}

sha256_digest seed_commitment_of(const sha256_digest& seed) {
  std::string bytes;
  append_bytes(bytes, seed);
  return sha256(bytes);
}

std::string begin_bytes(const record_head& head, const begin_record& r) {
  auto bytes = begun(log_record_kind::begin, head);
  append_number(bytes, format_version, 1);
  append_id(bytes, r.event);
  append_text(bytes, r.settings);
  append_text(bytes, r.lost);
  return bytes;
}

std::string lobby_bytes(const record_head& head, const lobby_record& r) {
  auto bytes = begun(log_record_kind::lobby, head);
  append_time(bytes, r.queue_opens_at);
  append_kind(bytes, r.draw);
  append_number(bytes, r.party_max, 1);
  append_bytes(bytes, r.seed_commitment);
  append_kind(bytes, r.beacon);
  append_text(bytes, r.source);
  return bytes;
}

std::string joined_bytes(const record_head& head, const place& p, const sha256_digest& commitment) {
  auto bytes = of_number(log_record_kind::joined, head, p.number);
  append_place(bytes, p);
  append_bytes(bytes, commitment);
  return bytes;
}

std::string changed_bytes(const record_head& head, const place& p, changed_by by) {
  auto bytes = of_number(log_record_kind::changed, head, p.number);
  append_place(bytes, p);
  append_kind(bytes, by);
  return bytes;
}

std::string left_bytes(const record_head& head, queue_number n, left_why why) {
  auto bytes = of_number(log_record_kind::left, head, n);
  append_kind(bytes, why);
  return bytes;
}

std::string away_bytes(const record_head& head, queue_number n) {
  return of_number(log_record_kind::away, head, n);
}

std::string back_bytes(const record_head& head, queue_number n) {
  return of_number(log_record_kind::back, head, n);
}

std::string closed_bytes(const record_head& head, std::uint64_t entrants, const sha256_digest& root) {
  auto bytes = begun(log_record_kind::closed, head);
  append_number(bytes, entrants, 8);
  append_bytes(bytes, root);
  return bytes;
}

std::string drawn_bytes(const record_head& head, const drawn_record& r) {
  auto bytes = begun(log_record_kind::drawn, head);
  append_bytes(bytes, r.seed);
  append_bytes(bytes, r.root);
  append_kind(bytes, r.kind);
  append_text(bytes, r.beacon);
  append_text(bytes, r.closing);
  return bytes;
}

std::string admitted_bytes(const record_head& head, const admitted_record& r) {
  auto bytes = begun(log_record_kind::admitted, head);
  append_number(bytes, r.batch, 4);
  append_number(bytes, r.splits_party ? 1 : 0, 1);
  append_number(bytes, r.public_units, 8);
  append_number(bytes, r.hidden_units.size(), 1);
  for (const auto& pool : r.hidden_units) {
    append_number(bytes, pool.type, 1);
    append_number(bytes, pool.units, 8);
  }
  append_number(bytes, r.numbers.size(), 2);
  for (const auto n : r.numbers) append_number(bytes, value_of(n), 8);
  return bytes;
}

std::string session_ended_bytes(const record_head& head, queue_number n, session_end why) {
  auto bytes = of_number(log_record_kind::session_ended, head, n);
  append_kind(bytes, why);
  return bytes;
}

std::string hand_bytes(const record_head& head, const hand_record& r) {
  auto bytes = begun(log_record_kind::hand, head);
  append_kind(bytes, r.action);
  append_number(bytes, value_of(r.number), 8);
  append_number(bytes, r.count, 8);
  append_text(bytes, r.change);
  append_text(bytes, r.reason);
  return bytes;
}

namespace {

struct record_writer {
  const record_head& head;
  std::string operator()(const joined_record&) const { return {}; }
  std::string operator()(const changed_record& r) const { return changed_bytes(head, r.now, r.by); }
  std::string operator()(const left_record& r) const { return left_bytes(head, r.number, r.why); }
  std::string operator()(const away_record& r) const { return away_bytes(head, r.number); }
  std::string operator()(const back_record& r) const { return back_bytes(head, r.number); }
  std::string operator()(const admitted_record& r) const { return admitted_bytes(head, r); }
  std::string operator()(const session_ended_record& r) const {
    return session_ended_bytes(head, r.number, r.why);
  }
  std::string operator()(const hand_record& r) const { return hand_bytes(head, r); }
  std::string operator()(const lobby_record& r) const { return lobby_bytes(head, r); }
  std::string operator()(const closed_record& r) const { return closed_bytes(head, r.entrants, r.root); }
  std::string operator()(const drawn_record& r) const { return drawn_bytes(head, r); }
  std::string operator()(const begin_record& r) const { return begin_bytes(head, r); }
};

} // namespace

std::string bytes_of(const record_head& head, const log_record& record) {
  return std::visit(record_writer{head}, record);
}

std::string receipt_extra(const record_nonce& nonce, const entry_id& id, std::string_view joined) {
  std::string bytes;
  append_bytes(bytes, nonce);
  append_id(bytes, id);
  bytes += joined;
  return bytes;
}

} // namespace fq
