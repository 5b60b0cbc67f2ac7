// SPDX-License-Identifier: Apache-2.0
// The odds of a place in line as JSON.
#pragma once
#include "domain/sale/views.hpp"

#include <string>

namespace fq::net {

/// The member `outlook`, with a comma before it. Nothing for places without one.
void append_outlook(std::string& out, const outlook& o);

} // namespace fq::net
