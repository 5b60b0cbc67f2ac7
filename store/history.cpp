// SPDX-License-Identifier: Apache-2.0
// Names of history rows: the state texts of domain/states, chosen by kind.
#include "store/history.hpp"

#include "domain/states.hpp"

namespace fq {

std::string name_of(history_kind kind) {
  switch (kind) {
    case history_kind::event: return "event";
    case history_kind::entry: return "entry";
    case history_kind::claim: return "claim";
    case history_kind::payment: return "payment";
    case history_kind::refund: return "refund";
  }
  return {};
}

std::string state_name(history_kind kind, std::uint8_t status) {
  switch (kind) {
    case history_kind::event: return std::string{name_of(static_cast<event_status>(status))};
    case history_kind::entry: return std::string{name_of(static_cast<entry_status>(status))};
    case history_kind::claim: return std::string{name_of(static_cast<claim_status>(status))};
    case history_kind::payment: return std::string{name_of(static_cast<payment_status>(status))};
    case history_kind::refund: return std::string{name_of(static_cast<refund_status>(status))};
  }
  return {};
}

} // namespace fq
