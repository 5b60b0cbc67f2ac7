// SPDX-License-Identifier: Apache-2.0
// One process's connection to the memory ledger: injects failed calls, reports outcomes to the checkers, and
// cuts the connection when the process is killed.
#pragma once
#include "tests/sim/world.hpp"

#include <map>
#include <optional>
#include <string>

namespace fq::sim {

/// I15: an answer may be so old at most.
inline constexpr milliseconds stale_max{5'000};

/// Tracks independently which process owns the sale (I17). None may take it while another node's lease
/// lasts, and no former owner may answer a request that was sent after the takeover. Once a later process of
/// its name has begun, a process takes, renews and commits nothing, and one lease term later it answers
/// nothing. A process has its node's name, until a twin begins at the node.
class lease_watch {
public:
  explicit lease_watch(world& w) : world_(w) {}
  void taken(const std::string& process, milliseconds term);
  void renewed(const std::string& process, milliseconds term);
  void released(const std::string& process);
  /// A second process begins at `node`; the first one is called `earlier` from now on.
  void has_twin(const std::string& node, const std::string& earlier);
  /// The ledger knows a new process of `node`.
  void begun(const std::string& node);
  void committed(const std::string& process) const;
  /// A tool took the sale and ignored the lease.
  void broken();
  /// A peer ended the leases of `node`, which it holds for dead. If it lives, it learns that soon.
  void ended(const std::string& node);
  [[nodiscard]] bool is_held_by(const std::string& node) const { return holder_ == node; }
  [[nodiscard]] bool is_elsewhere(const std::string& node) const {
    return !holder_.empty() && holder_ != node;
  }

  struct asking {
    std::uint64_t takes = 0;
    bool elsewhere = false;
    bool is_over = false; ///< a later process of its name began more than a lease term ago
  };
  /// Whether it may answer from memory that is out of date: within a lease term, after another process took
  /// the sale.
  [[nodiscard]] bool may_be_stale(const std::string& process) const {
    return is_earlier(process) || (last_holder_ != process && world_.env->steady_now() < unaware_until_);
  }
  /// Whether the ledger knows a later process of its name.
  [[nodiscard]] bool is_earlier(const std::string& process) const {
    return process == earlier_ && later_begun_at_;
  }
  /// State of a fan's request to `node`, for answered().
  [[nodiscard]] asking asked(const std::string& node) const;
  void answered(const asking& a, const std::string& node) const;
  /// The same, and checks the owner actor: after each takeover only one actor answers.
  void answered(const asking& a, const std::string& node, caf::actor_id owner);

private:
  world& world_;
  std::string earlier_; ///< the process that has a twin
  std::optional<milliseconds> later_begun_at_; ///< steady time
  void is_held_until(milliseconds term);
  std::string holder_, last_holder_; ///< holder_ empty: no owner
  milliseconds until_{0}; ///< end of the lease, in right steady time
  timestamp ledger_until_; ///< the same by the ledger's clock
  milliseconds unaware_until_{0}; ///< the owner may trust its lease until then although a tool took the sale
  std::uint64_t takes_ = 0;
  std::map<std::uint64_t, caf::actor_id> answers_; ///< answering owner by number of takes
};

class ledger_connection final : public ledger {
public:
  ledger_connection(world& w, std::string process) : world_(w), process_(std::move(process)) {}
  /// The name of the process for the checks.
  [[nodiscard]] const std::string& process() const { return process_; }
  void rename(std::string process) { process_ = std::move(process); }
  /// Whether the process knows its incarnation.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
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
  [[nodiscard]] bool has_sale(std::span<const tenure> tenures) const;

  world& world_;
  std::string process_;
  bool has_begun_ = false;
  bool is_cut_ = false;
  milliseconds cut_until_{0};
};

} // namespace fq::sim
