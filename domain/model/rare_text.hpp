// SPDX-License-Identifier: Apache-2.0
// A text that is usually empty, in the size of a pointer.
#pragma once
#include <memory>
#include <string>
#include <utility>

namespace fq {

class rare_text {
public:
  rare_text() = default;
  rare_text(std::string text) :
      // NOLINT: a text is a rare text
      text_(text.empty() ? nullptr : std::make_unique<const std::string>(std::move(text))) {}
  rare_text(const rare_text& other) : rare_text(other.text()) {}
  rare_text(rare_text&&) noexcept = default;
  rare_text& operator=(rare_text other) noexcept {
    text_.swap(other.text_);
    return *this;
  }
  ~rare_text() = default;

  [[nodiscard]] const std::string& text() const {
    static const std::string none;
    return text_ ? *text_ : none;
  }
  friend bool operator==(const rare_text& a, const rare_text& b) { return a.text() == b.text(); }

private:
  std::unique_ptr<const std::string> text_; ///< null: empty
};

} // namespace fq
