// SPDX-License-Identifier: Apache-2.0
// Limits and intervals of the program's composition, and values without a reason to configure them.
#pragma once
#include "domain/base/retry.hpp"
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- start and end of `serve`

/// Descriptors besides those of http.max_connections: admin listener, ledger, gateways, couriers, other
/// nodes, files.
constexpr std::uint64_t descriptor_reserve = 500;
/// Of the handover to other nodes. They claim the rest when the leases end.
constexpr milliseconds handover_timeout{10'000};
/// Requested from the service manager as the longest time between two messages during the start.
constexpr milliseconds manager_timeout{30'000};
/// Evicted connections after which freed memory is given back: it takes some milliseconds.
constexpr std::uint64_t evictions_of_an_attack = 100;
/// For io threads and region to answer a liveness check; a watchdog interval has several.
constexpr milliseconds liveness_timeout{2'000};
/// Certificates live for weeks at least.
constexpr milliseconds certificate_check_interval{24 * 3'600'000};

// -- actors

/// At which the courier polls for new webhooks of the sandbox gateway: a person waits for the page.
constexpr milliseconds sandbox_poll{100};
/// The receiver is this process.
constexpr milliseconds sandbox_webhook_timeout{5'000};
/// At which an owner vouches for its mirror to other nodes. A third of vouch_life, because some messages
/// arrive late.
constexpr milliseconds vouch_interval{500};
/// Not urgent; retried for 24 h to survive greylisting.
constexpr milliseconds notice_mail_life{24 * 60 * 60 * 1000};
/// From 30 s to 10 min, without a limit of attempts.
constexpr retry_policy notice_mail_pauses{0, milliseconds{30'000}, milliseconds{10 * 60 * 1000}};
/// Added to a gateway's own timeout, so that its answer can arrive.
constexpr milliseconds gateway_slack{5'000};
/// Of a one-time code: enough for a slow mail server.
constexpr milliseconds otp_life{10 * 60'000};
/// Connections to the SMTP server for codes, each opened when the others are busy: 64 mails a second at 250
/// ms each. Other transports take a mail within milliseconds and have one.
constexpr std::size_t code_mail_connections = 16;
/// Wrong guesses before a code is void: one in 200,000 finds a code of six digits.
constexpr std::uint32_t otp_guesses_max = 5;
/// Bounds of the interval of the checkout switch, an eighth of its shortest rule: tests use short rules.
constexpr milliseconds checkout_look_max{5'000}, checkout_look_min{100};

// -- randomness

/// Bytes for ids that a thread reads at once: 64 ids.
constexpr std::size_t random_bytes_ahead = 512;

// -- deliveries

/// FCM allows 600,000 pushes a minute per project; APNs publishes no limit. Both answer 429 when it is
/// exceeded. At this rate a stadium is notified in one or two minutes.
constexpr double pushes_per_second = 500;
/// Streams of one HTTP/2 connection: the bound of FCM and of libcurl.
constexpr std::size_t pushes_at_once = 100;
/// A service of the FCM or APNs kind answers with at most some hundred bytes.
constexpr std::size_t push_answer_bytes_max = 64 * 1024;
/// A public ntfy server allows bursts of 60 and then one message each five seconds.
constexpr double mirrored_per_second = 20;
constexpr std::size_t mirrored_at_once = 4; ///< for one developer's phone
/// A quarter of them is for one endpoint.
constexpr std::size_t webhooks_at_once = 32;
/// Keys of FCM and APNs have 2 KiB at most.
constexpr std::size_t push_key_file_bytes_max = 64 * 1024;

/// Questions to a provider of captchas: 500 a second at 200 ms each. As many again wait; beyond them the
/// answer is 503.
constexpr std::size_t captchas_at_once = 100;
constexpr std::size_t captcha_answer_bytes_max = 16 * 1024;

// -- control socket

constexpr std::size_t control_request_bytes_max = 8 * 1024; ///< a tenant's public key has 4 KiB
/// `verify` lists the differences of every event.
constexpr std::size_t control_answer_bytes_max = 16 * 1024 * 1024;
constexpr int control_request_timeout_ms = 5'000; ///< the client writes one line at once
constexpr int control_answer_timeout_ms = 90'000; ///< for the longest request, `verify`
constexpr int control_accept_poll_ms = 200; ///< delays the end of the server
/// Accounts may load or move first.
constexpr seconds accounts_timeout{10};
/// Rows of a page of `customer export`.
constexpr std::uint32_t exported_rows_max = 200;
/// For one event: comparing a long line takes time.
constexpr seconds verify_timeout{20};
constexpr seconds cluster_timeout{5}; ///< the cluster actor answers from memory
/// Longer than the region's own timeout of a handoff.
constexpr seconds handoff_timeout{25};

// -- subcommands

/// As NIST SP 800-63B.
constexpr std::size_t password_bytes_min = 8;
constexpr seconds authority_life{3'650 * 86'400L}; ///< ten years: replacing it stops every node
/// Of a node's certificate: a stolen one ends by itself.
constexpr std::int64_t certificate_days = 90;
constexpr std::int64_t certificate_days_max = 825; ///< the longest that common TLS clients accept
constexpr milliseconds drain_poll{200}; ///< a person waits
constexpr milliseconds drain_timeout{60'000}; ///< an event moves in less than a second
/// For an actor to answer while the demo is prepared.
constexpr seconds demo_answer_timeout{10};

// -- connections between nodes

/// CAF's heartbeats. After the timeout without one, the connection is closed and its pending requests fail.
constexpr milliseconds heartbeat_interval{250}, heartbeat_timeout{1'500};
/// For a TCP connection, and again for TLS. The dialer connects to nodes one after the other: a frozen one
/// must not delay the others.
constexpr milliseconds node_connect_timeout{1'000};
/// For CAF's handshake, and again for the first message.
constexpr milliseconds node_handshake_timeout{3'000};

// -- the cluster port

/// For an accepted connection: first TLS, then CAF's first frame. Longer than a dialer waits.
constexpr milliseconds arrival_timeout{5'000};
/// Connections that have not finished their TLS handshake: of one address, and in total.
constexpr std::size_t arrivals_per_address_max = 32, arrivals_max = 96;
/// Connections in use: of one node, which has one or two, and in total.
constexpr std::size_t streams_per_node_max = 8, streams_max = 128;
static_assert(arrivals_max + streams_max + 1 <= descriptor_reserve / 2, "the ledger needs descriptors too");
/// For the picture of a mail's tickets. A mail goes without it then.
constexpr milliseconds picture_read_timeout{2'000};
/// Accounts' answer about a customer who gets a mail; then the mail is tried again.
constexpr milliseconds mailbox_timeout{2'000};
/// Without a free descriptor, the port pauses for this time.
constexpr milliseconds accept_pause{100};
/// Deadlines have a precision of this.
constexpr milliseconds port_sweep_interval{250};
/// For the rest of the output after CAF has closed a connection.
constexpr milliseconds stream_linger{1'000};
/// Actors of a node that CAF keeps a handle of, in all its processes: it has owners_max events, and few
/// others. A handle takes about 1 KiB.
constexpr std::size_t handles_per_node_max = 110'000;
/// Headers and payloads of a stream between two looks at the number of handles. A message brings three
/// handles at most, and its sender.
constexpr std::uint64_t handles_look_parts = 1'000;
/// Of CAF's handshake: two ids and the names of a few message types.
constexpr std::size_t handshake_bytes_max = 16 * 1024;
/// Of a node's id in the log: an id has no more, but a hostile peer's may.
constexpr std::size_t logged_node_bytes_max = 64;
/// Of a message. The largest is a page of 200 events with all their ticket types, about 4 MiB.
constexpr std::size_t frame_bytes_max = 16 * 1024 * 1024;

} // namespace fq
