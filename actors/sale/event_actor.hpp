// SPDX-License-Identifier: Apache-2.0
// Owner of one event: the pure `sale` decides, the journal commits, effects are revealed only after the
// commit. Parts: event_actor.cpp (life cycle, time), event_commit.cpp, event_fan.cpp, event_checkout.cpp,
// event_money.cpp, event_lobby.cpp, event_log.cpp, event_people.cpp, event_checkin.cpp, event_organizer.cpp.
#pragma once
#include "actors/base/answers.hpp"
#include "actors/base/cluster_links.hpp"
#include "actors/base/errors.hpp"
#include "actors/base/trace_book.hpp"
#include "actors/protocol/cache_messages.hpp"
#include "actors/protocol/checkin_messages.hpp"
#include "actors/protocol/draw_messages.hpp"
#include "actors/protocol/fan_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/protocol/organizer_messages.hpp"
#include "actors/protocol/payment_messages.hpp"
#include "actors/protocol/region_messages.hpp"
#include "actors/protocol/subscriber_messages.hpp"
#include "actors/protocol/witness_messages.hpp"
#include "actors/sale/event_audit.hpp"
#include "actors/sale/event_mirror.hpp"
#include "actors/sale/event_sessions.hpp"
#include "actors/sale/event_subscribers.hpp"
#include "actors/sale/fresh_notes.hpp"
#include "actors/sale/limits.hpp"
#include "actors/storage/ledger_memory.hpp"
#include "actors/storage/owner.hpp"
#include "crypto/challenge_desk.hpp"
#include "crypto/event_ticket_code.hpp"
#include "crypto/session_token.hpp"
#include "domain/delivery/notice_routing.hpp"
#include "domain/sale/sale.hpp"
#include "domain/sale/statistics.hpp"
#include "fair/growth.hpp"
#include "fair/noted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

namespace fq {

class board_seat;
class sale_board;

/// Dependencies of all owners. Created once by the composition or a simulation, which outlives them.
struct owner_services {
  environment* env = nullptr;
  const session_keys* sessions = nullptr;
  /// key_store::stored, of which the keys of event tickets and of public logs are derived
  secret_key stored_key = {};
  std::string log_address = "localhost"; ///< the public URL without its scheme: public logs are below it
  ledger_workers ledgers;
  payments_handle payments;
  /// The tenant's account at `gateway` that receives its money; null or empty: the installation's account.
  /// Called on an owner's thread.
  std::function<std::string(const std::string& gateway, tenant_id tenant)> destination_of = nullptr;
  /// The tenant's own metadata of payments; null: none. Called on an owner's thread.
  std::function<std::vector<gateway_label>(tenant_id tenant)> metadata_of = nullptr;
  /// False: settings and block lists are not known yet, so owners wait with loading. Null: always true.
  std::function<bool()> may_load = nullptr;
  draw_worker_handle draws{}; ///< null: owners compute roots and orders themselves, for tests
  /// Asks a drand network for a round; `done` gets its signature as hex digits, or an empty text, on any
  /// thread. Null: no network is configured, and such draws wait.
  std::function<void(const std::string& chain_hash, std::uint64_t round,
                     std::function<void(std::string)> done)>
    fetch_beacon = nullptr;
  sale_board* board = nullptr; ///< event metrics; may be null
  /// Called for new dead letters on an actor's thread; may be null.
  std::function<void(const dead_letter_row&)> alert = nullptr;
  cache_worker_handle cache{}; ///< null: no cache
  sale_rules rules;
  std::string my_tickets_url = {}; ///< the page with a customer's tickets, for mails
  /// Loyalty points per whole currency unit paid, published as loyalty.awarded; 0: off.
  std::int64_t loyalty_points_per_unit = 0;
  /// Blocked customers of a tenant's and organizer's events; null: none. Called on an owner's thread at every
  /// decision.
  std::function<blocked_customers(tenant_id tenant, const organizer_id& organizer)> blocked_at = nullptr;
  /// Customers that were erased lately, sorted; never null. None: none. Called on an owner's thread.
  std::function<std::shared_ptr<const std::vector<uuid>>()> erased = nullptr;
  milliseconds contacts_life{0}; ///< of orders after the end of the sale; 0: for ever
  /// The tenant's media per topic; null: all. Called on an owner's thread.
  std::function<std::shared_ptr<const notice_routing>(tenant_id tenant)> routing_of = nullptr;
  std::string shop_url = {}; ///< of the shop pages, for mails; empty: none
  /// Time without waiters, sessions and requests after which an owner stops.
  milliseconds idle_after{5 * 60 * 1000};
  /// Max timer interval of an owner with a deadline ahead. At least 1 ms.
  milliseconds sweep_interval{30'000};
  /// Max time until a difference between mirror and memory is found.
  milliseconds reconciliation_interval{30'000};
  /// Interval of vouching for the mirror, which other nodes then may read; 0: no other nodes.
  milliseconds vouch_interval{0};
  std::shared_ptr<ledger_memory> memory = nullptr; ///< that of the ledger workers; null: none
  /// Interval at which the region scans for aggregates that must run and have no owner. A dead node's events
  /// are served again after its lease, this interval and a load.
  milliseconds takeover_interval{2'000};
  span_sink* spans = nullptr; ///< receives spans of traced requests; may be null
  cluster_links* links = nullptr; ///< counts moves; may be null
  /// A starting region scans only after `takeover_interval`: first it must know the other nodes, or it would
  /// take all.
  bool has_cluster = false;
  bool has_bus = false; ///< domain events also go to an event bus
  milliseconds statistics_step{0}; ///< see statistics_book
  owner_bounds bounds = {};
  witness_client_handle witnesses = {}; ///< of public logs; null: there are none
  std::function<void(const std::string&)> warn = nullptr; ///< the operator, of a public log; may be null
};

class event_state : owner_core<event_handle::stateful_pointer<event_state>> {
public:
  static inline const char* name = "event_actor";

  event_state() = default;
  void init(event_handle::stateful_pointer<event_state> self, aggregate_id aggregate,
            const owner_services& services, supervisor_handle supervisor);
  ~event_state();
  event_handle::behavior_type behavior();

  /// For tests and simulations: the state in memory; null while loading.
  [[nodiscard]] const sale* peek() const { return serving_ ? sale_.get() : nullptr; }
  /// For tests and simulations: the aggregate's time, which lags behind the wall clock by the ledger's
  /// downtime; `never` while loading.
  [[nodiscard]] timestamp peek_now() const { return serving_ ? now() : never; }
  /// For simulations: the owner has pushed this version and decided no later one. False while loading.
  [[nodiscard]] bool peek_is_told(std::uint64_t version) const {
    return serving_ && line_version_ == version && journal_->is_committed(version);
  }
  /// For simulations: how much of each bound is used.
  [[nodiscard]] owner_bounds peek_used() const {
    return {journal_->held_count(), 0, 0, order_waiters_.size(), report_waiters_.size(), reads_under_way_};
  }

private:
  auto frequent_messages();
  auto other_messages();
  auto internal_messages();
  using pointer = event_handle::stateful_pointer<event_state>;

  // -- life cycle (event_actor.cpp)
  void load();
  void on_acquired(const aggregate_acquired& answer);
  void serve(acquired_ptr image);
  void begin_serving();
  void reload();
  void on_settled(const batch_settled& answer);
  void on_lease_lost();
  void on_blocks_changed();
  void apply_block_list();
  void follow_rules();
  void forget_erased();
  [[nodiscard]] blocked_customers blocked_here() const;
  void on_timer(const timer_fired& t);
  void on_run_due(timestamp now);
  void on_idle_check();
  void on_hand_over(const hand_over& x);
  void finish_move();
  void retire();
  void on_subscribe(bool on);
  void on_owner_kept();
  void on_watch(const watch_sessions& x);
  void on_push_read(const push_read& x);
  void on_down(const caf::down_msg& down);
  void monitor_listener(const caf::actor_addr& listener);
  void demonitor_listeners();
  void watch_lease();

  // -- fans (event_fan.cpp)
  caf::result<entry_reply> on_join(const join& x);
  caf::result<challenge_reply> on_open_challenge(const open_challenge& x);
  challenge_desk& challenges();
  caf::result<entry_reply> on_find_entry(const find_entry& x);
  caf::result<ack_reply> on_leave(const leave& x);
  caf::result<entry_reply> on_find_ticket(const find_ticket& x);
  caf::result<ack_reply> on_leave_ticket(const leave_ticket& x);
  caf::result<ack_reply> on_end_session(const end_session& x);
  caf::result<locks_reply> on_change_lock(const change_lock& x);
  caf::result<locks_reply> on_find_locks(const find_locks& x);
  [[nodiscard]] lock_view view_of(const session_lock_row& row, const queue_line::entry& e) const;
  caf::result<line_reply> on_find_line(const find_line& x);
  void on_present(const present& x);
  caf::result<ack_reply> leave_as(const subject_key& subject);
  caf::result<entry_reply> show_place(const queue_line::entry& e, bool is_seen);
  const queue_line::entry* entry_of(const entry_id& ticket) const;
  /// The last decision about an entry that a read of it must wait for.
  [[nodiscard]] std::uint64_t change_of(queue_number n) const {
    const auto found = joined_.find(n);
    return found == joined_.end() ? 0 : found->second;
  }
  [[nodiscard]] bool may_be_forgotten(const entry_id& ticket) const;
  template <class Reply, class Show>
  caf::result<Reply> read_forgotten(const entry_id& ticket, Show show);
  caf::result<claim_reply> on_open_claim(const open_claim& x);
  caf::result<claim_reply> on_find_claim(const find_claim& x);
  caf::result<ack_reply> on_release_claim(const release_claim& x);
  const queue_line::entry* admitted_by(const std::string& admission_token) const;

  // -- lobby and draw (event_lobby.cpp)
  caf::result<entry_reply> on_change_party(const change_party& x);
  caf::result<event_reply> on_enter_beacon(const enter_beacon& x);
  caf::result<event_reply> on_end_draw_wait(const end_draw_wait& x);
  void on_lobby_computed(const lobby_computed& x);
  void follow_draw();
  void gather_entrants();
  void ask_draw_worker(std::function<lobby_computed()> work);
  void ask_beacon();
  void start_lines_over();
  [[nodiscard]] entry_view shown(const queue_line::entry& e, timestamp now) const;
  [[nodiscard]] std::string party_code_of(queue_number party) const;
  [[nodiscard]] queue_number party_of_code(std::string_view typed) const;

  // -- the public log (event_log.cpp)
  void start_log(const std::optional<log_state_row>& stored);
  void begin_log(decision& d);
  void note_records(decision& d, timestamp now);
  void add_notes(batch& b);
  void arm_log(milliseconds pause);
  void grow_log();
  void extend_log();
  void turn_committed();
  void end_turn(std::optional<milliseconds> pause);
  void warn_of_stop(std::string_view why);
  [[nodiscard]] std::optional<sha256_digest> root_of_lobby() const;
  void tell_witnesses();
  caf::result<growth_proof> on_prove_growth(const prove_growth& x);
  bool cosign_newest(const checkpoint_cosigned& x);
  void on_cosigned(const checkpoint_cosigned& x);
  caf::result<receipt_reply> on_find_receipt(const find_receipt& x);

  // -- money (event_money.cpp)
  caf::result<payment_reply> on_open_payment(const open_payment& x);
  caf::result<payment_reply> on_find_payment(const find_payment& x);
  caf::result<ack_reply> on_apply_fact(const apply_fact& x);
  caf::result<ack_reply> ask_gateway(const gateway_fact& fact);
  void apply_confirmation(const gateway_answered& x);
  [[nodiscard]] gateway_charge charge_of(const payment_row& p) const;
  void on_gateway_answered(const gateway_answered& x);
  void call(const gateway_call& order);
  void call(const gateway_call& order, const unknown_payment& lost);
  void answer_page_waiters(const payment_id& payment);
  void fail_waiters();
  void on_page_timeout();
  void follow_ledger();
  void catch_up();
  payment_reply payment_answer(const payment_id& payment, bool created) const;
  caf::result<payment_reply> answer_with_page(payment_reply reply, std::uint64_t own_seq);
  [[nodiscard]] open_span begin_work(const trace_context& trace, std::string_view name) const;
  void end_work(open_span work, std::uint64_t seq);

  // -- checkout (event_checkout.cpp)
  caf::result<quote_reply> on_get_quote(const get_quote& x);
  caf::result<order_reply> on_place_order(const place_order& x);
  caf::result<order_reply> on_find_order(const find_order& x);
  caf::result<order_reply> on_cancel_order(const cancel_order& x);
  caf::result<orders_reply> on_list_orders(const list_event_orders& x);
  caf::result<order_reply> on_refund(const refund_tickets& x);
  caf::result<ack_reply> on_resend(const resend_order& x);
  caf::result<promo_codes_reply> on_set_promo_code(const set_promo_code& x);
  caf::result<promo_codes_reply> on_find_promo_codes(const find_promo_codes& x);
  caf::result<count_reply> on_set_priorities(const set_priorities& x);
  caf::result<customers_reply> on_find_priorities(const find_priorities& x);
  caf::result<count_reply> on_invite(const invite_customers& x);
  caf::result<count_reply> on_withdraw_invitations(const withdraw_invitations& x);
  caf::result<invitations_reply> on_find_invitations(const find_invitations& x);
  caf::result<ack_reply> on_settle(const settle_dead_letter& x);
  caf::result<ack_reply> on_undelivered(const report_undelivered& x);
  [[nodiscard]] order_reply order_answer(const order_id& id) const;
  [[nodiscard]] order_reply whole(order_reply reply, bool is_for_organizer) const;
  std::optional<order_reply> replayed_order(const idempotency_ref& ref, timestamp now);
  void answer_order_waiters(const std::vector<order_change>& changed, std::uint64_t seq);
  void on_order_timeout();
  [[nodiscard]] std::vector<order_change> order_changes_of(const changes& content) const;

  // -- event tickets (event_tickets.cpp)
  caf::result<event_ticket_reply> on_find_event_ticket(const find_event_ticket& x);
  caf::result<ticket_papers_reply> on_find_ticket_papers(const find_ticket_papers& x);
  caf::result<ticket_seats_reply> on_find_ticket_seats(const find_ticket_seats& x);
  caf::result<transfer_reply> on_offer_ticket(const offer_ticket& x);
  caf::result<transfer_reply> on_end_transfer(const end_transfer& x);
  [[nodiscard]] transfer_reply transfer_answer(const transfer_id& id) const;
  caf::result<event_tickets_reply> on_list_event_tickets(const list_event_tickets& x);

  // -- check-in (event_checkin.cpp)
  caf::result<checkin_reply> on_set_checkin_list(const set_checkin_list& x);
  caf::result<checkin_reply> on_set_checkin_device(const set_checkin_device& x);
  caf::result<checkin_reply> on_find_checkin(const find_checkin& x);
  caf::result<checkin_conflicts_reply> on_list_conflicts(const list_checkin_conflicts& x);
  caf::result<scans_reply> on_redeem(const redeem_scans& x);
  caf::result<gate_reply> on_find_gate(const find_gate& x);
  caf::result<gate_state_reply> on_find_gate_state(const find_gate_state& x);
  caf::result<gate_tickets_reply> on_search_gate(const search_gate& x);
  [[nodiscard]] const checkin_device_row* device_of(const device_pass& pass) const;
  [[nodiscard]] checkin_reply checkin_now() const;
  template <class Message, class Set>
  caf::result<checkin_reply> change_checkin(const Message& x, const char* deed, Set set);
  [[nodiscard]] gate_ticket gate_ticket_of(const checkin_ticket& seen, bool is_off);
  [[nodiscard]] scan_wish checked(const presented_scan& scan, timestamp now);
  const event_ticket_keys& ticket_keys();

  // -- organizer (event_organizer.cpp)
  caf::result<event_reply> on_find_event(const find_event& x);
  caf::result<event_reply> on_patch(const patch_event& x);
  caf::result<event_reply> on_turn(const turn_event& x);
  caf::result<event_reply> on_set_seat_plan(const set_seat_plan& x);
  caf::result<ack_reply> on_set_seats(const set_seats& x);
  caf::result<seats_reply> on_find_seats(const find_seats& x);
  caf::result<seat_plan_reply> on_find_seat_plan(const find_seat_plan& x);
  [[nodiscard]] bool shows_seats(const managed& x) const;
  [[nodiscard]] std::string text_of_map(bool for_shoppers) const;
  [[nodiscard]] const std::string& seats_for_shoppers();
  struct shown_plan {
    std::shared_ptr<const std::string> of; ///< seating::text
    std::vector<std::string> names; ///< in place of the plan's; empty: its own
    std::shared_ptr<const std::string> text;
    std::string digest;
  };
  [[nodiscard]] const shown_plan& plan_for(bool shoppers);
  caf::result<event_reply> on_renew_ticket_keys(const renew_ticket_keys& x);
  caf::result<stats_reply> on_find_stats(const find_stats& x);
  caf::result<count_reply> on_advance(const advance_line& x);
  caf::result<count_reply> on_revoke(const revoke_sessions& x);
  [[nodiscard]] refusal refused_to(const managed& x) const;
  /// For objects of this event that requests identify by their own id.
  [[nodiscard]] managed own(const principal& by) const { return {sale_->event().id, by, event_kind::sale}; }
  void record(decision& d, const managed& what, const audit_note& note, std::string_view verb, timestamp now);

  // -- cache (event_commit.cpp)
  [[nodiscard]] std::unique_ptr<event_mirror> make_mirror(std::uint64_t generation);
  caf::result<mirror_report> on_verify(const verify_mirror& x);
  caf::result<ledger_report> on_verify_ledger(const verify_ledger& x);
  void on_peeked(const aggregate_peeked& x) {
    if (audit_) audit_->peeked(x);
  }
  void on_mirror_checked(const mirror_checked& x) {
    if (mirror_) mirror_->checked(x);
  }
  void on_mirror_lost(const mirror_lost& x) {
    if (mirror_) mirror_->lost(x.generation);
  }
  void on_cache_is_back() {
    if (mirror_) mirror_->cache_is_back();
  }

  // -- shared
  [[nodiscard]] bool is_closed() const { return is_moving_ || !accepts(); }
  [[nodiscard]] bool refuses() const { return is_closed() || has_no_lease(); }
  /// The error for a refused request; `moved` returns the request if another node can serve it.
  template <class Request>
  [[nodiscard]] caf::error refused(const Request& x) const {
    return is_moving_ || is_lapsed() ? make_moved(x) : make_error(errc::unavailable);
  }
  /// Past the lease's end in a cluster: another node may own the event.
  [[nodiscard]] bool is_lapsed() const { return services_->has_cluster && has_no_lease(); }
  [[nodiscard]] bool is_other(const event_id& event) const { return event != sale_->event().id; }
  /// For the event API, which does not serve standalone queues.
  [[nodiscard]] bool is_no_sale(const event_id& event) const { return is_other(event) || !sale_->sells(); }
  /// Runs admission and expiry as time and room allow, commits the decision, sets the timer. Returns the
  /// sequence number to wait for.
  std::uint64_t commit(decision&& d, timestamp now);
  /// Commits a new place. It never makes room: while there is no room, admission is not run.
  std::uint64_t commit_join(decision&& d, queue_number n, timestamp now);
  /// Hands the decision to the journal, with its domain events, answers and pushes.
  std::uint64_t append(decision&& d, timestamp now);
  void add_domain_events(decision& d, timestamp now);
  /// Appends an outbox row to the decision, for the lanes that the tenant has chosen for the topic.
  void add_outbox_row(std::string_view topic, std::string payload, timestamp now, changes& out);
  void add_mail(std::string_view topic, std::string mail, timestamp now, changes& out);
  [[nodiscard]] std::shared_ptr<const notice_routing> routing() const;
  void update_board(sale::wake_up wake, timestamp now);
  void alert(const changes& content) const;
  void push_after_commit(decision&& d, std::vector<order_change> orders, std::uint64_t seq);
  [[nodiscard]] line_facts facts_of_line(timestamp now) const;
  void arm(sale::wake_up wake, timestamp now);
  [[nodiscard]] bool is_behind() const;
  void start_statistics(const std::optional<statistics_row>& last);
  void arm_statistics(timestamp now);
  void write_statistics();

  template <class Reply>
  caf::result<Reply> reply_after(std::uint64_t seq, Reply reply) {
    last_request_ = services_->env->steady_now();
    if (journal_->is_committed(seq)) return reply;
    return hold(seq, self_->make_response_promise(), std::move(reply));
  }
  /// Answers a read after the read barrier.
  template <class Reply>
  caf::result<Reply> reveal(Reply reply, std::uint64_t own_seq = 0) {
    return reply_after(std::max(own_seq, journal_->reveal_barrier()), std::move(reply));
  }
  /// The stored answer of this idempotent request: a replay, a refusal, or empty if it is new.
  template <class Reply>
  std::optional<Reply> replayed(const idempotency_ref& ref, timestamp now) {
    return find_answer<Reply>(sale_->answers(), ref, now);
  }
  template <class Reply>
  void remember(const idempotency_ref& ref, const Reply& reply, timestamp now, decision& d) {
    store_answer(sale_->answers(), ref, reply, now, d.content);
  }

  struct page_waiter { ///< an open_payment that waits for the payment page
    caf::response_promise promise;
    payment_reply reply; ///< to be completed
    std::uint64_t seq = 0; ///< of the decision that opened it
  };

  struct order_waiter { ///< a find_order that waits until its order leaves PENDING
    caf::response_promise promise;
    milliseconds deadline{0}; ///< steady time
  };
  struct report_waiter { ///< a webhook that waits for the gateway's confirmation
    gateway_fact fact;
    caf::response_promise promise;
  };

  const owner_services* services_ = nullptr;
  supervisor_handle supervisor_;
  std::unique_ptr<sale> sale_;
  std::unique_ptr<event_mirror> mirror_; ///< null: no cache, or not serving
  std::unique_ptr<event_audit> audit_; ///< null: not serving
  std::unique_ptr<event_sessions> sessions_; ///< null: not serving
  std::pair<std::uint64_t, std::string> shown_seats_; ///< version and text of the map, for shoppers
  std::array<shown_plan, 2> shown_plans_; ///< for managers, for shoppers
  std::shared_ptr<board_seat> seat_; ///< null: not serving, or no metrics
  /// Decides nothing more: pending decisions are being committed, or the lease has ended.
  bool is_moving_ = false;
  std::uint64_t generation_ = 0; ///< of the admission timer
  acquired_ptr loading_; ///< its order is being computed; null: no such load
  sale_steps::draw_step draw_step_{}; ///< being done
  /// Entrants for the root, of the numbers up to `upto`.
  struct gathered_entrants {
    std::vector<sale::entrant_place> all;
    queue_number upto{};
  };
  gathered_entrants entrants_;
  std::uint64_t draw_asked_ = 0; ///< number of the last question about the draw
  milliseconds beacon_wait_ = beacon_retry.base;
  timestamp timer_at_; ///< next expiry; `never`: not set
  /// The public log: see event_log.cpp.
  struct log_keeping {
    note_writer notes; ///< of the next batch
    fresh_notes fresh; ///< committed, for the next turns
    std::optional<log_growth> growth; ///< kept from turn to turn while there is more to take
    std::optional<nonce_maker> nonces; ///< empty: not served yet
    log_state_row state; ///< as it was loaded, or with the last decision; number 0: there was none
    bool is_armed = false; ///< the timer of the next turn is set
    bool is_growing = false; ///< a turn is under way
    bool has_warned = false; ///< that it stands still
    bool has_told = false; ///< its witnesses, since the load
  };
  log_keeping log_;
  std::optional<statistics_book> statistics_; ///< none: not serving, or no statistics
  bool statistics_armed_ = false; ///< their timer is set
  timestamp retry_admission_at_; ///< no admission before this time, unless state changes
  bool has_run_ = false; ///< since the load: who waits since then found no room
  std::unordered_multimap<payment_id, page_waiter> page_waiters_;
  /// Of waiters, earliest first; steady time, because the aggregate's clock can stop. May include answered
  /// ones.
  std::deque<std::pair<milliseconds, payment_id>> page_deadlines_;
  std::unordered_multimap<order_id, order_waiter> order_waiters_;
  /// Of waiters; may include answered ones.
  std::set<std::pair<milliseconds, order_id>> order_deadlines_;
  std::unordered_multimap<payment_id, report_waiter> report_waiters_;
  /// Entries with a change that may not be committed yet, and its sequence number: reads of them wait.
  std::unordered_map<queue_number, std::uint64_t> joined_;
  std::size_t reads_under_way_ = 0; ///< of forgotten entries
  trace_book traces_;
  std::optional<event_subscribers<pointer>> subscribers_;
  std::uint64_t line_version_ = 0; ///< the last decision that subscribers hear of
  std::shared_ptr<told_version> told_; ///< to this process; null: never served
  std::set<caf::actor_addr> monitored_; ///< subscribers and session tables, including unsubscribed ones
  bool pulses_ = false; ///< the pulse timer is set
  bool watches_lease_ = false; ///< the lease timer is set
  milliseconds last_request_{0};
  std::optional<challenge_desk> challenges_; ///< none: not needed yet
  std::optional<event_ticket_keys> ticket_keys_; ///< of ticket_key_number_; none: not needed yet
  std::uint32_t ticket_key_number_ = 0;
  std::string moves_to_; ///< destination node
  region_handle region_; ///< region that requested the move; null: none
};

/// Spawned by a supervisor.
event_handle::behavior_type event_actor(event_handle::stateful_pointer<event_state> self,
                                        aggregate_id aggregate, const owner_services* services,
                                        supervisor_handle supervisor);

} // namespace fq
