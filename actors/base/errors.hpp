// SPDX-License-Identifier: Apache-2.0
// Infrastructure errors: CAF errors of category "fq". A refusal by business rules is a `refusal` in a reply,
// never an error.
#pragma once
#include <caf/atom.hpp>
#include <caf/error.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace fq {

enum class errc : std::uint8_t {
  absent = 1, ///< no such aggregate
  unavailable = 2, ///< the owner cannot serve now; retry
  not_owner = 3, ///< another node holds the lease; retry there or later
  moved = 4, ///< handover in progress; the request is returned unchanged, to be sent to the new owner
  ledger_lost = 5, ///< the ledger lost commits of the aggregate: a person must decide
};

inline caf::error make_error(errc code) {
  return caf::error{static_cast<std::uint8_t>(code), caf::atom("fq")};
}

/// `not_owner` with the node that holds the lease.
inline caf::error make_not_owner(std::string owner) {
  return caf::error{static_cast<std::uint8_t>(errc::not_owner), caf::atom("fq"),
                    caf::make_message(std::move(owner))};
}

/// `moved` with the request.
template <class Request>
caf::error make_moved(const Request& x) {
  return caf::error{static_cast<std::uint8_t>(errc::moved), caf::atom("fq"), caf::make_message(x)};
}

/// The node named by `not_owner`; empty: none.
inline std::string owner_in(const caf::error& e) {
  return e.context().size() == 1 && e.context().match_element<std::string>(0)
           ? e.context().get_as<std::string>(0)
           : std::string{};
}

inline bool is(const caf::error& e, errc code) {
  return e.category() == caf::atom("fq") && e.code() == static_cast<std::uint8_t>(code);
}

} // namespace fq
