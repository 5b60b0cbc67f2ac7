// SPDX-License-Identifier: Apache-2.0
// A simulated fan's requests: every answer of the server goes to the checker, even if the fan does not
// receive it.
#pragma once
#include "tests/sim/fan.hpp"

#include "tests/sim/ledger_connection.hpp"

namespace fq::sim {

template <class Message, class Then>
void fan::ask(Message message, Then then) {
  const auto asked = world_->check->step;
  if (world_->net != nullptr) // the node's edge finds the owner and checks which one answers
    return request(world_->edges[node_], world_->options.patience, std::move(message))
      .then(
        [this, then, asked](const typename Then::reply_type& reply) {
          then.check(reply, asked);
          if (world_->chaos && wants(world_->options.faults.answer_lost)) return stumble();
          then.use(reply);
        },
        [this](caf::error&) { stumble(); });
  const auto process = world_->process_of(owner_.id());
  const auto lease = world_->leases->asked(process);
  request(owner_, world_->options.patience, std::move(message))
    .then(
      [this, then, asked, lease, process](const typename Then::reply_type& reply) {
        world_->leases->answered(lease, process);
        if (world_->leases->may_be_stale(process)) return stumble();
        then.check(reply, asked); // the server has answered, even if the fan does not receive it
        if (world_->chaos && wants(world_->options.faults.answer_lost)) return stumble();
        then.use(reply);
      },
      [this](caf::error&) { stumble(); });
}

/// Checks a reply, then uses it.
template <class Reply, class Check, class Use>
struct answer_to {
  using reply_type = Reply;
  Check check;
  Use use;
};
template <class Reply, class Check, class Use>
answer_to<Reply, Check, Use> on(Check check, Use use) {
  return {std::move(check), std::move(use)};
}

} // namespace fq::sim
