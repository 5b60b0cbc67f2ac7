// SPDX-License-Identifier: Apache-2.0
// A private Redis from scripts/services, and the tests' direct access to it. Fails if the server cannot be
// started.
#pragma once
#include "domain/base/environment.hpp"
#include "store/redis/redis.hpp"

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace fq::test {

/// Real time, which a test may advance, for example past the back-off after a failure.
class skipping_environment final : public environment {
public:
  timestamp wall_now() override;
  milliseconds steady_now() override;
  void random_bytes(std::span<std::byte> out) override;
  void skip(milliseconds d) { skipped_ += d; }

private:
  milliseconds skipped_{};
};

/// The destructor stops the server and deletes its data.
class private_redis {
public:
  private_redis();
  ~private_redis();
  private_redis(const private_redis&) = delete;
  private_redis& operator=(const private_redis&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  void kill() { services("kill redis"); }
  void start() { services("up redis"); }
  void pause() { services("pause redis"); }
  void resume() { services("resume redis"); }

private:
  void services(const std::string& what);

  std::string folder_, url_;
};

/// A server for tests that do not stop or reconfigure it: FAIRQUEUE_TEST_REDIS, else a private one for this
/// process.
const std::string& shared_redis_url();

/// The test's own commands, over a separate connection.
class redis_operator {
public:
  /// The default also suits a server that is slow to save or to answer.
  explicit redis_operator(const std::string& url, milliseconds command_timeout = seconds{10});
  void run(std::initializer_list<std::string_view> words);
  std::int64_t integer(std::initializer_list<std::string_view> words);
  std::string text(std::initializer_list<std::string_view> words); ///< empty for nil
  std::vector<std::string> texts(std::initializer_list<std::string_view> words);
  /// All keys of a queue.
  std::vector<std::string> keys_of(const uuid& queue);
  void forget(const uuid& queue);

private:
  skipping_environment env_;
  redis_connection connection_;
};

} // namespace fq::test
