// SPDX-License-Identifier: Apache-2.0
// One event as a whole: the only decider for its queue, stock, claims and payments. Every request is one
// call that changes memory at once and appends its changes to a `decision`. The owner commits the decision
// before anything becomes visible. A standalone queue is a sale without stock, claims and payments.
// Parts: sale_state.hpp (what it holds), sale.cpp (loading, time), sale_views.cpp, sale_line.cpp (the waiting
// line), sale_fan.cpp (claims), sale_orders.cpp (checkout), sale_money.cpp (payments), sale_refunds.cpp
// (refunds, dead letters), sale_tickets.cpp (event tickets), sale_transfers.cpp, sale_checkin.cpp (scans at
// gates), sale_seats.cpp (reserved seats), sale_unknown.cpp (payments whose rows are lost), sale_access.cpp
// (hidden types), sale_lobby.cpp (lobby, draw, parties), sale_locks.cpp (names that sessions lock),
// waiting_list.cpp (after it is sold out), sale_log.cpp (the public log), sale_people.cpp (blocks,
// invitations), sale_organizer.cpp.
#pragma once
#include "domain/sale/sale_state.hpp"
#include "domain/sale/unknown_payment.hpp"
#include "domain/sale/views.hpp"

#include <string_view>

namespace fq {

struct domain_event;

class sale : public sale_state {
public:
  using sale_state::sale_state;

  /// Load durable rows. Lists as in aggregate_image; the totals before the entries, those by ascending
  /// number; event tickets before claims, those before their seats, and a plan before both. `first_version`
  /// of the seat map: greater than all that an earlier owner has shown.
  void load(event_row event, std::vector<ticket_type_row> types);
  void load(const line_totals& totals);
  void load(std::span<const entry_row> rows) { queue_.load(rows); }
  void load(const event_ticket_row& row) { event_tickets_.load(row); }
  void load(const event_plan_row& row, std::uint64_t first_version);
  /// `first_version` of a plan that is set later.
  void begin_maps_at(std::uint64_t first_version) { next_map_version_ = first_version; }
  void load(const seat_setting_row& row) { seating_->load(row); }
  void load(const claim_seat_row& row) { seating_->load(row, claims_.find(row.claim)->status); }
  void load(const transfer_row& row) { transfers_.load(row); }
  void load(const claim_row& row);
  void load(const checkin_list_row& row) { checkin_.load(row); }
  void load(const checkin_device_row& row) { checkin_.load(row); }
  void load(const scan_row& row) { checkin_.load(row); }
  void load(const payment_row& row);
  void load(const refund_row& row);
  void load(const receipt_row& row) { payments_.load(row); }
  void load(promo_code_row row) { promo_codes_.load(std::move(row)); }
  void load(const order_row& row) { orders_.load(row); }
  void load(const dead_letter_row& row) { dead_letters_.emplace(row.id, row); }
  void load(const priority_row& row) { priorities_.emplace(row.customer, row); }
  void load(const invitation_row& row) { invitations_.emplace(row.customer, row); }
  void load(const entry_access_row& row);
  void load(session_lock_row row) { locks_.add(std::move(row)); }
  void load(const lobby_row& row) { lobby_ = row; }
  void load(idempotency_row row) { answers_.load(std::move(row)); }
  /// To be called after the last load: records whether the event is sold out.
  void loaded();

  // -- the line (sale_line.cpp)
  /// `access_code`: a promo code that opens hidden types, as typed; also for a live entry. Empty: none.
  /// `has_solved`: the event's challenge, which a new entry needs.
  /// `party`: of the entry that opened it, to join it in the lobby; also for a live entry. 0: none.
  joined join(const subject_key& subject, std::uint64_t join_key, timestamp now, decision& out,
              std::string subject_name = {}, std::string_view access_code = {}, bool has_solved = false,
              queue_number party = {});
  refusal leave(const subject_key& subject, timestamp now, decision& out);
  /// Ends the session of admission `admission_no`, for its holder or origin. not_admitted if it is over.
  refusal end_session(queue_number n, std::uint32_t admission_no, timestamp now, decision& out);
  /// The holder of this entry polled or is connected: an AWAY entry comes back.
  void seen(queue_number n, timestamp now, decision& out);
  /// Policy `operated`: admits the next `count`, as far as concurrency, rate and stock allow. `admitted`:
  /// the actual number.
  refusal advance(std::uint64_t count, timestamp now, decision& out, std::uint64_t& admitted);
  /// Ends sessions: of one entry, of one subject, or all. Also ends waiting entries, except with scope `all`.
  /// Returns the number of ended entries.
  std::size_t revoke(revocation_scope scope, queue_number n, const subject_key& subject, timestamp now,
                     decision& out);

  // -- the lobby (sale_lobby.cpp)
  /// Moves the entry to `party`. 0: opens a party; changes nothing if the entry is in one.
  refusal change_party(const queue_line::entry& e, queue_number party, timestamp now, decision& out);
  /// The next run opens or closes the lobby. A join must come after that run.
  [[nodiscard]] bool is_lobby_due(timestamp now) const;
  [[nodiscard]] draw_step next_draw_step() const;
  /// The entrants by ascending number, for draw_step::root.
  void add_entrants(std::vector<entrant_place>& all, queue_number after, std::uint64_t count) const;
  /// Stores the Merkle root of the entrants, in hex digits. A lobby without a beacon is then drawn at once.
  void set_root(std::string root, timestamp now, decision& out);
  /// Draws with the value of the beacon that the lobby announced.
  refusal give_beacon(beacon_kind kind, std::string value, timestamp now, decision& out);
  /// An operator's intervention: draws without the announced beacon.
  refusal end_wait(std::string reason, timestamp now, decision& out);
  /// The party of each number from 1 to lobby()->last, for draw_step::order. 0: none.
  [[nodiscard]] std::vector<std::uint32_t> lobby_parties() const;
  /// Sets the order of the draw. From then on entries have positions.
  void rank(line_ranks ranks);
  [[nodiscard]] lobby_view lobby_now() const;

  // -- locks of sessions (sale_locks.cpp)
  /// not_admitted, lock_held or locks_exhausted. The lock ends with the session.
  locked lock(queue_number n, std::uint32_t admission_no, const std::string& name, timestamp now,
              decision& out);
  /// No error if the session does not have it.
  refusal unlock(queue_number n, std::uint32_t admission_no, const std::string& name, decision& out);

  // -- claims (sale_fan.cpp)
  /// `entry`: the entry whose admission token the customer presented; null if none.
  refusal open_claim(const customer_id& customer, const queue_line::entry* entry,
                     const std::vector<item_wish>& wishes, timestamp now, decision& out, claim_id& opened,
                     const seat_wish& seats = {});
  /// `leaves`: gives the place back too.
  refusal release_claim(const customer_id& customer, const claim_id& id, timestamp now, decision& out,
                        bool leaves = false);

  // -- checkout (sale_orders.cpp)
  /// What `wish` would cost `customer` now. Holds nothing and promises nothing.
  refusal quote(const customer_id& customer, const order_wish& wish, timestamp now, quote_view& out) const;
  /// Places all items or none. `entry` as for open_claim; in an `open` event, null joins automatically. Even
  /// a refusal may have joined: see `out`.
  placed place_order(const customer_id& customer, const queue_line::entry* entry, const order_wish& wish,
                     timestamp now, decision& out);
  /// The customer cancels the order. Its tickets are free at once, or as soon as the gateway confirms that it
  /// can no longer be paid.
  refusal cancel_order(const customer_id& customer, const order_id& id, timestamp now, decision& out);
  refusal set_promo_code(const promo_code_patch& patch, timestamp now, decision& out, promo_code_id& id);
  /// Sets the class of `customers` from their next join on; empty: removes it. All or none.
  refusal set_priorities(const std::vector<customer_id>& customers,
                         std::optional<std::uint8_t> priority_class, timestamp now, decision& out);

  // -- single customers (sale_people.cpp)
  /// Applies the block lists. Blocked customers can no longer join or buy. The next runs end their entries
  /// and claims, and refund their payments.
  void block(const blocked_customers& blocked);
  /// See orders_book.
  void forget_contacts(std::span<const customer_id> erased) {
    orders_.forget_contacts(erased);
    transfers_.forget_addresses(erased);
  }
  /// As prune() does with prune_bounds::contacts_before.
  void forget_contacts_of_sales_before(timestamp before);
  /// Invites all or none: enough tickets must be free for all open invitations. Skips blocked customers.
  /// Does not notify a customer again within invitation_mail_pause.
  refusal invite(const std::vector<customer_id>& customers, const invitation_wish& wish, timestamp now,
                 decision& out);
  /// Ends invitations now; returns how many. Held and bought tickets are kept.
  std::size_t withdraw_invitations(const std::vector<customer_id>& customers, timestamp now, decision& out);

  // -- money (sale_money.cpp)
  attempt open_payment(const customer_id& customer, const claim_id& claim, const std::string& gateway,
                       timestamp now, decision& out);
  /// Applies a webhook or the answer to our verify call. not_found for a reference of another installation.
  /// Money for a payment whose row is lost becomes a dead letter.
  refusal apply(const gateway_fact& fact, timestamp now, decision& out);
  /// The gateway returned the page for `payment`.
  void initialized(const payment_id& payment, const std::string& authorization_url,
                   const std::string& gateway_id, timestamp now, decision& out);
  /// The gateway answered a verify call, whatever it said. After the answer is applied.
  void rechecked(const payment_id& payment, timestamp now, decision& out);
  /// The gateway was unreachable, after retries.
  void not_answered(const payment_id& payment, timestamp now);
  /// The gateway refuses `payment` permanently. `reference_already_used`: only because its reference was
  /// used, so another attempt may succeed.
  void refused_by_gateway(const payment_id& payment, bool reference_already_used, timestamp now,
                          decision& out);
  /// The gateway will never capture `payment` (declined, expired, unknown).
  void closed(const payment_id& payment, timestamp now, decision& out);
  /// The gateway answers "not paid" to a verify call or (`was_closing`) to a request to close the attempt.
  /// An attempt whose claim is over is then closed.
  void unpaid(const payment_id& payment, bool was_closing, timestamp now, decision& out);

  // -- refunds (sale_refunds.cpp)
  /// A refund call failed, or the refund is pending at the gateway.
  void refund_not_processed(const refund_id& refund, bool refused, timestamp now, decision& out);
  /// The organizer refunds these tickets. Without ids: see event_tickets_book::first_to_cancel. Fees are
  /// refunded with the last ticket. Even a refusal may have settled event tickets: see `out`.
  refusal refund_order(const order_id& id, const refund_wish& wish, timestamp now, decision& out,
                       refund_id& opened);
  /// Retries the failed work of a dead letter; of quarantined money, which differs from the quote: a refund.
  refusal retry_dead_letter(const uuid& id, timestamp now, decision& out);
  /// Whether `payment` can be one of this event's whose row is lost: it names the event, and is not older. A
  /// gateway's account may be shared with other systems.
  [[nodiscard]] bool may_have_lost(const payment_id& payment) const;
  /// What the open dead letter `id` says about a payment whose row is lost; none for other letters.
  [[nodiscard]] std::optional<unknown_payment> unknown_charge(const uuid& id) const;
  refusal dismiss_dead_letter(const uuid& id, timestamp now, decision& out);
  /// Stores a dead letter for a domain event that no consumer accepted.
  void undelivered(const outbox_row& row, const std::string& detail, timestamp now, decision& out);

  // -- event tickets (sale_tickets.cpp)
  /// For timers: settles some of the loaded purchases and refunds of programs without event tickets.
  void settle_loaded_tickets(timestamp now, decision& out);
  /// Why this event ticket admits no one and cannot be transferred: cancelled, or its money goes back.
  [[nodiscard]] refusal may_present(const event_ticket_row& ticket) const;

  // -- offers of event tickets (sale_transfers.cpp)
  /// The same again is the same offer.
  refusal offer_ticket(const transfer_wish& wish, timestamp now, decision& out, transfer_id& made);
  /// Accepted or declined by the receiver, withdrawn by the giver.
  refusal end_transfer(const transfer_id& id, const customer_id& by, transfer_trigger trigger, timestamp now,
                       decision& out);

  // -- check-in (sale_checkin.cpp)
  refusal set_checkin_list(const checkin_list_patch& patch, timestamp now, decision& out,
                           checkin_list_id& id);
  refusal set_checkin_device(const checkin_device_patch& patch, timestamp now, decision& out,
                             checkin_device_id& id);
  /// Decides about a scan and records it, whatever the decision is. The same id is the same scan.
  scan_view redeem(const checkin_device_id& device, const scan_wish& wish, timestamp now, decision& out);
  [[nodiscard]] std::vector<checkin_ticket> at_gate(ticket_rows tickets) const;
  [[nodiscard]] checkin_conflict conflict_of(const event_ticket_id& ticket) const;
  [[nodiscard]] std::vector<checkin_type_count> checkin_counts() const;
  /// Tickets of `list`, at most `limit`: of the id `text` of a ticket, an order or a claim; else those of the
  /// newest orders whose buyer's name, order id or ticket id contains `text`. Last: in or cancelled.
  [[nodiscard]] std::vector<checkin_ticket> find_at_gate(const checkin_list_row& list, std::string_view text,
                                                         std::size_t limit) const;

  // -- organizer (sale_organizer.cpp)
  refusal change_status(event_trigger trigger, timestamp now, decision& out);
  refusal patch(const event_patch& patch, timestamp now, decision& out);
  /// All codes of the event's tickets become void, and their holders load others.
  void renew_ticket_keys(timestamp now, decision& out);

  // -- the public log (sale_log.cpp)
  /// It has begun: decisions note their records.
  void keep_log() { is_logged_ = true; }
  /// Begins it, with all entries in line. `lost`: see begin_record. Before any other call of the decision.
  void begin_log(std::string lost, decision& out);

  // -- reserved seats, by the organizer (sale_seats.cpp)
  /// Gives a draft a plan, or takes it away (null). `types`: the event's for each of the plan's.
  refusal set_plan(std::shared_ptr<const seat_plan> plan, const std::vector<ticket_type_id>& types,
                   const seat_rules& rules, timestamp now, decision& out);
  /// Blocks, unblocks and moves seats without a claim, all or none. Also changes the rules.
  refusal set_seats(const seat_patch& patch, timestamp now, decision& out);

  // -- time
  /// Applies every deadline that has passed and admits as many entries as allowed. Bounded work; `again` if
  /// more is due at once. Called after every decision and by timers.
  struct wake_up {
    bool again = false;
    timestamp at; ///< next time at which anything changes; `never` if nothing is scheduled
  };
  wake_up run(timestamp now, decision& out);

  // -- views
  /// The one of `customer` unless it is past; null: none.
  [[nodiscard]] const invitation_row* invitation_of(const customer_id& customer, timestamp now) const;
  /// Whether `customer` may see and buy this hidden type now, with an invitation or an access code.
  [[nodiscard]] bool opens_hidden(const ticket_type_row& type, const customer_id& customer,
                                  timestamp now) const;
  /// Tickets that the customer may still take with it.
  [[nodiscard]] std::uint32_t remaining_of(const invitation_row& invitation) const;
  [[nodiscard]] entry_view view_of(const queue_line::entry& e, timestamp now) const;
  [[nodiscard]] claim_view view_of(const claim_row& c) const;
  [[nodiscard]] payment_view view_of(const payment_row& p) const;
  /// Without event tickets, which few callers read: see views_of.
  [[nodiscard]] order_view view_of(const order_row& o) const;
  [[nodiscard]] std::vector<event_ticket_view> views_of(ticket_rows tickets) const;
  /// All accepted offers of each ticket and the newest others, without addresses; by ticket, then by time.
  [[nodiscard]] std::vector<transfer_row> history_of(ticket_rows tickets) const;
  /// Whether the holder is who bought it.
  [[nodiscard]] bool is_with_buyer(const event_ticket_row& t) const;
  [[nodiscard]] ticket_paper paper_of(const event_ticket_row& t, std::uint32_t attendee = 0) const;
  /// Its seat; without labels: none.
  [[nodiscard]] ticket_seat seat_of(const event_ticket_row& t) const;
  [[nodiscard]] event_view view() const;
  /// Adds order, entry and customer to a domain event about a claim or a payment.
  [[nodiscard]] domain_event related(domain_event told) const;
  [[nodiscard]] event_stats stats(timestamp now) const;
  [[nodiscard]] entry_change change_of(const queue_line::entry& e) const;
  /// Whether a session, claim, payment or ticket can end by its time.
  [[nodiscard]] bool has_deadlines() const;
  /// Whether the owner may be passivated: nothing is waiting, shopping or due. Later questions about failed
  /// payments wake it (ledger::aggregates_to_wake).
  [[nodiscard]] bool is_quiet(timestamp now) const;
  [[nodiscard]] line_pace pace(timestamp now) const;

private:
  // the line
  [[nodiscard]] refusal queue_is_open(timestamp now) const;
  [[nodiscard]] milliseconds presence_grain() const { return event_.queue.presence_timeout / 8; }
  [[nodiscard]] bool is_over(timestamp now) const {
    return is_set(event_.sale_end) && now >= event_.sale_end;
  }
  [[nodiscard]] bool opens_hidden(const promo_code_row& code) const;
  [[nodiscard]] refusal access_code_of(const subject_key& subject, std::string_view typed, timestamp now,
                                       const promo_code_row*& out) const;
  refusal give_access(const queue_line::entry& e, const promo_code_row& code, timestamp now, decision& out);
  [[nodiscard]] hidden_types opened_by(const queue_line::entry& e, timestamp now) const;
  bool regroup(const queue_line::entry& e, timestamp now, decision& out);
  void regroup(const customer_id& customer, timestamp now, decision& out);
  void regroup_holders(std::uint32_t promo, timestamp now, decision& out);
  void regroup_all(timestamp now, decision& out, bool tells_all = false);
  void open_codes(timestamp now, decision& out);
  std::size_t mark_absent(timestamp now, decision& out);
  std::size_t bring_back(timestamp now, decision& out);
  [[nodiscard]] timestamp next_absence() const;
  void watch_presence(timestamp now);
  void follow_waiting_list(timestamp now, decision& out);
  void order_ended();
  std::size_t forget_ended(timestamp now, decision& out);
  [[nodiscard]] timestamp next_forgetting() const;
  // the lobby
  void run_lobby(timestamp now, decision& out);
  void open_lobby(timestamp now, decision& out);
  void close_lobby(timestamp now, decision& out);
  void draw_lobby(beacon_kind kind, std::string value, timestamp now, decision& out);
  void level_parties(decision& out);
  [[nodiscard]] std::uint8_t class_in_log(const queue_line::entry& e) const;
  [[nodiscard]] std::unordered_map<queue_number, std::uint8_t> lowest_classes() const;
  [[nodiscard]] refusal may_draw() const;
  [[nodiscard]] bool may_open_lobby() const;
  [[nodiscard]] bool has_positions() const { return lobby_now().phase == lobby_phase::none; }
  [[nodiscard]] bool lobby_is_open() const { return lobby_ && !is_set(lobby_->closed_at); }
  /// The root of the entrants is being computed: what their leaves have does not change.
  [[nodiscard]] bool is_closing() const {
    return lobby_ && is_set(lobby_->closed_at) && draws_lots() && lobby_->root.empty();
  }
  [[nodiscard]] bool draws_lots() const { return event_.lobby.draw == draw_kind::at_opening; }
  [[nodiscard]] bool was_entrant(const queue_line::entry& e) const;
  [[nodiscard]] timestamp next_lobby_step(timestamp now) const;
  [[nodiscard]] refusal may_enter_party(queue_number party) const;
  refusal open_party(const queue_line::entry& e, decision& out);
  refusal enter_party(const queue_line::entry& e, queue_number party, decision& out);
  /// A party that is first in line.
  struct party_gate {
    queue_number going{}; ///< may be admitted in this decision
    std::uint64_t left = 0; ///< admissions of this decision
    bool splits = false; ///< room for all of it cannot come
    bool waits = false; ///< it waits for room
  };
  bool regroup_party(queue_number party, timestamp now, decision& out);
  bool may_go(queue_number party, const unit_pools& pools, timestamp now, party_gate& gate) const;
  [[nodiscard]] std::uint64_t room_ever(std::span<const queue_number> members, timestamp now) const;
  // the public log
  void note(log_record record, decision& out) const {
    if (is_logged_) out.records.push_back(std::move(record));
  }
  void note_line(queue_number after, queue_number last, decision& out) const;
  void note_lobby(decision& out) const;
  void note_drawn(decision& out) const;
  void note_place(const queue_line::entry& e, decision& out) const;
  void note_access(std::size_t first, std::string change, decision& out) const;
  void note_end(const queue_line::entry& e, bool was_admitted, left_why why, decision& out) const;
  void note_admitted(admitted_record told, const std::vector<queue_number>& numbers, decision& out) const;
  // locks
  [[nodiscard]] const queue_line::entry* session_of(queue_number n, std::uint32_t admission_no) const;
  void free_lock(const std::string& name, decision& out);
  void find_lost_locks();
  void free_lost_locks(decision& out);
  // claims
  [[nodiscard]] refusal may_buy(const ticket_type_row& type, std::uint32_t quantity, const wanted& w,
                                timestamp now) const;
  refusal default_item(timestamp now, wanted& out) const;
  refusal wanted_items(const std::vector<item_wish>& wishes, timestamp now, wanted& out) const;
  [[nodiscard]] refusal none_free(const wanted& w, timestamp now) const;
  refusal may_hold(const customer_id& customer, timestamp now, std::uint8_t& slot) const;
  claim_id hold(const queue_line::entry& entry, claim_row row, std::span<const seat_number> seats,
                timestamp now, decision& out);
  void end_entry(queue_number n, entry_trigger trigger, timestamp now, decision& out,
                 left_why why = left_why::holder);
  void release(const claim_row& claim, timestamp now, decision& out, claim_end why = {});
  void close_session_claim(queue_number n, timestamp now, decision& out);
  // checkout
  refusal priced(const std::vector<item_wish>& wishes, const seat_wish& seats, timestamp now, wanted& items,
                 price_quote& price) const;
  refusal price_wish(const customer_id& customer, const std::vector<item_wish>& wishes,
                     const seat_wish& seats, std::string_view promo_code, timestamp now, wanted& items,
                     price_quote& price) const;
  [[nodiscard]] refusal wanted_promo(const customer_id& customer, std::string_view typed, timestamp now,
                                     const promo_code_row*& out) const;
  [[nodiscard]] const promo_code_row* access_code_for(const customer_id& customer,
                                                      const std::vector<item_wish>& wishes,
                                                      timestamp now) const;
  void move_promo_uses(std::uint32_t promo, std::int64_t delta, timestamp now, decision& out);
  [[nodiscard]] const queue_line::entry* find_or_admit(const customer_id& customer,
                                                       const promo_code_row* promo, timestamp now,
                                                       decision& out, refusal& no);
  void move_order(const claim_id& claim, order_trigger trigger, timestamp now, decision& out,
                  std::string_view failure = {});
  void payment_page_ready(const claim_id& claim, timestamp now, decision& out);
  void cancel_payment_link(const claim_id& claim, timestamp now, decision& out);
  void withdraw(const claim_row& claim, timestamp now, decision& out, claim_end why);
  [[nodiscard]] bool takes_guests() const;
  [[nodiscard]] refusal refused_to_guest(const customer_id& buyer) const;
  [[nodiscard]] bool may_receive(const order_row& order) const;
  [[nodiscard]] bool is_given_up(const claim_id& claim) const;
  std::size_t end_pending(timestamp now, decision& out);
  std::size_t send_links(timestamp now, decision& out);
  [[nodiscard]] timestamp next_checkout_deadline() const;
  // money
  refusal paid(const payment_row& payment, const gateway_fact& fact, timestamp now, decision& out);
  [[nodiscard]] std::optional<refund_id> refund_of(const payment_row& payment,
                                                   const gateway_fact& fact) const;
  void ask_about_refunds(const payment_id& payment, decision& out);
  void confirm_claim(const claim_id& claim, timestamp now, decision& out);
  void late_money(const payment_id& payment, timestamp now, decision& out);
  bool claim_again(const payment_id& payment, timestamp now, decision& out);
  [[nodiscard]] customer_id buyer_of(const claim_row& claim) const;
  [[nodiscard]] std::optional<std::uint8_t> slot_of_buyer(const customer_id& buyer) const;
  void give_up(const payment_id& payment, timestamp now, decision& out);
  payment_id begin_attempt(const claim_row& claim, const std::string& gateway, timestamp now, decision& out);
  // single customers
  [[nodiscard]] bool is_blocked(const customer_id& customer) const { return blocked_.contains(customer); }
  std::size_t end_blocked_entries(timestamp now, decision& out);
  std::size_t refund_blocked_customers(timestamp now, decision& out);
  void end_customer(const customer_id& customer, timestamp now, decision& out);
  void store_invitation(const invitation_row& row, timestamp now, decision& out);
  [[nodiscard]] bool is_still_open(const claim_row& claim, timestamp now) const;
  // refunds
  [[nodiscard]] const payment_row* bought_with(const claim_row& claim, bool& is_under_way) const;
  std::uint32_t refund_customer(const customer_id& customer, timestamp now, decision& out);
  bool request_refund(const payment_id& payment, timestamp now, decision& out);
  [[nodiscard]] refusal wanted_back(const claim_row& claim, const refund_wish& wish, units_back& out,
                                    money& amount) const;
  [[nodiscard]] refusal wanted_tickets(const claim_row& claim, const refund_wish& wish,
                                       units_back& out) const;
  refund_id begin_refund(const payment_id& payment, money amount, units_back units, timestamp now,
                         decision& out);
  void refund_done(const refund_id& refund, timestamp now, decision& out);
  void tell_gates(const payment_id& payment, timestamp at);
  [[nodiscard]] bool is_owed(const refund_row& refund) const;
  [[nodiscard]] std::optional<refund_id> made_after_all(const payment_id& payment) const;
  [[nodiscard]] units_back taken_by(const refund_row& refund) const;
  void return_tickets(const claim_id& claim, const units_back& units, timestamp now, decision& out);
  void add_dead_letter(dead_letter_kind kind, const uuid& subject, std::string detail, std::string payload,
                       timestamp now, decision& out);
  void store_dead_letter(dead_letter_row row, timestamp now, decision& out);
  // event tickets
  void settle_tickets(const claim_row& claim, timestamp now, decision& out);
  [[nodiscard]] std::vector<event_ticket_id> chosen(const claim_id& claim, const units_back& units) const;
  [[nodiscard]] std::vector<event_ticket_id> refunded_tickets(const claim_id& claim) const;
  [[nodiscard]] std::vector<event_ticket_id> pending_refunds(const claim_row& claim) const;
  [[nodiscard]] std::vector<event_ticket_id> pending_refunds(ticket_rows tickets) const;
  [[nodiscard]] refusal refused_transfer(const event_ticket_row& ticket) const;
  std::size_t expire_transfers(timestamp now, decision& out);
  void end_offer(const transfer_id& id, transfer_trigger trigger, timestamp now, decision& out);
  void end_offers_of(const std::vector<event_ticket_id>& tickets, timestamp now, decision& out);
  std::size_t end_all_offers(timestamp now, decision& out);
  void find_holders_to_tell();
  std::size_t tell_holders(timestamp now, decision& out);
  // reserved seats
  refusal best_items(const seat_wish& wish, timestamp now, wanted& out, std::vector<item_wish>& items) const;
  refusal choose_seats(const std::vector<item_wish>& wishes, const seat_wish& wish, timestamp now,
                       wanted& out) const;
  refusal named_seats(const item_wish& wish, std::uint32_t ticket_type, std::vector<seat_number>& out) const;
  [[nodiscard]] refusal refusal_of(const seat_refusal& no) const;
  void follow_plan(decision& out);
  void leave_plan(const seating& before, decision& out);
  [[nodiscard]] std::vector<seat_number> seats_to_issue(const claim_id& claim,
                                                        std::uint32_t ticket_type) const;
  [[nodiscard]] refusal tickets_of_seats(const claim_id& claim, refund_wish& wish) const;
  // check-in
  [[nodiscard]] std::vector<const event_ticket_row*> tickets_of_id(const uuid& id) const;
  refusal patch_list(const checkin_list_patch& patch, checkin_list_row& row) const;
  [[nodiscard]] scan_objection objection_to(const scan_wish& wish, const event_ticket_row* ticket,
                                            const checkin_list_row& list) const;
  [[nodiscard]] const scan_row* entry_before(const event_ticket_id& ticket) const;
  void follow_scans(const event_ticket_id& ticket, const scan_row& newest, timestamp now, decision& out);
  [[nodiscard]] scan_place place_of(const scan_row& scan) const;
  [[nodiscard]] scan_view view_of(const scan_row& scan) const;
  // payments whose rows are lost
  refusal apply_unknown(const payment_id& payment, const gateway_fact& fact, timestamp now, decision& out);
  void add_unknown(const uuid& id, const unknown_payment& p, std::string_view why, timestamp now,
                   decision& out);
  void unknown_not_refunded(const uuid& letter, const unknown_payment& p, timestamp now, decision& out);
  [[nodiscard]] bool has_letter_about(const uuid& subject) const;
  void settle_dead_letter_about(const uuid& subject, timestamp now, decision& out);
  void settle_dead_letter(const uuid& id, dead_letter_status status, timestamp now, decision& out);
  // time
  std::size_t end_sale(timestamp now, decision& out);
  std::size_t end_waiting(timestamp now, decision& out);
  std::size_t expire_waiting(timestamp now, decision& out);
  void verify_soon(const payment_id& payment, timestamp now, decision& out);
  [[nodiscard]] timestamp ticket_deadline() const;
  std::size_t end_sessions(timestamp now, decision& out);
  std::size_t end_claims(timestamp now, decision& out);
  std::size_t check_stale_payments(timestamp now, decision& out);
  [[nodiscard]] timestamp recheck_after(const payment_row& failed, timestamp t) const;
  std::size_t recheck_failed_attempts(timestamp now, decision& out);
  std::size_t cancel_everything(timestamp now, decision& out);
  std::size_t refund_room(timestamp now);
  [[nodiscard]] bool owes_refunds() const;
  [[nodiscard]] timestamp next_refund_slot(timestamp now) const;
  void refresh(timestamp now, decision& out);
  [[nodiscard]] unit_pools free_pools(timestamp now) const;
  [[nodiscard]] const queue_line::entry* next_to_admit(unit_pools& pools, timestamp now, party_gate& gate,
                                                       decision& out);
  [[nodiscard]] timestamp next_opening(timestamp now) const;
  admission_answer admit(timestamp now, decision& out, std::uint64_t called = 0);
  void update_sold_out(decision& out);
  [[nodiscard]] timestamp next_deadline(timestamp now) const;
  void change_event(event_status from, timestamp now, decision& out);
  refusal turn(event_trigger trigger, timestamp now, decision& out);
};

/// What is wrong with a new or changed event; none if it may be stored. `detail` starts with the field.
refusal validate(const event_row& event, const std::vector<ticket_type_row>& types);

} // namespace fq
