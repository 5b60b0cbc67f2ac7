// SPDX-License-Identifier: Apache-2.0
// Actors that give scripted answers and record their requests.
#pragma once
#include "actors/base/errors.hpp"
#include "actors/protocol/protocol.hpp"
#include "tests/net/server/conversations.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace fq::net::made {

/// Shared with the actors. The test accesses it only while no request is in flight.
struct script {
  // answers
  entry_reply entry;
  challenge_reply challenge;
  line_reply line;
  ack_reply ack;
  claim_reply claim;
  payment_reply payment;
  event_reply event;
  stats_reply stats;
  event_list_reply list;
  count_reply count;
  audit_reply audit;
  person_reply person;
  quote_reply quote;
  order_reply order;
  orders_reply orders;
  std::vector<orders_reply> order_pages; ///< for the first requests for orders
  promo_codes_reply promo_codes;
  customers_reply customers;
  order_list_reply own_orders;
  event_ticket_reply event_ticket;
  event_tickets_reply event_tickets;
  ticket_papers_reply papers;
  ticket_seats_reply ticket_seats;
  transfer_reply transfer;
  transfers_reply transfers;
  held_tickets_reply held_tickets;
  std::vector<records_reply> records; ///< answers in order; then an empty last page
  std::vector<list_records> asked_records;
  dead_letters_reply dead_letters;
  checkin_reply checkin;
  checkin_conflicts_reply conflicts;
  scans_reply scans;
  gate_reply gate;
  gate_state_reply gate_state;
  gate_tickets_reply gate_tickets;
  sessions_changed sessions; ///< sent to a table that subscribes
  bool answers_watch = true;
  caf::error error; ///< answer of the event actor, if set
  std::function<void()> before_line; ///< called before an answer to find_line, on the actor's thread
  // requests
  int questions = 0;
  int watches = 0, unwatches = 0; ///< subscriptions and cancellations
  int subscriptions = 0; ///< of line tables
  int polls = 0; ///< find_entry
  std::vector<std::vector<queue_number>> seen;
  join asked_join;
  change_party asked_party;
  std::vector<open_challenge> asked_challenges;
  open_claim asked_claim;
  open_payment asked_payment;
  apply_fact asked_fact;
  find_event asked_event;
  patch_event asked_patch;
  turn_event asked_turn;
  set_seat_plan asked_seat_plan;
  set_seats asked_seats;
  find_seats asked_map;
  seats_reply seats;
  find_seat_plan asked_plan;
  seat_plan_reply seat_plan;
  renew_ticket_keys asked_keys;
  create_event asked_create;
  list_events asked_list;
  log_in asked_login;
  request_otp asked_otp;
  verify_otp asked_code;
  entry_id asked_ticket;
  std::string asked_end;
  advance_line asked_advance;
  revoke_sessions asked_revocation;
  list_audit asked_audit;
  list_statistics asked_statistics;
  store_tenant_plan asked_tenant_plan;
  tenant_plan_reply tenant_plan;
  list_tenant_plans asked_tenant_plans;
  tenant_plans_reply tenant_plans;
  statistics_reply statistics;
  get_quote asked_quote;
  place_order asked_order;
  find_order asked_find_order;
  list_event_orders asked_orders;
  find_event_ticket asked_event_ticket;
  list_event_tickets asked_event_tickets;
  find_ticket_papers asked_papers;
  find_ticket_seats asked_ticket_seats;
  int seat_questions = 0;
  caf::error seats_error; ///< to them
  offer_ticket asked_offer;
  end_transfer asked_transfer_end;
  list_held_tickets asked_held_tickets;
  list_transfers asked_transfers;
  refund_tickets asked_refund;
  set_promo_code asked_promo_code;
  set_priorities asked_priorities;
  invite_customers asked_invitations;
  block_customers asked_block;
  find_blocks asked_blocks;
  invitations_reply invitations;
  blocks_reply blocks;
  settle_dead_letter asked_settle;
  set_checkin_list asked_checkin_list;
  set_checkin_device asked_checkin_device;
  list_checkin_conflicts asked_conflicts;
  redeem_scans asked_scans;
  find_gate asked_gate;
  find_gate_state asked_gate_state;
  search_gate asked_gate_search;
  end_organizer_session asked_end_session;
  change_lock asked_lock;
  find_locks asked_locks;
  locks_reply locks;
  organizer_sessions_reply sign_ins;
  customer_reply customer;
  erase_customer asked_erasure;
  find_customers asked_customers;
  bool accounts_fail = false;
  change_setting asked_setting;
  std::vector<record_deed> deeds;
  set_tenant_logo asked_logo;
};

using script_ptr = std::shared_ptr<script>;

template <class Reply>
caf::result<Reply> scripted(script& s, const Reply& reply) {
  ++s.questions;
  if (s.error) return s.error;
  return reply;
}

/// Keeps the question in `asked` and answers with `reply`.
template <class Message, class Reply>
auto kept(const script_ptr& s, Message script::*asked, Reply script::*reply) {
  return [=](const Message& m) {
    (*s).*asked = m;
    return scripted(*s, (*s).*reply);
  };
}

/// Places in the line, tickets of waiting rooms and sessions.
inline auto scripted_line(event_handle::pointer self, const script_ptr& s) {
  return std::tuple{[s](const join& m) {
                      s->asked_join = m;
                      return scripted(*s, s->entry);
                    },
                    [s](const open_challenge& m) {
                      s->asked_challenges.push_back(m);
                      return scripted(*s, s->challenge);
                    },
                    [s](const find_entry&) {
                      ++s->polls;
                      return scripted(*s, s->entry);
                    },
                    [s](const leave&) { return scripted(*s, s->ack); },
                    [s](const subscribe& m) { s->subscriptions += m.on ? 1 : -1; },
                    [s](const find_ticket& m) {
                      s->asked_ticket = m.ticket;
                      return scripted(*s, s->entry);
                    },
                    kept(s, &script::asked_party, &script::entry),
                    [s](const leave_ticket& m) {
                      s->asked_ticket = m.ticket;
                      return scripted(*s, s->ack);
                    },
                    [s](const end_session& m) {
                      s->asked_end = m.session_token;
                      return scripted(*s, s->ack);
                    },
                    [s](const present& m) { s->seen.push_back(m.numbers); },
                    kept(s, &script::asked_lock, &script::locks),
                    kept(s, &script::asked_locks, &script::locks),
                    [](const push_read&) {},
                    [](const owner_kept&) {},
                    [s](const find_line&) {
                      if (s->before_line) s->before_line();
                      return scripted(*s, s->line);
                    },
                    [self, s](const watch_sessions& m) {
                      ++(m.on ? s->watches : s->unwatches);
                      if (!m.on || !s->answers_watch) return;
                      s->sessions.asked_at = m.asked_at;
                      caf::anon_send(caf::actor_cast<caf::actor>(self->current_sender()), s->sessions);
                    },
                    [s](const advance_line& m) {
                      s->asked_advance = m;
                      return scripted(*s, s->count);
                    },
                    [s](const revoke_sessions& m) {
                      s->asked_revocation = m;
                      return scripted(*s, s->count);
                    }};
}

/// Event tickets and offers of them.
inline auto scripted_tickets(const script_ptr& s) {
  return std::tuple{[s](const find_event_ticket& m) {
                      s->asked_event_ticket = m;
                      return scripted(*s, s->event_ticket);
                    },
                    [s](const find_ticket_papers& m) {
                      s->asked_papers = m;
                      return scripted(*s, s->papers);
                    },
                    [s](const find_ticket_seats& m) -> caf::result<ticket_seats_reply> {
                      s->asked_ticket_seats = m;
                      ++s->seat_questions;
                      if (s->seats_error) return s->seats_error;
                      return scripted(*s, s->ticket_seats);
                    },
                    [s](const offer_ticket& m) {
                      s->asked_offer = m;
                      return scripted(*s, s->transfer);
                    },
                    [s](const end_transfer& m) {
                      s->asked_transfer_end = m;
                      return scripted(*s, s->transfer);
                    },
                    [s](const list_event_tickets& m) {
                      s->asked_event_tickets = m;
                      return scripted(*s, s->event_tickets);
                    }};
}

/// Claims, orders and their money.
inline auto scripted_checkout(const script_ptr& s) {
  return std::tuple{[s](const open_claim& m) {
                      s->asked_claim = m;
                      return scripted(*s, s->claim);
                    },
                    [s](const find_claim&) { return scripted(*s, s->claim); },
                    [s](const release_claim&) { return scripted(*s, s->ack); },
                    [s](const open_payment& m) {
                      s->asked_payment = m;
                      return scripted(*s, s->payment);
                    },
                    [s](const find_payment&) { return scripted(*s, s->payment); },
                    [s](const apply_fact& m) {
                      s->asked_fact = m;
                      return scripted(*s, s->ack);
                    },
                    [s](const get_quote& m) {
                      s->asked_quote = m;
                      return scripted(*s, s->quote);
                    },
                    [s](const place_order& m) {
                      s->asked_order = m;
                      return scripted(*s, s->order);
                    },
                    [s](const find_order& m) {
                      s->asked_find_order = m;
                      return scripted(*s, s->order);
                    },
                    [s](const cancel_order&) { return scripted(*s, s->order); },
                    [s](const list_event_orders& m) {
                      s->asked_orders = m;
                      if (s->order_pages.empty()) return scripted(*s, s->orders);
                      auto page = std::move(s->order_pages.front());
                      s->order_pages.erase(s->order_pages.begin());
                      return scripted(*s, page);
                    },
                    [s](const refund_tickets& m) {
                      s->asked_refund = m;
                      return scripted(*s, s->order);
                    },
                    [s](const resend_order&) { return scripted(*s, s->ack); },
                    [s](const settle_dead_letter& m) {
                      s->asked_settle = m;
                      return scripted(*s, s->ack);
                    }};
}

/// The organizer's settings, promo codes and lists of customers.
inline auto scripted_organizer(const script_ptr& s) {
  return std::tuple{[s](const find_event& m) {
                      s->asked_event = m;
                      return scripted(*s, s->event);
                    },
                    [s](const patch_event& m) {
                      s->asked_patch = m;
                      return scripted(*s, s->event);
                    },
                    [s](const turn_event& m) {
                      s->asked_turn = m;
                      return scripted(*s, s->event);
                    },
                    [s](const set_seat_plan& m) {
                      s->asked_seat_plan = m;
                      return scripted(*s, s->event);
                    },
                    [s](const set_seats& m) {
                      s->asked_seats = m;
                      return scripted(*s, s->ack);
                    },
                    [s](const find_seats& m) {
                      s->asked_map = m;
                      return scripted(*s, s->seats);
                    },
                    [s](const find_seat_plan& m) {
                      s->asked_plan = m;
                      auto reply = s->seat_plan;
                      if (m.known == reply.digest) reply.plan.clear();
                      return scripted(*s, reply);
                    },
                    [s](const renew_ticket_keys& m) {
                      s->asked_keys = m;
                      return scripted(*s, s->event);
                    },
                    [s](const find_stats&) { return scripted(*s, s->stats); },
                    [s](const set_promo_code& m) {
                      s->asked_promo_code = m;
                      return scripted(*s, s->promo_codes);
                    },
                    [s](const find_promo_codes&) { return scripted(*s, s->promo_codes); },
                    [s](const set_priorities& m) {
                      s->asked_priorities = m;
                      return scripted(*s, s->count);
                    },
                    [s](const find_priorities&) { return scripted(*s, s->customers); },
                    [s](const invite_customers& m) {
                      s->asked_invitations = m;
                      return scripted(*s, s->count);
                    },
                    [s](const withdraw_invitations&) { return scripted(*s, s->count); },
                    [s](const find_invitations&) { return scripted(*s, s->invitations); }};
}

/// Check-in.
inline auto scripted_checkin(const script_ptr& s) {
  return std::tuple{[s](const set_checkin_list& m) {
                      s->asked_checkin_list = m;
                      return scripted(*s, s->checkin);
                    },
                    [s](const set_checkin_device& m) {
                      s->asked_checkin_device = m;
                      return scripted(*s, s->checkin);
                    },
                    [s](const find_checkin&) { return scripted(*s, s->checkin); },
                    [s](const list_checkin_conflicts& m) {
                      s->asked_conflicts = m;
                      return scripted(*s, s->conflicts);
                    },
                    [s](const redeem_scans& m) {
                      s->asked_scans = m;
                      return scripted(*s, s->scans);
                    },
                    [s](const find_gate& m) {
                      s->asked_gate = m;
                      return scripted(*s, s->gate);
                    },
                    [s](const find_gate_state& m) {
                      s->asked_gate_state = m;
                      return scripted(*s, s->gate_state);
                    },
                    [s](const search_gate& m) {
                      s->asked_gate_search = m;
                      return scripted(*s, s->gate_tickets);
                    }};
}

inline event_handle::behavior_type scripted_event(event_handle::pointer self, script_ptr s) {
  return test::behavior_of<event_handle::behavior_type>(
    scripted_line(self, s), scripted_checkout(s), scripted_tickets(s), scripted_organizer(s),
    scripted_checkin(s), test::internal_messages(), std::tuple{[](const timer_fired&) {}});
}

/// Aggregate 16 is the scripted event; every other one is absent.
inline region_handle::behavior_type scripted_region(region_handle::pointer, event_handle event) {
  return {[event](const resolve_event& m) -> caf::result<event_handle> {
            if (m.aggregate != first_event_aggregate) return make_error(errc::absent);
            return event;
          },
          [](const list_owned&) { return owned_aggregates{}; },
          [](const move_event&) { return ack_reply{}; },
          [](const cluster_changed&) {},
          [](const ledger_seen&) {},
          [](const handed_over&) {},
          [](const blocks_changed&) {},
          [](const aggregates_to_wake&) {},
          [](const timer_fired&) {}};
}

inline catalog_handle::behavior_type scripted_catalog(catalog_handle::pointer, script_ptr s) {
  return {[s](const create_event& m) {
            s->asked_create = m;
            return scripted(*s, s->event);
          },
          [s](const list_events& m) {
            s->asked_list = m;
            return scripted(*s, s->list);
          },
          [s](const list_audit& m) {
            s->asked_audit = m;
            return scripted(*s, s->audit);
          },
          [s](const list_orders&) { return scripted(*s, s->own_orders); },
          kept(s, &script::asked_held_tickets, &script::held_tickets),
          kept(s, &script::asked_transfers, &script::transfers),
          [s](const list_dead_letters&) { return scripted(*s, s->dead_letters); },
          [s](const list_records& m) {
            s->asked_records.push_back(m);
            const auto i = s->asked_records.size() - 1;
            return scripted(*s, i < s->records.size() ? s->records[i] : records_reply{});
          },
          kept(s, &script::asked_statistics, &script::statistics),
          kept(s, &script::asked_tenant_plan, &script::tenant_plan),
          kept(s, &script::asked_tenant_plans, &script::tenant_plans),
          [](const cluster_changed&) {},
          [](const batch_settled&) {},
          [](const aggregate_acquired&) {},
          [](const lease_lost&) {},
          [](const last_aggregate_found&) {},
          [](const timer_fired&) {}};
}

inline accounts_handle::behavior_type scripted_accounts(accounts_handle::pointer, script_ptr s) {
  return {[s](const log_in& m) {
            s->asked_login = m;
            return scripted(*s, s->person);
          },
          [s](const request_otp& m) {
            s->asked_otp = m;
            return scripted(*s, s->ack);
          },
          [s](const open_code_challenge&) { return scripted(*s, s->challenge); },
          [s](const mail_challenge&) { return scripted(*s, s->ack); },
          [s](const verify_otp& m) {
            s->asked_code = m;
            return scripted(*s, s->person);
          },
          [s](const add_organizer&) { return scripted(*s, s->person); },
          [s](const add_tenant&) { return scripted(*s, s->ack); },
          [](const list_tenants&) { return tenants_reply{}; },
          [](const issue_api_key&) { return api_key_reply{}; },
          [](const revoke_api_key&) { return ack_reply{}; },
          [s](const find_customers& m) {
            s->asked_customers = m;
            return scripted(*s, s->customers);
          },
          [s](const change_setting& m) {
            s->asked_setting = m;
            return scripted(*s, s->ack);
          },
          kept(s, &script::asked_logo, &script::ack),
          [s](const record_deed& m) {
            s->deeds.push_back(m);
            return scripted(*s, s->ack);
          },
          [s](const block_customers& m) {
            s->asked_block = m;
            return scripted(*s, s->customers);
          },
          [s](const unblock_customer&) { return scripted(*s, s->ack); },
          [s](const find_blocks& m) {
            s->asked_blocks = m;
            return scripted(*s, s->blocks);
          },
          [s](const list_organizer_sessions&) { return scripted(*s, s->sign_ins); },
          [s](const end_organizer_session& m) {
            s->asked_end_session = m;
            return scripted(*s, s->ack);
          },
          [s](const sign_organizer_out&) { return scripted(*s, s->ack); },
          [s](const find_customer&) -> caf::result<customer_reply> {
            if (s->accounts_fail) return make_error(errc::unavailable);
            return scripted(*s, s->customer);
          },
          [s](const erase_customer& m) { return s->asked_erasure = m, scripted(*s, s->ack); },
          [](const cluster_changed&) {},
          [](const batch_settled&) {},
          [](const aggregate_acquired&) {},
          [](const lease_lost&) {},
          [](const timer_fired&) {}};
}

} // namespace fq::net::made
