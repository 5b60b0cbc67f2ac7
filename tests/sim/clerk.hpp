// SPDX-License-Identifier: Apache-2.0
// People who ask the simulated accounts, catalog and directories: they sign in, manage organizers, tenants,
// keys, blocks and settings, create events, and walk through lists page by page. The oracle is
// directory_watch.
#pragma once
#include "tests/sim/directory_watch.hpp"

#include <caf/event_based_actor.hpp>

namespace fq::sim {

class clerk final : public caf::event_based_actor {
public:
  clerk(caf::actor_config& config, world* w) : caf::event_based_actor(config), world_(w) {}
  caf::behavior make_behavior() override;

private:
  void act();
  template <class Reply, class Handle, class Message, class Then, class Failed>
  void ask(const Handle& to, Message message, Then then, Failed failed);
  template <class Reply, class Handle, class Message, class Then>
  void ask(const Handle& to, Message message, Then then) {
    ask<Reply>(to, std::move(message), std::move(then), [] {});
  }
  // accounts
  void want_code();
  void use_code();
  void guess();
  void add_organizer();
  void log_in();
  void find_customers();
  void block();
  void unblock();
  void change_setting();
  void record_deed();
  void add_tenant();
  void issue_key();
  void revoke_key();
  // catalog
  void create_draft();
  void create_queue();
  void create(create_event x, std::uint64_t key);
  // directory
  void refresh();
  // lists
  void list_all();
  void list_blocks();
  template <class Reply, class Handle, class Message, class See>
  void walk(Handle to, Message message, std::set<uuid> must, See see,
            std::function<bool(const uuid&)> is_there = {});

  [[nodiscard]] const office_handles& office() const { return world_->offices[at_]; }
  [[nodiscard]] std::string some_email();
  [[nodiscard]] std::string some_tenant();
  [[nodiscard]] principal some_manager();
  [[nodiscard]] std::uint32_t page_limit();

  world* world_;
  std::size_t at_ = 0; ///< the node that is asked
  std::uint64_t keys_ = 0; ///< idempotency keys, values and names so far
  std::map<std::string, std::string> passwords_; ///< of organizers, if certain
  std::map<std::string, int> password_changes_; ///< requests
  std::vector<create_event> created_; ///< requests so far; number: idempotency key
};

} // namespace fq::sim
