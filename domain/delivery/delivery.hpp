// SPDX-License-Identifier: Apache-2.0
// Notices on their way to devices and webhook endpoints: which ways out there are, who is told what, how long
// a notice is worth sending, and what follows from a try. Pure.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Stored as a number; new ones go to the end.
enum class channel : std::uint8_t { webhook = 1, fcm, apns, ntfy };
inline constexpr std::array all_channels{channel::webhook, channel::fcm, channel::apns, channel::ntfy};
[[nodiscard]] std::string_view to_string(channel c);
/// Of a device's platform: "fcm", "apns" or "ntfy".
[[nodiscard]] std::optional<channel> parse_platform(std::string_view text);

/// Stored as a number; new ones go to the end. All but `pending` are final, until somebody asks for a replay.
enum class delivery_state : std::uint8_t {
  pending, ///< its next try is at `due_at`
  delivered, ///< the other side took it
  expired, ///< it was worth nothing any more before it could be sent
  failed, ///< it will never be taken, or was tried for too long: a person may look, and replay it
  dropped, ///< its target is gone
};
[[nodiscard]] std::string_view to_string(delivery_state s);
[[nodiscard]] std::optional<delivery_state> parse_delivery_state(std::string_view text);

/// One notice to one target; known by both.
struct delivery_row {
  uuid target; ///< device or endpoint
  uuid notice; ///< the domain event
  channel way{};
  tenant_id tenant = default_tenant;
  uuid holder; ///< devices: whose; an endpoint's test: the endpoint, so that its last test is found; else nil
  std::string topic;
  std::string payload; ///< JSON object
  timestamp created_at; ///< of the domain event
  timestamp expires_at; ///< `never`: its channel's longest time
  delivery_state state = delivery_state::pending;
  timestamp due_at; ///< pending: not before
  std::uint32_t attempts = 0;
  std::int32_t status = 0; ///< HTTP, of the last try; 0: no answer
  std::string reason; ///< of the last try that did not deliver, one word
  timestamp ended_at; ///< `never` while pending
  friend bool operator==(const delivery_row&, const delivery_row&) = default;
};

/// Where a person can be reached while the app is in the background.
struct device_row {
  uuid id;
  uuid holder; ///< the customer, or the entry whose ticket token registered it
  channel way{};
  std::string token; ///< secret: who knows it can send
  bool is_sandbox = false; ///< APNs: of the development environment
  timestamp registered_at; ///< the last time
  timestamp gone_at; ///< `never`: it is told
  std::string gone_reason;
  friend bool operator==(const device_row&, const device_row&) = default;
};
/// Read or written in one transaction: on an embedded ledger an owner's commit waits for it, a millisecond.
inline constexpr std::size_t deliveries_per_transaction = 32;
inline constexpr std::size_t devices_per_holder_max = 10; ///< the one registered longest ago goes
inline constexpr std::size_t device_token_bytes_max = 1'024;
/// What a device's token must be, for people, if `token` is not; empty: it has the form of its service, which
/// may not know it all the same.
[[nodiscard]] std::string_view wrong_with_token(channel way, std::string_view token);

/// A tenant's or organizer's address that is told of domain events.
struct webhook_endpoint_row {
  uuid id;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< only of its events; nil: of all the tenant's
  std::string url;
  std::string topics; ///< separated by spaces; empty: all but user.updated, which has a person's address
  std::uint32_t secret_no = 1; ///< which of its derived secrets signs
  timestamp previous_until; ///< until then the one before signs too
  bool is_enabled = true;
  std::string contact; ///< e-mail address that is told when it is turned off; empty: nobody
  std::string off_reason; ///< not enabled: "owner", "failing" or "gone"
  timestamp created_at;
  timestamp updated_at; ///< later with every change: it tells one version from the next
  timestamp replaces{}; ///< of a row to be stored: `updated_at` of the version it was made from; `never`: it
                        ///< is new. Not kept
  friend bool operator==(const webhook_endpoint_row&, const webhook_endpoint_row&) = default;
};
inline constexpr std::size_t endpoints_per_tenant_max = 50;
inline constexpr milliseconds test_pause{
  60'000}; ///< an endpoint has one test on its way; after so long another may go all the same: its owner has
           ///< mended something
inline constexpr std::size_t endpoints_per_organizer_max =
  10; ///< of the tenant's fifty: one organizer does not take all of them from the others

/// What is told, and to whom it concerns.
struct told {
  uuid id;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< of its event; nil: none
  std::string topic;
  std::string payload;
  std::vector<uuid> holders; ///< whose devices are told
  bool concerns_all = false; ///< every device that is given is told
  timestamp created_at;
  timestamp expires_at;
};

/// Which topics a channel is for.
[[nodiscard]] bool goes_to(channel c, std::string_view topic);

/// One row for each device and endpoint that is told.
[[nodiscard]] std::vector<delivery_row> deliveries_of(const told& what, std::span<const device_row> devices,
                                                      std::span<const webhook_endpoint_row> endpoints);

/// What a try led to.
enum class delivery_outcome : std::uint8_t {
  delivered, ///< the other side has taken it
  again, ///< it could not be taken now
  refused, ///< it will never be taken, through our fault or theirs; the target stays
  gone, ///< the target is no more: nothing need be sent to it again
};

/// How long and how often a channel tries.
struct delivery_rules {
  std::vector<milliseconds> pauses; ///< before the second try, the third…; the last one again and again
  milliseconds life{0}; ///< of a notice that says no end of its own, from its creation
};
/// Webhooks: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 4 h, then every 6 h, for three days.
[[nodiscard]] const delivery_rules& rules_of(channel c);

/// Changes `row` by what its try led to: pending again with the time of the next try, or ended. Jitter: the
/// pause is uniform in [half, whole] for webhooks' long pauses and, full jitter, in [0, whole] for push.
/// `asked`: the pause that the other side wants, heeded up to the end.
void after_try(delivery_row& row, delivery_outcome outcome, std::optional<milliseconds> asked, timestamp now,
               std::uint64_t random);

/// What a try that was put off says: that others to the same target would fare no better (no answer, a
/// redirect, trouble of the server, or a wish to be asked less). Any other 4xx is about what was sent.
[[nodiscard]] bool is_about_target(std::int32_t status, bool asks_for_pause);

/// A target that could not be reached so often in a row (once at least) is left alone for so long: 5 s, then
/// each time twice that, a minute at most.
[[nodiscard]] milliseconds pause_after(std::uint32_t strikes);

/// Of `all` tries, what each of `tenants` tenants that have some may have, one at least: three quarters in
/// equal parts. The rest is for whoever comes next, who so finds room at once, however long the others' tries
/// last.
[[nodiscard]] std::size_t share_of_tenant(std::size_t all, std::size_t tenants);

/// Bounds the mails about endpoints that were turned off: a contact is whoever a tenant names, and turning
/// one on and off again costs nothing. Once a day for an endpoint, and in a day no more for a tenant than it
/// may have endpoints, however many it makes and removes.
class contact_limit {
public:
  /// Whether the endpoint's contact may be told now; counts it as told if so.
  [[nodiscard]] bool take(const webhook_endpoint_row& endpoint, timestamp now);

private:
  struct told_at {
    tenant_id tenant{};
    timestamp when;
  };
  std::map<uuid, told_at> told_; ///< by endpoint, within a day
};

/// It is no use any more.
[[nodiscard]] bool has_expired(const delivery_row& row, timestamp now);

/// The words of a text that has single blanks between them; views of `text`.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// To be called before a changed endpoint is stored: makes it the next version of what was read, also where
/// the clock has not moved since.
void mark_changed(webhook_endpoint_row& endpoint, timestamp now);

/// The secret before the last one signs beside it for so long, so that nobody need change both ends at once.
inline constexpr milliseconds secret_overlap{24 * 60 * 60 * 1000};
/// Makes the endpoint's next secret the one that signs. False: the one before the last signs still, an origin
/// may know no other, and nothing is changed. `ends_previous`: for a secret that leaked; the new one signs
/// alone at once.
[[nodiscard]] bool rotate_secret(webhook_endpoint_row& endpoint, bool ends_previous, timestamp now);

/// Whether an endpoint takes the topic.
[[nodiscard]] bool wants(const webhook_endpoint_row& endpoint, std::string_view topic);

} // namespace fq
