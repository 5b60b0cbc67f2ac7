// SPDX-License-Identifier: Apache-2.0
#include "fair/closing.hpp"

#include "fair/bytes.hpp"
#include "fair/limits.hpp"
#include "fair/note.hpp"
#include "fair/records.hpp"

namespace fq {
namespace {

constexpr std::string_view no_text{"\0\0", 2}; // its length

bool is_of(std::string_view record, log_record_kind kind) {
  return record.starts_with(static_cast<char>(kind));
}

/// Without cosignatures: the first signature is the log's.
std::string_view bare(std::string_view note) {
  return note.substr(0, note.find('\n', note.find("\n\n") + 2) + 1);
}

bool is_cosigned(std::string_view note) { return bare(note).size() < note.size(); }

} // namespace

std::string closing_proof::first() const { return std::string{bare(note_)}; }

std::string closing_proof::complete(std::string record) {
  const bool is_draw = is_of(record, log_record_kind::drawn);
  if (!is_draw && !is_of(record, log_record_kind::closed)) return record;
  is_closed_ = !is_draw;
  const auto note = std::exchange(note_, {});
  if (is_draw && is_cosigned(note) && note.size() <= record_text_max && record.ends_with(no_text)) {
    record.resize(record.size() - no_text.size());
    append_number(record, note.size(), 2);
    record += note;
  }
  return record;
}

void closing_proof::begin(std::string checkpoint) {
  note_ = std::move(checkpoint);
  is_closed_ = false;
}

/// Further witnesses of the same checkpoint count, later checkpoints do not: they prove less. But while there
/// is no cosignature, a witness that is beyond the first checkpoint begins with its own, and all others get
/// that one.
bool closing_proof::cosigned(const std::string& checkpoint, std::string_view lines) {
  const auto kept = parse_checkpoint(note_), other = parse_checkpoint(checkpoint);
  if (!kept || !other || other->content.size < kept->content.size) return false;
  const bool is_later = other->content.size > kept->content.size;
  if (is_later && is_cosigned(note_)) return false;
  const auto& note = is_later ? checkpoint : note_;
  if (note.size() + lines.size() > record_text_max) return false; // else one witness could void the proof
  if (note.find(lines) != note.npos) return false;
  note_ = note + std::string{lines};
  return true;
}

} // namespace fq
