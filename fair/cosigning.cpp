// SPDX-License-Identifier: Apache-2.0
#include "fair/cosigning.hpp"

#include "fair/limits.hpp"

#include <algorithm>
#include <charconv>

namespace fq {
namespace {

/// The body of a 409: a size and a newline.
std::optional<std::uint64_t> size_in(std::string_view body) {
  if (!body.ends_with('\n')) return std::nullopt;
  body.remove_suffix(1);
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), size);
  if (body.empty() || error != std::errc{} || end != body.data() + body.size()) return std::nullopt;
  return size;
}

} // namespace

bool cosigning::lacks(std::uint64_t size) const { return size_ < size || (size_ == size && !has_cosigned_); }

std::optional<std::uint64_t> cosigning::due(std::uint64_t newest, milliseconds now) const {
  if (is_asked_ || now < retry_at_ || (has_cosigned_ && size_ >= newest)) return std::nullopt;
  return size_;
}

std::optional<milliseconds> cosigning::waits_until() const {
  return is_asked_ || failures_ == 0 ? std::nullopt : std::optional{retry_at_};
}

void cosigning::resume(std::uint64_t kept) {
  size_ = std::max(size_, kept);
  has_cosigned_ = kept > 0 && kept == size_;
}

cosigning_event cosigning::pause(cosigning_event why, milliseconds now, milliseconds least) {
  is_corrected_ = false;
  const auto doublings = std::min<std::uint32_t>(failures_++, 16);
  retry_at_ = now + std::min(std::max(least, witness_pause * (1 << doublings)), witness_pause_max);
  return why;
}

void cosigning::fail(milliseconds now) {
  is_asked_ = false;
  pause(cosigning_event::failed, now, witness_pause);
}

cosigning_event cosigning::take(const witness_answer& answer, const checkpoint_note& note,
                                std::uint64_t newest, const note_verifier& witness, milliseconds now,
                                std::string& line) {
  is_asked_ = false;
  switch (answer.status) {
    case 200: {
      auto whole = note;
      whole.signatures = answer.body;
      line = signature_of(whole, witness);
      if (line.empty()) return pause(cosigning_event::failed, now, witness_pause);
      size_ = note.content.size;
      has_cosigned_ = true;
      failures_ = 0;
      is_corrected_ = false;
      return cosigning_event::cosigned;
    }
    case 409: {
      const auto size = size_in(answer.body);
      const bool is_same_size = asked_size_ > 0 && asked_size_ == note.content.size;
      if (is_same_size && size.value_or(asked_size_) == asked_size_) // of the same size, so the roots differ
        return pause(cosigning_event::inconsistent, now, witness_pause_max);
      if (!size) return pause(cosigning_event::failed, now, witness_pause);
      if (*size > newest) return pause(cosigning_event::ahead, now, witness_pause_max);
      const bool is_new = *size != size_ && !is_corrected_; // a witness that contradicts itself must wait
      if (*size != size_) has_cosigned_ = false; // its answer over that one was lost
      size_ = *size;
      if (!is_new) return pause(cosigning_event::failed, now, witness_pause);
      is_corrected_ = true;
      return cosigning_event::other_size;
    }
    case 422: return pause(cosigning_event::inconsistent, now, witness_pause_max);
    case 403:
    case 404: return pause(cosigning_event::refused, now, witness_pause_max);
    default: return pause(cosigning_event::failed, now, witness_pause);
  }
}

} // namespace fq
