// SPDX-License-Identifier: Apache-2.0
// One simulated fan: joins, polls, claims, pays or not, and retries with the same idempotency key when an
// answer is lost, as a faithful client does. Everything it is told goes to the checker.
#pragma once
#include "world.hpp"

#include <caf/event_based_actor.hpp>

#include <string>
#include <vector>

namespace fq::sim {

class fan final : public caf::event_based_actor {
public:
  fan(caf::actor_config& config, world* w, std::uint32_t number);
  caf::behavior make_behavior() override;

private:
  /// What it does next; one request at a time.
  enum class goal : std::uint8_t { join, poll, claim, release, release_again, pay, page, watch, leave, done };

  void act();
  void next(goal g, milliseconds delay);
  void stumble(); ///< the answer was lost: the same again, at the next node, after looking for the owner anew
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
  void finish(); ///< this place is over; perhaps another one
  idempotency_ref fresh_key();
  [[nodiscard]] bool wants(std::uint32_t per_mille) { return chance(world_->rng, per_mille); }
  [[nodiscard]] milliseconds soon(std::int64_t low, std::int64_t high) {
    return milliseconds{between(world_->rng, low, high)};
  }

  world* world_;
  customer_id me_;
  goal goal_ = goal::join;
  std::uint64_t generation_ = 0, keys_ = 0;
  std::size_t node_ = 0; ///< that it sends its requests to
  event_handle owner_;
  std::uint64_t join_key_ = 0;
  idempotency_ref claim_key_, payment_key_;
  std::vector<item_wish> wishes_;
  std::string token_;
  claim_id claim_;
  payment_id payment_;
  std::string reference_;
  bool decided_ = false; ///< what to do with this session
  std::uint32_t places_ = 0, watches_ = 0, attempts_ = 0;
};

} // namespace fq::sim
