// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/views.hpp"

namespace fq {

std::string name_of(const principal& who) {
  switch (who.kind) {
    case principal_kind::nobody: return {};
    case principal_kind::organizer: return "organizer:" + to_string(who.id);
    case principal_kind::operate: return "operator:" + to_string(who.id);
  }
  return {};
}

} // namespace fq
