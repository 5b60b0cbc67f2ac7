// SPDX-License-Identifier: Apache-2.0
// The typed handle of every actor that another file talks to, one comment per handler, and the type-id block.
// Handlers marked INTERNAL are for the actor's own timers, workers and supervisor.
#pragma once
#include "actors/messages.hpp"

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

namespace fq {

/// Anything with a journal, as the ledger worker sees it.
using owner_handle = caf::typed_actor<caf::reacts_to<batch_settled>, caf::reacts_to<aggregate_acquired>>;

/// One event: its queue, inventory, claims, payments, journal. The only decider for all of it.
using event_handle = caf::typed_actor<
  caf::replies_to<join>::with<entry_reply>, ///< after commit; the place, new or the one it has
  caf::replies_to<find_entry>::with<entry_reply>,
  caf::replies_to<leave>::with<ack_reply>, ///< after commit
  caf::replies_to<open_claim>::with<claim_reply>, ///< after commit
  caf::replies_to<find_claim>::with<claim_reply>,
  caf::replies_to<release_claim>::with<ack_reply>, ///< after commit
  caf::replies_to<open_payment>::with<payment_reply>, ///< after commit and the gateway's answer, or after 3 s INITIALIZING
  caf::replies_to<find_payment>::with<payment_reply>,
  caf::replies_to<apply_fact>::with<ack_reply>, ///< after commit; not_found for a reference it does not know
  caf::replies_to<find_event>::with<event_reply>,
  caf::replies_to<patch_event>::with<event_reply>, ///< after commit
  caf::replies_to<turn_event>::with<event_reply>, ///< after commit
  caf::replies_to<find_stats>::with<stats_reply>,
  caf::replies_to<find_positions>::with<positions_reply>,
  caf::reacts_to<subscribe>, ///< from a hub
  caf::reacts_to<batch_settled>, ///< INTERNAL, from the ledger worker
  caf::reacts_to<aggregate_acquired>, ///< INTERNAL, from the ledger worker
  caf::reacts_to<gateway_answered>, ///< INTERNAL, from payments
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// One per owner: the stable handle. Starts it, restarts it with back-off within a budget, gives out its present handle.
using supervisor_handle = caf::typed_actor<
  caf::replies_to<resolve_event>::with<event_handle>, ///< waits until the owner serves; errors absent, unavailable
  caf::reacts_to<owner_ready>, ///< INTERNAL, from the owner
  caf::reacts_to<owner_absent>, ///< INTERNAL, from the owner
  caf::reacts_to<owner_idle>, ///< INTERNAL, from the owner
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// What subscribers of an event receive: one per io thread (net/hub), in order per event, only what is committed.
using hub_handle = caf::typed_actor<caf::reacts_to<entries_changed>, caf::reacts_to<line_moved>, caf::reacts_to<event_noticed>>;

/// Knows the owner of every aggregate; spawns it on first use, passivates it when idle.
using region_handle = caf::typed_actor<
  caf::replies_to<resolve_event>::with<event_handle>, ///< error not_found / unavailable (see actors/errors.hpp)
  caf::reacts_to<aggregates_to_wake>, ///< INTERNAL, from the ledger worker
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Organizers, customers, one-time passwords.
using accounts_handle = caf::typed_actor<
  caf::replies_to<log_in>::with<person_reply>,
  caf::replies_to<request_otp>::with<ack_reply>, ///< after commit; the mail is on its way
  caf::replies_to<verify_otp>::with<person_reply>, ///< after commit
  caf::replies_to<add_organizer>::with<person_reply>, ///< after commit
  caf::reacts_to<batch_settled>, ///< INTERNAL
  caf::reacts_to<aggregate_acquired>, ///< INTERNAL
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Creates events; lists them from committed state.
using catalog_handle = caf::typed_actor<
  caf::replies_to<create_event>::with<event_reply>, ///< after commit
  caf::replies_to<list_events>::with<event_list_reply>,
  caf::reacts_to<batch_settled>, ///< INTERNAL
  caf::reacts_to<aggregate_acquired>, ///< INTERNAL
  caf::reacts_to<last_aggregate_found>, ///< INTERNAL
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Wraps a ledger; detached in production, an ordinary actor in simulations. Group commit over all aggregates.
using ledger_worker_handle = caf::typed_actor<
  caf::reacts_to<commit_batch>, ///< answers batch_settled to the sender
  caf::reacts_to<acquire_aggregate>, ///< answers aggregate_acquired to the sender
  caf::reacts_to<find_aggregates_to_wake>, ///< answers aggregates_to_wake to the sender
  caf::reacts_to<find_last_aggregate>, ///< answers last_aggregate_found to the sender
  caf::replies_to<list_events>::with<event_list_reply>,
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Hashes and checks passwords on a thread of its own; one at a time, so a flood of logins takes one core at most.
using password_worker_handle = caf::typed_actor<caf::replies_to<check_password>::with<password_checked>,
                                                caf::replies_to<hash_new_password>::with<password_hashed>>;

/// Hands mail to the configured way out, on a thread of its own.
using mailer_handle = caf::typed_actor<caf::replies_to<send_mail>::with<mail_sent>>;

/// All gateways: bounded concurrency, retries with full jitter, circuit breaker.
using payments_handle = caf::typed_actor<
  caf::reacts_to<call_gateway>, ///< answers gateway_answered to the sender
  caf::reacts_to<gateway_answered>, ///< INTERNAL, from a gateway worker
  caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq

CAF_BEGIN_TYPE_ID_BLOCK(fairqueue, first_custom_type_id)
CAF_ADD_TYPE_ID(fairqueue, (fq::join))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_entry))
CAF_ADD_TYPE_ID(fairqueue, (fq::entry_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::leave))
CAF_ADD_TYPE_ID(fairqueue, (fq::ack_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::open_claim))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_claim))
CAF_ADD_TYPE_ID(fairqueue, (fq::release_claim))
CAF_ADD_TYPE_ID(fairqueue, (fq::claim_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::open_payment))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_payment))
CAF_ADD_TYPE_ID(fairqueue, (fq::payment_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::apply_fact))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_event))
CAF_ADD_TYPE_ID(fairqueue, (fq::patch_event))
CAF_ADD_TYPE_ID(fairqueue, (fq::turn_event))
CAF_ADD_TYPE_ID(fairqueue, (fq::event_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_stats))
CAF_ADD_TYPE_ID(fairqueue, (fq::stats_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::create_event))
CAF_ADD_TYPE_ID(fairqueue, (fq::list_events))
CAF_ADD_TYPE_ID(fairqueue, (fq::event_list_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::log_in))
CAF_ADD_TYPE_ID(fairqueue, (fq::request_otp))
CAF_ADD_TYPE_ID(fairqueue, (fq::verify_otp))
CAF_ADD_TYPE_ID(fairqueue, (fq::add_organizer))
CAF_ADD_TYPE_ID(fairqueue, (fq::person_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::subscribe))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_positions))
CAF_ADD_TYPE_ID(fairqueue, (fq::positions_reply))
CAF_ADD_TYPE_ID(fairqueue, (fq::entries_changed))
CAF_ADD_TYPE_ID(fairqueue, (fq::line_moved))
CAF_ADD_TYPE_ID(fairqueue, (fq::event_noticed))
CAF_ADD_TYPE_ID(fairqueue, (fq::batch_settled))
CAF_ADD_TYPE_ID(fairqueue, (fq::acquire_aggregate))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_aggregates_to_wake))
CAF_ADD_TYPE_ID(fairqueue, (fq::aggregates_to_wake))
CAF_ADD_TYPE_ID(fairqueue, (fq::find_last_aggregate))
CAF_ADD_TYPE_ID(fairqueue, (fq::last_aggregate_found))
CAF_ADD_TYPE_ID(fairqueue, (fq::call_gateway))
CAF_ADD_TYPE_ID(fairqueue, (fq::gateway_answered))
CAF_ADD_TYPE_ID(fairqueue, (fq::check_password))
CAF_ADD_TYPE_ID(fairqueue, (fq::password_checked))
CAF_ADD_TYPE_ID(fairqueue, (fq::hash_new_password))
CAF_ADD_TYPE_ID(fairqueue, (fq::password_hashed))
CAF_ADD_TYPE_ID(fairqueue, (fq::send_mail))
CAF_ADD_TYPE_ID(fairqueue, (fq::mail_sent))
CAF_ADD_TYPE_ID(fairqueue, (fq::resolve_event))
CAF_ADD_TYPE_ID(fairqueue, (fq::owner_ready))
CAF_ADD_TYPE_ID(fairqueue, (fq::owner_absent))
CAF_ADD_TYPE_ID(fairqueue, (fq::owner_idle))
CAF_ADD_TYPE_ID(fairqueue, (fq::timer_fired))
CAF_ADD_TYPE_ID(fairqueue, (fq::event_handle))
CAF_ADD_TYPE_ID(fairqueue, (fq::commit_batch))
CAF_ADD_TYPE_ID(fairqueue, (fq::aggregate_acquired))
CAF_END_TYPE_ID_BLOCK(fairqueue)
