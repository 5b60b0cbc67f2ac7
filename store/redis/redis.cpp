// SPDX-License-Identifier: Apache-2.0
// The calls into hiredis, which connects and parses. Commands are encoded and sent here, because hiredis
// 0.14 writes without MSG_NOSIGNAL and copies every word twice.
#include "store/redis/redis.hpp"

#include "store/redis/limits.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

namespace fq {
namespace {

using namespace redis_bounds;

timeval to_timeval(milliseconds d) {
  return {.tv_sec = d.count() / 1'000, .tv_usec = (d.count() % 1'000) * 1'000};
}

std::string_view text_of(const redisReply& reply) { return {reply.str, reply.len}; }

[[noreturn]] void unexpected() { throw cache_unavailable("redis gave an answer of an unexpected type"); }

/// The decimal text of a number.
class digits {
public:
  explicit digits(std::int64_t number) :
      end_(std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr) {}
  digits(const digits&) = delete;
  digits& operator=(const digits&) = delete;
  operator std::string_view() const { return {text_.data(), end_}; }

private:
  std::array<char, 20> text_;
  char* end_;
};

/// `path` is empty or starts with a slash.
std::uint32_t database_of(std::string_view path) {
  if (path.empty() || path == "/") return 0;
  std::uint32_t database = 0;
  const auto* end = path.data() + path.size();
  const auto [rest, error] = std::from_chars(path.data() + 1, end, database);
  if (error != std::errc{} || rest != end)
    throw std::invalid_argument("a redis url ends with the number of a database: redis://host/0");
  return database;
}

} // namespace

// -- url

redis_address parse_redis_url(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(url);
  if (parsed && parsed->scheme() == "rediss")
    throw std::invalid_argument("rediss:// needs TLS, which Debian's hiredis is built without");
  if (!parsed || parsed->scheme() != "redis" || parsed->encoded_host().empty() || parsed->has_query()
      || parsed->has_fragment())
    throw std::invalid_argument(
      "not a redis url; it is like redis://user:password@host:6379/0, with / : @ ? # % in the password "
      "written as %2F %3A %40 %3F %23 %25");
  if (parsed->has_port() && !parsed->port().empty() && parsed->port_number() == 0)
    throw std::invalid_argument("the port of a redis url is 1 to 65535");
  redis_address address;
  address.host = parsed->host_address();
  if (parsed->port_number() != 0) address.port = parsed->port_number();
  address.user = parsed->user();
  address.password = parsed->password();
  address.database = database_of(parsed->encoded_path());
  if (address.password.empty() && !address.user.empty())
    throw std::invalid_argument("a redis url with a user needs a password: redis://user:password@host");
  return address;
}

// -- commands

void redis_pipeline::begin(std::size_t words) {
  begins_.push_back(bytes_.size());
  bytes_ += '*';
  bytes_ += digits(static_cast<std::int64_t>(words));
  bytes_ += "\r\n";
}

void redis_pipeline::add(std::string_view word) {
  bytes_ += '$';
  bytes_ += digits(static_cast<std::int64_t>(word.size()));
  bytes_ += "\r\n";
  bytes_ += word;
  bytes_ += "\r\n";
}

void redis_pipeline::add_integer(std::int64_t number) { add(digits(number)); }

void redis_pipeline::command(std::initializer_list<std::string_view> words) {
  begin(words.size());
  for (const auto word : words) add(word);
}

void redis_pipeline::copy(const redis_pipeline& other, std::size_t i) {
  const auto end = i + 1 < other.begins_.size() ? other.begins_[i + 1] : other.bytes_.size();
  begins_.push_back(bytes_.size());
  bytes_.append(other.bytes_, other.begins_[i], end - other.begins_[i]);
}

// -- answers

std::string_view redis_value::error_code() const {
  if (reply_->type != REDIS_REPLY_ERROR) return {};
  const auto text = text_of(*reply_);
  return text.substr(0, text.find(' '));
}

void redis_value::require_no_error() const {
  if (reply_->type == REDIS_REPLY_ERROR)
    throw cache_unavailable("redis refused: " + std::string{text_of(*reply_)});
}

std::int64_t redis_value::integer() const {
  require_no_error();
  if (reply_->type != REDIS_REPLY_INTEGER) unexpected();
  return reply_->integer;
}

std::optional<std::string_view> redis_value::text() const {
  require_no_error();
  if (reply_->type == REDIS_REPLY_NIL) return std::nullopt;
  if (reply_->type != REDIS_REPLY_STRING && reply_->type != REDIS_REPLY_STATUS) unexpected();
  return text_of(*reply_);
}

std::size_t redis_value::size() const {
  require_no_error();
  if (reply_->type != REDIS_REPLY_ARRAY) unexpected();
  return reply_->elements;
}

redis_value redis_value::at(std::size_t i) const {
  if (i >= size()) unexpected();
  return redis_value{*reply_->element[i]};
}

void redis_replies::deleter::operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }

// -- connection

redis_connection::redis_connection(redis_options options, environment& env) :
    options_(std::move(options)), env_(env) {}
redis_connection::~redis_connection() = default;
void redis_connection::deleter::operator()(redisContext* context) const noexcept { redisFree(context); }

redis_replies redis_connection::run(const redis_pipeline& commands) {
  drop_if_closed();
  if (!context_) connect();
  auto replies = exchange(commands);
  // A primary became a replica: reconnect, because its name may now lead to its successor.
  for (std::size_t i = 0; i < replies.size(); ++i)
    if (const auto code = replies.at(i).error_code(); code == "READONLY" || code == "MASTERDOWN")
      context_.reset();
  return replies;
}

redis_replies redis_connection::run(std::initializer_list<std::string_view> words) {
  redis_pipeline one;
  one.command(words);
  auto replies = run(one);
  replies.at(0).require_no_error();
  return replies;
}

/// Drops a connection that the server closed because it was idle. No answer is due, so any readable data
/// means the end.
void redis_connection::drop_if_closed() {
  if (!context_) return;
  pollfd p{.fd = context_->fd, .events = POLLIN, .revents = 0};
  if (::poll(&p, 1, 0) > 0) context_.reset();
}

void redis_connection::connect() {
  const auto now = env_.steady_now();
  if (!last_failure_.empty() && now < retry_at_)
    throw cache_unavailable(last_failure_ + " (not asked again yet)");
  attempt_began_ = now;
  const auto& address = options_.address;
  context_.reset(
    redisConnectWithTimeout(address.host.c_str(), address.port, to_timeval(options_.connect_timeout)));
  if (!context_) throw std::bad_alloc{};
  if (context_->err != 0) fail(context_->errstr);
  ::fcntl(context_->fd, F_SETFD, FD_CLOEXEC);
  if (redisSetTimeout(context_.get(), to_timeval(options_.command_timeout)) != REDIS_OK
      || redisEnableKeepAlive(context_.get()) != REDIS_OK)
    fail(context_->errstr);
  introduce();
  last_failure_.clear();
}

void redis_connection::introduce() {
  const auto& address = options_.address;
  redis_pipeline hello;
  if (!address.password.empty()) {
    if (address.user.empty())
      hello.command({"AUTH", address.password});
    else
      hello.command({"AUTH", address.user, address.password});
  }
  if (address.database != 0) hello.command({"SELECT", std::to_string(address.database)});
  const auto replies = exchange(hello);
  try {
    for (std::size_t i = 0; i < replies.size(); ++i) replies.at(i).require_no_error();
  } catch (const cache_unavailable& refused) { fail(refused.what()); }
}

redis_replies redis_connection::exchange(const redis_pipeline& commands) {
  attempt_began_ = env_.steady_now();
  send(commands.bytes());
  redis_replies replies;
  for (std::size_t i = 0; i < commands.size(); ++i) replies.push(receive());
  return replies;
}

void redis_connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(context_->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno != EINTR)
      fail(errno == EAGAIN ? "it does not read" : std::strerror(errno));
  }
}

redisReply* redis_connection::receive() {
  void* reply = nullptr;
  errno = 0;
  if (redisGetReply(context_.get(), &reply) == REDIS_OK) return static_cast<redisReply*>(reply);
  const bool timed_out = context_->err == REDIS_ERR_IO && errno == EAGAIN;
  fail(timed_out ? "no answer within " + std::to_string(options_.command_timeout.count()) + " ms"
                 : context_->errstr);
}

/// Drops the connection, because later answers of the server could not be assigned to calls.
void redis_connection::fail(const std::string& reason) {
  last_failure_ =
    "redis at " + options_.address.host + ":" + std::to_string(options_.address.port) + ": " + reason;
  context_.reset();
  const auto now = env_.steady_now();
  retry_at_ = now + std::clamp((now - attempt_began_) * retry_pause_factor, retry_pause_min, retry_pause_max);
  throw cache_unavailable(last_failure_);
}

} // namespace fq
