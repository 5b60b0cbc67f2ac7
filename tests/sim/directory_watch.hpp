// SPDX-License-Identifier: Apache-2.0
// Checks accounts, catalog and directories of the simulated sale. It follows what they commit: every answer
// must be committed when it is given; a sign-in code is accepted at most once, and one that was acknowledged
// is accepted; a directory shows what was committed before it read.
#pragma once
#include "tests/sim/letters.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fq::sim {

class directory_watch {
public:
  explicit directory_watch(world& w) : world_(w) {}

  // -- what the ledger did
  void applied(const batch& b);
  void settled(const batch& b, commit_outcome outcome) const;

  // -- sign-in codes, by address
  mail_answer deliver_code(const mail_letter& letter);
  /// The code that arrived last, or one that was accepted; empty: none.
  [[nodiscard]] std::string newest_code(const std::string& email) const;
  [[nodiscard]] std::string used_code(const std::string& email) const;
  void code_wanted(const std::string& email);
  /// The request's answer; an error leaves open whether it is executed, and when.
  void code_answered(const std::string& email, bool is_error);
  /// It was refused, and no code is sent.
  void code_refused(const std::string& email) {
    auto& a = addresses_[email];
    --a.open;
    a.is_acknowledged = false;
  }
  struct trial {
    std::string email, code;
    milliseconds at{0}; ///< steady time
    bool must_succeed = false;
  };
  [[nodiscard]] trial try_code(const std::string& email, const std::string& code);
  void tried(const trial& t, const person_reply& told);

  // -- other answers
  void saw_customers(const std::vector<std::string>& emails, const std::vector<customer_id>& told);
  void saw_organizer(const std::string& email, const uuid& told) const;
  void saw_tenant(const std::string& name) const;
  void saw_key(const std::string& tenant, const api_key_reply& told) const;
  void saw_revoked(const uuid& key) const;
  void saw_deed(const uuid& target) const;
  void saw_setting(const std::string& value) const;
  void saw_block(const uuid& list, const customer_id& who) const;
  /// `key`: the idempotency key of the request.
  void saw_event(std::uint64_t key, const event_view& told);
  void saw_taken(const std::string& external_id, const refusal& no) const;

  // -- directories
  struct moment {
    access_directory content;
    std::set<uuid> revoked; ///< keys
    std::uint64_t removals = 0; ///< of blocks, until then
  };
  /// What a directory shows at least that reads from now on.
  [[nodiscard]] moment now() const;
  void published(const std::string& process, std::shared_ptr<const access_directory> content) {
    shown_[process] = std::move(content);
  }
  void refreshed(const std::string& process, const moment& least) const;
  /// For the end of the quiet phase.
  void check_end(const std::vector<std::string>& processes) const;

  // -- committed rows
  [[nodiscard]] const std::set<uuid>& audit() const { return audit_; }
  [[nodiscard]] std::set<uuid> events_of(event_kind kind) const;
  [[nodiscard]] std::set<uuid> blocked_by(const uuid& list) const;
  [[nodiscard]] const std::map<uuid, api_key_row>& keys() const { return keys_; }
  [[nodiscard]] const std::map<std::string, tenant_row>& tenants() const { return tenants_; }

private:
  void see(const customer_stored& c);
  void see(const organizer_stored& c) { organizers_[c.row.email] = c.row.id; }
  void see(const tenant_stored& c) { tenants_[c.row.name] = c.row; }
  void see(const api_key_stored& c);
  void see(const setting_stored& c) { settings_.insert(c.row.value); }
  void see(const block_stored& c);
  void see(const block_removed& c);
  void see(const audit_recorded& c);
  void see(const event_created& c);
  template <class Other>
  void see(const Other&) {}
  void must_be(bool is_committed, std::string_view what) const;
  void check_shown(const access_directory& shown, const moment& least) const;

  struct issued {
    std::set<std::string> letters; ///< their ids: a letter may arrive twice
    std::uint64_t accepted = 0;
    milliseconds since{0}; ///< steady time of the first arrival
  };
  struct address {
    std::map<std::string, issued> codes;
    std::string newest;
    int open = 0; ///< requests without an answer
    bool is_alone = false; ///< the latest request was sent when no other was open
    bool is_acknowledged = false, has_arrived = false, is_tried = false; ///< the latest request's code
    bool is_unsure = false; ///< a request or trial may be executed later
  };

  world& world_;
  std::map<std::string, address> addresses_;
  std::map<std::string, customer_id> customers_;
  std::map<std::string, customer_id> listed_; ///< ids that lists have for an address
  std::map<std::string, organizer_id> organizers_;
  std::map<std::string, tenant_row> tenants_;
  std::map<uuid, api_key_row> keys_;
  std::set<std::string> settings_; ///< every value
  std::set<std::pair<uuid, uuid>> blocks_, blocks_ever_; ///< organizer and customer
  std::map<std::pair<uuid, uuid>, std::uint64_t> removed_at_; ///< the number of the last removal
  std::uint64_t removals_ = 0;
  std::map<aggregate_id, event_row> events_;
  std::map<std::string, event_id> external_ids_;
  std::map<std::uint64_t, event_id> event_of_key_;
  std::set<uuid> audit_, deeds_; ///< ids; targets
  std::map<std::string, std::shared_ptr<const access_directory>> shown_; ///< by process
};

/// The way from one process to the service that sends codes.
class sim_code_port final : public letter_port {
public:
  explicit sim_code_port(world& w) : world_(w) {}

protected:
  [[nodiscard]] mail_answer deliver(const mail_letter& letter) override {
    return world_.directory->deliver_code(letter);
  }

private:
  world& world_;
};

} // namespace fq::sim
