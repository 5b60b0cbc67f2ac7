// SPDX-License-Identifier: Apache-2.0
// The line that a page is about: an event or a standalone queue. Used by the waiting and fairness pages.
#pragma once
#include "domain/sale/views.hpp"
#include "net/pages/visit.hpp"

#include <optional>

namespace fq::net {

struct line_found {
  std::optional<response> no;
  event_view line = {};
};

/// Finds an event, else a queue, with the id in the path.
awaitable<line_found> find_line(const visit& v);

} // namespace fq::net
