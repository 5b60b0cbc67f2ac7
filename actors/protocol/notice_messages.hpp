// SPDX-License-Identifier: Apache-2.0
// Notices and pictures: fan-out, couriers and the API <-> a ledger reader. Always in the same process.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "outbound/channel.hpp"
#include "store/port/notice_store.hpp"
#include "store/port/picture_store.hpp"
#include "store/port/witness_store.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>
#include <string>
#include <vector>

namespace fq {

/// From the fan-out.
struct find_audience {
  audience_filter filter;
};

struct audience_found {
  refusal no;
  std::shared_ptr<const notice_audience> content;
};

/// From the fan-out: the next page of devices of all customers of an event.
struct find_crowd {
  crowd_filter filter;
};

struct devices_reply {
  refusal no;
  std::shared_ptr<const std::vector<device_row>> devices;
};

/// From the fan-out, and from the API for a test. Rows that exist already stay unchanged.
struct store_deliveries {
  std::shared_ptr<const std::vector<delivery_row>> rows;
  /// One test row: refused with invalid_transition while the holder's newest delivery is pending and younger
  /// than test_pause.
  bool alone = false;
};

/// From a courier: claims due deliveries for the visibility timeout.
struct take_deliveries {
  due_filter filter;
};

struct deliveries_taken {
  refusal no;
  std::shared_ptr<const std::vector<due_delivery>> due;
};

/// From a courier: stores the results of attempts.
struct settle_deliveries {
  std::shared_ptr<const std::vector<delivery_row>> rows;
};

/// From a courier: the token is invalid. Ignored if the device was registered again after `since`.
struct end_device {
  uuid device;
  timestamp since;
  std::string why;
};

/// From a courier: disables an endpoint that is gone, or that accepted nothing since `since`. Ignored if it
/// was changed after that. Answers the number of disabled endpoints.
struct disable_endpoint {
  uuid endpoint;
  std::string why;
  timestamp since;
};

/// From the API: a page of a delivery log, newest first. Fewer rows than the filter's limit: the end of the
/// log.
struct list_deliveries {
  delivery_filter filter;
};

struct deliveries_reply {
  refusal no;
  std::vector<delivery_row> rows;
};

/// From the API: sends an ended delivery again. not_found: the tenant has no such delivery.
struct replay_delivery {
  tenant_id tenant{};
  uuid target, notice;
};

struct register_device {
  device_row device;
};

struct device_reply {
  refusal no;
  uuid id; ///< the device's id
};

struct list_devices {
  uuid holder;
};

struct remove_device {
  uuid holder, device;
};

/// From the API: a new endpoint, or a new version (webhook_endpoint_row::replaces). Refused with
/// invalid_field if the tenant or organizer has too many endpoints, or if the replaced version is not the
/// newest.
struct store_endpoint {
  webhook_endpoint_row endpoint;
};

struct list_endpoints {
  tenant_id tenant{};
};

struct endpoints_reply {
  refusal no;
  std::vector<webhook_endpoint_row> endpoints;
};

struct remove_endpoint {
  tenant_id tenant{};
  uuid endpoint;
};

/// From the API. Refused with picture_limit if the tenant or organizer has too many.
struct store_picture {
  std::shared_ptr<const picture_row> picture;
};

struct find_picture {
  std::string id;
  picture_size size{};
};

struct picture_found {
  refusal no; ///< not_found: there is none
  std::shared_ptr<const std::string> bytes; ///< a JPEG
};

/// From the API, as a witness: what it has cosigned of a log.
struct find_witnessed {
  std::string id;
};

struct witnessed_found {
  refusal no; ///< not_found: nothing
  std::shared_ptr<const witnessed_row> row;
};

/// From the API, as a witness, before it gives the cosignature.
struct store_witnessed {
  std::shared_ptr<const witnessed_row> next;
  witnessed_before before;
};

struct witnessed_stored {
  refusal no;
  bool is_stored = false; ///< false: the log is no longer as it was, or its key has too many
};

/// INTERNAL, to a courier from its port: the result of an attempt.
struct delivery_answered {
  uuid target, notice;
  delivery_answer answer;
};

/// Devices, endpoints, deliveries, pictures and witnessed logs, for the API. A ledger reader; no owner is
/// needed.
using notices_handle = caf::typed_actor<
  caf::replies_to<store_deliveries>::with<ack_reply>,
  caf::replies_to<list_deliveries>::with<deliveries_reply>, caf::replies_to<replay_delivery>::with<ack_reply>,
  caf::replies_to<register_device>::with<device_reply>, caf::replies_to<list_devices>::with<devices_reply>,
  caf::replies_to<remove_device>::with<ack_reply>, caf::replies_to<store_endpoint>::with<ack_reply>,
  caf::replies_to<list_endpoints>::with<endpoints_reply>, caf::replies_to<remove_endpoint>::with<ack_reply>,
  caf::replies_to<store_picture>::with<ack_reply>, caf::replies_to<find_picture>::with<picture_found>,
  caf::replies_to<find_witnessed>::with<witnessed_found>,
  caf::replies_to<store_witnessed>::with<witnessed_stored>, caf::replies_to<read_log>::with<log_read>>;

/// Delivers notices to devices or endpoints by one channel: limited concurrency and rate, retries until the
/// notice expires.
using courier_handle = caf::typed_actor<caf::reacts_to<delivery_answered>, ///< INTERNAL, from its port
                                        caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq

// These never leave the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::find_audience)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::audience_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::find_crowd)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::devices_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::store_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::take_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::deliveries_taken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::settle_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::end_device)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::disable_endpoint)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::list_deliveries)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::deliveries_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::replay_delivery)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::register_device)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::device_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::list_devices)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::remove_device)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::store_endpoint)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::list_endpoints)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::endpoints_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::remove_endpoint)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::delivery_answered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::store_picture)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::find_picture)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::picture_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::find_witnessed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::witnessed_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::store_witnessed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::witnessed_stored)
