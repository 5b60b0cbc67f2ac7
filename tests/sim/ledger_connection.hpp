// SPDX-License-Identifier: Apache-2.0
// One process's connection to the memory ledger: injects failed calls, reports outcomes to the checkers, and
// cuts the connection when the process is killed.
#pragma once
#include "tests/sim/world.hpp"

#include <map>
#include <string>

namespace fq::sim {

/// Tracks independently which node owns the sale (I17). No node may take it while another node's lease lasts,
/// and no former owner may answer a request that was sent after the takeover.
class lease_watch {
public:
  explicit lease_watch(world& w) : world_(w) {}
  void taken(const std::string& node, milliseconds term);
  void renewed(const std::string& node, milliseconds term);
  void released(const std::string& node);
  /// A tool took the sale and ignored the lease.
  void broken();
  [[nodiscard]] bool is_held_by(const std::string& node) const { return holder_ == node; }
  [[nodiscard]] bool is_elsewhere(const std::string& node) const {
    return !holder_.empty() && holder_ != node;
  }

  struct asking {
    std::uint64_t takes = 0;
    bool elsewhere = false;
  };
  /// State of a fan's request to `node`, for answered().
  [[nodiscard]] asking asked(const std::string& node) const;
  void answered(const asking& a, const std::string& node) const;
  /// The same, and checks the owner actor: after each takeover only one actor answers.
  void answered(const asking& a, const std::string& node, caf::actor_id owner);

private:
  world& world_;
  std::string holder_, last_holder_; ///< holder_ empty: no owner
  milliseconds until_{0}; ///< end of the lease, in the ledger's steady time
  milliseconds unaware_until_{0}; ///< the owner may trust its lease until then although a tool took the sale
  std::uint64_t takes_ = 0;
  std::map<std::uint64_t, caf::actor_id> answers_; ///< answering owner by number of takes
};

class ledger_connection final : public ledger {
public:
  ledger_connection(world& w, std::string node) : world_(w), node_(std::move(node)) {}
  /// Fails every call from now on.
  void cut() { is_cut_ = true; }
  /// Fails every call until `steady`.
  void cut_until(milliseconds steady) { cut_until_ = steady; }
  [[nodiscard]] bool is_cut_off() const { return world_.env->steady_now() < cut_until_; }

  FQ_LEDGER_OVERRIDES;

private:
  void pass() const; ///< throws if the connection is cut
  void go_out() const; ///< throws if the request is lost
  void come_back() const; ///< throws if the answer is lost
  void note(const acquire_result& result, const lease_terms& lease) const;

  world& world_;
  std::string node_;
  bool is_cut_ = false;
  milliseconds cut_until_{0};
};

} // namespace fq::sim
