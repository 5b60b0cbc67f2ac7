// SPDX-License-Identifier: Apache-2.0
// What fans reach at a node of the simulated mesh: does with actors what net/bridge/actor_bridge does for an
// io thread. It keeps the sale's owner, asks its region for another when a request comes back (`moved`) or
// the owner is DOWN, and then fails at once what had no answer. Its watcher hears what owners push, as
// net/websocket/hub does.
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
  /// `node`: the process' name; the edge lives and ends with it.
  edge(caf::actor_config& config, world* w, region_handle region, std::string node);
  caf::behavior make_behavior() override;
  [[nodiscard]] const watcher& watches() const { return watcher_; }

private:
  /// A request, until it is answered or given up.
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
  void ask_positions(find_positions x, std::function<void(caf::error, positions_reply)> then) override {
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
  event_handle owner_; ///< null: not known
  caf::actor_addr returned_by_; ///< the one before, if it is one no more
  bool asks_region_ = false;
  std::vector<call_ptr> calls_; ///< without an answer, in order
  std::vector<call_ptr> waiting_; ///< of those, for an owner
};

} // namespace fq::sim
