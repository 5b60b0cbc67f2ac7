// SPDX-License-Identifier: Apache-2.0
#include "load/fans/join_bench.hpp"

#include "load/base/chance.hpp"
#include "load/base/tokens.hpp"
#include "load/base/url.hpp"
#include "load/fans/limits.hpp"
#include "load/wire/http_reply.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <deque>
#include <optional>

namespace fq::load {

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

struct connection {
  int fd = -1;
  std::size_t customer = nobody; // whose join is in flight
  run_time_us sent_us = 0;
  std::string unsent;
  std::string inbox;
  run_time_us reopen_us = 0; // run time of the next connect attempt, if closed
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The queue number in a join answer; 0 if absent.
std::uint64_t number_in(std::string_view body) {
  constexpr std::string_view name = "\"queue_number\":";
  const auto at = body.find(name);
  std::uint64_t out = 0;
  if (at != std::string_view::npos)
    std::from_chars(body.data() + at + name.size(), body.data() + body.size(), out);
  return out;
}

class bench {
public:
  bench(const load_options& options, const std::vector<std::string>& tokens) :
      options_(options), tokens_(tokens) {}

  ~bench() {
    for (auto& each : connections_)
      if (each.fd >= 0) ::close(each.fd);
    if (epoll_ >= 0) ::close(epoll_);
  }

  join_bench_result run(const std::function<void(std::uint64_t, double)>& show) {
    prepare();
    if (!open_all()) return std::move(result_);
    result_.reached = true;
    const double cpu_before = cpu_seconds();
    clock_.restart();
    for (std::size_t i = 0; i < connections_.size(); ++i) next_request(i);
    loop(show);
    result_.elapsed_s = static_cast<double>(last_answer_us_) / 1e6;
    if (result_.joined > 0 && last_answer_us_ > 0) {
      result_.joins_per_s = static_cast<double>(result_.joined) / result_.elapsed_s;
      result_.client_cpu_us = (cpu_seconds() - cpu_before) * 1e6 / static_cast<double>(result_.joined);
    }
    result_.latency = spread_of(std::move(latencies_us_));
    result_.duplicate_numbers = count_duplicates();
    return std::move(result_);
  }

private:
  void prepare() {
    const auto url = parse_http_url(options_.url).value_or(http_url{});
    std::string why;
    if (const auto found = resolve(url, options_.allow_remote, why)) server_ = *found;
    auto prefix = url.target;
    while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
    head_ = "POST " + prefix + "/events/" + options_.event + "/queue HTTP/1.1\r\nHost: " + url.authority()
            + "\r\nContent-Length: 0\r\nAuthorization: Bearer ";
    if (options_.with_keys) key_head_ = "\r\nIdempotency-Key: bench-" + std::to_string(system_random()) + "-";
    latencies_us_.reserve(tokens_.size());
    numbers_.reserve(tokens_.size());
    connections_.resize(std::min<std::size_t>(options_.connections, tokens_.size()));
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  }

  // Connects blocking: all connections are open before the clock starts.
  bool open_all() {
    for (std::size_t i = 0; i < connections_.size(); ++i)
      if (!open(i)) {
        result_.failure = "cannot connect to " + options_.url;
        return false;
      }
    return true;
  }

  bool open(std::size_t index) {
    auto& mine = connections_[index];
    mine.fd = ::socket(server_.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (mine.fd < 0 || ::connect(mine.fd, server_.data(), static_cast<socklen_t>(server_.size())) != 0) {
      close_one(index);
      return false;
    }
    const int on = 1;
    ::setsockopt(mine.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = index;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, mine.fd, &event);
    return true;
  }

  void close_one(std::size_t index) {
    auto& mine = connections_[index];
    if (mine.fd >= 0) ::close(mine.fd);
    mine.fd = -1;
    mine.inbox.clear();
    mine.unsent.clear();
    if (mine.customer != nobody) { // unknown outcome: a repeated join gives the same place
      again_.push_back({clock_.now_us(), mine.customer});
      ++result_.retries;
      mine.customer = nobody;
    }
    mine.reopen_us = clock_.now_us() + reconnect_pause_us;
  }

  std::optional<std::size_t> next_customer() {
    if (!again_.empty() && again_.front().due_us <= clock_.now_us()) {
      const auto customer = again_.front().customer;
      again_.pop_front();
      return customer;
    }
    if (next_ < tokens_.size()) return next_++;
    return std::nullopt;
  }

  void next_request(std::size_t index) {
    auto& mine = connections_[index];
    mine.customer = nobody;
    if (mine.fd < 0) return;
    const auto customer = next_customer();
    if (!customer) return;
    request_.assign(head_);
    request_.append(tokens_[*customer]);
    if (!key_head_.empty()) request_.append(key_head_).append(std::to_string(*customer));
    request_.append("\r\n\r\n");
    mine.customer = *customer;
    mine.sent_us = clock_.now_us();
    const auto sent = ::send(mine.fd, request_.data(), request_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(request_.size())) return;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return close_one(index);
    mine.unsent = request_.substr(sent > 0 ? static_cast<std::size_t>(sent) : 0);
  }

  // Rare: a request is far smaller than a socket buffer. Retried in each turn of the loop.
  void flush_unsent() {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      auto& mine = connections_[i];
      if (mine.fd < 0 || mine.unsent.empty()) continue;
      const auto sent = ::send(mine.fd, mine.unsent.data(), mine.unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0)
        mine.unsent.erase(0, static_cast<std::size_t>(sent));
      else if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        close_one(i);
    }
  }

  void on_readable(std::size_t index) {
    auto& mine = connections_[index];
    if (mine.fd < 0) return;
    const auto got = ::recv(mine.fd, scratch_.data(), scratch_.size(), MSG_DONTWAIT);
    if (got <= 0) {
      if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) close_one(index);
      return;
    }
    const std::string_view fresh(scratch_.data(), static_cast<std::size_t>(got));
    if (mine.inbox.empty() && take(index, fresh)) return;
    mine.inbox.append(fresh);
    const std::string whole = std::move(mine.inbox);
    mine.inbox.clear();
    if (!take(index, whole) && connections_[index].fd >= 0) mine.inbox = whole;
  }

  // True if `data` was one complete reply, or if the connection was closed.
  bool take(std::size_t index, std::string_view data) {
    reply_head head;
    const auto parsed = parse_head(data, head);
    const bool bad =
      parsed == parse_result::bad || (parsed == parse_result::done && (head.chunked || !head.has_length));
    if (bad) {
      ++result_.others[0];
      connections_[index].customer = nobody;
      close_one(index);
      return true;
    }
    if (parsed == parse_result::need_more || data.size() < head.head_bytes + head.content_length)
      return false;
    on_reply(index, head, data.substr(head.head_bytes, head.content_length));
    return true;
  }

  void on_reply(std::size_t index, const reply_head& head, std::string_view body) {
    auto& mine = connections_[index];
    const auto now_us = clock_.now_us();
    last_answer_us_ = now_us;
    if (mine.customer == nobody) return close_one(index); // unexpected answer
    if (head.status == 201 || head.status == 200) {
      ++result_.joined;
      latencies_us_.push_back(static_cast<std::uint32_t>(now_us - mine.sent_us));
      numbers_.push_back(number_in(body));
    } else if (head.status == 503 || head.status == 429) {
      ++result_.retries;
      again_.push_back(
        {now_us + std::max<run_time_us>(busy_pause_us, head.retry_after_s * 1'000'000LL), mine.customer});
    } else {
      ++result_.others[head.status];
      ++refused_;
    }
    if (!head.keep_alive) {
      mine.customer = nobody;
      close_one(index);
      return;
    }
    next_request(index);
  }

  void loop(const std::function<void(std::uint64_t, double)>& show) {
    const auto deadline_us = static_cast<run_time_us>(options_.timeout_s * 1e6);
    std::array<epoll_event, 256> events{};
    run_time_us chores_us = 0;
    while (result_.joined + refused_ + result_.others[0] < tokens_.size()) {
      const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 20);
      for (int i = 0; i < ready; ++i)
        on_readable(static_cast<std::size_t>(events[static_cast<std::size_t>(i)].data.u64));
      const auto now_us = clock_.now_us();
      if (now_us > deadline_us) {
        result_.timed_out = true;
        return;
      }
      if (now_us < chores_us) continue;
      chores_us = now_us + 20'000;
      do_chores(now_us);
      if (show) show(result_.joined, static_cast<double>(now_us) / 1e6);
    }
  }

  // Reopens closed connections and gives idle connections the customers to retry.
  void do_chores(run_time_us now_us) {
    flush_unsent();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      auto& mine = connections_[i];
      // the server is unavailable: one attempt per round
      if (mine.fd < 0 && mine.reopen_us <= now_us && !open(i)) break;
      if (mine.fd >= 0 && mine.customer == nobody) next_request(i);
    }
  }

  std::uint64_t count_duplicates() {
    std::sort(numbers_.begin(), numbers_.end());
    std::uint64_t out = 0;
    for (std::size_t i = 1; i < numbers_.size(); ++i) out += numbers_[i] == numbers_[i - 1];
    return out;
  }

  struct delayed {
    run_time_us due_us;
    std::size_t customer;
  };

  const load_options& options_;
  const std::vector<std::string>& tokens_;
  boost::asio::ip::tcp::endpoint server_;
  std::string head_;
  std::string key_head_;
  std::string request_;
  std::vector<char> scratch_ = std::vector<char>(scratch_bytes);
  std::vector<connection> connections_;
  std::deque<delayed> again_; // at most one per customer
  std::size_t next_ = 0;
  std::uint64_t refused_ = 0;
  int epoll_ = -1;
  run_clock clock_;
  run_time_us last_answer_us_ = 0;
  std::vector<std::uint32_t> latencies_us_;
  std::vector<std::uint64_t> numbers_;
  join_bench_result result_;
};

} // namespace

join_bench_result run_join_bench(const load_options& options, const std::vector<std::string>& tokens,
                                 const std::function<void(std::uint64_t, double)>& show) {
  return bench(options, tokens).run(show);
}

} // namespace fq::load
