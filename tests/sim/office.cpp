// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/office.hpp"

#include "actors/directory/catalog.hpp"
#include "actors/directory/directory.hpp"

#include <caf/actor_cast.hpp>

namespace fq::sim {
namespace {

/// Argon2id without its work.
password_worker_handle::behavior_type sim_passwords() {
  return {[](const check_password& x) { return password_checked{x.stored == "hash of " + x.password}; },
          [](const hash_new_password& x) { return password_hashed{"hash of " + x.password}; }};
}

secret_key code_key() {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(0x17);
  return secret_key{bytes};
}

} // namespace

office::office(world& w, caf::actor_system& system, environment& env, const ledger_workers& ledgers) :
    world_(w), codes_(w) {
  const auto& o = w.options;
  mailer_.env = &env;
  for (int i = 0; i < 2; ++i)
    mailer_.workers.push_back(system.spawn(mail_worker, static_cast<mail_port*>(&codes_)));
  mailer_.pauses = {0, milliseconds{200}, milliseconds{1'000}};
  const auto sends = system.spawn(mailer, static_cast<const mailer_services*>(&mailer_));
  accounts_.env = &env;
  accounts_.ledgers = ledgers;
  accounts_.passwords = system.spawn(sim_passwords);
  accounts_.mailer = caf::actor_cast<mailer_handle>(sends);
  accounts_.otp_key = code_key();
  accounts_.otp_life = o.directory.code_life;
  accounts_.has_cluster = o.mesh.on;
  accounts_.bounds = o.directory.bounds;
  workers_ = {caf::actor_cast<caf::actor>(sends), caf::actor_cast<caf::actor>(accounts_.passwords)};
  for (const auto& worker : mailer_.workers) workers_.push_back(caf::actor_cast<caf::actor>(worker));
  handles_.process = "process " + std::to_string(++w.offices_begun);
  handles_.accounts = system.spawn(accounts, static_cast<const accounts_services*>(&accounts_));
  handles_.catalog = system.spawn(catalog, &env, ledgers, o.mesh.on);
  handles_.directory = system.spawn(directory, ledgers, [&w, id = handles_.process](directory_ptr content) {
    w.directory->published(id, std::move(content));
  });
}

std::vector<caf::actor> office::actors() const {
  auto all = workers_;
  all.push_back(caf::actor_cast<caf::actor>(handles_.accounts));
  all.push_back(caf::actor_cast<caf::actor>(handles_.catalog));
  all.push_back(caf::actor_cast<caf::actor>(handles_.directory));
  return all;
}

caf::actor office::some_owner() const {
  return chance(world_.rng, 500) ? caf::actor_cast<caf::actor>(handles_.accounts)
                                 : caf::actor_cast<caf::actor>(handles_.catalog);
}

void office::forget() {
  workers_.clear();
  handles_ = {};
  accounts_.ledgers.clear();
  accounts_.passwords = nullptr;
  accounts_.mailer = nullptr;
  mailer_.workers.clear();
}

mail_consumer_services mail_services_of(environment& env, mail_port& port) {
  mail_consumer_services s;
  s.env = &env;
  s.port = &port;
  s.mailbox_of = [](const customer_id& customer) { return mailbox{to_string(customer) + "@fans.example"}; };
  s.pauses = {0, milliseconds{200}, milliseconds{1'000}};
  s.patience = milliseconds{4'000};
  s.again_after = milliseconds{400};
  s.no_progress_retry = {0, milliseconds{100}, milliseconds{500}};
  return s;
}

} // namespace fq::sim
