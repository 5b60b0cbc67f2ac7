// SPDX-License-Identifier: Apache-2.0
// Runs scripts/services and sends commands to its server.
#include "tests/store/redis/redis_server.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <unistd.h>

namespace fq::test {
namespace {

/// The output of the command. Throws if it fails.
std::string output_of(const std::string& command) {
  auto* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> some;
  while (const auto n = std::fread(some.data(), 1, some.size(), pipe)) text.append(some.data(), n);
  if (::pclose(pipe) != 0)
    throw std::runtime_error("these tests need a Redis server; this failed: " + command
                             + " (scripts/setup installs redis-server; or set FAIRQUEUE_TEST_REDIS)");
  return text;
}

/// The value of `name` in lines like "export NAME=value".
std::string exported(const std::string& lines, const std::string& name) {
  const auto begin = lines.find("export " + name + "=");
  if (begin == std::string::npos) throw std::runtime_error("scripts/services does not print " + name);
  const auto value = begin + std::strlen("export ") + name.size() + 1;
  return lines.substr(value, lines.find('\n', value) - value);
}

} // namespace

timestamp skipping_environment::wall_now() {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()) + skipped_;
}

milliseconds skipping_environment::steady_now() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
         + skipped_;
}

void skipping_environment::random_bytes(std::span<std::byte>) {
  throw std::logic_error("a cache needs no random bytes");
}

private_redis::private_redis() {
  const auto lines = output_of(FQ_SERVICES " start --redis --parent " + std::to_string(::getpid()));
  folder_ = exported(lines, "FAIRQUEUE_SERVICES");
  url_ = exported(lines, "FAIRQUEUE_TEST_REDIS");
}

private_redis::~private_redis() {
  if (std::system((FQ_SERVICES " stop '" + folder_ + "'").c_str()) != 0)
    std::fputs("scripts/services stop failed\n", stderr);
}

void private_redis::services(const std::string& what) {
  output_of(FQ_SERVICES " " + what + " '" + folder_ + "'");
}

const std::string& shared_redis_url() {
  static const std::string url = [] {
    if (const char* given = std::getenv("FAIRQUEUE_TEST_REDIS")) return std::string{given};
    static const private_redis server;
    return server.url();
  }();
  return url;
}

redis_operator::redis_operator(const std::string& url, milliseconds command_timeout) :
    connection_({.address = parse_redis_url(url), .command_timeout = command_timeout}, env_) {}

void redis_operator::run(std::initializer_list<std::string_view> words) { connection_.run(words); }

std::int64_t redis_operator::integer(std::initializer_list<std::string_view> words) {
  return connection_.run(words).at(0).integer();
}

std::string redis_operator::text(std::initializer_list<std::string_view> words) {
  return std::string{connection_.run(words).at(0).text().value_or("")};
}

std::vector<std::string> redis_operator::texts(std::initializer_list<std::string_view> words) {
  const auto replies = connection_.run(words);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < replies.at(0).size(); ++i)
    result.emplace_back(replies.at(0).at(i).text().value_or(""));
  return result;
}

std::vector<std::string> redis_operator::keys_of(const uuid& queue) {
  return texts({"KEYS", "fairqueue:{" + to_string(queue) + "}:*"});
}

void redis_operator::forget(const uuid& queue) {
  for (const auto& key : keys_of(queue)) run({"UNLINK", key});
}

} // namespace fq::test
