// SPDX-License-Identifier: Apache-2.0
// Follows every committed change of the simulated sale with a model of its own and compares: the invariants
// of DESIGN §3 by name. Fed by the memory ledger (what is durable), by fans (what they were told) and by the
// gateway (where the money is).
#pragma once
#include "actors/messages.hpp"
#include "domain/admission.hpp"
#include "store/memory_ledger.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace fq::sim {

/// Rare branches; each must be reached by some seed, else the run as a whole fails.
enum class rare : std::uint8_t {
  late_money_claimed_again,
  late_money_refunded,
  unknown_commit_landed_late,
  old_epoch_refused,
  fenced_reload,
  sold_out_then_reopened,
  restart_budget_spent,
  replayed_idempotent_answer,
  claim_waited_for_verdict,
  passivated,
  process_crashed,
  process_frozen,
  commit_busy,
  owned_elsewhere,
  taken_over,
  zombie_refused,
  mirror_rebuilt,
  old_dump_noticed,
  delivered_again,
  count_
};
std::string_view name_of(rare r);

class checker {
public:
  checker(memory_ledger& store, aggregate_id aggregate, milliseconds verdict_grace)
      : store_(store),
        aggregate_(aggregate),
        grace_(verdict_grace) {}

  // -- what the ledger did --------------------------------------------------------------------------------
  void applied(const batch& b);
  void settled(const batch& b, commit_outcome outcome);
  /// Another node's owner took `epoch` and went away: the living owner's next batch must be refused.
  void rival_took(std::uint64_t epoch) { rival_epoch_ = epoch_ = epoch; }
  void owner_took(std::uint64_t epoch) { owner_epoch_ = epoch_ = epoch; }
  [[nodiscard]] std::uint64_t owner_epoch() const { return owner_epoch_; }

  // -- what fans were told; `asked` is the step at which they sent the request ----------------------------
  void saw_place(const customer_id& who, std::uint64_t key, const entry_reply& told);
  void saw_entry(const customer_id& who, const entry_reply& told);
  void saw_claim(const idempotency_ref& key, const customer_id& who, const claim_reply& told,
                 std::uint64_t asked, bool was_durable);
  void saw_payment(const idempotency_ref& key, const payment_reply& told, bool was_durable);
  void saw_released(const claim_id& claim);
  /// Whether the answer to `key` was committed already: from then on nothing else may be answered (I9).
  [[nodiscard]] bool has_answer(const idempotency_ref& key) const;

  // -- time -----------------------------------------------------------------------------------------------
  /// In the quiet phase, when the owner has had time to recover.
  void check_liveness(timestamp now, timestamp owned_since);
  /// At the end of the quiet phase: nothing is under way any more, and the model equals the ledger.
  void check_end();

  void fail(std::string_view invariant, std::string what);
  void reached(rare r) { ++reached_[static_cast<std::size_t>(r)]; }

  std::uint64_t step = 0; ///< set by the simulation
  [[nodiscard]] const std::string& violation() const { return violation_; }
  [[nodiscard]] const auto& reached() const { return reached_; }
  [[nodiscard]] const std::map<payment_id, payment_row>& payments() const { return payments_; }
  [[nodiscard]] const claim_row* find_claim(const claim_id& id) const;
  [[nodiscard]] const event_row& event() const { return event_; }
  [[nodiscard]] std::int64_t sold() const;
  struct counts_t {
    std::uint64_t waiting = 0, admitted = 0, claims_live = 0, claims_confirmed = 0, payments_open = 0;
  };
  [[nodiscard]] counts_t counts() const;
  /// Of everything applied, for the determinism check.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

private:
  void see(const event_created& c);
  void see(const event_changed& c);
  void see(const ticket_type_added& c);
  void see(const ticket_type_changed& c);
  void see(const stock_moved& c);
  void see(const entry_joined& c);
  void see(const entry_moved& c);
  void see(const claim_opened& c);
  void see(const claim_moved& c);
  void see(const payment_opened& c);
  void see(const payment_moved& c);
  void see(const refund_opened& c);
  void see(const refund_moved& c);
  void see(const promo_code_added& c);
  void see(const promo_code_changed& c);
  void see(const promo_uses_moved& c);
  void see(const order_placed& c);
  void see(const order_moved& c);
  void see(const dead_letter_stored& c);
  void see(const priority_stored& c);
  void see(const priority_removed& c);
  void see(const idempotency_stored& c);
  template <class Other>
  void see(const Other&) {}

  void admitted(const entry_row& row);
  void count_claim(const claim_row& row, std::int64_t sign);
  void check_stock();
  void check_claims_of(const customer_id& who);
  void watch_sold_out();
  [[nodiscard]] std::int64_t available() const;
  [[nodiscard]] bool sold_out() const;
  [[nodiscard]] std::uint64_t admitted_without_claim() const;
  [[nodiscard]] std::uint64_t admissions_within(milliseconds span, timestamp now) const;
  [[nodiscard]] std::uint64_t room(timestamp now) const;
  [[nodiscard]] timestamp deadline_of(const entry_row& row) const;
  [[nodiscard]] const entry_row* entry_of(const entry_id& id) const;

  struct stock {
    std::int64_t held = 0, sold = 0;
  };

  memory_ledger& store_;
  aggregate_id aggregate_;
  milliseconds grace_;
  std::uint64_t epoch_ = 0, rival_epoch_ = 0, owner_epoch_ = 0;
  std::uint64_t digest_ = 0;

  // the model
  event_row event_;
  std::vector<ticket_type_row> types_;
  std::vector<stock> claimed_; ///< what the claims add up to, per type
  std::map<queue_number, entry_row> entries_;
  std::set<queue_number> waiting_;
  std::map<customer_id, queue_number> live_place_;
  std::set<queue_number> active_;
  std::map<queue_number, int> live_claims_; ///< per entry
  std::map<claim_id, claim_row> claims_;
  std::map<payment_id, payment_row> payments_;
  std::map<refund_id, refund_row> refunds_;
  std::map<std::uint32_t, promo_code_row> promo_codes_;
  std::map<order_id, order_row> orders_;
  std::map<uuid, dead_letter_row> dead_letters_, open_letters_;
  std::map<customer_id, priority_row> priorities_;
  std::map<digest128, digest128> answered_; ///< idempotency keys in the ledger
  std::deque<timestamp> admissions_;
  timestamp latest_;                                           ///< greatest time of a join or an admission
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_seq_; ///< every (from, to) is applied once

  // what was seen
  std::map<std::pair<customer_id, std::uint64_t>, queue_number> place_of_key_;
  std::map<entry_id, std::uint64_t> last_position_;
  std::map<customer_id, queue_number> known_place_;
  std::map<entry_id, timestamp> promised_; ///< until when an admitted fan may claim
  std::map<digest128, uuid> effect_of_key_;
  std::uint64_t sold_out_at_ = 0; ///< last step at which the ledger was sold out
  bool was_sold_out_ = false;
  timestamp stuck_since_;
  std::uint64_t admissions_seen_ = 0, admissions_at_stuck_ = 0;

  std::string violation_;
  std::array<std::uint64_t, static_cast<std::size_t>(rare::count_)> reached_{};
};

} // namespace fq::sim
