// SPDX-License-Identifier: Apache-2.0
// A blocking connection to a Redis or Valkey server, or to the primary that Sentinels name: sends pipelines
// of commands, returns answers as values, reports every failure as cache_unavailable. Used by the Redis
// cache. One thread at a time.
#pragma once
#include "domain/base/environment.hpp"
#include "store/port/cache.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct redisReply;

namespace fq {

class redis_link;
class redis_tls;

struct redis_host {
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const redis_host&, const redis_host&) = default;
};

struct redis_address {
  std::string host;
  std::uint16_t port = 6379;
  std::string user; ///< empty: the default user
  std::string password; ///< empty: no login
  std::uint32_t database = 0;
  bool has_tls = false;
  std::vector<redis_host> sentinels{}; ///< not empty: they name the server, and host and port are unused
  std::string primary{}; ///< its name at the Sentinels
  friend bool operator==(const redis_address&, const redis_address&) = default;
};

/// "redis://[user:password@]host[:port][/database]", user and password percent-encoded, the user optional
/// ("redis://:password@host"), or "redis-sentinel://[user:password@]host[:port],…/primary[/database]"; with
/// rediss instead of redis: TLS. Throws std::invalid_argument; the message contains no part of the url.
redis_address parse_redis_url(std::string_view url);

struct redis_options {
  redis_address address;
  std::string ca_file{}; ///< see redis_tls
  milliseconds connect_timeout{
    500}; ///< without name resolution, whose duration the system's resolver determines
  milliseconds command_timeout{1'000}; ///< max time without data while answers are due
};

/// Encoded commands that are sent together.
class redis_pipeline {
public:
  /// Starts a command of `words` words; the caller must add() that many.
  void begin(std::size_t words);
  void add(std::string_view word);
  void add(std::integral auto number) { add_integer(static_cast<std::int64_t>(number)); }
  void command(std::initializer_list<std::string_view> words);
  /// Copies command `i` of another pipeline.
  void copy(const redis_pipeline& other, std::size_t i);

  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

private:
  void add_integer(std::int64_t number);

  std::string bytes_;
  std::vector<std::size_t> begins_; ///< offset of each command
};

/// One answer, a view into redis_replies. Reading it as another type, or reading an error, throws
/// cache_unavailable.
class redis_value {
public:
  explicit redis_value(const redisReply& reply) : reply_(&reply) {}

  /// The code at the start of an error ("NOSCRIPT"); empty if the answer is no error.
  [[nodiscard]] std::string_view error_code() const;
  void require_no_error() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::optional<std::string_view> text() const; ///< empty for nil
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] std::size_t size() const; ///< of an array
  [[nodiscard]] redis_value at(std::size_t i) const; ///< of an array

private:
  const redisReply* reply_;
};

class redis_replies {
public:
  [[nodiscard]] std::size_t size() const { return replies_.size(); }
  [[nodiscard]] redis_value at(std::size_t i) const { return redis_value{*replies_.at(i)}; }
  /// Takes ownership of a reply that hiredis allocated.
  void push(redisReply* reply) { replies_.emplace_back(reply); }

private:
  struct deleter {
    void operator()(redisReply* reply) const noexcept;
  };
  std::vector<std::unique_ptr<redisReply, deleter>> replies_;
};

/// Connects at the first call, and again when a call finds no connection; then it asks the Sentinels, if
/// there are any, for the primary. After a failure, calls throw at once for three times the time that the
/// failure took (200 ms to 5 s). So a stalled server costs its caller a quarter of the time, and a recovered
/// server is found soon.
class redis_connection {
public:
  /// `env` must outlive the connection. Throws std::invalid_argument if the CA file cannot be read.
  redis_connection(redis_options options, environment& env);
  ~redis_connection();

  /// Returns the answers in order, including errors of single commands. Throws cache_unavailable when the
  /// connection fails: any number of the commands may have been executed, or may still be.
  redis_replies run(const redis_pipeline& commands);
  /// Runs one command; throws cache_unavailable if the answer is an error.
  redis_replies run(std::initializer_list<std::string_view> words);

private:
  void connect();
  redis_host find_server();
  void introduce(redis_link& link) const;
  [[noreturn]] void fail(const std::string& reason);

  redis_options options_;
  environment& env_;
  std::unique_ptr<redis_tls> tls_; ///< null: no TLS
  std::unique_ptr<redis_link> link_;
  milliseconds attempt_began_{}; ///< steady time
  milliseconds retry_at_{}; ///< steady time; meaningful after a failure
  std::string last_failure_; ///< empty: no failure since the last connect
};

} // namespace fq
