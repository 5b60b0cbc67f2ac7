// SPDX-License-Identifier: Apache-2.0
// What the handlers of all io threads share: limits, counters, keys in flight, cursors, the sandbox gateway.
// Made once by the composition and pointed to by every `context`. Every member is safe on any thread.
#pragma once
#include "config/options.hpp"
#include "crypto/keys.hpp"
#include "domain/environment.hpp"
#include "net/cursor.hpp"
#include "net/idempotency.hpp"
#include "net/metrics.hpp"
#include "net/offload.hpp"
#include "net/rate_limit.hpp"

#include <boost/asio/ip/address.hpp>

#include <span>
#include <string_view>

namespace fq {
class sandbox_gateway;
}

namespace fq::net {

struct services {
  /// `routes`: the public table, for the counters. `sandbox` null: switched off. All must outlive the
  /// services.
  services(const config::options& options, const key_store& keys, environment& env,
           std::span<const route> routes, sandbox_gateway* sandbox);

  metrics counts;

  rate_limiter
    customers; ///< per customer, whatever their addresses: a stadium behind one NAT is not one client
  rate_limiter organizers;     ///< per organizer
  rate_limiter joins;          ///< per customer, new places only
  rate_limiter anonymous;      ///< per client address, without a token
  rate_limiter sandbox_pages;  ///< per client address
  rate_limiter login_failures; ///< per client address
  rate_limiter otp_addresses;  ///< per e-mail address
  rate_limiter otp_clients;    ///< per client address

  keys_in_flight idempotency;
  cursor_codec cursors;
  secret_key address_key; ///< of this process: limits know e-mail addresses only as hashes
  sandbox_gateway* sandbox;
  blocking_lane sandbox_lane;

  /// The limits' key of an e-mail address.
  [[nodiscard]] uuid key_of(std::string_view email) const;
};

/// The limits' key of a client: its IPv4 address or its IPv6 /64.
[[nodiscard]] uuid limit_key(const boost::asio::ip::address& client);

} // namespace fq::net
