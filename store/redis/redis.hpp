// SPDX-License-Identifier: Apache-2.0
// A blocking connection to one Redis or Valkey server (hiredis): pipelines of commands, answers as values,
// everything that goes wrong as cache_unavailable. Used by the Redis cache; knows no key of it. One thread at
// a time.
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

struct redisContext;
struct redisReply;

namespace fq {

struct redis_address {
  std::string host;
  std::uint16_t port = 6379;
  std::string user; ///< empty: the default one
  std::string password; ///< empty: no login
  std::uint32_t database = 0;
  friend bool operator==(const redis_address&, const redis_address&) = default;
};

/// "redis://[user:password@]host[:port][/database]", user and password percent-encoded, the user optional
/// ("redis://:password@host"). Throws std::invalid_argument, whose text never holds a part of the url.
redis_address parse_redis_url(std::string_view url);

struct redis_options {
  redis_address address;
  milliseconds connect_timeout{
    500}; ///< resolving a name is not in it: that takes as long as the system's resolver lets it
  milliseconds command_timeout{1'000}; ///< the longest silence while answers are due
};

/// Commands, encoded to be sent together.
class redis_pipeline {
public:
  /// Begins a command of `words` words: as many calls of add() must follow.
  void begin(std::size_t words);
  void add(std::string_view word);
  void add(std::integral auto number) { add_integer(static_cast<std::int64_t>(number)); }
  void command(std::initializer_list<std::string_view> words);
  /// Command `i` of another pipeline, as it is.
  void copy(const redis_pipeline& other, std::size_t i);

  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

private:
  void add_integer(std::int64_t number);

  std::string bytes_;
  std::vector<std::size_t> begins_; ///< where each command begins
};

/// One answer, a view into redis_replies. Asked for what it is not, above all when it is an error, it throws
/// cache_unavailable.
class redis_value {
public:
  explicit redis_value(const redisReply& reply) : reply_(&reply) {}

  /// The code an error begins with ("NOSCRIPT"); empty if it is none.
  [[nodiscard]] std::string_view error_code() const;
  void require_no_error() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::optional<std::string_view> text() const; ///< nothing for nil
  [[nodiscard]] std::size_t size() const; ///< of an array
  [[nodiscard]] redis_value at(std::size_t i) const; ///< of an array

private:
  const redisReply* reply_;
};

class redis_replies {
public:
  [[nodiscard]] std::size_t size() const { return replies_.size(); }
  [[nodiscard]] redis_value at(std::size_t i) const { return redis_value{*replies_.at(i)}; }
  /// Takes over what hiredis has allocated.
  void push(redisReply* reply) { replies_.emplace_back(reply); }

private:
  struct deleter {
    void operator()(redisReply* reply) const noexcept;
  };
  std::vector<std::unique_ptr<redisReply, deleter>> replies_;
};

/// Connects at the first call, and again when a call finds no connection. After a failure calls throw at once
/// for three times as long as it took to notice (200 ms to 5 s): a stalled server costs its caller a quarter
/// of the time, one that is back is soon found.
class redis_connection {
public:
  /// `env` must outlive the connection.
  redis_connection(redis_options options, environment& env);
  ~redis_connection();
  redis_connection(const redis_connection&) = delete;
  redis_connection& operator=(const redis_connection&) = delete;

  /// The answers, in order; errors of single commands are among them. Throws cache_unavailable when the
  /// connection fails: any number of the commands may then have been executed, or may still be.
  redis_replies run(const redis_pipeline& commands);
  /// One command; throws cache_unavailable if it is answered by an error.
  redis_replies run(std::initializer_list<std::string_view> words);

private:
  struct deleter {
    void operator()(redisContext* context) const noexcept;
  };

  void connect();
  void introduce();
  void drop_if_closed();
  redis_replies exchange(const redis_pipeline& commands);
  void send(std::string_view bytes);
  redisReply* receive();
  [[noreturn]] void fail(const std::string& reason);

  redis_options options_;
  environment& env_;
  std::unique_ptr<redisContext, deleter> context_;
  milliseconds attempt_began_{}; ///< steady time
  milliseconds retry_at_{}; ///< steady time; meaningful after a failure
  std::string last_failure_; ///< empty: none yet, or connected since
};

} // namespace fq
