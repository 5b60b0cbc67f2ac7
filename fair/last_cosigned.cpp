// SPDX-License-Identifier: Apache-2.0
#include "fair/last_cosigned.hpp"

#include "fair/note.hpp"

#include <algorithm>

namespace fq {
namespace {

/// Up to the next empty line, without it.
std::string_view take_block(std::string_view& rest) {
  const auto end = rest.find("\n\n");
  const auto block = rest.substr(0, end == rest.npos ? end : end + 1);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 2);
  return block;
}

/// The note at the beginning: its text and its signatures are a block each.
std::string_view take_note(std::string_view& rest) {
  const auto whole = rest;
  take_block(rest);
  const auto signatures = take_block(rest);
  return whole.substr(0, static_cast<std::size_t>(signatures.data() - whole.data()) + signatures.size());
}

/// The signatures of all others.
std::string without(std::string_view signatures, std::string_view witness) {
  const auto start = "\u2014 " + std::string{witness} + " ";
  std::string others;
  while (!signatures.empty()) {
    const auto line = signatures.substr(0, std::min(signatures.find('\n'), signatures.size() - 1) + 1);
    if (!line.starts_with(start)) others += line;
    signatures.remove_prefix(line.size());
  }
  return others;
}

bool has_cosignature(std::string_view signatures) { return std::ranges::count(signatures, '\n') > 1; }

} // namespace

std::string keep_cosigned(std::string_view kept, const cosigned_checkpoint& newest, std::size_t bytes_max) {
  const auto added = parse_checkpoint(newest.note);
  if (!added) return std::string{kept};
  std::string all{newest.note};
  std::string others;
  for (auto rest = kept; !rest.empty();) {
    const auto old = parse_checkpoint(take_note(rest));
    if (!old || old->content.origin != added->content.origin) continue; // of a log that this one replaces
    const auto signatures = without(old->signatures, newest.witness);
    if (old->text == added->text)
      all = old->text + "\n" + signatures;
    else if (has_cosignature(signatures))
      others += "\n" + old->text + "\n" + signatures;
  }
  all += newest.lines;
  if (all.size() > bytes_max) return std::string{kept};
  all += others;
  while (all.size() > bytes_max) all.resize(all.rfind("\n\n", all.rfind("\n\n") - 1) + 1);
  return all;
}

std::uint64_t size_cosigned_by(std::string_view kept, const note_verifier& witness) {
  std::uint64_t size = 0;
  while (!kept.empty()) {
    const auto note = parse_checkpoint(take_note(kept));
    if (note && is_signed_by(*note, witness)) size = std::max(size, note->content.size);
  }
  return size;
}

} // namespace fq
