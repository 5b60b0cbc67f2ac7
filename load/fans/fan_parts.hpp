// SPDX-License-Identifier: Apache-2.0
// Shared by the files that define the members of `fan` and `crowd`.
#pragma once

#include "load/fans/fan.hpp"
#include "load/fans/limits.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fq::load {

inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

} // namespace fq::load
