// SPDX-License-Identifier: Apache-2.0
// tests/support/push_standins.mjs as a child: FCM and APNs under their real names, over HTTP/2 and TLS, with
// keys and certificates of this run.
#pragma once
#include "outbound/apns_channel.hpp"
#include "outbound/fcm_channel.hpp"
#include "tests/outbound/helpers.hpp"
#include "tests/outbound/real_environment.hpp"

#include <boost/json/value.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace fq::test {

class push_standins {
public:
  /// `version`: "2", or "1.1" for a server that speaks no HTTP/2.
  explicit push_standins(const std::string& version = "2");
  ~push_standins();

  /// Scripted answers of devices, see push_standins.mjs.
  void script(const boost::json::object& devices);
  [[nodiscard]] boost::json::object state();
  /// Until so many have come. Throws std::runtime_error after 30 s.
  void wait_for_requests(std::size_t count);
  /// A number of the state: "sessions", "exchanges".
  [[nodiscard]] std::int64_t count(const char* name);

  /// That trust the stand-ins and reach them.
  [[nodiscard]] http_client::settings http() const;
  [[nodiscard]] fcm_channel::settings fcm() const;
  [[nodiscard]] apns_channel::settings apns() const;

private:
  http_response ask(http_request::method_type method, const std::string& path, std::string body);

  std::unique_ptr<child_process> child_;
  std::vector<std::string> ways_; ///< http_client's connect_to
  std::string control_;
  real_environment env_;
  http_client client_;
};

/// The JSON file of the service account that the stand-ins know.
std::string service_account_json();
/// A private key, PEM: "google", "apple".
std::string private_key(const std::string& whose);

/// Answers of a channel as they come. Must outlive the channel.
class delivery_answers {
public:
  std::function<void(delivery_answer)> next();
  /// Throws std::runtime_error if there are fewer after 30 s.
  std::vector<delivery_answer> wait(std::size_t count);
  [[nodiscard]] std::size_t count();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<delivery_answer> all_;
};

/// One try.
delivery_answer deliver(channel_port& channel, const notice& what, const std::string& address,
                        bool is_sandbox = false);

/// A turn that is granted, worth ten minutes from `now` on.
notice turn_granted(timestamp now);

/// A row of a table of answers.
struct answer_row {
  std::string_view name; ///< also the device's
  int status;
  std::string_view body;
  delivery_outcome outcome;
  std::string_view reason;
  bool is_channel_down = false;
  bool is_our_fault = false;
  std::string_view retry_after{}; ///< the field as sent
  std::optional<milliseconds> pause{}; ///< what it means
  std::optional<timestamp> gone_since{};
};

/// Everything but the pause; says what differs.
std::string difference(const delivery_answer& got, const answer_row& wanted);

} // namespace fq::test
