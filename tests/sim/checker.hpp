// SPDX-License-Identifier: Apache-2.0
// Follows every committed change of the simulated sale with an independent model and checks the invariants of
// docs/glossary.md. Input comes from the memory ledger (durable state), fans (their answers) and the gateway
// (the money).
#pragma once
#include "actors/protocol/protocol.hpp"
#include "domain/line/admission.hpp"
#include "domain/sale/sale.hpp"
#include "store/memory/memory_ledger.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fq::sim {

/// Maximum delay of deadlines in the quiet phase.
inline constexpr milliseconds sweep{1'000};

inline std::string text(queue_number n) { return std::to_string(value_of(n)); }

/// Nothing is committed above commits that the ledger lost (I7).
inline constexpr std::string_view lost_invariant = "I7 (lost commits)";

/// Rare branches; each must be reached by some seed, else the whole run fails.
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
  promo_refused,
  promo_came_back,
  order_paid_late,
  order_given_up_then_paid,
  order_failed_pending,
  order_partly_refunded,
  event_tickets_named,
  ticket_transferred,
  guest_bought,
  scan_replayed,
  gate_conflict,
  refund_dead_letter,
  seat_conflict,
  single_refused,
  no_best_seats,
  seats_sold_again,
  seats_changed,
  preferred_admitted,
  paid_with_tax,
  hidden_bought_by_invitation,
  hidden_bought_by_code,
  hidden_overtook,
  customer_blocked,
  called_by_operator,
  revoked,
  went_away,
  came_back,
  place_expired,
  queue_admitted,
  twin_began,
  earlier_refused,
  commits_lost,
  loss_noticed,
  loss_known_to_others,
  // on the SQLite engine only
  power_lost,
  sync_failed,
  disk_full,
  found_without_answer,
  journal_full,
  loading_full,
  order_waiters_full,
  report_waiters_full,
  forgotten_reads_full,
  revoked_in_parts,
  priorities_full,
  invitations_full,
  access_codes_full,
  notice_lost,
  notice_received_again,
  access_was_stale,
  access_granted_by_cache,
  access_refused_by_cache,
  node_clock_stepped,
  ledger_clock_stepped,
  code_accepted,
  organizer_signed_in,
  keys_full,
  block_list_full,
  external_id_taken,
  directory_refreshed,
  list_walked,
  mail_put_off,
  mail_given_up,
  mail_received_again,
  statistics_written,
  statistics_complete,
  waiting_list_began,
  waiting_list_ended,
  offered_from_list,
  lobby_opened,
  lobby_drawn,
  wait_ended,
  party_opened,
  party_admitted,
  party_split,
  // on meshed nodes only
  moving_full,
  access_at_other_node,
  handed_over,
  request_came_back,
  zombie_gave_back,
  found_at_peer,
  link_broken,
  cut_one_way,
  cut_both_ways,
  ledger_cut,
  taken_over_while_cut,
  lease_ended,
  subscribed_again,
  node_drained,
  message_lost,
  message_twice,
  count_
};
std::string_view name_of(rare r);

class checker {
public:
  checker(memory_ledger& store, aggregate_id aggregate, sale_rules rules) :
      store_(store), aggregate_(aggregate), rules_(std::move(rules)) {}

  // -- what the ledger did
  void applied(const batch& b);
  void settled(const batch& b, commit_outcome outcome);
  /// Another node's owner raised the epoch and left: the ledger must refuse the living owner's next batch.
  void rival_took(std::uint64_t epoch) { rival_epoch_ = epoch_ = epoch; }
  void owner_took(std::uint64_t epoch) { owner_epoch_ = epoch_ = epoch; }
  [[nodiscard]] std::uint64_t owner_epoch() const { return owner_epoch_; }

  // -- answers to fans; `asked`: the step at which the fan sent the request
  void saw_place(const customer_id& who, std::uint64_t key, const entry_reply& told);
  void saw_entry(const customer_id& who, const entry_reply& told);
  void saw_claim(const idempotency_ref& key, const customer_id& who, const claim_reply& told,
                 std::uint64_t asked, bool was_durable);
  void saw_payment(const idempotency_ref& key, const payment_reply& told, bool was_durable);
  void saw_released(const claim_id& claim);
  /// From now on its place may end without an admission: it was asked for.
  void may_leave(const customer_id& who) { may_leave_.insert(who); }
  /// An acknowledged end of a place or session.
  void saw_ended(queue_number n);
  /// An answer to a session says that it has the name.
  void saw_locked(const std::string& name, queue_number session);
  /// At this moment of the right time, and for every later decision.
  void blocked(const customer_id& who, timestamp now) {
    blocked_.emplace(who, now);
    may_leave(who);
  }
  void unblocked(const customer_id& who) { blocked_.erase(who); }
  [[nodiscard]] bool is_blocked(const customer_id& who) const { return blocked_.contains(who); }
  // -- checkout (checker_checkout.cpp)
  void saw_placed(const idempotency_ref& key, const customer_id& who, const order_wish& wish,
                  const order_reply& told, std::uint64_t asked, bool was_durable);
  void saw_order(const customer_id& who, const order_view& told);
  void saw_cancelled(const customer_id& who, const order_view& told);
  void saw_seats_refused(reason why);
  void saw_scan(const scan_wish& wish, const scan_view& told);
  // answers to organizers
  void saw_refund_begun(const order_id& order, const order_view& told);
  void saw_promo_code(const promo_code_row& told);
  void saw_settled(const uuid& letter);
  /// Whether the answer to `key` is committed; from then on every answer must equal it (I9).
  [[nodiscard]] bool has_answer(const idempotency_ref& key) const;

  // -- time
  /// For the quiet phase, after the owner had time to recover.
  void check_liveness(timestamp now, timestamp owned_since);
  /// Whether the last row of statistics says what the model is.
  void check_statistics();
  /// For the end of the quiet phase: no work is in flight, and the model equals the ledger.
  void check_end();

  void fail(std::string_view invariant, std::string what);
  /// The ledger has gone back behind the model: only failures of lost_invariant count from now on.
  void lose_track() { has_lost_track_ = true; }
  void reached(rare r) { ++reached_[static_cast<std::size_t>(r)]; }

  std::uint64_t step = 0; ///< set by the simulation
  timestamp right_time; ///< the right time, set by the simulation
  [[nodiscard]] const std::string& violation() const { return violation_; }
  [[nodiscard]] const auto& reached() const { return reached_; }
  [[nodiscard]] const std::map<payment_id, payment_row>& payments() const { return payments_; }
  [[nodiscard]] const claim_row* find_claim(const claim_id& id) const;
  [[nodiscard]] const std::map<order_id, order_row>& orders() const { return orders_; }
  [[nodiscard]] const std::map<event_ticket_id, event_ticket_row>& event_tickets() const {
    return event_tickets_;
  }
  [[nodiscard]] const std::map<claim_id, claim_row>& claims() const { return claims_; }
  [[nodiscard]] const std::map<transfer_id, transfer_row>& transfers() const { return transfers_; }
  [[nodiscard]] const auto& checkin_lists() const { return checkin_lists_; }
  [[nodiscard]] const auto& checkin_devices() const { return checkin_devices_; }
  [[nodiscard]] const std::map<std::uint32_t, promo_code_row>& promo_codes() const { return promo_codes_; }
  [[nodiscard]] const std::map<uuid, dead_letter_row>& open_letters() const { return open_letters_; }
  [[nodiscard]] const std::map<uuid, dead_letter_row>& dead_letters() const { return dead_letters_; }
  [[nodiscard]] const std::map<refund_id, refund_row>& refunds() const { return refunds_; }
  /// Null: the claim has no order.
  [[nodiscard]] const order_row* order_of(const claim_id& claim) const;
  [[nodiscard]] const order_row* order_of_payment(const payment_id& payment) const;
  /// Whether the order had this status in any committed state.
  [[nodiscard]] bool was(const order_id& order, order_status status) const;
  [[nodiscard]] const event_row& event() const { return event_; }
  /// None: it has not opened.
  [[nodiscard]] const std::optional<lobby_row>& lobby() const { return lobby_; }
  [[nodiscard]] std::uint64_t rank_of(queue_number number) const;
  [[nodiscard]] const std::vector<ticket_type_row>& ticket_types() const { return types_; }
  [[nodiscard]] bool has_hidden_type() const;
  /// Precondition: has_hidden_type().
  [[nodiscard]] ticket_type_id some_hidden_type(std::uint64_t random) const;
  [[nodiscard]] const std::map<queue_number, entry_row>& entries() const { return entries_; }
  [[nodiscard]] const std::map<customer_id, queue_number>& live_places() const { return live_place_; }
  [[nodiscard]] const std::map<customer_id, invitation_row>& invitations() const { return invitations_; }
  /// Customers who need a mail about an invitation of the latest batch.
  [[nodiscard]] const std::vector<customer_id>& news() const { return news_; }
  [[nodiscard]] std::int64_t sold() const;
  struct counts_t {
    std::uint64_t waiting = 0, admitted = 0, claims_live = 0, claims_confirmed = 0, payments_open = 0;
  };
  [[nodiscard]] counts_t counts() const;
  /// Covers all applied batches, for the determinism check.
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
  void see(const event_ticket_issued& c);
  void see(const event_ticket_moved& c);
  void see(const event_plan_set& c);
  void see(const seat_rules_set& c);
  void see(const seats_taken& c);
  void see(const seats_ended& c);
  void see(const seats_set& c);
  void see(const transfer_offered& c);
  void see(const transfer_moved& c);
  void see(const checkin_list_stored& c);
  void see(const checkin_device_stored& c);
  void see(const scan_recorded& c);
  void see(const dead_letter_stored& c);
  void see(const priority_stored& c);
  void see(const priority_removed& c);
  void see(const invitation_stored& c);
  void see(const access_given& c);
  void see(const lock_taken& c);
  void see(const lock_freed& c) { locks_.erase(c.name); }
  void see(const lobby_stored& c);
  void check_locks();
  void see(const statistics_stored& c);
  void see(const audit_recorded& c);
  void see(const idempotency_stored& c);
  template <class Other>
  void see(const Other&) {}

  // who may buy what, and single people (checker_people.cpp)
  using type_set = std::uint64_t; ///< bit i: the ticket type with ordinal i
  struct access {
    type_set opens = 0; ///< hidden types that it may buy now
    bool is_certain = true; ///< everything that ever opened a type for it still does
  };
  [[nodiscard]] static bool is_on_sale(const ticket_type_row& t, timestamp now);
  [[nodiscard]] std::uint64_t units_of(const customer_id& who, std::uint32_t type) const;
  [[nodiscard]] std::uint64_t uses_of(const customer_id& who, std::uint32_t code) const;
  [[nodiscard]] bool may_use(const promo_code_row& code, const customer_id& who, timestamp now) const;
  [[nodiscard]] bool is_invited(const customer_id& who, std::uint32_t type, timestamp now) const;
  [[nodiscard]] access access_of(const entry_row& entry, timestamp now) const;
  [[nodiscard]] std::uint64_t people_for(const ticket_type_row& type, timestamp now) const;
  [[nodiscard]] type_set may_buy(const entry_row& entry, timestamp now) const;
  void check_order_of(const entry_row& admitted);
  void check_stock_for(const entry_row& admitted);
  [[nodiscard]] std::uint64_t room_in_stock(timestamp now) const;
  void check_claimed(const claim_row& claim);
  void check_blocked(const customer_id& who, timestamp when, std::string_view what);
  void check_blocked_ended(timestamp now);
  void check_blocked_at_end();
  [[nodiscard]] bool was_sold_out_for(const customer_id& who, std::uint64_t since) const;

  // checkout (checker_checkout.cpp)
  void check_price(const claim_row& claim);
  void check_order(const order_row& order);
  void check_event_tickets(const claim_row& claim);
  void check_refunded_tickets();
  void check_promo_codes();
  void check_own_uses(const claim_row& claim);
  void check_batch();
  void check_rows();
  void check_pending(timestamp now, timestamp owned_since);
  void check_payers(const claim_row& claim);
  void check_letters(const payment_row& payment);
  void check_orders_at_end();

  // lobby, draw, parties (checker_lobby.cpp)
  /// The order of the line.
  struct place_in_line {
    std::uint8_t priority_class = 0;
    std::uint64_t rank = 0;
    queue_number number{};
    auto operator<=>(const place_in_line&) const = default;
  };
  [[nodiscard]] place_in_line place_of(const entry_row& row) const;
  [[nodiscard]] static std::string seed_commitment_of(const std::string& seed);
  void draw();
  [[nodiscard]] bool awaits_draw() const;
  /// When its time in line begins.
  [[nodiscard]] timestamp line_from(const entry_row& row) const;
  void check_unplaced(const entry_view& e);
  void see_place(const entry_row& before, const entry_row& now);
  void see_party_admission(const entry_row& admitted);
  void check_torn_party();

  // seats (checker_seats.cpp)
  void see_plan(const event_plan_row& row);
  [[nodiscard]] bool was_chosen(const claim_row& claim) const;
  void rebuild_seats();
  void check_seats(const claim_row& claim);

  void admitted(const entry_row& row);
  void count_claim(const claim_row& row, std::int64_t sign);
  void check_stock();
  void check_claims_of(const customer_id& who);
  void check_bought_by_guest(const customer_id& guest, const claim_row& claim);
  void watch_sold_out();
  void check_returned_stock();
  [[nodiscard]] bool is_forgotten(queue_number n, timestamp at) const;
  [[nodiscard]] bool sells() const { return event_.kind == event_kind::sale; }
  [[nodiscard]] bool sells_anything(timestamp now) const;
  [[nodiscard]] bool may_reclaim(const entry_row& row) const;
  [[nodiscard]] bool is_waiting_list() const { return is_set(event_.waiting_list.began_at); }
  [[nodiscard]] queue_settings admission() const;
  [[nodiscard]] bool needs_list(timestamp now) const;
  void check_list_turn(bool ends);
  void check_list_begins(timestamp now, timestamp owned_since);
  void check_offer(const entry_row& admitted);
  void check_party(queue_number party);
  [[nodiscard]] bool sold_out() const;
  [[nodiscard]] bool is_unclaimed(queue_number n) const;
  [[nodiscard]] std::uint64_t admissions_within(milliseconds span, timestamp now) const;
  [[nodiscard]] std::uint64_t room(timestamp now) const;
  [[nodiscard]] timestamp deadline_of(const entry_row& row) const;
  [[nodiscard]] const entry_row* entry_of(const entry_id& id) const;

  struct stock {
    std::int64_t held = 0, sold = 0;
  };

  memory_ledger& store_;
  aggregate_id aggregate_;
  sale_rules rules_;
  std::uint64_t epoch_ = 0, rival_epoch_ = 0, owner_epoch_ = 0;
  std::uint64_t digest_ = 0;

  // the model
  event_row event_;
  std::vector<ticket_type_row> types_;
  std::vector<stock> claimed_; ///< sum of the claims, per type
  std::map<queue_number, entry_row> entries_;
  std::set<place_in_line> waiting_;
  std::optional<lobby_row> lobby_;
  std::map<queue_number, std::uint64_t> ranks_; ///< of the draw; others have their number
  queue_number going_{}; ///< the party whose members the last changes admitted
  std::uint64_t gone_ = 0; ///< so many of them
  std::map<customer_id, queue_number> live_place_;
  std::set<queue_number> active_;
  std::map<queue_number, int> live_claims_; ///< per entry
  std::map<queue_number, std::set<timestamp>> deadlines_; ///< every committed end of a session
  std::map<claim_id, claim_row> claims_;
  std::map<payment_id, payment_row> payments_;
  std::map<refund_id, refund_row> refunds_;
  std::map<std::uint32_t, promo_code_row> promo_codes_;
  std::map<order_id, order_row> orders_;
  std::map<event_ticket_id, event_ticket_row> event_tickets_;
  std::map<transfer_id, transfer_row> transfers_;
  std::map<checkin_list_id, checkin_list_row> checkin_lists_;
  std::map<checkin_device_id, checkin_device_row> checkin_devices_;
  std::map<scan_id, scan_row> scans_;
  std::map<std::pair<claim_id, std::uint32_t>, std::int64_t> valid_tickets_; ///< by ticket type
  std::optional<event_plan_row> plan_;
  std::optional<seating> seats_; ///< from the rows below
  std::map<std::uint32_t, seat_setting_row> seat_settings_;
  std::map<std::pair<claim_id, std::uint32_t>, claim_seat_row> claim_seats_;
  std::map<std::uint32_t, claim_id> live_seats_;
  std::map<uuid, dead_letter_row> dead_letters_, open_letters_;
  std::map<customer_id, priority_row> priorities_;
  std::map<customer_id, invitation_row> invitations_;
  std::map<customer_id, std::uint64_t> invited_at_; ///< the step of the last change
  std::map<std::string, queue_number> locks_; ///< by name: the session
  std::set<std::pair<std::string, queue_number>> ever_locked_;
  std::set<std::pair<queue_number, std::uint32_t>> access_; ///< codes given with entries
  std::map<customer_id, timestamp> blocked_; ///< since
  std::set<customer_id> may_leave_;
  std::vector<customer_id> news_;
  std::uint64_t uncalled_ = 0; ///< admissions with policy `operated` since the last call
  struct stock_state {
    std::uint64_t step = 0;
    type_set unsold = 0; ///< on sale, and with units that are not sold
    type_set hidden = 0;
  };
  std::vector<stock_state> stock_states_; ///< all since the start
  std::map<order_id, std::set<order_status>> was_;
  std::map<claim_id, order_id> order_of_claim_;
  std::map<std::uint32_t, std::int64_t> promo_claims_; ///< live and confirmed claims by claim_row::promo
  std::set<claim_id> touched_claims_, opened_claims_; ///< changed by the current batch
  std::set<order_id> touched_orders_;
  std::vector<event_ticket_id> refunded_tickets_; ///< named by refunds that succeeded in the current batch
  std::uint64_t batches_ = 0;
  std::map<digest128, digest128> answered_; ///< idempotency keys in the ledger
  std::deque<timestamp> admissions_;
  std::optional<statistics_row> statistics_; ///< the last row
  std::uint64_t arrivals_counted_ = 0, admissions_counted_ = 0; ///< sums of the rows of statistics
  timestamp latest_; ///< latest time of a join or an admission
  /// every applied (from, to); each may occur once
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_seq_;

  // observations
  std::map<std::pair<customer_id, std::uint64_t>, queue_number> place_of_key_;
  std::map<entry_id, std::uint64_t> last_position_;
  std::map<customer_id, queue_number> known_place_;
  std::map<digest128, uuid> effect_of_key_;
  struct acknowledged_order {
    order_row row; ///< as in the first answer
    order_status last{}; ///< in the latest answer to its customer
  };
  std::map<order_id, acknowledged_order> acknowledged_;
  bool was_sold_out_ = false;
  timestamp stuck_since_;
  timestamp no_list_due_at_; ///< the last time when no waiting list had to begin
  std::uint64_t admissions_seen_ = 0, admissions_at_stuck_ = 0;

  bool has_lost_track_ = false;
  std::string violation_;
  std::array<std::uint64_t, static_cast<std::size_t>(rare::count_)> reached_{};
};

} // namespace fq::sim
