// SPDX-License-Identifier: Apache-2.0
#include "store/redis/redis.hpp"

#include "store/redis/limits.hpp"
#include "store/redis/redis_link.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <hiredis/hiredis.h>

namespace fq {
namespace {

using namespace redis_bounds;

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

constexpr const char* sentinel_port = ":26379";

bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-'
         || c == '_';
}

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

/// `scheme`: "redis" or "rediss".
redis_address parse_server_url(std::string_view url, std::string_view scheme) {
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed || std::string_view{parsed->scheme()} != scheme || parsed->encoded_host().empty()
      || parsed->has_query() || parsed->has_fragment())
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
  address.has_tls = scheme == "rediss";
  if (address.password.empty() && !address.user.empty())
    throw std::invalid_argument("a redis url with a user needs a password: redis://user:password@host");
  return address;
}

/// `rest`: what follows "redis-sentinel://". Each Sentinel is parsed as a server with the login and the
/// database.
redis_address parse_sentinel_url(std::string_view rest, const std::string& scheme) {
  const auto slash = std::min(rest.find('/'), rest.size());
  auto hosts = rest.substr(0, slash), path = rest.substr(slash);
  const auto at = hosts.rfind('@');
  const std::string login{at == std::string_view::npos ? "" : hosts.substr(0, at + 1)};
  hosts.remove_prefix(login.size());
  const auto name = path.substr(std::min<std::size_t>(1, path.size()), path.find('/', 1) - 1);
  if (name.empty() || !std::ranges::all_of(name, is_name_char))
    throw std::invalid_argument("a redis-sentinel url ends with the name of the primary: "
                                "redis-sentinel://host:26379,host:26379/mymaster");
  const std::string database{path.substr(1 + name.size())};
  redis_address address;
  for (bool more = true; more;) {
    const auto comma = hosts.find(',');
    const std::string host{hosts.substr(0, comma)};
    const bool has_port =
      host.find(':', host.rfind(']') + 1) != std::string::npos; // npos + 1: from the start
    const auto one =
      parse_server_url(scheme + "://" + login + host + (has_port ? "" : sentinel_port) + database, scheme);
    auto sentinels = std::move(address.sentinels);
    sentinels.push_back({one.host, one.port});
    address = one;
    address.sentinels = std::move(sentinels);
    more = comma != std::string_view::npos;
    hosts.remove_prefix(more ? comma + 1 : 0);
  }
  if (address.sentinels.size() > sentinels_max)
    throw std::invalid_argument("a redis url names at most " + std::to_string(sentinels_max) + " Sentinels");
  address.host.clear();
  address.primary = name;
  return address;
}

} // namespace

// -- url

redis_address parse_redis_url(std::string_view url) {
  constexpr std::string_view plain = "redis-sentinel://", with_tls = "rediss-sentinel://";
  if (url.starts_with(plain)) return parse_sentinel_url(url.substr(plain.size()), "redis");
  if (url.starts_with(with_tls)) return parse_sentinel_url(url.substr(with_tls.size()), "rediss");
  return parse_server_url(url, url.starts_with("rediss:") ? "rediss" : "redis");
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

bool redis_value::is_array() const { return reply_->type == REDIS_REPLY_ARRAY; }

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
    options_(std::move(options)),
    env_(env),
    tls_(options_.address.has_tls ? std::make_unique<redis_tls>(options_.ca_file) : nullptr) {}
redis_connection::~redis_connection() = default;

redis_replies redis_connection::run(const redis_pipeline& commands) {
  // No answer is due, so any readable data means that the server closed the connection because it was idle.
  if (link_ && link_->is_readable()) link_.reset();
  if (!link_) connect();
  attempt_began_ = env_.steady_now();
  redis_replies replies;
  try {
    replies = link_->exchange(commands);
  } catch (const link_failed& e) { fail(e.what()); }
  // A primary became a replica: reconnect, because its name may now lead to its successor.
  for (std::size_t i = 0; i < replies.size(); ++i)
    if (const auto code = replies.at(i).error_code(); code == "READONLY" || code == "MASTERDOWN")
      link_.reset();
  return replies;
}

redis_replies redis_connection::run(std::initializer_list<std::string_view> words) {
  redis_pipeline one;
  one.command(words);
  auto replies = run(one);
  replies.at(0).require_no_error();
  return replies;
}

void redis_connection::connect() {
  const auto now = env_.steady_now();
  if (!last_failure_.empty() && now < retry_at_)
    throw cache_unavailable(last_failure_ + " (not asked again yet)");
  attempt_began_ = now;
  try {
    auto link = std::make_unique<redis_link>(find_server(), tls_.get(), options_.connect_timeout,
                                             options_.command_timeout);
    introduce(*link);
    link_ = std::move(link);
  } catch (const link_failed& e) {
    // A Sentinel that was cut off may name a former primary: another one is asked first next time.
    if (auto& all = options_.address.sentinels; !all.empty()) std::ranges::rotate(all, all.begin() + 1);
    fail(e.what());
  }
  last_failure_.clear();
}

namespace {

void add_login(redis_pipeline& out, const redis_address& address) {
  if (address.password.empty()) return;
  if (address.user.empty())
    out.command({"AUTH", address.password});
  else
    out.command({"AUTH", address.user, address.password});
}

/// Throws if the Sentinel knows no primary of that name. It may have no password, so its answer to the login
/// does not matter.
redis_host ask_sentinel(redis_link& sentinel, const redis_address& address) {
  redis_pipeline question;
  add_login(question, address);
  question.command({"SENTINEL", "get-master-addr-by-name", address.primary});
  const auto replies = sentinel.exchange(question);
  const auto answer = replies.at(replies.size() - 1);
  answer.require_no_error();
  if (!answer.is_array()) sentinel.fail("this Sentinel does not know " + address.primary);
  const auto text = answer.at(1).text().value_or("");
  std::uint16_t port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port);
  return {std::string{answer.at(0).text().value_or("")}, port};
}

} // namespace

/// The Sentinel that answered comes first. Their cyclic order stays, so that each gets its turn.
redis_host redis_connection::find_server() {
  auto& address = options_.address;
  auto& all = address.sentinels;
  if (all.empty()) return {address.host, address.port};
  std::string why;
  for (auto sentinel = all.begin(); sentinel != all.end(); ++sentinel) {
    try {
      redis_link link{*sentinel, tls_.get(), sentinel_timeout, sentinel_timeout};
      auto primary = ask_sentinel(link, address);
      std::ranges::rotate(all, sentinel);
      return primary;
    } catch (const std::runtime_error& e) { why = e.what(); }
  }
  throw link_failed("no Sentinel names a primary; the last: " + why);
}

void redis_connection::introduce(redis_link& link) const {
  const auto& address = options_.address;
  redis_pipeline hello;
  add_login(hello, address);
  if (address.database != 0) hello.command({"SELECT", std::to_string(address.database)});
  const auto replies = link.exchange(hello);
  try {
    for (std::size_t i = 0; i < replies.size(); ++i) replies.at(i).require_no_error();
    if (address.sentinels.empty()) return;
    redis_pipeline role; // a Sentinel that was cut off may name an earlier primary
    role.command({"ROLE"});
    const auto answer = link.exchange(role);
    if (answer.at(0).at(0).text() != "master") link.fail("it is no primary");
  } catch (const cache_unavailable& refused) { link.fail(refused.what()); }
}

void redis_connection::fail(const std::string& reason) {
  last_failure_ = reason;
  link_.reset();
  const auto now = env_.steady_now();
  retry_at_ = now + std::clamp((now - attempt_began_) * retry_pause_factor, retry_pause_min, retry_pause_max);
  throw cache_unavailable(last_failure_);
}

} // namespace fq
