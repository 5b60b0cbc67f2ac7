// SPDX-License-Identifier: Apache-2.0
// One simulated fan: joins, polls, claims, pays or not, and repeats a request with the same idempotency key
// when its answer is lost. Reports every answer to the checker.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/event_based_actor.hpp>

#include <string>
#include <vector>

namespace fq::sim {

/// The account of fan number `number`, counted from 0.
customer_id customer_of(std::uint32_t number);
/// For whom a guest buys; nil: the fan has signed in.
customer_id buyer_of(std::uint32_t number, const sale_options& o);

class fan final : public caf::event_based_actor {
public:
  /// `comes_at` 0: a random time within the arrival span.
  fan(caf::actor_config& config, world* w, std::uint32_t number, milliseconds comes_at = milliseconds{0});
  caf::behavior make_behavior() override;

private:
  /// The next request; one at a time.
  enum class goal : std::uint8_t {
    join,
    poll,
    claim,
    release,
    release_again,
    pay,
    page,
    watch,
    leave,
    order,
    order_watch,
    order_cancel,
    end_visit,
    lock,
    party,
    done
  };

  void act();
  void next(goal g, milliseconds delay);
  void stumble(); ///< the answer was lost: repeats the request at the next node, after a new search for the
                  ///< owner
  template <class Message, class Then>
  void ask(Message message, Then then);

  void do_join();
  void do_poll();
  void do_claim();
  void do_release();
  void do_pay();
  void do_page();
  void do_watch();
  void do_leave();

  void on_place(const entry_reply& told);
  void on_admitted(const entry_view& entry);
  void on_claimed(const claim_reply& told);
  void after_claim();
  void on_payment(const payment_reply& told);
  void on_page();
  // access codes, presence, standalone queues (fan_visit.cpp)
  [[nodiscard]] ticket_type_id some_type();
  [[nodiscard]] bool wants_code() { return strikes(world_->rng, world_->options.access.gives_code); }
  [[nodiscard]] std::string some_code();
  [[nodiscard]] static bool is_about_code(reason why);
  [[nodiscard]] bool dozes();
  void do_show_ticket();
  void do_return_ticket();
  void do_end_visit();
  void do_lock();
  void do_change_party();
  // checkout (fan_checkout.cpp)
  [[nodiscard]] bool buys_by_order();
  [[nodiscard]] goal first_goal();
  [[nodiscard]] goal watching() const { return order_.is_nil() ? goal::watch : goal::order_watch; }
  void wish_order();
  void do_order();
  void do_order_watch();
  void do_order_cancel();
  void on_ordered(const order_reply& told);
  void on_order(const order_view& seen);
  void on_unpaid_order(const order_view& seen);
  void finish(); ///< this place is over; the fan may join again
  idempotency_ref fresh_key();
  [[nodiscard]] bool wants(std::uint32_t per_mille) { return chance(world_->rng, per_mille); }
  [[nodiscard]] milliseconds soon(std::int64_t low, std::int64_t high) {
    return milliseconds{between(world_->rng, low, high)};
  }

  world* world_;
  customer_id buyer_; ///< see buyer_of
  customer_id me_;
  milliseconds comes_at_{0};
  goal goal_ = goal::join;
  std::uint64_t generation_ = 0, keys_ = 0;
  std::size_t node_ = 0; ///< receives this fan's requests
  event_handle owner_;
  std::uint64_t join_key_ = 0;
  idempotency_ref claim_key_, payment_key_, order_key_;
  std::vector<item_wish> wishes_;
  seat_wish seats_; ///< besides wishes_
  order_wish order_wish_;
  order_id order_; ///< nil: buys with a claim, without an order
  std::string seen_url_; ///< of the last payment page that it used
  std::string token_;
  std::string access_code_; ///< given with the next join
  bool is_single_ = false; ///< a party has refused it
  entry_id ticket_; ///< its latest place
  claim_id claim_;
  payment_id payment_;
  std::string reference_;
  bool decided_ = false; ///< about the use of this session
  std::uint32_t places_ = 0, watches_ = 0, attempts_ = 0;
};

} // namespace fq::sim
