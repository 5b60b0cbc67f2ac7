// SPDX-License-Identifier: Apache-2.0
// One connection to one Redis or Sentinel, with TLS or without. hiredis connects and parses; bytes are sent
// and received here, because hiredis 0.14 knows no TLS, writes without MSG_NOSIGNAL and copies every word
// twice.
#pragma once
#include "store/redis/redis.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

struct redisContext;
struct ssl_ctx_st;
struct ssl_st;

namespace fq {

/// Says which server failed and why; contains no password.
struct link_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Settings of TLS for all connections to a cache.
class redis_tls {
public:
  /// `ca_file`: trusted PEM certificates; empty: the system's. Throws std::invalid_argument if it cannot be
  /// read.
  explicit redis_tls(const std::string& ca_file);
  [[nodiscard]] ssl_ctx_st* context() const { return context_.get(); }

private:
  struct deleter {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  std::unique_ptr<ssl_ctx_st, deleter> context_;
};

/// Every call may throw link_failed. Then the link is of no more use, because later answers could not be
/// assigned to calls.
class redis_link {
public:
  /// Connects. With `tls`, the certificate must be valid for `server.host`.
  redis_link(redis_host server, const redis_tls* tls, milliseconds connect_timeout,
             milliseconds answer_timeout);

  redis_replies exchange(const redis_pipeline& commands);
  /// True if data or the end can be read.
  [[nodiscard]] bool is_readable() const;
  [[noreturn]] void fail(std::string_view reason) const;

private:
  struct deleter {
    void operator()(redisContext* context) const noexcept;
    void operator()(ssl_st* session) const noexcept;
  };

  void shake_hands(const redis_tls& tls);
  void send(std::string_view bytes);
  redisReply* receive();
  std::size_t read(char* into, std::size_t size);
  [[noreturn]] void fail_tls(int result) const;

  redis_host server_;
  milliseconds answer_timeout_;
  std::unique_ptr<redisContext, deleter> context_;
  std::unique_ptr<ssl_st, deleter> session_; ///< null: no TLS
};

} // namespace fq
