// SPDX-License-Identifier: Apache-2.0
// Accounts, catalog, directory and mail of one simulated process: the real actors over ports of the
// simulation.
#pragma once
#include "tests/sim/directory_watch.hpp"

#include "actors/directory/accounts.hpp"
#include "actors/outbox/mail_consumer.hpp"
#include "actors/outbox/mailer.hpp"

#include <caf/actor_system.hpp>

namespace fq::sim {

class office {
public:
  /// `env` and `w` outlive the office.
  office(world& w, caf::actor_system& system, environment& env, const ledger_workers& ledgers);

  [[nodiscard]] const office_handles& handles() const { return handles_; }
  [[nodiscard]] std::vector<caf::actor> actors() const;
  /// Either must end the process when it ends.
  [[nodiscard]] caf::actor some_owner() const;
  void forget();

private:
  world& world_;
  sim_code_port codes_;
  mailer_services mailer_;
  accounts_services accounts_;
  office_handles handles_;
  std::vector<caf::actor> workers_;
};

/// The services of a mail consumer of the simulation, without the region.
mail_consumer_services mail_services_of(environment& env, mail_port& port);

} // namespace fq::sim
