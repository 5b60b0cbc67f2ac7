// SPDX-License-Identifier: Apache-2.0
// An HTTP server on loopback whose answers a test writes: any bytes, then keep, close, hang or reset. A
// thread per connection; plain or TLS with its own certificate.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fq::test {

struct scripted_request {
  std::string method;
  std::string target;
  std::string head; ///< the lines before the body, as sent
  std::string body;
  /// The field's value; empty if it is absent. Names in any case.
  [[nodiscard]] std::string field(std::string_view name) const;
  /// Everything, as sent.
  [[nodiscard]] std::string text() const { return head + body; }
};

struct scripted_answer {
  enum class then_type {
    keep,
    close,
    hang, ///< the connection stays, nothing more comes
    reset, ///< RST
  };
  std::string bytes; ///< sent as they are
  then_type then = then_type::keep;
  std::chrono::milliseconds delay{0}; ///< before the bytes
  std::string forever{}; ///< sent after the bytes repeatedly, until the connection ends
  std::chrono::milliseconds between{0}; ///< before each of them
};

/// A whole answer. `fields`: further header lines, each ended by CRLF.
scripted_answer answer(int status, const std::string& body,
                       const std::string& fields = "Content-Type: application/json\r\n");
scripted_answer hang();
scripted_answer reset();

class scripted_server {
public:
  using script = std::function<scripted_answer(const scripted_request&)>;
  enum class tls_type { none, for_loopback, for_another_host };

  /// `answer` is called on the connections' threads, one call at a time.
  explicit scripted_server(script answer, tls_type tls = tls_type::none);
  ~scripted_server();
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  /// Ends every connection and stops listening.
  void stop();
  [[nodiscard]] std::string url() const; ///< without a path
  [[nodiscard]] std::vector<scripted_request> requests() const;
  [[nodiscard]] int connections() const;
  [[nodiscard]] std::uint64_t bytes_sent() const;
  /// Until so many requests have come; false after 10 s.
  [[nodiscard]] bool wait_for_requests(std::size_t count) const;
  [[nodiscard]] std::string certificate() const; ///< PEM

private:
  class work;
  std::unique_ptr<work> work_;
};

} // namespace fq::test
