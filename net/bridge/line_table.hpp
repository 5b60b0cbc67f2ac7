// SPDX-License-Identifier: Apache-2.0
// The lines in which customers of this io thread wait. Their owners push every change after its commit. So
// the table computes positions of sockets, and of places that polled before, without a question. Everything
// runs on the io thread.
#pragma once
#include "domain/line/line_copy.hpp"
#include "domain/sale/views.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/bridge/limits.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace fq::net {

/// A line and the subscription to its owner.
struct known_line {
  enum class phase : std::uint8_t { opening, open, lost };

  event_id event;
  phase now = phase::opening;
  std::uint32_t generation = 0; ///< unique; a new one voids all positions
  event_status status = event_status::active;
  bool sold_out = false;
  bool watches_presence = false;
  bool is_followed = false; ///< by the hub
  bool is_gone = false; ///< unsubscribed
  line_copy places;
  line_facts facts; ///< as the owner told last
  std::string message; ///< the operator's message to all in line
  milliseconds trusted_until{0}; ///< steady time
  std::shared_ptr<const told_version> told; ///< null: not known
  unsigned renewals = 0; ///< under way
  milliseconds polled_at{0}, reopen_at{0};
  milliseconds renew_at{0}; ///< the next renewal, after one that did not help
  milliseconds reopen_wait = reopen_after; ///< longer after each failure
  std::vector<queue_number> seen; ///< holders that polled; the owner is not told yet
};
using known_line_ptr = std::shared_ptr<known_line>;

/// The hub. Its pushes come after the line has taken them.
class line_follower {
public:
  virtual void on_line_open(const event_id& event) = 0; ///< all places must be read
  virtual void on_line_lost(const event_id& event) = 0; ///< until it is open again
  virtual void on_line_elsewhere(const event_id& event) = 0; ///< lost; this node cannot reach its owner
  virtual void on_entries_changed(const entries_changed& push) = 0;
  virtual void on_event_noticed(const event_noticed& push) = 0;
  virtual void on_orders_changed(const orders_changed& push) = 0;

protected:
  ~line_follower() = default;
};

/// The places that polled, the least recently polled of which are forgotten.
class known_places {
public:
  struct place {
    entry_id id;
    line_spot spot;
    std::int64_t base = 0; ///< see line_copy
    std::uint32_t generation = 0; ///< of the line
    bool has_outlook = false;
  };
  [[nodiscard]] const place* find(const event_id& event, const customer_id& holder);
  void put(const event_id& event, const customer_id& holder, const place& p);
  /// Frees some of those that were forgotten: all at once would stop the thread.
  void free_some();

private:
  struct key {
    event_id event;
    customer_id holder;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return std::hash<uuid>{}({k.holder.hi ^ k.event.lo, k.holder.lo});
    }
  };
  using places = std::unordered_map<key, place, hash>;
  void make_room();

  places recent_, older_; ///< when the recent ones are too many, the older ones are forgotten
  places forgotten_;
};

class line_table final : public push_receiver {
public:
  explicit line_table(context& ctx) : ctx_(ctx) {}
  line_table(const line_table&) = delete;
  line_table& operator=(const line_table&) = delete;

  void set_follower(line_follower* follower) { follower_ = follower; }
  /// Subscribes for the hub. If the line is open already, `on_line_open` is not called.
  known_line_ptr follow(const event_id& event);
  void unfollow(const event_id& event);
  /// Whether the pace is new enough for an ETA.
  [[nodiscard]] bool has_pace(const known_line& l) const {
    return ctx_.environment.steady_now() < l.trusted_until;
  }
  /// Asks the owner for the pace.
  awaitable<answer<line_reply>> renew(known_line_ptr l);

  /// The waiting entry of `holder` as its owner would show it now; none: ask the owner. Counts as presence.
  [[nodiscard]] std::optional<entry_view> find_place(const event_id& event, const customer_id& holder);
  /// The line of a place that would be found if the pace were new; null for others, and while it is no use to
  /// ask for the pace: another poll has asked, or the owner is slow.
  [[nodiscard]] known_line_ptr find_stale(const event_id& event, const customer_id& holder);
  /// Keeps what the owner answered to the holder of a place.
  void learn(const entry_reply& told);

  /// Restores lost subscriptions, ends unused ones, tells owners who polled. Called about every 250 ms.
  void sweep(milliseconds now);
  void stop();

private:
  void on_entries_changed(const entries_changed& push) override;
  void on_event_noticed(const event_noticed& push) override;
  void on_orders_changed(const orders_changed& push) override;
  void on_owner_gone(aggregate_id aggregate) override;

  [[nodiscard]] known_line* find(const event_id& event) const;
  known_line_ptr enter(const event_id& event);
  detached open(known_line_ptr l);
  void lose(known_line& l);
  void leave(known_line& l);
  void take_facts(known_line& l, const line_facts& facts, milliseconds asked_at);
  [[nodiscard]] static bool is_current(const known_line& l, milliseconds steady);
  [[nodiscard]] const known_places::place* find_waiting(const known_line& l, const customer_id& holder);
  void tell_presence(known_line& l);

  context& ctx_;
  line_follower* follower_ = nullptr;
  bool stopped_ = false;
  std::uint32_t generations_ = 0;
  std::unordered_map<event_id, known_line_ptr> lines_;
  known_places places_;
};

} // namespace fq::net
