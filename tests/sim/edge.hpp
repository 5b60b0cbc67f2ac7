// SPDX-License-Identifier: Apache-2.0
// The fans' entry to a node of the simulated mesh: does with actors what net/bridge/actor_bridge does for an
// io thread. It caches the sale's owner. It asks its region for the new owner if a request returns with
// `moved` or the owner is DOWN; then unanswered requests fail at once. Its watcher receives the owner's
// pushes, as net/websocket/hub does.
#pragma once
#include "tests/sim/ledger_connection.hpp"
#include "tests/sim/watcher.hpp"

#include "actors/base/errors.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/response_type.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fq::sim {

template <class Message>
using event_reply_of = caf::detail::tl_head_t<caf::response_type_t<event_handle::signatures, Message>>;

class edge final : public caf::event_based_actor, private event_asker {
public:
  /// `node`: name of the process; the edge ends with it.
  edge(caf::actor_config& config, world* w, region_handle region, std::string node);
  caf::behavior make_behavior() override;
  [[nodiscard]] const watcher& watches() const { return watcher_; }

private:
  /// A request until its answer or timeout.
  struct call {
    virtual ~call() = default;
    virtual void go(const event_handle& owner) = 0;
    virtual void fail(caf::error why) = 0;
    bool is_open = true;
    int bounces = 0;
    milliseconds asked_at{0};
  };
  using call_ptr = std::shared_ptr<call>;
  template <class Message>
  struct call_of;

  template <class Message>
  auto serve();
  template <class Message>
  void ask(Message message, std::function<void(caf::error, event_reply_of<Message>)> then);
  // event_asker
  void ask_line(find_line x, std::function<void(caf::error, line_reply)> then) override {
    ask(std::move(x), std::move(then));
  }
  void ask_entry(find_entry x, std::function<void(caf::error, entry_reply)> then) override {
    ask(std::move(x), std::move(then));
  }
  bool tell(subscribe x) override;

  void find_owner(call_ptr c);
  void ask_region();
  void resolved(const event_handle& owner);
  void not_resolved(const caf::error& why);
  void bounce(call_ptr c, const caf::actor_addr& owner);
  void forget_owner();
  void on_owner_left();
  void on_down(const caf::down_msg& down);
  [[nodiscard]] std::string node_of(const event_handle& owner) const;
  void settle(const call& c, const caf::error& why);

  world* world_;
  region_handle region_;
  std::string node_;
  watcher watcher_;
  event_handle owner_; ///< null: unknown
  caf::actor_addr returned_by_; ///< the previous owner, if it returned requests
  bool asks_region_ = false;
  std::vector<call_ptr> calls_; ///< unanswered, in order
  std::vector<call_ptr> waiting_; ///< the part of calls_ that waits for an owner
};

} // namespace fq::sim
