// SPDX-License-Identifier: Apache-2.0
#include "app/root.hpp"

#include <algorithm>
#include <memory>

namespace fq {

caf::behavior root_supervisor(caf::event_based_actor* self, root_children children,
                              std::function<void(std::string)> on_failure) {
  auto alive = std::make_shared<root_children>(std::move(children));
  auto stopping = std::make_shared<bool>(false);
  for (const auto& [name, child] : *alive) self->monitor(child);
  self->set_down_handler([=](const caf::down_msg& down) {
    const auto i =
      std::ranges::find_if(*alive, [&](const auto& c) { return c.second.address() == down.source; });
    if (i == alive->end()) return;
    if (!*stopping) return on_failure(i->first + ": " + to_string(down.reason));
    alive->erase(i); // stop the next one: later actors use earlier ones
    if (alive->empty()) return self->quit();
    self->send_exit(alive->back().second, caf::exit_reason::user_shutdown);
  });
  self->set_exit_handler([=](const caf::exit_msg&) {
    if (std::exchange(*stopping, true)) return;
    if (alive->empty()) return self->quit();
    self->send_exit(alive->back().second, caf::exit_reason::user_shutdown);
  });
  self->set_default_handler(caf::drop);
  return {[](caf::unit_t) {}};
}

} // namespace fq
