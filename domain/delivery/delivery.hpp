// SPDX-License-Identifier: Apache-2.0
// Deliveries to devices and webhook endpoints: the channels, the targets of a notice, how long a notice is
// worth sending, and the result of each attempt. Pure.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/delivery/limits.hpp"
#include "domain/model/language.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Stored as a number: append only.
enum class channel : std::uint8_t { webhook = 1, fcm, apns, ntfy };
inline constexpr std::array all_channels{channel::webhook, channel::fcm, channel::apns, channel::ntfy};
[[nodiscard]] std::string_view to_string(channel c);
/// By a device's platform: "fcm", "apns" or "ntfy".
[[nodiscard]] std::optional<channel> parse_platform(std::string_view text);

/// Stored as a number: append only. All but `pending` are final until a replay is requested.
enum class delivery_state : std::uint8_t {
  pending, ///< the next attempt is at `due_at`
  delivered, ///< accepted by the target
  expired, ///< no longer useful before it could be sent
  failed, ///< refused permanently, or attempted for too long: a person may replay it
  dropped, ///< its target no longer exists
};
[[nodiscard]] std::string_view to_string(delivery_state s);
[[nodiscard]] std::optional<delivery_state> parse_delivery_state(std::string_view text);

/// One notice to one target; (target, notice) is the key.
struct delivery_row {
  uuid target; ///< device or endpoint
  uuid notice; ///< the domain event
  channel way{};
  tenant_id tenant = default_tenant;
  uuid holder; ///< device: its owner; test of an endpoint: the endpoint, to find its last test; else nil
  std::string topic;
  std::string payload; ///< JSON object
  timestamp created_at; ///< time of the domain event
  timestamp expires_at; ///< `never`: the channel's life applies
  delivery_state state = delivery_state::pending;
  timestamp due_at; ///< pending: earliest next attempt
  std::uint32_t attempts = 0;
  std::int32_t status = 0; ///< HTTP status of the last attempt; 0: no answer
  std::string reason; ///< of the last failed attempt, one word
  timestamp ended_at; ///< `never` while pending
  friend bool operator==(const delivery_row&, const delivery_row&) = default;
};

/// A phone or browser that receives pushes while the app is in the background.
struct device_row {
  uuid id;
  uuid holder; ///< the customer, or the entry whose ticket token registered it
  channel way{};
  std::string token; ///< secret: sufficient to send to the device
  bool is_sandbox = false; ///< APNs: registered in the development environment
  timestamp registered_at; ///< last registration
  timestamp gone_at; ///< `never`: still active
  std::string gone_reason;
  fq::language language = fq::language::en; ///< of its pushes
  friend bool operator==(const device_row&, const device_row&) = default;
};
/// Returns the requirement that `token` violates, for people; empty if it has the form of its service. The
/// service may still not know it.
[[nodiscard]] std::string_view wrong_with_token(channel way, std::string_view token);

/// A tenant's or organizer's address that receives domain events.
struct webhook_endpoint_row {
  uuid id;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< receives only this organizer's events; nil: all of the tenant
  std::string url;
  std::string topics; ///< separated by spaces; empty: all but user.updated, which contains a person's address
  std::uint32_t secret_no = 1; ///< number of the derived secret that signs
  timestamp previous_until; ///< until then the previous secret signs too
  bool is_enabled = true;
  std::string contact; ///< e-mail address to notify when it is disabled; empty: none
  std::string off_reason; ///< if disabled: "owner", "failing" or "gone"
  timestamp created_at;
  timestamp updated_at; ///< strictly increasing: identifies the version
  timestamp replaces{}; ///< for a row to store: `updated_at` of the version it was made from; `never`: new
                        ///< row. Not stored
  friend bool operator==(const webhook_endpoint_row&, const webhook_endpoint_row&) = default;
};

/// A domain event with the holders it concerns.
struct told {
  uuid id;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< of the event; nil: none
  std::string topic;
  std::string payload;
  std::vector<uuid> holders; ///< holders whose devices are notified
  bool concerns_all = false; ///< all given devices are notified
  timestamp created_at;
  timestamp expires_at;
};

/// Whether the channel carries the topic.
[[nodiscard]] bool goes_to(channel c, std::string_view topic);

/// Returns one row per notified device and endpoint.
[[nodiscard]] std::vector<delivery_row> deliveries_of(const told& what, std::span<const device_row> devices,
                                                      std::span<const webhook_endpoint_row> endpoints);

/// Result of a delivery attempt.
enum class delivery_outcome : std::uint8_t {
  delivered, ///< accepted by the target
  again, ///< temporary failure: try again
  refused, ///< permanent failure of this notice; the target stays
  gone, ///< the target no longer exists: stop sending to it
};

/// Retry schedule of a channel.
struct delivery_rules {
  std::vector<milliseconds> pauses; ///< before attempt 2, 3, ...; the last one repeats
  milliseconds life{0}; ///< from creation, for a notice without expires_at
};
/// Webhooks: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 4 h, then every 6 h, for three days.
[[nodiscard]] const delivery_rules& rules_of(channel c);

/// Updates `row` with the result of an attempt: pending with the time of the next attempt, or ended. Jitter:
/// uniform in [half, whole] for webhooks, in [0, whole] for push (full jitter). `asked`: the minimal pause
/// that the target requested.
void after_try(delivery_row& row, delivery_outcome outcome, std::optional<milliseconds> asked, timestamp now,
               std::uint64_t random);

/// Whether a failed attempt means that other deliveries to the same target would fail too: no answer, a
/// redirect, a server error, or a requested pause. Any other 4xx concerns only the payload.
[[nodiscard]] bool is_about_target(std::int32_t status, bool asks_for_pause);

/// Pause for a target after this many consecutive failures (at least 1): 5 s, doubled each time, at most one
/// minute.
[[nodiscard]] milliseconds pause_after(std::uint32_t strikes);

/// Returns how many of `all` attempts in flight each of `tenants` active tenants may have, at least 1: three
/// quarters in equal parts. The rest is reserved for newly active tenants, which find room at once even if
/// other attempts are slow.
[[nodiscard]] std::size_t share_of_tenant(std::size_t all, std::size_t tenants);

/// Limits the mails about disabled endpoints. A tenant can name any address as contact, and switching an
/// endpoint off and on costs nothing. At most one mail per endpoint and day, and endpoints_per_tenant_max
/// mails per tenant and day.
class contact_limit {
public:
  /// Whether a mail to the endpoint's contact is allowed now; if so, it is counted.
  [[nodiscard]] bool take(const webhook_endpoint_row& endpoint, timestamp now);

private:
  struct told_at {
    tenant_id tenant{};
    timestamp when;
  };
  std::map<uuid, told_at> told_; ///< by endpoint, of the last day
};

[[nodiscard]] bool has_expired(const delivery_row& row, timestamp now);

/// The words of a text that separates them by single blanks; views of `text`.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// Call before storing a changed endpoint: makes it the next version, even if the clock has not moved.
void mark_changed(webhook_endpoint_row& endpoint, timestamp now);

/// Makes the endpoint's next secret the signing one. Returns false and changes nothing while the previous
/// secret is still valid, because an origin may know no other. `ends_previous`: for a leaked secret; only
/// the new one signs at once.
[[nodiscard]] bool rotate_secret(webhook_endpoint_row& endpoint, bool ends_previous, timestamp now);

/// Whether the endpoint subscribes to the topic.
[[nodiscard]] bool wants(const webhook_endpoint_row& endpoint, std::string_view topic);

} // namespace fq
