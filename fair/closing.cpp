// SPDX-License-Identifier: Apache-2.0
#include "fair/closing.hpp"

#include "fair/bytes.hpp"
#include "fair/limits.hpp"
#include "fair/records.hpp"

#include <utility>

namespace fq {
namespace {

constexpr std::string_view no_text{"\0\0", 2}; // its length

bool is_of(std::string_view record, log_record_kind kind) {
  return record.starts_with(static_cast<char>(kind));
}

} // namespace

std::string closing_proof::complete(std::string record, std::uint64_t index) {
  if (is_of(record, log_record_kind::closed)) {
    closed_size_ = index + 1;
    first_.clear();
    note_.clear();
  }
  if (!is_of(record, log_record_kind::drawn)) return record;
  closed_size_ = 0;
  first_.clear();
  if (!note_.empty() && note_.size() <= record_text_max && record.ends_with(no_text)) {
    record.resize(record.size() - no_text.size());
    append_number(record, note_.size(), 2);
    record += note_;
  }
  return record;
}

void closing_proof::resume(std::uint64_t size, const std::string& note, const std::string& bare) {
  *this = {};
  first_ = bare;
  closed_size_ = size;
  size_ = size;
  note_ = note;
}

const std::string& closing_proof::first(std::uint64_t size, const std::string& note) {
  if (first_.empty() && closed_size_ > 0 && size >= closed_size_) first_ = note;
  return first_;
}

/// Further witnesses of the same checkpoint count, later checkpoints do not: they prove less.
void closing_proof::cosigned(std::uint64_t size, const std::string& note, const std::string& lines) {
  const bool has_closing = closed_size_ > 0 && size >= closed_size_;
  if (!has_closing || (!note_.empty() && size != size_)) return;
  const auto& so_far = note_.empty() ? note : note_;
  if (so_far.size() + lines.size() > record_text_max) return; // else one witness could void the proof
  if (note_.empty()) note_ = note;
  size_ = size;
  if (note_.find(lines) == std::string::npos) note_ += lines;
}

} // namespace fq
