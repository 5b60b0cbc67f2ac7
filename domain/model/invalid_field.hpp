// SPDX-License-Identifier: Apache-2.0
// The refusal of a field's value, for validations of settings, promo codes and invitations.
#pragma once
#include "domain/model/refusal.hpp"

#include <string>
#include <string_view>

namespace fq {

/// reason::invalid_field; the detail holds the field's API name and the problem, for people.
inline refusal invalid_field(std::string_view name, std::string_view what) {
  return {reason::invalid_field, std::string{name} + ": " + std::string{what}};
}

} // namespace fq
