// SPDX-License-Identifier: Apache-2.0
#include "domain/base/mailbox.hpp"

#include <algorithm>
#include <array>

namespace fq {
namespace {

struct provider {
  std::string_view domain;
  std::string_view same_as; ///< domain of the same mailboxes
  std::string_view ignored = {}; ///< characters before the plus
};

// As the providers document it, or as they have answered for years.
constexpr std::array providers{
  provider{"gmail.com", "gmail.com", "."},
  provider{"googlemail.com", "gmail.com", "."},
  provider{"outlook.com", "outlook.com"},
  provider{"hotmail.com", "hotmail.com"},
  provider{"live.com", "live.com"},
  provider{"msn.com", "msn.com"},
  provider{"icloud.com", "icloud.com"},
  provider{"me.com", "me.com"},
  provider{"mac.com", "mac.com"},
  provider{"fastmail.com", "fastmail.com"},
  provider{"proton.me", "proton.me", ".-_"},
  provider{"pm.me", "pm.me", ".-_"},
  provider{"protonmail.com", "protonmail.com", ".-_"},
  provider{"yandex.ru", "yandex.ru"},
};

} // namespace

std::string mailbox_of(std::string_view email) {
  const auto at = email.rfind('@');
  if (at == std::string_view::npos) return std::string{email};
  const auto found = std::ranges::find(providers, email.substr(at + 1), &provider::domain);
  if (found == providers.end()) return std::string{email};
  std::string name{email.substr(0, std::min(at, email.find('+')))};
  std::erase_if(name, [&](char c) { return found->ignored.find(c) != std::string_view::npos; });
  if (name.empty()) return std::string{email};
  return name.append("@").append(found->same_as);
}

} // namespace fq
